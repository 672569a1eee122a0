// Small C++ programs with one placement fault each, and some that have none: faults NAME.
//
// The line to change ends in a comment with the program's name.
#include <c10/cuda/CUDAFunctions.h>
#include <torch/torch.h>

#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

const torch::Device kFirst("cuda:0");
const torch::Device kSecond("cuda:1");

struct Net : torch::nn::Module {
  Net() {
    first = register_module("first", torch::nn::Linear(4, 4));
    head = register_module("head", torch::nn::Linear(4, 1));
    scale = register_buffer("scale", torch::ones({1, 4}));
  }

  torch::Tensor forward(const torch::Tensor& x, const std::string& fault) {
    torch::Tensor hidden = first->forward(x);
    if (fault == "mask") {
      const torch::Tensor mask = torch::ones({2, 4});  // cause: mask
      hidden = hidden * mask;
    }
    if (fault == "literal") {
      const torch::Tensor shift = torch::zeros({2, 4}, torch::Device("cuda:1"));  // cause: literal
      hidden = hidden + shift;
    }
    hidden = hidden.to(head->weight.device());
    if (fault == "pooled") {
      hidden = hidden.to(x.device());  // cause: pooled
    }
    if (fault == "head-moved") {
      head->to(x.device());  // cause: head-moved
    }
    return head->forward(hidden).squeeze(-1);
  }

  torch::nn::Linear first{nullptr};
  torch::nn::Linear head{nullptr};
  torch::Tensor scale;
};

std::shared_ptr<Net> split_net() {
  auto net = std::make_shared<Net>();
  (void)net->parameters();  // as an optimizer asks
  net->first->to(kFirst);
  net->head->to(kSecond);
  return net;
}

void in_forward(const std::string& fault) {
  split_net()->forward(torch::ones({2, 4}).to(kFirst), fault);
}

void labels() {
  const auto net = split_net();
  const torch::Tensor logits = net->forward(torch::ones({2, 4}).to(kFirst), "none");
  const torch::Tensor targets = torch::ones({2}).to(net->first->weight.device());  // cause: labels
  torch::binary_cross_entropy_with_logits(logits, targets);
}

void from_blob() {
  std::vector<float> values(4, 1.0F);
  const torch::Tensor blob = torch::from_blob(values.data(), {4});
  torch::ones({4}, kFirst).mul(blob);  // cause: from-blob
}

void buffer() {
  const auto net = split_net();
  torch::ones({2, 4}, kFirst).mul(net->scale);
}

struct Mixing : torch::autograd::Function<Mixing> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x) {
    context->save_for_backward({torch::ones({3})});
    return x * 2;
  }
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list gradients) {
    return {gradients[0] * context->get_saved_variables()[0]};
  }
};

void custom_function() {
  const auto options = torch::TensorOptions().device(kFirst).requires_grad(true);
  Mixing::apply(torch::ones({3}, options)).sum().backward();
}

struct Elsewhere : torch::autograd::Function<Elsewhere> {
  static torch::Tensor forward(torch::autograd::AutogradContext*, const torch::Tensor& x) {
    return x * 2;
  }
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext*,
                                               torch::autograd::tensor_list gradients) {
    return {gradients[0].to(kSecond)};
  }
};

void invalid_gradient() {
  const auto options = torch::TensorOptions().device(kFirst).requires_grad(true);
  const torch::Tensor x = torch::ones({3}, options) * 3;
  const torch::Tensor y = Elsewhere::apply(x);  // cause: invalid-gradient
  y.sum().backward();
}

// A check of the program's own.
void same_device(const torch::Tensor& x, const torch::Tensor& y) {
  if (x.device() == y.device()) return;
  throw std::invalid_argument("y must be on device " + x.device().str() + " but is on " +
                              y.device().str());  // cause: own-check
}

void own_check() {
  same_device(torch::ones({3}, kFirst), torch::ones({3}, kSecond));
}

void own_check_caught() {
  try {
    own_check();
  } catch (const std::invalid_argument&) {  // the program goes on
  }
}

// As rank 1 of 2.
void other_ranks_gpu() {
  c10::cuda::set_device(1);
  for (int i = 0; i < 4; ++i) {
    torch::ones({8}, torch::Device("cuda:0"));  // cause: other-ranks-gpu
    torch::ones({8}, kSecond);
  }
}

void stepped() {
  torch::nn::Linear layer(4, 4);
  torch::optim::AdamW optimizer(layer->parameters());
  for (int i = 0; i < 2; ++i) {
    optimizer.zero_grad();
    layer->forward(torch::ones({1, 4})).sum().backward();
    optimizer.step();
  }
  layer->forward(torch::ones({1, 4}, kFirst));
}

void no_fault() {
  const torch::Tensor a = torch::ones({3, 4}, kFirst);
  a.mul(torch::tensor(2.0));
  a.index({torch::tensor({0, 1})});
  a.copy_(torch::ones({3, 4}));
  try {
    a.mul(torch::tensor(2.0)).matmul(a);
    throw std::logic_error("an error was expected");
  } catch (const c10::Error&) {  // shapes
  }
  split_net()->forward(torch::ones({2, 4}).to(kFirst), "none");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  const std::map<std::string, std::function<void()>> programs = {
      {"labels", labels},
      {"from-blob", from_blob},
      {"buffer", buffer},
      {"custom-function", custom_function},
      {"stepped", stepped},
      {"no-fault", no_fault},
      {"own-check", own_check},
      {"own-check-caught", own_check_caught},
      {"invalid-gradient", invalid_gradient},
      {"other-ranks-gpu", other_ranks_gpu}};
  if (const auto program = programs.find(name); program != programs.end()) {
    program->second();
  } else {
    in_forward(name);
  }
  std::cout << "done\n";
}
