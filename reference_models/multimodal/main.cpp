// The entry point; program.h has the program.
#include "program.h"

int main(int argc, char** argv) {
  return models::multimodal::run_program(argc, argv);
}
