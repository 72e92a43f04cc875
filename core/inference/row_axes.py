"""The rows of inputs in the tensors of a graph: the axis at which a tensor has a part for each row, if no node mixes rows.

Rows may run in blocks where this holds: a part of a result depends on its own row alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..graph.call_kinds import CallKind, Form, call_kind
from ..graph.frames import is_transparent
from ..graph.graph import Function, Graph, Node, Output
from ..graph.instantiation import function_called, with_attrs
from ..graph.traversal import closure, topological_order
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from ..types.dims import Dim, DimLike, substitute
from ..types.shapes import Shape, TensorSpec
from ..types.tensors import FuncRef
from .inference import Answers, Derived, infer

_ROWS: Final = "rows"
"""The symbol of the number of rows."""


@dataclasses.dataclass(frozen=True, slots=True)
class RowAxis:
    """The axis with the rows, each of `times` parts one behind the other; in a list of tensors, the axis of its elements."""

    axis: int
    times: int = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Counted:
    """The state of a value that depends on the number of rows, and on no row: sizes, for instance."""


_State = RowAxis | Counted | None
"""The relation of a tensor to the rows; None for a value that all rows share."""
_States = Sequence[_State]
_COUNTED: Final = Counted()


def row_axes(
    graph: Graph, fetches: Sequence[Output], inputs: Mapping[Output, Shape], fed: Sequence[Output] = ()
) -> dict[Output, RowAxis | None]:
    """Return the rows in each tensor of `fetches`, None in a tensor that is the same for all rows.

    The first sizes of the shapes of `inputs` are the number of rows: a number, or unknown for any number. `fed` are further
    tensors that are fed, the same for all rows. InvalidArgumentError names the first node that mixes rows, or of which it is
    not known that it keeps rows apart.
    """
    # A number that no input fixes is a symbol of its own, so that it is recognized in every size that it is part of.
    rows: DimLike = next((size for shape in inputs.values() if isinstance(size := shape[0], int)), Dim.symbol(_ROWS))
    specs = {value: TensorSpec(value.base_dtype, Shape([rows, *shape[1:]])) for value, shape in inputs.items()}
    answers = Answers()
    walk = _RowWalk(graph, infer(graph, specs, answers=answers), rows, graph.functions, answers)
    walk.states = {**dict.fromkeys(fed), **dict.fromkeys(inputs, RowAxis(0))}
    walk.visit([value.node for value in fetches])
    for value in fetches:
        if isinstance(walk.states.get(value), Counted):
            raise walk.mixed(value.node, "its value depends on the number of rows")
    return {value: state for value in fetches if not isinstance(state := walk.states.get(value), Counted)}


class _RowWalk:
    """A walk through a graph, or through the body of a function, in topological order."""

    def __init__(
        self,
        graph: Graph,
        derived: Derived,
        rows: DimLike,
        functions: Mapping[str, Function],
        answers: Answers,
        depth: int = 0,
    ) -> None:
        self.graph, self.derived, self.rows, self.functions, self.answers = graph, derived, rows, functions, answers
        self.depth = depth
        self.states: dict[Output, _State] = {}

    def visit(self, nodes: Sequence[Node]) -> None:
        """Find the states of the results of nodes."""
        # A fed tensor is not computed, even in the middle of a graph.
        known = dict(self.states)
        needed = closure(nodes, lambda node: [value.node for value in node.inputs if value not in known])
        for node in topological_order(needed):
            if any(self.states.get(value) is not None for value in node.inputs) and not known.keys() >= {*node.outputs()}:
                self.states |= {
                    value: state for value, state in zip(node.outputs(), self._results(node)) if value not in known
                }

    def mixed(self, node: Node, why: str) -> InvalidArgumentError:
        """Return the error for a node."""
        return InvalidArgumentError(why, node=node.name, op=node.op)

    def spec(self, value: Output) -> TensorSpec:
        return self.derived.specs[value]

    def rank(self, value: Output) -> int | None:
        return self.spec(value).shape.rank

    def state(self, node: Node, index: int) -> _State:
        return self.states.get(node.inputs[index])

    def numbers(self, value: Output) -> list[Any] | None:
        """Return the elements of a known value."""
        known = self.spec(value).value
        return None if known is None else known.ravel().tolist()

    def times(self, size: Any) -> int | None:
        """Return how many times the number of rows a size is, None where it is no multiple."""
        if isinstance(self.rows, int):
            return size // self.rows if isinstance(size, int) and size % self.rows == 0 else None
        factor = substitute(size, {_ROWS: 1}) if isinstance(size, Dim) else None
        return factor if isinstance(factor, int) and size == factor * self.rows else None

    def _results(self, node: Node) -> _States:
        states = [self.states.get(value) for value in node.inputs]
        kind = call_kind(self.functions, node)
        if kind is not None:
            return self._called(node, kind, states)
        counts = not any(isinstance(state, RowAxis) for state in states)
        if counts or (has_fact(node.op, "metadata") and has_fact(node.op, "view")):
            return [self._counted(node, value) for value in node.outputs()]
        if has_fact(node.op, "passes_each_on"):
            return states
        state = (_rule(node) or _unknown)(self, node)
        # The statistics of a normalization that does not train are its inputs, which all rows share.
        has_one = has_fact(node.op, "batch_normalization")
        return [self._checked(node, value, None if has_one and value.index else state) for value in node.outputs()]

    def _counted(self, node: Node, value: Output) -> _State:
        """Return the state of a value that is made of sizes."""
        if node.op == "TensorListReserve":
            return self.state(node, 1)  # the number of elements
        spec = self.spec(value)
        axes = [axis for axis, size in enumerate(spec.shape.dims or ()) if self._has_rows(size)]
        # A size that is known, and that the number of rows is no part of, is the same for any number.
        if not axes and spec.value is not None and not any(map(self._has_rows, spec.value.ravel().tolist())):
            return None
        if len(axes) != 1 or node.op not in _FILLERS or isinstance(self.state(node, _FILLERS[node.op]), Counted):
            return None if isinstance(self.rows, int) and node.op not in _FILLERS else _COUNTED
        times = self.times(spec.shape[axes[0]])
        return _COUNTED if times is None else RowAxis(axes[0], times)

    def _has_rows(self, size: Any) -> bool:
        return isinstance(size, Dim) and _ROWS in size.symbols

    def _checked(self, node: Node, value: Output, state: _State) -> _State:
        """Return the state of a result, whose shape must have the rows at the axis, where the size is known."""
        spec = self.spec(value)
        if not isinstance(state, RowAxis) or (spec.dtype.is_object and spec.dtype.name == "variant"):
            return state
        size = spec.shape[state.axis] if state.axis < (spec.shape.rank or 0) else None
        is_open = isinstance(size, Dim) and not self._has_rows(size)  # the sizes in lists are often unknown
        if size is None or (self.times(size) != state.times and not is_open):
            raise self.mixed(node, f"the shape {spec.shape} of its result does not tell the rows")
        return state

    # Functions.

    def _called(self, node: Node, kind: CallKind, states: _States) -> _States:
        references, arguments = kind.references(node), kind.arguments(states)
        # BatchFunction joins the rows of several callers, and the op For, maps and gradients have no rule.
        if self.depth > _MAX_DEPTH or kind.form not in (Form.CALL, Form.BRANCH, Form.LOOP) or kind.counters or kind.is_batched:
            raise self.mixed(node, "rows inside this call are not followed")
        specs = list(kind.arguments([self.spec(value) for value in node.inputs]))
        if kind.form is Form.CALL:
            return self._body(node, references[0], arguments, specs)
        if kind.form is Form.LOOP:
            return self._loop(node, references, arguments)
        # A branch runs for all rows or for none, so that its condition must be the same for all of them.
        if states[0] is not None:
            raise self.mixed(node, "the branch depends on rows")
        branches = [self._body(node, reference, arguments, specs) for reference in references]
        return [self._joined(node, column) for column in zip(*branches)]

    def _joined(self, node: Node, states: _States) -> _State:
        if len(set(states)) > 1:
            raise self.mixed(node, "its functions treat rows differently")
        return states[0]

    def _loop(self, node: Node, references: Sequence[FuncRef], states: _States) -> _States:
        """Return the states of a loop's variables; a list may get elements with rows in an iteration."""
        condition, body = references
        function = function_called(self.functions, body.name)
        specs = None if function is None else self.answers.arguments.get(function)
        if specs is None:
            raise self.mixed(node, "the shapes in the loop are unknown")
        # A list that is empty at first has no rows; after an iteration it has those of its elements. Nothing else may
        # change, so this ends.
        while True:
            after = self._body(node, body, states, specs)
            joined = [
                new if old is None and _is_list(value) else old for old, new, value in zip(states, after, node.outputs())
            ]
            if joined == states:
                break
            states = joined
        # A row must not go on because another does.
        if self._body(node, condition, states, specs) != [None]:
            raise self.mixed(node, "the number of iterations depends on rows")
        return [self._joined(node, pair) for pair in zip(states, after)]

    def _body(self, node: Node, reference: FuncRef, states: _States, specs: Sequence[TensorSpec]) -> list[_State]:
        """Return the states of the results of a function."""
        function = function_called(self.functions, reference.name)
        if function is None:
            raise self.mixed(node, f"the function '{reference.name}' is missing")
        own = with_attrs(function, reference)
        arguments = {arg.output(): spec for arg, spec in zip(own.args, specs)}
        derived = infer(own.body, arguments, self.functions, self.answers)
        walk = _RowWalk(own.body, derived, self.rows, self.functions, self.answers, self.depth + 1)
        walk.states = dict(zip(arguments, states))
        walk.visit([value.node for value in own.results])
        return [walk.states.get(value) for value in own.results]


