"""Ops that TensorFlow registers to test itself, and a few that ask about the process."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...registry.registry import WITHOUT_GRADIENT, Cost, flops, kernel, onnx, shape, zero_cost
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.run_context import sleep as sleep_in_run
from ...support.errors import AbortedError, AlreadyExistsError, InvalidArgumentError, NotFoundError, UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec
from ..shared.onnx_lowerings import iota
from ..shared.resource_access import named
from ..shared.resource_access import resource as held

_CPU = b"/job:localhost/replica:0/task:0/device:CPU:0"
_NO_DEADLINE = np.iinfo(np.int64).max


class Stub:
    """The object of a stub handle; ResourceCreateOp makes it exist."""

    def __init__(self) -> None:
        self.exists = False


@kernel("Fact", shape="-> ()", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def fact() -> Result:
    return scalar_object(b"0! == 1")


@kernel("KernelLabel", shape="-> ()", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def kernel_label() -> Result:
    return scalar_object(b"My label is: default")


@kernel("TestAttr", shape="-> ()", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def test_attr(ctx: KernelContext, *, T: DType) -> Result:
    """Return 1; TensorFlow has this kernel for float alone."""
    if T.name != "float":
        raise InvalidArgumentError(f"TestAttr has no kernel for {T}")
    return np.float32(1)


@kernel("DtypeWithDefaultOp", shape="-> ()", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def dtype_with_default(ctx: KernelContext, input: Array, *, T: DType) -> Result:
    """The name of the input's dtype."""
    return scalar_object(T.name.encode())


