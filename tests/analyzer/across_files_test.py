"""Devices are followed into functions that other files of the run define."""
import json
import shutil

import pytest

from linting import lint

HEADER = """\
#pragma once
#include <torch/torch.h>
torch::Tensor make_mask(int n);
torch::Tensor on_gpu(const torch::Tensor& x);
void place(torch::Tensor& x);
"""
MASKS = """\
#include "masks.h"
torch::Tensor make_mask(int n) { return torch::ones({n, n}); }
torch::Tensor on_gpu(const torch::Tensor& x) { return x.to(torch::kCUDA); }
void place(torch::Tensor& x) { x = x.cuda(); }
"""
USE = """\
#include "masks.h"
torch::Tensor use(const torch::Tensor& x) {
  auto y = x.cuda();
  return y + make_mask(3);
}
"""
RULES = "--rules=-*,devsan-unmoved-tensor,devsan-mixed-devices,devsan-factory-without-device"


@pytest.fixture
def run(project, cache):
    shutil.rmtree(cache / "devsan" / "results", ignore_errors=True)

    def lint_project(*paths, threads=2):
        result = lint(*(paths or ["."]), RULES, "-j", threads, "--format", "json", cwd=project.root, cache=cache)
        assert result.returncode in (0, 1), result.stderr
        result.stdout = result.stdout.replace(f"{project.root}/", "")
        return result

    return lint_project


def places(result):
    return [f'{finding["file"]}:{finding["line"]}' for finding in json.loads(result.stdout)["findings"]]


def used(result):
    return {file["file"]: file["summaries_used"] for file in json.loads(result.stdout)["files"]}


def test_tensor_made_in_another_file_is_found_where_it_meets(project, run):
    project("masks.h", HEADER)
    project("masks.cpp", MASKS)
    project("use.cpp", USE)
    both = run()
    assert places(both) == ["use.cpp:4"]
    [finding] = json.loads(both.stdout)["findings"]
    assert finding["rule"] == "devsan-unmoved-tensor" and "'make_mask(3)' is on the CPU" in finding["message"]
    steps = [(step["file"], step["line"]) for step in finding["path"]]
    assert ("masks.cpp", 2) in steps, "where it is made"
    assert used(both) == {"masks.cpp": 0, "use.cpp": 1}
    alone = run("use.cpp")
    assert places(alone) == [] and used(alone) == {"use.cpp": 0}


def test_what_another_file_moves_is_not_reported(project, run):
    project("masks.h", HEADER)
    project("masks.cpp", MASKS)
    project("use.cpp", """\
        #include "masks.h"
        torch::Tensor result(const torch::Tensor& x) {
          auto mask = torch::ones({3, 3});
          return x.cuda() + on_gpu(mask);
        }
        torch::Tensor in_place(const torch::Tensor& x) {
          auto mask = torch::ones({3, 3});
          place(mask);
          return x.cuda() + mask;
        }
        torch::Tensor wrong(const torch::Tensor& x) {
          auto mask = torch::ones({3, 3});
          place(mask);
          return x.cpu().matmul(mask);
        }
        """)
    assert places(run()) == ["use.cpp:14"]


def test_op_in_another_file_is_found_at_the_call(project, run):
    project("join.h", "#include <torch/torch.h>\ntorch::Tensor join(const torch::Tensor& a, const torch::Tensor& b);\n")
    project("join.cpp", """\
        #include "join.h"
        torch::Tensor join(const torch::Tensor& a, const torch::Tensor& b) {
          return torch::cat({a, b});
        }
        """)
    project("use.cpp", """\
        #include "join.h"
        void right(torch::Tensor x) { join(x.cuda(), torch::ones({2}, torch::kCUDA)); }
        void wrong(torch::Tensor x) { join(x.cuda(), torch::ones({2})); }
        """)
    result = run()
    assert places(result) == ["use.cpp:3"]
    [finding] = json.loads(result.stdout)["findings"]
    assert ("join.cpp", 3) in [(step["file"], step["line"]) for step in finding["path"]]


