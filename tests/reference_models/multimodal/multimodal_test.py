"""The program multimodal as users type it: help, wrong use, ranks of its own and torchrun's, training, faults' terms."""
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

from tools import BIN, PYTHON, SOURCE, one_line, run

PROGRAM = BIN / "multimodal"
DATA = SOURCE / ".deps" / "data" / "digits.csv"
FAULTS = ("cpu-pixels", "tokens-literal", "vision-literal", "set-device", "cpu-metric", "buffer", "late-move")
# One thread a rank: the sums are then the same on every machine.
ONE_THREAD = {"OMP_NUM_THREADS": "1"}


def multimodal(*arguments, timeout=240, env=None):
    return run([PROGRAM, *arguments], timeout=timeout, env={**ONE_THREAD, **(env or {})})


def losses(output):
    return [float(loss) for loss in re.findall(r"^\w+ epoch .* train loss ([0-9.]+)", output, re.M)]


def accuracy(output, stage):
    found = re.findall(rf"^{stage}: held-out answer accuracy ([0-9.]+)$", output, re.M)
    assert len(found) == 1, output
    return float(found[0])


@pytest.fixture(scope="module")
def small_data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "small.csv"
    path.write_text("".join(DATA.read_text().splitlines(keepends=True)[:300]))
    return path


@pytest.fixture
def small(small_data):
    return ["--data", small_data, "--width", "32", "--backend", "gloo"]


def test_help_shows_examples_and_every_fault():
    result = multimodal("--help")
    assert result.returncode == 0 and result.stderr == ""
    assert "{none," + ",".join(FAULTS) + "}" in result.stdout
    assert re.search(r"Examples:\n  multimodal --", result.stdout)
    for fault in FAULTS:
        assert re.search(rf"^  {fault} +\S", result.stdout, re.M)


@pytest.mark.parametrize("arguments, message", [
    (["--unknown"], "--unknown"),
    (["--spawn", "0"], "--spawn: '0'; accepted: a whole number from 1"),
    (["--spawn", "two"], "--spawn: 'two'; accepted: a whole number from 1"),
    (["--backend", "mpi"], "--backend: 'mpi'; accepted: nccl, gloo"),
    (["--stage", "last"], "--stage: 'last'; accepted: pretrain, icv, both"),
    (["--epochs", "many"], "--epochs: 'many'; accepted: a whole number from 1"),
    (["--width", "20"], "--width: 20; accepted: a multiple of 16"),
    (["--fault", "other"], "--fault: 'other'; accepted: none, " + ", ".join(FAULTS)),
    (["--data", "/nonexistent"], "/nonexistent: no such file"),
    (["--resume", "/nonexistent"], "/nonexistent: no such checkpoint"),
    (["--resume", str(DATA)], f"{DATA}: not a checkpoint of multimodal"),
    (["--checkpoint", "/nonexistent/run.pt"], "--checkpoint /nonexistent/run.pt: not a file that can be written"),
    (["--stage", "icv"], "--stage icv: needs --resume"),
    (["--batch", "1", "--spawn", "2", "--backend", "gloo"], "--batch 1: 2 ranks cannot share such a batch"),
    (["--backend", "nccl"], "--backend nccl: 1 ranks need a GPU each, and there are 0"),
    (["--backend", "gloo", "--fault", "buffer"], "this fault needs GPUs and --backend nccl"),
])
def test_wrong_use_is_one_line_and_exit_2(arguments, message):
    result = multimodal(*arguments)
    assert result.returncode == 2, result.stderr
    assert message in one_line(result.stderr)
    assert result.stdout == ""


