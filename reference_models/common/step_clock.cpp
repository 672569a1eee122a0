// Steps timed, and the one in the middle.
#include "step_clock.h"

#include <fmt/format.h>
#include <torch/cuda.h>

#include <algorithm>

namespace models {

void StepClock::stop() {
  for (const c10::Device& device : devices_) {
    if (device.is_cuda()) torch::cuda::synchronize(device.index());
  }
  milliseconds_.push_back(
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count());
}

void StepClock::print_median() {
  if (milliseconds_.empty()) return;
  const auto middle = milliseconds_.begin() + static_cast<std::ptrdiff_t>(milliseconds_.size() / 2);
  std::nth_element(milliseconds_.begin(), middle, milliseconds_.end());
  fmt::print("median step: {:.3f} ms of {} steps\n", *middle, milliseconds_.size());
}

}  // namespace models
