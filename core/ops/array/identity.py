"""Ops that pass a value on: identities, checks, assertions, printing, debugging, changes of dtype; and constants."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.half_precision import wide
from ...registry.registry import (
    NOT_DIFFERENTIABLE,
    WITHOUT_GRADIENT,
    Cost,
    arrays,
    facts,
    flops,
    gradient,
    kernel,
    lower,
    not_differentiable,
    onnx,
    shape,
    zero_cost,
    zero_flops,
)
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...support.escaping import printable
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.example_values import example_value, feeding
from ...types.shapes import Shape, TensorSpec, fits, merge_shapes
from ...types.tensors import Tensor
from ..shared.argument_checks import require_rank
from ..shared.decompositions import by_ops
from ..shared.elementwise_tables import counted
from ..shared.kernel_files import append_file, file_name
from ..shared.shape_arguments import SIZE_DTYPES
from ..shared.tensor_text import summarize_array

_COPIES = (
    "Identity",
    "Snapshot",
    "StopGradient",
    "PreventGradient",
    "GuaranteeConst",
    "Copy",
    "CopyHost",
    "DeepCopy",
    "DebugGradientIdentity",
    "DebugIdentityV2",
)
_WATCHES = ("DebugIdentity", "DebugIdentityV3")
# These count no FLOPs; CheckNumerics counts a comparison for each element.
_FREE_FORWARDING = (*_COPIES, *_WATCHES, "EnsureShape", "Print")
_NUMERIC_CHECKS = ("CheckNumerics", "CheckNumericsV2")
_FORWARDING = (*_FREE_FORWARDING, *_NUMERIC_CHECKS)


# TensorFlow registers the kernel for every dtype, and refuses handles when it runs.
@kernel("GuaranteeConst", T=("resource",))
def guarantee_resource(x: Array) -> Result:
    raise InvalidArgumentError("the input of GuaranteeConst cannot be the handle of a resource")


@kernel(*_COPIES)
def identity(x: Array) -> Array:
    """The input itself; values that flow are never written to, so copies need not be made."""
    return x


gradient("DebugGradientIdentity")(by_ops("DebugGradientIdentity dy"))


@gradient("PreventGradient")
def prevent_gradient_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    message = node.attr("message").decode("utf-8", "backslashreplace")
    raise UnimplementedError(f"gradient explicitly disabled: {message}", node=node.name, op=node.op)


def _require_tensor_name(tensor_name: str) -> None:
    if not tensor_name or tensor_name.count(":") > 1:
        raise InvalidArgumentError(f"Failed to parse tensor name: {tensor_name!r}")


@kernel(*_WATCHES)
def debug_identity(x: Array, *, tensor_name: str) -> Array:
    """Return the input unchanged; `tensor_name` must be readable."""
    _require_tensor_name(tensor_name)
    return x


_KINDS: Final[Mapping[str, Callable[[Array], Any]]] = {
    "Inf": np.isinf,
    "-Inf": lambda x: np.isinf(x) & (x < 0),
    "+Inf": lambda x: np.isinf(x) & (x > 0),
    "NaN": np.isnan,
}
"""The numbers that a check refuses, by their name in the message."""


def _checked(kinds: Sequence[str], x: Array, *, message: str) -> Array:
    """Return the input; InvalidArgumentError that names the kinds if any element is NaN or infinite."""
    if not np.all(np.isfinite(x)):
        names = " and ".join(kind for kind in kinds if np.any(_KINDS[kind](x)))
        raise InvalidArgumentError(f"{message} : Tensor had {names} values")
    return x


kernel("CheckNumerics")(functools.partial(_checked, ("Inf", "NaN")))
kernel("CheckNumericsV2")(functools.partial(_checked, ("-Inf", "+Inf", "NaN")))


@shape(*_COPIES, *_WATCHES, *_NUMERIC_CHECKS, "IdentityN", "Print")
def identity_shape(x: TensorSpec | list[TensorSpec], *printed: Any) -> TensorSpec | list[TensorSpec]:
    return x


not_differentiable("StopGradient")
gradient(
    "Identity", "GuaranteeConst", "Copy", "CopyHost", "DeepCopy", "Snapshot", "DebugIdentity", "DebugIdentityV2",
    "DebugIdentityV3", "PlaceholderWithDefault", "EnsureShape", "Print", *_NUMERIC_CHECKS,
)(by_ops("dy"))  # fmt: skip
zero_flops(*_COPIES, *_WATCHES)
facts("transparent", of=("StopGradient", "PreventGradient", "Snapshot", "Identity"))
facts("elementwise", "forwarding", of=_FORWARDING)
facts("idempotent", "shape_arithmetic", of=("Snapshot", "StopGradient", "PreventGradient", "Identity"))
facts("monotone", of=("Snapshot", "StopGradient", "Identity"))
facts("alias", "inexpensive", of=("Identity", "PreventGradient", "StopGradient"))
facts("debug", of=("Copy", "CopyHost", "DebugIdentity", "DebugIdentityV3", "DebugIdentityV2"))


@kernel("DebugNanCount", shape="* -> 1", gradient=NOT_DIFFERENTIABLE, facts=("debug",))
def debug_nan_count(x: Array, *, tensor_name: str) -> Result:
    """Count the NaN elements; a vector (1,)."""
    _require_tensor_name(tensor_name)
    count = np.count_nonzero(np.isnan(x)) if np.asarray(x).dtype.kind not in "O" else 0
    return np.array([count], np.int64)


flops("DebugNanCount", *_NUMERIC_CHECKS)(counted(1, 0, "A comparison."))
facts("side_effect", of=("CheckNumerics", "CheckNumericsV2"))
facts("diagnostic", of=("DebugIdentityV2", "DebugIdentityV3", "CheckNumerics", "CheckNumericsV2"))


@kernel("DebugNumericSummary", gradient=WITHOUT_GRADIENT, facts=("debug",))
def debug_numeric_summary(x: Array, *, lower_bound: float, upper_bound: float, T: DType) -> Result:
    """Return counts of six kinds of numbers, extremes, mean and variance of the finite numbers, dtype and shape, (14 +
    rank,).
    """
    x = np.asarray(x)
    wide = x.astype(np.float64)
    low, high, nan = wide <= lower_bound, wide >= upper_bound, np.isnan(wide)
    inside = wide[np.isfinite(wide)]
    counts = [nan, low, (wide < 0) & ~low, wide == 0, (wide > 0) & ~high, high]
    moments = [inside.min(), inside.max(), inside.mean(), inside.var()] if inside.size else [np.inf, -np.inf, np.nan, np.nan]
    summary = [1, x.size, *map(np.count_nonzero, counts), *moments, T.number, x.ndim, *x.shape]
    return np.array(summary, np.float64)


@shape("DebugNumericSummary")
def debug_numeric_summary_shape(x: TensorSpec) -> Shape:
    return Shape([None if x.rank is None else 14 + x.rank])


@flops("DebugNumericSummary")
def debug_numeric_summary_flops(x: TensorSpec) -> Cost:
    """Seven comparisons, the least and the greatest, the mean and the variance, as if all numbers were finite."""
    return Cost(flops=13 * x.shape.num_elements - 2)


@kernel("IdentityN", flops=zero_cost, facts=("shape_arithmetic", "passes_each_on", "inexpensive"))
def identity_n(values: list[Array]) -> Sequence[Result]:
    return values


@gradient("IdentityN")
def identity_n_gradient(g: GradientBuilder, node: Node, *grads: Output) -> Gradients:
    return list(grads)


@kernel("PlaceholderWithDefault", flops=zero_cost, facts=("inexpensive", "alias"))
def placeholder_with_default(ctx: KernelContext, x: Array) -> Result:
    """The default, where nothing is fed; takes ctx because a kernel with state is never folded, and a feed may come."""
    return x


@shape("PlaceholderWithDefault")
def placeholder_with_default_shape(x: TensorSpec, *, shape: Shape) -> Shape:
    merge_shapes(x.shape, shape)
    return shape


@kernel("EnsureShape", flops=zero_cost, facts=("shape_arithmetic", "inexpensive"))
def ensure_shape(x: Array, *, shape: Shape) -> Result:
    """Return the input; InvalidArgumentError unless its shape fits the attribute."""
    if not fits(np.shape(x), shape):
        raise InvalidArgumentError(f"Shape of tensor {Shape(np.shape(x))} is not compatible with expected shape {shape}")
    return x


@shape("EnsureShape")
def ensure_shape_shape(x: TensorSpec, *, shape: Shape) -> Shape:
    return merge_shapes(x.shape, shape)


facts("idempotent", "same_shape_same_value", "alias_view", of=("EnsureShape",))


@kernel("HostConst", arithmetic=False)
def host_const(*, value: Tensor) -> Result:
    return value.numpy()


@shape("HostConst")
def host_const_shape(*, value: Tensor) -> TensorSpec:
    return TensorSpec(value.dtype, Shape(value.shape), value.numpy() if value.size <= 4096 else None)


@kernel("NoOp", facts=("idle", "control_flow", "inexpensive"), arithmetic=False)
def no_op() -> None:
    return None


@kernel("Assert", facts=("side_effect", "diagnostic"), arithmetic=False)
def assert_(condition: Array, data: list[Array], *, summarize: int) -> None:
    """Nothing where the condition holds; InvalidArgumentError showing `data` otherwise."""
    if np.ndim(condition) != 0:
        raise InvalidArgumentError(f"In[0] should be a scalar: {Shape(np.shape(condition))}")
    if not condition:
        shown = " ".join(f"[{summarize_array(value, summarize)}]" for value in data)
        raise InvalidArgumentError(f"assertion failed: {shown}")


@kernel("Print", flops=zero_cost, facts=("debug", "side_effect", "diagnostic"))
def print_(ctx: KernelContext, x: Array, data: list[Array], *, message: str, first_n: int, summarize: int) -> Result:
    """The input; shows `data` on stderr, the first `first_n` times."""
    # The count spans all runs of the session: TensorFlow's kernel object, which counts, lives as long as the session.
    counter = ctx.state(itertools.count)
    if first_n < 0 or next(counter) < first_n:
        shown = "".join(f"[{summarize_array(value, summarize)}]" for value in data)
        sys.stderr.write(printable(f"{message}{shown}\n"))
    return x


_STREAMS = ("stdout", "stderr", "log(info)", "log(warning)", "log(error)")


@kernel("PrintV2", shape="() ->", facts=("side_effect", "diagnostic"), arithmetic=False)
def print_v2(ctx: KernelContext, text: Array, *, output_stream: str, end: str) -> None:
    """Nothing; writes a string scalar to stderr, to stdout or to the end of a file."""
    if np.ndim(text) != 0:
        raise InvalidArgumentError(f"Input is expected to be scalar, but got {Shape(np.shape(text))}")
    if output_stream.startswith("file://"):
        append_file(ctx, file_name(output_stream), text.item() + end.encode("utf-8", "surrogateescape"))
        return
    if output_stream not in _STREAMS:
        raise InvalidArgumentError(f"Unknown output stream: {output_stream}, Valid streams are: {' '.join(_STREAMS)}")
    stream = sys.stdout if output_stream == "stdout" else sys.stderr
    stream.write(printable(text.item().decode("utf-8", "replace") + end))


_TRUTHS = ("float32", "float64", "int64", "int32", "uint8", "int16", "int8", "bool", "object")


@kernel("ToBool", shape="-> ()", arithmetic=False)
def to_bool(x: Array) -> Result:
    """Return a scalar's truth (non-zero, or a non-empty string); for other tensors, True if any elements exist."""
    if np.ndim(x) > 0:
        return np.bool_(np.size(x) > 0)
    if np.asarray(x).dtype.name not in _TRUTHS:
        raise InvalidArgumentError(f"{np.asarray(x).dtype.name} cannot be converted to a boolean")
    return np.bool_(bool(np.asarray(x).item()))


