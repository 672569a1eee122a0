"""torch.distributed with NCCL over simulated devices, under the launchers that people use."""
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

import pytest

PRELOAD = os.environ["DEVSAN_TEST_PRELOAD"]
PROGRAMS = pathlib.Path(__file__).parent / "programs"


def environment(options, **more):
    return {**os.environ, "LD_PRELOAD": PRELOAD, "DEVSAN_OPTIONS": options, "OMP_NUM_THREADS": "1",
            "TORCH_DISABLE_ADDR2LINE": "1", **more}


def torchrun(program, ranks):
    return subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks),
                           str(PROGRAMS / program)], env=environment(f"simulate={ranks}"), capture_output=True, text=True,
                          timeout=120)


def test_all_collectives_under_torchrun():
    result = torchrun("collectives.py", 2)
    assert result.returncode == 0, result.stderr
    assert sorted(result.stdout.splitlines()) == ["rank 0 of 2 is done", "rank 1 of 2 is done"]


def test_all_collectives_under_torch_multiprocessing():
    result = subprocess.run([sys.executable, str(PROGRAMS / "collectives.py"), "--spawn", "3"],
                            env=environment("simulate=3", MASTER_ADDR="localhost", MASTER_PORT=free_port()),
                            capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert sorted(result.stdout.splitlines()) == [f"rank {r} of 3 is done" for r in range(3)]


def test_training_in_parallel_equals_training_alone():
    result = torchrun("parallel_training.py", 2)
    assert result.returncode == 0, result.stderr
    assert sorted(result.stdout.splitlines()) == [f"{kind} {r}" for kind in ("ddp", "fsdp", "pipeline", "tensor")
                                                  for r in range(2)]


def test_batch_normalization_over_ranks_equals_that_of_the_whole_batch():
    result = torchrun("sync_batch_norm.py", 2)
    assert result.returncode == 0, result.stderr
    assert sorted(result.stdout.splitlines()) == ["rank 0 is done", "rank 1 is done"]


def free_port():
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return str(listener.getsockname()[1])


def stop(how, options="simulate=2", **more):
    """rank_that_stops.py without a launcher, which would end the others itself: what the two ranks print.

    In the values of `more` environment variables RANK stands for the number of the rank.
    """
    port = free_port()
    ranks = [subprocess.Popen([sys.executable, str(PROGRAMS / "rank_that_stops.py"), how], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True,
                              env=environment(options, RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="localhost",
                                              MASTER_PORT=port,
                                              **{k: v.replace("RANK", str(rank)) for k, v in more.items()}))
             for rank in range(2)]
    try:
        first = ranks[0].communicate(timeout=60)
        assert ranks[0].returncode == 3, first[1]
        if how in ("hang", "abort"):
            ranks[1].kill()
        return first[0], ranks[1].communicate(timeout=60)[0]
    finally:
        for process in ranks:
            process.kill()
            process.wait()


def seconds(output):
    return float(output.split()[0])


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM"])
def test_a_rank_that_is_killed_ends_the_others_at_once(how):
    output, _ = stop(how)
    assert "ncclRemoteError" in output
    assert "rank 0 waits in ncclAllReduce(4 elements of float32, sum) for rank 1" in output
    assert "whose process has ended" in output
    assert seconds(output) < 30, "long before the time-out of ten minutes"


def test_a_rank_that_hangs_ends_the_others_after_the_timeout():
    output, _ = stop("hang", "simulate=2:nccl_timeout=2")
    assert "ncclRemoteError" in output
    assert "rank 0 waited 2 s in ncclAllReduce" in output and "rank 1 is in no call of NCCL" in output
    assert seconds(output) >= 2


def test_another_thread_may_abort_a_call_that_waits():
    output, _ = stop("abort")
    assert "rank 0 aborted its communicator in ncclAllReduce" in output
    assert seconds(output) < 30


def test_two_ranks_on_one_device_are_refused():
    for output in stop("duplicate"):
        assert "ncclInvalidUsage" in output
        assert "Duplicate GPU detected : rank" in output and "both on CUDA device 10000" in output


def test_ranks_that_differ_are_told_so():
    for output in stop("calls"):
        assert "ncclInvalidUsage" in output
        assert ("rank 0 called ncclAllReduce(4 elements of float32, sum); rank 1 called ncclBroadcast(4 elements of "
                "float32, root 0)") in output


def test_each_rank_may_see_a_device_of_its_own():
    """Both call it cuda:0, and it is not the same one."""
    for output in stop("duplicate", CUDA_VISIBLE_DEVICES="RANK"):
        assert output == "no error\n"


def test_accelerate_launch():
    program = """if True:
        import torch
        from accelerate import Accelerator
        accelerator = Accelerator()
        model, optimizer = accelerator.prepare(m := torch.nn.Linear(4, 1), torch.optim.SGD(m.parameters(), lr=1.0))
        rank = accelerator.process_index
        accelerator.backward(model(torch.full((1, 4), float(rank), device=accelerator.device)).sum())
        gradient = next(model.parameters()).grad.tolist()
        gathered = accelerator.gather(torch.tensor([rank], device=accelerator.device)).tolist()
        print(f"{accelerator.device} {gradient} {gathered}\\n", end="")
        accelerator.end_training()
    """
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(program)
        file.flush()
        result = subprocess.run([sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2",
                                 "--main_process_port", free_port(), file.name],
                                env=environment("simulate=2"), capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert sorted(result.stdout.splitlines()) == [f"cuda:{rank} [[0.5, 0.5, 0.5, 0.5]] [0, 1]" for rank in range(2)]
