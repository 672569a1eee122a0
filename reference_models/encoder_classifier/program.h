// The program encoder_classifier: trains the classifier and prints how it does, epoch by epoch.
#pragma once

namespace models {

// What main() does. The exit code: 0, or 2 after one line on stderr that says what was wrong with
// the options or the files. PyTorch's exceptions are not caught: they end the program.
int run_program(int argc, char** argv);

}  // namespace models