@kernel("Cast", flops=zero_cost, facts=("elementwise",))
def cast(x: Array, *, SrcT: DType, DstT: DType, Truncate: bool) -> Result:
    """Cast the input to another dtype; a complex number loses its imaginary part."""
    if SrcT is DstT:
        return x
    # First, as most casts in graphs are those of sizes.
    if SrcT in _PLAIN and DstT in _PLAIN:
        return x.astype(DstT.numpy)
    if not (_is_castable(SrcT) and _is_castable(DstT)):
        raise UnimplementedError(f"Cast {SrcT} to {DstT} is not supported")
    x = np.asarray(x)
    if SrcT is dtypes.bfloat16 and DstT is dtypes.bool_:  # by the bits, so that a subnormal number is not zero
        # The shift drops the sign: -0 is false.
        return x.view(np.uint16) << 1 != 0
    # NumPy would warn that it discards the imaginary part.
    if x.dtype.kind == "c" and not DstT.is_complex:
        x = x.real
    if Truncate and (SrcT.is_floating or SrcT.is_complex):
        x = _truncate_mantissa(x, DstT)
    if (DstT.is_integer or DstT.is_quantized) and x.dtype.kind not in "iub":
        return _float_to_integer(x, DstT.numpy)
    return wide(x) if SrcT is dtypes.float16 and DstT is dtypes.float32 else x.astype(DstT.numpy)


