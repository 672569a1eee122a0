"""The cache of devsan-lint: what is kept, what makes it stale, damage, several runs at once, its size."""
import os
import subprocess

import pytest

from linting import LINT, SITE_PACKAGES, lint

DROPS = """\
#include <torch/torch.h>
#include "part.h"
void f(torch::Tensor t) {
  t.cpu();
  helper(t);
}
"""
PART = """\
#pragma once
inline void helper(torch::Tensor& t) { t.detach(); }
"""


def pchs(cache):
    return sorted((cache / "devsan" / "headers").glob("*.pch"))


def entries(cache):
    return sorted((cache / "devsan" / "results").iterdir())


def places(run):
    return [line.split(" warning: ")[0] for line in run.stdout.splitlines() if " warning: " in line]


@pytest.fixture(scope="module")
def headers(tmp_path_factory):
    """A cache with LibTorch's headers in it."""
    folder = tmp_path_factory.mktemp("headers")
    (folder / "a.cpp").write_text("#include <torch/torch.h>\n")
    lint("a.cpp", cwd=folder, cache=folder)
    return folder


@pytest.fixture
def warm(headers):
    """That cache, without results."""
    for entry in entries(headers):
        entry.unlink()
    return headers


def test_second_run_knows_the_results_of_the_first(project, warm):
    project("a.cpp", DROPS)
    project("part.h", PART)
    formats = (["--format", "text"], ["--format", "json"], ["--format", "sarif"])
    first = [lint(".", *format, cwd=project.root, cache=warm) for format in formats[:1]]
    assert first[0].returncode == 1 and "earlier run" not in first[0].stderr
    fresh = [lint(".", "--no-cache", *format, cwd=project.root, cache=warm) for format in formats]
    known = [lint(".", *format, cwd=project.root, cache=warm) for format in formats]
    assert [run.stdout for run in known] == [run.stdout for run in fresh]
    assert all(run.returncode == 1 and "1 file known from an earlier run" in run.stderr for run in known)
    assert places(known[0]) == ["a.cpp:4:3:", "part.h:2:40:"]


def test_each_thing_that_a_result_depends_on_makes_it_stale(project, warm):
    unit = project("src/a.cpp", DROPS)
    part = project("include/part.h", PART)

    def run(*arguments):
        result = lint("src", *arguments, cwd=project.root, cache=warm)
        return places(result), "earlier run" in result.stderr

    known = ["include/part.h:2:40:", "src/a.cpp:4:3:"]
    assert run() == (known, False)
    assert run() == (known, True)
    unit.write_text("\n" + DROPS)
    assert run() == (["include/part.h:2:40:", "src/a.cpp:5:3:"], False)
    part.write_text("\n" + PART)
    assert run() == (["include/part.h:3:40:", "src/a.cpp:5:3:"], False)
    assert run("--rules=-devsan-dropped-move") == ([], False)
    assert run() == (["include/part.h:3:40:", "src/a.cpp:5:3:"], True)
    # Another header of that name, where it is looked for first.
    project("src/part.h", PART.replace("detach", "contiguous"))
    assert run() == (["src/a.cpp:5:3:", "src/part.h:2:40:"], False)
    # A compile command where there was none.
    project("compile_commands.json", "[]")
    assert run()[1] is True
    (project.root / "compile_commands.json").write_text(
        f'[{{"directory": "{project.root}", "file": "src/a.cpp", "command": "g++ -DX -Iinclude -c src/a.cpp"}}]')
    assert run()[1] is False


def test_header_that_was_missing_is_looked_for_again(project, warm):
    project("src/a.cpp", DROPS)
    without = lint("src", cwd=project.root, cache=warm)
    assert "missing headers: part.h" in without.stderr
    assert "earlier run" in lint("src", cwd=project.root, cache=warm).stderr
    project("far/away/part.h", PART)
    found = lint("src", cwd=project.root, cache=warm)
    assert places(found) == ["far/away/part.h:2:40:", "src/a.cpp:4:3:"] and "missing" not in found.stderr
    again = lint("src", cwd=project.root, cache=warm)
    assert again.stdout == found.stdout and "earlier run" in again.stderr


