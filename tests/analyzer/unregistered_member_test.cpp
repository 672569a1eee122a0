// Rule unregistered-member: the members it reports, those it must not, and its fix-its.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Checked check_members(const std::string& code) {
  return check(code, RuleSet::parse("-*,devsan-unregistered-member"));
}

// A module with a member, a constructor and a forward, each on a line of its own.
std::string module_of(const std::string& member, const std::string& set_up,
                      const std::string& forward) {
  return "struct Net : torch::nn::Module {\n" + member + "\nNet(long n = 2) {" + set_up +
         "}\ntorch::Tensor forward(torch::Tensor x) { " + forward + " }\n};\n";
}

struct Member {
  const char* member;
  const char* set_up;
  const char* forward;
};

class LeftBehind : public ::testing::TestWithParam<Member> {};

TEST_P(LeftBehind, IsReportedAtTheMember) {
  const Member& member = GetParam();
  const Checked checked = check_members(module_of(member.member, member.set_up, member.forward));
  EXPECT_THAT(lines(checked), ElementsAre(2));
}

INSTANTIATE_TEST_SUITE_P(
    UnregisteredMember, LeftBehind,
    ::testing::Values(
        Member{"torch::Tensor mask;", "mask = torch::ones({4, 4});", "return x + mask;"},
        Member{"torch::Tensor scale;", "scale = torch::full({1}, 0.5);", "return x * scale;"},
        Member{"torch::Tensor mask = torch::ones({4});", "", "return x * mask;"},
        Member{"torch::Tensor mask{torch::ones({4})};", "", "return x * mask;"},
        Member{"torch::Tensor mask;", "auto m = torch::ones({4}); mask = m;", "return x * mask;"},
        Member{"torch::Tensor mask;", "mask = torch::ones({4});", "return torch::cat({x, mask});"},
        Member{"torch::Tensor mask;", "mask = torch::ones({4});",
               "x += mask.unsqueeze(0); return x;"},
        Member{"torch::Tensor mask;", "mask = torch::ones({4});", "return mask.matmul(x);"},
        Member{"torch::nn::Linear fc{nullptr};", "fc = torch::nn::Linear(n, 2);",
               "return fc->forward(x);"},
        Member{"torch::nn::Linear fc{4, 2};", "", "return fc(x);"},
        Member{"std::shared_ptr<torch::nn::LinearImpl> fc;",
               "fc = std::make_shared<torch::nn::LinearImpl>(n, 2);", "return fc->forward(x);"},
        Member{"torch::nn::Sequential net;", "net->push_back(torch::nn::Linear(n, 2));",
               "return net->forward(x);"},
        Member{"torch::nn::Sequential net{nullptr};",
               "net = torch::nn::Sequential(torch::nn::Linear(n, 2), torch::nn::ReLU());",
               "return net->forward(x);"},
        Member{"std::vector<torch::nn::Linear> layers;",
               "layers.push_back(torch::nn::Linear(n, 2));",
               "for (auto& layer : layers) x = layer->forward(x); return x;"},
        Member{"std::vector<torch::Tensor> masks;", "masks.push_back(torch::ones({4}));",
               "return x + masks[0];"},
        Member{"torch::Tensor pe;", "pe = torch::zeros({4}); pe = pe.unsqueeze(0);",
               "return x + pe;"},
        Member{"torch::nn::AnyModule head;",
               "head = torch::nn::AnyModule(torch::nn::Linear(n, 2));", "return head.forward(x);"},
        Member{"torch::Tensor h;", "h = torch::zeros({1, n});",
               "torch::nn::LSTM lstm{nullptr}; "
               "return std::get<0>(lstm->forward(x, std::make_tuple(h, x)));"}));