_MAX_DEPTH: Final = 50
"""How many calls deep rows are followed."""
_FILLERS: Final = {"Fill": 1, "BroadcastTo": 0, "Tile": 0}
"""Ops that repeat an input, by its place, in a shape."""
_Rule = Callable[[_RowWalk, Node], _State]


def _is_list(value: Output) -> bool:
    return value.dtype is not None and value.dtype.name == "variant"


def _unknown(walk: _RowWalk, node: Node) -> _State:
    raise walk.mixed(node, "it may mix rows")


def _rule(node: Node) -> _Rule | None:
    """Return the rule for a node: its op's, or that of its facts and of its interface."""
    if node.op in _RULES:
        return _RULES[node.op]
    if is_transparent(node) or has_fact(node.op, "forwarding"):
        return _of_first(lambda walk, node, rows: rows)
    if has_fact(node.op, "elementwise"):
        return _elementwise
    if has_fact(node.op, "row_wise"):
        return _of_first(lambda walk, node, rows: rows if rows.axis == 0 else None)
    if has_fact(node.op, "last_axis"):
        return _of_first(lambda walk, node, rows: rows if rows.axis + 1 != walk.rank(node.inputs[0]) else None)
    names = [] if node.op_def is None else [arg.name for arg in node.op_def.inputs]
    return _of_first(_reduced) if names == ["input", "reduction_indices"] else None


