"""Python programs with one fault each: op, odd argument, its name, and the line to change."""
import pytest

from traced import line_of, odd_argument, python_program

# program, op, the odd argument, its name in the model
FAULTS = [
    ("labels", "aten::binary_cross_entropy_with_logits", "target", None),
    ("labels-on-cpu", "aten::binary_cross_entropy_with_logits", "target", None),
    ("pooled", "aten::linear", "input", None),
    ("not-moved", "aten::linear", "input", None),
    ("head-moved", "aten::linear", "weight", "head.weight"),
    ("lora", "aten::linear", "weight", "second.lora_A.weight"),
    ("mask", "aten::mul", "other", None),
    ("literal-two-hops", "aten::mul", "other", None),
    ("never-moved", "aten::linear", "weight", "first.weight"),
    ("hook", "aten::add", "other", None),
]


@pytest.mark.parametrize("name, op, odd, parameter", FAULTS, ids=[fault[0] for fault in FAULTS])
def test_fault_is_named(name, op, odd, parameter, tmp_path):
    result, findings = python_program(name, tmp_path)
    assert result.returncode != 0
    assert len(findings) == 1, result.stderr
    finding = findings[0]
    assert finding["rule"] == "device-mismatch"
    assert finding["op"]["name"] == op
    assert odd_argument(finding) == odd
    assert {argument["name"]: argument["parameter"] for argument in finding["arguments"]}[odd] == parameter
    assert finding["file"].endswith("programs/faults.py")
    assert finding["line"] == line_of("faults.py", name)


def test_path_runs_from_the_use_to_the_creation(tmp_path):
    _, (finding,) = python_program("labels", tmp_path)
    assert [(step["label"], step["device"]) for step in finding["path"]] == [
        ("used", "cuda:0"), ("moved", "cuda:0"), ("created", "cpu")]
    used, moved, created = finding["path"]
    assert used["stack"][0]["function"] == moved["stack"][0]["function"] == "labels"
    assert created["stack"][0]["function"] == "batch"
    assert finding["stack"] == used["stack"]


def test_stacks_hold_no_internals(tmp_path):
    _, (finding,) = python_program("pooled", tmp_path)
    for step in finding["path"]:
        assert step["stack"], step
        assert all("/torch/" not in frame["file"] for frame in step["stack"])


def test_inner_op_and_message_are_pytorchs(tmp_path):
    result, (finding,) = python_program("pooled", tmp_path)
    assert finding["inner_op"] == "aten::addmm"
    assert finding["error"].startswith("Expected all tensors to be on the same device, but got mat1 is on cuda:0")
    assert finding["error"] in result.stderr  # the program's own exception goes on


def test_view_has_the_parameters_name(tmp_path):
    _, (finding,) = python_program("view-of-parameter", tmp_path)
    assert {argument["name"]: argument["parameter"] for argument in finding["arguments"]} == {
        "self": None, "mat2": "head.weight"}


def test_backward_of_a_custom_function_shows_both_stacks(tmp_path):
    _, (finding,) = python_program("custom-function", tmp_path)
    assert finding["op"] == {**finding["op"], "name": "aten::mul", "backward": True}
    assert finding["stack"][0]["function"] == "Mixing.backward"
    assert finding["forward_stack"][0]["function"] == "custom_function"
    assert odd_argument(finding) == "other"


def test_backward_of_pytorchs_own_op_shows_the_forward_line(tmp_path):
    _, (finding,) = python_program("generated-backward", tmp_path)
    assert finding["op"]["backward"]
    line = next(number for number, text in enumerate(open(finding["forward_stack"][0]["file"]), 1)
                if "forward line of generated-backward" in text)
    assert finding["forward_stack"][0]["line"] == line


def test_error_that_the_program_catches_is_reported_and_the_program_goes_on(tmp_path):
    result, findings = python_program("caught", tmp_path)
    assert result.returncode == 0
    assert result.stdout == "carried on\ndone\n"
    assert len(findings) == 1


def test_halt_keeps_the_first_fault_only(tmp_path):
    _, findings = python_program("repeated", tmp_path)
    assert [finding["op"]["name"] for finding in findings] == ["aten::add"]


def test_continue_keeps_each_cause_once(tmp_path):
    _, findings = python_program("repeated", tmp_path, "on_mismatch=continue")
    assert [finding["op"]["name"] for finding in findings] == ["aten::add", "aten::mul"]


def test_two_literals_leave_it_open(tmp_path):
    _, (finding,) = python_program("caught", tmp_path)
    assert odd_argument(finding) is None
    assert "Nothing tells" in finding["why"]


def test_step_counts_optimizer_steps(tmp_path):
    _, (finding,) = python_program("stepped", tmp_path)
    assert finding["step"] == 3


def test_other_threads_are_seen(tmp_path):
    _, (finding,) = python_program("in-thread", tmp_path)
    assert finding["stack"][0]["function"] == "caught"


@pytest.mark.parametrize("name", ["loader-worker", "loaded"])
def test_tensors_that_come_in_by_set_are_first_seen(name, tmp_path):
    _, (finding,) = python_program(name, tmp_path)
    assert finding["path"][-1]["label"] == "first seen"
    assert finding["stack"][0]["line"] == finding["line"]


def test_rank_is_the_launchers(tmp_path):
    _, (finding,) = python_program("caught", tmp_path, env={"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1"})
    assert (finding["rank"], finding["world_size"]) == (3, 4)


def test_without_origins_the_op_and_its_arguments_remain(tmp_path):
    _, (finding,) = python_program("pooled", tmp_path, "origins=0")
    assert finding["op"]["name"] == "aten::linear"
    assert odd_argument(finding) == "input"
    assert [step["label"] for step in finding["path"]] == ["used"]


@pytest.mark.parametrize("name", ["legal-mixes", "shape-errors", "caught-inside"])
@pytest.mark.parametrize("origins", [0, 1, 2])
def test_no_finding(name, origins, tmp_path):
    result, findings = python_program(name, tmp_path, f"on_mismatch=continue:origins={origins}")
    assert result.returncode == 0, result.stderr
    assert findings == []


def test_nothing_is_written_on_stdout_and_no_report_on_stderr_with_a_folder(tmp_path):
    result, _ = python_program("caught", tmp_path)
    assert "DevSan" not in result.stdout + result.stderr


def test_text_goes_to_stderr_without_a_folder(tmp_path):
    result, findings = python_program("caught", tmp_path, "report_dir=")
    assert findings == []
    assert "ERROR: DevSan: device-mismatch in aten::add" in result.stderr
    assert result.stdout == "carried on\ndone\n"
