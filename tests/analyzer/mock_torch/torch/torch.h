// As much of LibTorch's interface as the analyzer's unit tests need: the same names, namespaces,
// constructors and overloads, no bodies. Parses in milliseconds. The end-to-end tests use the real
// headers.
#pragma once

#include "../standard.h"

typedef struct CUstream_st* cudaStream_t;

namespace c10 {
enum class DeviceType : signed char { CPU = 0, CUDA = 1, HIP = 6, MPS = 13, Meta = 14 };
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
enum class ScalarType : signed char { Long = 4, Half = 5, Float = 6 };
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
  TensorOptions dtype(std::optional<ScalarType>) const noexcept;
  Device device() const noexcept;
};
TensorOptions device(Device);
TensorOptions dtype(ScalarType);

template <class T>
struct ArrayRef {
  ArrayRef(const std::initializer_list<T>&);
  ArrayRef(const std::vector<T>&);
  ArrayRef(const T&);
};
using IntArrayRef = ArrayRef<long>;
template <class T>
class OptionalArrayRef final {
 public:
  OptionalArrayRef(const std::initializer_list<T>&);
  OptionalArrayRef(const T&);
};
using OptionalIntArrayRef = OptionalArrayRef<long>;

struct Error {};
struct DeviceGuard {
  explicit DeviceGuard(Device);
};
struct OptionalDeviceGuard {
  explicit OptionalDeviceGuard(std::optional<Device>);
};
struct Scalar {
  Scalar(double);
  Scalar(int);
  Scalar(long);
};
namespace cuda {
struct CUDAGuard {
  explicit CUDAGuard(DeviceIndex);
  explicit CUDAGuard(Device);
};
struct OptionalCUDAGuard {
  explicit OptionalCUDAGuard(std::optional<Device>);
};
struct CUDAStream {
  operator cudaStream_t() const;
};
CUDAStream getCurrentCUDAStream(DeviceIndex index = -1);
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

namespace indexing {
struct TensorIndex;
}

class Tensor : public TensorBase {
 public:
  Tensor();
  Tensor(const Tensor&);
  explicit Tensor(const TensorBase&);
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
  Tensor& copy_(const Tensor&, bool non_blocking = false) const;
  Tensor view(IntArrayRef) const;
  Tensor sum() const;
  Tensor sum(OptionalIntArrayRef, bool keepdim = false) const;
  Tensor mean() const;
  Tensor t() const;
  Tensor unsqueeze(long) const;
  Tensor matmul(const Tensor&) const;
  Tensor mul(const Tensor&) const;
  Tensor add(const Tensor&) const;
  Tensor masked_fill(const Tensor& mask, const Scalar& value) const;
  Tensor index(ArrayRef<indexing::TensorIndex>) const;
  Tensor& index_put_(ArrayRef<indexing::TensorIndex>, const Tensor&);
  Tensor index_select(long, const Tensor&) const;
  Tensor expand_as(const Tensor&) const;
  Tensor type_as(const Tensor&) const;
  Tensor new_zeros(IntArrayRef, TensorOptions options = {}) const;
  std::tuple<Tensor, Tensor> max(long, bool keepdim = false) const;
  IntArrayRef sizes() const;
  long size(long) const;
  long dim() const;
  Tensor nonzero() const;
  bool equal(const Tensor&) const;
  bool defined() const;
  template <class T>
  T item() const;
  template <class T>
  T* data_ptr() const;
  Tensor operator[](const Tensor&) const;
  Tensor& operator+=(const Tensor&);
  Tensor operator[](long) const;
  void backward() const;
};
namespace indexing {
struct TensorIndex final {
  TensorIndex(Tensor);
  TensorIndex(long);
};
}  // namespace indexing
using TensorList = ArrayRef<Tensor>;
inline std::optional<Device> device_of(const Tensor&);
Tensor operator+(const Tensor&, const Tensor&);
Tensor operator+(const Tensor&, const Scalar&);
Tensor operator*(const Tensor&, const Tensor&);
Tensor operator*(const Tensor&, const Scalar&);
Tensor relu(const Tensor&);
bool equal(const Tensor&, const Tensor&);
Tensor zeros_like(const Tensor&, TensorOptions options = {});
Tensor ones_like(const Tensor&, TensorOptions options = {});
Tensor matmul(const Tensor&, const Tensor&);
Tensor cat(TensorList, long dim = 0);
Tensor stack(TensorList, long dim = 0);
Tensor where(const Tensor&, const Tensor&, const Tensor&);
Tensor linear(const Tensor&, const Tensor&, const std::optional<Tensor>& bias = {});
Tensor silu(const Tensor&);

struct Generator {};
struct Context {
  const Generator& defaultGenerator(Device device);
};
Context& globalContext();
}  // namespace at