def _of_first(moved: Callable[[_RowWalk, Node, RowAxis], RowAxis | None], sizes: bool = False) -> _Rule:
    """Return a rule for an op whose first input alone has rows; `moved` returns them in the result, None where they mix.

    With `sizes`, other inputs may be sizes that the number of rows is among.
    """

    def rule(walk: _RowWalk, node: Node) -> _State:
        first, *others = (walk.states.get(value) for value in node.inputs)
        if any(isinstance(state, RowAxis) or (state is not None and not sizes) for state in others) or not isinstance(
            first, RowAxis
        ):
            raise walk.mixed(node, "rows reach an input that all rows share")
        result = moved(walk, node, first)
        if result is None:
            raise walk.mixed(node, f"it mixes rows along axis {first.axis}")
        return result

    return rule


def _elementwise(walk: _RowWalk, node: Node) -> _State:
    """Align the axes of all inputs at the end, as they are broadcast."""
    return _aligned(walk, node, 0)


def _aligned(walk: _RowWalk, node: Node, behind: int) -> _State:
    """Return the rows that inputs have at the same axis, counted from the end, and not among the last `behind` axes."""
    ranks = [walk.rank(value) for value in node.inputs]
    if None in ranks:
        raise walk.mixed(node, "the rank of an input is unknown")
    places = set()
    for value, rank in zip(node.inputs, ranks):
        state = walk.states.get(value)
        if isinstance(state, Counted):
            raise walk.mixed(node, "it computes with the number of rows")
        if isinstance(state, RowAxis):
            places.add((state.axis - (rank or 0), state.times))
    place, times = places.pop()
    shared = [walk.spec(value).shape.dims or () for value in node.inputs if walk.states.get(value) is None]
    # A shared input with several parts at this axis would meet the rows of a block at other parts than the rows of the
    # whole.
    if places or place >= -behind or any(len(dims) >= -place and dims[place] != 1 for dims in shared):
        raise walk.mixed(node, "its inputs do not have the rows at the same axis")
    return RowAxis(place + max(rank or 0 for rank in ranks), times)


