"""Variables made by a builder, and the types of the values that a builder takes and returns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from ..graph.graph import Node, Output
from ..support import dataclasses
from ..types.dtypes import DType
from ..types.shapes import Shape

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..types.dims import DimLike
    from ..types.tensors import Tensor


@dataclasses.dataclass(frozen=True, slots=True)
class BuiltVariable:
    """The nodes of a variable.

    As an input of an op, a Variable stands for its value, or the reference or handle where the op takes one.
    """

    handle: Output
    """The reference (VariableV2) or resource handle (VarHandleOp)."""
    initial_value: Output
    initializer: Node
    value: Output
    """The node that reads the variable: `read` of a reference, `Read/ReadVariableOp` of a resource."""
    dtype: DType
    shape: Shape
    is_resource: bool
    trainable: bool = True

    @property
    def name(self) -> str:
        """The name of the node that owns the memory."""
        return self.handle.node.name


OutputLike: TypeAlias = "Output | Node | BuiltVariable | str"
"""A tensor of the graph: an output, a node with outputs, a variable of the builder, or a tensor's name."""

TensorLike: TypeAlias = "OutputLike | Tensor | npt.ArrayLike"
"""A tensor of the graph, or a value that becomes a Const."""

DTypeLike: TypeAlias = "DType | str | int | type[Any] | np.dtype[Any]"
"""A dtype: of tfg, by name, by TensorFlow's number, or of NumPy."""

ShapeLike: TypeAlias = "Shape | Iterable[DimLike | None]"
"""A shape, or its dimensions; None and -1 are unknown dimensions."""

OutputsOrNode: TypeAlias = "tuple[Output, ...] | Any"
"""The outputs of an op whose attributes decide on their number; the Node where there are none.

`Any` stands for the Node, since few callers ask for no outputs.
"""
