"""Another batch for a graph: for its inputs, and for the nodes that state the batch beside the inputs.

A node follows the batch where it states the old batch as the first size of a tensor whose other tensors have the batch: a
Reshape to [16,144] of (16,12,12,1). A tensor of 16 rows that is made of a size alone, as the zero state of an RNN, follows it
where it meets a tensor that has the batch and would no longer fit.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..building.builder import GraphBuilder
from ..control_flow.frames import find_frames
from ..explaining.node_listing import RECORDED_SHAPES
from ..functions.call_kinds import Form, call_kind
from ..graph.graph import Graph, Node, Output
from ..graph.node_making import add_constant, become_constant
from ..graph.traversal import descendants, predecessors
from ..planning.reachability import needed_nodes
from ..registry.op_facts import has_fact
from ..support.errors import InvalidArgumentError
from ..support.words import counted
from ..types.dims import Dim, DimLike
from ..types.shapes import BatchSize, Shape, TensorSpec
from ..types.tensors import Tensor
from .placeholders import declared_shape, set_shapes
from .stated_sizes import Place, dependents, own_functions, places, reasons_of

_BATCH: Final = Dim.symbol("batch")
"""The symbol for a batch, counted in old batches: halves of the batch are whole numbers where they were before."""
_SIZES: Final = frozenset(("shape", "dims", "size", "input_sizes"))
"""The names of the inputs that hold the sizes of an output."""
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
    shaped = [node for node in graph if node.is_placeholder and node in needed and declared_shape(node).rank]
    firsts = {node: declared_shape(node)[0] for node in shaped}
    open_inputs = tuple(node for node, size in firsts.items() if not isinstance(size, int))
    if open_inputs or not firsts:
        return InputBatch(open_inputs, None)
    if len(set(firsts.values())) > 1:
        stated = ", ".join(f"{node.name} {declared_shape(node)}" for node in firsts)
        message = f"the batch is ambiguous, as the inputs differ in their first size: {stated}"
        raise InvalidArgumentError(message, hint=_ONE_INPUT)
    return InputBatch(tuple(firsts), int(next(iter(firsts.values()))))


_ONE_INPUT: Final = "`--shape NAME=SIZES` sets the shape of an input"


def _no_batch(graph: Graph, fetches: Sequence[str]) -> InvalidArgumentError:
    needed = needed_nodes([graph.fetch(name) for name in fetches])
    inputs = [node for node in graph if node.is_placeholder and node in needed]
    shapes = ", ".join(f"{node.name} {declared_shape(node)}" for node in inputs) or "none"
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
    before = {node: declared_shape(node) for node in batch.inputs}
    known = reasons_of(places(graph))
    changes = [] if batch.rows is None else _Followers(graph, before, batch.rows, size, known, fetches).changes()
    for node, shape in before.items():
        node.set_attr("shape", shape)
    set_shapes(graph, {node.output().name: _with_rows(shape, size) for node, shape in before.items()}, known)
    return [*(f"{node.name}: {shape} -> {declared_shape(node)}" for node, shape in before.items()), *changes]


def _with_rows(shape: Shape, rows: DimLike | None) -> Shape:
    return Shape([rows, *shape[1:]])


@dataclasses.dataclass(frozen=True, slots=True)
class _Sizes:
    """The input of a node that holds the sizes of its output, of which the first is a constant."""

    node: Node
    index: int
    first: int
    rest: tuple[int, ...] | None
    """The other sizes, None where they are not constants."""

    @property
    def source(self) -> Node:
        return self.node.inputs[self.index].node

    @property
    def words(self) -> str:
        return _listed([self.first, *(("...",) if self.rest is None else self.rest)])


def _sizes_of(node: Node, specs: Mapping[Output, TensorSpec], called: Collection[str] = _SIZES) -> _Sizes | None:
    """Return the sizes that an input of a node states, an input of one of these names; None where the first is no constant.

    `specs` are those of an inference with a symbol for the batch.
    """
    index = _sizes_index(node, called)
    spec = None if index is None else specs.get(node.inputs[index])
    if index is None or spec is None or spec.value is None or spec.value.ndim != 1 or not spec.value.size:
        return None
    numbers = spec.value.tolist()
    if not all(isinstance(number, int) for number in numbers):
        return _Sizes(node, index, numbers[0], None) if isinstance(numbers[0], int) else None
    return _Sizes(node, index, numbers[0], tuple(numbers[1:]))


def _sizes_index(node: Node, called: Collection[str] = _SIZES) -> int | None:
    """Return the place of the input of one of these names, None for a node without such an input."""
    definition = node.op_def
    if definition is None or len(node.inputs) != len(definition.inputs):
        return None
    return next((index for index, arg in enumerate(definition.inputs) if arg.name in called), None)


class _Followers:
    """The nodes of a graph that state the old batch, made to follow the batch of the inputs.

    While it works, the placeholders have the shapes that are tried.
    """

    def __init__(
        self, graph: Graph, inputs: Mapping[Node, Shape], old: int, new: int | None, known: Collection[str],
        fetches: Sequence[str],
    ) -> None:  # fmt: skip
        self.graph = graph
        self.inputs = inputs
        self.old = old
        self.new = new
        self.words: list[str] = []
        self.changed: list[Node] = []
        own_functions(graph, descendants(inputs))
        self.fetches = [graph.fetch(name) for name in fetches]
        self.known = known
        """The nodes at which inference ends with the old batch."""
        self.before = _specs(places(graph))
        """The specs with the old batch."""
        self.places = self._with(_BATCH * old)
        self.following: Mapping[Output, TensorSpec] = _specs(self.places)
        """The specs with a symbol for the batch."""
        self.rows: dict[tuple[Graph, int], Output] = {}
        """The number of rows, by graph or body, and how many times the batch it is."""
        self.made: list[tuple[Graph, Node]] = []
        """The nodes that compute sizes from the batch."""
        self.replaced: list[tuple[Graph, Node]] = []
        """The nodes that stated sizes."""
        self._open_elements()

    def changes(self) -> list[str]:
        """Rewrite what follows the batch, and return the changes in words; InvalidArgumentError names what fixes it.

        Fetches that keep their number of rows are told, too.
        """
        meets: list[str] | None = []
        while meets is not None:
            self.places = self._reshaped()
            if not self._rewrite_stated():
                meets = self._rewrite_met()
        if self.new is not None:
            self._fold(self.new)
        for graph, node in reversed([*self.replaced, *self.made]):
            if node.name in graph:
                self._remove_unused(graph, node)
        for node in descendants(self.changed):
            node.remove_attr(RECORDED_SHAPES)
        return [*self.words, *self._left()]

    def _left(self) -> Iterator[str]:
        """Yield fetches with the rows of the old batch that do not follow it, in words."""
        for value in (value for value in self.fetches if isinstance(value, Output)):
            if self._rows_before(value) == 1 and self._times_batch(self.following.get(value)) != 1:
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
        sizes = _sizes_of(node, self.following, (_ELEMENT,))
        if sizes is not None and sizes.rest is not None and sizes.first == self.old:
            self.words.append(f"{place.path(node)}: elements {sizes.words} -> {_listed([-1, *sizes.rest])}")
            self._put(place, sizes, [-1, *sizes.rest])

    def _with(self, rows: DimLike) -> list[Place]:
        """Return the specs with this number of rows."""
        for node, shape in self.inputs.items():
            node.set_attr("shape", _with_rows(shape, rows))
        return places(self.graph)

    def _times(self, size: Any) -> int | None:
        """Return how many times the old batch a number is, None where it is no multiple."""
        return size // self.old if isinstance(size, int) and size and self.old and size % self.old == 0 else None

    def _rows_before(self, value: Output) -> int | None:
        """Return how many times the old batch the rows of a tensor are with the old batch."""
        spec = self.before.get(value)
        return self._times(spec.shape[0]) if spec is not None and spec.shape.rank else None

    def _batches_before(self, value: Output) -> int | None:
        """Return the same for a tensor that may be a batch: of a batch of 1, of which all is a multiple, only one row."""
        times = self._rows_before(value)
        return times if self.old > 1 or times == 1 else None

    def _times_batch(self, spec: TensorSpec | None) -> int | None:
        """Return how many times the symbol's batch the rows of a tensor are, None for other rows."""
        rows = spec.shape[0] if spec is not None and spec.shape.rank else None
        if not isinstance(rows, Dim) or len(rows.terms) != 1:
            return None
        ((monomial, times),) = rows.terms.items()
        return self._times(times) if {monomial: 1} == _BATCH.terms else None

    def _stating(self) -> Iterator[tuple[Place, _Sizes, int]]:
        """Yield the stated sizes whose first is a multiple of the old batch, as the rows of the output were."""
        for place in self.places:
            for node in list(place.graph):
                sizes = _sizes_of(node, self.following)
                times = None if sizes is None else self._times(sizes.first)
                if sizes is not None and times is not None and self._rows_before(node.output()) == times:
                    yield place, sizes, times

    def _reshaped(self) -> list[Place]:
        """Let nodes find the first size where it follows the batch, and return the specs with a symbol for the batch.

        A Reshape to known sizes finds the first for -1. Where the result does not have the batch, the node stays as it was.
        """
        edits: list[tuple[Place, _Sizes, int, list[int], Callable[[], None]]] = []
        for place, sizes, times in list(self._stating()):
            shape = self.before[sizes.node.output()].shape
            if has_fact(sizes.node.op, "finds_size") and shape.is_known and 0 not in shape.known() and sizes.rest is not None:
                numbers = [-1, *shape.known()[1:]]
                edits.append((place, sizes, times, numbers, self._put(place, sizes, numbers)))
        everywhere = self._with(_BATCH * self.old)
        self.following = _specs(everywhere)
        for place, sizes, times, numbers, undo in edits:
            if self._times_batch(self.following[sizes.node.output()]) == times:
                self._note(place, sizes, numbers)
            else:
                undo()
        return everywhere

    def _rewrite_stated(self) -> bool:
        """Rewrite the sizes of nodes that take a tensor with the batch, as a slice of all rows; True for any."""
        rewritten = False
        for place, sizes, times in self._stating():
            taken = [value for index, value in enumerate(sizes.node.inputs) if index != sizes.index]
            if any(self._times_batch(place.inference.specs.get(value)) == times for value in taken):
                self._restate(place, sizes, times)
                rewritten = True
        for place in self.places:
            for node in place.graph:
                if (end := self._end_of_slice(place, node)) is not None:
                    self.words.append(f"{place.path(node)}: {node.op} to row {end} -> to the last row")
                    node.set_attr("end_mask", node.attr("end_mask") | 1)
                    rewritten = True
        return rewritten

    def _end_of_slice(self, place: Place, node: Node) -> int | None:
        """Return the end of a strided slice of all rows of a tensor that has the batch, where the end states the batch."""
        names = [] if node.op_def is None else [arg.name for arg in node.op_def.inputs]
        masks = ("end_mask", "ellipsis_mask", "new_axis_mask")
        if names != ["input", "begin", "end", "strides"] or any(node.attr(mask) & 1 for mask in masks):
            return None
        begin, end, stride = (place.inference.specs[value].value for value in node.inputs[1:])
        if begin is None or end is None or stride is None or object in (begin.dtype, end.dtype, stride.dtype) or not end.size:
            return None
        times = self._times_batch(place.inference.specs[node.inputs[0]])
        is_whole = (begin[0] == 0 or node.attr("begin_mask") & 1) and stride[0] == 1
        return int(end[0]) if is_whole and times is not None and end[0] == times * self.old else None

    def _restate(self, place: Place, sizes: _Sizes, times: int) -> None:
        """State the number of rows of an input as the first size."""
        graph, source, rest = place.graph, sizes.source, sizes.rest
        self._note(place, sizes, [self._shown(times), *(("...",) if rest is None else rest)])
        dtype = sizes.node.inputs[sizes.index].base_dtype
        rows = self._rows(place, sizes.node, times)
        with self._making(graph, f"{sizes.node.name}/batch/") as b:
            rows = rows if dtype.name == "int32" else b.Cast(rows, DstT=dtype)
            if rest is None:
                ends = (np.array([number], np.int32) for number in (1, 0, 1))
                others = b.StridedSlice(sizes.node.inputs[sizes.index], *ends, end_mask=1)
                packed = b.ConcatV2([b.Pack([rows]), others], np.int32(0), name="sizes")
            else:
                packed = b.Pack([rows, *(np.array(size, dtype.numpy) for size in rest)], name="sizes")
        graph.set_inputs(packed.node, packed.node.inputs, source.control_inputs)
        graph.set_input(sizes.node, sizes.index, packed)
        self.replaced.append((graph, source))

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
        inputs = self.inputs if place.function is None else place.function.args
        carrier = next((one.output() for one in inputs if self._times_batch(self.following.get(one.output())) == 1), None)
        if carrier is None or (self.new is None and node in find_frames(place.graph)):
            inside = "a loop does not take the batch from outside"
            why = "no argument of its function has the batch" if carrier is None else inside
            raise self._refused([f"'{place.path(node)}' ({node.op}): {why}"])
        key = place.graph, times
        if key not in self.rows:
            ends = (np.array([number], np.int32) for number in (0, 1, 1))
            with self._making(place.graph, "batch") as b:
                rows = b.StridedSlice(b.Shape(carrier), *ends, shrink_axis_mask=1, name="rows")
                self.rows[key] = rows if times == 1 else b.Mul(rows, np.int32(times))
        return self.rows[key]

    def _put(self, place: Place, sizes: _Sizes, numbers: Sequence[int]) -> Callable[[], None]:
        """State other sizes, in the constant itself where nothing else takes it; return a function that undoes it."""
        graph, node, index, source = place.graph, sizes.node, sizes.index, sizes.source
        before = node.inputs[index]
        value = Tensor.from_numpy(np.array(numbers), before.base_dtype)
        if source.is_constant and dict(source.uses) == {node: 1}:
            attrs = source.attrs
            source.set_attr("value", value)
            return lambda: setattr(source, "attrs", attrs)
        new = add_constant(graph, source.name, value, source.control_inputs, source.device)
        graph.set_input(node, index, new.output())
        self.replaced.append((graph, source))

        def undo() -> None:
            graph.set_input(node, index, before)
            graph.remove_node(new)

        return undo

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

    def _note(self, place: Place, sizes: _Sizes, numbers: Sequence[Any]) -> None:
        node = sizes.node
        self.changed.append(node)
        self.words.append(f"{place.path(node)}: {node.op} to {sizes.words} -> {_listed(numbers)}")

    def _rewrite_met(self) -> list[str] | None:
        """Rewrite tensors of the old number of rows that meet the batch; None if nothing meets any more.

        InvalidArgumentError names what cannot follow.
        """
        everywhere = self._with(2 * self.old)
        meets = [(place, node, values) for place in everywhere for node, values in self._meeting(place)]
        stuck: dict[str, None] = {}
        count = len(self.words)
        for place, node, values in meets:
            sources = [source for value in values for source in self._sources(everywhere, place, value)]
            why = place.inference.reasons.get(node.name, "two sizes meet")
            stuck |= {} if sources else {f"'{place.path(node)}' ({node.op}): {why}": None}
            stuck |= {self._fixed(at, value): None for at, value in sources if not self._remade(at, value)}
        if stuck and count == len(self.words):
            raise self._refused(list(stuck))
        return list(stuck) if meets else None

    def _meeting(self, place: Place) -> Iterator[tuple[Node, list[Output]]]:
        """Yield nodes at which a tensor of the old number of rows meets the batch, with the tensors of the old number."""
        for node in place.graph:
            sizes = _sizes_index(node)
            kept = [value for index, value in enumerate(node.inputs) if index != sizes and self._is_kept(place, value)]
            if node in self.inputs:
                continue  # a default may have another batch than is fed
            if node.name in place.inference.reasons and place.path(node) not in self.known:
                yield node, kept if len(kept) < len(node.inputs) else []
            elif has_fact(node.op, "merge") or self._is_loop(node):
                lost = [value for value in node.inputs if self._is_lost(place, node, value)]
                if lost:
                    yield node, [value for value in lost if value in kept]

    def _is_loop(self, node: Node) -> bool:
        kind = call_kind(self.graph.functions, node)
        return kind is not None and kind.form is Form.LOOP

    def _is_lost(self, place: Place, node: Node, value: Output) -> bool:
        """Return True where the result for an input of a loop or a Merge no longer has the rows of the input."""
        kind = call_kind(self.graph.functions, node)
        result = node.output(0 if kind is None else kind.arguments(node.inputs).index(value))
        times = self._batches_before(value)
        if times is None or self._rows_before(result) != times:
            return False
        shapes = [place.inference.shape(one) for one in (value, result)]
        rows = {shape[0] if shape.rank else None for shape in shapes}
        return rows not in ({times * self.old}, {2 * times * self.old})

    def _is_kept(self, place: Place, value: Output) -> bool:
        """Return True for a tensor whose rows are a multiple of the old batch, and the same with another batch."""
        times, spec = self._batches_before(value), place.inference.specs.get(value)
        return times is not None and spec is not None and bool(spec.shape.rank) and spec.shape[0] == times * self.old

    def _sources(self, everywhere: Sequence[Place], place: Place, value: Output) -> list[tuple[Place, Output]]:
        """Return the tensors that a tensor has its number of rows from, each with its place."""
        ends: dict[Output, Place] = {}
        stack, seen = [(place, value)], {value}
        while stack:
            at, value = stack.pop()
            before = [(at, one) for one in value.node.inputs] if any(has_fact(value.node.op, f) for f in _HANDED_ON) else []
            if value.node.is_argument and at.function is not None:
                before = list(self._arguments(everywhere, at, value.node))
            before = [(where, one) for where, one in before if self._is_kept(where, one)]
            if not before:
                ends[value] = at
            stack += [pair for pair in before if pair[1] not in seen]
            seen |= {one for _, one in before}
        return [(at, value) for value, at in ends.items()]

    def _arguments(self, everywhere: Sequence[Place], at: Place, argument: Node) -> Iterator[tuple[Place, Output]]:
        """Yield the values that the calls of a function pass for an argument."""
        function = at.function
        assert function is not None
        for place in everywhere:
            for node in place.graph:
                kind = call_kind(self.graph.functions, node)
                if kind is not None and any(reference.name == function.name for reference in kind.references(node)):
                    values = kind.arguments(node.inputs)
                    index = function.args.index(argument) - (len(function.args) - len(values))
                    if index >= 0:
                        yield place, values[index]

    def _remade(self, place: Place, value: Output) -> bool:
        """Make a tensor of the new number of rows, where it is made of sizes or of equal rows alone; True if so."""
        node, times = value.node, self._batches_before(value)
        sizes = _sizes_of(node, self.following)
        if times is None:
            return False
        if sizes is not None and self._times(sizes.first) == times:
            self._restate(place, sizes, times)
            return True
        return node.is_constant and self._repeated(place, node, times)

    def _repeated(self, place: Place, node: Node, times: int) -> bool:
        """Repeat the row of a constant of equal rows; False for other constants."""
        array = node.constant_value()
        if (place.graph, node) in self.replaced or not (array == array[:1]).all():
            return False
        self.words.append(f"{place.path(node)}: {_constant_words(node)} -> {self._shown(times)} rows")
        count = self._rows(place, node, times)
        with self._making(place.graph, f"{node.name}/batch/") as b:
            sizes = b.Pack([count, *map(np.int32, array.shape[1:])], name="sizes")
            rows = b.BroadcastTo(b.constant(array[:1], name="row"), sizes, name="repeated")
        place.graph.set_inputs(rows.node, rows.node.inputs, node.control_inputs)
        place.graph.replace_all_uses(node.output(), rows)
        self.replaced.append((place.graph, node))
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
            hint="change these nodes in the program that makes the graph, or cut the graph before them with --to",
        )  # fmt: skip


def _listed(numbers: Iterable[Any]) -> str:
    return f"[{','.join(map(str, numbers))}]"


def _specs(everywhere: Sequence[Place]) -> dict[Output, TensorSpec]:
    """Return the specs of all places."""
    return {value: spec for place in everywhere for value, spec in place.inference.specs.items()}


def _constant_words(node: Node) -> str:
    shape = node.attr("value").shape
    return f"a constant of {shape[0]} rows {Shape(shape)}"
