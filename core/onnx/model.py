"""What an ONNX model consists of, without the ONNX package: values, operations, blocks of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from ..support.errors import TfgError
from ..types.arrays import Array
from ..types.dtypes import DType
from ..types.shapes import UNKNOWN, Shape, TensorSpec, merge_shapes


@dataclasses.dataclass(frozen=True, slots=True)
class Elements:
    """The shapes of a list's elements: what is declared of all, and that of the written ones, None where none is written."""

    declared: Shape = UNKNOWN
    written: Shape | None = None

    def with_item(self, shape: Shape) -> Elements | None:
        """The elements with one more of a shape; None where it is not proven to have that of the others."""
        try:
            item = merge_shapes(shape, self.declared)  # an unnamed size of the item stays, one that is declared may be any
        except TfgError:
            return None
        is_proven = self.written is None or (item.dims is not None and item.dims == self.written.dims)
        return Elements(self.declared, item) if is_proven else None

    def beside(self, other: Elements) -> Elements:
        """The elements of one list or of another; those of unknown rank have no shape in common."""
        if self.written is None or other.written is None:
            return self if other.written is None else other
        return self if self.written == other.written else Elements(self.declared, UNKNOWN)


class Value:
    """What an operation takes and gives; a constant where it has an `array`.

    The spec is what inference knows of it. A value that `is_stacked` stands for a list or for the flow of a TensorArray: the
    elements stacked in one tensor, whose spec it has; `elements` says which shapes they are known to have. Complex numbers
    are two values, their `parts`.
    """

    __slots__ = ("array", "elements", "is_stacked", "parts", "spec")

    def __init__(self, dtype: DType, shape: Shape = UNKNOWN, array: Array | None = None, is_stacked: bool = False) -> None:
        self.spec = TensorSpec(dtype, shape)
        self.array = array
        self.is_stacked = is_stacked
        self.elements = Elements()
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
    """What stands for an optional: whether it holds `values`, tensors and optionals; those are None where it never does."""

    is_there: Value
    values: tuple[Any, ...] | None = None


@dataclasses.dataclass(slots=True, eq=False)
class Operation:
    """One node of a model; its attributes may be blocks. `source` is the TensorFlow node that it came from."""

    op: str
    inputs: list[Value | None]
    outputs: list[Value]
    attrs: dict[str, Any] = dataclasses.field(default_factory=dict)
    source: str = ""

    @property
    def blocks(self) -> list[Block]:
        """The subgraphs among the attributes."""
        return [value for value in self.attrs.values() if isinstance(value, Block)]

    def values(self) -> Iterator[Value]:
        """All that it takes, its blocks included."""
        yield from (value for value in self.inputs if value is not None)
        for block in self.blocks:
            yield from block.values()


@dataclasses.dataclass(slots=True, eq=False)
class Block:
    """Operations in order: a model's graph, a branch, the body of a loop. It may take values of the blocks around it."""

    inputs: list[Value] = dataclasses.field(default_factory=list)
    operations: list[Operation] = dataclasses.field(default_factory=list)
    outputs: list[Value] = dataclasses.field(default_factory=list)

    @property
    def depth(self) -> int:
        """How many blocks are in one another inside this one."""
        return max((1 + inner.depth for operation in self.operations for inner in operation.blocks), default=0)

    def values(self) -> Iterator[Value]:
        """All that its operations take and what it gives, of its own and of the blocks around it."""
        for operation in self.operations:
            yield from operation.values()
        yield from self.outputs

    def everything(self) -> Iterator[Operation]:
        """Its operations and those of the blocks inside."""
        for operation in self.operations:
            yield operation
            for block in operation.blocks:
                yield from block.everything()


@dataclasses.dataclass(frozen=True, slots=True)
class Model:
    """A graph as ONNX has it. `inputs` and `outputs` are its values by name.

    `narrowed` are the nodes whose 64-bit floats are computed in 32 bits, since onnxruntime has no other kernels for them.
    """

    block: Block
    inputs: Mapping[str, Value]
    outputs: Mapping[str, Value]
    narrowed: tuple[str, ...] = ()
