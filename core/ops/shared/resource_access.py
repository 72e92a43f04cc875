"""Handles of queues, tables, readers and their like."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ...runtime.state.edge_values import scalar_object
from ...runtime.state.resources import Shared, Variable
from ...support.errors import InvalidArgumentError
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


def named(ctx: Any, container: str, shared_name: str, kind: type[_Resource], create: Callable[[], _Resource]) -> Any:
    """Return a handle of the resource of that name, the node's own where there is none; created at first touch."""
    # As TensorFlow: a node without a shared name has a resource of its own name.
    name = shared_name or ctx.name
    content = ctx.resources.get_or_create(container, name, kind, create)
    return ReferenceHandle(container, name, content) if ctx.node.op_def.outputs[0].is_ref else scalar_object(content)


def resource(handle: Any, kind: type[_Resource]) -> _Resource:
    """Return the resource of a handle, or of the first of several; InvalidArgumentError for another kind."""
    if isinstance(handle, ReferenceHandle):
        content = handle.resource
    else:
        content = handle.flat[0] if isinstance(handle, np.ndarray) and handle.size else handle
    if not isinstance(content, kind):
        raise InvalidArgumentError(f"the handle holds a {type(content).__name__}, not a {kind.__name__}")
    return content