TEST(UnregisteredMember, MadeByAFunctionOfTheProject) {
  EXPECT_THAT(lines(check_members(R"(
torch::Tensor make_grid(int n) { return torch::ones({n, n}); }
struct Net : torch::nn::Module {
  torch::Tensor grid;
  Net() : grid(make_grid(4)) {}
  torch::Tensor forward(torch::Tensor x) { return x + grid; }
};
)")),
              ElementsAre(4));
}

TEST(UnregisteredMember, SaysWhichMemberOfWhichModuleAndHowItCameToBe) {
  const Checked checked = check_members(
      module_of("torch::Tensor mask;", "mask = torch::ones({4});", "return x + mask;"));
  ASSERT_THAT(checked.findings, SizeIs(1));
  const Finding& finding = checked.findings[0];
  EXPECT_EQ(finding.rule, "unregistered-member");
  EXPECT_EQ(finding.level, Level::kWarning);
  EXPECT_THAT(finding.message, HasSubstr("tensor 'mask' of module 'Net'"));
  ASSERT_THAT(finding.path, SizeIs(2));
  EXPECT_EQ(finding.path[0].label, "used here");
  EXPECT_EQ(finding.path[0].place.line, 4);
  EXPECT_EQ(finding.path[1].label, "made here");
  EXPECT_EQ(finding.path[1].place.line, 3);
}

TEST(UnregisteredMember, SetUpIsWhatOnlyConstructorsCall) {
  EXPECT_THAT(lines(check_members(R"(
struct Net : torch::nn::Module {
  torch::Tensor mask;
  Net() { build(); }
  void build() { mask = torch::ones({4}); }
  torch::Tensor forward(torch::Tensor x) { return x + mask; }
};
)")),
              ElementsAre(3));
}

TEST(UnregisteredMember, ConstructorOutsideItsClass) {
  EXPECT_THAT(lines(check_members(R"(
struct Net : torch::nn::Module {
  Net();
  torch::Tensor forward(torch::Tensor x);
  torch::nn::Linear fc;
};
Net::Net() : fc(4, 2) {}
torch::Tensor Net::forward(torch::Tensor x) { return fc->forward(x); }
)")),
              ElementsAre(5));
}

TEST(UnregisteredMember, RegisteredOnSomePathsOnlyIsReported) {
  const Checked checked = check_members(
      module_of("torch::Tensor scale;",
                "scale = torch::ones({4}); if (n > 2) register_buffer(\"scale\", scale);",
                "return x * scale;"));
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_THAT(checked.findings[0].message, HasSubstr("registered on some paths only"));
  EXPECT_THAT(checked.findings[0].fixes, IsEmpty());
}

// Fix-its: applied, they compile and leave nothing to say.
struct Repair {
  const char* before;
  const char* after;
};
class Repaired : public ::testing::TestWithParam<Repair> {};

TEST_P(Repaired, RegistersWhereItIsMade) {
  const Checked checked = check_members(GetParam().before);
  EXPECT_EQ(checked.fixed(), GetParam().after);
  EXPECT_THAT(check_members(GetParam().after).findings, IsEmpty());
}

#define NET(MEMBER, SET_UP, USE)                              \
  "struct Net : torch::nn::Module { " MEMBER " Net() " SET_UP \
  " torch::Tensor forward(torch::Tensor x) { return " USE "; } };"

INSTANTIATE_TEST_SUITE_P(
    UnregisteredMember, Repaired,
    ::testing::Values(
        Repair{NET("torch::Tensor mask_;", "{ mask_ = torch::ones({4}); }", "x + mask_"),
               NET("torch::Tensor mask_;",
                   "{ mask_ = register_buffer(\"mask\", torch::ones({4})); }", "x + mask_")},
        Repair{NET("torch::Tensor mask;", ": mask(torch::ones({4})) {}", "x + mask"),
               NET("torch::Tensor mask;", ": mask(register_buffer(\"mask\", torch::ones({4}))) {}",
                   "x + mask")},
        Repair{NET("torch::Tensor mask = torch::ones({4});", "{}", "x + mask"),
               NET("torch::Tensor mask = register_buffer(\"mask\", torch::ones({4}));", "{}",
                   "x + mask")},
        Repair{NET("torch::nn::Linear fc{nullptr};", "{ fc = torch::nn::Linear(4, 2); }", "fc(x)"),
               NET("torch::nn::Linear fc{nullptr};",
                   "{ fc = register_module(\"fc\", torch::nn::Linear(4, 2)); }", "fc(x)")},
        Repair{NET("torch::nn::Linear fc;", ": fc(4, 2) {}", "fc(x)"),
               NET("torch::nn::Linear fc;",
                   ": fc(register_module(\"fc\", torch::nn::Linear(4, 2))) {}", "fc(x)")},
        Repair{NET("torch::nn::Linear fc{4, 2};", "{}", "fc(x)"),
               NET("torch::nn::Linear fc{register_module(\"fc\", torch::nn::Linear(4, 2))};", "{}",
                   "fc(x)")},
        Repair{NET("torch::nn::Sequential net;", "{ net->push_back(torch::nn::Linear(4, 2)); }",
                   "net->forward(x)"),
               NET("torch::nn::Sequential net;",
                   "{ net->push_back(torch::nn::Linear(4, 2)); register_module(\"net\", net); }",
                   "net->forward(x)")}));

TEST(UnregisteredMember, CloneableIsRepairedInResetAndOnlyAdvisedElsewhere) {
  const std::string head = "struct NetImpl : torch::nn::Cloneable<NetImpl> { torch::Tensor mask; ";
  const std::string tail = " torch::Tensor forward(torch::Tensor x) { return x + mask; } };";
  const Checked in_reset = check_members(head + "void reset() { mask = torch::ones({4}); }" + tail);
  EXPECT_EQ(in_reset.fixed(),
            head + "void reset() { mask = register_buffer(\"mask\", torch::ones({4})); }" + tail);
  const Checked elsewhere =
      check_members(head + "NetImpl() { mask = torch::ones({4}); } void reset() {}" + tail);
  ASSERT_THAT(elsewhere.findings, SizeIs(1));
  EXPECT_THAT(elsewhere.findings[0].fixes, IsEmpty());
  EXPECT_THAT(elsewhere.findings[0].advice, HasSubstr("in reset()"));
}

class Registered : public ::testing::TestWithParam<Member> {};

TEST_P(Registered, IsSilent) {
  const Member& member = GetParam();
  EXPECT_THAT(check_members(module_of(member.member, member.set_up, member.forward)).findings,
              IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    AnywhereInTheSetUp, Registered,
    ::testing::Values(
        Member{"torch::Tensor mask;", "mask = register_buffer(\"mask\", torch::ones({4}));",
               "return x + mask;"},
        Member{"torch::Tensor w;", "w = register_parameter(\"w\", torch::ones({4}));",
               "return x * w;"},
        // later
        Member{"torch::Tensor mask;", "mask = torch::ones({4}); register_buffer(\"mask\", mask);",
               "return x + mask;"},
        Member{"torch::nn::Linear fc{4, 2};", "register_module(\"fc\", fc);", "return fc(x);"},
        Member{"torch::nn::Sequential net;",
               "net->push_back(torch::nn::Linear(n, 2)); register_module(\"net\", net);",
               "return net->forward(x);"},
        Member{"torch::nn::AnyModule head;",
               "head = torch::nn::AnyModule(torch::nn::Linear(n, 2)); "
               "register_module(\"head\", head.ptr());",
               "return head.forward(x);"},
        // made and registered under the same condition
        Member{"torch::Tensor bias;",
               "if (n > 2) { bias = torch::ones({4}); register_buffer(\"bias\", bias); }",
               "return x + bias;"}));

INSTANTIATE_TEST_SUITE_P(
    ElementsOfContainers, Registered,
    ::testing::Values(
        Member{"std::vector<torch::nn::Linear> layers;",
               "for (long i = 0; i < n; ++i) layers.push_back(register_module(\"l\", "
               "torch::nn::Linear(n, 2)));",
               "return layers[0]->forward(x);"},
        // in a loop afterwards
        Member{"std::vector<torch::nn::Linear> layers;",
               "layers.push_back(torch::nn::Linear(n, 2)); for (auto& layer : layers) "
               "register_module(\"l\", layer);",
               "return layers[0]->forward(x);"},
        Member{"std::vector<torch::nn::Linear> layers;",
               "layers.emplace_back(n, 2); register_module(\"l\", layers.back());",
               "return layers[0]->forward(x);"},
        Member{"std::vector<torch::nn::Linear> layers;",
               "layers.emplace_back(n, 2); auto& last = layers[0]; register_module(\"l\", last);",
               "return layers[0]->forward(x);"},
        // pushed from something that was registered
        Member{"std::vector<torch::nn::Linear> layers;",
               "torch::nn::Linear one(n, 2); register_module(\"l\", one); layers.push_back(one);",
               "return layers[0]->forward(x);"},
        // given to a module that is registered
        Member{"torch::nn::Linear fc{4, 2};",
               "torch::nn::Sequential all; all->push_back(fc); register_module(\"all\", all);",
               "return fc(x);"}));

INSTANTIATE_TEST_SUITE_P(
    NothingToMove, Registered,
    ::testing::Values(Member{"torch::nn::Dropout drop{0.1};", "", "return drop(x);"},
                      Member{"torch::nn::ReLU relu;", "", "return relu(x);"},
                      Member{"torch::nn::MaxPool2d pool{2};", "", "return pool(x);"},
                      Member{"std::vector<torch::nn::Dropout> drops;",
                             "drops.push_back(torch::nn::Dropout(0.1));", "return drops[0](x);"},
                      Member{"torch::nn::Sequential net;", "net->push_back(torch::nn::ReLU());",
                             "return net->forward(x);"},
                      Member{"torch::nn::AnyModule act;",
                             "act = torch::nn::AnyModule(torch::nn::ReLU());",
                             "return act.forward(x);"},
                      // a tensor without dimensions works beside any device
                      Member{"torch::Tensor eps = torch::tensor(1e-5);", "", "return x + eps;"},
                      Member{"torch::Tensor eps = torch::full({}, 1e-5);", "", "return x + eps;"}));

INSTANTIATE_TEST_SUITE_P(
    MovedByHand, Registered,
    ::testing::Values(
        Member{"torch::Tensor mask = torch::ones({4}); void to(torch::Device d, bool) override { "
               "mask = mask.to(d); }",
               "", "return x + mask;"},
        Member{"torch::nn::Linear fc{4, 2}; void to(torch::Device d, bool) override { fc->to(d); }",
               "", "return fc(x);"},
        // where it is used
        Member{"torch::Tensor mask = torch::ones({4});", "", "return x + mask.to(x.device());"},
        Member{"torch::Tensor mask = torch::ones({4});", "",
               "return x + mask.unsqueeze(0).to(x.device());"},
        Member{"torch::Tensor mask = torch::ones({4});", "",
               "mask = mask.to(x.device()); return x + mask;"},
        Member{"torch::Tensor mask = torch::ones({4});", "",
               "auto m = mask; return x + m.to(x.device());"}));

INSTANTIATE_TEST_SUITE_P(
    RemadeFromInputs, Registered,
    ::testing::Values(
        Member{"torch::Tensor cache;", "",
               "if (!cache.defined()) cache = torch::ones({4}); return x + cache;"},
        Member{"torch::Tensor state = torch::ones({4});", "", "state = x * x; return x + state;"},
        Member{"std::vector<torch::Tensor> log;", "", "log.push_back(x); return x + log[0];"},
        Member{"torch::Tensor state = torch::ones({4}); void reset() { state = torch::ones({4}); }",
               "", "return x + state;"}));

INSTANTIATE_TEST_SUITE_P(
    NotUsedByTheModule, Registered,
    ::testing::Values(
        Member{"torch::Tensor mask = torch::ones({4});", "", "return x;"},
        Member{"torch::Tensor mask = torch::ones({4});", "", "return x.view(mask.sizes());"},
        Member{"torch::Tensor index = torch::ones({4});", "", "return x[index];"},
        Member{"torch::Tensor index = torch::ones({4});", "", "return x.index({index});"},
        Member{"torch::Tensor mask = torch::ones({4});", "", "return torch::zeros_like(mask);"},
        Member{"torch::nn::Linear fc{nullptr};", "", "return fc(x);"}));

INSTANTIATE_TEST_SUITE_P(
    PlacedByTheAuthor, Registered,
    ::testing::Values(Member{"torch::Tensor mask = torch::ones({4}, torch::kCUDA);", "",
                             "return x + mask;"},
                      Member{"torch::Device device{torch::kCPU}; torch::Tensor mask;",
                             "mask = torch::ones({4}, device);", "return x + mask;"},
                      Member{"torch::nn::Linear fc{4, 2};", "fc->to(torch::Device(torch::kCPU));",
                             "return fc(x);"}));

class SilentClass : public ::testing::TestWithParam<const char*> {};

TEST_P(SilentClass, IsSilent) {
  EXPECT_THAT(check_members(GetParam()).findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    NotWhollySeen, SilentClass,
    ::testing::Values(
        // the constructor, or another method, is in another translation unit
        "struct Net : torch::nn::Module { Net(); torch::Tensor mask = torch::ones({4}); "
        "torch::Tensor forward(torch::Tensor x) { return x + mask; } };",
        "struct Net : torch::nn::Module { void build(); torch::Tensor mask = torch::ones({4}); "
        "torch::Tensor forward(torch::Tensor x) { return x + mask; } };",
        // who derives from it may register for it
        "struct Net : torch::nn::Module { virtual void build() = 0; torch::Tensor mask = "
        "torch::ones({4}); torch::Tensor forward(torch::Tensor x) { return x + mask; } };"));

INSTANTIATE_TEST_SUITE_P(
    RegisteredElsewhere, SilentClass,
    ::testing::Values(
        // by an heir of a base
        "struct Base : torch::nn::Module { torch::Tensor mask = torch::ones({4}); torch::Tensor "
        "forward(torch::Tensor x) { return x + mask; } }; struct Net : Base { Net() { "
        "register_buffer(\"mask\", mask); } };",
        // by who makes it
        "struct Net : torch::nn::Module { torch::Tensor mask = torch::ones({4}); torch::Tensor "
        "forward(torch::Tensor x) { return x + mask; } }; void make() { Net net; "
        "net.register_buffer(\"mask\", net.mask); }",
        "struct Net : torch::nn::Module { torch::Tensor mask = torch::ones({4}); torch::Tensor "
        "forward(torch::Tensor x) { return x + mask; } }; void move(Net& net, torch::Device d) { "
        "net.mask = net.mask.to(d); }"));

INSTANTIATE_TEST_SUITE_P(
    OwnedBySomebodyElse, SilentClass,
    ::testing::Values(
        // a function that knows of a device, or keeps what it makes
        "torch::Tensor table(int n) { return torch::ones({n}, torch::Device(\"cuda:1\")); } struct "
        "Net : torch::nn::Module { torch::Tensor t; Net() : t(table(4)) {} torch::Tensor "
        "forward(torch::Tensor x) { return x + t; } };",
        "torch::Tensor kept; torch::Tensor table(int n) { if (n > 4) kept = torch::ones({n}); "
        "return "
        "kept; } struct Net : torch::nn::Module { torch::Tensor t; Net() : t(table(4)) {} "
        "torch::Tensor forward(torch::Tensor x) { return x + t; } };",
        "struct Net : torch::nn::Module { torch::nn::Linear tied; Net(torch::nn::Linear owner) : "
        "tied(owner) {} torch::Tensor forward(torch::Tensor x) { return tied(x); } };",
        "struct Net : torch::nn::Module { torch::Tensor weight; Net(torch::Tensor owner) : "
        "weight(owner) {} torch::Tensor forward(torch::Tensor x) { return x + weight; } };",
        "struct Net : torch::nn::Module { torch::nn::LinearImpl* owner; Net(torch::nn::LinearImpl* "
        "o) : owner(o) {} torch::Tensor forward(torch::Tensor x) { return owner->forward(x); } };",
        // what is no module has nothing to register with
        "struct Plain { torch::Tensor mask = torch::ones({4}); torch::Tensor f(torch::Tensor x) { "
        "return x + mask; } };"));

TEST(UnregisteredMember, ProjectsOwnModulesWithoutStateAreSilent) {
  EXPECT_THAT(check_members(R"(
struct GeluImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) { return torch::relu(x); }
};
TORCH_MODULE(Gelu);
struct Net : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) { return gelu(x); }
  Gelu gelu;
};
)")
                  .findings,
              IsEmpty());
}

}  // namespace
}  // namespace devsan::lint::test
