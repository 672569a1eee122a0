// The time a step takes, its kernels on the devices counted in.
#pragma once

#include <c10/core/Device.h>

#include <chrono>
#include <utility>
#include <vector>

namespace models {

class StepClock {
 public:
  // `devices` are waited for at the end of each step.
  explicit StepClock(std::vector<c10::Device> devices) : devices_(std::move(devices)) {}

  void start() { start_ = std::chrono::steady_clock::now(); }
  void stop();
  // Prints nothing where there was no step.
  void print_median();

 private:
  std::vector<c10::Device> devices_;
  std::chrono::steady_clock::time_point start_;
  std::vector<double> milliseconds_;
};

}  // namespace models
