"""An ONNX model without the ONNX package: values, operations, blocks of operations, outputs of branches, dtypes of kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..support import dataclasses
from ..support.errors import TfgError
from ..types import dtypes
from ..types.arrays import Array
from ..types.dtypes import DType
from ..types.shapes import UNKNOWN, Shape, TensorSpec, merge_shapes, relax_shapes


@dataclasses.dataclass(frozen=True, slots=True)
class ElementShapes:
    """The shapes of a list's elements: the declared shape of all, and the shape of the written elements, None where none is
    written.
    """

    declared: Shape = UNKNOWN
    written: Shape | None = None

    def with_item(self, shape: Shape) -> ElementShapes | None:
        """Return the elements with another of a shape; None where the shape may differ from the written elements'."""
        try:
            item = merge_shapes(shape, self.declared)  # an unnamed size of the item stays, one that is declared may be any
        except TfgError:
            return None
        is_proven = self.written is None or (item.dims is not None and item.dims == self.written.dims)
        return ElementShapes(self.declared, item) if is_proven else None

    def beside(self, other: ElementShapes) -> ElementShapes:
        """Return the elements of either of two lists; elements of unknown rank have no shape in common."""
        if self.written is None or other.written is None:
            return self if other.written is None else other
        return self if self.written == other.written else ElementShapes(self.declared, UNKNOWN)


class Value:
    """An operation's input or output; a constant where there is an `array`.

    The spec is the inferred spec. A value that `is_stacked` stands for a list or for the flow of a TensorArray: the
    elements are stacked in a tensor with the value's spec, and `elements` has their known shapes. Complex numbers are two
    values, the `parts`.
    """

    __slots__ = ("array", "elements", "is_stacked", "parts", "spec")

    def __init__(self, dtype: DType, shape: Shape = UNKNOWN, array: Array | None = None, is_stacked: bool = False) -> None:
        self.spec = TensorSpec(dtype, shape)
        self.array = array
        self.is_stacked = is_stacked
        self.elements = ElementShapes()
        self.parts: tuple[Value, Value] | None = None

    @property
    def dtype(self) -> DType:
        return self.spec.dtype

    @property
    def shape(self) -> Shape:
        return self.spec.shape

    @property
    def rank(self) -> int | None:
        return self.spec.shape.rank


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Held:
    """An optional: the flag `is_there`, and `values`, tensors and optionals; None where the optional is always empty."""

    is_there: Value
    values: tuple[Any, ...] | None = None


@dataclasses.dataclass(slots=True, eq=False)
class Operation:
    """A node of a model; attributes may be blocks. `source` is the TensorFlow node behind the operation."""

    op: str
    inputs: list[Value | None]
    outputs: list[Value]
    attrs: dict[str, Any] = dataclasses.field(default_factory=dict)
    source: str = ""

    @property
    def blocks(self) -> list[Block]:
        """Return the subgraphs among the attributes."""
        return [value for value in self.attrs.values() if isinstance(value, Block)]

    def values(self) -> Iterator[Value]:
        """Yield all values that the operation reads, nested blocks included."""
        yield from (value for value in self.inputs if value is not None)
        for block in self.blocks:
            yield from block.values()


@dataclasses.dataclass(slots=True, eq=False)
class Block:
    """Operations in order: a model's graph, a branch, the body of a loop. They may read values of the enclosing blocks."""

    inputs: list[Value] = dataclasses.field(default_factory=list)
    operations: list[Operation] = dataclasses.field(default_factory=list)
    outputs: list[Value] = dataclasses.field(default_factory=list)

    @property
    def depth(self) -> int:
        """Return the depth of nested blocks inside this block."""
        return max((1 + inner.depth for operation in self.operations for inner in operation.blocks), default=0)

    def values(self) -> Iterator[Value]:
        """Yield all values that the operations read, and the block's outputs, from this block and the enclosing blocks."""
        for operation in self.operations:
            yield from operation.values()
        yield from self.outputs

    def everything(self) -> Iterator[Operation]:
        """Yield the operations of the block and of nested blocks."""
        for operation in self.operations:
            yield operation
            for block in operation.blocks:
                yield from block.everything()


