// Rule frozen-device on code and tensors as archives have them. Real archives: script_archive_test.
#include "checks/frozen_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace devsan::lint::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A class with a parameter `weight`, whose forward takes `x: Tensor` and `n: int`.
ScriptArchive archive_of(const std::string& body) {
  ScriptArchive archive;
  archive.sources.push_back({"code/__torch__.py",
                             "class Net(Module):\n  weight : Tensor\n  place : Device\n"
                             "  def forward(self: __torch__.Net,\n    x: Tensor,\n    n: int) -> "
                             "Tensor:\n" +
                                 body,
                             {}});
  return archive;
}

std::vector<Finding> check(const ScriptArchive& archive) {
  return check_frozen_devices(archive, "/m/model.pt");
}

class Bound : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Bound, IsReportedAtTheDevice) {
  const auto findings = check(archive_of(GetParam().first));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].rule, "frozen-device");
  EXPECT_EQ(findings[0].place.file, "/m/model.pt/code/__torch__.py");
  EXPECT_THAT(findings[0].message, HasSubstr(GetParam().second));
}

INSTANTIATE_TEST_SUITE_P(
    ToAnAccelerator, Bound,
    ::testing::Values(
        std::pair("    a = torch.zeros([2], dtype=None, layout=None, "
                  "device=torch.device(\"cuda:0\"))\n",
                  "'torch.zeros' puts a tensor on 'cuda:0'"),
        std::pair("    a = torch.to(x, torch.device(\"cuda\"))\n", "'torch.to' puts"),
        std::pair("    _7 = torch.device(\"cuda\", 1)\n    a = torch.zeros([2], device=_7)\n",
                  "'cuda:1'"),
        std::pair("    return (torch.add(x, torch.to(x, torch.device(\"mps\"))),)\n", "'mps'"),
        std::pair("    if torch.gt(n, 1):\n      a = torch.cuda(x)\n    else:\n      a = x\n",
                  "'torch.cuda'")));

INSTANTIATE_TEST_SUITE_P(
    ToTheCpu, Bound,
    ::testing::Values(
        std::pair("    a = torch.arange(n, device=torch.device(\"cpu\"))\n"
                  "    b = torch.mul(a, 2)\n    c = torch.add(x, b)\n",
                  "'torch.arange' puts a tensor on the CPU, whatever device the module is loaded "
                  "or moved to, and 'torch.add'"),
        std::pair("    weight = self.weight\n    c = torch.mul(weight, torch.ones([4], "
                  "device=torch.device(\"cpu\")))\n",
                  "'torch.mul'"),
        std::pair(
            "    a = torch.ones([4], device=torch.device(\"cpu\"))\n    c = torch.cat([x, a], "
            "1)\n",
            "'torch.cat'"),
        std::pair("    fc = self.fc\n    h = (fc).forward(x, )\n    a = torch.zeros([2], "
                  "device=torch.device(\"cpu\"))\n    b = torch.sub(h, a)\n",
                  "'torch.sub'")));

TEST(FrozenDevice, SaysWhereTheTwoMeet) {
  const auto findings = check(archive_of(
      "    a = torch.arange(n, device=torch.device(\"cpu\"))\n    c = torch.add(x, a)\n"));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].place.line, 7);
  EXPECT_EQ(findings[0].place.column, 32);
  EXPECT_EQ(findings[0].place.end_column, 51);
  ASSERT_THAT(findings[0].path, SizeIs(1));
  EXPECT_EQ(findings[0].path[0].place.line, 8);
  EXPECT_EQ(findings[0].path[0].place.column, 9);
}

class NotBound : public ::testing::TestWithParam<const char*> {};