@pytest.mark.parametrize("other", [
    "torch::Tensor make_mask(int n) { return torch::ones({n, n}, torch::kCUDA); }",
    "torch::Tensor make_mask(int n) { return n > 3 ? torch::ones({n}, torch::kCUDA) : torch::ones({n}); }",
    "torch::Tensor unseen(int n);\ntorch::Tensor make_mask(int n) { return unseen(n); }",
    "torch::Tensor make_mask(int n) { auto m = torch::ones({n, n}); m = what_is_this(m).cuda(); return m; }",
], ids=["another device", "either device", "unknown", "broken"])
def test_two_definitions_of_one_name_are_not_used(project, run, other):
    project("masks.h", HEADER)
    project("masks.cpp", MASKS)
    project("use.cpp", USE)
    project("other.cpp", f"#include <torch/torch.h>\n{other}\n")
    assert places(run()) == []


@pytest.mark.parametrize("body", [
    "auto m = torch::ones({n, n}); what_is_this(m); return m;",
    "auto m = torch::ones({n, n}); Unknown moved(m); return m;",
])
def test_function_that_could_not_be_parsed_is_unknown(project, run, body):
    project("masks.h", HEADER)
    project("masks.cpp", f'#include "masks.h"\ntorch::Tensor make_mask(int n) {{ {body} }}\n'
                         "int clean(int i) { return i + 1; }\n")
    project("use.cpp", USE)
    assert places(run()) == []


def test_functions_of_one_file_are_nothing_to_others(project, run):
    project("use.cpp", USE.replace('"masks.h"', "<torch/torch.h>").replace(
        "torch::Tensor use", "torch::Tensor make_mask(int n);\ntorch::Tensor use"))
    project("a.cpp", "#include <torch/torch.h>\nstatic torch::Tensor make_mask(int n) { return torch::ones({n}); }\n"
                     "torch::Tensor a() { return make_mask(1); }\n")
    project("b.cpp", "#include <torch/torch.h>\n"
                     "namespace { torch::Tensor make_mask(int n) { return torch::ones({n}); } }\n"
                     "torch::Tensor b() { return make_mask(1); }\n")
    assert places(run()) == []


def test_chain_over_files_is_followed(project, run):
    project("chain.h", "#pragma once\n#include <torch/torch.h>\n" +
            "".join(f"torch::Tensor link{i}(int n);\n" for i in range(5)))
    project("link0.cpp", '#include "chain.h"\ntorch::Tensor link0(int n) { return torch::ones({n}); }\n')
    for i in range(1, 5):
        project(f"link{i}.cpp", f'#include "chain.h"\ntorch::Tensor link{i}(int n) {{ return link{i - 1}(n); }}\n')
    project("use.cpp", '#include "chain.h"\nvoid use(torch::Tensor x) { x.cuda().matmul(link4(2)); }\n')
    result = run()
    assert places(result) == ["use.cpp:2"]
    [finding] = json.loads(result.stdout)["findings"]
    files = [step["file"] for step in finding["path"]]
    assert [file for file in files if file.startswith("link")] == [f"link{i}.cpp" for i in (4, 3, 2, 1, 0)]


def test_files_that_call_each_other_are_followed(project, run):
    project("both.h", "#pragma once\n#include <torch/torch.h>\ntorch::Tensor a(int n);\ntorch::Tensor b(int n);\n"
                      "torch::Tensor ping(int n);\ntorch::Tensor pong(int n);\n")
    project("a.cpp", """\
        #include "both.h"
        torch::Tensor a(int n) { return torch::ones({n}); }
        torch::Tensor ping(int n) { return n > 0 ? pong(n - 1) : a(n); }
        void use_a(torch::Tensor x) { x.cuda().matmul(b(2)); }
        """)
    project("b.cpp", """\
        #include "both.h"
        torch::Tensor b(int n) { return a(n); }
        torch::Tensor pong(int n) { return ping(n); }
        """)
    assert places(run()) == ["a.cpp:4"]


