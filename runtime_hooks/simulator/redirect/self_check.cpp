// One op per device, computed through the dispatcher like any other.
#include "simulator/redirect/self_check.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>

#include "simulator/core/machine.h"

namespace devsan::sim {
namespace {

constexpr int kExitUsage = 2;
constexpr std::int64_t kCount = 4;

std::atomic<bool> passed = false;
std::once_flag checked;
thread_local bool checking = false;

class DeviceFloats {
 public:
  explicit DeviceFloats(int device) {
    void* pointer = nullptr;
    machine().memory().allocate(device, kCount * sizeof(float), &pointer);
    values_ = static_cast<float*>(pointer);
  }
  ~DeviceFloats() { machine().memory().release(values_); }
  DeviceFloats(const DeviceFloats&) = delete;
  DeviceFloats& operator=(const DeviceFloats&) = delete;

  float* values() const { return values_; }

  at::Tensor tensor(int device) const {
    const auto options =
        at::TensorOptions(at::kFloat).device(at::kCUDA, static_cast<c10::DeviceIndex>(device));
    return at::from_blob(values_, {kCount}, options);
  }

 private:
  float* values_ = nullptr;
};

bool adds(int device) {
  const DeviceFloats a(device);
  const DeviceFloats b(device);
  const DeviceFloats sum(device);
  if (a.values() == nullptr || b.values() == nullptr || sum.values() == nullptr)
    return true;  // device full
  for (std::int64_t i = 0; i < kCount; ++i) {
    a.values()[i] = static_cast<float>(i);
    b.values()[i] = static_cast<float>(10 * device + 1);
    sum.values()[i] = -1;
  }
  at::Tensor out = sum.tensor(device);
  const at::Tensor& returned = at::add_out(out, a.tensor(device), b.tensor(device));
  if (!returned.is_same(out) || !out.is_cuda() || out.get_device() != device) return false;
  for (std::int64_t i = 0; i < kCount; ++i) {
    if (sum.values()[i] != static_cast<float>(i + 10 * device + 1)) return false;
  }
  return true;
}

void check_all_devices() {
  checking = true;
  // Modes that Python code has switched on are not to see this.
  const c10::impl::ExcludeDispatchKeyGuard below_python(c10::python_ks);
  for (int device = 0; device < machine().device_count(); ++device) {
    if (adds(device)) continue;
    std::fprintf(stderr, "devsan: cannot simulate: an addition on cuda:%d gave a wrong result\n",
                 device);
    _exit(kExitUsage);
  }
  checking = false;
  passed.store(true, std::memory_order_release);
}

}  // namespace

void check_once_at_first_op() {
  if (passed.load(std::memory_order_acquire) || checking) return;
  std::call_once(checked, &check_all_devices);
}

}  // namespace devsan::sim
