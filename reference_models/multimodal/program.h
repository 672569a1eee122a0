// The program multimodal: trains the model, stage by stage, and prints how it does, epoch by epoch.
#pragma once

namespace models::multimodal {

// What main() does. The exit code: 0, 2 after one line on stderr that says what was wrong with the
// options or the files, or that of a rank that --spawn started. PyTorch's exceptions are not
// caught: they end the program.
int run_program(int argc, char** argv);

}  // namespace models::multimodal
