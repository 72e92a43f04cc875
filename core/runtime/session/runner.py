"""A run as a user orders a run: initialize, restore, assign, step, and the fetches of every step."""

from __future__ import annotations

import functools
import itertools
import re
import signal
import threading
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...building.builder import GraphBuilder
from ...graph.callers import called_functions
from ...graph.graph import Graph, Node, Output
from ...graph.model_objects import asset_variables
from ...graph.nearest_tensors import Kind, kind_of, kind_words, nearest_tensors
from ...graph.restore_nodes import READERS, assigned_handles, restored_resources, restored_values
from ...graph.table_fills import iterator_starts, table_fills
from ...graph.table_nodes import TableNodes, find_tables, saved_tables
from ...graph.traversal import reachable
from ...graph.variable_nodes import ASSIGN_OPS, VariableNodes, find_variables, initializer_ops, variable
from ...inference.input_pipelines import beginning
from ...registry.catalog import CATALOG
from ...registry.op_facts import has_fact
from ...support import dataclasses
from ...support.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from ...support.hints import Blank, Hint, command, option, step
from ...support.log import DEBUG, Stopwatch
from ...support.tensor_names import parse_tensor_name
from ...support.words import some
from ...types.dtypes import string, variant
from ...types.shapes import SCALAR, Shape, fits
from ...types.tensors import Tensor
from ..state.resources import Stored, Variable
from ..state.run_context import Hook
from ..state.variants import StoredVariant
from .session_like import SessionLike


