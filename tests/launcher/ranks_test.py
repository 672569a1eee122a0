"""`devsan run` over the reports of many processes. The processes are played: each writes a report as the tracer does."""
import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from tools import BIN, devsan

# rank.py RANK WORLD SECONDS [LINE]: writes an empty report, then after SECONDS one with a finding at LINE.
PLAYED_RANK = textwrap.dedent("""
    import json, os, sys, time
    rank, world, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    folder = dict(word.split("=", 1) for word in os.environ["DEVSAN_OPTIONS"].split(":"))["report_dir"]

    def write(findings):
        path = f"{folder}/{os.getpid()}.json"
        with open(path + ".part", "w") as file:
            json.dump({"tool": "devsan", "version": "0", "findings": findings}, file)
        os.rename(path + ".part", path)

    write([])
    print("ready", flush=True)
    time.sleep(seconds)
    if len(sys.argv) > 4:
        write([{"rule": "device-mismatch", "level": "error", "message": "m", "file": "train.py",
                "line": int(sys.argv[4]), "path": [], "fixes": [], "rank": rank, "world_size": world, "step": 0,
                "collectives": 1, "time_us": time.time_ns() // 1000, "process": os.getpid(),
                "op": {"name": "aten::mm", "sequence": 1, "backward": False},
                "arguments": [], "stack": [], "forward_stack": []}])
""")


@pytest.fixture
def rank(tmp_path):
    """The command of a played rank, for a shell."""
    (tmp_path / "rank.py").write_text(PLAYED_RANK)
    return lambda *arguments: " ".join([sys.executable, str(tmp_path / "rank.py"), *map(str, arguments)])


def run(script, *options, **more):
    return devsan("run", *options, "--", "sh", "-c", script, **more)


def findings(path):
    return json.loads(path.read_text())["findings"]


def test_a_fault_of_all_ranks_is_said_once(rank, tmp_path):
    result = run(" & ".join(rank(i, 4, 0, 38) for i in range(4)) + " & wait", "--report", tmp_path / "all.json")
    assert result.stderr.count("ERROR: DevSan") == 1 and "(ranks 0-3 of 4, first on rank " in result.stderr
    assert [each["ranks"] for each in findings(tmp_path / "all.json")] == [[0, 1, 2, 3]]
    assert result.returncode == 66


def test_the_first_of_different_faults_is_shown(rank, tmp_path):
    script = f"{rank(1, 2, 0, 38)}; {rank(0, 2, 0, 50)}"
    result = run(script, "--report", tmp_path / "all.json")
    assert result.stderr.count("SUMMARY: DevSan") == 1 and "SUMMARY: DevSan: device-mismatch train.py:38" in result.stderr
    assert "devsan run: 1 more error; --report FILE gets all" in result.stderr
    assert [each["line"] for each in findings(tmp_path / "all.json")] == [38, 50]
    assert run(script, "--on-mismatch", "continue").stderr.count("SUMMARY: DevSan") == 2


def test_a_rank_that_reports_after_its_launcher_failed_is_heard(rank):
    result = run(f"{rank(1, 2, 0.5, 38)} & sleep 0.2; exit 9")
    assert result.returncode == 9 and "rank 1 of 2" in result.stderr


def test_a_process_left_behind_is_not_waited_for_without_end(rank):
    # It holds none of our pipes, as a daemon does not.
    result = run(f"{rank(0, 1, 60)} > /dev/null 2>&1 & echo $!; sleep 0.5; exit 0", timeout=30)
    os.kill(int(result.stdout), signal.SIGKILL)
    assert result.returncode == 0 and f"1 of its processes still runs after 5 s ({result.stdout.strip()})" in result.stderr


def test_a_killed_ranks_report_is_kept(rank):
    result = run(f"{rank(1, 2, 0, 38)}; kill -KILL $$")
    assert result.returncode == 128 + 9 and "rank 1 of 2" in result.stderr


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_still_reports(rank, signal_number, tmp_path):
    script = f"{rank(1, 2, 0, 38)} > /dev/null; trap 'exit 5' INT TERM; echo ready; while :; do sleep 0.05; done"
    process = subprocess.Popen([BIN / "devsan", "run", "--report", tmp_path / "r.json", "--", "sh", "-c", script],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal_number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 5 and err.count("SUMMARY: DevSan") == 1 and len(findings(tmp_path / "r.json")) == 1


def test_output_that_nobody_reads_costs_no_report_and_no_exit_code(rank, tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run([BIN / "devsan", "run", "--report", tmp_path / "r.json", "--", "sh", "-c",
                              rank(1, 2, 0, 38) + " > /dev/null"], stderr=writer, timeout=30)
    os.close(writer)
    assert process.returncode == 66 and len(findings(tmp_path / "r.json")) == 1


def test_a_broken_report_does_not_cost_the_others(rank):
    folder = "$(echo $DEVSAN_OPTIONS | tr : '\\n' | sed -n s/report_dir=//p)"
    result = run(f"echo '{{' > {folder}/1.json; {rank(1, 2, 0, 38)}")
    assert "the report of process 1 could not be read" in result.stderr and "SUMMARY: DevSan" in result.stderr


def test_the_command_does_not_inherit_an_ignored_signal():
    # `yes | head` ends because yes dies of SIGPIPE.
    assert devsan("run", "--trace-ops", "0", "--", "sh", "-c", "yes | head -1", timeout=20).stdout == "y\n"
