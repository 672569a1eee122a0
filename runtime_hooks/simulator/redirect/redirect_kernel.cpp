// One redirected op from its boxed CUDA arguments to its boxed CUDA results.
#include "simulator/redirect/redirect_kernel.h"

#include <ATen/core/Generator.h>
#include <ATen/core/List.h>
#include <ATen/core/enum_tag.h>
#include <ATen/record_function.h>
#include <c10/core/AutogradState.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include "simulator/core/probe.h"
#include "simulator/redirect/aliases.h"
#include "simulator/redirect/allocator.h"
#include "simulator/redirect/random.h"
#include "simulator/redirect/self_check.h"

namespace devsan::sim {
namespace {

// An op that is redirected has been through autograd and autocast already.
constexpr c10::DispatchKeySet kAbove =
    c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset;

// The type inside Optional[...], or the type itself.
const c10::Type& without_optional(const c10::Type& type) {
  const auto* optional = type.castRaw<c10::OptionalType>();
  return optional != nullptr ? *optional->getElementType() : type;
}

template <typename Visit>
void for_each_tensor(const c10::IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    visit(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) {
      if (element.isTensor()) visit(element.toTensor());
    }
  }
}

c10::IValue list_to_cpu(Aliases& aliases, const c10::IValue& value) {
  c10::List<at::Tensor> list;
  const auto elements = value.toListRef();
  list.reserve(elements.size());
  for (const c10::IValue& element : elements) list.push_back(aliases.to_cpu(element.toTensor()));
  return list;
}

c10::IValue optional_list_to_cpu(Aliases& aliases, const c10::IValue& value) {
  c10::List<std::optional<at::Tensor>> list;
  for (const c10::IValue& element : value.toListRef()) {
    list.push_back(element.isTensor() ? std::optional(aliases.to_cpu(element.toTensor()))
                                      : std::nullopt);
  }
  return list;
}

// The autograd engine gives each CUDA device a thread of its own. Here all devices compute on the
// same cores, and a second thread means a second pool of OpenMP workers that the first one fights
// with: steps of small models took twice as long. So backward runs where it is called, as it does
// for CPU tensors. Set at every op because guards (inference mode) put the thread's old state back.
void keep_backward_on_this_thread() {
  c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
}

void result_to_cuda(Aliases& aliases, c10::IValue& value) {
  if (value.isTensor()) {
    value = aliases.to_cuda(std::move(value).toTensor());
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> list = value.toTensorList();
    for (std::size_t i = 0; i < list.size(); ++i) list.set(i, aliases.to_cuda(list.extract(i)));
  }
}

}  // namespace

RedirectKernel::RedirectKernel(const c10::OperatorHandle& op, Policy policy)
    : policy_(std::move(policy)) {
  const c10::FunctionSchema& schema = op.schema();
  arguments_ = schema.arguments().size();
  results_ = schema.returns().size();
  random_ = op.hasTag(at::Tag::nondeterministic_seeded);
  for (std::size_t i = 0; i < arguments_; ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    if (argument.alias_info() != nullptr && argument.alias_info()->isWrite()) writes_ = true;
    const c10::Type& type = without_optional(*argument.type());
    if (const auto* list = type.castRaw<c10::ListType>()) {
      const c10::Type& element = *list->getElementType();
      if (element.kind() == c10::TypeKind::TensorType) slots_.push_back({i, Kind::kTensorList});
      if (element.kind() == c10::TypeKind::OptionalType &&
          without_optional(element).kind() == c10::TypeKind::TensorType) {
        slots_.push_back({i, Kind::kOptionalTensorList});
      }
    } else if (type.kind() == c10::TypeKind::TensorType) {
      slots_.push_back({i, Kind::kTensor});
    } else if (type.kind() == c10::TypeKind::DeviceObjType) {
      slots_.push_back({i, Kind::kDevice});
    } else if (type.kind() == c10::TypeKind::GeneratorType) {
      slots_.push_back({i, Kind::kGenerator});
    }
  }
}