class CaptureHook:
    """A hook that captures the values of some outputs, each under a name.

    A function that runs several times leaves the values of the last run. `inner` is another hook to call as well.
    """

    def __init__(self, outputs: Mapping[str, Output], inner: Hook | None = None) -> None:
        self._outputs = outputs
        self._inner = inner
        self._nodes = {output.node for output in outputs.values()}
        self._captured: dict[Node, Any] = {}

    def __call__(self, node: Node, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        result = call(*inputs) if self._inner is None else self._inner(node, call, inputs)
        if node in self._nodes:
            self._captured[node] = result
        return result

    def take(self) -> dict[str, Any]:
        """Return the values captured since the last call; FailedPreconditionError names a node that did not run."""
        values = {name: self._value(name, output) for name, output in self._outputs.items()}
        self._captured.clear()
        return values

    def _value(self, name: str, output: Output) -> Any:
        if output.node not in self._captured:
            raise FailedPreconditionError(
                f"'{name}' did not run: it is an argument, or not needed for the results of its function, or in a "
                f"branch not taken",
                node=output.node.name,
                op=output.node.op,
            )
        outputs = self._captured[output.node]
        value = outputs[output.index] if isinstance(outputs, tuple) else outputs
        # The array is copied, because a later kernel may overwrite it.
        return np.array(value) if isinstance(value, np.ndarray) else value


ASSIGN = {"assign": ASSIGN_OPS, "add": ("AssignAdd", "AssignAddVariableOp"),
          "sub": ("AssignSub", "AssignSubVariableOp")}  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class FetchedValue:
    """A tensor that a step fetched; no value where an operation was fetched."""

    name: str
    """The name that was asked for."""
    dtype: str | None
    """The name of the dtype; None for an operation."""
    shape: tuple[int, ...] | None
    """The sizes of the dimensions; None for an operation."""
    value: Any
    """The elements as nested lists; None for an operation."""


@dataclasses.dataclass(frozen=True, slots=True)
class StepResult:
    """The fetches of a step; steps are counted from 1."""

    step: int
    """The number of the step, from 1."""
    values: tuple[FetchedValue, ...]
    """The fetched values, in the order of the fetches."""


@dataclasses.dataclass(frozen=True, slots=True)
class Restored:
    """The variables that a state filled, the variables without a value in the state, names that the graph does not know, and
    the tables that the state filled. Tables are also among the absent names. Positions of iterators in the state are not
    restored.
    """

    restored: tuple[str, ...]
    absent: tuple[str, ...]
    unknown: tuple[str, ...]
    tables: tuple[str, ...] = ()
    positions: tuple[str, ...] = ()
    """The names under which the state has positions of iterators."""
    nearest: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """The tensor of the state, by the absent variable that it may belong to."""
    resources: tuple[str, ...] = ()
    """The resources that are neither variables nor tables, such as tree ensembles, and that the state filled."""


@dataclasses.dataclass(frozen=True, slots=True)
class Orders:
    """The work of each step: `fetches` maps the names to show to tensor names, `targets` are operations."""

    fetches: Mapping[str, str]
    feeds: Mapping[str, Any]
    targets: Sequence[str] = ()
    steps: int | None = 1
    """How often to run; None for as long as there are elements."""
    fetch_every: int = 1
    hook: Hook | None = None
    """Called around every kernel of the steps."""
    inside: Mapping[str, Output] = dataclasses.field(default_factory=dict)
    """Outputs of nodes in functions, by names among the names of `fetches`; the fetches tell the calls of the functions."""


@dataclasses.dataclass(frozen=True, slots=True)
class VariablePart:
    """A variable that is a part of a whole tensor: the slice is a text such as `10 4 0,5:-`."""

    variable: str
    whole: str
    slice_text: str
    restoring: Node
    """The node that restores the part."""


def partitions(graph: Graph) -> Iterator[VariablePart]:
    """Yield the parts of partitioned variables, which the graph's Restore ops tell."""
    for restoring in graph:
        for output, name, spec in restored_values(restoring):
            if spec.split():
                yield from (VariablePart(handle.node.name, name, spec, restoring) for handle in assigned_handles(output))


def _slices(graph: Graph, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the slices of partitioned variables whose state is whole."""
    parts = [part for part in partitions(graph) if part.whole in tensors and part.variable not in tensors]
    return {part.variable: _sliced(tensors[part.whole], part.slice_text, part.restoring) for part in parts}


def _sliced(whole: Tensor, spec: str, node: Node) -> Tensor:
    """Return the part of a tensor that a slice such as `10 4 0,5:-` names; InvalidArgumentError for no slice."""
    parts = [_EXTENT.fullmatch(part) for part in spec.split()[-1].split(":")]
    if not all(parts) or len(parts) > len(whole.shape):
        raise InvalidArgumentError(f"'{spec}' is not a slice of shape {Shape(whole.shape)}", node=node.name, op=node.op)
    index = tuple(_extent(part) for part in parts if part is not None)
    shape = (*[len(range(size)[extent]) for size, extent in zip(whole.shape, index)], *whole.shape[len(index) :])
    return Tensor(whole.dtype, shape, lambda: whole.numpy()[index])


def _extent(part: re.Match[str]) -> slice:
    start, length = int(part[1] or 0), part[2]
    return slice(start, None if length is None else start + int(length))


_EXTENT: Final = re.compile(r"-|([0-9]{1,18}),(?:-|([0-9]{1,18}))")
"""A dimension of a slice: `start,length`, or `-` for the whole dimension."""


def _is_position(tensor: Tensor) -> bool:
    """Return True for the position of an iterator: other variants that a checkpoint holds are lists of tensors."""
    is_read = tensor.dtype is variant and tensor.lack is None
    return is_read and all(isinstance(item, StoredVariant) for item in tensor.read().ravel().tolist())


def _has_contents(table: TableNodes, tensors: Mapping[str, Tensor]) -> bool:
    """Return True if a state holds a table; InvalidArgumentError if the state has only the keys or only the values."""
    there = [entry in tensors for entry in table.entries]
    if any(there) and not all(there):
        lacking = table.entries[there.index(False)]
        raise InvalidArgumentError(f"the state lacks '{lacking}' of the table", node=table.node.name, op=table.node.op)
    return all(there)


class Runner:
    """A session, and the actions of a user on the session."""

    def __init__(self, session: SessionLike) -> None:
        self.session = session
        self.graph = session.graph
        self.exhausted: str | None = None
        self._builder: GraphBuilder | None = None
        self._writing: SessionLike = session
        self._writers: dict[tuple[str, str], tuple[str, str]] = {}
        self._accesses: dict[str, _TableAccess] = {}
        self._readers: dict[str, tuple[str, list[Output]]] = {}

    @functools.cached_property
    def variables(self) -> dict[str, VariableNodes]:
        """The variables of the graph by name."""
        return find_variables(self.graph)

    @functools.cached_property
    def tables(self) -> dict[str, TableNodes]:
        """The tables of the graph whose contents a state holds, by name."""
        return saved_tables(self.graph)

    def initialize(self, operation: str | None = None) -> tuple[str, ...]:
        """Run an initializer, by default all initializers of the graph; return the names of the nodes that ran.

        Raises FailedPreconditionError if the graph has no initializer.
        """
        if operation is not None:
            name = self.graph.node(operation).name
            self.session.run([name])
            return (name,)
        names = (*self.fill(), *self.begin_iterators())  # in this order: datasets may read variables and tables
        if not names:
            problem = (
                "the graph has no initializer for its variables" if self.variables else "nothing to initialize: no variables"
            )
            ways = step("assign", variable=Blank("VARIABLE")), " or ", step("state", path=Blank("FILE"))
            raise FailedPreconditionError(problem, hint=Hint("set values with ", *ways))
        return names

    def fill(self) -> tuple[str, ...]:
        """Initialize the variables, then the tables; iterators keep their state. Return the names of the nodes that ran."""
        names = initializers(self.graph)
        return (*self._run_all(names), *self._run_all(table_initializers(self.graph, names)))

    def begin_iterators(self) -> tuple[str, ...]:
        """Begin a pass of each iterator that needs no feed; return the names of the nodes that ran."""
        return self._run_all(tuple(node.name for node in iterator_starts(self.graph).values()))

    def _run_all(self, names: tuple[str, ...]) -> tuple[str, ...]:
        if names:
            self.session.run(list(names))
        return names

    def restore(self, tensors: Mapping[str, Tensor]) -> Restored:
        """Assign every tensor that has the name of a variable, and fill the tables whose keys and values are there.

        InvalidArgumentError if the state has nothing of the graph, or only the keys or the values of a table. Paths of a
        SavedModel's files stay as they are.
        """
        paths = asset_variables(self.graph)
        variables = {name: nodes for name, nodes in self.variables.items() if name not in paths}
        # A checkpoint holds a partitioned variable as one tensor, whose slices the graph's variables are.
        tensors = {**tensors, **_slices(self.graph, tensors)}
        matching = [name for name in tensors if name in variables]
        filled = {name: table for name, table in self.tables.items() if _has_contents(table, tensors)}
        known = {*self.variables, *(entry for table in self.tables.values() for entry in table.entries)}
        resources = {
            node: keys for node, keys in restored_resources(self.graph) if all(key in tensors for key in keys.values())
        }
        known |= {key for keys in resources.values() for key in keys.values()}
        # A graph without variables takes any state: nothing is lost.
        if not matching and not filled and not resources and known:
            raise self._no_value(tensors)
        values = {name: self._to_assign(tensors[name]) for name in matching}
        self._write([(variables[name], value) for name, value in values.items()], "assign")
        self._fill([(table, [tensors[entry].read() for entry in table.entries]) for table in filled.values()])
        self._restore_resources(resources, tensors)
        absent = tuple(name for name in (*variables, *self.tables) if name not in tensors and name not in filled)
        unknown = [name for name in tensors if name not in known]
        positions = tuple(name for name in unknown if _is_position(tensors[name]))
        others = tuple(name for name in unknown if name not in positions)
        nearest = self._nearest(absent, {name: tensors[name] for name in others})
        owners = tuple(node.inputs[0].node.name for node in resources)
        return Restored(tuple(matching), absent, others, tuple(filled), positions, nearest, owners)

    def _restore_resources(self, resources: Mapping[Node, Mapping[Output, str]], tensors: Mapping[str, Tensor]) -> None:
        """Run the nodes that restore resources, on the tensors of a state."""
        feeds = {value.name: tensors[key].read() for keys in resources.values() for value, key in keys.items()}
        if resources:
            self.session.run([node.name for node in resources], feeds)

    def kind(self, name: str) -> Kind:
        """Return the dtype and the shape of a variable."""
        return self.variables[name].dtype, self.variables[name].shape

    def _nearest(self, absent: Collection[str], others: Mapping[str, Tensor]) -> dict[str, str]:
        """Return the tensors of a state that are most like the variables which the state lacks."""
        lacking = {name: self.kind(name) for name in absent if name in self.variables}
        return nearest_tensors(lacking, {name: kind_of(tensor) for name, tensor in others.items()})

    def _no_value(self, tensors: Mapping[str, Tensor]) -> InvalidArgumentError:
        """Return the error for a state without any variable of the graph."""
        theirs = some([f"{name} {kind_words(kind_of(tensor))}" for name, tensor in tensors.items()])
        mine = some([f"{name} {kind_words(self.kind(name))}" for name in self.variables] or self.tables)
        likely = [f"{other}={name}" for name, other in self._nearest(self.variables, tensors).items()]
        proposal = ("; perhaps, as pairs for ", option("map"), f": {some(likely)}") if likely else ()
        hint = Hint(f"the state has {theirs}; the graph has {mine}", *proposal)
        return InvalidArgumentError("the state has no value of any variable of the graph", hint=hint)

    def _to_assign(self, tensor: Tensor) -> Any:
        """Return a value for a variable. In this process the value is read from its file when the variable is read."""
        return Stored(tensor) if self.session.takes_hooks else tensor.read()

    def assign(self, name: str, value: Callable[[VariableNodes], Any], mode: str = "assign") -> None:
        """Assign to, add to or subtract from a variable by an op of the graph's own kind; `value` returns the value."""
        nodes = self.variables.get(name) or variable(self.graph, name)
        self._write([(nodes, value(nodes))], mode)

    def state(self) -> dict[str, Tensor]:
        """Return the values of all initialized variables by name, and the contents of tables and other resources that a
        checkpoint holds.

        A table has an entry for its keys and an entry for its values (`TableNodes.entries`), in the order of TensorFlow's
        export. Paths of a SavedModel's files are left out: they are true only where the model lies.
        """
        paths = asset_variables(self.graph)
        held = [item for item in self.session.held_variables() if item.is_initialized and item.name not in paths]
        values = {item.name: item.constant() for item in held if item.dtype in (string, variant) or not item.dtype.is_object}
        return {**values, **self._contents(self.tables.values()), **self._resource_contents()}

    def contents(self) -> dict[str, Tensor]:
        """Return the `state`, and the contents of the tables that an initializer has filled."""
        others = [table for name, table in find_tables(self.graph).items() if name not in self.tables]
        filled = [table for table, size in zip(others, self._sizes(others)) if size]
        return {**self.state(), **self._contents(filled)}

    def steps(self, orders: Orders) -> Iterator[StepResult]:
        """Run the steps in turn; a result without values where nothing was to be fetched.

        An iterator without further elements ends the steps, and `exhausted` names the node that asked for an element.
        Without targets, a step runs the fetches, whether they are shown or not.
        """
        watch = CaptureHook(orders.inside, orders.hook) if orders.inside else None
        if orders.steps is None:
            self._check_end([*orders.fetches.values(), *orders.targets])
        for number in itertools.count(1) if orders.steps is None else range(1, orders.steps + 1):
            # The last step is always shown: its values are what remains.
            is_fetched = number % orders.fetch_every == 0 or number == orders.steps
            names = list(orders.fetches.values()) if is_fetched or not orders.targets else []
            try:
                clock = Stopwatch()
                values = self.session.run([*names, *orders.targets], orders.feeds, hook=watch or orders.hook)
                clock.tell("step %d", number, level=DEBUG)
            except OutOfRangeError as error:
                # An empty pipeline is a fault of its own, and a closed queue is no end of a pipeline.
                if number == 1 or not has_fact(error.op or "", "next_element"):
                    raise
                self.exhausted = error.node
                return
            shown = dict(zip(orders.fetches, values)) | (watch.take() if watch and is_fetched else {})
            yield StepResult(number, tuple(map(_fetched, shown, shown.values())) if is_fetched else ())

    def _check_end(self, names: Sequence[str]) -> None:
        """Raise InvalidArgumentError if no iterator gives elements to these fetches and targets: nothing would end the
        steps.
        """
        nodes = reachable(self.graph.node(parse_tensor_name(name)[0]) for name in names)
        bodies = (self.graph.functions[name].body for name in called_functions(self.graph, nodes))
        if not any(has_fact(node.op, "next_element") for node in itertools.chain(nodes, *bodies)):
            problem = f"no iterator gives elements to {some(names)}, so that the steps would never end"
            raise InvalidArgumentError(problem, hint=Hint("give a number of steps with ", option("steps")))

    def _write(self, values: Sequence[tuple[VariableNodes, Any]], mode: str) -> None:
        g = self._extended()
        feeds: dict[str, Any] = {}
        operations = []
        for nodes, value in values:
            _check_shape(nodes, value)
            # The nodes that write are added once: a graph must not grow with each assignment.
            key = (nodes.name, mode)
            if key not in self._writers:
                fed, operation = _write_nodes(g, nodes, mode)
                self._writers[key] = fed.name, operation.name
            feed, name = self._writers[key]
            feeds[feed] = value
            operations.append(name)
        self._writing.run(operations, feeds)

    def _fill(self, contents: Sequence[tuple[TableNodes, Sequence[Any]]]) -> None:
        """Replace the contents of tables by keys and values."""
        nodes = [self._table_nodes(table) for table, _ in contents]
        parts = [(part, value) for made, (_, values) in zip(nodes, contents) for part, value in zip(made.fed, values)]
        if nodes:
            self._writing.run([made.fill for made in nodes], dict(parts))

    def _contents(self, tables: Collection[TableNodes]) -> dict[str, Tensor]:
        """Return the keys and values of tables by the names of the entries."""
        entries = {entry: name for table in tables for entry, name in zip(table.entries, self._table_nodes(table).exported)}
        dtypes = [dtype for table in tables for dtype in (table.key_dtype, table.value_dtype)]
        values = self._writing.run(list(entries.values())) if entries else ()
        return {entry: Tensor.from_numpy(value, dtype) for entry, value, dtype in zip(entries, values, dtypes)}

    def _resource_contents(self) -> dict[str, Tensor]:
        """Return what resources such as tree ensembles hold, by the checkpoint keys."""
        restoring = dict(restored_resources(self.graph))
        for node in restoring:
            if node.name not in self._readers:
                self._readers[node.name] = _reading_nodes(self._extended(), node)
        readers = {node: self._readers[node.name] for node in restoring}
        created = self._writing.run([test for test, _ in readers.values()]) if readers else ()
        contents = {
            key: output
            for (node, (_, outputs)), is_created in zip(readers.items(), created)
            for key, output in zip(restoring[node].values(), outputs)
            if is_created
        }
        values = self._writing.run([output.name for output in contents.values()]) if contents else ()
        return {key: Tensor.from_numpy(value, contents[key].dtype) for key, value in zip(contents, values)}

    def _sizes(self, tables: Sequence[TableNodes]) -> Sequence[Any]:
        """Return the numbers of entries of tables."""
        names = [self._table_nodes(table).size for table in tables]
        return self._writing.run(names) if names else ()

    def _table_nodes(self, table: TableNodes) -> _TableAccess:
        """Return the nodes that access a table, added at first use."""
        if table.name not in self._accesses:
            self._accesses[table.name] = _table_access(self._extended(), table)
        return self._accesses[table.name]

    def _extended(self) -> GraphBuilder:
        """Return a builder on a copy of the graph, which the session `_writing` runs with the session's state."""
        if self._builder is None:
            from ...building.builder import GraphBuilder  # lazy: only values that are assigned or saved need nodes

            self._builder = GraphBuilder(self.graph.copy())
            self._writing = self.session.on_graph(self._builder.graph)
        return self._builder


def _reading_nodes(g: GraphBuilder, restoring: Node) -> tuple[str, list[Output]]:
    """Add the nodes that tell whether a resource has contents, and that return the contents; return (test, contents)."""
    # Nodes of the graph's own kind read the contents, because only kernels know what such a resource holds.
    test, read = READERS[restoring.op]
    handle = g.graph.node(restoring.inputs[0].node.name).output()
    count = len(restoring.inputs) - 1
    attributes = {"num_features": count} if "num_features" in CATALOG[read].attrs else {}
    reader = g.add(read, [handle], attributes)
    return g.add(test, [handle], {}).output().name, [reader.output(i) for i in range(count)]


@dataclasses.dataclass(frozen=True, slots=True)
class _TableAccess:
    """The names of the nodes that access a table: fed keys and values, the op that fills, and the contents and the size."""

    fed: tuple[str, str]
    fill: str
    exported: tuple[str, str]
    size: str


def _table_access(g: GraphBuilder, table: TableNodes) -> _TableAccess:
    """Add the nodes that access a table."""
    handle = g.graph.node(table.node.name).output()
    keys, values = (g.Placeholder(dtype=dtype, name="tfg_table/value") for dtype in (table.key_dtype, table.value_dtype))
    fill = g.apply(table.op("Import"), handle, keys, values, name="tfg_table/fill")
    kinds = {"Tkeys": table.key_dtype, "Tvalues": table.value_dtype}
    exported = g.apply(table.op("Export"), handle, name="tfg_table/contents", **kinds)
    size = g.apply(table.op("Size"), handle, name="tfg_table/size")
    return _TableAccess((keys.name, values.name), fill.name, (exported[0].name, exported[1].name), size.name)


def _write_nodes(g: GraphBuilder, nodes: VariableNodes, mode: str) -> tuple[Output, Node]:
    """Add a placeholder and the op that writes the fed value."""
    by_reference, by_resource = ASSIGN[mode]
    fed = g.Placeholder(dtype=nodes.dtype, name="tfg_assign/value")
    handle = g.graph.node(nodes.node.name).output()
    if nodes.is_resource:
        return fed, g.apply(by_resource, handle, fed, name="tfg_assign/write")
    # Shapes are validated if the graph's own assignment does so: a variable without a fixed shape takes values of any shape.
    options = {"validate_shape": _validates_shape(nodes)} if mode == "assign" else {}
    return fed, g.apply(by_reference, handle, fed, name="tfg_assign/write", **options).node


def _validates_shape(nodes: VariableNodes) -> bool:
    """Return True if the graph's own assignment validates the shape."""
    return nodes.initializer is None or bool(nodes.initializer.attr("validate_shape", True))


def _check_shape(nodes: VariableNodes, value: Any) -> None:
    """Check the shape of an assigned value.

    A resource variable's assignment checks nothing at run time, since TensorFlow refuses a wrong shape when the graph is
    built.
    """
    if not nodes.is_resource and not _validates_shape(nodes):
        return
    if not fits(np.shape(value), nodes.shape):
        raise InvalidArgumentError(
            f"a value of shape {Shape(np.shape(value))} cannot be assigned to a variable of shape {nodes.shape}",
            node=nodes.node.name,
            op=nodes.node.op,
        )


def initializers(graph: Graph) -> tuple[str, ...]:
    """Return the initializer of a MetaGraph, the graph's own init ops, or the initializers of all its variables.

    The result is empty if the graph has none of them.
    """
    if graph.meta is not None and graph.meta.init_op:
        return (graph.meta.init_op,)
    ops = initializer_ops(graph) or tuple(v.initializer for v in find_variables(graph).values() if v.initializer)
    return tuple(node.name for node in ops)


def table_initializers(graph: Graph, others: Sequence[str]) -> tuple[str, ...]:
    """Return the nodes that fill tables.

    Nodes that `others` run, nodes that need a feed and nodes whose inputs read files are left out.
    """
    filled = reachable([graph.node(name.partition(":")[0]) for name in others])
    behind = {node: reachable([node]) - {node} for node in table_fills(graph) if node not in filled}
    return tuple(
        node.name for node, sources in behind.items() if not any(has_fact(source.op, "reads_files") for source in sources)
    )


def _fetched(shown: str, value: Any) -> FetchedValue:
    if value is None:
        return FetchedValue(shown, None, None, None)
    # NumPy's own strings drop zeros at their ends, as a serialized tensor may have.
    array = np.asarray(value, object) if isinstance(value, bytes) else np.asarray(value)
    held = array.ravel()[0] if array.dtype == object and array.size == 1 else None
    if isinstance(held, Variable):
        return _fetched(shown, held.read())
    if array.dtype == object and any(not isinstance(item, bytes) for item in array.ravel()[:1].tolist()):
        return FetchedValue(shown, type(array.ravel()[0]).__name__, array.shape, str(array.ravel()[0]))
    dtype = "string" if array.dtype.kind in "OS" else Tensor.from_numpy(array).dtype.name
    return FetchedValue(shown, dtype, array.shape, array)


class KeyboardInterruption:
    """Ctrl-C ends a run after the step that is under way; pressed again, at once."""

    def __init__(self, notify: Callable[[], None]) -> None:
        self.requested = False
        self._notify = notify
        self._previous: Any = None

    def __enter__(self) -> KeyboardInterruption:
        # Python takes handlers of signals from the main thread alone.
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _handle(self, number: int, frame: types.FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        self._notify()


def elements_of(runner: Runner, name: str, count: int) -> list[StepResult]:
    """Return the first `count` elements of an input pipeline, each as a step; the session's variables must be initialized or
    restored before.

    `name` is a dataset, an iterator, or a node that takes elements from an iterator. Raises InvalidArgumentError if the node
    is no part of a pipeline, or if several nodes begin its iterator. Raises OutOfRangeError if the pipeline is empty.
    """
    g = GraphBuilder(runner.graph.copy())
    begin, following = _asking(g, g.graph.node(name))
    asking = Runner(runner.session.on_graph(g.graph))
    if begin is not None:
        asking.session.run(begin.name)
    fetches = {f"component {i}": output.name for i, output in enumerate(following.outputs())}
    return list(asking.steps(Orders(fetches, {}, steps=count)))


def _asking(g: GraphBuilder, node: Node) -> tuple[Node | None, Node]:
    """Return (the node that begins a pass, the node that returns the next element), added to the graph where missing.

    The first is None if nothing has to begin a pass.
    """
    if has_fact(node.op, "next_element"):
        node = node.inputs[0].node
    spec = _spec(node)
    if node.output_dtypes[0].name == "variant":
        iterator = g.IteratorV2(name="tfg_elements/iterator", shared_name="", container="", **spec)
        return g.MakeIterator(node.output(), iterator, name="tfg_elements/begin"), _next(g, iterator, spec)
    begun = beginning(node)
    # Which dataset the iterator runs over depends on the node that ran last.
    if len(begun) > 1:
        datasets = ", ".join(user.inputs[0].node.name for user in begun)
        raise InvalidArgumentError(
            f"several datasets ({len(begun)}) feed iterator '{node.name}'", hint=f"name a dataset: {datasets}"
        )
    return (begun[0] if begun else None), _next(g, node.output(), spec)


def _next(g: GraphBuilder, iterator: Output, spec: dict[str, Any]) -> Node:
    return g.add("IteratorGetNext", [iterator], spec, "tfg_elements/next")


def _spec(node: Node) -> dict[str, Any]:
    """Return the dtypes and shapes of elements as attributes."""
    types = node.attr("output_types", None) or node.attr("Toutput_types", None)
    if not types and has_fact(node.op, "reads_files"):
        return {"output_types": [string], "output_shapes": [SCALAR]}
    if not has_fact(node.op, "input_pipeline") or not types:
        raise InvalidArgumentError(
            f"'{node.name}' ({node.op}) is neither a dataset nor an iterator",
            hint=Hint(command("explain", Blank("GRAPH")), " shows the input pipelines"),
        )
    return {"output_types": types, "output_shapes": node.attr("output_shapes")}
