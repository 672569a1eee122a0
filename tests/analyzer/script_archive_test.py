"""devsan-lint on archives that torch.jit.save wrote, and on broken ones."""
import json
import os
import pathlib
import pickle
import random
import re
import subprocess
import zipfile

import pytest
import torch
from tools import SOURCE

CODE = "code/__torch__/script_archive_test.py"  # of the classes in this file
LINT = pathlib.Path(os.environ["DEVSAN_BUILD"]) / "bin" / "devsan-lint"


def lint(*arguments, cwd):
    return subprocess.run([str(LINT), *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=60,
                          env={"PATH": os.environ["PATH"], "HOME": str(cwd)})


def findings(path):
    run = lint("--format", "json", path.name, cwd=path.parent)
    assert run.returncode in (0, 1), run.stderr
    return json.loads(run.stdout)["findings"]


class Literal(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 2)
        self.place = torch.device("cuda:1")

    def forward(self, x):
        return self.fc(x) + torch.zeros([2], device="cuda:0")  # the line that is named


class Asks(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x) + torch.arange(3, device=x.device)  # the line of the trace


def line_of(comment):
    for number, line in enumerate(pathlib.Path(__file__).read_text().splitlines(), 1):
        if line.endswith("# " + comment):
            return number
    raise AssertionError(comment)


@pytest.fixture
def literal(tmp_path):
    torch.jit.script(Literal()).save(tmp_path / "literal.pt")
    return tmp_path / "literal.pt"


def test_a_literal_and_an_attribute_are_found_with_their_python(literal):
    attribute, made = findings(literal)
    assert "'place' holds the device 'cuda:1'" in attribute["message"]
    assert made["rule"] == "devsan-frozen-device" and made["file"].endswith("/literal.pt/" + CODE)
    with zipfile.ZipFile(literal) as archive:
        code = archive.read("literal/" + CODE).decode().splitlines()
    assert code[made["line"] - 1][made["column"] - 1:].startswith('torch.device("cuda:0")')
    assert code[attribute["line"] - 1].strip() == "place : Device"
    [origin] = [step for step in made["path"] if step["file"] == __file__]
    assert origin["line"] == line_of("the line that is named")


def test_a_trace_freezes_the_device_of_its_run(tmp_path):
    torch.jit.trace(Asks(), torch.ones(1, 3)).save(tmp_path / "traced.pt")
    [found] = findings(tmp_path / "traced.pt")
    assert "'torch.arange' puts a tensor on the CPU" in found["message"]
    assert [step["line"] for step in found["path"] if step["file"] == __file__] == [line_of("the line of the trace")]
    torch.jit.script(Asks()).save(tmp_path / "scripted.pt")
    assert findings(tmp_path / "scripted.pt") == []


def test_frozen_weights_are_constants(tmp_path):
    torch.jit.freeze(torch.jit.script(Asks()).eval()).save(tmp_path / "frozen.pt")
    [found] = findings(tmp_path / "frozen.pt")
    assert found["level"] == "note" and "CONSTANTS.c0 and 1 more on the CPU" in found["message"]


def test_the_page_calls_bad_what_is_found(tmp_path):
    page = (SOURCE / "docs" / "rules" / "frozen-device.md").read_text()
    for heading, expected in (("Bad", 1), ("Good", 0)):
        code = re.search(rf"## {heading}\n\n```python\n(.*?)```", page, re.S).group(1)
        (tmp_path / f"{heading.lower()}_example.py").write_text("import torch\n" + code)
        names = {}
        exec(compile("import torch\n" + code, str(tmp_path / f"{heading.lower()}_example.py"), "exec"), names)
        names["Net"].__module__ = "example"
        torch.jit.script(names["Net"]()).save(tmp_path / f"{heading}.pt")
        assert len(findings(tmp_path / f"{heading}.pt")) == expected


def change(source, target, edit):
    """Copies an archive; `edit` gives the new content of an entry, or None to leave it out."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            content = edit(entry.filename, old.read(entry))
            if content is not None:
                new.writestr(entry.filename, content)
    return target


def test_state_on_two_devices_is_found(tmp_path):
    torch.jit.script(Asks()).save(tmp_path / "asks.pt")
    with zipfile.ZipFile(tmp_path / "asks.pt") as archive:
        pickled = archive.read("asks/data.pkl")
    # As a machine with GPUs writes it: the second storage names its device by the memo of the first.
    memo = re.search(rb"X\x03\x00\x00\x00cpuq(.)", pickled, re.S).group(1)
    second = pickled.rindex(b"h" + memo)
    spread = pickled[:second] + b"X\x06\x00\x00\x00cuda:0" + pickled[second + 2:]
    changed = change(tmp_path / "asks.pt", tmp_path / "spread.pt",
                     lambda name, content: spread if name.endswith("/data.pkl") else content)
    [found] = findings(changed)
    assert "the module was saved with" in found["message"] and "'cuda:0'" in found["message"]
    assert "/spread.pt/code/__torch__/torch/nn/modules/linear" in found["file"]


def test_sarif_and_a_suppression(literal):
    sarif = json.loads(lint("--format", "sarif", literal.name, cwd=literal.parent).stdout)
    results = sarif["runs"][0]["results"]
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results}
    assert len(results) == 2 and uris == {"literal.pt/" + CODE}
    (literal.parent / "known.txt").write_text("devsan-frozen-device:literal.pt/* one GPU only\n")
    assert lint("--suppressions", "known.txt", literal.name, cwd=literal.parent).returncode == 0
    assert lint("--rules=-devsan-frozen-device", literal.name, cwd=literal.parent).returncode == 0


def test_since_reports_an_archive_that_changed(literal):
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", str(literal.parent)]
    for command in (["init", "-q"], ["add", "literal.pt"], ["commit", "-q", "-m", "model"]):
        subprocess.run(git + command, check=True)
    assert lint("--since", "HEAD", literal.name, cwd=literal.parent).returncode == 0
    change(literal, literal.parent / "new.pt", lambda _, content: content)
    os.replace(literal.parent / "new.pt", literal)
    assert lint("--since", "HEAD", literal.name, cwd=literal.parent).returncode == 1


class Unsafe:
    def __reduce__(self):
        return os.system, ("touch was-run",)


def broken_archives(literal, folder):
    def variant(name, edit):
        return change(literal, folder / f"{name}.pt", edit)

    def data(content):
        return lambda name, old: content if name.endswith("/data.pkl") else old

    cut = folder / "cut.pt"
    cut.write_bytes(literal.read_bytes()[:-300])
    (folder / "text.pt").write_text("not an archive\n")
    (folder / "empty.pt").write_bytes(b"")
    torch.save({"weight": torch.ones(2)}, folder / "state_dict.pt")
    (folder / "program.pt2").write_bytes(
        variant("with_format", lambda name, content: content).read_bytes())
    with zipfile.ZipFile(folder / "program.pt2", "a") as program:
        program.writestr("program/archive_format", "pt2")
    return {
        cut: "cannot be read as a zip file",
        folder / "text.pt": "cannot be read as a zip file",
        folder / "empty.pt": "zip file",
        folder / "state_dict.pt": "it has no code",
        folder / "program.pt2": "torch.export",
        variant("without_data", lambda name, content: None if name.endswith("/data.pkl") else content):
            "data.pkl",
        variant("cut_pickle", lambda name, content: content[:100] if name.endswith("/data.pkl") else content):
            "cut off",
        variant("other_protocol", data(pickle.dumps({"a": 1}, protocol=4))): "protocol above 2",
        variant("unsafe", data(pickle.dumps(Unsafe(), protocol=0))): "opcode",
        variant("huge_text", data(b"\x80\x02X\xff\xff\xff\xff")): "cut off",
        variant("no_mark", data(b"\x80\x02t.")): "mark",
        variant("no_memo", data(b"\x80\x02h\x05.")): "does not have",
        variant("many", data(b"\x80\x02" + b"N" * 5_000_000 + b".")): "too many values",
    }


def test_broken_archives_are_one_line_and_exit_3(literal, tmp_path):
    for path, expected in broken_archives(literal, tmp_path).items():
        run = lint(path.name, cwd=tmp_path)
        first, summary = run.stderr.splitlines()
        assert (run.returncode, run.stdout) == (3, ""), path
        assert first.startswith(f"devsan lint: {path}: cannot be analysed: ") and expected in first, first
        assert "1 not analysed" in summary
    assert not (tmp_path / "was-run").exists()


def test_a_bomb_is_not_unpacked(literal, tmp_path):
    def bomb(name, content):
        return b"#" * (200 << 20) if name.endswith(CODE) else content

    path = tmp_path / "bomb.pt"
    with zipfile.ZipFile(literal) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        for entry in old.infolist():
            new.writestr(entry.filename, bomb(entry.filename, old.read(entry)))
    run = subprocess.run(["bash", "-c", f"ulimit -v {400 << 10}; exec '{LINT}' bomb.pt"], cwd=tmp_path,
                         capture_output=True, text=True, timeout=60)
    assert run.returncode == 3 and "too large: at most 8 MiB" in run.stderr


def test_mutated_archives_never_crash(literal, tmp_path):
    intact = literal.read_bytes()
    choose = random.Random(7)
    paths = []
    for number in range(300):
        changed = bytearray(intact)
        for _ in range(choose.randint(1, 8)):
            changed[choose.randrange(len(changed))] = choose.randrange(256)
        paths.append(tmp_path / f"{number}.pt")
        paths[-1].write_bytes(changed)
    # Without its checksum an entry's damage is seen by what reads it.
    for number in range(300, 500):
        def damage(name, content):
            changed = bytearray(content)
            if changed and not name.endswith(("version", "byteorder")):
                changed[choose.randrange(len(changed))] = choose.randrange(256)
            return bytes(changed)

        paths.append(change(literal, tmp_path / f"{number}.pt", damage))
    run = lint(*[path.name for path in paths], cwd=tmp_path)
    assert run.returncode == 3, run.stderr[-2000:]
    failures = [line for line in run.stderr.splitlines() if "cannot be analysed" in line]
    assert 0 < len(failures) < len(paths)


def test_an_archive_with_code_beside_it(literal, tmp_path):
    assert lint("--torch", tmp_path, literal.name, cwd=tmp_path).returncode == 1  # needs no LibTorch
    (tmp_path / "data.bin").write_bytes(b"")
    run = lint("data.bin", cwd=tmp_path)
    assert run.returncode == 2 and "TorchScript archives" in run.stderr
