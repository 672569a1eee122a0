// Distillation: the student is moved, the teacher is not.
#include <torch/torch.h>

void distill(torch::nn::Sequential student, torch::Tensor images, torch::Device device) {
  torch::nn::Sequential teacher(torch::nn::Linear(784, 256), torch::nn::ReLU(),
                                torch::nn::Linear(256, 10));
  torch::load(teacher, "teacher.pt", device);
  student->to(device);
  teacher->eval();
}

int main() {
  torch::Device device(torch::kCUDA, 0);
  torch::nn::Linear student(784, 10);
  torch::nn::Linear teacher(784, 10);
  student->to(device);
#ifdef FIXED
  teacher->to(device);
#endif
  torch::optim::SGD optimizer(student->parameters(), 0.1);
  for (int step = 0; step < 100; ++step) {
    auto images = torch::rand({32, 784}, device);
    auto wanted = teacher->forward(images).softmax(1);  // fault: unmoved-tensor
    auto given = student->forward(images).log_softmax(1);
    auto loss = torch::kl_div(given, wanted);  // fault: unmoved-tensor
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
