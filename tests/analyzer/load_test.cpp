// Rule load-without-device: what it reports, what it must not, and its fix-it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Checked check_loads(const std::string& code) {
  return check(code, RuleSet::parse("-*,devsan-load-without-device"));
}

// In a function that is given a device.
std::string function_of(const std::string& body) {
  return "void f(std::string path, torch::Device device, torch::Tensor x) { " + body + " }";
}

struct Repair {
  const char* before;
  const char* after;
};
class Loads : public ::testing::TestWithParam<Repair> {};

TEST_P(Loads, AreReportedAndGivenTheDevice) {
  const Checked checked = check_loads(function_of(GetParam().before));
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].rule, "load-without-device");
  EXPECT_EQ(checked.fixed(), function_of(GetParam().after));
  EXPECT_THAT(check_loads(checked.fixed()).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    LoadWithoutDevice, Loads,
    ::testing::Values(
        Repair{"auto net = torch::jit::load(path); net.forward({x});",
               "auto net = torch::jit::load(path, device); net.forward({x});"},
        Repair{"torch::jit::Module net; net = torch::jit::load(path); net.forward({x});",
               "torch::jit::Module net; net = torch::jit::load(path, device); net.forward({x});"},
        Repair{"torch::nn::Linear fc(2, 2); torch::load(fc, path); fc(x);",
               "torch::nn::Linear fc(2, 2); torch::load(fc, path, device); fc(x);"},
        // an optimizer cannot be moved afterwards
        Repair{"torch::nn::Linear fc(2, 2); fc->to(device); torch::optim::Adam "
               "adam(fc->parameters(), 0.1); torch::load(adam, path); adam.step();",
               "torch::nn::Linear fc(2, 2); fc->to(device); torch::optim::Adam "
               "adam(fc->parameters(), 0.1); torch::load(adam, path, device); adam.step();"}));

TEST(LoadWithoutDevice, UsesALocalDeviceThatIsThereAlready) {
  const std::string before =
      "void f(std::string path) { torch::Device d(torch::kCUDA); auto net = "
      "torch::jit::load(path); net.forward({}); }";
  EXPECT_THAT(check_loads(before).fixed(), HasSubstr("torch::jit::load(path, d)"));
  const Checked later = check_loads(
      "void f(std::string path) { auto net = torch::jit::load(path); torch::Device "
      "d(torch::kCUDA); net.forward({}); }");
  ASSERT_THAT(later.findings, SizeIs(1));
  EXPECT_THAT(later.findings[0].fixes, IsEmpty());
}

TEST(LoadWithoutDevice, MembersAreFollowedThroughTheirClass) {
  const std::string head =
      "struct Engine { torch::Device device; torch::jit::Module net; Engine(std::string path) : "
      "device(torch::kCUDA), net(torch::jit::load(path)) {} ";
  EXPECT_THAT(check_loads(head + "};").findings, SizeIs(1));
  EXPECT_THAT(check_loads(head + "void place() { net.to(device); } };").findings, IsEmpty());
  EXPECT_THAT(check_loads(head + "void place(); };").findings, IsEmpty());
}

class Placed : public ::testing::TestWithParam<const char*> {};

TEST_P(Placed, IsSilent) {
  EXPECT_THAT(check_loads("torch::jit::Module use(torch::jit::Module); torch::jit::Module f("
                          "std::string path, torch::Device device) { " +
                          std::string(GetParam()) + " return {}; }")
                  .findings,
              IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    LoadWithoutDevice, Placed,
    ::testing::Values("auto net = torch::jit::load(path, device);",
                      "auto net = torch::jit::load(path, torch::kCPU);",
                      // moved afterwards
                      "auto net = torch::jit::load(path); net.to(device);",
                      "torch::nn::Linear fc(2, 2); torch::load(fc, path); fc->to(device);",
                      // data
                      "torch::Tensor t; torch::load(t, path);",
                      "std::vector<torch::Tensor> t; torch::load(t, path);",
                      // its user places it
                      "return torch::jit::load(path);",
                      "auto net = torch::jit::load(path); return net;",
                      "auto net = torch::jit::load(path); use(net);",
                      "torch::serialize::InputArchive archive; archive.load_from(path, device);",
                      "torch::nn::Linear fc(2, 2); torch::serialize::InputArchive archive; "
                      "archive.load_from(path); fc->load(archive); fc->to(device);",
                      // an archive of numbers
                      "torch::serialize::InputArchive archive; archive.load_from(path);"));

// The machine may have no other device: the load throws before the move.
TEST(LoadWithoutDevice, ScriptThatIsMovedToTheCpu) {
  for (const char* cpu : {"torch::kCPU", "torch::Device(\"cpu\")"}) {
    const Checked checked =
        check_loads("void f(std::string path) { auto net = torch::jit::load(path); net.to(" +
                    std::string(cpu) + "); }");
    ASSERT_THAT(checked.findings, SizeIs(1)) << cpu;
    EXPECT_THAT(checked.findings[0].message, HasSubstr("throws on a machine without it"));
    ASSERT_THAT(checked.findings[0].path, SizeIs(1));
    EXPECT_EQ(checked.findings[0].path[0].label, "moved here");
    EXPECT_THAT(checked.fixed(), HasSubstr("load(path, " + std::string(cpu) + ")"));
  }
}

TEST(LoadWithoutDevice, ArchiveThatIsReadWithoutADevice) {
  const Checked checked =
      check_loads(function_of("torch::nn::Linear fc(2, 2); torch::serialize::InputArchive archive; "
                              "archive.load_from(path); fc->load(archive);"));
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_THAT(checked.fixed(), HasSubstr("archive.load_from(path, device)"));
}

TEST(LoadWithoutDevice, FieldOfAnAggregate) {
  const std::string head =
      "struct State { torch::Device device; torch::jit::Module net; }; void f(std::string path, "
      "torch::Device device) { auto* state = new State{device, torch::jit::load(path)}; ";
  EXPECT_THAT(check_loads(head + "}").findings, SizeIs(1));
  EXPECT_THAT(check_loads(head + "} void g(State& s) { s.net.to(s.device); }").findings, IsEmpty());
  // its user places it
  EXPECT_THAT(check_loads("struct State { torch::Device device; torch::jit::Module net; }; "
                          "State f(std::string path, torch::Device device) { return State{device, "
                          "torch::jit::load(path)}; }")
                  .findings,
              IsEmpty());
}

TEST(LoadWithoutDevice, CodeThatChoosesNoDeviceIsSilent) {
  EXPECT_THAT(check_loads("void f(std::string path) { auto net = torch::jit::load(path); "
                          "net.forward({}); }")
                  .findings,
              IsEmpty());
}

}  // namespace
}  // namespace devsan::lint::test
