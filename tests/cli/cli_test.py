"""`devsan`: help, wrong use, explain, report, doctor."""
import re

import pytest

from tools import SOURCE, devsan, one_line


def test_version_and_help():
    assert re.fullmatch(r"devsan \d+\.\d+\.\d+\n", devsan("--version").stdout)
    result = devsan("--help")
    assert result.returncode == 0 and "Example: devsan run --simulate 2 -- python train.py" in result.stdout


@pytest.mark.parametrize("arguments, words", [
    (["frobnicate"], "'frobnicate' is not a command; there are lint, clangd, run, explain, report, doctor"),
    (["explain", "no-such-rule"], "there is no rule 'no-such-rule'; there are devsan-"),
    (["explain", "a", "b"], "explain takes one rule"),
    (["report", "missing.json"], "cannot read 'missing.json'"),
    (["report", "missing.json", "-o", "x.pdf"], "give .json, .sarif, .html or .txt"),
    (["report", "in.json", "--frobnicate"], "--frobnicate"),
    (["doctor", "now"], "doctor takes no arguments"),
])
def test_wrong_use_is_one_line_and_exit_2(arguments, words, tmp_path):
    result = devsan(*arguments, cwd=tmp_path)
    assert result.returncode == 2 and result.stdout == ""
    assert words in one_line(result.stderr)


def test_every_rule_is_explained_by_its_page():
    listed = re.findall(r"^(?:error|warning|note) +(\S+)", devsan("explain").stdout, re.M)
    assert listed
    for rule in listed:
        result = devsan("explain", rule)
        page = SOURCE / "docs" / "rules" / (rule.removeprefix("devsan-") + ".md")
        # A name that both halves have is the page of run; lint's says so in its own name.
        of_lint = page.with_name(page.stem + "-lint.md")
        if rule.startswith("devsan-") and of_lint.exists():
            page = of_lint
        assert result.returncode == 0 and result.stdout == page.read_text()


def test_a_report_that_is_none_is_refused(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    result = devsan("report", "x.json", cwd=tmp_path)
    assert result.returncode == 2 and "'x.json' is not a report of DevSan" in one_line(result.stderr)


def test_doctor_says_what_is_here():
    result = devsan("doctor")
    assert result.returncode == 0
    for what in ("hooks", "torch", "GPUs", "simulator", "lint", "clangd", "clang-tidy", "addr2line"):
        assert re.search(rf"^{what} ", result.stdout, re.M), result.stdout
