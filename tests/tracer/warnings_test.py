"""What is counted over a run: moves by libraries, tensors on other ranks' devices; and that it outlives the process."""
import json

import pytest

from tools import PYTHON
from traced import HERE, line_of, traced

# A package, as its files lie below site-packages: a module that brings its input to its weights, and a function to move.
MOVERS = """
import torch


class Follower(torch.nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.register_buffer("scale", torch.ones(1), persistent=False)

    def forward(self, x):
        eps = torch.full((1,), 0.5).to(self.layer.weight.device)
        return self.layer(x.to(self.layer.weight.device)) + eps


def fetch(x, device):
    return x.to(device)
"""
INPUT_BYTES = 4 * 8 * 4  # four rows of eight floats


def steps(end, folder, options="", **more):
    package = folder / "site-packages"
    package.mkdir()
    (package / "movers.py").write_text(MOVERS)
    env = {"PYTHONPATH": str(package), **more.pop("env", {})}
    return traced([PYTHON, HERE / "programs" / "steps.py", end, "3"], folder, options, env=env, **more)


def test_moves_of_a_library_are_counted(tmp_path):
    result, findings = steps("end", tmp_path)
    assert result.returncode == 0, result.stderr
    (finding,) = findings
    assert (finding["rule"], finding["level"]) == ("silent-move", "warning")
    assert finding["line"] == line_of("steps.py", "call")
    assert (finding["count"], finding["bytes"], finding["steps"]) == (3, 3 * INPUT_BYTES, 3)
    assert "movers.py:13 moved 128 B a step (1 tensor a step, 3 steps) from cuda:0 to cuda:1" in finding["message"]
    moved, created = finding["path"][:2]
    assert (moved["label"], moved["device"], moved["line"]) == ("moved", "cuda:1", 13)
    assert (created["label"], created["device"]) == ("created", "cuda:0")


@pytest.mark.parametrize("end, code", [("kill", -9), ("terminate", -15), ("_exit", 3)])
def test_counts_outlive_the_process(end, code, tmp_path):
    result, findings = steps(end, tmp_path)
    assert result.returncode == code
    (finding,) = findings
    assert finding["rule"] == "silent-move"
    assert 1 <= finding["count"] <= 3
    assert not list((tmp_path / "reports").glob("*.part"))


def test_forked_child_has_no_part_in_its_parents_counts(tmp_path):
    result, findings = steps("fork", tmp_path)
    assert result.returncode == 0, result.stderr
    assert [finding["count"] for finding in findings] == [3]
    assert len(list((tmp_path / "reports").glob("*.json"))) == 1


def test_another_ranks_device(tmp_path):
    rank = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1"}
    _, findings = steps("end", tmp_path, env=rank)
    found = {finding["line"]: finding for finding in findings if finding["rule"] == "rank-affinity"}
    fetch = found[line_of("steps.py", "fetch")]
    assert (fetch["count"], fetch["bytes"], fetch["own_device"]) == (3, 3 * INPUT_BYTES, "cuda:1")
    assert fetch["arguments"][0]["device"] == "cuda:0"
    assert '"cuda:0"' in fetch["advice"]


def test_a_process_alone_has_no_other_ranks_devices(tmp_path):
    _, findings = steps("end", tmp_path)
    assert {finding["rule"] for finding in findings} == {"silent-move"}


def test_report_says_which_process_it_is(tmp_path):
    steps("end", tmp_path, env={"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1"})
    [report] = (tmp_path / "reports").glob("*.json")
    assert json.loads(report.read_text())["process"] == {
        "pid": int(report.stem), "rank": 1, "world_size": 2, "local_rank": 1, "own_device": "cuda:1"}


def test_what_is_not_known_of_a_process_is_null(tmp_path):
    steps("end", tmp_path)
    [report] = (tmp_path / "reports").glob("*.json")
    assert json.loads(report.read_text())["process"] == {
        "pid": int(report.stem), "rank": None, "world_size": None, "local_rank": None, "own_device": None}


def test_without_origins_nothing_is_counted(tmp_path):
    _, findings = steps("end", tmp_path, "origins=0")
    assert findings == []


def test_text_without_a_folder(tmp_path):
    result, _ = steps("end", tmp_path, "report_dir=")
    said = [line for line in result.stderr.splitlines() if "DevSan" in line]
    assert len(said) == 1 and "WARNING: DevSan: silent-move" in said[0]
