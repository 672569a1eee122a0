"""The CUDA interface that programs use around their tensors: start, streams, events, copies, generators, files."""
import io

import pytest
import torch

D0, D1 = torch.device("cuda:0"), torch.device("cuda:1")


def test_devices():
    assert torch.cuda.is_available() and torch.cuda.device_count() == 2
    properties = torch.cuda.get_device_properties(1)
    assert (properties.major, properties.minor) == torch.cuda.get_device_capability(1) == (9, 0)
    assert "simulated" in properties.name


def test_current_device_is_per_scope():
    with torch.cuda.device(1):
        assert torch.ones(1, device="cuda").device == D1
    assert torch.ones(1, device="cuda").device == D0


def test_a_device_that_is_not_there():
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.ones(1, device="cuda:2")


def test_pinned_memory_and_copies_between_devices():
    pinned = torch.arange(4.0).pin_memory()
    assert pinned.is_pinned() and not torch.arange(4.0).is_pinned()
    there = pinned.to(D0, non_blocking=True)
    across = there.to(D1)
    assert across.device == D1 and across.cpu().tolist() == [0, 1, 2, 3]
    assert torch.cuda.can_device_access_peer(0, 1)


def test_streams_and_events():
    stream = torch.cuda.Stream(D1)
    assert stream.device == D1
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    with torch.cuda.device(1), torch.cuda.stream(stream):
        assert torch.cuda.current_stream() == stream
        start.record()
        (torch.ones(8, device=D1) * 2).record_stream(stream)
        end.record()
    stream.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0
    torch.cuda.synchronize(1)


def test_an_event_belongs_to_one_device():
    event = torch.cuda.Event()
    event.record(torch.cuda.current_stream(0))
    with pytest.raises(Exception, match="Event device"):
        event.record(torch.cuda.current_stream(1))


def test_seeds_and_generator_state():
    for draw in (lambda: torch.rand(4, device=D1), lambda: torch.nn.functional.dropout(torch.ones(64, device=D1))):
        torch.manual_seed(5)
        state = torch.cuda.get_rng_state(1)
        first, second = draw(), draw()
        assert not torch.equal(first, second)
        torch.cuda.set_rng_state(state, 1)
        assert torch.equal(first, draw()) and torch.equal(second, draw())


def test_one_seed_gives_each_device_the_same_numbers():
    torch.manual_seed(1)
    assert torch.rand(4, device=D0).tolist() == torch.rand(4, device=D1).tolist()


def test_the_cpus_generator_is_left_alone():
    torch.manual_seed(2)
    expected = torch.rand(3)
    torch.manual_seed(2)
    torch.rand(3, device=D0)
    torch.nn.functional.dropout(torch.ones(8, device=D0))
    assert torch.equal(torch.rand(3), expected)


DRAWS = {
    "randperm": lambda g: torch.randperm(5, device=D0, generator=g),
    "rand": lambda g: torch.rand(3, device=D0, generator=g),
    "normal_": lambda g: torch.empty(3, device=D0).normal_(generator=g),
    "bernoulli": lambda g: torch.bernoulli(torch.full((3,), 0.5, device=D0), generator=g),
    "multinomial": lambda g: torch.multinomial(torch.ones(4, device=D0), 2, generator=g),
    "poisson": lambda g: torch.poisson(torch.ones(4, device=D0), generator=g),
}


@pytest.mark.parametrize("draw", DRAWS)
def test_the_cpus_generator_is_refused(draw):
    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
        DRAWS[draw](torch.Generator("cpu"))


def test_saving_and_loading_across_devices():
    file = io.BytesIO()
    torch.save({"w": torch.arange(3.0, device=D0)}, file)
    file.seek(0)
    assert torch.load(file)["w"].device == D0
    file.seek(0)
    moved = torch.load(file, map_location="cuda:1")["w"]
    assert moved.device == D1 and moved.tolist() == [0, 1, 2]


def test_a_launch_that_is_not_emulated_names_its_kernel():
    with pytest.raises(RuntimeError, match=r"devsan simulator: CUDA kernel .*spin_kernel.* is not emulated"):
        torch.cuda._sleep(1000)


def test_graphs_are_refused_by_name():
    with pytest.raises(RuntimeError, match="cudaStreamBeginCapture is not emulated"):
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            torch.ones(2, device=D0) + 1


def test_a_kernel_compiled_at_run_time_is_refused_by_name():
    double = torch.cuda.jiterator._create_jit_fn("template <typename T> T twice(T x) { return x + x; }")
    with pytest.raises(RuntimeError, match="is not emulated"):
        double(torch.ones(2, device=D0))


def test_one_process_reduces_over_its_devices():
    tensors = [torch.full((2,), 3.0, device=D0), torch.full((2,), 4.0, device=D1)]
    torch.cuda.nccl.all_reduce(tensors)
    assert [(each.device, each.tolist()) for each in tensors] == [(D0, [7.0, 7.0]), (D1, [7.0, 7.0])]


def test_ops_of_the_redirect_are_not_observed():
    x, number = torch.ones(4, 4, device=D1), torch.tensor(1.0)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        x @ x
        x + number  # PyTorch's own kernel is asked first
    names = [event.name for event in profile.events() if event.name.startswith("aten::")]
    assert names == ["aten::matmul", "aten::mm", "aten::add"]
