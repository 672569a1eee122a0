// The flow rules through what holds tensors: members, containers, tuples, optionals, captures. Each
// way is tested twice: with a mistake that must be found, and right code that must be silent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kTypes = R"(
struct Inputs { torch::Tensor ids; torch::Tensor pixels; };
struct Batch { Inputs inputs; torch::Tensor labels; };
struct Config { torch::Device device; torch::TensorOptions options; };
struct Holder { torch::Tensor scale; Config config; };
std::tuple<torch::Tensor, torch::Tensor> two();
struct Net : torch::nn::Module {
  Net() { fc = register_module("fc", torch::nn::Linear(2, 2)); }
  torch::Tensor forward(torch::Tensor t) { return fc->forward(t); }
  torch::nn::Linear fc{nullptr};
};
)";

Checked check_body(const std::string& body) {
  return check(std::string(kTypes) +
                   "void f(torch::Tensor x, Batch given, Config config, bool flag, int rank, "
                   "std::vector<torch::Tensor> many) { " +
                   body + " }",
               RuleSet::parse("-*,devsan-unmoved-tensor,devsan-mixed-devices"));
}

struct Pair {
  const char* name;
  const char* mistake;
  const char* right;
};

void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.name;
}

class Values : public ::testing::TestWithParam<Pair> {};

TEST_P(Values, MistakeIsFound) {
  EXPECT_THAT(check_body(GetParam().mistake).findings, SizeIs(1)) << GetParam().mistake;
}

TEST_P(Values, RightCodeIsSilent) {
  EXPECT_THAT(check_body(GetParam().right).findings, IsEmpty()) << GetParam().right;
}

INSTANTIATE_TEST_SUITE_P(
    Members, Values,
    ::testing::Values(
        Pair{"assigned", "Batch b; b.labels = torch::ones({2}); x.cuda().matmul(b.labels);",
             "Batch b; b.labels = torch::ones({2}).cuda(); x.cuda().matmul(b.labels);"},
        Pair{"nested",
             "Batch b; b.inputs.pixels = torch::ones({2}); x.cuda().matmul(b.inputs.pixels);",
             "Batch b; b.inputs.pixels = torch::ones({2}); x.cuda().matmul(b.inputs.ids);"},
        Pair{"copied",
             "Batch b; b.labels = torch::ones({2}); Batch c = b; b.labels = b.labels.cuda(); "
             "x.cuda().matmul(c.labels);",
             "Batch b; b.labels = torch::ones({2}).cuda(); Batch c = b; b.labels = "
             "torch::ones({2}); x.cuda().matmul(c.labels);"},
        Pair{"of a reference",
             "Batch b; auto& in = b.inputs; in.pixels = torch::ones({2}); "
             "x.cuda().matmul(b.inputs.pixels);",
             "Batch b; b.inputs.pixels = torch::ones({2}); auto& in = b.inputs; in.pixels = "
             "x.cuda(); x.cuda().matmul(b.inputs.pixels);"},
        Pair{"of a list",
             "Batch b{{x.cuda(), torch::ones({2})}, x}; "
             "b.inputs.ids.matmul(b.inputs.pixels);",
             "Batch b{{x.cuda(), torch::ones({2})}, x}; b.inputs.ids.matmul(b.labels);"},
        Pair{"given, moved apart",
             "given.labels = given.labels.cuda(); given.inputs.ids = "
             "given.inputs.ids.cpu(); given.labels.matmul(given.inputs.ids);",
             "given.labels = given.labels.cuda(); given.labels.matmul(given.inputs.ids);"},
        Pair{"a device",
             "Config c{torch::Device(torch::kCUDA), {}}; auto a = x.to(c.device); "
             "a.matmul(torch::ones({2}));",
             "Config c{torch::Device(torch::kCUDA), {}}; auto a = x.to(c.device); "
             "a.matmul(torch::ones({2}, c.device));"},
        Pair{"options",
             "Holder h{x, config}; h.config.options = "
             "torch::TensorOptions().device(torch::kCUDA).dtype(torch::kFloat); "
             "torch::ones({2}, h.config.options).matmul(torch::ones({2}));",
             "Holder h{x, config}; torch::ones({2}, "
             "h.config.options).matmul(x.to(h.config.device));"},
        Pair{"asked", "if (given.labels.is_cuda()) given.labels.matmul(torch::ones({2}));",
             "if (given.labels.is_cpu()) given.labels.matmul(torch::ones({2}));"},
        Pair{"checked",
             "TORCH_CHECK(given.inputs.ids.device() == torch::kCUDA, \"\"); "
             "given.inputs.ids.matmul(torch::ones({2}));",
             "TORCH_CHECK(given.inputs.ids.device() == torch::kCPU, \"\"); "
             "given.inputs.ids.matmul(torch::ones({2}));"}));