@dataclasses.dataclass(frozen=True, slots=True)
class OnnxModel:
    """A graph in ONNX's terms. `inputs` and `outputs` are values by name, and `defaults` what an input has if nobody feeds it.

    `narrowed` are the nodes whose 64-bit floats are computed in 32 bits, since onnxruntime has no other kernels for them.
    """

    block: Block
    inputs: Mapping[str, Value]
    outputs: Mapping[str, Value]
    narrowed: tuple[str, ...] = ()
    defaults: Mapping[str, Array] = dataclasses.field(default_factory=dict)


# Outputs of the branches of a conditional: tensors, and optionals that only some branches fill.


def is_branch_output(value: Any) -> bool:
    """Return True for a value that a branch can return."""
    return isinstance(value, (Value, Held))


def flat(g: Any, values: Sequence[Any]) -> list[Value]:
    """Return the tensors that values consist of: parts of complex numbers; of an optional first the flag, then the
    contents.
    """
    tensors: list[Value] = []
    for value in values:
        if isinstance(value, Held):
            tensors += [value.is_there, *flat(g, value.values or ())]
        else:
            tensors += g.parts(value) if value.dtype.is_complex else [value]
    return tensors


def common(g: Any, a: Any, b: Any) -> Any:
    """Return a new value for the result of either branch."""
    if isinstance(a, Held) and isinstance(b, Held):
        if a.values is None or b.values is None:
            held = a.values if b.values is None else b.values
            return Held(_fresh(g, a.is_there), None if held is None else tuple(common(g, value, value) for value in held))
        return Held(_fresh(g, a.is_there), tuple(common(g, left, right) for left, right in zip(a.values, b.values)))
    if isinstance(a, Held) or isinstance(b, Held):
        g.refuse("one branch returns an optional, the other a tensor")
    result = g.fresh(a.dtype, relax_shapes(a.shape, b.shape), a)
    result.elements = a.elements.beside(b.elements)
    return result


def _fresh(g: Any, value: Value) -> Value:
    result: Value = g.fresh(value.dtype, value.shape, value)
    return result


def fitted(g: Any, value: Any, form: Any) -> Any:
    """Return a branch's value with the same tensors as `form`: an optional without contents gets empty tensors."""
    if not isinstance(form, Held) or form.values is None:
        return value
    if value.values is None:
        # Both branches of ONNX's If must return the same number of tensors.
        return Held(value.is_there, tuple(_absent(g, each) for each in form.values))
    return Held(value.is_there, tuple(fitted(g, *pair) for pair in zip(value.values, form.values)))


def _absent(g: Any, form: Any) -> Any:
    if isinstance(form, Held):
        return Held(g.constant(np.array(False)), tuple(_absent(g, value) for value in form.values or ()))
    return g.constant(np.zeros([0] * (form.rank or 0), form.dtype.numpy), form.dtype)


# The dtypes of onnxruntime's kernels on CPUs, and the wider dtype for an operator without a kernel.
# ONNX itself allows most operators on more dtypes. A file with such operators is valid, but no runtime loads the file.

_SINGLE: Final = "half float"
_FLOATS: Final = "half float double"
_NUMBERS: Final = f"{_FLOATS} int8 int16 int32 int64 uint8 uint16 uint32 uint64"
_WIDE: Final = f"{_FLOATS} int32 int64"
_MOST: Final = f"{_FLOATS} int8 int32 int64 uint8 uint32 uint64"
_ORDERED: Final = f"{_FLOATS} int8 int32 int64 uint8"

