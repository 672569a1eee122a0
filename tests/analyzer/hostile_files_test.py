"""Files and folders that a linter must live through: what cannot be opened, what vanishes, what never ends."""
import os
import pathlib
import random
import shutil
import subprocess
import sysconfig
import time

import pytest

BUILD = pathlib.Path(os.environ["DEVSAN_BUILD"])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
SITE_PACKAGES = sysconfig.get_paths()["purelib"]
DROPPED = "#include <torch/torch.h>\nvoid f(torch::Tensor x) { x.cuda(); }\n"


ENVIRONMENT = {**os.environ, "XDG_CACHE_HOME": str(BUILD / "tests" / "cache")}


def command(*arguments):
    return [str(BUILD / "bin" / "devsan-lint"), "--torch", SITE_PACKAGES, *map(str, arguments)]


def lint(folder, *arguments, timeout=100):
    return subprocess.run(command(*(arguments or ["."])), cwd=folder, env=ENVIRONMENT, capture_output=True, text=True,
                          timeout=timeout, errors="replace")


@pytest.fixture(scope="session", autouse=True)
def header_pch(tmp_path_factory):
    """Made before anything is timed."""
    folder = tmp_path_factory.mktemp("first")
    (folder / "setup.py").touch()
    (folder / "a.cpp").write_text(DROPPED)
    assert lint(folder, timeout=300).returncode == 1


@pytest.fixture
def project(tmp_path):
    (tmp_path / "setup.py").touch()
    (tmp_path / "good.cpp").write_text(DROPPED)
    return tmp_path


def found_in_good(run):
    return "good.cpp:2:" in run.stdout and "[devsan-dropped-move]" in run.stdout


def test_links_that_lead_in_circles_and_nowhere(project):
    (project / "above").symlink_to(project, target_is_directory=True)
    (project / "below").mkdir()
    (project / "below" / "up").symlink_to(project, target_is_directory=True)
    (project / "itself.cpp").symlink_to(project / "itself.cpp")
    (project / "nowhere.cpp").symlink_to(project / "gone.cpp")
    run = lint(project)
    assert run.stdout.count("[devsan-dropped-move]") == 1 and found_in_good(run), run.stdout + run.stderr


def test_what_is_called_a_source_file_and_is_none(project):
    (project / "folder.cpp").mkdir()
    os.mkfifo(project / "pipe.cpp")  # opening it would wait for a writer for ever
    run = lint(project)
    assert found_in_good(run), run.stderr


def test_a_named_pipe_given_by_name_is_refused(project):
    os.mkfifo(project / "pipe.cpp")
    run = lint(project, "pipe.cpp")
    assert run.returncode == 2 and "pipe.cpp" in run.stderr and run.stderr.count("\n") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read(project):
    (project / "secret.cpp").write_text(DROPPED)
    (project / "secret.cpp").chmod(0)
    run = lint(project)
    assert run.returncode == 3 and "secret.cpp" in run.stderr and found_in_good(run)


def test_files_that_vanish_while_others_are_read(project):
    files = [project / f"will_go{i:03}.cpp" for i in range(300)]
    for file in files:
        file.write_text(DROPPED)
    run = subprocess.Popen(command(".", "-j", "1"), cwd=project, env=ENVIRONMENT, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    # Once LibTorch's headers are mapped the list of files stands, and the first of them are read.
    while ".pch" not in pathlib.Path(f"/proc/{run.pid}/maps").read_text():
        assert run.poll() is None, "it ended before a file could go"
        time.sleep(0.005)
    for file in reversed(files):
        file.unlink()
    stdout, stderr = run.communicate(timeout=100)
    gone = stderr.count("cannot be analysed")
    assert run.returncode == 3 and gone > 0, stderr
    assert "crash" not in stderr
    assert gone + stdout.count("[devsan-dropped-move]") == len(files) + 1


def test_what_includes_itself(project):
    (project / "a.cpp").write_text('#include "a.cpp"\n' + DROPPED)
    (project / "b.h").write_text('#include "c.h"\nvoid b();\n')
    (project / "c.h").write_text('#include "b.h"\nvoid c();\n')
    run = lint(project, "-j", "1", ".")
    assert found_in_good(run) and run.stdout.count("/a.cpp:3:") + run.stdout.count("a.cpp:3:") >= 1, run.stdout


def test_code_that_runs_clang_over_its_stack_costs_its_file_alone(project):
    (project / "deep.cpp").write_text("int f(int x) { return " + "!" * 2_000_000 + "x; }\n")
    run = lint(project, "-j", "2", ".")
    assert run.returncode == 3 and found_in_good(run), run.stderr
    assert "deep.cpp: cannot be analysed: clang crashed" in run.stderr


def test_headers_that_run_clang_over_its_stack_are_said_and_hang_nothing(project):
    torch = project / "libtorch" / "include"
    (torch / "ATen").mkdir(parents=True)
    (torch / "ATen" / "ATen.h").touch()
    api = torch / "torch" / "csrc" / "api" / "include" / "torch"
    api.mkdir(parents=True)
    (api / "torch.h").write_text("int deep = " + "!" * 2_000_000 + "1;\n")
    for name in ("a", "b", "c"):
        (project / f"{name}.cpp").write_text(DROPPED)
    run = subprocess.run([str(BUILD / "bin" / "devsan-lint"), "--torch", str(torch.parent), "-j", "2", "a.cpp", "b.cpp",
                          "c.cpp"], cwd=project, env=ENVIRONMENT, capture_output=True, text=True, timeout=100)
    assert run.returncode == 3, run.stderr
    for name in ("a", "b", "c"):
        assert f"{name}.cpp: cannot be analysed: clang crashed while it parsed LibTorch's headers" in run.stderr


def test_code_that_is_nested_too_deep_is_named_with_its_line(project):
    (project / "deep.cpp").write_text("int a;\nint f() { return 1" + " + 1" * 50_000 + "; }\n")
    run = lint(project)
    assert run.returncode == 3 and found_in_good(run), run.stderr
    assert "deep.cpp: cannot be analysed: code is nested too deep to be followed, in line 2" in run.stderr


def test_other_encodings_are_named(project):
    (project / "wide.cpp").write_bytes(DROPPED.encode("utf-16"))
    run = lint(project)
    assert run.returncode == 3 and found_in_good(run) and "UTF-16" in run.stderr


def test_a_huge_line(project):
    (project / "line.cpp").write_text("#include <torch/torch.h>\n/*" + " " * 5_000_000 + "*/ void f(torch::Tensor x) { x.cuda(); }\n")
    run = lint(project)
    assert run.returncode == 1 and run.stdout.count("[devsan-dropped-move]") == 2
    assert len(run.stdout) < 1_000_000, "an excerpt must not quote a line of megabytes"


def test_real_sources_cut_anywhere_on_real_headers(tmp_path):
    """With the headers the code means, so that what is whole before the cut is understood."""
    shutil.copytree(SOURCE / "reference_models", tmp_path / "models")
    (tmp_path / "models" / "setup.py").touch()
    files = sorted((tmp_path / "models").rglob("*.cpp"))
    chance = random.Random(7)
    for file in files:
        text = file.read_bytes()
        file.write_bytes(text[:chance.randrange(len(text))])
    run = lint(tmp_path / "models", timeout=280)
    assert run.returncode in (0, 1, 3), run.stderr
    assert "crash" not in run.stderr, run.stderr
