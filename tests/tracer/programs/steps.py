"""Trains a few steps; a library moves tensors at each: steps.py HOW-IT-ENDS [STEPS]. What it does beside that ends in
a comment with its name.
"""
import os
import signal
import sys

import movers  # a package that the test writes
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = movers.Follower(nn.Linear(8, 8).to("cuda:0"))
        self.last = movers.Follower(nn.Linear(8, 2).to("cuda:1"))

    def forward(self, x):
        hidden = self.first(x)
        return self.last(hidden).to("cuda:0")  # cause: call


def main(end, steps):
    if os.environ.get("LOCAL_RANK"):
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(steps):
        x = movers.fetch(torch.ones(4, 8), "cuda:0")  # cause: fetch
        net(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        print("step", step, flush=True)
    if end == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if end == "terminate":
        os.kill(os.getpid(), signal.SIGTERM)
    if end == "_exit":
        os._exit(3)
    if end == "fork":
        if os.fork() == 0:
            sys.exit(0)
        os.wait()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3)
