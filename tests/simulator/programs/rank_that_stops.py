"""Rank 1 stops answering, in the way its argument names; rank 0 says what it got to hear, and after how long."""
import os
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist

HOW = sys.argv[1]
rank = int(os.environ["RANK"])
device = torch.device("cuda", rank if HOW != "duplicate" else 0)
torch.cuda.set_device(device)
dist.init_process_group("nccl")
t = torch.ones(4, device=device)
if HOW != "duplicate":
    dist.all_reduce(t)
if rank == 1 and HOW in ("SIGKILL", "SIGTERM"):
    os.kill(os.getpid(), getattr(signal, HOW))
if rank == 1 and HOW in ("hang", "abort"):
    time.sleep(60)
if rank == 0 and HOW == "abort":
    backend = dist.group.WORLD._get_backend(device)
    threading.Timer(0.5, backend.abort).start()
start = time.monotonic()
try:
    if HOW == "calls" and rank == 1:
        dist.broadcast(t, 0)
    else:
        dist.all_reduce(t)
    print("no error")
except dist.DistBackendError as error:
    print(f"{time.monotonic() - start:.1f} s")
    print(error)
sys.stdout.flush()
os._exit(3)
