"""Access to what handles lead to: variables, with the checks before a write; queues, tables, readers and their like."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import numpy as np

from ...registry.registry import kernel
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.resources import Shared, Variable, no_value_hint
from ...support.errors import InvalidArgumentError, NotFoundError
from ...types import dtypes
from ...types.arrays import object_array
from ...types.shapes import Shape

_Resource = TypeVar("_Resource")


class ReferenceHandle(Variable):
    """The Ref(string) handle of a V1 op: container and name as its value, and the resource itself."""

    __slots__ = ("resource",)

    def __init__(self, container: str, name: str, resource: Any) -> None:
        super().__init__(name, dtypes.string, Shape((2,)))
        self.resource = resource
        # TensorFlow's string handle is this pair, and "localhost" its default container.
        self.assign(object_array([os.fsencode(container or "localhost"), os.fsencode(name)], (2,)))

    @property
    def shared(self) -> Shared:
        """Return the resource, whose own lock is to be taken."""
        return self.resource if isinstance(self.resource, Shared) else self


def resource_of_node(ctx: Any, kind: type[_Resource], create: Callable[[str], _Resource]) -> _Resource:
    """Return the resource that the node's attributes name; created of its name at first touch."""
    # As TensorFlow: a node without a shared name has a resource of its own name.
    name = ctx.node.text_attr("shared_name") or ctx.name
    content: _Resource = ctx.resources.get_or_create(ctx.node.text_attr("container"), name, kind, lambda: create(name))
    return content


def named(ctx: Any, kind: type[_Resource], create: Callable[[str], _Resource]) -> Any:
    """Return a handle of the resource that the node's attributes name; created of its name at first touch."""
    content = resource_of_node(ctx, kind, create)
    if not ctx.node.op_def.outputs[0].is_ref:
        return scalar_object(content)
    return ReferenceHandle(ctx.node.text_attr("container"), ctx.node.text_attr("shared_name") or ctx.name, content)


def creates_handle(*ops: str, kind: type[Any], facts: Iterable[str] = ()) -> None:
    """Register the kernel of ops whose output is the handle of a resource; the class makes the resource of its name."""

    def create(ctx: Any) -> Any:
        return named(ctx, kind, kind)

    kernel(*ops, shape="-> ()", facts=facts, arithmetic=False)(create)


def resource(handle: Any, kind: type[_Resource]) -> _Resource:
    """Return the resource of a handle, or of the first of several; InvalidArgumentError for another kind."""
    if isinstance(handle, ReferenceHandle):
        content = handle.resource
    else:
        content = handle.flat[0] if isinstance(handle, np.ndarray) and handle.size else handle
    if not isinstance(content, kind):
        raise InvalidArgumentError(f"the handle holds a {type(content).__name__}, not a {kind.__name__}")
    return content


_FEW: Final = 128
"""The number of indices up to which a set is faster than a sorted array."""


def variable_behind(handle: Any) -> Variable:
    """Return the variable of a handle, initialized or not; InvalidArgumentError for another object."""
    # np.size is slow for arrays, and every access to a variable passes here.
    size = handle.size if isinstance(handle, np.ndarray) else np.size(handle)
    content = handle.item() if size == 1 else None
    if not isinstance(content, Variable):
        raise InvalidArgumentError(f"the handle leads to a {type(content).__name__}, not to a variable")
    return content


def resource_variable(handle: Any) -> Variable:
    """Return the initialized variable behind a handle; NotFoundError if nothing was assigned yet."""
    variable = variable_behind(handle)
    if not variable.is_initialized:
        raise NotFoundError(
            f"resource variable {variable.name} does not exist: it is uninitialized or was destroyed",
            hint=no_value_hint(variable.name),
        )
    return variable


def same_shape(variable: Variable, value: Any, op: str) -> None:
    """Raise InvalidArgumentError if the variable's value and `value` differ in dtype or shape."""
    if variable.dtype.numpy != value.dtype:
        message = f"{op} cannot update '{variable.name}' of dtype {variable.dtype} with a value of dtype {value.dtype}"
        raise InvalidArgumentError(message)
    current = variable.read().shape
    if current != value.shape:
        raise InvalidArgumentError(
            f"{op} cannot update variable '{variable.name}' of shape {Shape(current)} with a value of {Shape(value.shape)}"
        )


def rounds_without_repeats(indices: Any) -> list[Any]:
    """Group positions in `indices` so that no row occurs twice in a group: all first occurrences, then all second
    occurrences ...
    """
    # Nothing repeats in most gradients of embeddings: then one round updates all rows without a copy.
    if len(indices) <= _FEW and len(set(indices.tolist())) == len(indices):
        return [slice(None)] if len(indices) else []
    order = np.argsort(indices, kind="stable")
    ordered = indices[order]
    is_first = np.ones(len(indices), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    if is_first.all():
        return [slice(None)] if len(indices) else []
    starts = np.flatnonzero(is_first)
    # How many earlier positions name the same row.
    occurrence = np.arange(len(indices)) - np.repeat(starts, np.diff(np.append(starts, len(indices))))
    ends = np.cumsum(np.bincount(occurrence))
    return np.split(order[np.argsort(occurrence, kind="stable")], ends[:-1])
