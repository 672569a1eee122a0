"""What is kept, said and returned when ranks are killed, hang, fork, carry on or are interrupted."""
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

from tools import BIN, PYTHON, devsan

PROGRAM = pathlib.Path(__file__).with_name("two_ranks.py")
COMMAND = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", PROGRAM]
ENVIRONMENT = {"OMP_NUM_THREADS": "1"}


def line_of(text):
    return next(number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1) if text in line)


def run(wrong, tmp_path, *options):
    report = tmp_path / "report.json"
    result = devsan("run", "--simulate", "2", "--report", report, *options, "--", *COMMAND, timeout=120,
                    env={**ENVIRONMENT, "WRONG": wrong})
    return result, json.loads(report.read_text())["findings"]


def test_nothing(tmp_path):
    result, findings = run("nothing", tmp_path)
    assert (result.returncode, findings) == (0, []), result.stderr
    assert "DevSan" not in result.stderr and "devsan" not in result.stderr
    # Both write to one pipe: a line may stand in another.
    assert all(result.stdout.count(f"rank {rank} is done") == 1 for rank in (0, 1))


def check_one(findings, ranks):
    assert [(each["rule"], each["ranks"], each["line"]) for each in findings] == [
        ("device-mismatch", ranks, line_of("# the mistake"))]


def test_ranks_that_carry_on_are_one_finding_and_an_exit_code_of_ours(tmp_path):
    result, findings = run("caught", tmp_path)
    check_one(findings, [0, 1])
    assert result.returncode == 66 and result.stderr.count("SUMMARY: DevSan") == 1


@pytest.mark.parametrize("wrong", ["killed", "hung"])
def test_the_report_of_a_rank_that_ends_badly_is_kept(wrong, tmp_path):
    start = time.monotonic()
    result, findings = run(wrong, tmp_path, "--nccl-timeout", "8")
    assert time.monotonic() - start < 60
    check_one(findings, [1])
    assert result.returncode not in (0, 66), result.stderr  # torchrun's own: a rank failed
    assert result.stderr.count("SUMMARY: DevSan") == 1
    assert "rank 0 is done" not in result.stdout


def test_a_forked_child_reports_for_itself_and_once(tmp_path):
    result, findings = run("forked", tmp_path)
    check_one(findings, [0, 1])
    assert result.returncode == 66 and result.stdout.count("is done") == 2
    assert result.stderr.count("SUMMARY: DevSan") == 1


def test_an_interrupt_ends_all_and_keeps_what_was_found(tmp_path):
    report = tmp_path / "report.json"
    process = subprocess.Popen([BIN / "devsan", "run", "--simulate", "2", "--report", report, "--", *COMMAND],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                               env={**os.environ, **ENVIRONMENT, "WRONG": "interrupted"})
    assert process.stdout.readline() == "rank 1 caught it\n"  # the only line before it hangs
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, err = process.communicate(timeout=60)
    assert process.returncode not in (0, 66)
    assert err.count("SUMMARY: DevSan") == 1
    check_one(json.loads(report.read_text())["findings"], [1])
    with pytest.raises(ProcessLookupError):  # nothing of the group is left
        for _ in range(100):
            os.killpg(process.pid, 0)
            time.sleep(0.1)
