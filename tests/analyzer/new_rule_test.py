"""ci/new-rule makes a rule's files, and puts it into the lists in their order."""
import re
import shutil
import subprocess

import pytest

from tools import SOURCE


@pytest.fixture
def copy(tmp_path):
    for name in ("analyzer", "findings", "docs/rules", "tests/analyzer"):
        shutil.copytree(SOURCE / name, tmp_path / name)
    (tmp_path / "ci").mkdir()
    shutil.copy(SOURCE / "ci" / "new-rule", tmp_path / "ci")
    return tmp_path


def make(copy, *arguments):
    return subprocess.run([copy / "ci" / "new-rule", *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("rule", ["aa-first", "mm-middle", "zz-last"])
def test_files_are_made_and_lists_stay_in_order(copy, rule):
    run = make(copy, rule, "what it finds")
    assert run.returncode == 0, run.stderr
    snake = rule.replace("-", "_")
    for path in (f"analyzer/checks/{snake}.h", f"analyzer/checks/{snake}.cpp", f"tests/analyzer/{snake}_test.cpp",
                 f"docs/rules/{rule}.md"):
        assert (copy / path).is_file()
    catalogue = (copy / "findings/src/catalogue.cpp").read_text()
    ids = re.findall(r'^    \{"([a-z-]+)", Half::kLint', catalogue, re.M)
    assert rule in ids and ids == sorted(ids)
    sources = re.findall(r"^  checks/([a-z_]+)\.cpp", (copy / "analyzer/CMakeLists.txt").read_text(), re.M)
    assert snake in sources and sources == sorted(sources)
    rule_set = (copy / "analyzer/checks/rule_set.cpp").read_text()
    entries = re.findall(r'^    \{"devsan-([a-z-]+)"', rule_set, re.M)
    assert rule in entries and f"std::array<Entry, {len(entries)}>" in rule_set


def test_a_rule_that_is_there_is_not_overwritten(copy):
    run = make(copy, "dropped-move", "again")
    assert run.returncode != 0 and "is there already" in run.stderr


def test_wrong_use_is_one_line(copy):
    for arguments in ((), ("Bad_Name", "x"), ("good-name", "")):
        run = make(copy, *arguments)
        assert run.returncode == 2 and run.stderr.startswith("usage: ci/new-rule") and run.stderr.count("\n") == 1