def test_what_is_own_code_depends_on_the_run(project, warm):
    project("a.cpp", DROPS)
    project("third_party/part.h", PART)
    assert places(lint("a.cpp", cwd=project.root, cache=warm)) == ["a.cpp:4:3:"]
    both = lint("a.cpp", "third_party/part.h", cwd=project.root, cache=warm)
    assert places(both) == ["a.cpp:4:3:", "third_party/part.h:2:40:"]


def test_damaged_entry_is_not_believed(project, warm):
    project("a.cpp", DROPS.replace('#include "part.h"\n', "").replace("  helper(t);\n", ""))
    first = lint("a.cpp", cwd=project.root, cache=warm)
    [entry] = entries(warm)
    whole = entry.read_bytes()
    assert b'"line": 3' in whole
    for damaged in (b"", b"\n", whole[:-20], whole.replace(b'"line": 3', b'"line": 2'), b"\xff" * 1000):
        entry.write_bytes(damaged)
        run = lint("a.cpp", cwd=project.root, cache=warm)
        assert run.stdout == first.stdout and "earlier run" not in run.stderr, damaged[:40]
        assert entry.read_bytes() == whole


def test_headers_are_parsed_once_and_again_when_their_pch_is_damaged(project, tmp_path):
    unit = project("a.cpp", DROPS)
    cache = tmp_path / "cache"
    first = lint("a.cpp", cwd=project.root, cache=cache)
    assert first.returncode == 1 and "LibTorch's headers, now cached" in first.stderr
    unit.write_text(DROPS + "// another\n")
    second = lint("a.cpp", cwd=project.root, cache=cache)
    assert second.stdout == first.stdout
    assert "LibTorch's headers" not in second.stderr

    [pch] = pchs(cache)
    whole = pch.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:-64] + b"\0" * 64):
        pch.write_bytes(damaged)
        unit.write_text(unit.read_text() + "// another\n")
        again = lint("a.cpp", cwd=project.root, cache=cache)
        assert again.stdout == first.stdout and again.returncode == 1
        assert "LibTorch's headers, now cached" in again.stderr
        [pch] = pchs(cache)
        # Written anew and whole; a path or a time in it can make it some bytes longer or shorter.
        assert pch.read_bytes() != damaged and abs(pch.stat().st_size - len(whole)) < 4096


def test_two_runs_at_once_share_an_empty_cache(project, tmp_path):
    project("a.cpp", DROPS)
    cache = tmp_path / "cache"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_CACHE_HOME": str(cache)}
    runs = [subprocess.Popen([str(LINT), "a.cpp", "--torch", SITE_PACKAGES], cwd=project.root, env=env,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(2)]
    results = [(*run.communicate(timeout=280), run.returncode) for run in runs]
    assert results[0][0] == results[1][0] and "a.cpp:4:3" in results[0][0]
    assert [code for _, _, code in results] == [1, 1]
    built = ["LibTorch's headers, now cached" in err for _, err, _ in results]
    assert sorted(built) == [False, True]
    assert len(pchs(cache)) == 1 and len(entries(cache)) == 1


def test_no_cache_leaves_nothing_behind(project, tmp_path):
    project("a.cpp", DROPS)
    cache = tmp_path / "cache"
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    run = lint("--no-cache", "a.cpp", cwd=project.root, cache=cache, environment={"TMPDIR": str(temporary)})
    assert run.returncode == 1, run.stderr
    assert not (cache / "devsan").exists()
    assert list(temporary.iterdir()) == []


def test_cache_is_kept_below_its_limit(project, warm):
    project("a.cpp", DROPS)
    lint("a.cpp", cwd=project.root, cache=warm)
    for entry in entries(warm):
        os.utime(entry, (1, 1))
    old = {entry.name for entry in entries(warm)}
    project("b.cpp", DROPS)
    lint("b.cpp", "--cache-limit", "500MB", cwd=project.root, cache=warm)
    assert old < {entry.name for entry in entries(warm)}
    project("c.cpp", DROPS)
    lint("c.cpp", "--cache-limit", "1KB", cwd=project.root, cache=warm)
    left = {entry.name for entry in entries(warm)}
    assert not old & left and len(left) == 2, "what is in use stays"
    wrong = lint("a.cpp", "--cache-limit", "much", cwd=project.root, cache=warm)
    assert wrong.returncode == 2 and "'much' is not a size; accepted: 500MB, 2GB" in wrong.stderr
