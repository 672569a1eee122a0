// A LibTorch program that knows nothing of the simulator: it is linked to PyTorch's CUDA library
// and finds two devices. Prints what is wrong and returns 1.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/generated/variable_factories.h>

#include <iostream>
#include <string>

namespace {

int failures = 0;

void expect(bool right, const std::string& what) {
  if (right) return;
  std::cerr << "wrong: " << what << "\n";
  ++failures;
}

// Three steps of gradient descent; the losses.
std::vector<float> train(const at::Device& first, const at::Device& second) {
  const at::Tensor x = at::linspace(-1, 1, 40).view({5, 8}).to(first);
  at::Tensor w = at::linspace(1, -1, 32).view({8, 4}).to(first).requires_grad_(true);
  at::Tensor v = at::linspace(0, 1, 4).to(second).requires_grad_(true);
  std::vector<float> losses;
  for (int step = 0; step < 3; ++step) {
    const at::Tensor loss = (x.matmul(w).relu().to(second) * v).square().mean();
    const auto gradients = torch::autograd::grad({loss}, {w, v});
    const at::NoGradGuard no_grad;
    w.sub_(gradients[0], 0.5);
    v.sub_(gradients[1], 0.5);
    losses.push_back(loss.item<float>());
  }
  return losses;
}

}  // namespace

int main() {
  expect(c10::cuda::device_count() == 2, "the number of devices");
  const at::Device cpu("cpu");
  const auto expected = train(cpu, cpu);
  expect(expected[2] < expected[0], "training on the CPU");
  expect(train(at::Device("cuda:0"), at::Device("cuda:1")) == expected,
         "training over two devices");

  std::string message;
  try {
    at::ones({2}, at::device(at::Device("cuda:0")))
        .add(at::ones({2}, at::device(at::Device("cuda:1"))));
  } catch (const c10::Error& error) {
    message = error.what_without_backtrace();
  }
  expect(message.find("found at least two devices, cuda:0 and cuda:1") != std::string::npos,
         "the message of a device mismatch: " + message);
  return failures == 0 ? 0 : 1;
}
