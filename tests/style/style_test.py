"""The house's own rules: arrows between rooms point one way, files say what they are, layout is clang-format's."""
import re
import shutil
import subprocess

import pytest

from tools import SOURCE

OURS = ("findings", "analyzer", "runtime_hooks", "reference_models", "cli", "tests")
CODE = sorted(path for room in OURS for suffix in ("*.cpp", "*.h", "*.c") for path in (SOURCE / room).rglob(suffix))

# What a room must not include: it would turn an arrow around.
FORBIDDEN = {
    "findings": r"torch/|ATen/|c10/|clang/|llvm/",
    "cli": r"torch/|ATen/|c10/|clang/|llvm/",
    "analyzer": r"torch/|ATen/|c10/",
    "runtime_hooks": r"clang/|llvm/",
    "reference_models": r"devsan/|clang/|llvm/",
}


@pytest.mark.parametrize("room", FORBIDDEN)
def test_arrows_point_one_way(room):
    include = re.compile(rf'^\s*#\s*include\s*[<"]({FORBIDDEN[room]})', re.M)
    wrong = [str(path.relative_to(SOURCE)) for path in CODE
             if path.is_relative_to(SOURCE / room) and include.search(path.read_text())]
    assert not wrong


def test_every_file_says_what_it_is():
    silent = [str(path.relative_to(SOURCE)) for path in CODE
              if not path.read_text().startswith(("// ", "/* ")) and "fixtures" not in path.parts]
    assert not silent


def test_layout_is_clang_formats():
    formatter = shutil.which("clang-format-22")
    assert formatter, "clang-format-22 is missing; ci/setup installs it"
    files = [str(path) for path in CODE if "fixtures" not in path.parts]
    result = subprocess.run([formatter, "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[:3000]


def test_lines_named_in_the_table_of_programs_are_there():
    named = re.findall(r"`([\w./-]+):(\d+)` `(.*?)` \|", (SOURCE / "docs" / "programs.md").read_text())
    assert len(named) > 20
    for file, line, text in named:
        assert text.replace("\\|", "|") in (SOURCE / file).read_text().splitlines()[int(line) - 1], (
            f"docs/programs.md: {file}:{line} is another line now; tests/benchmarks/programs.py prints the table")
