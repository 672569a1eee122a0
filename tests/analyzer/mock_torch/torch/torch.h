// As much of LibTorch's interface as the analyzer's unit tests need: the same names, namespaces,
// constructors and overloads, no bodies. Parses in milliseconds. The end-to-end tests use the real
// headers.
#pragma once

#include "../standard.h"

namespace c10 {
enum class DeviceType : signed char { CPU = 0, CUDA = 1, HIP = 6, MPS = 13, Meta = 14 };
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
enum class ScalarType : signed char { Float, Half, Long };
constexpr ScalarType kFloat = ScalarType::Float;
constexpr ScalarType kLong = ScalarType::Long;
using DeviceIndex = signed char;

struct Device final {
  using Type = DeviceType;
  Device(DeviceType type, DeviceIndex index = -1);
  Device(const std::string& description);
  bool operator==(const Device&) const noexcept;
  bool operator!=(const Device&) const noexcept;
  DeviceType type() const noexcept;
  DeviceIndex index() const noexcept;
  bool is_cuda() const noexcept;
  bool is_cpu() const noexcept;
};
std::ostream& operator<<(std::ostream&, const Device&);

struct TensorOptions {
  TensorOptions();
  template <class... Args,
            typename = typename std::enable_if<__is_constructible(Device, Args&&...)>::type>
  TensorOptions(Args&&... args);
  TensorOptions(ScalarType);
  TensorOptions device(std::optional<Device>) const noexcept;
  template <class... Args>
  TensorOptions device(Args&&... args) const noexcept;
  TensorOptions device_index(DeviceIndex) const noexcept;
  TensorOptions dtype(ScalarType) const noexcept;
  Device device() const noexcept;
};
TensorOptions device(Device);
TensorOptions dtype(ScalarType);

template <class T>
struct ArrayRef {
  ArrayRef(const std::initializer_list<T>&);
  ArrayRef(const T&);
};
using IntArrayRef = ArrayRef<long>;

struct Error {};
struct DeviceGuard {
  explicit DeviceGuard(Device);
};
namespace cuda {
struct CUDAGuard {
  explicit CUDAGuard(DeviceIndex);
  explicit CUDAGuard(Device);
};
void set_device(DeviceIndex);
}  // namespace cuda
}  // namespace c10

namespace at {
using namespace c10;

class TensorBase {
 public:
  TensorBase to(TensorOptions options = {}, bool non_blocking = false, bool copy = false) const;
  TensorBase contiguous() const;
  Device device() const;
  TensorOptions options() const;
  bool is_cuda() const;
  bool is_cpu() const;
  DeviceIndex get_device() const;
};

class Tensor : public TensorBase {
 public:
  Tensor();
  Tensor(const Tensor&);
  Tensor(const TensorBase&);
  Tensor& operator=(const Tensor&) &;
  ~Tensor();
  Tensor to(TensorOptions options = {}, bool non_blocking = false, bool copy = false) const;
  Tensor to(Device, ScalarType, bool non_blocking = false, bool copy = false) const;
  Tensor to(ScalarType, bool non_blocking = false, bool copy = false) const;
  Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false) const;
  Tensor cuda() const;
  Tensor cpu() const;
  Tensor contiguous() const;
  Tensor toType(ScalarType) const;
  Tensor detach() const;
  Tensor clone() const;
  Tensor& detach_() const;
  Tensor& zero_() const;
  Tensor& copy_(const Tensor&) const;
  Tensor view(IntArrayRef) const;
  Tensor sum() const;
  Tensor& operator+=(const Tensor&);
  Tensor operator[](long) const;
  void backward() const;
};
Tensor operator+(const Tensor&, const Tensor&);
Tensor zeros(IntArrayRef, TensorOptions options = {});
Tensor relu(const Tensor&);

struct Generator {};
struct Context {
  const Generator& defaultGenerator(Device device);
};
Context& globalContext();
}  // namespace at

namespace torch {
using namespace at;

namespace cuda {
bool is_available();
int device_count();
}  // namespace cuda

namespace nn {
class Module {
 public:
  virtual ~Module();
  virtual void to(Device device, ScalarType dtype, bool non_blocking = false);
  virtual void to(ScalarType dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const;
};
template <class Derived>
class Cloneable : public Module {};
template <class Contained>
class ModuleHolder {
 public:
  Contained* operator->() const;
};
struct LinearImpl : Cloneable<LinearImpl> {
  LinearImpl(long, long);
  Tensor forward(const Tensor&);
};
class Linear : public ModuleHolder<LinearImpl> {
 public:
  Linear(long, long);
};
}  // namespace nn

namespace autograd {
template <class T>
struct Function {};
}  // namespace autograd

namespace jit {
struct Module {
  void to(Device, bool non_blocking = false);
};
Module load(const std::string& path, std::optional<Device> device = {},
            bool load_debug_files = true);
}  // namespace jit
}  // namespace torch

#define TORCH_CHECK(condition, ...) \
  if (!(condition)) {               \
    throw ::c10::Error();           \
  }
#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) \
  [&] {                                             \
    switch (type) {                                 \
      case ::c10::ScalarType::Float: {              \
        using scalar_t = float;                     \
        return __VA_ARGS__();                       \
      }                                             \
      default:                                      \
        throw ::c10::Error();                       \
    }                                               \
  }()
