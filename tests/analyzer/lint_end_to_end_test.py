"""devsan-lint on LibTorch's real headers: compile commands, formats, fixes, exit codes."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from linting import LINT, SITE_PACKAGES, lint

MODEL = """\
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  NetImpl() : fc(register_module("fc", torch::nn::Linear(4, 2))) {}

  torch::Tensor forward(torch::Tensor x) {
    x.contiguous();
    auto bias = torch::zeros({2}, torch::kCUDA);
    return fc->forward(x) + bias.to(torch::Device("cuda:0"));
  }

  torch::nn::Linear fc;
};
TORCH_MODULE(Net);
"""

CLEAN = """\
#include <torch/torch.h>

torch::Tensor scale(const torch::Tensor& x, double by) { return x.contiguous() * by; }
"""


def test_clean_file_is_silent_and_exits_0(project, cache):
    project("clean.cpp", CLEAN)
    run = lint("clean.cpp", cwd=project.root, cache=cache)
    assert (run.returncode, run.stdout) == (0, ""), run.stderr
    assert "1 file, 0 findings" in run.stderr
    assert "flags were inferred" in run.stderr


def test_text_is_what_editors_read(project, cache):
    project("net.cpp", MODEL)
    run = lint("net.cpp", cwd=project.root, cache=cache)
    assert run.returncode == 1
    heads = [line for line in run.stdout.splitlines() if " warning: " in line]
    assert [head.split(" warning: ")[0] for head in heads] == [
        "net.cpp:7:5:", "net.cpp:8:35:", "net.cpp:9:37:"]
    assert heads[0].endswith("[devsan-dropped-move]")
    assert heads[1].endswith("[devsan-hard-coded-device]")
    assert "net.cpp:7:5: note: fix: insert 'x = '" in run.stdout
    assert "\r" not in run.stderr, "progress must not be shown when piped"


def test_compile_commands_decide_what_is_read(project, cache):
    project("src/a.cpp", """\
        #include <torch/torch.h>
        #include "part.h"
        #ifdef WITH_MOVE
        void f(torch::Tensor t) { t.cpu(); }
        #endif
        """)
    project("hidden/part.h", "#pragma once\n")
    commands = [{"directory": str(project.root), "file": "src/a.cpp",
                 "command": "g++ -std=c++17 -O2 -fopenmp -Wall -DWITH_MOVE -Ihidden -c src/a.cpp -o a.o"}]
    project("build/compile_commands.json", json.dumps(commands))
    run = lint("src/a.cpp", cwd=project.root, cache=cache)
    assert run.returncode == 1 and "src/a.cpp:4:27: warning:" in run.stdout, run.stderr
    assert "inferred" not in run.stderr and "part.h" not in run.stderr

    (project.root / "build").rename(project.root / "out")
    without = lint("src/a.cpp", cwd=project.root, cache=cache)
    assert without.returncode == 0 and "flags were inferred" in without.stderr
    by_option = lint("-p", "out", "src/a.cpp", cwd=project.root, cache=cache)
    assert by_option.returncode == 1


def test_missing_headers_cost_their_names_only(project, cache):
    project("a.cpp", """\
        #include <boost/not_there.hpp>
        #include <torch/torch.h>
        boost::thing broken(boost::thing x) { return x; }
        void f(torch::Tensor t) {
          boost::thing y = broken();
          t.cpu();
        }
        """)
    run = lint("a.cpp", "--format", "json", cwd=project.root, cache=cache)
    assert run.returncode == 1, run.stderr
    report = json.loads(run.stdout)
    assert [(f["rule"], f["line"]) for f in report["findings"]] == [("devsan-dropped-move", 6)]
    [file] = report["files"]
    assert file["analysed"] and file["missing_headers"] == ["boost/not_there.hpp"]
    assert 0 < file["broken_statements"] < file["statements"]
    assert "missing headers: boost/not_there.hpp" in run.stderr


def test_file_that_cannot_be_analysed_is_named_and_the_others_reported(project, cache):
    project("broken.cpp", "this is not C++ at all; neither } is ( this\n")
    project("net.cpp", MODEL)
    run = lint("broken.cpp", "net.cpp", cwd=project.root, cache=cache)
    assert run.returncode == 3
    assert "broken.cpp: cannot be analysed: nothing in it could be parsed" in run.stderr
    assert run.stdout.count(" warning: ") == 3
    assert "1 not analysed" in run.stderr


def test_own_headers_are_reported_once_and_foreign_ones_never(project, cache):
    project("net.h", "#pragma once\n" + MODEL)
    project("alone.h", "#pragma once\n#include <torch/torch.h>\ninline void g(torch::Tensor t) { t.cpu(); }\n")
    project("third_party/vendored.h", "#include <torch/torch.h>\ninline void v(torch::Tensor t) { t.cpu(); }\n")
    for name in ("a.cpp", "b.cpp"):
        project(name, '#include "net.h"\n#include "third_party/vendored.h"\n')
    run = lint(".", cwd=project.root, cache=cache)
    places = [line.split(" warning: ")[0] for line in run.stdout.splitlines() if " warning: " in line]
    assert places == ["alone.h:3:34:", "net.h:8:5:", "net.h:9:35:", "net.h:10:37:"]


def forget_results(cache):
    shutil.rmtree(cache / "devsan" / "results")


def test_order_does_not_depend_on_threads(project, cache):
    for i in range(6):
        project(f"net{i}.cpp", MODEL)
    one = lint("-j", "1", ".", cwd=project.root, cache=cache)
    forget_results(cache)
    four = lint("-j", "4", ".", cwd=project.root, cache=cache)
    assert one.stdout == four.stdout and one.stdout.count(" warning: ") == 18


def test_json_and_sarif_say_the_same(project, cache):
    project("net.cpp", MODEL)
    lint("--format", "json", "-o", "out.json", "net.cpp", cwd=project.root, cache=cache)
    lint("--format", "sarif", "-o", "out.sarif", "net.cpp", cwd=project.root, cache=cache)
    report = json.loads((project.root / "out.json").read_text())
    sarif = json.loads((project.root / "out.sarif").read_text())
    assert report["tool"] == "devsan" and sarif["version"] == "2.1.0"
    found = [(f["rule"], f["line"], f["column"], f["end_column"]) for f in report["findings"]]
    assert found == [("devsan-dropped-move", 7, 5, 19), ("devsan-hard-coded-device", 8, 35, 47),
                     ("devsan-hard-coded-device", 9, 37, 60)]
    assert [fix["text"] for f in report["findings"] for fix in f["fixes"]] == [
        "x = ", "x.device()", "x.device()"]
    results = sarif["runs"][0]["results"]
    regions = [r["locations"][0]["physicalLocation"]["region"] for r in results]
    assert [(r["ruleId"], g["startLine"], g["startColumn"], g["endColumn"])
            for r, g in zip(results, regions)] == found
    assert all(r["fixes"] for r in results)


def test_fix_is_done_once_compiles_and_is_then_clean(project, cache):
    net = project("net.cpp", MODEL)
    run = lint("--fix", "net.cpp", cwd=project.root, cache=cache)
    assert run.returncode == 0 and "3 findings (3 fixed)" in run.stderr, run.stderr
    fixed = net.read_text()
    assert "    x = x.contiguous();\n" in fixed
    assert "torch::zeros({2}, x.device());" in fixed
    assert "bias.to(x.device());" in fixed
    again = lint("--fix", "net.cpp", cwd=project.root, cache=cache)
    assert again.returncode == 0 and "0 findings" in again.stderr
    assert net.read_text() == fixed
    include = pathlib.Path(SITE_PACKAGES) / "torch" / "include"
    compiled = subprocess.run(
        ["clang++-22", "-std=c++17", "-fsyntax-only", "-w", "-isystem", include, "-isystem",
         include / "torch/csrc/api/include", net], capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr


def test_fix_leaves_what_it_cannot_fix_as_findings(project, cache):
    project("a.cpp", "#include <torch/torch.h>\nvoid f(const torch::Tensor& t) { t.cpu(); }\n")
    run = lint("--fix", "a.cpp", cwd=project.root, cache=cache)
    assert run.returncode == 1 and "1 finding," in run.stderr


def test_nolint_and_rules_silence(project, cache):
    project("a.cpp", """\
        #include <torch/torch.h>
        void f(torch::Tensor t) {
          t.cpu();  // NOLINT(devsan-dropped-move)
          // NOLINTNEXTLINE(devsan-dropped-move)
          t.cpu();
          t.to(torch::Device("cuda:1"));
        }
        """)
    run = lint("a.cpp", cwd=project.root, cache=cache)
    assert sorted(line.rsplit("[", 1)[1] for line in run.stdout.splitlines() if " warning: " in line) == [
        "devsan-dropped-move]", "devsan-hard-coded-device]"]
    only = lint("--rules=-*,devsan-hard-coded-device", "a.cpp", cwd=project.root, cache=cache)
    assert only.returncode == 1 and "dropped-move" not in only.stdout


def git(folder, *arguments):
    subprocess.run(["git", "-C", folder, "-c", "user.name=n", "-c", "user.email=e", *arguments], check=True,
                   capture_output=True)


DROPS = """\
#include <torch/torch.h>
void f(torch::Tensor t) {
  t.cpu();
}
void g(torch::Tensor t) {
  t.detach();
}
"""


def test_since_reports_changed_and_new_lines_only(project, cache):
    code = project("a.cpp", DROPS)
    git(project.root, "init", "-q")
    git(project.root, "add", "-A")
    git(project.root, "commit", "-q", "-m", "first")
    nothing = lint("--since", "HEAD", "a.cpp", cwd=project.root, cache=cache)
    assert nothing.returncode == 0 and "2 on lines that did not change" in nothing.stderr
    code.write_text(DROPS.replace("t.detach();", "t.contiguous();"))
    changed = lint("--since", "HEAD", "a.cpp", cwd=project.root, cache=cache)
    assert changed.returncode == 1
    assert [line[:8] for line in changed.stdout.splitlines() if " warning: " in line] == ["a.cpp:6:"]
    project("new.cpp", DROPS)
    fresh = lint("--since", "HEAD", "new.cpp", cwd=project.root, cache=cache)
    assert fresh.stdout.count(" warning: ") == 2
    unknown = lint("--since", "no-such-branch", "a.cpp", cwd=project.root, cache=cache)
    assert unknown.returncode == 2 and "'no-such-branch' is not a revision" in unknown.stderr
    assert unknown.stderr.count("\n") == 1


def test_since_outside_a_repository_is_said(project, cache, tmp_path):
    project("a.cpp", DROPS)
    run = lint("--since", "HEAD", "a.cpp", cwd=project.root, cache=cache,
               environment={"GIT_CEILING_DIRECTORIES": str(tmp_path)})
    assert run.returncode == 2 and "is in no git repository" in run.stderr


def test_baseline_survives_moved_lines_and_counts(project, cache):
    code = project("a.cpp", DROPS)
    wrote = lint("--write-baseline", "known.json", "a.cpp", cwd=project.root, cache=cache)
    assert wrote.returncode == 0 and wrote.stdout == "", wrote.stderr
    code.write_text(DROPS.replace("void f", "int unused;\n\nvoid f"))
    moved = lint("--baseline", "known.json", "a.cpp", cwd=project.root, cache=cache)
    assert moved.returncode == 0 and "2 in the baseline" in moved.stderr, moved.stdout
    # The same line once more is a new finding.
    code.write_text(DROPS.replace("  t.cpu();", "  t.cpu();\n  t.cpu();"))
    more = lint("--baseline", "known.json", "a.cpp", cwd=project.root, cache=cache)
    assert more.returncode == 1 and more.stdout.count(" warning: ") == 1
    project("other.json", "{}")
    wrong = lint("--baseline", "other.json", "a.cpp", cwd=project.root, cache=cache)
    assert wrong.returncode == 2 and "is not a file that --write-baseline wrote" in wrong.stderr


def test_suppressions_need_reasons_and_grow_stale(project, cache):
    project("old/a.cpp", DROPS)
    project("rules.txt", """\
        # what we live with
        devsan-dropped-move:old/*.cpp to be removed with the old format
        devsan-unmoved-tensor:old/*.cpp runs on the host
        """)
    run = lint("--suppressions", "rules.txt", ".", cwd=project.root, cache=cache)
    assert run.returncode == 0 and "2 suppressed" in run.stderr
    assert "rules.txt:3: devsan-unmoved-tensor:old/*.cpp runs on the host: suppresses nothing" in run.stderr
    project("rules.txt", "devsan-dropped-move:old/*.cpp\n")
    without = lint("--suppressions", "rules.txt", ".", cwd=project.root, cache=cache)
    assert without.returncode == 2 and "rules.txt:1: " in without.stderr
    assert "is not 'rule:files reason'" in without.stderr


def test_allow_comments_need_reasons_and_grow_stale(project, cache):
    project("a.cpp", """\
        #include <torch/torch.h>
        void f(torch::Tensor t) {
          t.cpu();  // devsan: allow(dropped-move) warms the allocator up
          // devsan: allow(devsan-dropped-move) as above,
          // over two lines
          t.cpu();
          t.cpu();  // devsan: allow(dropped-move)
          t = t.cpu();  // devsan: allow(dropped-move) not needed any more
          t = t.cpu();  // devsan: allow(unmoved-tensor) its rule does not run
        }
        """)
    run = lint("--rules=-*,devsan-dropped-move", "a.cpp", cwd=project.root, cache=cache)
    assert run.returncode == 1
    assert [line[:8] for line in run.stdout.splitlines() if " warning: " in line] == ["a.cpp:7:"]
    assert "a.cpp:7: 'devsan: allow(dropped-move)' has no reason behind it" in run.stderr
    assert "a.cpp:8: 'devsan: allow(dropped-move)' silences nothing any more" in run.stderr
    assert "a.cpp:9" not in run.stderr


def test_findings_of_flow_rules_do_not_depend_on_threads(project, cache):
    for i in range(8):
        project(f"n{i}.cpp", """\
            #include <torch/torch.h>
            struct NetImpl : torch::nn::Module {
              torch::Tensor mask = torch::ones({4});
              torch::Tensor forward(torch::Tensor x) { return x * mask + torch::zeros({x.size(0)}); }
            };
            void f(torch::Tensor x) { torch::cat({x.to(torch::Device("cuda:1")), torch::ones({2})}); }
            """)
    one = lint("-j", "1", "--format", "json", ".", cwd=project.root, cache=cache)
    forget_results(cache)
    eight = lint("-j", "8", "--format", "json", ".", cwd=project.root, cache=cache)
    assert one.stdout == eight.stdout
    rules = [f["rule"] for f in json.loads(one.stdout)["findings"]]
    assert {rule: rules.count(rule) for rule in set(rules)} == {
        "devsan-unregistered-member": 8, "devsan-factory-without-device": 8, "devsan-unmoved-tensor": 8,
        "devsan-hard-coded-device": 8}


def test_function_too_large_to_follow_is_counted(project, cache):
    steps = "  if (flag) y = y + 1;\n" * 3000
    project("a.cpp", f"#include <torch/torch.h>\nvoid f(torch::Tensor y, bool flag) {{\n  y = y.cpu();\n{steps}}}\n")
    run = lint("--format", "json", "a.cpp", cwd=project.root, cache=cache)
    assert run.returncode == 0 and "1 function too large to follow devices through" in run.stderr
    assert json.loads(run.stdout)["files"][0]["functions_over_limit"] == 1


def test_python_extension_is_understood(project, cache):
    project("binding.cpp", """\
        #include <torch/extension.h>
        torch::Tensor move(torch::Tensor x) { x.contiguous(); return x; }
        PYBIND11_MODULE(example, m) { m.def("move", &move, py::arg("x")); }
        """)
    run = lint("binding.cpp", "--format", "json", cwd=project.root, cache=cache)
    report = json.loads(run.stdout)
    assert [f["line"] for f in report["findings"]] == [2]
    assert report["files"][0]["analysed"]


KERNEL = """\
    #include <torch/extension.h>
    #include <ATen/cuda/CUDAContext.h>
    #include <thrust/complex.h>
    #include "scale.cuh"
    torch::Tensor scale(torch::Tensor x) {
      x.contiguous();
      AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "scale", [&] {
        scale_kernel<scalar_t><<<64, 256, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<scalar_t>(), x.numel());
      });
      return x;
    }
    """
KERNEL_HEADER = """\
    #pragma once
    template <typename scalar_t>
    __global__ void scale_kernel(scalar_t* x, int64_t n) {
      __shared__ float tile[32];
      for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) x[i] *= 2;
      __syncthreads();
    }
    """
CUDA_12 = pathlib.Path(__file__).resolve().parents[2] / ".deps/data/cuda-12"


@pytest.mark.parametrize("headers", ["CUDA 13 wheels", "CUDA 12 toolkit", "none"])
def test_cuda_files_are_read(project, cache, tmp_path, headers):
    project("scale.cu", KERNEL)
    project("scale.cuh", KERNEL_HEADER)
    # Set, it keeps a toolkit of this machine out.
    environment = {"CUDA_HOME": str(tmp_path / "no-toolkit")}
    torch = SITE_PACKAGES
    if headers == "CUDA 12 toolkit":
        if not CUDA_12.exists():
            pytest.skip("the headers of CUDA 12 are not in .deps/data: ci/setup fetches them")
        environment["CUDA_HOME"] = str(CUDA_12)
    if headers == "none":
        torch = tmp_path / "site-packages"
        shutil.copytree(pathlib.Path(SITE_PACKAGES, "torch/include"), torch / "torch/include")
    run = lint("--format", "json", "--rules=-*,devsan-dropped-move", "--torch", torch, ".", cwd=project.root,
               cache=cache, torch=False, environment=environment)
    assert run.returncode == 1, run.stderr
    report = json.loads(run.stdout)
    assert [(f["rule"], f["line"]) for f in report["findings"]] == [("devsan-dropped-move", 6)]
    [file] = report["files"]  # the header was read with it
    assert file["functions"] == 2 and file["broken_statements"] == 0, file
    assert file["cuda_headers_missing"] == (headers == "none")
    assert ("no CUDA headers found" in run.stderr) == (headers == "none")
    assert run.stderr.count("no CUDA headers found") <= 1


def test_nvcc_commands_are_understood(project, cache):
    project("src/scale.cpp", KERNEL.replace("scale.cuh", "hidden.cuh"))
    project("include/hidden.cuh", KERNEL_HEADER)
    commands = [{"directory": str(project.root), "file": "src/scale.cpp",
                 "command": "nvcc -gencode arch=compute_80,code=sm_80 -Xcompiler -fPIC --expt-relaxed-constexpr "
                            "-isystem=include -std=c++17 -x cu -c src/scale.cpp -o scale.o"}]
    project("build/compile_commands.json", json.dumps(commands))
    run = lint("--format", "json", "--rules=-*,devsan-dropped-move", "src", cwd=project.root, cache=cache)
    [file] = json.loads(run.stdout)["files"]
    assert file["broken_statements"] == 0 and not file["inferred_flags"], file
    assert [f["line"] for f in json.loads(run.stdout)["findings"]] == [6]


def test_wrong_use_is_one_line_and_exit_2(project, cache):
    project("clean.cpp", CLEAN)
    for arguments, said in (
            (["missing.cpp"], "'missing.cpp' does not exist"),
            (["--unknown", "clean.cpp"], "accepted:"),
            (["--format", "xml", "clean.cpp"], "accepted: text, json, sarif"),
            (["-p", "nowhere", "clean.cpp"], "no compile_commands.json"),
            (["--rules", "x", "clean.cpp"], "accepted: devsan-"),
            (["-o", "no/such/folder/out", "clean.cpp"], "cannot write"),
            ([], "no input")):
        run = lint(*arguments, cwd=project.root, cache=cache)
        assert run.returncode == 2, (arguments, run.stderr)
        assert said in run.stderr and run.stderr.count("\n") == 1, run.stderr


def test_no_torch_is_said_and_exit_2(project, cache, tmp_path):
    project("clean.cpp", CLEAN)
    empty = tmp_path / "bin"
    empty.mkdir()
    run = lint("clean.cpp", cwd=project.root, cache=cache, torch=False, environment={"PATH": str(empty)})
    assert run.returncode == 2
    assert "no LibTorch headers found" in run.stderr and "--torch" in run.stderr
    wrong = lint("clean.cpp", "--torch", empty, cwd=project.root, cache=cache, torch=False)
    assert wrong.returncode == 2 and "no LibTorch headers in" in wrong.stderr


def test_torch_is_found_in_the_active_environment(project, cache):
    project("clean.cpp", CLEAN)
    environment = pathlib.Path(SITE_PACKAGES).parents[2]
    run = lint("clean.cpp", cwd=project.root, cache=cache, torch=False,
               environment={"VIRTUAL_ENV": str(environment)})
    assert run.returncode == 0, run.stderr
    by_root = lint("clean.cpp", cwd=project.root, cache=cache, torch=False,
                   environment={"LIBTORCH": SITE_PACKAGES + "/torch"})
    assert by_root.returncode == 0, by_root.stderr


def test_help_shows_an_example(tmp_path):
    run = subprocess.run([str(LINT), "--help"], capture_output=True, text=True)
    assert run.returncode == 0 and "Example:" in run.stdout
