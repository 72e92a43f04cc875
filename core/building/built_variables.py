"""Variables made by a builder."""

from __future__ import annotations

from ..graph.graph import Node, Output
from ..support import dataclasses
from ..types.dtypes import DType
from ..types.shapes import Shape


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
