// What NCCL's calls compute and where they put it: every collective, type and operator against a
// plain loop, for counts from nothing to several times what the ranks stage at once.
#include <algorithm>
#include <cmath>
#include <string>

#include "nccl_harness.h"

namespace {

using devsan::sim::nccl_test::DeviceArray;
using devsan::sim::nccl_test::on_processes;
using devsan::sim::nccl_test::on_threads;

[[maybe_unused]] const int options_are_set =
    setenv("DEVSAN_OPTIONS", "simulate=8:device_memory=1GiB", /*overwrite=*/1);

constexpr int kRanks = 4;
constexpr std::size_t kCounts[] = {0, 1, 7, 4099};
constexpr std::size_t kLarge = 700'003;  // more than is staged at once, and no multiple of anything

template <typename T>
struct Type;
#define NCCL_TYPE(cpp, nccl)                      \
  template <>                                     \
  struct Type<cpp> {                              \
    static constexpr ncclDataType_t value = nccl; \
  };
NCCL_TYPE(std::int8_t, ncclInt8)
NCCL_TYPE(std::uint8_t, ncclUint8)
NCCL_TYPE(std::int32_t, ncclInt32)
NCCL_TYPE(std::uint32_t, ncclUint32)
NCCL_TYPE(std::int64_t, ncclInt64)
NCCL_TYPE(std::uint64_t, ncclUint64)
NCCL_TYPE(__half, ncclFloat16)
NCCL_TYPE(float, ncclFloat32)
NCCL_TYPE(double, ncclFloat64)
NCCL_TYPE(__nv_bfloat16, ncclBfloat16)
NCCL_TYPE(__nv_fp8_e4m3, ncclFloat8e4m3)
NCCL_TYPE(__nv_fp8_e5m2, ncclFloat8e5m2)
#undef NCCL_TYPE

// Values that every type holds exactly, as do their sums, products and quarters over four ranks.
int value(int rank, std::size_t i) {
  return 1 + static_cast<int>((i * 7 + i / 64 + static_cast<std::size_t>(rank) * 3) / 2 % 2);
}

template <typename T>
T to(double number) {
  return static_cast<T>(static_cast<float>(number));
}

template <typename T>
std::vector<T> values(int rank, std::size_t count, std::size_t from = 0) {
  std::vector<T> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = to<T>(value(rank, from + i));
  return result;
}

template <typename T>
std::vector<T> reduced(ncclRedOp_t op, std::size_t count, std::size_t from = 0) {
  std::vector<T> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    double product = 1;
    double largest = 0;
    double smallest = 9;
    for (int rank = 0; rank < kRanks; ++rank) {
      const double v = value(rank, from + i);
      sum += v;
      product *= v;
      largest = std::max(largest, v);
      smallest = std::min(smallest, v);
    }
    const double average = std::is_integral_v<T> ? static_cast<int>(sum) / kRanks : sum / kRanks;
    const double all[] = {sum, product, largest, smallest, average};
    result[i] = to<T>(all[op]);
  }
  return result;
}

template <typename T>
void expect_same(const std::vector<T>& got, const std::vector<T>& wanted, const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(static_cast<double>(static_cast<float>(got[i])),
              static_cast<double>(static_cast<float>(wanted[i])))
        << what << ", element " << i << " of " << got.size();
  }
}