INSTANTIATE_TEST_SUITE_P(
    Devices, Values,
    ::testing::Values(
        Pair{"of a rank", "torch::Device d(torch::kCUDA, rank); x.to(d).matmul(torch::ones({2}));",
             "torch::Device d(torch::kCUDA, rank); x.to(d).matmul(torch::ones({2}, d));"},
        Pair{"a constant",
             "static const torch::Device d(torch::kCUDA); "
             "x.to(d).matmul(torch::ones({2}));",
             "static const torch::Device d(torch::kCUDA); x.to(d).matmul(x.cuda());"},
        Pair{"of a dtype alone", "x.cuda().to(torch::kFloat).matmul(torch::ones({2}));",
             "torch::ones({2}).to(torch::kFloat).matmul(torch::ones({2}));"},
        Pair{"of another tensor",
             "auto y = x.cuda(); torch::ones({2}).to(y).matmul(torch::ones({2}));",
             "auto y = x.cuda(); torch::ones({2}).to(y).matmul(torch::ones({2}).type_as(y));"},
        Pair{"chosen",
             "auto d = flag ? torch::Device(\"cuda:1\") : torch::Device(torch::kCPU); "
             "torch::ones({2}).to(d).matmul(torch::ones({2}));",
             "auto d = flag ? torch::Device(\"cuda:1\") : torch::Device(torch::kCPU); "
             "auto e = d; torch::ones({2}).to(d).matmul(x.to(e));"}));

INSTANTIATE_TEST_SUITE_P(
    Containers, Values,
    ::testing::Values(
        Pair{"tuple",
             "auto t = std::make_tuple(x.cuda(), torch::ones({2})); "
             "std::get<0>(t).matmul(std::get<1>(t));",
             "auto t = std::make_tuple(x.cuda(), torch::ones({2}), x.cuda()); "
             "std::get<0>(t).matmul(std::get<2>(t));"},
        Pair{"bindings of a tuple",
             "auto [a, b] = std::make_tuple(x.cuda(), torch::ones({2})); "
             "a.matmul(b);",
             "auto [a, b] = two(); a.matmul(b.cuda());"},
        Pair{"bindings of an object",
             "Inputs in{x.cuda(), torch::ones({2})}; auto& [a, b] = in; "
             "a.matmul(b);",
             "Inputs in{x.cuda(), torch::ones({2})}; auto& [a, b] = in; b = b.cuda(); "
             "in.ids.matmul(in.pixels);"},
        Pair{"range-for over what was made",
             "std::vector<torch::Tensor> v; "
             "v.push_back(torch::ones({2})); for (auto& t : v) "
             "x.cuda().matmul(t);",
             "std::vector<torch::Tensor> v; v.push_back(torch::ones({2}).cuda()); for (const auto& "
             "t "
             ": v) x.cuda().matmul(t);"},
        Pair{"range-for over what is given",
             "for (const auto& t : many) "
             "t.cuda().matmul(torch::ones({2}));",
             "for (auto& t : many) t = t.cuda(); x.cuda().matmul(many[0]);"},
        Pair{"objects in a vector",
             "std::vector<Batch> v; v.push_back(Batch{{x, x}, "
             "torch::ones({2})}); x.cuda().matmul(v[0].labels);",
             "std::vector<Batch> v; v.push_back(Batch{{x, x}, torch::ones({2})}); "
             "x.cuda().matmul(v[0].inputs.ids);"},
        Pair{"map",
             "std::map<std::string, torch::Tensor> m; m[\"a\"] = torch::ones({2}); "
             "x.cuda().matmul(m.at(\"a\"));",
             "std::map<std::string, torch::Tensor> m; m[\"a\"] = torch::ones({2}); m[\"b\"] = "
             "x.cuda(); x.cuda().matmul(m.at(\"b\"));"},
        Pair{"optional", "std::optional<torch::Tensor> o = torch::ones({2}); x.cuda().matmul(*o);",
             "std::optional<torch::Tensor> o; if (flag) o = x.cuda(); "
             "x.cuda().matmul(o.value());"},
        Pair{"value of a script",
             "torch::IValue v = torch::ones({2}); "
             "x.cuda().matmul(v.toTensor());",
             "torch::IValue v = x.cuda(); x.cuda().matmul(v.toTensor());"},
        Pair{"undefined",
             "torch::Tensor y; if (!y.defined()) y = torch::ones({2}); "
             "x.cuda().matmul(y);",
             "torch::Tensor y; if (flag) y = x.cuda(); x.cuda().matmul(y);"}));

