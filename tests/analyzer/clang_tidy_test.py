"""The rules in the stock clang-tidy, by -load: findings, notes, fixes, NOLINT, options, against mock_torch."""
import os
import pathlib
import shutil
import subprocess

import pytest

BUILD = pathlib.Path(os.environ["DEVSAN_BUILD"])
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
    program = shutil.which("clang-tidy-22")
    assert program, "clang-tidy-22 is missing; ci/setup installs it"
    command = [program, "-load", PLUGIN, "--quiet", f"-checks={checks}", *options, "a.cpp", "--", *FLAGS]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.cpp").write_text(CODE)
    return tmp_path


def findings(run):
    heads = [line for line in run.stdout.splitlines() if " warning: " in line or " error: " in line]
    return sorted((int(head.split(":")[1]), head.rsplit("[", 1)[1].rstrip("]")) for head in heads)


def test_every_lint_rule_is_a_check(tmp_path):
    listed = subprocess.run(["clang-tidy-22", "-load", PLUGIN, "--list-checks", "-checks=-*,devsan-*"],
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
