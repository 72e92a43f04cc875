"""Loop values: the values that an iteration changes, and the invariant part of their shapes; results of V1 conditionals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, TypeAlias

import numpy as np

from ..control_flow.deadness import branch_of
from ..control_flow.frames import hands_in
from ..graph.graph import Function, Node
from ..inference.inference import unchanged
from ..planning.plan import Loop
from ..registry.catalog import OpDef
from ..registry.op_facts import has_fact
from ..types import dtypes
from ..types.dims import Dim
from ..types.shapes import POSITION, Shape, relax_shapes
from .blocks import Block, Operation, Value, flat, is_branch_output
from .emitter import Emitter

Advance: TypeAlias = "Callable[[Sequence[Any]], tuple[Value, Sequence[Any]]]"
"""A function that emits an iteration: from the entering values to the next condition and the values handed on."""


def emit_loop(
    g: Emitter,
    condition: Value,
    values: Sequence[Any],
    advance: Advance,
    around: Sequence[Any] = (),
    passed_on: Set[int] = frozenset(),
) -> list[Any]:
    """Emit a loop and return `values` after the condition no longer holds.

    Values that an iteration hands on unchanged stay outside, as do values `around` the loop that the body reads. The body
    is emitted until the shapes of the entering values hold in every iteration. `passed_on` are positions of values that
    each iteration hands on: the first emission reads constants among these values, for each emission repeats the loops inside.
    """
    if condition.array is not None and not condition.array.any():
        return list(values)
    constants = {i for i in passed_on if isinstance(values[i], Value) and values[i].array is not None}
    shapes = {i: value.shape for i, value in enumerate(values) if isinstance(value, Value) and i not in constants}
    outside = [value.shape for value in (*values, *around) if isinstance(value, Value)]
    constant = {name for shape in outside for dim in shape.dims or () if isinstance(dim, Dim) for name in dim.unnamed}
    source = g.source
    while True:
        inner = {i: g.fresh(values[i].dtype, shape, values[i]) for i, shape in shapes.items()}
        with g.inside() as block:
            again, after = advance([inner.get(i, value) for i, value in enumerate(values)])
        g.source = source
        values, ranked = _with_rank(g, inner, values, after), values
        if values != ranked:
            shapes = {i: values[i].shape for i in shapes}
            continue
        changed = _changed(g, inner, values, after)
        if all(changed.get(i, shape) == shape and (i in changed or values[i].array is None) for i, shape in shapes.items()):
            _read_outside(g, block, [(values[i], inner.pop(i)) for i in shapes.keys() - changed.keys()])
            _join_elements(g, inner, after, constant)
            block.inputs = list(inner.values())
            block.outputs = [again, *(after[i] for i in inner)]
            results = g.loop(condition, [values[i] for i in inner], block)
            left = dict(zip(inner, results))
            return [left.get(i, value) for i, value in enumerate(values)]
        shapes = changed


def _read_outside(g: Emitter, block: Block, copies: Sequence[tuple[Value, Value]]) -> None:
    """Let a body read unchanged values outside the loop, by an Identity that the cleanup removes."""
    pairs = ((flat(g, [value]), flat(g, [copy])) for value, copy in copies)
    block.operations[:0] = [Operation("Identity", [a], [b]) for parts in pairs for a, b in zip(*parts)]


def handed_on(step: Loop) -> set[int]:
    """Return the positions in `carried` of the values that each iteration of a V1 loop hands on unchanged."""
    origins = {target: target for _, target in step.carried}
    for each in (*step.head, *step.body):
        if hands_in(each.node) and each.inputs[0] in origins:
            origins |= dict.fromkeys(each.outputs, origins[each.inputs[0]])
    return {i for i, (source, target) in enumerate(step.carried) if origins.get(source) == target}


def returned(body: Function | None) -> set[int]:
    """Return the positions of the arguments that the body of a While or For returns unchanged."""
    if body is None:
        return set()
    arguments = unchanged(body)
    return {i for i, argument in enumerate(body.args) if argument in arguments}


def _with_rank(g: Emitter, inner: dict[int, Value], values: Sequence[Any], after: Sequence[Any]) -> list[Any]:
    """Return the entering values; lists with elements of unknown rank get the rank that the first iteration writes."""
    written = {i: after[i].elements.written for i, value in inner.items() if value.is_stacked and value.rank == 1}
    return [g.of_rank(value, written[i]) if written.get(i) is not None else value for i, value in enumerate(values)]


def _changed(g: Emitter, inner: dict[int, Value], before: Sequence[Any], after: Sequence[Any]) -> dict[int, Shape]:
    """Return shapes of the changed values that hold before and after an iteration."""
    shapes = {}
    for i, value in enumerate(after):
        if i not in inner and value is not before[i] and not _same(value, before[i]):
            g.refuse("an iteration passes on a value that is not a tensor")
        if i in inner and value is not inner[i]:
            relaxed = relax_shapes(inner[i].shape, value.shape)
            shapes[i] = inner[i].shape if str(relaxed) == str(inner[i].shape) else relaxed
            if inner[i].dtype is not value.dtype:
                g.refuse(f"an iteration passes on {value.dtype} instead of {inner[i].dtype}")
    return shapes


def _join_elements(g: Emitter, inner: dict[int, Value], after: Sequence[Any], constant: Set[str]) -> None:
    """Record for each list the shape of the written elements; refuse unless all iterations write the same sizes.

    Such sizes are numbers, sizes of the model's inputs, and `constant` symbols that exist since before the loop.
    """
    for i, value in inner.items():
        if not value.is_stacked:
            continue
        written = after[i].elements.written
        if written is not None and written != value.elements.written and not _is_constant(written, constant):
            g.refuse("the elements of a list may differ in size from iteration to iteration")
        value.elements = value.elements.beside(after[i].elements)


def _is_constant(shape: Shape, constant: Set[str]) -> bool:
    dims = [dim for dim in shape.dims or () if isinstance(dim, Dim)]
    return shape.dims is not None and all(POSITION not in dim.symbols and constant >= set(dim.unnamed) for dim in dims)


def _same(a: Any, b: Any) -> bool:
    return isinstance(a, Value) and isinstance(b, Value) and a.array is not None and a is b


# V1 conditionals: a Merge takes the one input that is alive, on the branch that is taken.

Condition = frozenset[tuple[Value, int]]
"""Predicates, and the branch of each on which a value is alive."""


def merged(
    g: Emitter, entries: Sequence[tuple[Value, Condition]], numbers: Sequence[int], arity: Mapping[Value, int]
) -> list[Value]:
    """Return the value of the input that is alive, of several with conditions, and the input's number.

    `arity` has the number of branches of each predicate.
    """
    if len(entries) == 1:
        return [entries[0][0], g.constant(np.int32(numbers[0]))]
    if not all(is_branch_output(value) for value, _ in entries):
        g.refuse("it chooses between values that are not tensors")
    common = frozenset.intersection(*(condition for _, condition in entries))
    predicate, branches = _divided(g, [condition - common for _, condition in entries])
    order = [next((i for i, taken in enumerate(branches) if taken == branch), None) for branch in range(arity[predicate])]
    present = [i if i is not None else order[-1] or 0 for i in order]

    def emit(place: int) -> Any:
        return lambda: [entries[place][0], g.constant(np.int32(numbers[place]))]

    return g.choose(predicate, [emit(place) for place in present])


def _divided(g: Emitter, conditions: Sequence[Condition]) -> tuple[Value, list[int]]:
    """Return the predicate in which the conditions differ, and the branch of each condition."""
    for predicate, _ in conditions[0]:
        branches = [branch_of(condition, predicate) for condition in conditions]
        numbers = [branch for branch in branches if branch is not None]
        if len(numbers) == len(branches) == len(set(numbers)):
            return predicate, numbers
    g.refuse("its inputs are not the branches of one conditional")


# Lists among the inputs of nodes: in a model a list is the tensor of its elements, which few ops may take for the list.


def has_misplaced_list(node: Node, definition: OpDef) -> bool:
    """Return True for a list as an input for tensors of any dtype: the lowering would move the elements of the list."""
    if has_fact(node.op, "of_lists") or has_fact(node.op, "sum_of_inputs"):
        return False
    if has_fact(node.op, "forwarding") or has_fact(node.op, "passes_each_on"):
        return False
    open_args = [arg for arg in definition.inputs if arg.dtype is None]
    return any(dtypes.variant in definition.arg_dtypes(arg, node.attrs) for arg in open_args)
