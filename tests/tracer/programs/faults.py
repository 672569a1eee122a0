"""Small programs with one placement fault each, and some that have none: faults.py NAME.

The line to change ends in a comment with the program's name.
"""
import sys

import torch
from torch import nn


class Net(nn.Module):
    """Two layers on two devices and a head, as a split model has them."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.head = nn.Linear(4, 1)

    def forward(self, x, fault=None):
        hidden = self.first(x)
        if fault == "literal-two-hops":
            scale = make_scale()
            shifted = scale * 2 + 1
        hidden = self.second(hidden.to(self.second.weight.device))
        if fault == "literal-two-hops":
            hidden = hidden * shifted
        if fault == "mask":
            mask = torch.ones(4)  # cause: mask
            hidden = hidden * mask
        if fault == "pooled":
            hidden = hidden.to(x.device)  # cause: pooled
        if fault == "not-moved":
            hidden = self.first(x)
            return self.head(hidden)  # cause: not-moved
        if fault == "head-moved":
            self.head.to(x.device)  # cause: head-moved
        return self.head(hidden).squeeze(-1)


def make_scale():
    return torch.ones(4, device="cuda:0")  # cause: literal-two-hops


def split_net():
    torch.manual_seed(0)
    net = Net()
    net.first.to("cuda:0")
    net.second.to("cuda:1")
    net.head.to("cuda:1")
    return net


def batch():
    return {"x": torch.ones(2, 4), "labels": torch.ones(2)}


def in_forward(fault):
    return split_net()(batch()["x"].to("cuda:0"), fault)


def labels():
    net = split_net()
    data = batch()
    first = net.first.weight.device
    logits = net(data["x"].to(first))
    targets = data["labels"].to(first)  # cause: labels
    nn.functional.binary_cross_entropy_with_logits(logits, targets)


def labels_on_cpu():
    net = split_net()
    data = batch()
    logits = net(data["x"].to("cuda:0"))
    nn.functional.binary_cross_entropy_with_logits(logits, data["labels"])  # cause: labels-on-cpu


class LoraLinear(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base
        self.lora_A = nn.Linear(4, 2, bias=False)
        self.lora_B = nn.Linear(2, 4, bias=False)

    def forward(self, x):
        return self.base(x) + self.lora_B(self.lora_A(x))


def lora():
    net = split_net()
    net.second = LoraLinear(net.second)
    for name, parameter in net.named_parameters():
        if "lora" in name:
            parameter.data = parameter.data.to(net.first.weight.device)  # cause: lora
    net.second(torch.ones(2, 4, device="cuda:1"))


def never_moved():
    net = Net()
    net.first(torch.ones(2, 4).to("cuda:0"))  # cause: never-moved


def buffer_view():
    net = split_net()
    torch.mm(torch.ones(2, 4, device="cuda:0"), net.head.weight.t())


class Mixing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(torch.ones_like(x).cpu())
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        (saved,) = ctx.saved_tensors
        return gradient * saved


def custom_function():
    x = torch.ones(3, device="cuda:0", requires_grad=True)
    y = Mixing.apply(x * 3)  # forward line
    y.sum().backward()


def hook():
    x = torch.ones(3, device="cuda:0", requires_grad=True)
    y = x.exp()
    y.register_hook(lambda gradient: gradient + torch.ones(3))  # cause: hook
    y.sum().backward()


def generated_backward():
    weight = nn.Parameter(torch.ones(3, device="cuda:0"))
    x = torch.ones(3, device="cuda:0", requires_grad=True)
    y = x * weight  # forward line of generated-backward
    weight.data = weight.data.to("cuda:1")
    y.sum().backward()


def caught():
    try:
        torch.ones(3, device="cuda:0") + torch.ones(3, device="cuda:1")
    except RuntimeError:
        print("carried on")


def repeated():
    for _ in range(3):
        caught()
    try:
        torch.ones(3, device="cuda:0") * torch.ones(3)
    except RuntimeError:
        pass


def stepped():
    net = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(torch.ones(1, 4)).sum().backward()
        optimizer.step()
    net(torch.ones(1, 4, device="cuda:0"))


def in_thread():
    import threading

    thread = threading.Thread(target=caught)
    thread.start()
    thread.join()


def loader_worker():
    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return torch.full((3,), float(index))

    for rows in torch.utils.data.DataLoader(Data(), batch_size=2, num_workers=1):
        rows * torch.ones(3, device="cuda:0")


def loaded():
    import io

    buffer = io.BytesIO()
    torch.save(torch.ones(3), buffer)
    buffer.seek(0)
    weights = torch.load(buffer)
    torch.ones(3, device="cuda:0") * weights


# ---- no fault

def fails(function, error=(RuntimeError, IndexError)):
    try:
        function()
    except error:
        return
    raise AssertionError("an error was expected")


def legal_mixes():
    a = torch.ones(3, 4, device="cuda:0")
    scalar = torch.tensor(2.0)
    _ = a * scalar
    _ = a[torch.tensor([0, 1])]
    a[torch.tensor([0])] = 1.0
    a.copy_(torch.ones(3, 4))
    _ = torch.where(a > 0, scalar, a)
    _ = a.to("cuda:1")
    _ = a.cpu() + torch.ones(3, 4)
    _ = torch.ones_like(a, device="cpu")


def shape_errors():
    a = torch.ones(3, 4, device="cuda:0")
    scalar = torch.tensor(2.0)
    fails(lambda: a @ a)
    fails(lambda: a + torch.ones(5, device="cuda:0"))
    fails(lambda: (a * scalar) @ (a * scalar))
    fails(lambda: torch.where(a > 0, scalar, a).view(7))
    fails(lambda: a[torch.tensor([9])])
    fails(lambda: a.copy_(torch.ones(9)))
    fails(lambda: torch.add(a, scalar, out=torch.ones(7, 7, 7, device="cuda:0").expand(2, 7, 7, 7)))


def caught_inside():
    """An op of the program's own that tries one thing, and does another when that fails: it returns."""

    @torch.library.custom_op("tracer_test::either", mutates_args=())
    def either(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        try:
            return a + b
        except RuntimeError:
            return a.clone()

    either(torch.ones(3, device="cuda:0"), torch.ones(3, device="cuda:1"))


PROGRAMS = {
    "labels": labels, "labels-on-cpu": labels_on_cpu, "lora": lora, "never-moved": never_moved,
    "view-of-parameter": buffer_view, "custom-function": custom_function, "hook": hook,
    "generated-backward": generated_backward, "caught": caught, "repeated": repeated, "stepped": stepped,
    "in-thread": in_thread, "loader-worker": loader_worker, "loaded": loaded,
    "legal-mixes": legal_mixes, "shape-errors": shape_errors, "caught-inside": caught_inside,
}
for name in ("literal-two-hops", "mask", "pooled", "not-moved", "head-moved"):
    PROGRAMS[name] = lambda name=name: in_forward(name)

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]]()
    print("done")