_PLAIN = frozenset((dtypes.bool_, dtypes.int32, dtypes.int64))
"""The dtypes of sizes and masks. NumPy casts between them as TensorFlow does."""

_MANTISSA_BITS = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}


def _truncate_mantissa(x: Array, target: DType) -> Array:
    """`x` with the mantissa bits that `target` cannot hold set to zero, so that the cast rounds towards zero."""
    target_name = {"complex64": "float32", "complex128": "float64"}.get(target.numpy.name, target.numpy.name)
    # A complex number is two floats in a row, so that both parts lose their digits at once.
    parts = np.ascontiguousarray(x).view(x.real.dtype)
    excess = _MANTISSA_BITS.get(parts.dtype.name, 0) - _MANTISSA_BITS.get(target_name, 64)
    # Between half and bfloat16 TensorFlow ignores Truncate: the cast goes through float32.
    if excess <= 0 or parts.dtype.itemsize < 4:
        return x
    bits = parts.view(f"u{parts.dtype.itemsize}")
    mask = bits.dtype.type(~np.uint64((1 << excess) - 1) & np.uint64(np.iinfo(bits.dtype).max))
    # A NaN whose upper digits are all 0 would become infinity.
    truncated = np.where(np.isnan(parts), parts, (bits & mask).view(parts.dtype))
    return truncated.view(x.dtype).reshape(x.shape)


