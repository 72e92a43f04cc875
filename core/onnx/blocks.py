"""An ONNX model without the ONNX package: values, operations, and blocks of operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..support import dataclasses
from ..support.errors import TfgError
from ..types.arrays import Array
from ..types.dtypes import DType
from ..types.shapes import UNKNOWN, Shape, TensorSpec, merge_shapes


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
    """A graph in ONNX's terms. `inputs` and `outputs` are values by name.

    `narrowed` are the nodes whose 64-bit floats are computed in 32 bits, since onnxruntime has no other kernels for them.
    """

    block: Block
    inputs: Mapping[str, Value]
    outputs: Mapping[str, Value]
    narrowed: tuple[str, ...] = ()
