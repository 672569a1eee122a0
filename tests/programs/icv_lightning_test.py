"""`devsan run` on a frozen Idefics model with a small trainable encoder, trained by Lightning's DDP on two simulated GPUs
over NCCL: the line to change for each of its faults, which show on rank 1 alone, and silence where nothing is wrong.

Lines are found by their text; names are written here by hand from the program and transformers' module tree.
"""
import json
import math
import pathlib
import re

import pytest

from tools import PYTHON, devsan

PROGRAM = pathlib.Path(__file__).resolve().parent / "icv_lightning.py"

# fault: (op, the odd argument, the parameter beside it, text of the line to change). Idefics looks up the tokens before
# it moves the pixels to where they are, so the literal shows at the embedding already.
FAULTS = {
    "tokens-literal": ("aten::embedding", "indices", "lmm.model.model.embed_tokens.additional_embedding.weight",
                       'return {k: v if k == "pixel_values" else v.to("cuda:0") for k, v in inputs.items()}'),
    "model-literal": ("aten::conv2d", "input", "lmm.model.model.vision_model.embeddings.patch_embedding.weight",
                      'embeddings.forward = lambda pixels, *a, **k: forward(pixels.to("cuda:0"), *a, **k)'),
}


STEPS = 3
IMAGE = [1, 3, 28, 28]


def line_of(text):
    lines = [number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1) if line.strip() == text]
    assert len(lines) == 1, text
    return lines[0]


def train(fault, folder):
    report = folder / "report.json"
    result = devsan("run", "--simulate", "2", "--report", report, "--", PYTHON, PROGRAM, timeout=400, cwd=folder,
                    env={"FAULT": fault, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"})
    return result, json.loads(report.read_text())["findings"]


@pytest.mark.parametrize("fault", FAULTS)
def test_fault(fault, tmp_path):
    result, findings = train(fault, tmp_path)
    assert result.returncode != 0
    findings = [each for each in findings if each["level"] != "note"]
    assert len(findings) == 1, result.stderr
    (found,) = findings
    op, argument, parameter, line = FAULTS[fault]
    assert (found["rule"], found["op"]["name"]) == ("device-mismatch", op)
    assert (found["rank"], found["world_size"]) == (1, 2)
    odd = [(each["name"], each["device"]) for each in found["arguments"] if each["odd"]]
    assert odd == [(argument, "cuda:0")]
    assert {each["parameter"]: each["device"] for each in found["arguments"] if each["parameter"]} == {parameter: "cuda:1"}
    assert (pathlib.Path(found["file"]).name, found["line"]) == (PROGRAM.name, line_of(line))
    moved = next(step for step in found["path"] if step["label"] == "moved")
    assert (moved["device"], moved["line"]) == ("cuda:0", line_of(line))
    assert "Rank 1 owns cuda:1" in found["why"]
    assert "ERROR: DevSan" in result.stderr


# cpu-pixels leaves the pixels where they are, which is the GPU: Lightning has brought the whole batch there.
@pytest.mark.parametrize("fault", ["none", "cpu-pixels"])
def test_nothing_is_found_where_nothing_is_wrong(fault, tmp_path):
    result, findings = train(fault, tmp_path)
    assert result.returncode == 0 and "DevSan" not in result.stderr
    assert {(each["rule"], each["level"]) for each in findings} == {("silent-move", "note")}
    # Every step Lightning brings the two images of a rank's batch to the rank's own device.
    batches = [each for each in findings if each["arguments"][0]["shape"] == IMAGE and each["steps"] == STEPS]
    (batch,) = batches
    assert batch["ranks"] == [0, 1] and batch["arguments"][0]["name"].startswith("lightning/pytorch/core/hooks.py:")
    assert (batch["count"], batch["bytes"]) == (2 * STEPS, 2 * STEPS * math.prod(IMAGE) * 4)
    assert [step["device"] for step in batch["path"][:2]] == [f"cuda:{batch['rank']}", "cpu"]
    # Both ranks write to one pipe: their lines may stand one in another.
    assert set(re.findall(r"rank \d step \d", result.stdout)) == {
        f"rank {rank} step {step}" for rank in (0, 1) for step in (0, 1, 2)}
