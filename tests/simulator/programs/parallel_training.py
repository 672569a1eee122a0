"""Training on two ranks against training on one, on the CPU: DDP, FSDP2, tensor and pipeline parallelism."""
import copy
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel

STEPS = 4


def model():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4))


def batch(step):
    generator = torch.Generator().manual_seed(step)
    return torch.randn(8, 16, generator=generator), torch.randint(0, 4, (8,), generator=generator)


def train(module, rows, device):
    """Losses and the last gradients of STEPS steps; `rows` chooses this rank's share of a batch."""
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for step in range(STEPS):
        x, y = batch(step)
        loss = nn.functional.cross_entropy(module(x[rows].to(device)), y[rows].to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses)


def averaged(losses, device):
    losses = losses.to(device)
    dist.all_reduce(losses, dist.ReduceOp.AVG)
    return losses.cpu()


def main():
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = torch.device("cuda", rank)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    share = slice(rank * 8 // world, (rank + 1) * 8 // world)

    alone = model()
    expected = train(alone, slice(None), "cpu")
    weights = [p.detach() for p in alone.parameters()]

    ddp = DistributedDataParallel(model().to(device), device_ids=[rank], bucket_cap_mb=0.1)
    torch.testing.assert_close(averaged(train(ddp, share, device), device), expected)
    for got, wanted in zip(ddp.parameters(), weights, strict=True):
        torch.testing.assert_close(got.detach().cpu(), wanted)
    print(f"ddp {rank}\n", end="", flush=True)

    sharded = model().to(device)
    for layer in sharded:
        if isinstance(layer, nn.Linear):
            fully_shard(layer)
    fully_shard(sharded)
    torch.testing.assert_close(averaged(train(sharded, share, device), device), expected)
    for got, wanted in zip(sharded.parameters(), weights, strict=True):
        torch.testing.assert_close(got.full_tensor().detach().cpu(), wanted)
    print(f"fsdp {rank}\n", end="", flush=True)

    mesh = init_device_mesh("cuda", (world,))
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel(), "4": ColwiseParallel(output_layouts=Replicate())}
    tensor_parallel = parallelize_module(model().to(device), mesh, plan)
    torch.testing.assert_close(train(tensor_parallel, slice(None), device), expected)
    print(f"tensor {rank}\n", end="", flush=True)

    x, y = batch(0)
    whole = model()
    nn.functional.cross_entropy(whole(x), y).backward()
    layers = list(copy.deepcopy(whole))
    for schedule_type in (ScheduleGPipe, Schedule1F1B):
        part = nn.Sequential(*(layers[:2] if rank == 0 else layers[2:])).to(device)
        part.zero_grad()
        stage = PipelineStage(part, rank, world, device)
        schedule = schedule_type(stage, 4, loss_fn=nn.functional.cross_entropy)
        if rank == 0:
            schedule.step(x.to(device))
        else:
            losses = []
            schedule.step(target=y.to(device), losses=losses)
            torch.testing.assert_close(torch.stack(losses).mean().cpu(), nn.functional.cross_entropy(whole(x), y))
        wanted = list((whole[:2] if rank == 0 else whole[2:]).parameters())
        for got, want in zip(part.parameters(), wanted, strict=True):
            torch.testing.assert_close(got.grad.cpu(), want.grad)
    print(f"pipeline {rank}\n", end="", flush=True)
    dist.destroy_process_group()


main()
