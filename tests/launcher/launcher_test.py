"""`devsan run`: the command's own exit code, signals and stdout; options; nothing left behind."""
import os
import signal
import subprocess

import pytest

from tools import BIN, devsan, one_line


@pytest.mark.parametrize("arguments, words", [
    ([], "no command; give it behind --"),
    (["--"], "no command; give it behind --"),
    (["ls"], "ls"),
    (["--simulate", "65", "--", "true"], "option simulate: '65' is not accepted; give 0..64"),
    (["--origins", "7", "--", "true"], "option origins: '7' is not accepted; give 0|1|2"),
    (["--gpu", "gtx", "--", "true"], "h100|a100|l4|rtx4090"),
    (["--device-memory", "lots", "--", "true"], "a size such as 80GiB"),
    (["--frobnicate", "--", "true"], "--frobnicate"),
    (["--exit-code", "300", "--", "true"], "--exit-code"),
    (["--report", "x.pdf", "--", "true"], "give .json, .sarif, .html or .txt"),
    (["--report", "nowhere/x.json", "--", "true"], "there is no folder 'nowhere'"),
])
def test_wrong_use_is_one_line_and_exit_2(arguments, words, tmp_path):
    result = devsan("run", *arguments, cwd=tmp_path)
    assert result.returncode == 2 and result.stdout == ""
    assert words in one_line(result.stderr)


def test_options_of_the_environment_are_checked_too():
    result = devsan("run", "--", "true", env={"DEVSAN_OPTIONS": "simulate=many"})
    assert result.returncode == 2 and "option simulate: 'many'" in one_line(result.stderr)


def test_exit_code_and_output_are_the_commands_own():
    result = devsan("run", "--trace-ops", "0", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (result.returncode, result.stdout, result.stderr) == (7, "out\n", "err\n")


def test_a_command_that_is_not_there():
    result = devsan("run", "--trace-ops", "0", "--", "no-such-command")
    assert result.returncode == 127 and "cannot start 'no-such-command'" in one_line(result.stderr)


def test_a_command_that_cannot_be_executed(tmp_path):
    (tmp_path / "data").write_text("not a program")
    result = devsan("run", "--trace-ops", "0", "--", tmp_path / "data")
    assert result.returncode == 126 and "Permission denied" in one_line(result.stderr)


def test_death_by_signal_is_128_plus_its_number():
    assert devsan("run", "--trace-ops", "0", "--", "sh", "-c", "kill -9 $$").returncode == 128 + 9


def test_signals_are_passed_on():
    process = subprocess.Popen([BIN / "devsan", "run", "--trace-ops", "0", "--", "sh", "-c",
                                "trap 'echo caught; exit 3' TERM; echo ready; while :; do sleep 0.05; done"],
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (3, "caught\n")


def test_no_folder_is_left_behind(tmp_path):
    devsan("run", "--trace-ops", "0", "--", "true", env={"TMPDIR": str(tmp_path)})
    assert os.listdir(tmp_path) == []


def test_a_program_without_torch_is_said_to_be_unchecked():
    result = devsan("run", "--", "true")
    assert result.returncode == 0
    assert one_line(result.stderr) == "devsan run: no process ran a tensor op under the hooks: nothing was checked"
