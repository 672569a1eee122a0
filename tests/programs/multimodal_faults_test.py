"""`devsan run` on the multimodal model over two ranks: silent where nothing is wrong, right about every planted fault.

What is right is written here by hand, from what each fault does. The line to change is the one that carries the
fault's name in the source, but where a fault is something that is *not* there: see LINES.
"""
import json
import pathlib
import re

import pytest

from tools import BIN, PYTHON, SOURCE, devsan, fault_marks

MODEL = SOURCE / "reference_models" / "multimodal"
WEIGHT = "lmm.model.vision_model.embeddings.patch_embedding.weight"

# What is missing has no line. Named is where it belongs: the move of the fields beside the pixels; the call that hands
# the model what was placed before the model was; the first use of CUDA, before which set_device() should stand.
LINES = {
    "cpu-pixels": ("processor.cpp", "made.input_ids.to("),
    "late-move": ("trainer.cpp", "model_->forward(batch)"),
    "set-device": ("trainer.cpp", "model->to(device);"),
}

# fault: (rule, op, the odd argument, its device, ranks)
FAULTS = {
    "cpu-pixels": ("device-mismatch", "aten::conv2d", "input", "cpu", [0, 1]),
    "tokens-literal": ("device-mismatch", "aten::conv2d", "input", "cuda:0", [1]),
    "vision-literal": ("device-mismatch", "aten::conv2d", "input", "cuda:0", [1]),
    "set-device": ("collective-device", "c10d::allgather_", None, "cuda:0", [0, 1]),
    "cpu-metric": ("collective-device", "c10d::allreduce_", "tensors[0]", "cpu", [0, 1]),
    "buffer": ("device-mismatch", "aten::mul", "other", "cpu", [0, 1]),
    "late-move": ("device-mismatch", "aten::conv2d", "input", "cpu", [0, 1]),
}


def line_to_change(fault):
    if fault not in LINES:
        return fault_marks(MODEL)[fault]
    file, text = LINES[fault]
    numbers = [number for number, line in enumerate((MODEL / file).read_text().splitlines(), 1) if text in line]
    assert len(numbers) == 1
    return file, numbers[0]


def train(tmp_path, *arguments, launcher=(), ranks=("--spawn", "2")):
    report = tmp_path / "report.json"
    result = devsan("run", "--simulate", "2", "--report", report, "--", *launcher, BIN / "multimodal", *ranks,
                    "--backend", "nccl", "--width", "32", "--steps", "2", *arguments, timeout=300,
                    env={"OMP_NUM_THREADS": "1"})
    return result, json.loads(report.read_text())["findings"]


def test_every_fault_of_the_program_is_expected_here():
    text = devsan("run", "--trace-ops", "0", "--", BIN / "multimodal", "--help").stdout
    listed = re.search(r"\{none,([^}]*)\}", text)
    assert listed and set(listed[1].split(",")) == set(FAULTS) == set(fault_marks(MODEL))


@pytest.mark.parametrize("launcher, ranks", [
    ((), ("--spawn", "2")),
    ((PYTHON, "-m", "torch.distributed.run", "--standalone", "--no-python", "--nproc-per-node", "2"), ()),
], ids=["spawn", "torchrun"])
def test_nothing_is_found_where_nothing_is_wrong(launcher, ranks, tmp_path):
    result, findings = train(tmp_path, launcher=launcher, ranks=ranks)
    assert (result.returncode, findings) == (0, []), result.stderr
    assert "DevSan" not in result.stderr and "devsan" not in result.stderr
    assert "ranks: 2, nccl, the first on cuda:0" in result.stdout


@pytest.mark.parametrize("fault", FAULTS)
def test_fault(fault, tmp_path):
    result, findings = train(tmp_path, "--fault", fault)
    assert result.returncode == 128 + 6, result.stderr  # the program's own end: an exception that nobody caught
    errors = [found for found in findings if found["level"] == "error"]
    assert len(errors) == 1, errors
    found = errors[0]
    rule, op, argument, device, ranks = FAULTS[fault]

    assert (found["rule"], found["world_size"]) == (rule, 2)
    # The first rank that throws ends the others, which may have thrown by then or not.
    assert found["ranks"] and set(found["ranks"]) <= set(ranks)
    assert found["op"]["name"] == op
    odd = [(each["name"], each["device"]) for each in found["arguments"] if each["odd"]]
    # Of ranks that share a GPU no tensor is the odd one.
    assert odd == ([] if argument is None else [(argument, device)])
    assert all(each["device"] == device for each in found["arguments"]) or odd
    if op == "aten::conv2d":
        assert [each["parameter"] for each in found["arguments"] if each["name"] == "weight"] == [WEIGHT]
    file, line = line_to_change(fault)
    assert (pathlib.Path(found["file"]).name, found["line"]) == (file, line), result.stderr

    which = f"rank {found['rank']} of 2" if len(found["ranks"]) == 1 else "ranks 0-1 of 2, first on rank "
    assert re.search(rf"ERROR: DevSan: {rule} .*\({which}", result.stderr)
    assert re.search(rf"^SUMMARY: DevSan: {rule} \S*{re.escape(file)}:{line}\b", result.stderr, re.M)
    assert result.stderr.count("ERROR: DevSan") == 1


def test_the_pixels_path_goes_through_the_tokens(tmp_path):
    """The literal moved the tokens; the pixels were moved to where those were."""
    _, findings = train(tmp_path, "--fault", "tokens-literal")
    used, pixels, tokens, created = [(step["label"], step["device"], step["code"]) for step in findings[0]["path"]]
    assert used[:2] == ("used", "cuda:0")
    assert pixels[:2] == ("moved", "cuda:0") and "made.pixel_values.to(moved.input_ids.device())" in pixels[2]
    assert tokens[:2] == ("moved", "cuda:0") and 'made.input_ids.to(literal ? Device("cuda:0")' in tokens[2]
    assert created[:2] == ("created", "cpu") and "pixels = torch::empty(" in created[2]