def _product(walk: _RowWalk, node: Node) -> _State:
    """Return the rows of a product of matrices: those of the left factor, or those that both factors have before."""
    left, right = walk.state(node, 0), walk.state(node, 1)
    rank = walk.rank(node.inputs[0])
    # A transposed left factor has its rows where the product sums.
    flips = node.attr("transpose_a", False) or node.attr("adj_x", False)
    is_left = right is None and all(walk.states.get(value) is None for value in node.inputs[2:])
    if isinstance(left, RowAxis) and is_left and rank is not None and left.axis == rank - 2 and not flips:
        return RowAxis(left.axis + max((walk.rank(node.inputs[1]) or 0) - rank, 0), left.times)
    return _aligned(walk, node, 2)


def _axes(walk: _RowWalk, value: Output, rank: int | None) -> list[int] | None:
    numbers = walk.numbers(value)
    return None if numbers is None or rank is None or not all(isinstance(axis, int) for axis in numbers) else [
        axis % max(rank, 1) for axis in numbers
    ]  # fmt: skip


def _reduced(walk: _RowWalk, node: Node, rows: RowAxis) -> RowAxis | None:
    axes = _axes(walk, node.inputs[1], walk.rank(node.inputs[0]))
    if axes is None or rows.axis in axes:
        return None
    return rows if node.attr("keep_dims") else RowAxis(rows.axis - sum(axis < rows.axis for axis in set(axes)), rows.times)


def _without_axis(walk: _RowWalk, node: Node, rows: RowAxis) -> RowAxis | None:
    """ArgMax and the like remove an axis."""
    axes = _axes(walk, node.inputs[1], walk.rank(node.inputs[0]))
    return None if axes is None or rows.axis == axes[0] else RowAxis(rows.axis - (axes[0] < rows.axis), rows.times)


def _along(walk: _RowWalk, node: Node, rows: RowAxis) -> RowAxis | None:
    """An op works along the axes of its second input."""
    axes = _axes(walk, node.inputs[1], walk.rank(node.inputs[0]))
    return None if axes is None or rows.axis in axes else rows


def _reshaped(walk: _RowWalk, node: Node, rows: RowAxis) -> RowAxis | None:
    """The rows stay together where as many elements are before them: sizes before are known, or stay the same."""
    before = (walk.spec(node.inputs[0]).shape.dims or ())[: rows.axis]
    dims = walk.spec(node.output()).shape.dims or ()
    for axis, size in enumerate(dims):
        times = walk.times(size)
        if times and (tuple(dims[:axis]) == tuple(before) or _count(dims[:axis]) == _count(before) is not None):
            return RowAxis(axis, times)
    return None


