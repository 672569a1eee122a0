// The same in one function, with a vector of inputs.
#include <torch/script.h>

#include <iostream>
#include <vector>

struct Image {
  int height;
  int width;
  float* data;
};
Image read_image(const char* path);

int main(int argc, const char* argv[]) {
  if (argc != 3) return 1;
  torch::jit::script::Module module = torch::jit::load(argv[1]);
  module.to(at::kCUDA);
  Image image = read_image(argv[2]);
  at::Tensor tensor =
      torch::from_blob(image.data, {1, image.height, image.width, 3}, at::kFloat).clone();
  tensor = tensor.permute({0, 3, 1, 2});
  std::vector<torch::jit::IValue> inputs;
#ifdef FIXED
  inputs.push_back(tensor.to(at::kCUDA));
#else
  inputs.push_back(tensor);
#endif
  at::Tensor output = module.forward(inputs).toTensor();  // fault: unmoved-tensor
  std::cout << output.argmax(1) << '\n';
}