// The op's device is that of its first CUDA tensor, else its device argument, else the current
// device.
RedirectKernel::Placement RedirectKernel::placement(c10::ArrayRef<c10::IValue> arguments) const {
  std::optional<c10::Device> device;
  std::optional<c10::Device> asked;
  bool mixed = false;
  for (const Slot& slot : slots_) {
    const c10::IValue& value = arguments[slot.position];
    if (slot.kind == Kind::kDevice) {
      if (value.isDevice() && value.toDevice().is_cuda()) asked = value.toDevice();
      continue;
    }
    if (slot.kind == Kind::kGenerator) {
      // A CUDA generator of any index is taken by genuine kernels too.
      if (value.isGenerator() && value.toGenerator().defined() &&
          !value.toGenerator().device().is_cuda()) {
        mixed = true;
      }
      continue;
    }
    for_each_tensor(value, [&](const at::Tensor& tensor) {
      if (!tensor.defined()) return;
      const c10::Device here = tensor.device();
      if (!here.is_cuda()) {
        // Python numbers travel as CPU tensors that belong to no device.
        if (!tensor.unsafeGetTensorImpl()->is_wrapped_number()) mixed = true;
      } else if (!device) {
        device = here;
      } else if (*device != here) {
        mixed = true;
      }
    });
  }
  if (!device) device = asked;
  if (!device || !device->has_index())
    device = c10::Device(c10::DeviceType::CUDA, c10::cuda::current_device());
  return {*device, mixed};
}

void RedirectKernel::judge(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                           c10::ArrayRef<c10::IValue> arguments) const {
  torch::jit::Stack stack(arguments.begin(), arguments.end());
  const ProbeScope probe;
  policy_.judge->callBoxed(op, keys, &stack);
}

void RedirectKernel::operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                                torch::jit::Stack* stack) {
  // What happens in here is the simulator's business: observers of ops must not see it.
  const at::DisableRecordFunctionGuard unobserved;
  check_once_at_first_op();
  keep_backward_on_this_thread();
  const std::size_t first = stack->size() - arguments_;
  const c10::ArrayRef<c10::IValue> arguments(stack->data() + first, arguments_);
  const Placement where = placement(arguments);
  if (where.mixed && policy_.judge) judge(op, keys, arguments);

  const c10::cuda::CUDAGuard on_device(where.device);
  const c10::impl::ExcludeDispatchKeyGuard below(kAbove);
  Aliases aliases(where.device);
  at::Generator given;
  bool takes_generator = false;
  for (const Slot& slot : slots_) {
    c10::IValue& value = (*stack)[first + slot.position];
    switch (slot.kind) {
      case Kind::kTensor:
        if (value.isTensor()) value = aliases.to_cpu(std::move(value).toTensor());
        break;
      case Kind::kTensorList:
        if (value.isList()) value = list_to_cpu(aliases, value);
        break;
      case Kind::kOptionalTensorList:
        if (value.isList()) value = optional_list_to_cpu(aliases, value);
        break;
      case Kind::kDevice:
        if (value.isDevice() && value.toDevice().is_cuda())
          value = c10::Device(c10::DeviceType::CPU);
        break;
      case Kind::kGenerator:
        takes_generator = true;
        if (value.isGenerator()) given = value.toGenerator();
        break;
    }
  }

  std::optional<EngineScope> engine;
  if (random_ && (!given.defined() || given.device().is_cuda())) {
    const at::Generator drawn = engine_for_op(given, where.device);
    for (const Slot& slot : slots_) {
      if (slot.kind == Kind::kGenerator) (*stack)[first + slot.position] = drawn;
    }
    if (!takes_generator) engine.emplace(drawn);
  }

  {
    const DeviceAllocationScope from_device(where.device.index());
    if (policy_.replacement) {
      policy_.replacement->callBoxed(op, c10::DispatchKeySet(policy_.cpu_key), stack);
    } else {
      op.redispatchBoxed(c10::DispatchKeySet(policy_.cpu_key), stack);
    }
  }

  if (writes_) aliases.write_back();
  for (std::size_t i = stack->size() - results_; i < stack->size(); ++i)
    result_to_cuda(aliases, (*stack)[i]);
}

}  // namespace devsan::sim
