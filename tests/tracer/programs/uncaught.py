"""Small programs that end by an exception about devices that no op raised, and some whose end is not about devices:
uncaught.py NAME. The line to change ends in a comment with the program's name.
"""
import os
import sys
import threading

import torch
from torch import nn


def init_gloo(rank=0, size=1, backend="gloo"):
    import torch.distributed as dist

    store = dist.FileStore(os.environ["STORE"], size)
    dist.init_process_group(backend, store=store, rank=rank, world_size=size)


def data_parallel():
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1)).to("cuda:0")
    net[1].to("cpu")  # cause: data-parallel
    nn.DataParallel(net, [0, 1])(torch.ones(4, 4, device="cuda:0"))


def ddp_devices():
    init_gloo()
    net = nn.Linear(4, 4)
    nn.parallel.DistributedDataParallel(net, device_ids=[0])  # cause: ddp-devices


class Elsewhere(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient.to("cuda:1")


def invalid_gradient():
    x = torch.ones(3, device="cuda:0", requires_grad=True)
    y = Elsewhere.apply(x)  # cause: invalid-gradient
    y.sum().backward()


def assigned_gradient():
    weight = nn.Parameter(torch.ones(3, device="cuda:0"))
    gradient = torch.ones(3, device="cuda:1")
    weight.grad = gradient  # cause: assigned-gradient


def check(x, y):
    if x.device != y.device:
        raise ValueError(f"x must be on device {x.device} but y is on {y.device}")


def make(device):
    value = torch.ones(3).to(device)  # not a literal
    return value  # cause: returned


def returned():
    value = torch.ones(3, device=torch.device("cuda", 0))
    check(value, make(torch.device("cuda", 1)))


def in_thread():
    thread = threading.Thread(target=returned)
    thread.start()
    thread.join()


def replaced_hook():
    torch.ones(1)
    sys.excepthook = lambda *arguments: print("the program's own hook")
    returned()


def rank(index, size):
    torch.ones(1)  # opens the tracer inside the running function
    if index == 1:
        returned()


def spawned():
    torch.multiprocessing.spawn(rank, (2,), nprocs=2)


def process():
    import multiprocessing

    child = multiprocessing.get_context("spawn").Process(target=rank, args=(1, 1))
    child.start()
    child.join()
    sys.exit(child.exitcode)


def group_rank(index, size):
    """A rank that only its process group knows of."""
    init_gloo(index, size)
    torch.distributed.all_reduce(torch.ones(3))
    if index == 1:
        returned()


def ranks():
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        os.environ.pop(name, None)
    torch.multiprocessing.spawn(group_rank, (2,), nprocs=2)


def collective():
    init_gloo(backend="cuda:gloo")
    torch.distributed.all_reduce(torch.ones(3, device="cuda:1"))
    total = torch.zeros(1)
    torch.distributed.all_reduce(total)  # cause: collective


# ---- nothing to report

def caught():
    try:
        returned()
    except ValueError:
        print("carried on")


def system_exit():
    torch.ones(1)
    sys.exit("the loss must be on device cuda:0 but is on cuda:1")


def interrupt():
    torch.ones(1)
    raise KeyboardInterrupt("must be on device cuda:0 but is on cuda:1")


def other_error():
    torch.ones(1)
    raise RuntimeError("CUDA out of memory: this device has 3 GiB but cuda:0 needs 4 GiB")


def option():
    x = torch.ones(1)
    raise ValueError(f"device must be one of 'cpu' or 'cuda', but got 'gpu' for {x}")


def missing_file():
    torch.ones(1)
    open("/device/cuda:0 must exist but does not")


def op_error():
    """Reported by its op: once."""
    torch.ones(3, device="cuda:0") + torch.ones(3)


PROGRAMS = {
    "data-parallel": data_parallel, "ddp-devices": ddp_devices, "invalid-gradient": invalid_gradient,
    "assigned-gradient": assigned_gradient, "returned": returned, "in-thread": in_thread, "replaced-hook": replaced_hook,
    "spawned": spawned, "process": process, "ranks": ranks, "collective": collective, "caught": caught,
    "system-exit": system_exit, "interrupt": interrupt, "other-error": other_error, "missing-file": missing_file, "option": option,
    "op-error": op_error,
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]]()
    print("done")
