"""`devsan run` on the encoder classifier: silent where nothing is wrong, and right about every planted fault.

What is right is written here by hand, from what each fault does; the line of the cause is the one that carries its
name in the source.
"""
import json
import pathlib
import re

import pytest

from tools import BIN, SOURCE, devsan, fault_marks

MODEL = SOURCE / "reference_models" / "encoder_classifier"

# fault: (op, the odd argument, its device, its name in the model)
FAULTS = {
    "labels": ("aten::binary_cross_entropy_with_logits", "target", "cuda:0", None),
    # LibTorch's Linear calls addmm(bias, input, weight.t()), and matmul(input, weight.t()) without a bias.
    "pooled": ("aten::addmm", "mat1", "cuda:0", None),
    "head-moved": ("aten::addmm", "mat2", "cuda:0", r"classifier\.weight"),
    "lora": ("aten::matmul", "other", "cuda:0",
             r"encoder\.block\.\d+\.layer\.0\.SelfAttention\.q\.lora_A\.weight"),
    "mask": ("aten::lt", "self", "cpu", None),
    "literal": ("aten::maximum", "other", "cuda:0", None),
}


def train(tmp_path, *arguments, options=()):
    report = tmp_path / "report.json"
    result = devsan("run", "--simulate", "2", "--report", report, "--report", tmp_path / "report.sarif", *options, "--",
                    BIN / "encoder_classifier", "--devices", "cuda:0,cuda:1", "--steps", "2", *arguments, timeout=300)
    return result, json.loads(report.read_text())["findings"]


def test_every_fault_of_the_program_is_expected_here():
    text = devsan("run", "--trace-ops", "0", "--", BIN / "encoder_classifier", "--help").stdout
    listed = re.search(r"\{none,([^}]*)\}", text)
    assert listed and set(listed[1].split(",")) == set(FAULTS) == set(fault_marks(MODEL))


@pytest.mark.parametrize("finetune", ["full", "lora"])
def test_nothing_is_found_where_nothing_is_wrong(finetune, tmp_path):
    result, findings = train(tmp_path, "--finetune", finetune)
    assert (result.returncode, findings, result.stderr) == (0, [], "")
    assert "held-out loss" in result.stdout


@pytest.mark.parametrize("fault", FAULTS)
def test_fault(fault, tmp_path):
    result, findings = train(tmp_path, "--finetune", "lora", "--fault", fault)
    assert result.returncode == 128 + 6  # the program's own end: an exception that nobody caught
    assert len(findings) == 1
    found = findings[0]
    op, argument, device, parameter = FAULTS[fault]

    assert found["rule"] == "device-mismatch" and found["op"]["name"] == op
    odd = [each for each in found["arguments"] if each["odd"]]
    assert [(each["name"], each["device"]) for each in odd] == [(argument, device)]
    assert odd[0]["parameter"] is None if parameter is None else re.fullmatch(parameter, odd[0]["parameter"])
    file, line = fault_marks(MODEL)[fault]
    assert (pathlib.Path(found["file"]).name, found["line"]) == (file, line)

    # The path starts at the use, and what is shown first of the stack is the model's own code.
    assert [step["label"] for step in found["path"]][0] == "used"
    assert pathlib.Path(found["stack"][0]["file"]).is_relative_to(SOURCE / "reference_models")
    # The same on stderr, behind PyTorch's own message.
    assert f"ERROR: DevSan: device-mismatch in {op}" in result.stderr
    assert re.search(rf"^SUMMARY: DevSan: device-mismatch \S*{re.escape(file)}:{line}\b", result.stderr, re.M)
    assert result.stderr.count("SUMMARY: DevSan") == 1


def test_the_literal_is_quoted_and_replaced(tmp_path):
    result, findings = train(tmp_path, "--finetune", "lora", "--fault", "literal")
    assert '"cuda:0"' in findings[0]["advice"] and "device()" in findings[0]["advice"]
    assert "Fix: " in result.stderr


def test_without_origins_the_op_is_still_named(tmp_path):
    _, findings = train(tmp_path, "--finetune", "lora", "--fault", "literal", options=("--origins", "0"))
    assert [found["op"]["name"] for found in findings] == ["aten::maximum"]