template <typename T>
std::vector<T> operator+(std::vector<T> a, const std::vector<T>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

template <typename T>
class NcclValues : public testing::Test {
 protected:
  static constexpr ncclDataType_t kType = Type<T>::value;
};

using Types = testing::Types<std::int8_t, std::uint8_t, std::int32_t, std::uint32_t, std::int64_t,
                             std::uint64_t, __half, float, double, __nv_bfloat16, __nv_fp8_e4m3,
                             __nv_fp8_e5m2>;
TYPED_TEST_SUITE(NcclValues, Types);

constexpr ncclRedOp_t kOperators[] = {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg};

TYPED_TEST(NcclValues, Reductions) {
  using T = TypeParam;
  on_threads(kRanks, [&](int rank, ncclComm_t comm) {
    for (const std::size_t count : {kCounts[0], kCounts[1], kCounts[2], kCounts[3], kLarge}) {
      for (const ncclRedOp_t op : kOperators) {
        if (count == kLarge && op != ncclSum && op != ncclAvg) continue;
        const std::string what = "op " + std::to_string(op);
        const DeviceArray<T> input(values<T>(rank, count));
        DeviceArray<T> output(count);
        ASSERT_EQ(ncclAllReduce(input.get(), output.get(), count, this->kType, op, comm, nullptr),
                  ncclSuccess)
            << ncclGetLastError(nullptr);
        expect_same(output.values(), reduced<T>(op, count), "AllReduce " + what);
        expect_same(input.values(), values<T>(rank, count), "input of AllReduce " + what);

        DeviceArray<T> in_place(values<T>(rank, count));
        ASSERT_EQ(
            ncclAllReduce(in_place.get(), in_place.get(), count, this->kType, op, comm, nullptr),
            ncclSuccess);
        expect_same(in_place.values(), reduced<T>(op, count), "AllReduce in place " + what);

        // Only the root needs somewhere to receive.
        const int root = 2;
        void* const receive = rank == root ? output.get() : nullptr;
        output.set(values<T>(rank, count));
        ASSERT_EQ(ncclReduce(input.get(), receive, count, this->kType, op, root, comm, nullptr),
                  ncclSuccess);
        expect_same(output.values(), rank == root ? reduced<T>(op, count) : values<T>(rank, count),
                    "Reduce " + what);

        if (count == kLarge) continue;  // of four times this: below
        const DeviceArray<T> blocks(values<T>(rank, count * kRanks));
        ASSERT_EQ(
            ncclReduceScatter(blocks.get(), output.get(), count, this->kType, op, comm, nullptr),
            ncclSuccess);
        expect_same(output.values(), reduced<T>(op, count, count * static_cast<std::size_t>(rank)),
                    "ReduceScatter " + what);
      }
    }
    const std::size_t count = kLarge / kRanks;
    DeviceArray<T> blocks(values<T>(rank, count * kRanks));
    T* const mine = blocks.get() + count * static_cast<std::size_t>(rank);
    ASSERT_EQ(ncclReduceScatter(blocks.get(), mine, count, this->kType, ncclSum, comm, nullptr),
              ncclSuccess);
    const std::vector<T> all = blocks.values();
    const auto from = static_cast<std::ptrdiff_t>(count) * rank;
    expect_same(std::vector<T>(all.begin() + from, all.begin() + from + static_cast<int>(count)),
                reduced<T>(ncclSum, count, count * static_cast<std::size_t>(rank)),
                "ReduceScatter in place");
  });
}

TYPED_TEST(NcclValues, Copies) {
  using T = TypeParam;
  on_threads(kRanks, [&](int rank, ncclComm_t comm) {
    for (const std::size_t count : {kCounts[0], kCounts[1], kCounts[2], kCounts[3], kLarge}) {
      if (count == kLarge && sizeof(T) < 8) continue;
      const std::size_t all = count * kRanks;
      const int root = 1;
      std::vector<T> everyone;
      for (int r = 0; r < kRanks; ++r) everyone = everyone + values<T>(r, count);
      const DeviceArray<T> input(values<T>(rank, count));
      const DeviceArray<T> blocks(values<T>(rank, all));
      DeviceArray<T> output(count);
      DeviceArray<T> outputs(all);
      const T* const only_root = rank == root ? input.get() : nullptr;

      ASSERT_EQ(ncclBroadcast(only_root, output.get(), count, this->kType, root, comm, nullptr),
                ncclSuccess);
      expect_same(output.values(), values<T>(root, count), "Broadcast");

      output.set(values<T>(rank, count));
      ASSERT_EQ(ncclBcast(output.get(), count, this->kType, root, comm, nullptr), ncclSuccess);
      expect_same(output.values(), values<T>(root, count), "Bcast");

      ASSERT_EQ(ncclAllGather(input.get(), outputs.get(), count, this->kType, comm, nullptr),
                ncclSuccess);
      expect_same(outputs.values(), everyone, "AllGather");

      outputs.set(std::vector<T>(all));
      T* const mine = outputs.get() + count * static_cast<std::size_t>(rank);
      cudaMemcpy(mine, input.get(), count * sizeof(T), cudaMemcpyDeviceToDevice);
      ASSERT_EQ(ncclAllGather(mine, outputs.get(), count, this->kType, comm, nullptr), ncclSuccess);
      expect_same(outputs.values(), everyone, "AllGather in place");

      void* const at_root = rank == root ? outputs.get() : nullptr;
      outputs.set(values<T>(rank, all));
      ASSERT_EQ(ncclGather(input.get(), at_root, count, this->kType, root, comm, nullptr),
                ncclSuccess);
      expect_same(outputs.values(), rank == root ? everyone : values<T>(rank, all), "Gather");

      ASSERT_EQ(ncclScatter(rank == root ? blocks.get() : nullptr, output.get(), count, this->kType,
                            root, comm, nullptr),
                ncclSuccess);
      expect_same(output.values(), values<T>(root, count, count * static_cast<std::size_t>(rank)),
                  "Scatter");

      std::vector<T> exchanged;
      for (int r = 0; r < kRanks; ++r) {
        exchanged = exchanged + values<T>(r, count, count * static_cast<std::size_t>(rank));
      }
      ASSERT_EQ(ncclAlltoAll(blocks.get(), outputs.get(), count, this->kType, comm, nullptr),
                ncclSuccess);
      expect_same(outputs.values(), exchanged, "AlltoAll");
    }
  });
}

TYPED_TEST(NcclValues, PremultipliedSums) {
  using T = TypeParam;
  const std::size_t count = 4099;
  const auto factor = [](int rank) { return rank % 2 == 0 ? 2 : 1; };
  std::vector<T> expected(count);
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int rank = 0; rank < kRanks; ++rank) sum += factor(rank) * value(rank, i);
    expected[i] = to<T>(sum);
  }
  // Up to 12: all types but the smallest hold every such integer.
  if (std::is_same_v<T, __nv_fp8_e5m2>) GTEST_SKIP() << "e5m2 does not hold 9 and 11";
  on_threads(kRanks, [&](int rank, ncclComm_t comm) {
    for (const bool on_device : {false, true}) {
      T scalar = to<T>(factor(rank));
      const DeviceArray<T> there(std::vector<T>{scalar});
      ncclRedOp_t op;
      ASSERT_EQ(
          ncclRedOpCreatePreMulSum(&op, on_device ? there.get() : &scalar, this->kType,
                                   on_device ? ncclScalarDevice : ncclScalarHostImmediate, comm),
          ncclSuccess);
      scalar = to<T>(0);  // an immediate scalar was read already
      DeviceArray<T> data(values<T>(rank, count));
      ASSERT_EQ(ncclAllReduce(data.get(), data.get(), count, this->kType, op, comm, nullptr),
                ncclSuccess)
          << ncclGetLastError(nullptr);
      expect_same(data.values(), expected,
                  on_device ? "scalar on the device" : "scalar on the host");
      ASSERT_EQ(ncclRedOpDestroy(op, comm), ncclSuccess);
      EXPECT_EQ(ncclAllReduce(data.get(), data.get(), count, this->kType, op, comm, nullptr),
                ncclInvalidArgument);
    }
  });
}

