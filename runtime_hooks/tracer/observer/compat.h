// Everything of PyTorch that the observer depends on, and that differs between releases.
//
// One observer library is built for each minor release, from the release's own headers: dispatch
// keys, object sizes and signatures differ, and a library for another release may load and then
// corrupt memory. What must be adapted for a new release is adapted here.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <c10/core/StorageImpl.h>
#include <torch/csrc/profiler/unwind/unwind.h>
#include <torch/headeronly/version.h>

#include "core/device.h"

static_assert(TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 11,
              "the tracer has been written and tested for PyTorch 2.11");
#ifndef NDEBUG
#error "without NDEBUG record_function.h lays RecordFunction out differently from the wheel"
#endif

namespace devsan::trace {

static_assert(static_cast<int>(c10::DeviceType::CPU) == 0 &&
                  static_cast<int>(c10::DeviceType::CUDA) == 1,
              "core/device.h names device types by these numbers");

inline Device to_device(c10::Device device) {
  const auto type = static_cast<std::int8_t>(device.type());
  return {type, type == 0 ? std::int8_t{-1} : static_cast<std::int8_t>(device.index())};
}

// The storage, or null for layouts that have none. Never throws, as Tensor::storage() may.
inline c10::StorageImpl* storage_of(const c10::TensorImpl* tensor) {
  return tensor->unsafe_storage().unsafeGetStorageImpl();
}

// A tensor whose class answers __torch_dispatch__ may answer device() by running Python: for such
// the storage is asked. Nothing when there is none.
inline std::optional<Device> device_of(const c10::TensorImpl* tensor) {
  if (!tensor->is_python_dispatch()) return to_device(tensor->device());
  const c10::StorageImpl* storage = storage_of(tensor);
  return storage ? std::optional(to_device(storage->device())) : std::nullopt;
}

// Calls visit(tensor, index in the list or -1) for each defined tensor in an op's argument or
// result.
template <class Visit>
void for_each_tensor(const c10::IValue& value, Visit visit) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (tensor.defined()) visit(tensor, -1);
  } else if (value.isList()) {
    int index = 0;
    for (const c10::IValue& element : value.toListRef()) {
      if (element.isTensor() && element.toTensor().defined()) visit(element.toTensor(), index);
      ++index;
    }
  }
}

}  // namespace devsan::trace
