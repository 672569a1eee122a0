// Rule raw-pointer-space: what it reports, what it must not, and its fix-its.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const RuleSet kRule = RuleSet::parse("-*,devsan-raw-pointer-space");

// The body of a function that has memory of every kind.
Checked check_body(const std::string& body) {
  return check(
      "extern \"C\" { int cudaMalloc(void**, unsigned long); int cudaMallocManaged(void**, "
      "unsigned long);\n"
      "int cudaMallocHost(void**, unsigned long); int cudaHostRegister(void*, unsigned long, "
      "unsigned);\n"
      "void* malloc(unsigned long); void* memcpy(void*, const void*, unsigned long); }\n"
      "template <class T> struct Pinned {}; void use(void*);\n"
      "void f(std::vector<float>& samples, at::Tensor x, at::Device device, long n, float* given) "
      "{\n"
      "at::Tensor gpu = torch::zeros({n}, torch::TensorOptions().device(torch::kCUDA));\n"
      "at::Tensor cpu = torch::zeros({n});\n" +
          body + "\n}",
      kRule);
}

class Wrong : public ::testing::TestWithParam<const char*> {};

TEST_P(Wrong, IsReported) {
  const Checked checked = check_body(GetParam());
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].rule, "raw-pointer-space");
}

INSTANTIATE_TEST_SUITE_P(
    RawPointerSpace, Wrong,
    ::testing::Values(
        // the device's memory as the host's
        "torch::from_blob(gpu.data_ptr<float>(), {n});",
        "torch::from_blob(gpu.data_ptr<float>(), {n}, torch::kFloat);",
        "torch::from_blob(gpu.data_ptr<float>(), {n}, "
        "torch::TensorOptions().dtype(torch::kFloat));",
        "torch::from_blob(gpu.data_ptr<float>(), {n}, torch::kCPU);",
        "torch::from_blob(gpu.data_ptr<float>(), {n}, cpu.options());",
        "torch::from_blob(x.cuda().data_ptr<float>(), {n});",
        "auto* p = gpu.contiguous().data_ptr<float>(); torch::from_blob(p + 4, {n});",
        "torch::from_blob((void*)gpu.data_ptr<float>(), {n});",
        "float* p = nullptr; cudaMalloc((void**)&p, n); torch::from_blob(p, {n});",
        "float* p; cudaMalloc(reinterpret_cast<void**>(&p), n); torch::from_blob(p, {n});",
        // the host's as the device's
        "torch::from_blob(samples.data(), {n}, torch::kCUDA);",
        "const auto options = torch::TensorOptions().device(torch::kCUDA, 1);\n"
        "torch::from_blob(samples.data(), {n}, options);",
        "torch::from_blob(&samples[0], {n}, torch::TensorOptions().device(\"cuda:1\"));",
        "torch::from_blob(cpu.data_ptr<float>(), {n}, gpu.options());",
        "float row[4]; torch::from_blob(row, {4}, torch::kCUDA);",
        "float one = 1; torch::from_blob(&one, {1}, torch::kCUDA);",
        "auto* p = new float[4]; torch::from_blob(p, {4}, torch::kCUDA);",
        "auto* p = static_cast<float*>(malloc(16)); torch::from_blob(p, {4}, torch::kCUDA);",
        // the host reads, and writes
        "float first = gpu.data_ptr<float>()[0];", "float first = *gpu.data_ptr<float>();",
        "auto* p = gpu.data_ptr<float>(); p[3] = 1;",
        "float* p; cudaMalloc((void**)&p, n); *p = 1;",
        "memcpy(samples.data(), gpu.data_ptr<float>(), 4);",
        "memcpy(gpu.data_ptr<float>(), samples.data(), 4);"));

class Right : public ::testing::TestWithParam<const char*> {};

TEST_P(Right, IsSilent) {
  EXPECT_THAT(check_body(GetParam()).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    RawPointerSpace, Right,
    ::testing::Values(
        "torch::from_blob(samples.data(), {n});",
        "torch::from_blob(samples.data(), {n}).to(torch::kCUDA);",
        "torch::from_blob(gpu.data_ptr<float>(), {n}, gpu.options());",
        "torch::from_blob(gpu.data_ptr<float>(), {n}, torch::kCUDA);",
        "torch::from_blob(cpu.data_ptr<float>(), {n}, torch::kFloat);",
        // nobody knows where it is
        "torch::from_blob(x.data_ptr<float>(), {n});",
        "torch::from_blob(given, {n}, torch::kCUDA);",
        "torch::from_blob(samples.data(), {n}, torch::TensorOptions().device(device));",
        "torch::from_blob(gpu.data_ptr<float>(), {n}, x.options());",
        "at::Tensor y = torch::zeros({n}); y = y.to(device); torch::from_blob(y.data_ptr<float>(), "
        "{n}, torch::kCUDA);",
        "torch::from_blob(x.to(device).data_ptr<float>(), {n}, torch::kFloat);",
        "float* p = gpu.data_ptr<float>(); p = samples.data(); torch::from_blob(p, {n});",
        "float* p = samples.data(); if (n > 1) p = gpu.data_ptr<float>(); torch::from_blob(p, {n}, "
        "torch::kCUDA);",
        // memory of both
        "float* p; cudaMallocManaged((void**)&p, n); torch::from_blob(p, {n}); *p = 1;\n"
        "torch::from_blob(p, {n}, torch::kCUDA);",
        "float* p; cudaMallocHost((void**)&p, n); torch::from_blob(p, {n}, torch::kCUDA); p[0] = "
        "1;",
        "cudaHostRegister(samples.data(), n, 0); torch::from_blob(samples.data(), {n}, "
        "torch::kCUDA);",
        // only handed on
        "use(gpu.data_ptr<float>()); use(&gpu.data_ptr<float>()[4]); use(gpu.data_ptr<float>() + "
        "4);",
        "long size = sizeof(*gpu.data_ptr<float>());",
        // the host's own
        "float first = *cpu.data_ptr<float>(); float next = gpu.cpu().data_ptr<float>()[1];",
        "memcpy(samples.data(), cpu.data_ptr<float>(), 4);",
        "float* p = gpu.cpu().data_ptr<float>(); p[0] = 1;"));

TEST(RawPointerSpace, NamesTheDeviceWhereNoOptionsAre) {
  const Checked checked = check_body("torch::from_blob(gpu.data_ptr<float>(), {n});");
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_THAT(checked.findings[0].message, HasSubstr("memory of 'gpu', which is on a CUDA device"));
  EXPECT_THAT(checked.fixed(), HasSubstr("{n}, torch::device(gpu.device()));"));
}

TEST(RawPointerSpace, LeavesWrittenOptionsToTheReader) {
  const Checked checked =
      check_body("torch::from_blob(gpu.data_ptr<float>(), {n}, torch::kFloat);");
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_THAT(checked.findings[0].fixes, IsEmpty());
}

}  // namespace
}  // namespace devsan::lint::test
