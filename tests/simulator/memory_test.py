"""Memory of simulated devices as PyTorch sees it: capacity, what is in use, its own out-of-memory error."""

import pytest
import torch

GIB = 1 << 30
CAPACITY = 4 * GIB  # device_memory in CMakeLists.txt


@pytest.fixture(autouse=True)
def nothing_left_over():
    yield
    torch.cuda.empty_cache()
    for device in range(2):
        torch.cuda.reset_peak_memory_stats(device)


def test_properties_say_the_memory_asked_for():
    assert torch.cuda.get_device_properties(0).total_memory == CAPACITY
    assert torch.cuda.mem_get_info(1)[1] == CAPACITY


def test_an_allocation_is_counted_on_its_device_alone():
    before = [torch.cuda.mem_get_info(device)[0] for device in range(2)]
    tensor = torch.empty(GIB, dtype=torch.uint8, device="cuda:1")
    assert torch.cuda.memory_allocated(1) == GIB and torch.cuda.memory_allocated(0) == 0
    assert torch.cuda.mem_get_info(1)[0] == before[1] - GIB
    assert torch.cuda.mem_get_info(0)[0] == before[0]
    del tensor
    torch.cuda.empty_cache()
    assert torch.cuda.mem_get_info(1)[0] == before[1]


def test_results_of_ops_are_device_memory():
    a = torch.ones(1 << 20, device="cuda:1")
    before = torch.cuda.memory_allocated(1)
    b = a + a
    assert torch.cuda.memory_allocated(1) - before == b.numel() * b.element_size()
    del b
    assert torch.cuda.memory_allocated(1) == before


def test_out_of_memory_is_pytorchs_error_with_right_numbers():
    held = torch.empty(3 * GIB, dtype=torch.uint8, device="cuda:1")
    with pytest.raises(torch.OutOfMemoryError) as caught:
        torch.empty(2 * GIB, dtype=torch.uint8, device="cuda:1")
    text = str(caught.value)
    assert "Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 4.00 GiB of which 1024.00 MiB is free" in text
    assert "this process has 3.00 GiB memory in use. Of the allocated memory 3.00 GiB is allocated by PyTorch" in text
    del held
    torch.cuda.empty_cache()
    assert torch.empty(2 * GIB, dtype=torch.uint8, device="cuda:1").numel() == 2 * GIB


def test_an_op_runs_out_of_memory_too():
    a = torch.empty(GIB // 2, device="cuda:0")  # 2 GiB of float
    b = torch.empty(GIB // 4, device="cuda:0")  # 1 GiB
    with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate 2.00 GiB"):
        torch.neg(a)
    assert b.numel() == GIB // 4


def test_peak_is_kept():
    torch.cuda.reset_peak_memory_stats(0)
    tensor = torch.empty(1 << 20, dtype=torch.uint8, device="cuda:0")
    held = torch.cuda.memory_allocated(0)
    other = torch.empty(1 << 20, dtype=torch.uint8, device="cuda:0")
    del other
    assert torch.cuda.max_memory_allocated(0) == held + (1 << 20)
    assert tensor.is_cuda