def _count(dims: Sequence[DimLike]) -> int | None:
    return math.prod(int(size) for size in dims) if all(isinstance(size, int) for size in dims) else None


def _transposed(walk: _RowWalk, node: Node, rows: RowAxis) -> RowAxis | None:
    order = _axes(walk, node.inputs[1], walk.rank(node.inputs[0]))
    return None if order is None else RowAxis(order.index(rows.axis), rows.times)


def _expanded(walk: _RowWalk, node: Node, rows: RowAxis) -> RowAxis | None:
    axes = _axes(walk, node.inputs[1], (walk.rank(node.inputs[0]) or 0) + 1)
    return None if axes is None else RowAxis(rows.axis + (axes[0] <= rows.axis), rows.times)


def _squeezed(walk: _RowWalk, node: Node, rows: RowAxis) -> RowAxis | None:
    rank = walk.rank(node.inputs[0]) or 0
    dims = walk.spec(node.inputs[0]).shape.dims or ()
    axes = {axis % rank for axis in node.attr("squeeze_dims")} or {axis for axis, size in enumerate(dims) if size == 1}
    # A size that is unknown here may be 1 in a run, and be dropped.
    is_known = node.attr("squeeze_dims") or all(isinstance(size, int) or axis == rows.axis for axis, size in enumerate(dims))
    return (
        RowAxis(rows.axis - sum(axis < rows.axis for axis in axes), rows.times) if is_known and rows.axis not in axes else None
    )


def _packed(walk: _RowWalk, node: Node) -> _State:
    """Stack inputs along a new axis."""
    state = _alike(walk, node, range(len(node.inputs)))
    axis = node.attr("axis") % ((walk.rank(node.inputs[0]) or 0) + 1)
    return RowAxis(state.axis + (axis <= state.axis), state.times)


def _alike(walk: _RowWalk, node: Node, places: Sequence[int]) -> RowAxis:
    states = {walk.state(node, place) for place in places}
    state = states.pop()
    if states or not isinstance(state, RowAxis):
        raise walk.mixed(node, "not all of its inputs have the rows, at the same axis")
    return state


def _joined_along(values: slice, axis: int) -> _Rule:
    """Return a rule for a concatenation of the inputs `values` along the axis that another input holds."""

    def rule(walk: _RowWalk, node: Node) -> _State:
        parts = range(len(node.inputs))[values]
        state = _alike(walk, node, parts)
        axes = _axes(walk, node.inputs[axis], walk.rank(node.inputs[parts[0]]))
        if axes is None or axes[0] == state.axis:
            raise walk.mixed(node, f"it joins parts along axis {state.axis} of the rows")
        return state

    return rule


def _split(walk: _RowWalk, node: Node) -> _State:
    """Split: the axis comes first, the value second."""
    rows, axes = walk.state(node, 1), _axes(walk, node.inputs[0], walk.rank(node.inputs[1]))
    if not isinstance(rows, RowAxis) or axes is None or axes[0] == rows.axis:
        raise walk.mixed(node, "it splits the rows")
    return rows


def _split_sizes(walk: _RowWalk, node: Node, rows: RowAxis) -> RowAxis | None:
    axes = _axes(walk, node.inputs[2], walk.rank(node.inputs[0]))
    return None if axes is None or axes[0] == rows.axis else rows


def _unpacked(walk: _RowWalk, node: Node, rows: RowAxis) -> RowAxis | None:
    axis = node.attr("axis") % (walk.rank(node.inputs[0]) or 1)
    return None if axis == rows.axis else RowAxis(rows.axis - (axis < rows.axis), rows.times)


def _sliced(walk: _RowWalk, node: Node, rows: RowAxis) -> RowAxis | None:
    begin, size = walk.numbers(node.inputs[1]), walk.numbers(node.inputs[2])
    whole = walk.spec(node.inputs[0]).shape[rows.axis]
    return rows if begin and size and begin[rows.axis] == 0 and size[rows.axis] in (-1, whole) else None


