// Loops over elements that the compiler turns into vector code; this file is compiled with -O3.
#include "simulator/stand_ins/nccl/reduce.h"

#include <cstring>
#include <type_traits>

#include "simulator/stand_ins/nccl/failure.h"

namespace devsan::sim::nccl {
namespace {

// Calls `use` with a null pointer of the C++ type that `type` means.
template <typename Use>
void with_type(ncclDataType_t type, Use&& use) {
  switch (type) {
    case ncclInt8:
      return use(static_cast<std::int8_t*>(nullptr));
    case ncclUint8:
      return use(static_cast<std::uint8_t*>(nullptr));
    case ncclInt32:
      return use(static_cast<std::int32_t*>(nullptr));
    case ncclUint32:
      return use(static_cast<std::uint32_t*>(nullptr));
    case ncclInt64:
      return use(static_cast<std::int64_t*>(nullptr));
    case ncclUint64:
      return use(static_cast<std::uint64_t*>(nullptr));
    case ncclFloat16:
      return use(static_cast<__half*>(nullptr));
    case ncclFloat32:
      return use(static_cast<float*>(nullptr));
    case ncclFloat64:
      return use(static_cast<double*>(nullptr));
    case ncclBfloat16:
      return use(static_cast<__nv_bfloat16*>(nullptr));
    case ncclFloat8e4m3:
      return use(static_cast<__nv_fp8_e4m3*>(nullptr));
    case ncclFloat8e5m2:
      return use(static_cast<__nv_fp8_e5m2*>(nullptr));
    case ncclNumTypes:
      break;
  }
  throw Failure(ncclInvalidArgument,
                "devsan simulator: NCCL type " + std::to_string(type) + " is not emulated");
}

// The type in which elements of T are added and multiplied: unsigned for integers, which then wrap;
// float for the small floating types, whose sums and products of two are exact enough in float that
// rounding them back gives what arithmetic in the small type gives.
template <typename T>
struct Wide {
  using type = float;
};
template <typename T>
  requires std::is_integral_v<T>
struct Wide<T> {
  using type = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
};
template <>
struct Wide<double> {
  using type = double;
};

template <typename T>
typename Wide<T>::type widen(T value) {
  if constexpr (std::is_same_v<T, __half>) {
    return __half2float(value);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __bfloat162float(value);
  } else {
    return static_cast<typename Wide<T>::type>(value);
  }
}

template <typename T>
T narrow(typename Wide<T>::type value) {
  if constexpr (std::is_same_v<T, __half>) {
    return __float2half_rn(value);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __float2bfloat16_rn(value);
  } else {
    return static_cast<T>(value);
  }
}

// Comparable as numbers: integers as themselves, small floats as float.
template <typename T>
auto ordered(T value) {
  if constexpr (std::is_integral_v<T>) {
    return value;
  } else {
    return widen(value);
  }
}

template <typename T>
bool is_nan(T value) {
  return value != value;
}

template <typename T, typename Step>
void each(void* into, const void* from, std::size_t count, Step step) {
  T* __restrict a = static_cast<T*>(into);
  const T* __restrict b = static_cast<const T*>(from);
  for (std::size_t i = 0; i < count; ++i) a[i] = step(a[i], b[i]);
}

template <typename T>
void combine_typed(void* into, const void* from, std::size_t count, Reduction op) {
  switch (op) {
    case Reduction::kSum:
    case Reduction::kAvg:
    case Reduction::kPreMulSum:
      return each<T>(into, from, count, [](T a, T b) { return narrow<T>(widen(a) + widen(b)); });
    case Reduction::kProd:
      return each<T>(into, from, count, [](T a, T b) { return narrow<T>(widen(a) * widen(b)); });
    case Reduction::kMax:
      return each<T>(into, from, count, [](T a, T b) {
        return ordered(a) > ordered(b) || is_nan(ordered(b)) ? a : b;
      });
    case Reduction::kMin:
      return each<T>(into, from, count, [](T a, T b) {
        return ordered(a) < ordered(b) || is_nan(ordered(b)) ? a : b;
      });
    case Reduction::kNone:
      break;
  }
}

// By memcpy: `from` and `scalar` may be anywhere.
template <typename T>
T read(const void* from, std::size_t index) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(from) + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void multiply_typed(void* into, const void* from, std::size_t count,
                    typename Wide<T>::type factor) {
  auto* bytes = static_cast<std::byte*>(into);
  for (std::size_t i = 0; i < count; ++i) {
    const T value = narrow<T>(widen(read<T>(from, i)) * factor);
    std::memcpy(bytes + i * sizeof(T), &value, sizeof(T));
  }
}

}  // namespace

void combine(void* into, const void* from, std::size_t count, ncclDataType_t type, Reduction op) {
  with_type(type, [&]<typename T>(T*) { combine_typed<T>(into, from, count, op); });
}

void premultiply(void* into, const void* from, std::size_t count, ncclDataType_t type,
                 const void* scalar) {
  with_type(type, [&]<typename T>(T*) {
    multiply_typed<T>(into, from, count, widen(read<T>(scalar, 0)));
  });
}

void copy_for_average(void* into, const void* from, std::size_t count, ncclDataType_t type,
                      int ranks) {
  with_type(type, [&]<typename T>(T*) {
    if constexpr (std::is_integral_v<T>) {
      std::memcpy(into, from, count * sizeof(T));
    } else {
      using W = typename Wide<T>::type;
      multiply_typed<T>(into, from, count, W{1} / static_cast<W>(ranks));
    }
  });
}

void finish_average(void* values, std::size_t count, ncclDataType_t type, int ranks) {
  with_type(type, [&]<typename T>(T*) {
    if constexpr (std::is_integral_v<T>) {
      T* const elements = static_cast<T*>(values);
      for (std::size_t i = 0; i < count; ++i) {
        elements[i] = static_cast<T>(elements[i] / static_cast<T>(ranks));
      }
    }
  });
}

}  // namespace devsan::sim::nccl
