"""SyncBatchNorm on two ranks against BatchNorm over the whole batch in one process, on the CPU."""
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

ROWS = 9
STEPS = 3


def close(got, wanted):
    assert got.is_cuda
    torch.testing.assert_close(got.detach().cpu(), wanted.detach(), rtol=1e-5, atol=1e-5)


def batch(shape, step):
    generator = torch.Generator().manual_seed(step)
    return [2 * torch.randn(ROWS, *shape, generator=generator) + 3 for _ in range(2)]


def share(tensor, rank, first):
    """Rank 0 has the first rows, rank 1 the rest."""
    return tensor[:first] if rank == 0 else tensor[first:]


def gradient(leaf):
    """On a rank without samples PyTorch leaves it None."""
    return torch.zeros_like(leaf) if leaf.grad is None else leaf.grad


def compare(rank, device, kind, shape, first, channels_last=False, **options):
    """Output, gradients and running statistics of STEPS steps."""
    alone = kind(shape[0], **options)
    if alone.affine:
        nn.init.uniform_(alone.weight, generator=torch.Generator().manual_seed(1))
        nn.init.uniform_(alone.bias, generator=torch.Generator().manual_seed(2))
    together = kind(shape[0], **options)
    together.load_state_dict(alone.state_dict())
    together = nn.SyncBatchNorm.convert_sync_batchnorm(together).to(device)
    assert type(together) is nn.SyncBatchNorm
    for step in range(STEPS):
        x, grad = batch(shape, step)
        mine, grad_mine = share(x, rank, first), share(grad, rank, first)
        if channels_last:
            mine, grad_mine = (t.contiguous(memory_format=torch.channels_last) for t in (mine, grad_mine))
        mine = mine.to(device).requires_grad_()
        x.requires_grad_()
        alone.zero_grad()
        together.zero_grad()
        y, y_mine = alone(x), together(mine)
        y.backward(grad)
        y_mine.backward(grad_mine.to(device))
        close(y_mine, share(y, rank, first))
        close(gradient(mine), share(x.grad, rank, first))
        for got, wanted in zip(together.parameters(), alone.parameters(), strict=True):
            dist.all_reduce(total := gradient(got))
            close(total, wanted.grad)
        for got, wanted in zip(together.buffers(), alone.buffers(), strict=True):
            close(got, wanted)


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 1))


def train_half(rank, device):
    """Under DDP and autocast: the input is half, weight and running statistics are float."""
    alone = model()
    together = nn.SyncBatchNorm.convert_sync_batchnorm(model()).to(device)
    ddp = DistributedDataParallel(together, device_ids=[rank])
    x, _ = batch((2, 4, 4), 0)
    x = x[:8]
    alone(x).sum().backward()
    with torch.autocast("cuda", dtype=torch.float16):
        ddp(share(x, rank, 4).to(device)).sum().backward()
    # DDP averages over the ranks.
    for got, wanted in zip(together.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(2 * got.grad.cpu(), wanted.grad, rtol=2e-2, atol=2e-2)
    for got, wanted in zip(together.buffers(), alone.buffers(), strict=True):
        torch.testing.assert_close(got.cpu(), wanted, rtol=2e-3, atol=2e-3)


def main():
    rank = int(os.environ["RANK"])
    device = torch.device("cuda", rank)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    compare(rank, device, nn.BatchNorm1d, (3,), first=2)
    compare(rank, device, nn.BatchNorm1d, (3, 5), first=5, momentum=None)
    compare(rank, device, nn.BatchNorm2d, (3, 4, 2), first=1, eps=0.1, momentum=0.4)
    compare(rank, device, nn.BatchNorm2d, (3, 4, 2), first=4, channels_last=True)
    compare(rank, device, nn.BatchNorm3d, (3, 2, 3, 2), first=7, affine=False)
    compare(rank, device, nn.BatchNorm2d, (3, 4, 2), first=4, track_running_stats=False)
    compare(rank, device, nn.BatchNorm2d, (3, 4, 2), first=0)  # rank 0 has no samples
    train_half(rank, device)
    dist.destroy_process_group()
    print(f"rank {rank} is done\n", end="", flush=True)


main()
