"""A While as a loop over two programs; lists that grow or shrink by an element at a time are Python lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...graph.graph import Node
from ...inference.node_calls import apply_kernel
from ...planning.while_plans import WhilePlans
from ...types.shapes import fits
from ..state.edge_values import is_true, scalar_object
from ..state.run_context import Run, check_time
from ..state.tensor_lists import ANY, NOTHING_SET, TensorList

if TYPE_CHECKING:
    from .executor import Program

_UNKNOWN_SHAPE: Final = np.array(-1, np.int32)
"""The `element_shape` input of a node that pops an element: unknown."""


class WhileCall:
    """A loop with a body that pops elements from some lists and pushes elements onto others."""

    def __init__(self, plans: WhilePlans, condition: Program, body: Program) -> None:
        self._plans = plans
        self._condition = condition
        self._body = body

    def takes(self, values: Sequence[Any]) -> bool:
        """True where the loop may begin with `values`: lists without a limit, with all popped elements present."""
        popped, pushed = self._plans.popped, self._plans.pushed
        return all(_is_endless(node, values[place]) for place, node in (*popped.items(), *pushed.items())) and not any(
            item is None for place in popped for item in values[place].item().items
        )

    def run(self, feeds: Sequence[Any], run: Run) -> list[Any]:
        """Return the final values of the variables that the loop `takes`; variables that nobody reads may have any value."""
        plans, values = self._plans, list(feeds)
        asked, taken, updated = plans.asked, plans.taken, plans.updated
        shrinking = [_ChangingList(node, values[place].item()) for place, node in plans.popped.items()]
        growing = [_ChangingList(node, values[place].item()) for place, node in plans.pushed.items()]
        while is_true(self._condition.run([values[place] for place in asked], run)[0]):
            check_time()
            elements = [changing.popped() for changing in shrinking]
            results = self._body.run(elements + [values[place] for place in taken], run)
            for changing, element in zip(growing, results):
                changing.push(element)
            for place, value in zip(updated, results[len(growing) :]):
                values[place] = value
        for place, changing in zip((*plans.popped, *plans.pushed), shrinking + growing):
            values[place] = changing.as_tensor()
        return values


class _ChangingList:
    """A list of tensors while a node of the loop's body changes the list."""

    __slots__ = ("_before", "_item_shape", "_items", "_last_shape", "_node")

    def __init__(self, node: Node, before: TensorList) -> None:
        self._node = node
        self._before = before
        self._items = before.items.copy()
        self._item_shape = before.item_shape
        self._last_shape: tuple[int, ...] | None = None

    def as_tensor(self) -> Any:
        """Return the current list as a tensor."""
        before = self._before
        return scalar_object(
            TensorList(before.dtype, before.element_shape, self._items.copy(), before.max_num_elements, self._item_shape)
        )

    def popped(self) -> Any:
        """Remove and return the last element."""
        if not self._items:
            apply_kernel(self._node, [self.as_tensor(), _UNKNOWN_SHAPE])
        return self._items.pop()

    def push(self, element: Any) -> None:
        """Add an element at the end."""
        if element.shape != self._last_shape:
            self._note_shape(element)
        self._items.append(element)

    def _note_shape(self, element: Any) -> None:
        """Let the node refuse an element that does not fit."""
        if not fits(element.shape, self._before.element_shape):
            apply_kernel(self._node, [self.as_tensor(), element])
        if self._item_shape is NOTHING_SET:
            self._item_shape = element.shape
        elif self._item_shape != element.shape:
            self._item_shape = ANY
        self._last_shape = element.shape


def _is_endless(node: Node, handle: Any) -> bool:
    """True for a handle of a list that a node may change and that has no largest size."""
    if handle.ndim or not isinstance(content := handle.item(), TensorList):
        return False
    return content.dtype is node.attr("element_dtype") and content.max_num_elements < 0
