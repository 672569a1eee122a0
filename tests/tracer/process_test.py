"""How the tracer behaves in processes: without PyTorch, with another PyTorch, over fork, killed, badly set up."""
import json
import os
import shutil
import subprocess
import sys

from tools import PYTHON
from traced import LIB, python_program, traced


def test_processes_without_pytorch_are_left_alone(tmp_path):
    result, findings = traced(["bash", "-c", "env true && echo fine"], tmp_path, simulate=0)
    assert (result.returncode, result.stdout, result.stderr) == (0, "fine\n", "")
    assert findings == []


def test_python_without_pytorch_is_left_alone(tmp_path):
    result, _ = traced([PYTHON, "-c", "print('fine')"], tmp_path, simulate=0)
    assert (result.returncode, result.stdout, result.stderr) == (0, "fine\n", "")


def test_a_clean_program_leaves_a_report_without_findings(tmp_path):
    """Which is how the launcher tells a program that was traced from one that was not."""
    python_program("legal-mixes", tmp_path)
    [report] = (tmp_path / "reports").glob("*")
    assert json.loads(report.read_text())["findings"] == []


def test_another_pytorch_is_refused_in_one_line(tmp_path):
    """A libtorch_cpu.so with the symbol that opens the tracer and another build id."""
    source = tmp_path / "other.c"
    source.write_text('void* step(void* result, unsigned char scope) __asm__("_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE");\n'
                      "void* step(void* result, unsigned char scope) { return result; }\n")
    main = tmp_path / "main.c"
    main.write_text('void* step(void*, unsigned char) __asm__("_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE");\n'
                    "#include <stdio.h>\nint main(void) { step(0, 0); step(0, 0); puts(\"goes on\"); return 0; }\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "version.py").write_text("__version__ = '2.99.0+cu130'\n")
    compiler = shutil.which("gcc")
    subprocess.run([compiler, "-shared", "-fPIC", "-Wl,--build-id=0xabcdef0123456789", "-Wl,-soname,libtorch_cpu.so",
                    source, "-o", tmp_path / "lib" / "libtorch_cpu.so"], check=True)
    subprocess.run([compiler, main, "-o", tmp_path / "main", f"-L{tmp_path / 'lib'}", "-ltorch_cpu",
                    f"-Wl,-rpath,{tmp_path / 'lib'}"], check=True)
    result, _ = traced([tmp_path / "main"], tmp_path, simulate=0)
    assert (result.returncode, result.stdout) == (0, "goes on\n")
    assert result.stderr.count("\n") == 1, result.stderr
    assert "2.99.0+cu130" in result.stderr and "abcdef0123456789" in result.stderr
    assert "2.11" in result.stderr and "goes on untraced" in result.stderr


def test_bad_options_are_one_line_and_the_program_goes_on(tmp_path):
    result, _ = traced([PYTHON, "-c", "import torch; print(int(torch.ones(1)))"], tmp_path, simulate=0,
                       env={"DEVSAN_OPTIONS": "origins=7"})
    assert (result.returncode, result.stdout) == (0, "1\n")
    said = [line for line in result.stderr.splitlines() if line.startswith("DevSan")]
    assert len(said) == 1 and "origins" in said[0] and "untraced" in said[0]


def test_finding_of_a_killed_process_is_there(tmp_path):
    program = ("import os, signal, torch\n"
               "try: torch.ones(2, device='cuda:0') + torch.ones(2)\n"
               "except RuntimeError: os.kill(os.getpid(), signal.SIGKILL)\n")
    result, findings = traced([PYTHON, "-c", program], tmp_path)
    assert result.returncode == -9
    assert len(findings) == 1


def test_forked_child_reports_for_itself(tmp_path):
    """CUDA cannot be used in a child once the parent has: the child comes first."""
    program = ("import os, torch\n"
               "def fault():\n"
               "    try: torch.ones(2, device='cuda:0') + torch.ones(2)\n"
               "    except RuntimeError: pass\n"
               "torch.ones(3).add_(1)\n"
               "child = os.fork()\n"
               "fault()\n"
               "if child == 0: os._exit(0)\n"
               "os.waitpid(child, 0)\n")
    result, findings = traced([PYTHON, "-c", program], tmp_path)
    assert result.returncode == 0, result.stderr
    assert len(findings) == 2
    assert len(list((tmp_path / "reports").glob("*.json"))) == 2
    assert not list((tmp_path / "reports").glob("*.part"))


def test_trace_ops_0_sees_nothing(tmp_path):
    _, findings = python_program("caught", tmp_path, "trace_ops=0")
    assert findings == []


def test_verbose_says_what_runs(tmp_path):
    result, _ = python_program("caught", tmp_path, "verbose=1")
    assert "tracing PyTorch 2.11" in result.stderr
    if sys.version_info[:2] == (3, 11):
        assert "without the GIL" in result.stderr


def test_preloaded_library_needs_neither_pytorch_nor_libstdcpp():
    needed = subprocess.run(["readelf", "-d", LIB / "libdevsan_preload.so"], capture_output=True, text=True, check=True).stdout
    assert "libstdc++" not in needed and "torch" not in needed
    assert os.path.exists(LIB / "libdevsan_preload.so")