TEST(NcclArithmetic, IntegersWrapAroundAndNansGiveWay) {
  on_threads(2, [](int rank, ncclComm_t comm) {
    DeviceArray<std::int32_t> integers(std::vector<std::int32_t>{2147483647});
    ASSERT_EQ(ncclAllReduce(integers.get(), integers.get(), 1, ncclInt32, ncclSum, comm, nullptr),
              ncclSuccess);
    EXPECT_EQ(integers.values()[0], -2);
    DeviceArray<float> floats(std::vector<float>{rank == 0 ? NAN : 3.0F, rank == 0 ? 4.0F : NAN});
    ASSERT_EQ(ncclAllReduce(floats.get(), floats.get(), 2, ncclFloat32, ncclMax, comm, nullptr),
              ncclSuccess);
    EXPECT_EQ(floats.values(), (std::vector<float>{3.0F, 4.0F}));
    // Each half would overflow the sum, but not the average.
    DeviceArray<__half> halves(std::vector<__half>{__float2half(60000.0F)});
    ASSERT_EQ(ncclAllReduce(halves.get(), halves.get(), 1, ncclFloat16, ncclAvg, comm, nullptr),
              ncclSuccess);
    EXPECT_EQ(__half2float(halves.values()[0]), 60000.0F);
  });
}

TEST(NcclArithmetic, AllRanksGetTheSameBits) {
  constexpr int kMany = 8;
  constexpr std::size_t kCount = 200'001;
  std::vector<std::vector<float>> results(kMany);
  on_threads(kMany, [&](int rank, ncclComm_t comm) {
    std::vector<float> input(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      input[i] = 1.0F / static_cast<float>(i + 3 + static_cast<std::size_t>(rank) * 7919);
    }
    DeviceArray<float> data(input);
    ASSERT_EQ(ncclAllReduce(data.get(), data.get(), kCount, ncclFloat32, ncclSum, comm, nullptr),
              ncclSuccess);
    results[static_cast<std::size_t>(rank)] = data.values();
  });
  for (int rank = 1; rank < kMany; ++rank) {
    EXPECT_EQ(std::memcmp(results[0].data(), results[static_cast<std::size_t>(rank)].data(),
                          kCount * sizeof(float)),
              0)
        << "rank " << rank;
  }
  float sum = 0;  // ranks are added up in their order
  for (int rank = 0; rank < kMany; ++rank) {
    sum += 1.0F / static_cast<float>(kCount - 1 + 3 + static_cast<std::size_t>(rank) * 7919);
  }
  EXPECT_EQ(results[0].back(), sum);
}

TEST(NcclProcesses, ReduceAndGatherLargeBuffers) {
  const auto outcomes = on_processes(kRanks, [](int rank, ncclComm_t comm) {
    DeviceArray<float> data(values<float>(rank, kLarge));
    ncclResult_t result =
        ncclAllReduce(data.get(), data.get(), kLarge, ncclFloat32, ncclSum, comm, nullptr);
    if (result != ncclSuccess) return result;
    if (data.values() != reduced<float>(ncclSum, kLarge)) return ncclInternalError;
    const DeviceArray<double> input(values<double>(rank, kLarge));
    DeviceArray<double> output(kLarge * kRanks);
    result = ncclAllGather(input.get(), output.get(), kLarge, ncclFloat64, comm, nullptr);
    std::vector<double> everyone;
    for (int r = 0; r < kRanks; ++r) everyone = everyone + values<double>(r, kLarge);
    return result == ncclSuccess && output.values() != everyone ? ncclInternalError : result;
  });
  for (const auto& outcome : outcomes) {
    EXPECT_TRUE(outcome.exited);
    EXPECT_EQ(outcome.result, ncclSuccess) << outcome.text;
  }
}

}  // namespace
