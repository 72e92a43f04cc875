"""Variables as tf.compat.v1.Variable makes them: the same nodes, names and attributes, by reference or as a resource."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from .. import dtypes
from ..dtypes import DType
from ..graph import Node, Output
from ..shapes import UNKNOWN, Shape
from ..tensors import Tensor

if TYPE_CHECKING:
    from .builder import GraphBuilder


@dataclasses.dataclass(frozen=True, slots=True)
class Variable:
    """The nodes of one variable. Given to an op it is its value, or its reference or handle where the op takes that."""

    handle: Output
    """The reference (VariableV2) or resource handle (VarHandleOp)."""
    initial_value: Output
    initializer: Node
    value: Output
    """What reads it: `read` of a reference, `Read/ReadVariableOp` of a resource."""
    dtype: DType
    shape: Shape
    is_resource: bool
    trainable: bool = True

    @property
    def name(self) -> str:
        """The name of the node that owns the memory."""
        return self.handle.node.name


def ref_variable(
    g: GraphBuilder, value: Any, name: str, dtype: DType | None, validate_shape: bool, trainable: bool
) -> Variable:
    """`initial_value` (for a value that is no Output), the VariableV2, its `Assign` and its `read`."""
    with g.name_scope(name) as scope, g.no_controls():
        initial = g.as_output(value, dtype, "initial_value")
        element, shape = _element(g, initial, dtype), _shape(g, initial) if validate_shape else UNKNOWN
        handle = g.VariableV2(shape=shape, dtype=element, name=scope)
        with g.colocate_with(handle):
            initializer = g.Assign(handle, initial, validate_shape=validate_shape, use_locking=True, name="Assign").node
            read = g.Identity(handle, name="read")
    return Variable(handle, initial, initializer, read, element, shape, False, trainable)


def resource_variable(g: GraphBuilder, value: Any, name: str, dtype: DType | None, trainable: bool) -> Variable:
    """`Initializer/initial_value` (for a value that is no Output), the VarHandleOp, and what tests, assigns and reads it."""
    with g.name_scope(name) as scope, g.no_controls():
        own = scope.rstrip("/")
        location = [b"loc:@" + own.encode()]
        initial = value
        if not isinstance(value, (Output, Node)):
            with g.name_scope("Initializer"), g.device(None):
                initial = g.constant(value, dtype, "initial_value", _class=location)
        initial = g.as_output(initial, dtype)
        element, shape = _element(g, initial, dtype), _shape(g, initial)
        handle = g.VarHandleOp(
            shape=shape, dtype=element, shared_name=own, debug_name=f"{own}/", name=scope, _class=location
        )
        g.VarIsInitializedOp(handle, name="IsInitialized/VarIsInitializedOp")
        initializer = g.AssignVariableOp(handle, initial, name="Assign")
        read = g.ReadVariableOp(handle, dtype=element, name="Read/ReadVariableOp")
    return Variable(handle, initial, initializer, read, element, shape, True, trainable)


def _element(g: GraphBuilder, initial: Output, dtype: DType | None) -> DType:
    return dtype or (initial.dtype.base if initial.dtype else dtypes.float32)


def _shape(g: GraphBuilder, initial: Output) -> Shape:
    """The static shape of an initial value."""
    constant = initial.node.attrs.get("value")
    if isinstance(constant, Tensor):
        return Shape(constant.shape)
    from ..inference import infer

    return infer(g.graph).shape(initial)