namespace c10 {
struct IValue final {
  IValue(at::TensorBase);
  at::Tensor toTensor() &&;
  const at::Tensor& toTensor() const&;
};
}  // namespace c10

namespace torch {
using namespace at;

Tensor zeros(IntArrayRef, TensorOptions options = {});
Tensor ones(IntArrayRef, TensorOptions options = {});
Tensor empty(IntArrayRef, TensorOptions options = {});
Tensor rand(IntArrayRef, TensorOptions options = {});
Tensor randn(IntArrayRef, TensorOptions options = {});
Tensor full(IntArrayRef, const Scalar&, TensorOptions options = {});
Tensor arange(const Scalar& end, TensorOptions options = {});
Tensor eye(long, TensorOptions options = {});
Tensor scalar_tensor(const Scalar&, TensorOptions options = {});
namespace detail {
struct TensorDataContainer {
  TensorDataContainer(int);
  TensorDataContainer(double);
  TensorDataContainer(std::initializer_list<TensorDataContainer>);
  TensorDataContainer(const std::vector<float>&);
};
}  // namespace detail
Tensor tensor(detail::TensorDataContainer, const TensorOptions& options = {});
Tensor from_blob(void*, IntArrayRef, const TensorOptions& options = {});

namespace cuda {
bool is_available();
DeviceIndex device_count();
}  // namespace cuda

template <std::size_t D, class T = long>
class ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T>);
  ExpandingArray(T);
};

namespace serialize {
class InputArchive {
 public:
  InputArchive();
  void load_from(const std::string& filename, std::optional<Device> device = {});
};
}  // namespace serialize

