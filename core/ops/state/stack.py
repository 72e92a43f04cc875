"""Stacks, on which a loop leaves values for its gradient: handles by reference (V1) or as resources (V2)."""

from __future__ import annotations

import copy
import itertools
import os
from typing import Any

import numpy as np

from ...registry.registry import facts, kernel, lower, shape
from ...runtime.state.edge_values import RunState, is_of, scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Variable
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec

_CONTAINER = "_stacks"
_unique = itertools.count()


class Stack(RunState):
    """A stack of tensors of a common dtype. A `max_size` below zero means no limit."""

    def __init__(self, name: str, dtype: DType, max_size: int) -> None:
        self.name = name
        self.dtype = dtype
        self.max_size = max_size
        self.is_closed = False
        self.elements: list[Array] = []

    def copied(self, name: str) -> Stack:
        result = copy.copy(self)
        result.name = name
        result.elements = list(self.elements)
        return result

    def push(self, value: Array) -> None:
        # Asked before the call, as V1 loops push and pop in each iteration and hardly ever find a closed stack.
        if self.is_closed:
            self._require_open()
        if not is_of(value, self.dtype):
            raise InvalidArgumentError(f"Must have type {self.dtype} but got {value.dtype}")
        if 0 <= self.max_size <= len(self.elements):
            raise InvalidArgumentError(f"Stack[{self.name}] overflowed its max_size ({self.max_size})")
        self.elements.append(value)

    def pop(self, dtype: DType) -> Array:
        if self.is_closed:
            self._require_open()
        if dtype is not self.dtype:
            raise InvalidArgumentError(f"Stack[{self.name}] holds {self.dtype}, not {dtype}")
        if not self.elements:
            raise InvalidArgumentError(f"Stack[{self.name}] is empty when calling Pop().")
        return self.elements.pop()

    def close(self) -> None:
        self.elements.clear()
        self.is_closed = True

    def _require_open(self) -> None:
        if self.is_closed:
            raise InvalidArgumentError(f"Stack[{self.name}] has already been closed.")


def _new_stack(ctx: KernelContext, elem_type: DType, stack_name: str, max_size: int) -> Stack:
    # A number, because one node makes a stack in each iteration of an outer loop.
    name = f"{stack_name or ctx.name}_{next(_unique)}"
    return ctx.step.resources.get_or_create(_CONTAINER, name, Stack, lambda: Stack(name, elem_type, max_size))


@kernel("Stack", shape="-> 2", facts=("container",), arithmetic=False)
def stack(ctx: KernelContext, *, elem_type: DType, stack_name: str) -> Any:
    """A reference to the stack's container and name."""
    created = _new_stack(ctx, elem_type, stack_name, -1)
    handle = Variable(created.name, dtypes.string, Shape((2,)))
    handle.assign(object_array([_CONTAINER.encode(), os.fsencode(created.name)], (2,)))
    return handle


@kernel("StackV2", shape="-> ()", facts=("container", "run_state", "stated_pair"), arithmetic=False)
def stack_v2(ctx: KernelContext, max_size: Array, *, elem_type: DType, stack_name: str) -> Result:
    if np.ndim(max_size):
        raise InvalidArgumentError(f"Stack size must be a scalar, but had shape: {Shape(np.shape(max_size))}")
    return scalar_object(_new_stack(ctx, elem_type, stack_name, int(max_size)))


@kernel("StackPush", shape="*, ... -> ...", facts=("stack_push",), arithmetic=False)
def stack_push(ctx: KernelContext, handle: Any, elem: Array) -> Result:
    """The element itself, now on top of the stack."""
    _named(ctx, handle).push(elem)
    return elem


@kernel("StackPushV2", shape="*, ... -> ...", facts=("stack_push", "unshared", "on_run_state"), arithmetic=False)
def stack_push_v2(handle: Array, elem: Array) -> Result:
    """The element itself, now on top of the stack."""
    _from_handle(handle).push(elem)
    return elem


@kernel("StackPop", facts=("container_read", "stack_pop"), arithmetic=False)
def stack_pop(ctx: KernelContext, handle: Any, *, elem_type: DType) -> Result:
    return _named(ctx, handle).pop(elem_type)


@kernel("StackPopV2", facts=("container_read", "stack_pop", "unshared", "on_run_state"), arithmetic=False)
def stack_pop_v2(handle: Array, *, elem_type: DType) -> Result:
    return _from_handle(handle).pop(elem_type)


@shape("StackPop", "StackPopV2")
def stack_pop_shape(handle: TensorSpec) -> Shape | TensorSpec:
    """Return the spec of the pushed values; unknown before a push."""
    # Inference puts the spec of the pushed values into the handle: the op itself knows only the dtype.
    return handle.handle[0] if handle.handle else UNKNOWN


facts("inexpensive", "asynchronous", of=("StackPush", "StackPushV2", "StackPop", "StackPopV2"))


@kernel("StackClose", facts=("inexpensive", "container_read"), arithmetic=False)
def stack_close(ctx: KernelContext, handle: Any) -> None:
    _named(ctx, handle).close()


@kernel("StackCloseV2", facts=("inexpensive", "container_read", "unshared", "on_run_state"), arithmetic=False)
def stack_close_v2(handle: Array) -> None:
    _from_handle(handle).close()


def _named(ctx: KernelContext, handle: Variable) -> Stack:
    names = handle.read()
    if np.size(names) != 2:
        raise InvalidArgumentError(f"Stack handle must have two elements, but had shape: {Shape(np.shape(names))}")
    container, name = map(os.fsdecode, names.ravel().tolist())
    return ctx.step.resources.get(container, name, Stack)


def _from_handle(handle: Array) -> Stack:
    content = handle.item() if handle.size == 1 else None
    if not isinstance(content, Stack):
        raise InvalidArgumentError(f"the handle leads to a {type(content).__name__}, not to a stack")
    return content


# XLA's arrays have a fixed size, so a stack becomes an array of `max_size` elements, which the program must know.
lower("StackV2", static=(0,), always=True)(lambda xla, max_size, *, elem_type: xla.new_stack(elem_type.numpy, int(max_size)))
lower("StackPushV2", always=True, sites=True)(lambda xla, stack, elem, *, site="": stack.push(xla, elem, site))
lower("StackPopV2", always=True)(lambda xla, stack, *, elem_type: stack.pop(xla, elem_type.numpy))
lower("StackCloseV2", always=True)(lambda xla, stack: stack.close())
