"""A C++ program with one fault each: op, odd argument, its name, and the line to change. Nothing catches its
exception: the report is made although nothing is unwound."""
import pytest

from traced import cpp_program, line_of, odd_argument

# program, op, the odd argument, its name in the model
FAULTS = [
    ("labels", "aten::binary_cross_entropy_with_logits", "target", None),
    ("pooled", "aten::addmm", "mat1", None),
    ("head-moved", "aten::addmm", "mat2", "head.weight"),
    ("mask", "aten::mul", "other", None),
    ("literal", "aten::add", "other", None),
    ("from-blob", "aten::mul", "other", None),
]


@pytest.mark.parametrize("name, op, odd, parameter", FAULTS, ids=[fault[0] for fault in FAULTS])
def test_fault_is_named(name, op, odd, parameter, tmp_path):
    result, findings = cpp_program(name, tmp_path)
    assert result.returncode == -6  # abort()
    assert len(findings) == 1, result.stderr
    (finding,) = findings
    assert finding["op"]["name"] == op
    assert odd_argument(finding) == odd
    assert {argument["name"]: argument["parameter"] for argument in finding["arguments"]}[odd] == parameter
    assert finding["file"].endswith("programs/faults.cpp")
    assert finding["line"] == line_of("faults.cpp", name)


def test_stack_is_the_programs(tmp_path):
    _, (finding,) = cpp_program("pooled", tmp_path)
    functions = [frame["function"].split("::")[-1] for frame in finding["stack"]]
    assert functions[:2] == ["forward", "in_forward"]
    assert functions[-1] == "main"
    assert all(frame["line"] > 0 for frame in finding["stack"])


def test_path_runs_from_the_use_to_the_creation(tmp_path):
    _, (finding,) = cpp_program("labels", tmp_path)
    assert [(step["label"], step["device"]) for step in finding["path"]] == [
        ("used", "cuda:0"), ("moved", "cuda:0"), ("created", "cpu")]


def test_buffer_has_its_name(tmp_path):
    _, (finding,) = cpp_program("buffer", tmp_path)
    assert {argument["name"]: argument["parameter"] for argument in finding["arguments"]} == {
        "self": None, "other": "scale"}


def test_backward_of_a_custom_function(tmp_path):
    _, (finding,) = cpp_program("custom-function", tmp_path)
    assert finding["op"]["backward"]
    assert finding["stack"][0]["function"].endswith("Mixing::backward")


def test_steps_of_torch_optim_are_counted(tmp_path):
    _, (finding,) = cpp_program("stepped", tmp_path)
    assert finding["step"] == 2


def test_exception_of_the_programs_own(tmp_path):
    result, (finding,) = cpp_program("own-check", tmp_path)
    assert result.returncode == -6
    assert (finding["rule"], finding["level"]) == ("device-mismatch", "error")
    assert "y must be on device cuda:0 but is on cuda:1" in finding["error"]
    assert finding["stack"][0]["function"].endswith("same_device")
    # The statement that throws may have its line at its end.
    assert abs(finding["line"] - line_of("faults.cpp", "own-check")) <= 1


def test_exception_that_is_caught_is_nobodys_business(tmp_path):
    result, findings = cpp_program("own-check-caught", tmp_path)
    assert (result.returncode, findings) == (0, [])


def test_gradient_that_the_engine_refuses(tmp_path):
    result, (finding,) = cpp_program("invalid-gradient", tmp_path)
    assert result.returncode == -6
    assert "invalid gradient" in finding["error"]
    assert finding["forward_stack"][0]["function"].endswith("invalid_gradient")


def test_gpu_of_another_rank(tmp_path):
    result, (finding,) = cpp_program("other-ranks-gpu", tmp_path, env={"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1"})
    assert result.returncode == 0, result.stderr
    assert (finding["rule"], finding["level"], finding["own_device"]) == ("rank-affinity", "warning", "cuda:1")
    assert (finding["count"], finding["bytes"]) == (4, 4 * 8 * 4)
    assert finding["line"] == line_of("faults.cpp", "other-ranks-gpu")


@pytest.mark.parametrize("origins", [0, 1, 2])
def test_no_finding(origins, tmp_path):
    result, findings = cpp_program("no-fault", tmp_path, f"on_mismatch=continue:origins={origins}")
    assert result.returncode == 0, result.stderr
    assert findings == []
    assert result.stdout == "done\n"
