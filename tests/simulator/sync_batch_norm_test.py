"""The operators under torch.nn.SyncBatchNorm, each against its definition computed in float64 on the CPU."""
import pytest
import torch

D0, D1 = torch.device("cuda:0"), torch.device("cuda:1")
EPS, MOMENTUM = 1e-3, 0.3
SHAPES = [(5, 3), (4, 3, 6), (2, 3, 4, 5), (2, 3, 2, 3, 4)]
TYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


def random(*shape, dtype=torch.float64, seed=0, channels_last=False):
    """Far from zero mean and unit variance; rounded to `dtype`, so that both sides compute from the same numbers."""
    t = (2 * torch.randn(*shape, generator=torch.Generator().manual_seed(seed)) + 3).to(dtype)
    return t.contiguous(memory_format=torch.channels_last) if channels_last else t


def statistics_type(dtype):
    return torch.float64 if dtype == torch.float64 else torch.float32


def by_channel(values, like):
    return values.double().view(1, -1, *[1] * (like.dim() - 2))


def dims(x):
    return [d for d in range(x.dim()) if d != 1]


def statistics(x):
    """Mean and reciprocal deviation of each channel."""
    mean = x.double().sum(dims(x)) / (x.numel() // x.size(1))
    centered = x.double() - by_channel(mean, x)
    return mean, 1 / (centered.square().sum(dims(x)) / (x.numel() // x.size(1)) + EPS).sqrt()


def check(got, wanted, dtype, device=D1):
    assert got.device == device and got.dtype == dtype
    bound = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}[dtype]
    torch.testing.assert_close(got.cpu().double(), wanted, rtol=bound, atol=bound)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_statistics(shape, dtype):
    x = random(*shape, dtype=dtype)
    for got, wanted in zip(torch.batch_norm_stats(x.to(D1), EPS), statistics(x), strict=True):
        check(got, wanted, statistics_type(dtype))


def test_a_constant_channel_without_epsilon():
    _, invstd = torch.batch_norm_stats(torch.ones(4, 2, device=D0), 0.0)
    assert invstd.tolist() == [0, 0]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("sizes", [(1, 4, 7), (3, 3, 3)])
def test_statistics_gathered_of_ranks_are_those_of_the_whole_batch(sizes, dtype):
    whole = random(sum(sizes), 3, dtype=dtype)
    parts = [statistics(part) for part in whole.split(sizes)]
    kind = statistics_type(dtype)
    mean, invstd = (torch.stack(values).to(kind) for values in zip(*parts))
    running_mean, running_var = random(3, dtype=kind, seed=1), random(3, dtype=kind, seed=2).abs()
    wanted = statistics(whole)
    unbiased = whole.double().var(0, correction=1)
    wanted_running = [(1 - MOMENTUM) * old.double() + MOMENTUM * new
                      for old, new in ((running_mean, wanted[0]), (running_var, unbiased))]

    def gather(function, counts, kept):
        got = function(whole.to(D1), mean.to(D1), invstd.to(D1), *kept, MOMENTUM, EPS, counts)
        for g, w in zip(got, wanted, strict=True):
            check(g, w, kind)

    def running():
        return running_mean.to(D1), running_var.to(D1)

    by_tensor = torch.batch_norm_gather_stats_with_counts
    gather(by_tensor, torch.tensor(sizes, dtype=kind, device=D1), kept := running())
    for g, w in zip(kept, wanted_running, strict=True):
        check(g, w, kind)
    gather(by_tensor, torch.tensor(sizes, dtype=dtype, device=D1), (None, None))
    if len(set(sizes)) == 1:
        gather(torch.batch_norm_gather_stats, sizes[0], kept := running())
        for g, w in zip(kept, wanted_running, strict=True):
            check(g, w, kind)


def test_running_statistics_when_no_rank_has_a_sample():
    """PyTorch's loop over no ranks leaves mean and sum of squares at 0."""
    running, nothing = torch.full((2, 3), 4.0, device=D0), torch.empty(0, 3, device=D0)
    torch.batch_norm_gather_stats_with_counts(nothing, nothing, nothing, *running, 0.25, EPS, nothing[:, 0])
    assert running.tolist() == [[3.0] * 3] * 2


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_normalization(shape, dtype):
    x = random(*shape, dtype=dtype)
    kind = statistics_type(dtype)
    mean, invstd, weight, bias = (random(3, dtype=kind, seed=seed) for seed in range(1, 5))
    plain = (x.double() - by_channel(mean, x)) * by_channel(invstd, x)
    scaled = plain * by_channel(weight, x) + by_channel(bias, x)
    on = [t.to(D1) for t in (x, weight, bias, mean, invstd)]
    check(torch.batch_norm_elemt(*on, EPS), scaled, dtype)
    check(torch.batch_norm_elemt(on[0], None, None, *on[3:], EPS), plain, dtype)
    out = torch.empty_like(on[0])
    assert torch.batch_norm_elemt(*on, EPS, out=out) is out
    check(out, scaled, dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_gradients(shape, dtype):
    """Those that autograd finds for the definition, with one rank's share and with two."""
    kind = statistics_type(dtype)
    x, grad = random(*shape, dtype=dtype), random(*shape, dtype=dtype, seed=1)
    weight, bias = random(3, dtype=kind, seed=2), random(3, dtype=kind, seed=3)
    leaves = [t.double().requires_grad_() for t in (x, weight, bias)]
    mean, invstd = statistics(leaves[0])
    y = (leaves[0] - by_channel(mean, x)) * by_channel(invstd, x) * by_channel(leaves[1], x) + by_channel(leaves[2], x)
    wanted = torch.autograd.grad(y, leaves, grad.double())

    mean, invstd = mean.detach().to(D1, kind), invstd.detach().to(D1, kind)
    shares = [(x[:1].to(D1), grad[:1].to(D1)), (x[1:].to(D1), grad[1:].to(D1))]
    sums = [torch.batch_norm_backward_reduce(g, s, mean, invstd, weight.to(D1), True, True, True) for s, g in shares]
    sum_dy, sum_dy_xmu, grad_weight, grad_bias = (a + b for a, b in zip(*sums, strict=True))
    check(grad_weight, wanted[1], kind)
    check(grad_bias, wanted[2], kind)
    counts = torch.tensor([s.numel() // 3 for s, _ in shares], dtype=torch.int32, device=D1)
    got = torch.cat([torch.batch_norm_backward_elemt(g, s, mean, invstd, weight.to(D1), sum_dy, sum_dy_xmu, counts)
                     for s, g in shares])
    check(got, wanted[0], dtype)


def test_only_the_gradients_asked_for():
    x, ones = torch.ones(4, 3, device=D0), torch.ones(3, device=D0)
    results = torch.batch_norm_backward_reduce(x, x, ones, ones, None, True, False, False)
    assert [r is None for r in results] == [False, False, True, True]
    results = torch.batch_norm_backward_reduce(x, x, ones, ones, ones, False, True, False)
    assert [r is None for r in results] == [True, True, False, True]


def test_memory_format_is_kept():
    x = random(2, 3, 4, 5, dtype=torch.float32, channels_last=True).to(D0)
    statistics_of_x = torch.batch_norm_stats(x, EPS)
    ones, count = torch.ones(3, device=D0), torch.tensor([40], dtype=torch.int32, device=D0)
    for result in (torch.batch_norm_elemt(x, ones, ones, *statistics_of_x, EPS),
                   torch.batch_norm_backward_elemt(x, x, *statistics_of_x, ones, ones, ones, count)):
        assert result.is_contiguous(memory_format=torch.channels_last)
    for got, wanted in zip(statistics_of_x, statistics(x.cpu()), strict=True):
        check(got, wanted, torch.float32, D0)


X, HALF, ONES, STACKED = torch.ones(4, 3), torch.ones(4, 3).half(), torch.ones(3), torch.ones(2, 3)
COUNTS = torch.tensor([4], dtype=torch.int32)
REFUSED = {
    "an empty batch": (lambda: torch.batch_norm_stats(X[:0].to(D0), EPS), "cannot reshape tensor of 0 elements"),
    "statistics of half": (lambda: torch.batch_norm_elemt(HALF.to(D0), None, None, ONES.half().to(D0),
                                                          ONES.half().to(D0), EPS),
                           "Expected mean to have type Float but got Half"),
    "counts of 64 bits": (lambda: torch.batch_norm_backward_elemt(*[t.to(D0) for t in (X, X) + (ONES,) * 5],
                                                                  COUNTS.long().to(D0)),
                          "Expected count to have type Int but got Long"),
    "a weight of the CPU": (lambda: torch.batch_norm_elemt(X.to(D0), ONES, None, ONES.to(D0), ONES.to(D0), EPS),
                            "Expected all tensors to be on the same device, but got weight is on cpu, different from "
                            "other tensors on cuda:0"),
    "a running mean of another GPU": (
        lambda: torch.batch_norm_gather_stats(X.to(D0), STACKED.to(D0), STACKED.to(D0), ONES.to(D1), ONES.to(D0),
                                              MOMENTUM, EPS, 4),
        "Expected all tensors to be on the same device, but got running_mean is on cuda:1, different from other "
        "tensors on cuda:0"),
    "an output on another GPU": (lambda: torch.batch_norm_elemt(*[t.to(D0) for t in (X,) + (ONES,) * 4], EPS,
                                                                out=X.to(D1)),
                                 "Expected all tensors to be on the same device, but got"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    call, message = REFUSED[case]
    with pytest.raises(RuntimeError) as caught:
        call()
    assert message in str(caught.value)