NET = """\
#pragma once
#include <torch/torch.h>
struct NetImpl : torch::nn::Module {
  NetImpl();
  torch::Tensor forward(torch::Tensor x);
  torch::nn::Linear fc{nullptr};
  torch::Tensor mask;
};
TORCH_MODULE(Net);
"""
NET_BODY = """\
#include "net.h"
NetImpl::NetImpl() {
  fc = register_module("fc", torch::nn::Linear(2, 2));
  mask = register_buffer("mask", torch::ones({2}));
}
torch::Tensor NetImpl::forward(torch::Tensor x) { return fc->forward(x) * mask; }
"""
TRAIN = """\
#include "net.h"
int main() {
  Net net;
  net->to(torch::kCUDA);
  auto x = torch::ones({2, 2});
  net->forward(x);
  net->forward(x.cuda());
}
"""


def test_module_in_another_file_says_what_goes_with_it(project, run, cache):
    project("net.h", NET)
    project("net.cpp", NET_BODY)
    project("train.cpp", TRAIN)
    assert places(run()) == ["train.cpp:6"]
    # One result of net.cpp, and of train.cpp what it gave alone and what it gave with net.cpp.
    assert len(list((cache / "devsan" / "results").iterdir())) == 3


@pytest.mark.parametrize("body", [
    # Moves its input itself.
    NET_BODY.replace("return fc", "x = x.to(fc->weight.device());\n  return fc"),
    # Of the class not everything is seen: the constructor is elsewhere.
    "#include \"net.h\"\n" + NET_BODY[NET_BODY.index("torch::Tensor NetImpl::forward"):],
], ids=["moves its input", "no constructor"])
def test_module_in_another_file_may_do_otherwise(project, run, body):
    project("net.h", NET)
    project("net.cpp", body)
    project("train.cpp", TRAIN)
    assert places(run()) == []


def test_modules_of_two_programs_are_told_apart(project, run):
    """The one moves its input, the other does not."""
    for program in ("one", "two"):
        project(f"{program}/net.h", NET)
        project(f"{program}/train.cpp", TRAIN)
    project("one/net.cpp", NET_BODY)
    project("two/net.cpp", NET_BODY.replace("return fc", "x = x.to(fc->weight.device());\n  return fc"))
    assert places(run()) == ["one/train.cpp:6"]


def test_results_depend_on_the_summaries_used(project, run):
    project("masks.h", HEADER)
    masks = project("masks.cpp", MASKS)
    project("use.cpp", USE)
    first = run()
    assert places(first) == ["use.cpp:4"] and "earlier run" not in first.stderr
    again = run()
    assert again.stdout == first.stdout and "2 files known from an earlier run" in again.stderr

    masks.write_text(MASKS.replace("torch::ones({n, n})", "torch::ones({n, n}, torch::kCUDA)"))
    fixed = run()
    assert places(fixed) == [] and "earlier run" not in fixed.stderr
    masks.write_text("\n" + MASKS)
    [finding] = json.loads(run().stdout)["findings"]
    assert ("masks.cpp", 3) in [(step["file"], step["line"]) for step in finding["path"]]

    # What tells the caller nothing new costs it nothing.
    masks.write_text(MASKS + "torch::Tensor another(int n) { return torch::ones({n}); }\n")
    other = run()
    assert json.loads(other.stdout)["findings"] == json.loads(first.stdout)["findings"]
    assert "1 file known from an earlier run" in other.stderr


def test_threads_do_not_matter(project, run, cache):
    project("masks.h", HEADER)
    project("masks.cpp", MASKS)
    for i in range(6):
        project(f"use{i}.cpp", USE.replace("use(", f"use{i}(").replace("make_mask(3)", f"pass{i}()").replace(
            "torch::Tensor use", f"torch::Tensor pass{(i + 1) % 6}();\n"
            f"torch::Tensor pass{i}() {{ return make_mask({i}); }}\ntorch::Tensor use"))
    one = run(threads=1)
    shutil.rmtree(cache / "devsan" / "results")
    assert run(threads=8).stdout == one.stdout
    assert places(one) == [f"use{i}.cpp:6" for i in range(6)]
