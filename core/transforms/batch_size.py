"""Another batch for a graph: for its inputs, and for the nodes that state the batch beside the inputs.

A node follows the batch where it states the old batch as a size of a tensor whose other tensors have the batch: a Reshape to
[16,144] of (16,12,12,1), or to [7,16,64] of (112,64). A tensor of 16 rows that is made of a size alone, as the zero state of
an RNN, follows it where it meets a tensor that has the batch and would no longer fit.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..building.builder import GraphBuilder
from ..explaining.node_listing import RECORDED_SHAPES
from ..graph.call_kinds import Form, call_kind
from ..graph.frames import find_frames
from ..graph.graph import Graph, Node, Output
from ..graph.node_making import add_constant, become_constant
from ..graph.traversal import descendants, predecessors
from ..inference.node_calls import call_shape_function
from ..planning.reachability import needed_nodes
from ..registry import registry
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.errors import InvalidArgumentError, TfgError
from ..support.hints import Blank, Hint, option, step
from ..support.words import counted
from ..types.dims import DimLike
from ..types.shapes import BatchSize, Shape, TensorSpec
from ..types.tensors import Tensor
from .placeholders import Place, dependents, own_functions, places, reasons_of, set_shapes

_ELEMENT: Final = "element_shape"
"""The attribute, or the input, that states the shape of the elements of an array or a list of tensors."""
_HANDED_ON: Final = ("forwarding", "passes_each_on", "transparent", "elementwise", "enter", "merge", "switch", "exit")
"""Facts of ops whose result has the rows of an input."""
_MOST_NAMED: Final = 8
"""The number of nodes that an error names."""


@dataclasses.dataclass(frozen=True, slots=True)
class InputBatch:
    """The placeholders whose first size is the batch, and the batch; None for an unknown one."""

    inputs: tuple[Node, ...]
    rows: int | None


def find_batch(graph: Graph, fetches: Sequence[str], feeds: Sequence[str] = ()) -> InputBatch:
    """Return the batch of the inputs that `fetches` need beside `feeds`: the inputs whose first size is open, or else all.

    InvalidArgumentError where the first sizes differ.
    """
    needed = needed_nodes([graph.fetch(name) for name in fetches], [graph.output(name) for name in feeds])
    # A scalar has no rows, and of an unknown rank nobody knows whether there are any.
    shaped = [node for node in graph if node.is_placeholder and node in needed and node.declared_shape.rank]
    firsts = {node: node.declared_shape[0] for node in shaped}
    # An open first size is the batch, whatever fixed sizes stand beside it: those of a table or of a state.
    open_inputs = tuple(node for node, size in firsts.items() if not isinstance(size, int))
    if open_inputs or not firsts:
        return InputBatch(open_inputs, None)
    if len(set(firsts.values())) > 1:
        stated = ", ".join(f"{node.name} {node.declared_shape}" for node in firsts)
        message = f"the batch is ambiguous, as the inputs differ in their first size: {stated}"
        raise InvalidArgumentError(message, hint=_ONE_INPUT)
    return InputBatch(tuple(firsts), int(next(iter(firsts.values()))))


_ONE_INPUT: Final = Hint(step("shape", name=Blank("NAME"), sizes=Blank("SIZES")), " sets the shape of an input")


def _no_batch(graph: Graph, fetches: Sequence[str]) -> InvalidArgumentError:
    needed = needed_nodes([graph.fetch(name) for name in fetches])
    inputs = [node for node in graph if node.is_placeholder and node in needed]
    shapes = ", ".join(f"{node.name} {node.declared_shape}" for node in inputs) or "none"
    return InvalidArgumentError(f"the graph has no batch: its inputs are {shapes}", hint=_ONE_INPUT if inputs else None)


def rows_of(batch: Any) -> BatchSize:
    """Return a batch that a caller gives; InvalidArgumentError for anything but a number of rows and ?."""
    if batch == "?" or (isinstance(batch, int) and batch >= 0):
        return batch  # type: ignore[no-any-return]
    raise InvalidArgumentError(f"a batch of {batch!r}", hint='a batch is a number of rows, or "?" for an unknown one')


def set_batch(graph: Graph, fetches: Sequence[str], rows: BatchSize) -> list[str]:
    """Give the inputs that `fetches` need another batch, and the nodes that follow it; return the changes in words.

    InvalidArgumentError for a graph without a batch, as of `find_batch`, and for nodes that fix the old batch and cannot
    follow.
    """
    batch = find_batch(graph, fetches)
    if not batch.inputs:
        raise _no_batch(graph, fetches)
    size = None if rows == "?" else rows
    if size == batch.rows:
        return []
    before = {node: node.declared_shape for node in batch.inputs}
    # Copies of a graph share their functions, whose bodies are changed below.
    own_functions(graph, descendants(before))
    everywhere = places(graph)
    known = reasons_of(everywhere)
    # Without an old number nothing can state it, and the shapes alone change.
    changes = [] if not batch.rows else _Followers(graph, before, batch.rows, size, everywhere, fetches).changes()
    for node, shape in before.items():
        # The trials have left other sizes there, and set_shapes compares with the shape of the file.
        node.set_attr("shape", shape)
    set_shapes(graph, {node.output().name: _with_rows(shape, size) for node, shape in before.items()}, known)
    return [*(f"{node.name}: {shape} -> {node.declared_shape}" for node, shape in before.items()), *changes]


def _with_rows(shape: Shape, rows: DimLike | None) -> Shape:
    return Shape([rows, *shape[1:]])


class _Followers:
    """The nodes of a graph that state the old batch, made to follow the batch of the inputs.

    While it works, the placeholders have the shapes that are tried.
    """

    def __init__(
        self, graph: Graph, inputs: Mapping[Node, Shape], old: int, new: int | None, before: Sequence[Place],
        fetches: Sequence[str],
    ) -> None:  # fmt: skip
        """`before` has the specs with the old batch."""
        self.graph = graph
        self.inputs = inputs
        self.old = old
        self.new = new
        self.words: list[str] = []
        self.changed: list[Node] = []
        self.fetches = [graph.fetch(name) for name in fetches]
        self.known = reasons_of(before)
        """The nodes at which inference ends with the old batch."""
        self.before = _specs(before)
        """The specs with the old batch."""
        self.trial = BatchTrial(self.before, old)
        self.places: list[Place] = []
        """The specs with twice the old batch, of the last trial."""
        self.rows: dict[tuple[Graph, int], Output] = {}
        """The number of rows, by graph or body, and how many times the batch it is."""
        self.made: list[tuple[Graph, Node]] = []
        """The nodes that compute sizes from the batch."""
        self.replaced: dict[tuple[Graph, Node], None] = {}
        """The nodes that stated sizes."""
        self.frames = functools.cache(find_frames)
        self.calls: dict[str, list[tuple[Place, Node]]] = {}
        """The calls of each function, by name."""

    def changes(self) -> list[str]:
        """Rewrite what follows the batch, and return the changes in words; InvalidArgumentError names what fixes it.

        Fetches that keep their number of rows are told, too.
        """
        self.places = self._with(2 * self.old, self.trial)
        # First: a write of twice the rows into an array that states the old ones would end inference there.
        self._open_elements()
        # Each round may let inference go on past nodes where it ended, and find what follows there. It ends when a round
        # changes nothing.
        stuck, count = self._rewritten(), -1
        while count != len(self.words):
            count = len(self.words)
            self.places = self._with(2 * self.old, self.trial)
            stuck = self._rewritten()
        if stuck:
            raise self._refused(stuck)
        left = list(self._left())
        if self.new is not None:
            self._fold(self.new)
        # The last made go first: they read those before them.
        for graph, node in reversed([*self.replaced, *self.made]):
            if node.name in graph:
                self._remove_unused(graph, node)
        for node in descendants(self.changed):
            node.remove_attr(RECORDED_SHAPES)
        return [*self.words, *left]

    def _left(self) -> Iterator[str]:
        """Yield fetches with the rows of the old batch that do not follow it, in words."""
        for value in (value for value in self.fetches if isinstance(value, Output)):
            before, now = self.before.get(value), self.places[0].inference.specs.get(value)
            has_rows = before is not None and bool(before.shape.rank) and self.trial.times(before.shape[0]) == 1
            if has_rows and now is not None and self.trial.grown(value, now).get(0) != 1:
                yield f"{value.name}: {self.before[value].shape} keeps its first size, which may be no batch"

    def _fold(self, rows: int) -> None:
        """Put constants in the place of computed sizes."""
        specs = _specs(self._with(rows))
        for graph, node in reversed(self.made):
            value = specs[node.output()].value
            if node.uses and node.inputs and value is not None and value.dtype != object:
                become_constant(graph, node, Tensor.from_numpy(value, node.output().base_dtype))

    def _open_elements(self) -> None:
        """Let the arrays and lists of tensors that depend on the inputs have elements with any number of rows."""
        after = dependents(self.graph, self.inputs)
        for place in self.places:
            for node in list(place.graph):
                if node in after or not after.isdisjoint(node.uses):
                    self._open_attribute(place, node)
                    self._open_operand(place, node)

    def _open_attribute(self, place: Place, node: Node) -> None:
        shape = node.attr_of(Shape, _ELEMENT)
        if shape is not None and shape.rank and shape[0] == self.old:
            node.set_attr(_ELEMENT, _with_rows(shape, None))
            self.words.append(f"{place.path(node)}: elements {shape} -> {node.attr(_ELEMENT)}")

    def _open_operand(self, place: Place, node: Node) -> None:
        index = sizes_index(node, (_ELEMENT,))
        numbers = None if index is None else self.trial.numbers(node, index, place.inference.specs[node.inputs[index]])
        if index is not None and numbers and numbers[0] == self.old and None not in numbers:
            sizes = StatedSizes(node, index, numbers, 0, 1)
            opened = sizes.with_number(-1)
            self.words.append(f"{place.path(node)}: elements {_listed(numbers)} -> {_listed(opened)}")
            self._put(place, sizes, opened)

    def _with(self, rows: int, trial: BatchTrial | None = None) -> list[Place]:
        """Return the specs with this number of rows."""
        for node, shape in self.inputs.items():
            node.set_attr("shape", _with_rows(shape, rows))
        return places(self.graph, trial)

    def _rewritten(self) -> list[str]:
        """Rewrite what states the old batch, and tensors of its rows that meet the batch; return what stays, in words."""
        stuck: dict[str, None] = {}
        self.calls = {}
        sources: dict[tuple[Output, int], Place | None] = {}
        meets = [(place, node, values) for place in self.places for node, values in self._meeting(place)]
        for place in self.places:
            for node in list(place.graph):
                self._rewrite_stated(place, node)
        # After the stated sizes: a tensor of the old rows may be one that these have just changed.
        for place, node, values in meets:
            if not values:
                stuck[f"'{place.path(node)}' ({node.op}): {place.inference.reasons.get(node.name, 'two sizes meet')}"] = None
            self._collect_sources(sources, place, values)
        for (value, axis), at in sources.items():
            if at is not None and not self._remade(at, value, axis):
                stuck[self._fixed(at, value)] = None
        return list(stuck)

    def _rewrite_stated(self, place: Place, node: Node) -> None:
        """Rewrite the sizes of a node that takes a tensor with the batch, and the ends of a slice of all rows."""
        inputs = [place.inference.specs[value] for value in node.inputs]
        sizes = self.trial.stated(node, inputs)
        if sizes is not None:
            dims = self.before[node.output()].shape.dims or ()
            if has_fact(node.op, "finds_size") and all(isinstance(size, int) and size for size in dims):
                # -1 lets TensorFlow find the size, which needs no node; with a 0 or an unknown size beside it, it cannot.
                numbers = sizes.with_number(-1, dims)
                self._note(place, sizes, numbers)
                self._put(place, sizes, numbers)
            else:
                self._restate(place, sizes)
        for axis in self.trial.ends(node, inputs):
            end = self.trial.numbers(node, 2, inputs[2])
            assert end is not None
            self.words.append(f"{place.path(node)}: {node.op} to {end[axis]} along axis {axis} -> to the end")
            node.set_attr("end_mask", node.attr("end_mask") | 1 << axis)

    def _restate(self, place: Place, sizes: StatedSizes) -> None:
        """State the number of rows of an input in the place of the old number."""
        graph, source, axis = place.graph, sizes.source, sizes.axis
        self._note(place, sizes, sizes.with_number(self._shown(sizes.times)))
        taken = sizes.node.inputs[sizes.index]
        dtype = taken.base_dtype
        rows = self._rows(place, sizes.node, sizes.times)
        with self._making(graph, f"{sizes.node.name}/batch/") as b:
            # Shape gives int32, and the sizes may be int64.
            rows = rows if dtype.name == "int32" else b.Cast(rows, DstT=dtype)
            if None in sizes.numbers:
                parts = [_part(b, taken, 0, axis)] if axis else []
                parts += [b.Pack([rows]), _part(b, taken, axis + 1, len(sizes.numbers))]
                packed = b.ConcatV2(parts, np.int32(0), name="sizes")
            else:
                numbers = [np.array(number, dtype.numpy) for number in sizes.numbers]
                packed = b.Pack([*numbers[:axis], rows, *numbers[axis + 1 :]], name="sizes")
        # A constant that waits for a node of a branch is dead where the branch is, and so must be what takes its place.
        graph.set_inputs(packed.node, packed.node.inputs, source.control_inputs)
        graph.set_input(sizes.node, sizes.index, packed)
        self.replaced[graph, source] = None

    @contextlib.contextmanager
    def _making(self, graph: Graph, scope: str) -> Iterator[GraphBuilder]:
        """Note the nodes that a builder makes, in a scope."""
        count = len(graph)
        b = GraphBuilder(graph)
        with b.name_scope(scope):
            yield b
        self.made += [(graph, made) for made in graph.since(count)]

    def _rows(self, place: Place, node: Node, times: int) -> Output:
        """Return the number of rows, made of an input of the graph or an argument of the function that has the batch."""
        carrier = next(self._carriers(place), None)
        # A value from outside a V1 loop enters by an Enter, which is not made here; a known number is folded into a constant
        # of the loop.
        if carrier is None or (self.new is None and node in self.frames(place.graph)):
            inside = "a loop does not take the batch from outside"
            why = "no argument of its function has the batch" if carrier is None else inside
            raise self._refused([f"'{place.path(node)}' ({node.op}): {why}"])
        # One computation serves all nodes of a body that state the same multiple.
        key = place.graph, times
        if key not in self.rows:
            value, axis = carrier
            ends = (np.array([number], np.int32) for number in (axis, axis + 1, 1))
            with self._making(place.graph, "batch") as b:
                rows = b.StridedSlice(b.Shape(value), *ends, shrink_axis_mask=1, name="rows")
                self.rows[key] = rows if times == 1 else b.Mul(rows, np.int32(times))
        return self.rows[key]

    def _carriers(self, place: Place) -> Iterator[tuple[Output, int]]:
        """Yield the inputs of the graph, or arguments of the function, with the axis that is the batch."""
        for node in self.inputs if place.function is None else place.function.args:
            value = node.output()
            grown = self.trial.grown(value, place.inference.specs[value]) if value in place.inference.specs else {}
            yield from ((value, axis) for axis, times in grown.items() if times == 1)

    def _put(self, place: Place, sizes: StatedSizes, numbers: Sequence[int]) -> None:
        """State other sizes, in the constant itself where nothing else takes it."""
        graph, node, index, source = place.graph, sizes.node, sizes.index, sizes.source
        value = Tensor.from_numpy(np.array(numbers), node.inputs[index].base_dtype)
        # The constant itself keeps its name, and the file its order.
        if source.is_constant and dict(source.uses) == {node: 1}:
            source.set_attr("value", value)
            return
        new = add_constant(graph, source.name, value, source.control_inputs, source.device)
        graph.set_input(node, index, new.output())
        self.replaced[graph, source] = None

    def _remove_unused(self, graph: Graph, node: Node) -> None:
        """Remove a node that nothing uses, and the nodes that it alone used; inputs, state and fetches stay."""
        stack, fetched = [node], {one.node if isinstance(one, Output) else one for one in self.fetches}
        while stack:
            node = stack.pop()
            is_pure = node.op_def is not None and not node.op_def.is_stateful and not (node.is_placeholder or node.is_argument)
            if not node.uses and is_pure and node not in fetched and node.name in graph:
                stack += predecessors(node)
                graph.remove_node(node)

    def _shown(self, times: int) -> str:
        return "?" if self.new is None else str(self.new * times)

    def _note(self, place: Place, sizes: StatedSizes, numbers: Sequence[Any]) -> None:
        node = sizes.node
        self.changed.append(node)
        self.trial.rewritten.add(node)
        stated = sizes.with_number(sizes.numbers[sizes.axis])
        self.words.append(f"{place.path(node)}: {node.op} to {_listed(stated)} -> {_listed(numbers)}")

    def _meeting(self, place: Place) -> Iterator[tuple[Node, list[tuple[Output, int]]]]:
        """Yield nodes at which a tensor of the old number of rows meets the batch, with such tensors and their axes."""
        for node in place.graph:
            if node in self.inputs:
                continue  # a default may have another batch than is fed
            # What did not fit before the batch changed is not for the batch to mend.
            if node.name in place.inference.reasons and place.path(node) not in self.known:
                inputs = self.trial.revised(node, [place.inference.specs[value] for value in node.inputs])
                yield node, [(node.inputs[index], axis) for index, axis in self.trial.meeting(node, inputs)]
            elif has_fact(node.op, "merge") or self._is_loop(node):
                lost = [(value, axis) for value in node.inputs for axis in self._lost(place, node, value)]
                if lost:
                    yield node, [(value, axis) for value, axis in lost if axis in self._kept(place, value)]

    def _is_loop(self, node: Node) -> bool:
        kind = call_kind(self.graph.functions, node)
        return kind is not None and kind.form is Form.LOOP

    def _lost(self, place: Place, node: Node, value: Output) -> Iterator[int]:
        """Yield the axes at which the result for an input of a loop or a Merge no longer has the rows of the input."""
        kind = call_kind(self.graph.functions, node)
        result = node.output(0 if kind is None else kind.arguments(node.inputs).index(value))
        before, after = (self.before[one].shape.dims or () for one in (value, result))
        now = [place.inference.shape(one).dims or () for one in (value, result)]
        for axis, size in enumerate(before):
            times = self.trial.times(size)
            # Every number is a multiple of a batch of 1.
            if times is None or (self.old == 1 and times != 1) or after[axis : axis + 1] != (size,):
                continue
            rows = {dims[axis] if axis < len(dims) else None for dims in now}
            if rows not in ({size}, {2 * size}):
                yield axis

    def _kept(self, place: Place, value: Output) -> Mapping[int, int]:
        """Return the axes that keep a multiple of the old batch with another batch, and how many times the batch they are."""
        spec = place.inference.specs.get(value)
        return {} if spec is None else self.trial.kept(value, spec)

    def _collect_sources(
        self, sources: dict[tuple[Output, int], Place | None], place: Place, values: Iterable[tuple[Output, int]]
    ) -> None:
        """Add the tensors that tensors have their number of rows from, each with its place, and None for those between."""
        stack = [(place, *pair) for pair in values]
        while stack:
            at, value, axis = stack.pop()
            if (value, axis) in sources:
                continue
            before = list(self._handed_on(at, value, axis))
            sources[value, axis] = None if before else at
            stack += before

    def _handed_on(self, at: Place, value: Output, axis: int) -> Iterator[tuple[Place, Output, int]]:
        """Yield the tensors whose rows a node hands on, or a call passes, with places and axes."""
        before = [(at, one) for one in value.node.inputs] if any(has_fact(value.node.op, f) for f in _HANDED_ON) else []
        if value.node.is_argument and at.function is not None:
            before = list(self._arguments(at, value.node))
        rank = self.before[value].shape.rank or 0
        for where, one in before:
            spec = where.inference.specs.get(one)
            # Counted from the end, as the shapes of two operands are aligned there.
            place = axis - rank + (0 if spec is None or spec.shape.rank is None else spec.shape.rank)
            if place in self._kept(where, one):
                yield where, one, place

    def _arguments(self, at: Place, argument: Node) -> Iterator[tuple[Place, Output]]:
        """Yield the values that the calls of a function pass for an argument."""
        function = at.function
        assert function is not None
        for place, node in self._calls().get(function.name, ()):
            kind = call_kind(self.graph.functions, node)
            assert kind is not None
            values = kind.arguments(node.inputs)
            # From the end: the counter of a For is an argument of its body that no input passes.
            index = function.args.index(argument) - (len(function.args) - len(values))
            if index >= 0:
                yield place, values[index]

    def _calls(self) -> Mapping[str, Sequence[tuple[Place, Node]]]:
        """Return the calls of each function, by name."""
        if not self.calls:
            for place in self.places:
                for node in place.graph:
                    kind = call_kind(self.graph.functions, node)
                    for name in () if kind is None else {reference.name for reference in kind.references(node)}:
                        self.calls.setdefault(name, []).append((place, node))
        return self.calls

    def _remade(self, place: Place, value: Output, axis: int) -> bool:
        """Make a tensor of the new number of rows, where it is made of sizes or of equal rows alone; True if so."""
        node, times = value.node, self.trial.times(self.before[value].shape[axis])
        if times is None:
            return False
        sizes = self._own_sizes(place, node, axis, times) or self._multiples(place, node, axis, times)
        if sizes is not None:
            self._restate(place, sizes)
            return True
        return node.is_constant and self._repeated(place, node, axis, times)

    def _own_sizes(self, place: Place, node: Node, axis: int, times: int) -> StatedSizes | None:
        """Return the sizes of a node that makes a tensor of sizes alone."""
        index = sizes_index(node)
        numbers = None if index is None else self.trial.numbers(node, index, place.inference.specs[node.inputs[index]])
        if index is None or numbers is None or numbers[axis : axis + 1] != (times * self.old,):
            return None
        return StatedSizes(node, index, numbers, axis, times)

    def _multiples(self, place: Place, node: Node, axis: int, times: int) -> StatedSizes | None:
        """Return the multiples of a Tile that makes the batch of other rows."""
        index = sizes_index(node, ("multiples",))
        if index is None:
            return None
        numbers = self.trial.numbers(node, index, place.inference.specs[node.inputs[index]])
        of_rows = self.before[node.inputs[0]].shape.dims
        number = numbers[axis] if numbers is not None and axis < len(numbers) else None
        own = self.trial.times(number)
        has_batch = of_rows is not None and self.old > 1 and self.trial.times(of_rows[axis]) is not None
        # A Tile of rows that have the batch follows it, and its multiples state something else.
        if numbers is None or own is None or of_rows is None or has_batch or own * of_rows[axis] != times:
            return None
        return StatedSizes(node, index, numbers, axis, own)

    def _repeated(self, place: Place, node: Node, axis: int, times: int) -> bool:
        """Repeat the row of a constant of equal rows; False for other constants."""
        array = node.constant_value()
        row = array.take([0], axis)
        # Rows that differ were made for this batch: nothing tells further ones.
        if (place.graph, node) in self.replaced or not (array == row).all():
            return False
        self.words.append(f"{place.path(node)}: {_constant_words(node, axis)} -> {self._shown(times)} rows")
        count = self._rows(place, node, times)
        with self._making(place.graph, f"{node.name}/batch/") as b:
            sizes = b.Pack([count if i == axis else np.int32(size) for i, size in enumerate(array.shape)], name="sizes")
            rows = b.BroadcastTo(b.constant(row, name="row"), sizes, name="repeated")
        place.graph.set_inputs(rows.node, rows.node.inputs, node.control_inputs)
        place.graph.replace_all_uses(node.output(), rows)
        self.before[rows] = self.before[node.output()]
        self.replaced[place.graph, node] = None
        return True

    def _fixed(self, place: Place, value: Output) -> str:
        """Return why a tensor keeps the old number of rows, in words."""
        node, spec = value.node, self.before[value]
        words = _constant_words(node) if node.is_constant else f"{node.op}, whose result is {spec.shape}"
        return f"'{place.path(node)}': {words}"

    def _refused(self, fixed: Sequence[str]) -> InvalidArgumentError:
        more = [f"and {len(fixed) - _MOST_NAMED} more"] if len(fixed) > _MOST_NAMED else []
        return InvalidArgumentError(
            f"the batch of {self.old} is fixed by {counted(len(fixed), 'node')}:", details=[*fixed[:_MOST_NAMED], *more],
            hint=Hint(
                "change these nodes in the program that makes the graph, or cut the graph before them with ", option("to")
            ),
        )  # fmt: skip


def _part(b: GraphBuilder, sizes: Output, start: int, end: int) -> Any:
    """Return a part of a vector of sizes."""
    return b.StridedSlice(sizes, *(np.array([number], np.int32) for number in (start, end, 1)))


def _listed(numbers: Iterable[Any]) -> str:
    return f"[{','.join(map(str, numbers))}]"


def _specs(everywhere: Sequence[Place]) -> dict[Output, TensorSpec]:
    """Return the specs of all places."""
    return {value: spec for place in everywhere for value, spec in place.inference.specs.items()}


def _constant_words(node: Node, axis: int = 0) -> str:
    shape = node.attr("value").shape
    return f"a constant of {shape[axis]} rows {Shape(shape)}"


# The sizes of a graph with twice its batch: which tensors have the batch, and which nodes state the old one.
#
# A graph is inferred twice, with the old batch and with twice as many rows. A size that doubles is a multiple of the batch; a
# size that stays and is a multiple of the old batch may state it. In the second inference, nodes that state the batch have the
# sizes that they will get, so that a single sweep finds all of them, however long the chain.

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
        # A -1 that comes out as a multiple of the batch finds it without help.
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
        # A new axis or an ellipsis in front of an end shifts it: its number is then no axis of the input.
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
            # Inputs that need not change stay as they are: of equal rows beside the batch only some may be meant.
            needed = left if left and _goes_on(node, _with_axes(inputs, left)) else needed
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
        return _with_axes(inputs, meeting) if meeting else None


def _with_axes(inputs: Sequence[TensorSpec], axes: Mapping[int, int]) -> Sequence[TensorSpec]:
    """Return the inputs of a node, with twice the rows at the axes of some."""
    for place, axis in axes.items():
        dims = [2 * size if i == axis else size for i, size in enumerate(inputs[place].shape.dims or ())]
        inputs = _with_spec(inputs, place, TensorSpec(inputs[place].dtype, Shape(dims)))
    return inputs


def _goes_on(node: Node, inputs: Sequence[TensorSpec]) -> bool:
    """Return True if a node takes inputs of these shapes."""
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
    # A Reshape keeps the order of elements. Rows stay rows if the sizes in front of them, before and after, cut the elements
    # at the same places.
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