def _float_to_integer(x: Array, dtype: Any) -> Array:
    """Convert as the CPU does, also out of range: narrow types take the low bits of int32."""
    x = x.astype(np.float32) if x.dtype.itemsize < 4 else x
    if dtype.itemsize < 4:
        # The CPU has no conversion to narrower integers: out of range the low bits of the 32-bit result remain, as in
        # TensorFlow.
        return x.astype(np.int32).astype(dtype)
    return x.astype(dtype)


def _is_castable(dtype: DType) -> bool:
    return dtype.is_numeric or dtype is dtypes.bool_


@shape("Cast")
def cast_shape(x: TensorSpec, *, DstT: DType) -> TensorSpec:
    # Sizes that only a run knows keep their symbols through casts between int32 and int64.
    is_partial = x.value is not None and x.value.dtype == object
    return TensorSpec(DstT, x.shape, x.value if is_partial and DstT in SIZE_DTYPES else None, x.handle)


@gradient("Cast")
def cast_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    source, target = node.inputs[0].base_dtype, grad.base_dtype
    # No gradient flows through integers, whose derivatives are 0 or undefined.
    if any(not (t.is_floating or t.is_complex) for t in (source, target)):
        return [None]
    return [g.Cast(grad, DstT=source)]


@kernel("Bitcast", flops=zero_cost, facts=("alias_view",))
def bitcast(x: Array, *, type: DType) -> Result:
    """Return the same bytes as another dtype: a wider source adds a dimension, a narrower source loses its last."""
    # A view of another item size needs a contiguous last axis; ascontiguousarray would give a scalar a dimension.
    x = np.ascontiguousarray(x) if np.ndim(x) else np.asarray(x)
    source, target = x.dtype.itemsize, type.numpy.itemsize
    if source == target:
        return x.view(type.numpy)
    if source > target:
        return x.reshape(*x.shape, 1).view(type.numpy)
    # Several narrow elements, the whole last dimension, make a wide one.
    if x.ndim == 0 or x.shape[-1] != target // source:
        raise InvalidArgumentError(
            f"Cannot bitcast from {x.dtype} to {type}: shape {Shape(x.shape)} needs {target // source} as its last dimension"
        )
    return x.view(type.numpy).reshape(x.shape[:-1])


