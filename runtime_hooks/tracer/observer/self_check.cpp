// A load without an error proves little: the layout of RecordFunction and the boxing of arguments
// are tried on an op whose tensors are known.
#include "observer/self_check.h"

#include <cstring>

#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "observer/compat.h"

namespace devsan::trace {
namespace {

struct Seen {
  bool began = false;
  const void* inputs[2] = {nullptr, nullptr};
  const void* output = nullptr;
  Device device{1, 0};
};
thread_local Seen seen;

bool is_the_add(const at::RecordFunction& record) {
  return std::strcmp(record.name(), "aten::add") == 0;
}

std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction& record) {
  if (!is_the_add(record) || record.inputs().size() < 2) return nullptr;
  seen.began = true;
  for (std::size_t i = 0; i < 2; ++i) {
    for_each_tensor(record.inputs()[i], [&](const at::Tensor& tensor, int) {
      seen.inputs[i] = tensor.unsafeGetTensorImpl();
      seen.device = device_of(tensor.unsafeGetTensorImpl()).value_or(Device{1, 0});
    });
  }
  return nullptr;
}

void on_end(const at::RecordFunction& record, at::ObserverContext*) {
  if (!is_the_add(record) || record.outputs().size() != 1) return;
  for_each_tensor(record.outputs()[0], [&](const at::Tensor& tensor, int) {
    seen.output = tensor.unsafeGetTensorImpl();
  });
}

}  // namespace

std::string self_check() {
  // The program's first op may be under a Python mode, in inference mode or with recording off.
  const c10::impl::ExcludeDispatchKeyGuard without_python(
      c10::DispatchKeySet{c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot,
                          c10::DispatchKey::PythonDispatcher});
  const c10::impl::ExcludeDispatchKeyGuard without_autograd(c10::autograd_dispatch_keyset);
  const at::RecordFunctionGuard recording(true);
  const at::CallbackHandle handle =
      at::addThreadLocalCallback(at::RecordFunctionCallback(on_begin, on_end)
                                     .needsInputs(true)
                                     .needsOutputs(true)
                                     .scopes({at::RecordScope::FUNCTION}));
  const at::Tensor a = at::empty({2}, at::kCPU);
  const at::Tensor b = at::empty({2}, at::kCPU);
  const at::Tensor sum = at::add(a, b);
  at::removeCallback(handle);

  if (!seen.began) return "an op was run and not seen";
  if (seen.inputs[0] != a.unsafeGetTensorImpl() || seen.inputs[1] != b.unsafeGetTensorImpl()) {
    return "the inputs of an op were not seen as they are";
  }
  if (seen.output != sum.unsafeGetTensorImpl()) return "the result of an op was not seen as it is";
  if (!seen.device.is_cpu()) return "the device of a tensor was not read as it is";
  return {};
}

}  // namespace devsan::trace
