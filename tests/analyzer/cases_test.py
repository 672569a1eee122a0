"""Faults as they stand in real programs, and their fixes: what lint finds of them, on LibTorch's real headers.

Each file of cases/ is a small program, or several after lines `//--- name`. `#ifdef FIXED` tells the faulty form from
the fixed one. In the faulty form `// fault: rule` marks the line of each finding that is expected, `// missed: rule`
one that ought to be there and is not yet; the fixed form must be clean.
"""
import json
import os
import pathlib
import re
import subprocess
import sysconfig

import pytest

LINT = pathlib.Path(os.environ["DEVSAN_BUILD"]) / "bin" / "devsan-lint"
CASES = sorted(path for path in (pathlib.Path(__file__).parent / "cases").iterdir() if path.suffix in (".cpp", ".cu"))
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "cases.md"
MARK = re.compile(r"// (fault|missed): ([a-z-]+)")


def form(text, fixed):
    """One form of a case; lines keep their numbers."""
    kept, active = [], [True]
    for line in text.split("\n"):
        directive = line.strip()
        if directive in ("#ifdef FIXED", "#ifndef FIXED"):
            active.append(fixed == directive.startswith("#ifdef"))
        elif directive == "#else" and len(active) > 1:
            active[-1] = not active[-1]
        elif directive == "#endif" and len(active) > 1:
            active.pop()
        else:
            kept.append(line if active[-1] else "")
            continue
        kept.append("")
    return "\n".join(kept)


def files(case, text):
    """(name, text) of each file of a case; lines keep their numbers."""
    parts = re.split(r"^//--- (\S+)$", text, flags=re.M)
    if len(parts) == 1:
        return [(case.name, text)]
    result, above = [], parts[0].count("\n")
    for name, part in zip(parts[1::2], parts[2::2]):
        result.append((name, "\n" * above + part))
        above += part.count("\n")
    return result


def marks(case, kind):
    lines = form(case.read_text(), fixed=False).split("\n")
    return sorted((number, mark[1]) for number, line in enumerate(lines, 1)
                  for mark in MARK.findall(line) if mark[0] == kind)


@pytest.fixture(scope="session")
def findings(tmp_path_factory):
    """{(form, case): [(line, rule)]}, from one run over all files."""
    root = tmp_path_factory.mktemp("cases")
    (root / "setup.py").write_text("")
    for case in CASES:
        for name, fixed in (("faulty", False), ("fixed", True)):
            folder = root / name / case.stem
            folder.mkdir(parents=True)
            for file, text in files(case, form(case.read_text(), fixed)):
                (folder / file).write_text(text)
    command = [LINT, "--torch", sysconfig.get_paths()["purelib"], "--format", "json", "-o", "out.json", "faulty", "fixed"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(root), "XDG_CACHE_HOME": str(root / "cache")}
    run = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=500)
    assert run.returncode in (1, 3), run.stderr  # 3: a CUDA file, or a header, that this machine has no use for
    result = {}
    for finding in json.loads((root / "out.json").read_text())["findings"]:
        name, case = pathlib.PurePath(finding["file"]).parts[-3:-1]
        result.setdefault((name, case), []).append((finding["line"], finding["rule"].removeprefix("devsan-")))
    return {key: sorted(value) for key, value in result.items()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_faulty_form_has_its_findings_and_no_others(case, findings):
    assert findings.get(("faulty", case.stem), []) == marks(case, "fault"), (
        "what is marked `missed` and found now is marked `fault`, and leaves docs/cases.md")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_fixed_form_is_clean(case, findings):
    assert findings.get(("fixed", case.stem), []) == []


def test_page_lists_what_is_missed():
    listed = re.findall(r"^\| `(\w+)` \| .+ \|$", PAGE.read_text(), flags=re.M)
    assert sorted(listed) == sorted(case.stem for case in CASES if marks(case, "missed"))
