"""`devsan run` on a T5 encoder split by accelerate, wrapped by PEFT and trained by Hugging Face's Trainer: the line to
change for each of its faults, and what the libraries move by themselves where nothing is wrong.

Lines are found by their text, names and sizes are written here by hand from the program.
"""
import json
import pathlib

import pytest

from tools import PYTHON, devsan

PROGRAM = pathlib.Path(__file__).resolve().parent / "prott5_trainer.py"
STEPS = 6
BATCH, TOKENS, HIDDEN, HEADS, FLOAT = 4, 24, 64, 4, 4
HIDDEN_BYTES = BATCH * TOKENS * HIDDEN * FLOAT
BIAS_BYTES = HEADS * TOKENS * TOKENS * FLOAT

# fault: (op or raising function, the odd argument, its device, its name in the model, text of the line to change)
FAULTS = {
    "labels": ("aten::binary_cross_entropy_with_logits", "target", "cuda:0", None, "loss = self.loss_fn(logits, labels)"),
    "lora": ("aten::linear", "weight", "cuda:0",
             "encoder.base_model.model.encoder.block.2.layer.0.SelfAttention.q.lora_A.default.weight",
             'p.data = p.data.to("cuda:0")'),
    "loss": ("Trainer._run_epoch", "tr_loss_step", "cuda:1", None,
             "return SequenceClassifierOutput(loss=loss, logits=logits)"),
    "pooled": ("aten::linear", "input", "cuda:0", None,
               'logits = nn.functional.linear(pooled.to("cuda:0"), self.classifier.weight, self.classifier.bias).squeeze(-1)'),
}
EDITS = {"labels": "labels = labels.to(logits.device)", "lora": "to cuda:1", "loss": "loss = loss.to(input_ids.device)",
         "pooled": "self.classifier.weight.device"}

# The device map puts the dropout on cuda:1, which runs first; then come blocks 0 and 1 on cuda:0 and 2 and 3 on cuda:1.
# The position bias is made in block 0 and follows to block 2; the result goes back to where the input was.
MOVES = {
    ("cuda:0", "cuda:1"): (3, 2 * HIDDEN_BYTES + BIAS_BYTES),
    ("cuda:1", "cuda:0"): (2, 2 * HIDDEN_BYTES),
}


def line_of(text):
    lines = [number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1) if line.strip() == text]
    assert len(lines) == 1, text
    return lines[0]


def train(fault, folder, *options):
    report = folder / "report.json"
    result = devsan("run", "--simulate", "2", "--report", report, *options, "--", PYTHON, PROGRAM, timeout=300, cwd=folder,
                    env={"FAULT": fault, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"})
    findings = json.loads(report.read_text())["findings"]
    return result, [each for each in findings if each["level"] == "error"], [
        each for each in findings if each["level"] == "warning"]


@pytest.mark.parametrize("fault", FAULTS)
def test_fault(fault, tmp_path):
    result, errors, _ = train(fault, tmp_path)
    assert result.returncode == 1
    assert len(errors) == 1, result.stderr
    (found,) = errors
    op, argument, device, parameter, line = FAULTS[fault]
    assert (found["rule"], found["op"]["name"]) == ("device-mismatch", op)
    odd = [each for each in found["arguments"] if each["odd"]]
    assert [(each["name"], each["device"], each["parameter"]) for each in odd] == [(argument, device, parameter)]
    assert (pathlib.Path(found["file"]).name, found["line"]) == (PROGRAM.name, line_of(line))
    assert EDITS[fault] in found["advice"]
    assert "Traceback" in result.stderr and "ERROR: DevSan" in result.stderr


def test_the_loss_is_explained(tmp_path):
    """An exception of Trainer's own: no op has failed."""
    result, (found,), _ = train("loss", tmp_path)
    assert found["error"] == ("ValueError: Calculated loss must be on the original device: cuda:0 but device in use is cuda:1")
    assert found["error"] in result.stderr
    assert {each["name"]: each["device"] for each in found["arguments"]} == {
        "tr_loss_step": "cuda:1", "self._tr_loss": "cuda:0"}
    created = next(step for step in found["path"] if step["label"] == "created")
    assert created["line"] == line_of("loss = self.loss_fn(logits, labels)")


@pytest.mark.parametrize("fault", ["none", "mask", "late-head"])
def test_what_raises_nothing_is_no_error(fault, tmp_path):
    result, errors, warnings = train(fault, tmp_path)
    assert (result.returncode, errors) == (0, []), result.stderr
    assert {each["rule"] for each in warnings} == {"silent-move"}
    moves = {}
    for each in warnings:
        assert each["line"] == line_of(
            "last_hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state")
        assert each["arguments"][0]["name"].startswith("accelerate/hooks.py:")
        moved, before = each["path"][:2]
        count, size = moves.get((before["device"], moved["device"]), (0, 0))
        assert each["steps"] == STEPS
        moves[before["device"], moved["device"]] = (count + each["count"], size + each["bytes"])
    assert moves == {route: (STEPS * count, STEPS * size) for route, (count, size) in MOVES.items()}


def test_a_warning_is_two_lines(tmp_path):
    result, _, warnings = train("none", tmp_path)
    said = [line for line in result.stderr.splitlines() if "DevSan" in line]
    assert len(said) == len(warnings)
    assert all("WARNING: DevSan: silent-move" in line for line in said)
