"""Two ranks that train together and meet a mistake; WRONG says what happens then to rank 1. Run by torchrun."""
import os
import signal
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

WRONG = os.environ.get("WRONG", "nothing")
RANK = int(os.environ["RANK"])


def mistake():
    """A mismatch that the program catches."""
    try:
        torch.ones(2, device="cuda") + torch.ones(2)  # the mistake
    except RuntimeError:
        print(f"rank {RANK} caught it", flush=True)


def fork():
    """A child that is forked after the first op, and uses CUDA before its parent does."""
    torch.ones(1).add_(1)
    child = os.fork()
    if child == 0:
        mistake()
        os._exit(0)
    os.waitpid(child, 0)


def main():
    if WRONG == "forked":
        fork()
    torch.cuda.set_device(RANK)
    dist.init_process_group("nccl")
    model = nn.parallel.DistributedDataParallel(nn.Linear(8, 1).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        if step == 2 and WRONG == "caught":
            mistake()
        if step == 2 and RANK == 1 and WRONG in ("killed", "hung", "interrupted"):
            mistake()
            if WRONG == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(600)
        loss = model(torch.ones(4, 8, device="cuda")).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"rank {RANK} is done", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