// What is changed under another name, or by whoever shares it, is not what was set here.
INSTANTIATE_TEST_SUITE_P(
    Shared, Values,
    ::testing::Values(
        Pair{"by a lambda",
             "Batch b; b.labels = torch::ones({2}); auto g = [&] { b.labels.sum(); }; "
             "x.cuda().matmul(b.labels);",
             "Batch b; b.labels = torch::ones({2}); auto g = [&] { b.labels = x.cuda(); }; "
             "x.cuda().matmul(b.labels);"},
        Pair{"by who holds a pointer",
             "auto b = Batch{{x, x}, torch::ones({2})}; "
             "x.cuda().matmul(b.labels);",
             "std::shared_ptr<Batch> b; b->labels = torch::ones({2}); auto c = b; c->labels = "
             "x.cuda(); x.cuda().matmul(b->labels);"},
        Pair{"by an address", "Batch b; b.labels = torch::ones({2}); x.cuda().matmul(b.labels);",
             "Batch b; b.labels = torch::ones({2}); auto* p = &b; p->labels = x.cuda(); "
             "x.cuda().matmul(b.labels);"}));

INSTANTIATE_TEST_SUITE_P(
    Lambdas, Values,
    ::testing::Values(
        Pair{"by reference",
             "auto y = torch::ones({2}); auto g = [&] { x.cuda().matmul(y); }; g();",
             "auto y = torch::ones({2}); y = y.cuda(); auto g = [&] { x.cuda().matmul(y); }; g();"},
        Pair{
            "by copy",
            "auto y = torch::ones({2}); auto g = [y, x] { return x.cuda().matmul(y); }; "
            "y = y.cuda(); g();",
            "auto y = torch::ones({2}).cuda(); auto g = [y, x] { return x.cuda().matmul(y); }; y = "
            "torch::ones({2}); g();"},
        Pair{"gives",
             "auto g = [](const torch::Tensor& t) { return t.cpu(); }; "
             "x.cuda().matmul(g(x));",
             "auto g = [](const torch::Tensor& t) { return t.cuda(); }; x.cuda().matmul(g(x));"},
        Pair{"changes",
             "auto y = x; auto g = [&] { y = torch::ones({2}); }; g(); "
             "x.cuda().matmul(y);",
             "auto y = torch::ones({2}); auto g = [&] { y = y.cuda(); }; g(); x.cuda().matmul(y);"},
        Pair{"called at once",
             "auto y = torch::ones({2}); auto z = [&] { return y; }(); "
             "x.cuda().matmul(z);",
             "auto y = torch::ones({2}); [&] { y = y.cuda(); }(); x.cuda().matmul(y);"},
        Pair{"handed to an algorithm",
             "auto y = torch::ones({2}); std::for_each(many.begin(), "
             "many.end(), [&](torch::Tensor& t) { t.cuda().matmul(y); });",
             "auto y = torch::ones({2}).cuda(); std::for_each(many.begin(), many.end(), "
             "[&](torch::Tensor& t) { t.cuda().matmul(y); });"},
        Pair{"an algorithm's elements",
             "std::vector<torch::Tensor> v; v.push_back(x.cuda()); auto y "
             "= torch::ones({2}); std::for_each(v.begin(), v.end(), "
             "[&](const torch::Tensor& t) { t.matmul(y); });",
             "std::vector<torch::Tensor> v; v.push_back(x.cuda()); auto y = torch::ones({2}); "
             "std::for_each(v.begin(), v.end(), [&](const torch::Tensor& t) { if (t.is_cpu()) "
             "t.matmul(y); });"}));

INSTANTIATE_TEST_SUITE_P(
    Modules, Values,
    ::testing::Values(
        Pair{"moved to a choice of devices",
             "Net n; auto d = torch::cuda::is_available() ? torch::Device(torch::kCUDA) : "
             "torch::Device(torch::kCPU); n.to(d); n.forward(x.to(d)).matmul(torch::ones({2}));",
             "Net n; auto d = torch::cuda::is_available() ? torch::Device(torch::kCUDA) : "
             "torch::Device(torch::kCPU); n.to(d); "
             "n.forward(x.to(d)).matmul(torch::ones({2}).to(d));"},
        Pair{"stacked scalars have a dimension",
             "auto s = torch::stack({torch::tensor(1.0), torch::tensor(2.0)}); x.cuda() + s;",
             "auto s = torch::tensor(1.0); x.cuda() + s;"}));

}  // namespace
}  // namespace devsan::lint::test
