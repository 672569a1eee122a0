"""Python programs that end by an exception about devices that no op raised: the tensors in hand and the line to change."""
import pytest

from tools import PYTHON
from traced import HERE, line_of, odd_argument, traced


def program(name, folder, options="", **more):
    env = {"STORE": str(folder / "store"), **more.pop("env", {})}
    return traced([PYTHON, HERE / "programs" / "uncaught.py", name], folder, options, env=env, **more)


# program, mark of the line to change, what raised, the odd one, its name in the model
FAULTS = [
    ("data-parallel", "data-parallel", "DataParallel.forward", "t", "1.weight"),
    ("ddp-devices", "ddp-devices", "DistributedDataParallel._log_and_throw", "module", "weight"),
    ("returned", "returned", "check", "y", None),
    ("in-thread", "returned", "check", "y", None),
    ("replaced-hook", "returned", "check", "y", None),
    ("spawned", "returned", "check", "y", None),
    ("process", "returned", "check", "y", None),
]


@pytest.mark.parametrize("name, mark, raised_by, odd, parameter", FAULTS, ids=[fault[0] for fault in FAULTS])
def test_fault_is_named(name, mark, raised_by, odd, parameter, tmp_path):
    _, findings = program(name, tmp_path)
    assert len(findings) == 1, findings
    (finding,) = findings
    assert (finding["rule"], finding["level"]) == ("device-mismatch", "error")
    assert finding["op"]["name"] == raised_by
    assert odd_argument(finding) == odd
    assert {each["name"]: each["parameter"] for each in finding["arguments"]}[odd] == parameter
    assert finding["file"].endswith("programs/uncaught.py")
    assert finding["line"] == line_of("uncaught.py", mark)


def test_invalid_gradient_shows_the_forward_line(tmp_path):
    result, (finding,) = program("invalid-gradient", tmp_path)
    assert result.returncode == 1
    assert finding["line"] == finding["forward_stack"][0]["line"] == line_of("uncaught.py", "invalid-gradient")
    assert "invalid gradient" in finding["error"]


def test_assigned_gradient(tmp_path):
    _, (finding,) = program("assigned-gradient", tmp_path)
    assert finding["line"] == line_of("uncaught.py", "assigned-gradient")
    assert {"weight": "cuda:0", "gradient": "cuda:1"}.items() <= {
        each["name"]: each["device"] for each in finding["arguments"]}.items()


def test_the_programs_own_hook_runs(tmp_path):
    result, _ = program("replaced-hook", tmp_path)
    assert result.returncode == 1
    assert result.stdout == "the program's own hook\n"


def test_pythons_own_words_stay(tmp_path):
    result, _ = program("returned", tmp_path)
    assert result.returncode == 1
    assert result.stderr.count("Traceback") == 1
    assert result.stderr.rstrip().endswith("ValueError: x must be on device cuda:0 but y is on cuda:1")


def test_rank_is_that_of_the_process_group(tmp_path):
    _, (finding,) = program("ranks", tmp_path)
    assert (finding["rank"], finding["world_size"]) == (1, 2)


def test_collective_on_a_tensor_its_backend_does_not_take(tmp_path):
    _, (finding,) = program("collective", tmp_path)
    assert (finding["rule"], finding["level"]) == ("collective-device", "error")
    assert finding["op"]["name"] == "c10d::allreduce_"
    assert finding["line"] == line_of("uncaught.py", "collective")
    assert [(each["device"], each["odd"]) for each in finding["arguments"]] == [("cpu", True)]
    assert 'total.to("cuda:1")' in finding["advice"]


@pytest.mark.parametrize("name, code", [("caught", 0), ("system-exit", 1), ("interrupt", -2), ("other-error", 1),
                                        ("missing-file", 1), ("option", 1)])
def test_no_finding(name, code, tmp_path):
    result, findings = program(name, tmp_path, "on_mismatch=continue")
    assert result.returncode == code, result.stderr
    assert findings == []


def test_an_error_of_an_op_is_said_once(tmp_path):
    _, findings = program("op-error", tmp_path, "on_mismatch=continue")
    assert [finding["op"]["name"] for finding in findings] == ["aten::add"]
