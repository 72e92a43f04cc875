"""The sizes of a graph with twice its batch: which tensors have the batch, and which nodes state the old one.

A graph is inferred twice, with the old batch and with twice as many rows. A size that doubles is a multiple of the batch; a
size that stays and is a multiple of the old batch may state it. In the second inference, nodes that state the batch have the
sizes that they will get, so that a single sweep finds all of them, however long the chain.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from ..graph.graph import Node, Output
from ..inference.node_calls import call_shape_function
from ..registry import registry
from ..registry.op_facts import has_fact
from ..support.errors import TfgError
from ..types.shapes import Shape, TensorSpec

SIZES: Final = frozenset(("shape", "dims", "size", "input_sizes"))
"""The names of the inputs that hold the sizes of an output."""


@dataclasses.dataclass(frozen=True, slots=True)
class StatedSizes:
    """The input of a node that holds sizes, numbers where they are constants, of which that of an axis states the batch."""

    node: Node
    index: int
    numbers: tuple[int | None, ...]
    axis: int
    times: int
    """How many times the batch the size of the axis is."""

    @property
    def source(self) -> Node:
        return self.node.inputs[self.index].node

    def with_number(self, number: Any, others: Sequence[Any] | None = None) -> list[Any]:
        """Return the sizes with another in the place of the batch; `...` stands for computed ones."""
        numbers = self.numbers if others is None else others
        return [number if i == self.axis else "..." if size is None else size for i, size in enumerate(numbers)]


class BatchTrial:
    """A trial of inference with twice the batch; `before` are the specs with the old batch."""

    def __init__(self, before: dict[Output, TensorSpec], old: int) -> None:
        self.before = before
        self.old = old
        self.rewritten: set[Node] = set()
        """The nodes whose sizes follow the batch by now."""
        self.axes: dict[Output, dict[int, int]] = {}
        """The axes that have the batch, of the tensors that nodes take in a sweep."""
        self.outer: dict[tuple[Output, int], int | None] = {}
        """The factor outside the batch of an axis that is a multiple of it: steps, where the rows are those of each step."""

    def times(self, size: Any) -> int | None:
        """Return how many times the old batch a number is, None where it is no multiple."""
        return size // self.old if isinstance(size, int) and size and self.old and size % self.old == 0 else None

    def _sizes(self, value: Output, spec: TensorSpec) -> Iterator[tuple[int, int, int, Any]]:
        """Yield the axes of a tensor whose size is a multiple of the old batch: axis, times the batch, size before and now."""
        before = self.before.get(value)
        if before is not None and before.shape.dims is not None and spec.shape.rank == before.shape.rank:
            for axis, (size, now) in enumerate(zip(before.shape.dims, spec.shape.dims or ())):
                if isinstance(size, int) and (times := self.times(size)) is not None:
                    yield axis, times, size, now

    def grown(self, value: Output, spec: TensorSpec) -> dict[int, int]:
        """Return the axes of a tensor that have the batch, with how many times the batch they are."""
        return {axis: times for axis, times, size, now in self._sizes(value, spec) if now == 2 * size}

    def kept(self, value: Output, spec: TensorSpec) -> dict[int, int]:
        """Return the same for axes that keep a multiple of the old batch; of a batch of 1, only a size of 1 may be one."""
        sizes = self._sizes(value, spec)
        return {axis: times for axis, times, size, now in sizes if now == size and (self.old > 1 or times == 1)}

    def numbers(self, node: Node, index: int, spec: TensorSpec) -> tuple[int | None, ...] | None:
        """Return the sizes that an input holds, None for those that depend on the batch or are not known."""
        before = self.before.get(node.inputs[index])
        arrays = [None if one is None or one.value is None or one.value.ndim != 1 else one.value for one in (before, spec)]
        if arrays[0] is None or arrays[1] is None or len(arrays[0]) != len(arrays[1]):
            return None
        pairs = zip(arrays[0].tolist(), arrays[1].tolist())
        return tuple(a if isinstance(a, int) and isinstance(b, int) and a == b else None for a, b in pairs)

    def stated(self, node: Node, inputs: Sequence[TensorSpec]) -> StatedSizes | None:
        """Return the sizes of a node that takes a tensor with the batch and states the old batch beside it."""
        index = None if node in self.rewritten else sizes_index(node)
        numbers = None if index is None else self.numbers(node, index, inputs[index])
        out = self.before.get(node.output()) if numbers is not None else None
        if index is None or numbers is None or out is None or out.shape.rank != len(numbers):
            return None
        dims = out.shape.dims or ()
        axes = {i: times for i, size in enumerate(numbers) if size == dims[i] and (times := self.times(size)) is not None}
        follow = self._reshaped if has_fact(node.op, "finds_size") and has_fact(node.op, "view") else self._aligned
        axis = follow(node, index, inputs, axes, dims, numbers)
        return None if axis is None else StatedSizes(node, index, numbers, axis, axes[axis])

    def _reshaped(
        self, node: Node, index: int, inputs: Sequence[TensorSpec], axes: Mapping[int, int], dims: Sequence[Any],
        numbers: Sequence[int | None],
    ) -> int | None:  # fmt: skip
        """Return the axis of a Reshape's result at which the rows of the batch stay together, and are not mixed with others.

        The size that is the batch alone comes first. None where the graph finds the batch by itself, for -1, and where sizes
        alone do not tell the rows from other parts.
        """
        value = node.inputs[1 - index]
        grown = self.grown(value, inputs[1 - index])
        if len(grown) != 1:
            return None
        ((place, times),) = grown.items()
        computed = {axis: own for axis, number in enumerate(numbers) if number == -1 and (own := self.times(dims[axis]))}
        ranked = sorted([*axes.items(), *computed.items()], key=lambda pair: (pair[1] != 1, pair[0]))
        inside = self._inside(value, place, times)
        blocks = {axis: _blocks_before(*inside, dims, axis, own) for axis, own in ranked}
        fitting = [(axis, own) for axis, own in ranked if blocks[axis] is not None]
        alone = [(axis, own) for axis, own in fitting if own == 1] or fitting
        is_decided = inside[1] == inside[2] or len({blocks[axis] for axis, _ in alone}) == 1
        return alone[0][0] if alone and is_decided and alone[0][0] not in computed else None

    def _inside(self, value: Output, place: int, times: int) -> tuple[Sequence[Any], int, int]:
        """Return the sizes before an axis that has the batch, and the least and the largest factor outside the batch in it."""
        before = (self.before[value].shape.dims or ())[:place]
        outer = 1 if times == 1 else self.outer.get((value, place))
        return (before, 1, times) if outer is None else (before, outer, outer)

    def _outer(self, value: Output, axis: int, times: int) -> int | None:
        """Return the factor outside the batch of an axis, None where it is not known."""
        node = value.node
        if not (has_fact(node.op, "finds_size") and has_fact(node.op, "view")):
            same = (one for one in node.inputs if self.axes.get(one, {}).get(axis) == times)
            return next((self.outer.get((one, axis)) for one in same), None)
        data = node.inputs[0]
        grown = self.axes.get(data, {})
        if len(grown) != 1:
            return None
        ((place, own),) = grown.items()
        before, least, most = self._inside(data, place, own)
        after = (self.before[value].shape.dims or ())[:axis]
        if least != most or not _are_numbers(*before, *after):
            return None
        outside, inside = math.prod(before) * least, math.prod(after)
        return outside // inside if not outside % inside else None

    def _aligned(
        self, node: Node, index: int, inputs: Sequence[TensorSpec], axes: Mapping[int, int], dims: Sequence[Any],
        numbers: Sequence[int | None],
    ) -> int | None:  # fmt: skip
        """Return the axis of a result that another input has, too, with the batch: the axis from the end, or the first."""
        for place, (value, spec) in enumerate(zip(node.inputs, inputs)):
            grown = {} if place == index else self.grown(value, spec)
            rank = spec.shape.rank or 0
            for axis, times in axes.items():
                if grown.get(axis - len(dims) + rank) == times or (axis == 0 and grown.get(0) == times):
                    return axis
        return None

    def ends(self, node: Node, inputs: Sequence[TensorSpec]) -> list[int]:
        """Return the axes of a strided slice of all rows, where the end states the batch."""
        names = [] if node.op_def is None else [arg.name for arg in node.op_def.inputs]
        if names != ["input", "begin", "end", "strides"]:
            return []
        begin, end, strides = (self.numbers(node, index, inputs[index]) for index in (1, 2, 3))
        if begin is None or end is None or strides is None:
            return []
        grown = self.grown(node.inputs[0], inputs[0])
        added = node.attr("ellipsis_mask") | node.attr("new_axis_mask")
        closed = node.attr("end_mask") | node.attr("shrink_axis_mask")
        return [
            axis
            for axis, times in grown.items()
            if axis < len(end) and end[axis] == times * self.old and strides[axis] == 1
            if begin[axis] == 0 or node.attr("begin_mask") & 1 << axis
            if not added & (2 << axis) - 1 and not closed & 1 << axis
        ]

    def meeting(self, node: Node, inputs: Sequence[TensorSpec]) -> list[tuple[int, int]]:
        """Return the inputs of a node where inference ends that must have the batch for it to go on: input and axis.

        Such an input has rows of the old batch, at the axis at which another input has the batch, counted from the end, or
        at the first.
        """
        aligned, others = self._of_old_rows(node, inputs)
        needed = aligned | others
        if len(needed) == len(node.inputs) and not node.is_placeholder:
            return []
        for place in [*others, *aligned]:
            left = {one: axis for one, axis in needed.items() if one != place}
            needed = left if left and _goes_on(node, _with_rows(inputs, left)) else needed
        return list(needed.items())

    def _of_old_rows(self, node: Node, inputs: Sequence[TensorSpec]) -> tuple[dict[int, int], dict[int, int]]:
        """Return the inputs with rows of the old batch: those at whose axis another input has the batch, and the others."""
        index = sizes_index(node)
        grown = [self.grown(*pair) for pair in zip(node.inputs, inputs)]
        at_end = {axis - (spec.shape.rank or 0) for one, spec in zip(grown, inputs) for axis in one}
        aligned, others = {}, {}
        for place, (value, spec) in enumerate(zip(node.inputs, inputs)):
            kept = {} if place == index or grown[place] else self.kept(value, spec)
            beside = next((axis for axis in kept if axis - (spec.shape.rank or 0) in at_end), None)
            if beside is not None:
                aligned[place] = beside
            elif 0 in kept:
                others[place] = 0
        return aligned, others

    # The protocol of inference.

    def revised(self, node: Node, inputs: Sequence[TensorSpec]) -> Sequence[TensorSpec]:
        """Return the inputs of a node, with stated sizes that follow the batch."""
        for value, spec in zip(node.inputs, inputs):
            self.axes[value] = self.grown(value, spec)
            for axis, times in self.axes[value].items():
                if times > 1:
                    self.outer[value, axis] = self._outer(value, axis, times)
        sizes = self.stated(node, inputs)
        if sizes is not None:
            return _with_spec(inputs, sizes.index, _doubled_value(inputs[sizes.index], [sizes.axis]))
        ends = self.ends(node, inputs)
        return _with_spec(inputs, 2, _doubled_value(inputs[2], ends)) if ends else inputs

    def retried(self, node: Node, inputs: Sequence[TensorSpec]) -> Sequence[TensorSpec] | None:
        """Return the inputs of a node at which two sizes meet, as if those of the old batch had the batch."""
        meeting = dict(self.meeting(node, inputs))
        return _with_rows(inputs, meeting) if meeting else None


def _with_rows(inputs: Sequence[TensorSpec], axes: Mapping[int, int]) -> Sequence[TensorSpec]:
    """Return the inputs of a node, with twice the rows at the axes of some."""
    for place, axis in axes.items():
        dims = [2 * size if i == axis else size for i, size in enumerate(inputs[place].shape.dims or ())]
        inputs = _with_spec(inputs, place, TensorSpec(inputs[place].dtype, Shape(dims)))
    return inputs


def _goes_on(node: Node, inputs: Sequence[TensorSpec]) -> bool:
    """Return True where a node takes inputs of these shapes."""
    function = registry.shape_function(node.op)
    try:
        return function is not None and bool(call_shape_function(node, function, inputs))
    except TfgError:
        return False


def sizes_index(node: Node, called: Collection[str] = SIZES) -> int | None:
    """Return the place of the input of one of these names, None for a node without such an input."""
    definition = node.op_def
    if definition is None or len(node.inputs) != len(definition.inputs):
        return None
    return next((index for index, arg in enumerate(definition.inputs) if arg.name in called), None)


def _are_numbers(*sizes: Any) -> bool:
    return all(isinstance(size, int) and size > 0 for size in sizes)


def _blocks_before(before: Sequence[Any], least: int, most: int, after: Sequence[Any], axis: int, own: int) -> int | None:
    """Return how many blocks of the batch a Reshape that keeps rows together has in front of the rows; None if it does not.

    The batch is a factor of the size behind `before`, with a factor from `least` to `most` outside the batch there, and of the
    size at `axis` after, with the other factor `own` there. The blocks must be the same before and after.
    """
    if not _are_numbers(*before, *after[:axis]):
        return None if before or axis else 1
    outside, inside = math.prod(before) * least, math.prod(after[:axis])
    blocks = math.lcm(outside, inside)
    fits = not (most // least) % (blocks // outside) and not own % (blocks // inside)
    return blocks if fits else None


def _with_spec(inputs: Sequence[TensorSpec], place: int, spec: TensorSpec) -> list[TensorSpec]:
    return [spec if i == place else one for i, one in enumerate(inputs)]


def _doubled_value(spec: TensorSpec, places: Sequence[int]) -> TensorSpec:
    """Return the spec of sizes, some of which are twice as large."""
    assert spec.value is not None
    value = spec.value.copy()
    for place in places:
        value[place] *= 2
    return dataclasses.replace(spec, value=value)