def _sliced_by_strides(walk: _RowWalk, node: Node, rows: RowAxis) -> RowAxis | None:
    """Follow the entries of a strided slice up to that of the rows, which must take all."""
    begin, end, strides = (walk.numbers(value) for value in node.inputs[1:4])
    if begin is None or end is None or strides is None:
        return None
    masks = {name: node.attr(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    is_set = {name: [bool(mask >> i & 1) for i in range(len(begin))] for name, mask in masks.items()}
    axis, place = 0, 0
    for i in range(len(begin)):
        if is_set["ellipsis"][i]:
            left = sum(not is_set["new_axis"][k] for k in range(i + 1, len(begin)))
            # An ellipsis stands for as many whole axes as the entries behind it leave over.
            skipped = (walk.rank(node.inputs[0]) or 0) - axis - left
            if rows.axis < axis + skipped:
                return RowAxis(place + rows.axis - axis, rows.times)
            axis, place = axis + skipped, place + skipped
        elif is_set["new_axis"][i]:
            place += 1
        elif axis == rows.axis:
            starts = is_set["begin"][i] or begin[i] == 0
            ends = is_set["end"][i] or end[i] == walk.spec(node.inputs[0]).shape[axis]
            takes_all = starts and ends and strides[i] == 1 and not is_set["shrink_axis"][i]
            return RowAxis(place, rows.times) if takes_all else None
        else:
            axis, place = axis + 1, place + (not is_set["shrink_axis"][i])
    return RowAxis(place + rows.axis - axis, rows.times)


def _padded(walk: _RowWalk, node: Node, rows: RowAxis) -> RowAxis | None:
    sizes = walk.numbers(node.inputs[1])
    return rows if sizes is not None and sizes[2 * rows.axis : 2 * rows.axis + 2] == [0, 0] else None


def _tiled(walk: _RowWalk, node: Node, rows: RowAxis) -> RowAxis | None:
    multiples = walk.numbers(node.inputs[1])
    return rows if multiples is not None and multiples[rows.axis] == 1 else None


def _broadcast(walk: _RowWalk, node: Node, rows: RowAxis) -> RowAxis | None:
    rank, of_result = walk.rank(node.inputs[0]), walk.rank(node.output())
    return None if rank is None or of_result is None else RowAxis(rows.axis + of_result - rank, rows.times)


def _gathered(walk: _RowWalk, node: Node) -> _State:
    """Return the rows of a Gather: those of the indices, those of the values, or both where rows are gathered apart."""
    values, indices = walk.state(node, 0), walk.state(node, 1)
    rank, of_indices = walk.rank(node.inputs[0]), walk.rank(node.inputs[1])
    axes = _axes(walk, node.inputs[2], rank) if len(node.inputs) > 2 else [0]
    batch = node.attr("batch_dims", 0)
    if rank is None or of_indices is None or axes is None:
        raise walk.mixed(node, "the rank of an input or the axis is unknown")
    # Of a table that all rows share, each row picks its own parts: the indices take the place of the axis.
    if values is None and isinstance(indices, RowAxis) and not batch:
        return RowAxis(axes[0] + indices.axis, indices.times)
    if isinstance(values, RowAxis) and indices is None and not batch and values.axis != axes[0]:
        return RowAxis(values.axis + (of_indices - 1 if values.axis > axes[0] else 0), values.times)
    if isinstance(values, RowAxis) and values == indices and values.axis < batch:
        return values
    raise walk.mixed(node, "it gathers rows")


def _one_hot(walk: _RowWalk, node: Node, rows: RowAxis) -> RowAxis | None:
    rank = (walk.rank(node.inputs[0]) or 0) + 1
    return RowAxis(rows.axis + (node.attr("axis") % rank <= rows.axis), rows.times)


def _looked_up(walk: _RowWalk, node: Node) -> _State:
    """Look keys up in a table: the keys come second."""
    if walk.state(node, 0) is not None or walk.state(node, 2) is not None:
        raise walk.mixed(node, "its default depends on rows")
    return walk.state(node, 1)


def _selected(walk: _RowWalk, node: Node) -> _State:
    """Select by a condition of the same shape, or by a vector of the first axis."""
    condition = walk.state(node, 0)
    others = {walk.state(node, place) for place in (1, 2)}
    if walk.rank(node.inputs[0]) == 1 and condition == RowAxis(0) and others == {RowAxis(0)}:
        return condition
    return _aligned(walk, node, 0)


def _normalized(walk: _RowWalk, node: Node, rows: RowAxis) -> RowAxis | None:
    # In training the mean and the variance are those of the batch: they mix its rows.
    return rows if rows.axis == 0 and not node.attr("is_training") else None


def _einsum(walk: _RowWalk, node: Node) -> _State:
    """Find the letter of the rows, which all inputs with rows and the result must have."""
    terms, _, result = str(node.attr("equation"), "utf-8").replace(" ", "").partition("->")
    letters: set[tuple[str, int]] = set()
    shared: set[str] = set()
    for term, value in zip(terms.split(","), node.inputs):
        state = walk.states.get(value)
        if isinstance(state, Counted) or "." in term:
            raise walk.mixed(node, "the axis of the rows is not known")
        if isinstance(state, RowAxis):
            letters.add((term[state.axis], state.times))
        else:
            shared.update(term)
    # A letter that a shared input has as well would pair row i of a block with part i of the whole.
    letter, times = letters.pop()
    if letters or letter in shared or letter not in result:
        raise walk.mixed(node, "it sums over rows")
    return RowAxis(result.index(letter), times)


def _element_set(walk: _RowWalk, node: Node) -> _State:
    """Put an element into a list: the list comes first, the element last."""
    held, element = walk.state(node, 0), walk.state(node, len(node.inputs) - 1)
    if walk.state(node, 1) is not None or held not in (None, element):
        raise walk.mixed(node, "the elements of the list have the rows at several axes")
    return element


def _shifted(by: int) -> _Rule:
    """Return a rule for a list of the parts of a tensor, or a tensor of the elements of a list."""
    return _of_first(lambda walk, node, rows: RowAxis(rows.axis + by, rows.times) if rows.axis + by >= 0 else None, sizes=True)


_RULES: Final[dict[str, _Rule]] = {
    **dict.fromkeys(("MatMul", "_FusedMatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"), _product),
    **dict.fromkeys(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"), _of_first(_normalized)),
    **dict.fromkeys(("ArgMax", "ArgMin"), _of_first(_without_axis)),
    **dict.fromkeys(("Cumsum", "Cumprod", "ReverseV2"), _of_first(_along)),
    **dict.fromkeys(("Pad", "PadV2", "MirrorPad"), _of_first(_padded)),
    **dict.fromkeys(("Gather", "GatherV2"), _gathered),
    "AddN": _elementwise,
    "Reshape": _of_first(_reshaped, sizes=True),
    "Transpose": _of_first(_transposed),
    "ExpandDims": _of_first(_expanded),
    "Squeeze": _of_first(_squeezed),
    "Pack": _packed,
    "Unpack": _of_first(_unpacked),
    "ConcatV2": _joined_along(slice(None, -1), -1),
    "Concat": _joined_along(slice(1, None), 0),
    "Split": _split,
    "SplitV": _of_first(_split_sizes),
    "Slice": _of_first(_sliced, sizes=True),
    "StridedSlice": _of_first(_sliced_by_strides, sizes=True),
    "Tile": _of_first(_tiled, sizes=True),
    "BroadcastTo": _of_first(_broadcast, sizes=True),
    "OneHot": _of_first(_one_hot),
    "Select": _selected,
    "Einsum": _einsum,
    "LookupTableFindV2": _looked_up,
    "TensorListFromTensor": _shifted(-1),
    "TensorListStack": _shifted(1),
    "TensorListGetItem": _shifted(0),
    "TensorListSetItem": _element_set,
}
