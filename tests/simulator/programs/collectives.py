"""Every collective of torch.distributed over NCCL, against values worked out by hand.

Under torchrun; or with --spawn N, by torch.multiprocessing.
"""
import os
import sys

import torch
import torch.distributed as dist


def same(got, wanted):
    wanted = torch.as_tensor(wanted, dtype=got.dtype)
    assert got.is_cuda and got.cpu().equal(wanted), f"{got.cpu()} instead of {wanted}"


def run(rank, world):
    device = torch.device("cuda", rank)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", rank=rank, world_size=world)
    ranks = range(world)

    def mine(n=3, dtype=torch.float32):
        return (torch.arange(n) + 10 * rank).to(device, dtype)

    def of(r, n=3):
        return torch.arange(n) + 10 * r

    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int8,
                  torch.uint8):
        t = mine(dtype=dtype)
        dist.all_reduce(t)
        same(t, sum(of(r) for r in ranks))
    for op, combine in ((dist.ReduceOp.MAX, max), (dist.ReduceOp.MIN, min)):
        t = mine()
        dist.all_reduce(t, op)
        same(t, of(combine(ranks)))
    t = mine()
    dist.all_reduce(t, dist.ReduceOp.AVG)
    assert torch.allclose(t.cpu(), sum(of(r) for r in ranks) / world)
    t = mine()
    dist.all_reduce(t, dist._make_nccl_premul_sum(2.0))
    same(t, 2 * sum(of(r) for r in ranks))
    t = torch.tensor([rank == 0, False], device=device)
    dist.all_reduce(t)
    same(t, [True, False])
    t = torch.complex(mine(), mine())
    dist.all_reduce(t)
    same(t.real, sum(of(r) for r in ranks))
    t = mine(0)
    dist.all_reduce(t)

    t = mine()
    dist.broadcast(t, world - 1)
    same(t, of(world - 1))
    t = mine()
    dist.reduce(t, 0)
    same(t, sum(of(r) for r in ranks) if rank == 0 else of(rank))

    outputs = [torch.empty(3, device=device) for _ in ranks]
    dist.all_gather(outputs, mine())
    for r in ranks:
        same(outputs[r], of(r))
    outputs = [torch.empty(r + 1, device=device) for r in ranks]  # of different sizes
    dist.all_gather(outputs, mine(rank + 1))
    for r in ranks:
        same(outputs[r], of(r, r + 1))
    flat = torch.empty(3 * world, device=device)
    dist.all_gather_into_tensor(flat, mine())
    same(flat, torch.cat([of(r) for r in ranks]))

    out = torch.empty(3, device=device)
    dist.reduce_scatter(out, [mine() + 100 * r for r in ranks])
    same(out, sum(of(r) for r in ranks) + 100 * rank * world)
    dist.reduce_scatter_tensor(out, mine(3 * world))
    same(out, sum(of(r, 3 * world) for r in ranks)[3 * rank : 3 * rank + 3])

    gathered = [torch.empty(3, device=device) for _ in ranks] if rank == 0 else None
    dist.gather(mine(), gathered, 0)
    if rank == 0:
        for r in ranks:
            same(gathered[r], of(r))
    dist.scatter(out, [mine() + r for r in ranks] if rank == 0 else None, 0)
    same(out, of(0) + rank)

    outputs = [torch.empty(3, device=device) for _ in ranks]
    dist.all_to_all(outputs, [mine() + 100 * r for r in ranks])
    for r in ranks:
        same(outputs[r], of(r) + 100 * rank)
    out = torch.empty(world, device=device)
    dist.all_to_all_single(out, mine(world))
    same(out, [10 * r + rank for r in ranks])
    sizes = [r + 1 for r in ranks]  # rank r gets r + 1 elements of everyone
    out = torch.empty((rank + 1) * world, device=device)
    dist.all_to_all_single(out, mine(sum(sizes)), [rank + 1] * world, sizes)
    start = sum(sizes[:rank])
    same(out, torch.cat([of(r, sum(sizes))[start : start + rank + 1] for r in ranks]))

    following, previous = (rank + 1) % world, (rank - 1) % world
    received = torch.empty(200_000, device=device)
    for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, mine(200_000), following),
                                        dist.P2POp(dist.irecv, received, previous)]):
        work.wait()
    same(received, of(previous, 200_000))
    if rank == 0:
        dist.send(mine(), 1)
    elif rank == 1:
        t = torch.empty(3, device=device)
        dist.recv(t, 0)
        same(t, of(0))

    work = dist.all_reduce(t := mine(), async_op=True)
    work.wait()
    same(t, sum(of(r) for r in ranks))
    with dist._coalescing_manager(device=device):
        a, b = mine(), mine(5)
        dist.all_reduce(a)
        dist.all_reduce(b)
    same(a, sum(of(r) for r in ranks))
    same(b, sum(of(r, 5) for r in ranks))

    first = dist.new_group([0])
    rest = dist.new_group(list(range(1, world)))
    part = [0] if rank == 0 else list(range(1, world))
    t = mine()
    dist.all_reduce(t, group=first if rank == 0 else rest)
    same(t, sum(of(r) for r in part))

    objects = [None] * world
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": r} for r in ranks]
    shared = [f"from {rank}"]
    dist.broadcast_object_list(shared, 0)
    assert shared == ["from 0"]
    dist.barrier()
    torch.cuda.synchronize()
    dist.destroy_process_group()
    print(f"rank {rank} of {world} is done\n", end="", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--spawn":
        torch.multiprocessing.spawn(run, (int(sys.argv[2]),), int(sys.argv[2]))
    else:
        run(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