namespace nn {
template <class Contained>
class ModuleHolder;
class Module {
 public:
  Module();
  virtual ~Module();
  Tensor& register_buffer(std::string name, Tensor);
  Tensor& register_parameter(std::string name, Tensor, bool requires_grad = true);
  template <class M>
  std::shared_ptr<M> register_module(std::string name, std::shared_ptr<M>);
  template <class M>
  std::shared_ptr<M> register_module(std::string name, ModuleHolder<M>);
  std::vector<Tensor> parameters(bool recurse = true) const;
  bool is_training() const;
  virtual void train(bool on = true);
  virtual void load(serialize::InputArchive&);
  virtual void zero_grad(bool set_to_none = true);
  virtual void to(Device device, ScalarType dtype, bool non_blocking = false);
  virtual void to(ScalarType dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const;
};
template <class Derived>
class Cloneable : public Module {
 public:
  virtual void reset() = 0;
};
template <class Contained>
class ModuleHolder {
 public:
  ModuleHolder();
  ModuleHolder(std::nullptr_t);
  ModuleHolder(std::shared_ptr<Contained>);
  template <class Head, class... Tail,
            class = typename std::enable_if<__is_constructible(Contained, Head&&, Tail&&...)>::type>
  explicit ModuleHolder(Head&&, Tail&&...);
  Contained* operator->();
  const Contained* operator->() const;
  Contained& operator*();
  explicit operator bool() const;
  template <class... Args>
  Tensor operator()(Args&&...);
};
#define TORCH_MODULE(Name)                                   \
  class Name : public torch::nn::ModuleHolder<Name##Impl> {  \
   public:                                                   \
    using torch::nn::ModuleHolder<Name##Impl>::ModuleHolder; \
  }

struct LinearImpl : Cloneable<LinearImpl> {
  LinearImpl(long, long);
  void reset() override;
  Tensor forward(const Tensor&);
  Tensor weight;
};
TORCH_MODULE(Linear);
struct LSTMImpl : Cloneable<LSTMImpl> {
  LSTMImpl(long input_size, long hidden_size);
  void reset() override;
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(
      const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});
};
TORCH_MODULE(LSTM);
struct DropoutOptions {
  DropoutOptions(double p = 0.5);
};
struct DropoutImpl : Cloneable<DropoutImpl> {
  DropoutImpl(double p);
  explicit DropoutImpl(const DropoutOptions& = {});
  void reset() override;
  Tensor forward(Tensor);
};
TORCH_MODULE(Dropout);
struct ReLUOptions {
  ReLUOptions(bool inplace = false);
};
struct ReLUImpl : Cloneable<ReLUImpl> {
  explicit ReLUImpl(const ReLUOptions& = {});
  void reset() override;
  Tensor forward(Tensor);
};
TORCH_MODULE(ReLU);
struct MaxPool2dImpl : Cloneable<MaxPool2dImpl> {
  MaxPool2dImpl(ExpandingArray<2>);
  void reset() override;
  Tensor forward(const Tensor&);
};
TORCH_MODULE(MaxPool2d);
struct SequentialImpl : Cloneable<SequentialImpl> {
  SequentialImpl();
  template <class... Modules>
  explicit SequentialImpl(Modules&&...);
  void reset() override;
  template <class Result = Tensor, class... Inputs>
  Result forward(Inputs&&...);
  template <class M>
  void push_back(const ModuleHolder<M>&);
};
class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  Sequential();
  using ModuleHolder<SequentialImpl>::ModuleHolder;
};
namespace parallel {
template <class ModuleType>
std::vector<std::shared_ptr<ModuleType>> replicate(const std::shared_ptr<ModuleType>&,
                                                   const std::vector<Device>&);
template <class ModuleType>
std::vector<ModuleHolder<ModuleType>> replicate(const ModuleHolder<ModuleType>&,
                                                const std::vector<Device>&);
}  // namespace parallel
class AnyModule {
 public:
  AnyModule() = default;
  template <class M>
  explicit AnyModule(const ModuleHolder<M>&);
  template <class Result = Tensor, class... Arguments>
  Result forward(Arguments&&...);
  std::shared_ptr<Module> ptr() const;
};
namespace init {
Tensor xavier_uniform_(Tensor, double gain = 1.0);
}
namespace functional {
struct SoftmaxFuncOptions {
  SoftmaxFuncOptions(long dim);
};
Tensor mse_loss(const Tensor&, const Tensor&);
Tensor softmax(const Tensor&, const SoftmaxFuncOptions&);
}  // namespace functional
}  // namespace nn

namespace autograd {
template <class T>
struct Function {};
}  // namespace autograd

namespace optim {
class Optimizer {
 public:
  virtual ~Optimizer();
  virtual Tensor step() = 0;
  void zero_grad(bool set_to_none = true);
};
struct AdagradOptions {
  AdagradOptions(double lr = 1e-2);
};
class Adagrad : public Optimizer {
 public:
  explicit Adagrad(std::vector<Tensor>, AdagradOptions = {});
  Tensor step() override;
};
struct SGDOptions {
  SGDOptions(double lr);
};
class SGD : public Optimizer {
 public:
  explicit SGD(std::vector<Tensor>, SGDOptions);
  Tensor step() override;
};
struct AdamOptions {
  AdamOptions(double lr = 1e-3);
};
class Adam : public Optimizer {
 public:
  explicit Adam(std::vector<Tensor>, AdamOptions = {});
  Tensor step() override;
};
}  // namespace optim

template <class Value, class... From>
void load(Value& value, From&&... from);

namespace jit {
struct Module {
  void to(Device, bool non_blocking = false);
  IValue forward(std::vector<IValue>);
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
