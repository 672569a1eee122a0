// pytorch/pytorch#33212: a module of a GPU is loaded on a machine that has none.
#include <torch/script.h>

#include <iostream>

int main(int argc, const char* argv[]) {
  if (argc < 2) return 1;
#ifdef FIXED
  torch::jit::Module module = torch::jit::load(argv[1], torch::kCPU);
#else
  torch::jit::Module module = torch::jit::load(argv[1]);  // fault: load-without-device
  module.to(torch::kCPU);
#endif
  std::cout << module.forward({torch::ones({1, 3, 224, 224})}).toTensor().argmax() << '\n';
}
