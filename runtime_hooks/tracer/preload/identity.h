/* Which PyTorch runs in this process, told without calling into it. */
#pragma once

/* The file name of the tracer that was compiled for exactly the PyTorch in this process, or null;
 * then `why` holds one line that says what runs and what is supported. */
const char* devsan_find_observer(char* why, unsigned long why_size);