_KERNELS: Final = {
    _SINGLE: "Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Erf Softplus Softsign Elu Selu LeakyRelu Gelu HardSigmoid PRelu "
    "Mean Conv ConvTranspose AveragePool LRN InstanceNormalization Det",
    _FLOATS: "Ceil Floor Round Sqrt Exp Log Reciprocal Sin Cos Tanh Sigmoid Gemm Softmax LogSoftmax BatchNormalization DFT "
    "LayerNormalization LSTM GRU",
    f"{_FLOATS} int8 int16 int32 int64": "Neg",
    f"{_FLOATS} int8 int32": "Relu",
    f"{_FLOATS} bfloat16": "IsNaN IsInf",
    f"{_FLOATS} int8 uint8": "MaxPool SpaceToDepth DepthToSpace",
    f"{_SINGLE} int32 int64 uint8 bool": "NonZero",
    f"{_SINGLE} int8 int32 uint8": "Resize",
    f"{_FLOATS} int8 int64": "Unique",
    f"{_FLOATS} int8 int16 int32 int64 uint8": "TopK",
    "float double int16 int32 int64": "Range",
    "uint8 uint32 uint64": "BitShift",
    _WIDE: "Pow ReduceSum ReduceMean ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSumExp CumSum Einsum",
    f"{_WIDE} bool": "Trilu",
    _MOST: "Clip",
    f"{_WIDE} uint32 uint64": "MatMul Max Min",
    f"{_MOST} bool": "Pad",
    f"{_FLOATS} int8 int32 int64 uint8 uint32 string": "Where",
    f"{_ORDERED} bool": "ReduceMax ReduceMin",
    _ORDERED: "ArgMax ArgMin",
    _NUMBERS: "Abs Add Sub Mul Div Mod Less Greater LessOrEqual GreaterOrEqual",
    _NUMBERS.removeprefix("half "): "ScatterND add,ScatterND mul,ScatterND max,ScatterND min",
    f"{_NUMBERS} bool string": "Equal Expand Tile ReverseSequence Size",
}
_BY_OP: Final = {
    op: frozenset(types.split()) for types, ops in _KERNELS.items() for op in ops.split("," if "," in ops else None)
}
_WIDER: Final = {
    dtypes.bool_: (dtypes.uint8, dtypes.int32, dtypes.int8),
    dtypes.uint8: (dtypes.int32, dtypes.int64, dtypes.float32),
    dtypes.int8: (dtypes.int32, dtypes.int64, dtypes.float32),
    dtypes.uint16: (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.uint32),
    dtypes.int16: (dtypes.int32, dtypes.int64, dtypes.float32),
    dtypes.uint32: (dtypes.int64, dtypes.uint64, dtypes.float64),
    dtypes.int32: (dtypes.int64, dtypes.float64),
    dtypes.bfloat16: (dtypes.float32,),
    dtypes.float16: (dtypes.float32,),
    dtypes.float64: (dtypes.float32,),
}
"""The dtypes that hold all values of another, in order of preference; for 64-bit floats float32, the only other kernel."""


def carrier(dtype: DType) -> DType:
    """Return the dtype of a tensor in ONNX: for a quantized dtype the integers that it holds, else the dtype itself."""
    base = dtype.base
    return dtypes.from_numpy(base.numpy) if base.is_quantized else base


def wider_dtypes(dtype: DType) -> tuple[DType, ...]:
    """Return the dtypes that hold all values of another, in order of preference."""
    return () if dtype is dtypes.float64 else _WIDER.get(dtype, ())


def computed_in(op: str, dtype: DType) -> DType | None:
    """Return the dtype in which onnxruntime computes an operator on tensors of `dtype`: the same, or a dtype to cast to and
    back.

    None where there is no such dtype.
    """
    kernels = _BY_OP.get(op)
    if kernels is None or dtype.name in kernels:
        return dtype
    return next((wider for wider in _WIDER.get(dtype, ()) if wider.name in kernels), None)