@kernel("DevicePlacementOp", shape="-> ()", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def device_placement(ctx: KernelContext) -> Result:
    """Return the device of the node: always the CPU."""
    return scalar_object(_CPU)


@kernel("IsTensorFloat32Enabled", shape="-> ()", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def is_tensor_float_32_enabled(ctx: KernelContext) -> Result:
    """Return True, TensorFlow's setting unless a program changes it."""
    return np.bool_(True)


@kernel("GetDeadline", shape="-> ()", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def get_deadline(ctx: KernelContext) -> Result:
    """When the run must be over, in microseconds since 1970: never."""
    return np.int64(_NO_DEADLINE)


@kernel("StubResourceHandleOp", shape="-> ()", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def stub_resource_handle(ctx: KernelContext) -> Result:
    """Return a handle by name; its object need not exist."""
    return named(ctx, Stub, lambda name: Stub())


@kernel("ResourceInitializedOp", shape="-> ()", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def resource_initialized(ctx: KernelContext, resource: Array) -> Result:
    # A handle is its object here, so the object is there before ResourceCreateOp. The flag says whether TensorFlow's resource
    # manager would have it yet.
    return np.bool_(held(resource, Stub).exists)


@kernel("IsResourceHandleRefCounting", shape="-> ()", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def is_resource_handle_ref_counting(ctx: KernelContext, handle: Array) -> Result:
    """Return True if no name leads to the resource, so that it lives only as long as its handles."""
    # In TensorFlow a handle by name does not count references, as the resource manager keeps the resource alive.
    target = handle.item()
    named = [held for _, held in (*ctx.resources.items(), *ctx.step.resources.items())]
    return np.bool_(not any(target is other for other in (*named, *ctx.session.node_states.values())))


@kernel("KernelLabelRequired", shape="_ -> ()", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def kernel_label_required(input: Array) -> Result:
    raise InvalidArgumentError("KernelLabelRequired has no kernel without a label")


@kernel("Old", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def old() -> None:
    """Nothing."""


@kernel("ConstructionFails", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def construction_fails() -> None:
    raise InvalidArgumentError("the kernel of ConstructionFails cannot be constructed")


@kernel("SyncDevice", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def sync_device(ctx: KernelContext) -> None:
    """Nothing: a CPU has nothing under way."""


@kernel("SleepOp", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("side_effect",))
def sleep(ctx: KernelContext, sleep_seconds: Array) -> None:
    _sleep(sleep_seconds)


def _sleep(seconds: Array) -> None:
    if np.ndim(seconds):
        raise InvalidArgumentError(f"Input must be a scalar, not of shape {Shape(np.shape(seconds))}")
    sleep_in_run(int(seconds))


@kernel("FileSystemSetConfiguration", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("side_effect",))
def file_system_set_configuration(ctx: KernelContext, scheme: Array, key: Array, value: Array) -> None:
    for name, text in (("scheme", scheme), ("key", key), ("value", value)):
        if text.ndim:
            raise InvalidArgumentError(f"{name} must be a scalar, not of shape {Shape(text.shape)}")
    raise UnimplementedError(f"file system '{scheme.item().decode(errors='replace')}' does not support configuration")


@kernel("ResourceCreateOp", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("side_effect",))
def resource_create(ctx: KernelContext, resource: Array) -> None:
    stub = held(resource, Stub)
    if stub.exists:
        raise AlreadyExistsError("the stub resource exists")
    stub.exists = True


@kernel("ResourceUsingOp", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("side_effect",))
def resource_using(ctx: KernelContext, resource: Array) -> None:
    if not held(resource, Stub).exists:
        raise NotFoundError("the stub resource does not exist")


@kernel("CheckPinned", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def check_pinned(tensor: Array) -> Result:
    raise InvalidArgumentError("CheckPinned has no kernel on a CPU: memory is pinned for a GPU")


@kernel("MakeWeakResourceHandle", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def make_weak_resource_handle(ctx: KernelContext, handle: Array) -> Result:
    """The handle: Python counts the references."""
    return handle


@shape("CheckPinned", "MakeWeakResourceHandle")
def forwarded_shape(tensor: TensorSpec) -> TensorSpec:
    return tensor


@kernel("SleepIdentityOp", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("side_effect",))
def sleep_identity(ctx: KernelContext, sleep_seconds: Array, input: Array) -> Result:
    """The input, some seconds later."""
    _sleep(sleep_seconds)
    return input


@shape("SleepIdentityOp")
def sleep_identity_shape(sleep_seconds: TensorSpec, input: TensorSpec) -> TensorSpec:
    return input


@kernel("CustomAggregator", shape="... -> ..., (), (), {num_bins}", gradient=WITHOUT_GRADIENT)
def custom_aggregator(
    input: Array, *, id: str, calibration_method: int, num_bins: int, min_percentile: float, max_percentile: float
) -> tuple[Result, Result, Result, Result]:
    """Return the input, its least and largest number, and a histogram (num_bins,) for calibration, with bins a power of 2
    wide.
    """
    if calibration_method == 0:
        raise AbortedError("Calibration method must be specified")
    if num_bins < 0:
        raise InvalidArgumentError(f"num_bins must not be negative, is {num_bins}")
    values = np.ravel(input)
    nan = np.flatnonzero(np.isnan(values))
    # As if each number x replaced the running minimum m unless m < x: a NaN comes in, and the next number replaces it.
    compared = values[nan[-1] + 1 :] if nan.size else values  # a NaN is replaced by the next number
    # Without a number the ends are those that a search for the least and the greatest begins with.
    lowest, highest = np.float32(np.nan if nan.size else np.inf), np.float32(np.nan if nan.size else -np.inf)
    if compared.size:
        lowest, highest = compared.min(), compared.max()
    return input, lowest, highest, _power_of_two_histogram(values, lowest, highest, num_bins)


def _power_of_two_histogram(values: Array, lowest: Any, highest: Any, bins: int) -> Array:
    if not bins or not values.size:
        return np.zeros(bins, np.int64)
    width = np.exp2(np.ceil(np.log2((highest - lowest) / np.float32(bins))))
    place = np.floor((values - np.floor(lowest / width) * width) / width)
    place = np.where((np.abs(place) < 2.0**31), place, 0)  # a number out of range becomes the least int
    return np.bincount(np.clip(place, 0, bins - 1).astype(np.int64), minlength=bins)


@flops("CustomAggregator")
def custom_aggregator_flops(input: TensorSpec, *, num_bins: int) -> Cost:
    """Two comparisons; for the bin, where there are bins, a difference, a division, a rounding and two comparisons."""
    return Cost(7 if num_bins else 2) * input.shape.num_elements


_WIDTHS = np.concatenate([[0], np.exp2(np.arange(-149, 128)), [np.inf]]).astype(np.float32)
"""0, the powers of two of float32, and infinity."""


@onnx("CustomAggregator")
def _custom_aggregator_onnx(g: Any, x: Any, *, calibration_method: int, num_bins: int) -> tuple[Any, Any, Any, Any]:
    """Count places in bins of the least power of two that holds the numbers."""
    if calibration_method == 0:
        g.refuse("its calibration method must be specified")
    values = g.reshape(x, [-1])
    numbers = iota(g, g.Size(values))
    is_nan = g.IsNaN(values)
    last = g.ReduceMax(g.Concat(g.Where(is_nan, numbers, -1), [-1], axis=0), keepdims=0)
    # ONNX does not say what its reductions make of a NaN, so the numbers up to the last NaN are masked.
    is_compared = g.Greater(numbers, last)
    ends = []
    # The start is joined to the numbers, as a reduction of no number at all is an error in onnxruntime.
    for reduce, start in ((g.ReduceMin, np.inf), (g.ReduceMax, -np.inf)):
        end = reduce(g.Concat(g.Where(is_compared, values, start), np.array([start], np.float32), axis=0), keepdims=0)
        is_lost = g.And(g.GreaterOrEqual(last, 0), g.Equal(g.Add(last, 1), g.Size(values)))
        ends.append(g.Where(is_lost, g.like(np.nan, end), end))
    lowest, highest = ends
    return x, lowest, highest, _histogram_onnx(g, values, lowest, highest, num_bins)


def _histogram_onnx(g: Any, values: Any, lowest: Any, highest: Any, bins: int) -> Any:
    if not bins:
        return g.constant(np.zeros(0, np.int64))
    ratio = g.Div(g.Sub(highest, lowest), bins)
    # ONNX has no base-2 logarithm, and the quotient of two natural ones may miss an exponent that is whole.
    width = g.Gather(_WIDTHS, g.ReduceSum(g.cast(g.Less(g.constant(_WIDTHS[:-1]), ratio), dtypes.int64), keepdims=0))
    place = g.Floor(g.Div(g.Sub(values, g.Mul(g.Floor(g.Div(lowest, width)), width)), width))
    place = g.cast(g.Where(g.Less(g.Abs(place), 2.0**31), place, 0), dtypes.int64)
    places = g.unsqueeze(g.Max(g.Min(place, bins - 1), 0), 1)
    ones = g.Expand(g.constant(np.int64(1)), g.dims(values))
    return g.ScatterND(np.zeros(bins, np.int64), places, ones, reduction="add")
