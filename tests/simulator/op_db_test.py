"""PyTorch's own operator table on a simulated device: every entry gives what it gives on the CPU.

Forward and gradient of the samples that PyTorch's tests use. What cannot be equal is compared in what it
must keep: random results by shape, type, device and by their seed; uninitialised ones by all but values.
Operators that are not emulated stand in op_db_exceptions.toml with the reason; one that is listed and
passes fails the test as one that is not and fails.
"""
import contextlib
import itertools
import pathlib
import tomllib
import warnings

import pytest
import torch
from torch.testing._internal import common_methods_invocations
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_map

DEVICE = torch.device("cuda:1")
SAMPLES = 40
DTYPES = (torch.float32, torch.complex64, torch.int64, torch.bool, torch.bfloat16, torch.float8_e4m3fn)
EXCEPTIONS = tomllib.loads((pathlib.Path(__file__).parent / "op_db_exceptions.toml").read_text())
UNINITIALISED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
# Their contract wants these tensors on the CPU whatever the device of the others.
ARGUMENTS_STAY_ON_CPU = {"tensor_split"}


def is_tensor(value):
    return isinstance(value, torch.Tensor)


def on_cpu(value):
    return value.detach().clone().requires_grad_(value.requires_grad) if is_tensor(value) else value


def on_device(value):
    if is_tensor(value):
        return value.detach().to(DEVICE if value.is_cpu else value.device).requires_grad_(value.requires_grad)
    return DEVICE if value in ("cpu", torch.device("cpu")) else value


def evaluate(op, inputs):
    """Outputs of op, then the gradients of their sums."""
    first, args, kwargs = inputs
    outputs = [value for value in tree_flatten(op.op(first, *args, **kwargs))[0] if is_tensor(value)]
    followed = [out for out in outputs if out.requires_grad and out.is_floating_point()]
    leaves = [value for value in tree_flatten(inputs)[0] if is_tensor(value) and value.requires_grad]
    if not followed or not leaves:
        return outputs
    gradients = torch.autograd.grad([out.sum() for out in followed], leaves, allow_unused=True)
    return outputs + [gradient for gradient in gradients if gradient is not None]


def seeded(op, inputs, seed):
    torch.manual_seed(seed)
    return evaluate(op, inputs)


def comparable(tensor):
    tensor = tensor.detach() if tensor.layout == torch.strided else tensor.detach().to_dense()
    return (tensor.float() if tensor.dtype.itemsize == 1 and tensor.is_floating_point() else tensor).cpu()


def assert_equal(expected, result):
    # Not bit by bit: MKL's results depend on how the memory is aligned.
    torch.testing.assert_close(comparable(expected), comparable(result), equal_nan=True, rtol=1e-4, atol=1e-5)


def same(expected, result):
    try:
        for a, b in zip(expected, result, strict=True):
            assert_equal(a, b)
    except AssertionError:
        return False
    return True


def assert_same_kind(expected, result):
    device = DEVICE if expected.device.type == "cpu" else expected.device
    assert result.device == device, f"on {result.device}, expected {device}"
    assert (result.shape, result.dtype, result.layout) == (expected.shape, expected.dtype, expected.layout)


class Case:
    """One sample of an operator, evaluated on the CPU with two seeds, and on the device when asked."""

    def __init__(self, op, sample):
        self.op = op
        # Copied: some entries write to a sample's tensors before they give the next one.
        self.inputs = tree_map(on_cpu, (sample.input, sample.args, sample.kwargs))
        self.expected = seeded(op, tree_map(on_cpu, self.inputs), 0)
        self.random = not same(self.expected, seeded(op, tree_map(on_cpu, self.inputs), 1))

    def on_device(self, seed):
        first, *rest = self.inputs
        inputs = (on_device(first), *rest) if self.op.name in ARGUMENTS_STAY_ON_CPU else tree_map(on_device, self.inputs)
        factory = not any(map(is_tensor, tree_flatten(self.inputs)[0]))
        with torch.device(DEVICE if factory else "cpu"):  # factories without a device of their own follow this one
            result = seeded(self.op, inputs, seed)
        for a, b in zip(self.expected, result, strict=True):
            assert_same_kind(a, b)
        return result


def compare(op, cases):
    """Raises where the device differs from the CPU."""
    if op.name in UNINITIALISED:
        for case in cases:
            case.on_device(0)
    elif any(case.random for case in cases):
        for case in cases:
            assert same(case.on_device(0), case.on_device(0)), "one seed gives two results"
        # Few random cases: the results are the same up to a sign or a rounding that the seed decides.
        if sum(case.random for case in cases) > len(cases) / 2:
            assert any(not same(case.on_device(0), case.on_device(1)) for case in cases), "two seeds give one result"
    else:
        for case in cases:
            for a, b in zip(case.expected, case.on_device(0)):
                assert_equal(a, b)


def failure(op):
    """The first way in which an operator differs from the CPU, or None."""
    dtype = next((d for d in DTYPES if d in op.supported_dtypes("cuda")), None)
    if dtype is None:
        return "supports none of the types that are tried"
    differentiate = op.supports_autograd and dtype.is_floating_point
    cases = []
    for sample in itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=differentiate), SAMPLES):
        with contextlib.suppress(Exception):  # what the CPU refuses cannot be compared
            cases.append(Case(op, sample))
    if not cases:
        return "no sample runs on the CPU"
    try:
        compare(op, cases)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return None


@pytest.fixture(scope="module")
def failures():
    warnings.filterwarnings("ignore")
    # Entries of random operators seed themselves, so that they always give the same; here the test seeds.
    common_methods_invocations.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)
    found = {}
    for op in op_db:
        if not op.supported_dtypes("cuda"):
            continue  # PyTorch has it for the CPU alone
        name = f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name
        if text := failure(op):
            found[name] = text
    return found


def test_every_operator_that_is_not_listed_equals_the_cpu(failures):
    unlisted = [f"{name}: {text}" for name, text in failures.items() if name not in EXCEPTIONS]
    assert not unlisted, "\n".join(unlisted)


def test_every_listed_operator_still_differs(failures):
    assert [name for name in EXCEPTIONS if name not in failures] == []


def test_the_list_is_short():
    compiled_at_run_time = [name for name in EXCEPTIONS if name.startswith("jiterator")]
    assert len(EXCEPTIONS) - len(compiled_at_run_time) <= 5
