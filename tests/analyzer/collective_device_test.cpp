// Rule collective-device: what it reports, and what it must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Checked check_collectives(const std::string& code) {
  return check(code, RuleSet::parse("-*,devsan-collective-device"));
}

// c10d's classes as LibTorch 2.11 has them; its own header needs NCCL's.
std::string function_of(const std::string& body) {
  return "namespace c10d { struct Work {}; struct Backend { virtual std::shared_ptr<Work> "
         "allreduce(std::vector<at::Tensor>& tensors); virtual std::shared_ptr<Work> send("
         "std::vector<at::Tensor>& tensors, int to, int tag); int getRank() const; }; struct "
         "ProcessGroupNCCL : Backend {}; struct ProcessGroupGloo : Backend {}; }\n"
         "void fill(torch::Tensor&);\n"
         "void f(std::shared_ptr<c10d::ProcessGroupNCCL> nccl, "
         "std::shared_ptr<c10d::ProcessGroupGloo> gloo, std::shared_ptr<c10d::Backend> any, "
         "torch::Device device, torch::Tensor x, bool flag) { " +
         body + " }";
}

class Refused : public ::testing::TestWithParam<const char*> {};

TEST_P(Refused, ByNccl) {
  const Checked checked = check_collectives(function_of(GetParam()));
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].rule, "collective-device");
  EXPECT_THAT(checked.findings[0].message, HasSubstr("is on the CPU"));
}

INSTANTIATE_TEST_SUITE_P(
    CpuTensor, Refused,
    ::testing::Values(
        "auto sum = torch::zeros({1}); std::vector<torch::Tensor> all{sum}; nccl->allreduce(all);",
        "std::vector<torch::Tensor> all = {x.cpu()}; nccl->allreduce(all);",
        "std::vector<torch::Tensor> all; all.push_back(torch::zeros({1})); nccl->send(all, 1, 0);",
        "std::vector<torch::Tensor> all{x, x.to(torch::kCPU).view({1})}; nccl->allreduce(all);",
        // kept by its base
        "std::shared_ptr<c10d::Backend> group = std::make_shared<c10d::ProcessGroupNCCL>(); auto "
        "sum = torch::zeros({1}); std::vector<torch::Tensor> all{sum}; group->allreduce(all);"));

class Taken : public ::testing::TestWithParam<const char*> {};

TEST_P(Taken, IsSilent) {
  EXPECT_THAT(check_collectives(function_of(GetParam())).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Collectives, Taken,
    ::testing::Values(
        "std::vector<torch::Tensor> all{x}; nccl->allreduce(all);",
        "auto sum = torch::zeros({1}, device); std::vector<torch::Tensor> all{sum}; "
        "nccl->allreduce(all);",
        "auto sum = torch::zeros({1}).to(device); std::vector<torch::Tensor> all{sum}; "
        "nccl->allreduce(all);",
        // may have been moved since
        "auto sum = torch::zeros({1}); if (flag) sum = sum.to(device); std::vector<torch::Tensor> "
        "all{sum}; nccl->allreduce(all);",
        "auto sum = torch::zeros({1}); fill(sum); std::vector<torch::Tensor> all{sum}; "
        "nccl->allreduce(all);",
        // groups that take CPU tensors, or may
        "std::vector<torch::Tensor> all{x.cpu()}; gloo->allreduce(all);",
        "std::vector<torch::Tensor> all{x.cpu()}; any->allreduce(all);"));

std::string program_of(const std::string& before, const std::string& device) {
  return "int rank_from(char** words); int MPI_Comm_rank(int comm, int* rank);\n"
         "int main(int argc, char** argv) { " +
         before + " torch::Device device = " + device + "; return device.index(); }";
}

TEST(CollectiveDevice, ANumberInCodeThatKnowsItsRankIsReported) {
  for (const char* before :
       {"int local_rank = rank_from(argv);", "int rank; MPI_Comm_rank(0, &rank);"}) {
    const Checked checked = check_collectives(program_of(before, "torch::Device(torch::kCUDA, 0)"));
    ASSERT_THAT(checked.findings, SizeIs(1)) << before;
    EXPECT_THAT(checked.findings[0].message, HasSubstr("the same GPU in every rank"));
  }
  EXPECT_THAT(check_collectives(
                  program_of("int local_rank = rank_from(argv);", "torch::Device(\"cuda:1\")"))
                  .findings,
              SizeIs(1));
}

TEST(CollectiveDevice, OtherNumbersAreSilent) {
  const std::string knows = "int local_rank = rank_from(argv);";
  for (const auto& [before, device] :
       {std::pair(knows, "torch::Device(torch::kCUDA, local_rank)"),
        std::pair(knows, "torch::Device(torch::kCUDA)"),
        std::pair(knows, "torch::Device(torch::kCPU)"),
        std::pair(knows,
                  "local_rank == 0 ? torch::Device(torch::kCUDA, 0) : "
                  "torch::Device(torch::kCUDA, 1)"),
        std::pair(std::string("int rank = argc;"), "torch::Device(torch::kCUDA, 0)")}) {
    EXPECT_THAT(check_collectives(program_of(before, device)).findings, IsEmpty())
        << before << device;
  }
}

// One finding: in models and libraries it is hard-coded-device's.
TEST(CollectiveDevice, ANumberInALibraryIsReportedOnce) {
  const Checked checked = check(
      "torch::Tensor f(torch::Tensor x, int local_rank) { return x.to(torch::Device(torch::kCUDA, "
      "0)); }",
      RuleSet::parse("-*,devsan-collective-device,devsan-hard-coded-device"));
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].rule, "hard-coded-device");
}

}  // namespace
}  // namespace devsan::lint::test
