// The kernel that stands at CUDA's place in the dispatcher for one operator: it lets PyTorch's own
// kernel judge what must be judged, then computes on the CPU over the same memory.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <vector>

#include "simulator/compat.h"

namespace devsan::sim {

class RedirectKernel final : public c10::OperatorKernel {
 public:
  struct Policy {
    // PyTorch's kernel, which is asked when devices are mixed; none: every mix is legal (copies).
    std::optional<compat::SavedKernel> judge;
    // Computes instead of the operator's own CPU kernel, for operators that have none.
    std::optional<c10::KernelFunction> replacement;
    // Where the operator's CPU kernel is found.
    c10::DispatchKey cpu_key = c10::DispatchKey::CPU;
  };

  RedirectKernel(const c10::OperatorHandle& op, Policy policy);

  // A boxed kernel: takes the operator's arguments from the stack and leaves its results there.
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                  torch::jit::Stack* stack);

 private:
  enum class Kind { kTensor, kTensorList, kOptionalTensorList, kDevice, kGenerator };
  struct Slot {
    std::size_t position;
    Kind kind;
  };
  struct Placement {
    c10::Device device{c10::DeviceType::CUDA, 0};
    bool mixed = false;
  };

  Placement placement(c10::ArrayRef<c10::IValue> arguments) const;
  void judge(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
             c10::ArrayRef<c10::IValue> arguments) const;

  Policy policy_;
  std::vector<Slot> slots_;  // the arguments that are not passed on as they are
  std::size_t arguments_ = 0;
  std::size_t results_ = 0;
  bool writes_ = false;  // to an argument
  bool random_ = false;
};

}  // namespace devsan::sim
