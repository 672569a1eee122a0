"""devsan-lint and what stands around it: .clang-tidy, stock clang-tidy over its PCH, signals, read-only files."""
import json
import os
import signal
import subprocess
import time

from linting import BUILD, LINT, SITE_PACKAGES, lint

DROPS = """\
#include <torch/torch.h>
torch::Tensor f(torch::Tensor t) {
  t.cpu();
  return t.to(torch::Device("cuda:1"));
}
"""


def heads(run):
    lines = [line for line in run.stdout.splitlines() if ": note: " not in line and "[devsan-" in line]
    return [(line.split(":")[0], line.split(": ")[1], line.rsplit("[devsan-", 1)[1][:-1]) for line in lines]


BOTH = [("a.cpp", "warning", "dropped-move"), ("a.cpp", "warning", "hard-coded-device")]


def test_nearest_clang_tidy_file_decides_and_rules_win(project, cache):
    project("a.cpp", DROPS)
    project("sub/a.cpp", DROPS)

    def run(*arguments, file="a.cpp"):
        return heads(lint(file, *arguments, cwd=project.root, cache=cache))

    assert run() == BOTH
    project(".clang-tidy", "Checks: '-*,bugprone-*'\n")
    assert run() == BOTH, "it does not speak of devsan"
    project(".clang-tidy", "Checks: '-*,bugprone-*,devsan-dropped-move'\n")
    assert run() == BOTH[:1]
    assert run("--rules=devsan-hard-coded-device") == BOTH
    assert run("--rules=-devsan-dropped-move") == []
    project("sub/.clang-tidy", "Checks: '-devsan-dropped-move'\n")
    assert [rule for _, _, rule in run(file="sub/a.cpp")] == ["hard-coded-device"]
    project("sub/.clang-tidy", "InheritParentConfig: true\nChecks: 'devsan-hard-coded-device'\n")
    assert len(run(file="sub/a.cpp")) == 2
    assert len(run(file="a.cpp")) == 1, "each file has its own"


def test_warnings_as_errors_and_check_options(project, cache):
    project("a.cpp", DROPS + "int main() { torch::Device d(torch::kCUDA, 1); f(torch::ones({1}, d)); }\n")
    plain = heads(lint("a.cpp", cwd=project.root, cache=cache))
    project(".clang-tidy", "WarningsAsErrors: 'devsan-dropped-*'\nCheckOptions:\n"
                           "  devsan-hard-coded-device.SetUpAndTests: true\n")
    run = lint("a.cpp", cwd=project.root, cache=cache)
    assert run.returncode == 1
    assert ("a.cpp", "error", "dropped-move") in heads(run)
    assert ("a.cpp", "warning", "hard-coded-device") in heads(run)
    assert " note: " in run.stdout and len(heads(run)) == len(plain)
    with_set_up = lint("a.cpp", "--format", "json", cwd=project.root, cache=cache)
    levels = [finding["level"] for finding in json.loads(with_set_up.stdout)["findings"]]
    assert "note" in levels


def test_broken_clang_tidy_file_is_named_and_exit_2(project, cache):
    project("a.cpp", DROPS)
    for text, said in (("Checks: [\n", ".clang-tidy:1: "), ("Chekcs: x\n", ".clang-tidy:1: unknown key"),
                       ("Checks: 'devsan-no-such'\n", "no rule matches 'devsan-no-such'; accepted: ")):
        project(".clang-tidy", text)
        run = lint("a.cpp", cwd=project.root, cache=cache)
        assert run.returncode == 2 and said in run.stderr and run.stderr.count("\n") == 1, run.stderr


def test_stock_clang_tidy_uses_the_pch(project, cache):
    project("a.cpp", DROPS)
    include = SITE_PACKAGES + "/torch/include"
    flags = f"-std=c++17 -O2 -fPIC -fopenmp -isystem {include} -isystem {include}/torch/csrc/api/include"
    project("build/compile_commands.json", json.dumps([
        {"directory": str(project.root), "file": "a.cpp", "command": f"g++ {flags} -c a.cpp"}]))
    printed = lint("--print-pch-flags", "a.cpp", cwd=project.root, cache=cache)
    assert printed.returncode == 0, printed.stderr
    arguments = printed.stdout.split()
    assert all(argument.startswith("--extra-arg=") for argument in arguments)
    command = ["clang-tidy-22", "-load", BUILD / "lib" / "libDevsanTidy.so", "-checks=-*,devsan-*", "--quiet"]
    run = subprocess.run([*command, *arguments, "-p", "build", "a.cpp"], cwd=project.root, capture_output=True, text=True)
    assert "a.cpp:3:3: warning: " in run.stdout and "[devsan-dropped-move]" in run.stdout, run.stdout + run.stderr
    assert "error" not in run.stdout + run.stderr
    trace = subprocess.run([*command, *arguments, "--extra-arg=-H", "-p", "build", "a.cpp"], cwd=project.root,
                           capture_output=True, text=True)
    assert "ATen/core/TensorBody.h" not in trace.stdout + trace.stderr


def test_print_pch_flags_refuses_what_it_cannot_answer(project, cache):
    project("a.cpp", DROPS)
    project("b.cpp", "#include <torch/extension.h>\n")
    mixed = lint("--print-pch-flags", ".", cwd=project.root, cache=cache)
    assert mixed.returncode == 2 and "need different PCHs" in mixed.stderr and mixed.stdout == ""
    without = lint("--print-pch-flags", "--no-cache", "a.cpp", cwd=project.root, cache=cache)
    assert without.returncode == 2 and "cannot be used together" in without.stderr


def test_interrupt_ends_with_130_and_leaves_nothing(project, tmp_path):
    project("a.cpp", DROPS)
    out = project("out.json", "what was there")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    run = subprocess.Popen([str(LINT), "--no-cache", "--torch", SITE_PACKAGES, "-o", "out.json", "a.cpp"],
                           cwd=project.root, env={"PATH": os.environ["PATH"], "TMPDIR": str(temporary)},
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not any(temporary.glob("*/*.h")):  # then it parses LibTorch's headers
        assert run.poll() is None
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    stdout, stderr = run.communicate(timeout=60)
    assert (run.returncode, stdout, stderr) == (130, "", "devsan lint: interrupted\n")
    assert list(temporary.iterdir()) == [] and out.read_text() == "what was there"


def test_fix_leaves_a_read_only_file_alone_and_says_so(project, cache):
    code = project("a.cpp", DROPS)
    code.chmod(0o444)
    run = lint("--fix", "a.cpp", cwd=project.root, cache=cache)
    assert run.returncode == 2
    assert run.stderr == f"devsan lint: --fix: '{code}' cannot be written; nothing in it was changed\n"
    assert code.read_text() == DROPS


def test_fix_keeps_line_ends_and_letters_and_is_made_once_in_a_header(project, cache):
    header = project("part.h", "")
    header.write_bytes("#pragma once\r\n#include <torch/torch.h>\r\n"
                       "inline void g(torch::Tensor t) {\r\n  /* übung → */ t.cpu();\r\n}\r\n".encode())
    for name in ("a.cpp", "b.cpp"):
        project(name, '#include "part.h"\n')
    run = lint("--fix", ".", cwd=project.root, cache=cache)
    assert run.returncode == 0, run.stdout + run.stderr
    assert header.read_bytes().decode() == (
        "#pragma once\r\n#include <torch/torch.h>\r\n"
        "inline void g(torch::Tensor t) {\r\n  /* übung → */ t = t.cpu();\r\n}\r\n")
