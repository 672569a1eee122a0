"""Mixed devices: what PyTorch accepts has the CPU's values, what it refuses has PyTorch's message."""
import pytest
import torch

D0, D1, CPU = torch.device("cuda:0"), torch.device("cuda:1"), torch.device("cpu")
INDEX = torch.tensor([0, 1, 1])
MASK = torch.tensor([True, False, True, False])


def assigned(tensor, key, value):
    tensor[key] = value
    return tensor


# Each is called with a device; tensors made without it stay on the CPU, and PyTorch accepts that.
LEGAL = {
    "add a CPU number": lambda d: torch.arange(4.0, device=d) + torch.tensor(2.0),
    "add_ a CPU number": lambda d: torch.zeros(4, device=d).add_(torch.tensor(2.0)),
    "index by CPU indices": lambda d: torch.arange(4.0, device=d)[INDEX],
    "index by a CPU mask": lambda d: torch.arange(4.0, device=d)[MASK],
    "index_put by CPU indices": lambda d: torch.zeros(4, device=d).index_put_((INDEX,), torch.ones(3, device=d), True),
    "assign a CPU number": lambda d: assigned(torch.zeros(4, device=d), MASK, torch.tensor(3.0)),
    "masked_fill by a CPU number": lambda d: torch.zeros(4, device=d).masked_fill_(MASK.to(d), torch.tensor(2.0)),
    "where with a CPU number": lambda d: torch.where(MASK.to(d), torch.arange(4.0, device=d), torch.tensor(9.0)),
    "lerp with a CPU weight": lambda d: torch.lerp(torch.zeros(3, device=d), torch.ones(3, device=d), torch.tensor(0.5)),
    "foreach by a CPU number": lambda d: torch._foreach_mul([torch.ones(3, device=d)], torch.tensor(2.0))[0],
    "a kernel compiled at run time": lambda d: torch.special.zeta(torch.tensor(2.0), torch.ones(3, device=d)),
    "copy from the CPU": lambda d: torch.zeros(3, device=d).copy_(torch.arange(3.0)),
}


@pytest.mark.parametrize("case", LEGAL)
@pytest.mark.parametrize("device", [D0, D1])
def test_legal_mix_has_the_cpus_values(case, device):
    result = LEGAL[case](device)
    assert result.device == device
    assert torch.equal(result.cpu(), LEGAL[case](CPU))


ILLEGAL = {
    "add": (lambda: torch.ones(2, device=D0) + torch.ones(2, device=D1),
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cuda:1!"),
    "add a CPU vector": (lambda: torch.ones(2, device=D1) + torch.ones(2),
                         "Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cpu!"),
    "matmul": (lambda: torch.ones(2, 2, device=D0) @ torch.ones(2, 2, device=D1),
               "Expected all tensors to be on the same device, but got mat2 is on cuda:1, different from other tensors "
               "on cuda:0"),
    "linear": (lambda: torch.nn.Linear(2, 2).to(D0)(torch.ones(1, 2, device=D1)),
               "Expected all tensors to be on the same device, but got mat1 is on cuda:1, different from other tensors "
               "on cuda:0"),
    "conv2d": (lambda: torch.nn.Conv2d(1, 1, 1)(torch.ones(1, 1, 2, 2, device=D0)),
               "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same"),
    "conv2d of two GPUs": (lambda: torch.nn.Conv2d(1, 1, 1).to(D1)(torch.ones(1, 1, 2, 2, device=D0)),
                           "Expected all tensors to be on the same device, but got weight is on cuda:1, different from "
                           "other tensors on cuda:0"),
    "embedding": (lambda: torch.nn.Embedding(3, 2).to(D0)(torch.tensor([1])),
                  "Expected all tensors to be on the same device, but got index is on cpu, different from other tensors "
                  "on cuda:0"),
    "index by another GPU's indices": (lambda: torch.ones(3, device=D0)[torch.tensor([0], device=D1)],
                                       "indices should be either on cpu or on the same device as the indexed tensor "
                                       "(cuda:0)"),
    "clamp by a CPU number": (lambda: torch.clamp(torch.arange(4.0, device=D0), min=torch.tensor(1.0)),
                              "Expected all tensors to be on the same device, but got min is on cpu, different from "
                              "other tensors on cuda:0"),
    "lstm": (lambda: torch.nn.LSTM(2, 2).to(D0)(torch.ones(1, 1, 2, device=D1)),
             "Input and parameter tensors are not at the same device, found input tensor at cuda:1 and parameter "
             "tensor at cuda:0"),
}


@pytest.mark.parametrize("case", ILLEGAL)
def test_illegal_mix_has_pytorchs_message(case):
    call, message = ILLEGAL[case]
    with pytest.raises((RuntimeError, IndexError)) as caught:
        call()
    assert message in str(caught.value)


def test_a_refused_in_place_op_changes_nothing():
    target = torch.ones(2, device=D0)
    with pytest.raises(RuntimeError):
        target.add_(torch.ones(2, device=D1))
    assert target.tolist() == [1, 1]


def test_backward_over_two_devices():
    def loss_and_gradients(first, second):
        torch.manual_seed(0)
        a = torch.nn.Linear(8, 8).to(first)
        b = torch.nn.Linear(8, 1).to(second)
        loss = b(torch.relu(a(torch.linspace(-1, 1, 16).view(2, 8).to(first))).to(second)).sum()
        loss.backward()
        return [loss.detach().cpu()] + [p.grad.cpu() for m in (a, b) for p in m.parameters()]

    for expected, result in zip(loss_and_gradients(CPU, CPU), loss_and_gradients(D0, D1)):
        assert torch.equal(expected, result)


@pytest.mark.parametrize("module", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}, {"batch_first": True, "bias": False}])
def test_recurrent_networks(module, options):
    def run(device):
        torch.manual_seed(0)
        net = module(3, 4, **options).to(device)
        x = torch.linspace(-1, 1, 30).view(5, 2, 3).to(device).requires_grad_()
        output, _ = net(x)
        output.square().sum().backward()
        return [output.detach(), x.grad] + [p.grad for p in net.parameters()]

    for expected, result in zip(run(CPU), run(D1)):
        assert result.device == D1
        torch.testing.assert_close(result.cpu(), expected)