@shape("Bitcast")
def bitcast_shape(x: TensorSpec, *, type: DType, T: DType) -> Shape:
    source, target = T.size, type.size
    if source == target or x.rank is None:
        return x.shape
    if source > target:
        return Shape([*x.shape, source // target])
    if x.rank == 0 or (isinstance(x.shape[-1], int) and x.shape[-1] != target // source):
        raise InvalidArgumentError(f"a {T} of shape {x.shape} cannot be bitcast to {type}")
    return x.shape[:-1]


@gradient("Bitcast")
def bitcast_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Return the gradient as the source's dtype. Source and target must be the same, or a complex dtype and its parts."""
    source, target = node.inputs[0].base_dtype, node.attr("type")
    # The derivative by bits is meaningless, except between a complex number and its two parts, which are the same numbers.
    if source is not target and source.is_complex == target.is_complex:
        raise UnimplementedError(f"the bits of {source} as {target} have no gradient")
    return [g.Bitcast(grad, type=source)]


# GuaranteeConst and DeepCopy are stateful in TensorFlow's catalog, and engines get no stateful nodes. A model of ONNX has no
# checks and prints nothing.
@lower(
    "Identity", "Snapshot", "StopGradient", "PreventGradient", "Copy", "CopyHost", "DebugGradientIdentity", "DebugIdentityV2"
)  # fmt: skip
@onnx(*_COPIES, *_WATCHES, "EnsureShape", "PlaceholderWithDefault", "Print")
def handed_on(world: Any, x: Any, *watched: Any) -> Any:
    """Return the input, a tensor or a list."""
    return x


@lower("IdentityN")
@onnx("IdentityN")
def all_handed_on(world: Any, values: Sequence[Any]) -> Any:
    return tuple(values)


onnx("NoOp", "Assert", "PrintV2")(lambda g, *inputs: ())
onnx("ToBool")(lambda g, x: g.truth(x))
# XLA converts floats out of range in another way than the CPU, and rounds towards zero on demand; ONNX's Cast does neither.
onnx("Cast")(lambda g, x, *, DstT: g.cast(x, DstT.base))
facts("half_clear", of=["EnsureShape", "Identity", "Snapshot", "StopGradient"])


@arrays(*_NUMERIC_CHECKS)
def _checked_numbers(xp: Any, x: Any) -> Any:
    """Return finite numbers; NumPy reports others, and a model of ONNX leaves out the check."""
    xp.require(xp.isfinite(x).all())
    return x


@lower("Assert", always=True)
def lowered_assert(xla: Any, condition: Any, data: Any) -> tuple[()]:
    """Lower an assertion; NumPy reports the failure where the condition is false."""
    require_rank(condition, 0, "condition")
    xla.require(condition)
    return ()


@onnx("Bitcast")
def _bitcast_onnx(g: Any, x: Any, *, type: DType) -> Any:
    """Integers as integers and complex numbers as their parts: ONNX looks at no other bytes."""
    type = dtypes.from_numpy(type.numpy) if type.is_quantized else type
    if x.dtype.is_complex and type.size * 2 == x.dtype.size:
        return g.packed(x)
    if type.is_complex and x.dtype.size * 2 == type.size:
        return g.unpacked(x)
    if not (x.dtype.is_integer and type.is_integer):
        g.refuse("ONNX has no operator for the bytes of a number")
    source, target = x.dtype.size, type.size
    if source == target:
        return g.cast(x, type)
    # Through the unsigned dtype of the same size: the sign would otherwise fill the upper bits.
    wide = g.cast(g.cast(x, dtypes.from_name(f"uint{8 * source}")), dtypes.uint64)
    if source > target:
        shifts = np.arange(0, 8 * source, 8 * target, dtype=np.uint64)
        mask = g.constant(np.uint64((1 << 8 * target) - 1))
        return g.cast(g.BitwiseAnd(g.BitShift(g.unsqueeze(wide, -1), shifts, direction="RIGHT"), mask), type)
    shifts = np.arange(0, 8 * target, 8 * source, dtype=np.uint64)
    shifted = g.BitShift(wide, shifts, direction="LEFT")
    parts = [g.Gather(shifted, np.array(i), axis=-1) for i in range(len(shifts))]
    return g.cast(functools.reduce(g.BitwiseOr, parts), type)


_TRUNCATED: Final = ("bfloat16", "float16", "float32")
"""The dtypes that a cast can round to towards zero."""


@lower("Cast")
def _cast_lowering(xla: Any, x: Any, *, DstT: DType, Truncate: bool) -> Any:
    """Cast numbers; a truncating cast of floats rounds towards zero."""
    target = DstT.numpy
    is_float = x.dtype.kind == "f" and x.dtype.itemsize > np.dtype(np.float16).itemsize
    if Truncate and is_float and target.name in _TRUNCATED:
        x = _truncated(xla, x, target)
    return xla.cast(x, target)


def _truncated(xla: Any, x: Any, target: np.dtype[Any]) -> Any:
    """Return floats without the mantissa bits that `target` cannot hold."""
    excess = max(xla.finfo(x.dtype).nmant - xla.finfo(target).nmant, 0)
    bits = xla.lax.bitcast_convert_type(x, f"u{x.dtype.itemsize}")
    mask = np.array(-(1 << excess)).astype(bits.dtype)
    return xla.where(xla.isnan(x), x, xla.lax.bitcast_convert_type(bits & mask, x.dtype))


# XLA looks at the bytes of numbers; ONNX has no operator for them.
lower("Bitcast")(lambda xla, x, *, type: xla.lax.bitcast_convert_type(x, type.numpy))


@lower("EnsureShape")
def _ensure_shape_lowering(xla: Any, x: Any, *, shape: Shape) -> Any:
    """Return x where the shape agrees with `shape`."""
    merge_shapes(Shape(x.shape), shape)
    return x


# Constants, placeholders and function arguments.


@kernel("Const", facts=("inexpensive",), arithmetic=False)
def const(*, value: Tensor) -> Result:
    """The tensor held in the attribute."""
    return value.aligned()


@shape("Const")
def const_shape(*, value: Tensor) -> TensorSpec:
    # Inference knows the values of small constants only: sizes and axes are small, and the values of weights help no shape.
    array = value.numpy() if value.size <= 4096 and value.lack is None else None
    return TensorSpec(value.dtype, Shape(value.shape), array)


@kernel("Placeholder", "PlaceholderV2", shape="-> {shape}...", arithmetic=False)
def placeholder(ctx: KernelContext, *, dtype: DType, shape: Shape) -> Result:
    hint = feeding(ctx.name, example_value(dtype.name, shape))
    raise InvalidArgumentError(f"You must feed a value for this placeholder, of shape {shape}", hint=hint)
