"""The rules in the stock clang-tidy, by -load: findings, notes, fixes, NOLINT, options, against mock_torch."""
import pathlib
import shutil
import subprocess

import pytest

from tools import BUILD, LLVM_MAJOR, one_line

CLANG_TIDY = f"clang-tidy-{LLVM_MAJOR}"
OTHER_MAJOR = "19" if LLVM_MAJOR == "22" else "22"
PLUGIN = BUILD / "lib" / "libDevsanTidy.so"
MOCK = pathlib.Path(__file__).parent / "mock_torch"
FLAGS = ["-std=c++20", "-nostdinc", "-nostdinc++", "-I", str(MOCK)]

CODE = """\
#include <torch/torch.h>
struct Net : torch::nn::Module {
  torch::Tensor mask = torch::ones({4});
  torch::Tensor forward(torch::Tensor x) { return x * mask; }
};
void f(torch::Tensor x) {
  x.to(torch::Device("cuda:0"));
  x.cpu();  // NOLINT(devsan-dropped-move)
}
int main() { torch::Device d("cuda:0"); }
"""


def tidy(folder, *options, checks="-*,devsan-*"):
    assert shutil.which(CLANG_TIDY), f"{CLANG_TIDY} is missing; ci/setup installs it"
    command = [CLANG_TIDY, "-load", PLUGIN, "--quiet", f"-checks={checks}", *options, "a.cpp", "--", *FLAGS]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.cpp").write_text(CODE)
    return tmp_path


def findings(run):
    heads = [line for line in run.stdout.splitlines() if " warning: " in line or " error: " in line]
    return sorted((int(head.split(":")[1]), head.rsplit("[", 1)[1].rstrip("]")) for head in heads)


def test_every_lint_rule_is_a_check(tmp_path):
    listed = subprocess.run([CLANG_TIDY, "-load", PLUGIN, "--list-checks", "-checks=-*,devsan-*"],
                            capture_output=True, text=True, timeout=120)
    names = {line.strip() for line in listed.stdout.splitlines() if line.strip().startswith("devsan-")}
    explained = subprocess.run([BUILD / "bin" / "devsan", "explain"], capture_output=True, text=True)
    rules = {word for line in explained.stdout.splitlines() for word in line.split()[:2]
             if word.startswith("devsan-")}
    assert names == rules - {"devsan-frozen-device"} and "devsan-unmoved-tensor" in names


def test_findings_and_notes(folder):
    run = tidy(folder)
    assert findings(run) == [(3, "devsan-unregistered-member"), (7, "devsan-dropped-move"),
                             (7, "devsan-hard-coded-device")], run.stderr
    assert "a.cpp:3:24: note: made here" in run.stdout


def test_one_check_alone_and_as_an_error(folder):
    run = tidy(folder, "--warnings-as-errors=*", checks="-*,devsan-dropped-move")
    assert run.returncode != 0
    assert findings(run) == [(7, "devsan-dropped-move,-warnings-as-errors")]


def test_option_of_a_check(folder):
    run = tidy(folder, "--config={CheckOptions: {devsan-hard-coded-device.SetUpAndTests: 'true'}}",
               checks="-*,devsan-hard-coded-device")
    assert (10, "devsan-hard-coded-device") in findings(run)


def test_fixes(folder):
    tidy(folder, "--fix", checks="-*,devsan-dropped-move,devsan-unregistered-member")
    fixed = (folder / "a.cpp").read_text()
    assert 'torch::Tensor mask = register_buffer("mask", torch::ones({4}));' in fixed
    assert '  x = x.to(torch::Device("cuda:0"));\n' in fixed


@pytest.mark.parametrize("line", ["x.cpu();  // devsan: allow(dropped-move) warms the allocator up",
                                  "x.cpu();  // NOLINT", "x.cpu();"])
def test_allow_comments_are_honoured(tmp_path, line):
    (tmp_path / "a.cpp").write_text(f"#include <torch/torch.h>\nvoid f(torch::Tensor x) {{\n  {line}\n}}\n")
    assert findings(tidy(tmp_path)) == ([] if "//" in line else [(3, "devsan-dropped-move")])


def test_clang_tidy_of_another_llvm_is_refused_in_one_line(folder):
    other = f"clang-tidy-{OTHER_MAJOR}"
    assert shutil.which(other), f"{other} is missing; ci/setup installs it"
    run = subprocess.run([other, "-load", PLUGIN, "-checks=-*,devsan-*", "a.cpp", "--", *FLAGS], cwd=folder,
                         capture_output=True, text=True, timeout=120)
    assert run.returncode == 1 and run.stdout == ""
    assert one_line(run.stderr).startswith(
        f"DevSan's checks are built for clang-tidy {LLVM_MAJOR}; this is {OTHER_MAJOR}.")