def test_recurrent_network_over_a_packed_sequence():
    def run(device):
        torch.manual_seed(0)
        net = torch.nn.LSTM(3, 4).to(device)
        x = torch.linspace(-1, 1, 30).view(5, 2, 3).to(device)
        packed = torch.nn.utils.rnn.pack_padded_sequence(x, [5, 3])
        return torch.nn.utils.rnn.pad_packed_sequence(net(packed)[0])[0].detach()

    torch.testing.assert_close(run(D0).cpu(), run(CPU))


@pytest.mark.parametrize("cell", [torch.nn.LSTMCell, torch.nn.GRUCell])
def test_recurrent_cells(cell):
    def run(device):
        torch.manual_seed(0)
        net = cell(3, 4).to(device)
        x = torch.linspace(-1, 1, 6).view(2, 3).to(device).requires_grad_()
        out = net(x, None)
        sum(o.square().sum() for o in (out if isinstance(out, tuple) else (out,))).backward()
        return [x.grad] + [p.grad for p in net.parameters()]

    for expected, result in zip(run(CPU), run(D1)):
        torch.testing.assert_close(result.cpu(), expected)


@pytest.mark.parametrize("backend", ["MATH", "EFFICIENT_ATTENTION"])
@pytest.mark.parametrize("causal", [False, True])
def test_attention(backend, causal):
    def run(device):
        torch.manual_seed(0)
        q, k, v = (torch.randn(2, 3, 8, 16).to(device).requires_grad_() for _ in range(3))
        with torch.nn.attention.sdpa_kernel(getattr(torch.nn.attention.SDPBackend, backend if device != CPU else "MATH")):
            out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        out.square().sum().backward()
        return [out.detach(), q.grad, k.grad, v.grad]

    for expected, result in zip(run(CPU), run(D1)):
        torch.testing.assert_close(result.cpu(), expected, rtol=1e-4, atol=1e-5)


def test_attention_with_dropout_has_the_gradients_of_its_own_mask():
    q, k = (torch.randn(1, 1, 4, 8, device=D0, dtype=torch.double) for _ in range(2))
    v = torch.randn(1, 1, 4, 8, device=D0, dtype=torch.double, requires_grad=True)

    def attend(values):
        torch.manual_seed(3)
        return torch.nn.functional.scaled_dot_product_attention(q, k, values, dropout_p=0.5)

    assert torch.autograd.gradcheck(attend, v, nondet_tol=0.0)


def test_autocast_and_gradient_scaling():
    model = torch.nn.Linear(4, 4).to(D1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, fused=True)
    scaler = torch.amp.GradScaler("cuda")
    before = model.weight.detach().clone()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        out = model(torch.ones(2, 4, device=D1))
        assert out.dtype == torch.bfloat16
    scaler.scale(out.float().sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert not torch.equal(before, model.weight)


@pytest.mark.parametrize("options", [{"foreach": False}, {"foreach": True}, {"fused": True}])
def test_optimizers_step_as_on_the_cpu(options):
    def run(device):
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 3).to(device)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, **options)
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.linspace(-1, 1, 8).view(2, 4).to(device)).square().sum().backward()
            optimizer.step()
        return model.weight.detach().cpu()

    torch.testing.assert_close(run(D1), run(CPU))


def test_sparse_matrices():
    dense = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    for sparse in (dense.to(D1).to_sparse(), dense.to(D1).to_sparse_csr()):
        assert sparse.device == D1
        result = sparse @ torch.ones(2, 2, device=D1)
        assert result.device == D1 and result.cpu().tolist() == [[2, 2], [3, 3]]
