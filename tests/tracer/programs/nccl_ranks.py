"""Two ranks over NCCL with a fault each: nccl_ranks.py NAME, under torchrun. The line to change ends in a comment with
the program's name.
"""
import os
import sys

import torch
import torch.distributed as dist


def own_gpu():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    dist.all_reduce(torch.ones(3, device="cuda"))


def cpu_metric():
    own_gpu()
    correct = torch.zeros(1)
    dist.all_reduce(correct)  # cause: cpu-metric


def shared_gpu():
    dist.init_process_group("nccl")
    x = torch.ones(3, device="cuda")  # cause: shared-gpu
    dist.all_reduce(x)


def affinity():
    own_gpu()
    for _ in range(2):
        torch.ones(5, device="cuda:0")  # cause: affinity
    dist.all_reduce(torch.ones(3, device="cuda"))


if __name__ == "__main__":
    {"cpu-metric": cpu_metric, "shared-gpu": shared_gpu, "affinity": affinity}[sys.argv[1]]()
    dist.destroy_process_group()