TEST_P(NotBound, IsSilent) {
  EXPECT_THAT(check(archive_of(GetParam())), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Comparisons, NotBound,
    ::testing::Values(
        "    _0 = torch.eq(ops.prim.device(x), torch.device(\"cuda:0\"))\n",
        "    if torch.ne(ops.prim.device(x), torch.device(\"cuda\")):\n      a = x\n"));

INSTANTIATE_TEST_SUITE_P(
    CpuThatMeetsNothing, NotBound,
    ::testing::Values(
        // moved
        "    a = torch.arange(n, device=torch.device(\"cpu\"))\n"
        "    g = torch.to(torch.stack([a, a]), ops.prim.device(x))\n    c = torch.add(x, g)\n",
        // an index
        "    a = torch.arange(n, device=torch.device(\"cpu\"))\n"
        "    _2 = annotate(List[Optional[Tensor]], [a])\n    h = torch.index(x, _2)\n",
        // returned
        "    a = torch.to(x, torch.device(\"cpu\"))\n    return (a, x)\n",
        // without dimensions
        "    t = torch.tensor(1., device=torch.device(\"cpu\"))\n    c = torch.add(x, t)\n",
        "    t = torch.zeros([], device=torch.device(\"cpu\"))\n    c = torch.add(x, t)\n",
        // with itself
        "    a = torch.arange(n, device=torch.device(\"cpu\"))\n    c = torch.add(a, a)\n",
        // a name that was given in two branches is on either
        "    if torch.gt(n, 1):\n      a = torch.ones([2], device=torch.device(\"cpu\"))\n"
        "    else:\n      a = x\n    c = torch.add(x, a)\n"));

INSTANTIATE_TEST_SUITE_P(
    NoCode, NotBound,
    ::testing::Values("    a = torch.format(\"torch.device(\\\"cuda:0\\\")\", n)\n",
                      "    # torch.zeros([2], device=torch.device(\"cuda:0\"))\n",
                      "    a = torch.zeros([2], device=None)\n    b = torch.add(x, a)\n",
                      "    a = torch.zeros([2], device=torch.device(\"meta\"))\n"));

TEST(FrozenDevice, ConstantsStayWhereTheyAre) {
  ScriptArchive archive = archive_of("    a = torch.add(x, CONSTANTS.c1)\n");
  archive.constants = {
      {"c0", "cuda:0", true, ""}, {"c1", "cpu", true, ""}, {"c2", "cuda:0", false, ""}};
  EXPECT_THAT(
      check(archive),
      ElementsAre(AllOf(Field(&Finding::message, HasSubstr("CONSTANTS.c0 and 1 more on 'cuda:0'")),
                        Field(&Finding::level, Level::kWarning)),
                  AllOf(Field(&Finding::message, HasSubstr("CONSTANTS.c1 on the CPU")),
                        Field(&Finding::level, Level::kNote))));
}

TEST(FrozenDevice, ConstantsOnTheCpuThatMeetNothingAreSilent) {
  ScriptArchive archive = archive_of(
      "    a = torch.index(x, [CONSTANTS.c0])\n    b = torch.add(x, CONSTANTS.c1)\n"
      "    c = torch.add(CONSTANTS.c0, CONSTANTS.c0)\n");
  archive.constants = {{"c0", "cpu", true, ""}, {"c1", "cpu", false, ""}};
  EXPECT_THAT(check(archive), IsEmpty());
}

TEST(FrozenDevice, AnAttributeThatHoldsADeviceIsReportedWhereItIsDeclared) {
  ScriptArchive archive = archive_of("    return x\n");
  archive.devices = {{"place", "cuda:0", "__torch__.Net"}};
  const auto findings = check(archive);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].place.line, 3);
  EXPECT_EQ(findings[0].place.column, 3);
  archive.devices = {{"place", "cpu", "__torch__.Net"}};
  EXPECT_THAT(check(archive), IsEmpty());
}

TEST(FrozenDevice, StateOnSeveralDevicesIsReportedOnce) {
  ScriptArchive archive = archive_of("    return x\n");
  archive.state = {{"fc.bias", "cuda:0", true, "__torch__.Net"},
                   {"fc.scale", "cuda:0", true, "__torch__.Net"},
                   {"weight", "cpu", true, "__torch__.Net"}};
  const auto findings = check(archive);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(
      findings[0].message,
      "the module was saved with 'weight' on the CPU, and the rest on 'cuda:0' ('fc.bias' and "
      "1 more)");
  EXPECT_EQ(findings[0].place.line, 2);
  archive.state[2].has_dimensions = false;  // a count of batches
  EXPECT_THAT(check(archive), IsEmpty());
  archive.state = {{"fc.bias", "cuda:0", true, ""}, {"weight", "cuda:0", true, ""}};
  EXPECT_THAT(check(archive), IsEmpty());
}

TEST(FrozenDevice, CodeThatIsNoneIsPassedOver) {
  for (const std::string text : {"",
                                 "def",
                                 "class",
                                 "for",
                                 "def forward(",
                                 "x = torch.device(",
                                 "x = torch.device(\"cuda\"",
                                 "a = b[",
                                 "((((",
                                 "'",
                                 "\"\\",
                                 "a, b, = f(",
                                 "for i in",
                                 "x = torch.zeros(device=",
                                 "-",
                                 "a : ",
                                 "return (a) if (b) else",
                                 "torch.zeros(\n)\n",
                                 "\xff\xfe = 3",
                                 "x = (a).b(c"}) {
    ScriptArchive archive;
    archive.sources.push_back({"code/a.py", text, {}});
    EXPECT_THAT(check(archive), IsEmpty()) << text;
  }
  ScriptArchive deep;
  deep.sources.push_back({"code/a.py", "a = " + std::string(100'000, '('), {}});
  EXPECT_THAT(check(deep), IsEmpty());
}

}  // namespace
}  // namespace devsan::lint::test