@pytest.mark.parametrize("environment, message", [
    ({"RANK": "0"}, "RANK is set and WORLD_SIZE is not"),
    ({"RANK": "2", "WORLD_SIZE": "2"}, "RANK: '2'; accepted: a whole number from 0 to 1"),
    ({"RANK": "zero", "WORLD_SIZE": "2"}, "RANK: 'zero'; accepted: a whole number from 0 to 1"),
    ({"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "localhost", "MASTER_PORT": "70000"},
     "MASTER_PORT: '70000'; accepted: a whole number from 1 to 65535"),
])
def test_a_launcher_that_says_nonsense(environment, message):
    result = multimodal(env=environment)
    assert result.returncode == 2
    assert message in one_line(result.stderr)


def test_data_that_is_broken_is_said_once_for_all_ranks(tmp_path):
    broken = tmp_path / "broken.csv"
    broken.write_text("1,2,3\n")
    result = multimodal("--spawn", "2", "--data", broken)
    assert result.returncode == 2
    assert f"{broken}:1: not a digit" in one_line(result.stderr)


def test_loss_falls_over_two_ranks(small):
    result = multimodal("--spawn", "2", "--stage", "pretrain", "--epochs", "6", *small)
    assert result.returncode == 0, result.stderr
    assert "ranks: 2, gloo, the first on cpu" in result.stdout
    first, *_, last = losses(result.stdout)
    assert last < 0.8 * first


def test_the_number_of_ranks_changes_nothing(small):
    outputs = [multimodal("--stage", "pretrain", "--epochs", "1", *small, *ranks) for ranks in ([], ["--spawn", "3"])]
    (alone,), (together,) = (losses(result.stdout) for result in outputs)
    assert alone == pytest.approx(together, abs=2e-3)


def test_a_run_goes_on_from_its_checkpoint_through_both_stages(small, tmp_path):
    checkpoint = tmp_path / "run.pt"
    straight = multimodal("--epochs", "2", *small)
    first = multimodal("--epochs", "1", "--stage", "pretrain", "--checkpoint", checkpoint, *small)
    assert first.returncode == 0, first.stderr
    second = multimodal("--epochs", "2", "--resume", checkpoint, "--checkpoint", checkpoint, *small)
    assert second.returncode == 0, second.stderr
    assert losses(first.stdout) + losses(second.stdout) == losses(straight.stdout)
    assert "icv epoch 2/2" in second.stdout

    third = multimodal("--epochs", "3", "--resume", checkpoint, *small)
    assert "pretrain" not in third.stdout and "icv epoch 3/3" in third.stdout
    back = multimodal("--stage", "pretrain", "--resume", checkpoint, *small)
    assert back.returncode == 2 and "the checkpoint is of stage icv" in one_line(back.stderr)
    other = multimodal("--resume", checkpoint, "--width", "64")
    assert other.returncode == 2 and "--width: the checkpoint was made with another value" in one_line(other.stderr)


def test_python_reads_the_checkpoint(small, tmp_path):
    import torch
    checkpoint = tmp_path / "run.pt"
    multimodal("--steps", "1", "--stage", "pretrain", "--checkpoint", checkpoint, *small)
    run_ = torch.load(checkpoint, weights_only=False)  # TorchScript's pickles name a function of its own
    assert run_["step"] == 1
    assert run_["weights"]["lmm.model.vision_model.embeddings.patch_embedding.weight"].shape == (32, 1, 2, 2)


def test_torchrun_launches_it(small):
    result = run([PYTHON, "-m", "torch.distributed.run", "--standalone", "--no-python", "--nproc-per-node", "2", PROGRAM,
                  "--stage", "pretrain", "--steps", "2", *small], timeout=240, env=ONE_THREAD)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("ranks: 2, gloo, the first on cpu") == 1


def start(*arguments):
    return subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **ONE_THREAD})


def ranks_of(process, count):
    """The ranks that a running program has started."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = children.read_text().split()
        if len(found) == count:
            return [int(pid) for pid in found]
        time.sleep(0.05)
    raise AssertionError("the ranks did not start")


def is_running(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.fixture
def long_run(small):
    process = start("--spawn", "2", "--epochs", "100000", *small)
    yield process
    process.kill()
    process.wait()


def test_a_rank_that_is_killed_ends_the_others(long_run):
    ranks = ranks_of(long_run, 2)
    os.kill(ranks[1], signal.SIGKILL)
    long_run.communicate(timeout=60)
    assert long_run.returncode == 128 + signal.SIGKILL
    assert not any(is_running(pid) for pid in ranks)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_the_ranks(long_run, number):
    ranks = ranks_of(long_run, 2)
    long_run.send_signal(number)
    long_run.communicate(timeout=60)
    assert long_run.returncode == 128 + number
    assert not any(is_running(pid) for pid in ranks)


def test_ranks_end_with_the_program_that_started_them(long_run):
    ranks = ranks_of(long_run, 2)
    long_run.kill()
    long_run.communicate(timeout=60)
    deadline = time.monotonic() + 30
    while any(is_running(pid) for pid in ranks) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(is_running(pid) for pid in ranks)


def test_both_stages_learn_the_digits():
    result = multimodal("--spawn", "2", "--backend", "gloo", timeout=600)
    assert result.returncode == 0, result.stderr
    assert "data: 1438 digits to train, 359 held out, 2 questions about each" in result.stdout
    assert accuracy(result.stdout, "pretrain") > 0.80
    assert accuracy(result.stdout, "icv") > 0.80
