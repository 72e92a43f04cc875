"""Queries of a dataset as a whole, and datasets as graphs: the nodes that made them, with their inputs as constants."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...codecs import wire
from ...datasets.batches import Batch, ParallelBatch
from ...datasets.dataset import Dataset, Origin, SameElements, array_of, held_to, require_index, tree
from ...datasets.filter_take_skip import Concatenate, Filter, Repeat, Shard, Skip, Take
from ...datasets.mapping import FlatMap, Zip
from ...datasets.ordering import Shuffle
from ...datasets.rewriting import finalized
from ...datasets.run_options import Options
from ...datasets.seeds import Seeds
from ...datasets.snapshots import MemoryCache
from ...graph.callers import function_references, reached_functions
from ...graph.graph import Function, Graph, Node, Output
from ...graph.graph_services import graph_services
from ...graph.node_making import add_constant
from ...graph.purity import has_state
from ...registry.registry import NOT_DIFFERENTIABLE, kernel, shaped, without_gradient, zero_flops
from ...runtime.state.edge_values import is_of, scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Readable
from ...support import dataclasses
from ...support.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ...types.dtypes import DType
from ...types.shapes import Shape
from ...types.tensors import FuncRef, Tensor
from ..shared.resource_access import resource
from ..state.tables import StaticTable
from ._datasets import DUMMY, LOOKUPS, GraphFunction, bytes_in, dataset_of, number_in


@kernel("DatasetCardinality", "ExperimentalDatasetCardinality", shape="-> ()", facts=("input_pipeline",))
def dataset_cardinality(input_dataset: Array, *, cardinality_options: str = "") -> Result:
    """Return the number of elements, -1 for an infinite dataset and -2 for an unknown number."""
    dataset = dataset_of(input_dataset)
    options = cardinality_options.encode("utf-8", "surrogateescape")
    levels = wire.integers(options, 1)
    if isinstance(dataset, FlatMap) and levels and levels[-1] >= _MODERATE:
        return np.int64(dataset.counted())
    return np.array(dataset.cardinality() % 2**64, np.uint64).astype(np.int64)  # as TensorFlow's products and sums wrap


_MODERATE = 2
"""The lowest level at which functions are called to compute a cardinality."""


@kernel("DatasetToSingleElement", facts=("input_pipeline", "takes_all_elements"))
def dataset_to_single_element(
    ctx: KernelContext, dataset: Array, *, output_types: list[DType], output_shapes: list[Shape]
) -> Sequence[Result]:
    """The only element; InvalidArgumentError if there is none, or more."""
    pull = finalized(dataset_of(dataset)).begin()
    element = pull()
    if element is None:
        raise InvalidArgumentError("Dataset was empty.")
    # A second element is asked for, as TensorFlow refuses a dataset that has one.
    if pull() is not None:
        raise InvalidArgumentError("Dataset had more than one element.")
    return held_to(element, output_types, output_shapes)


@kernel("ReduceDataset", gradient=NOT_DIFFERENTIABLE, facts=("input_pipeline", "takes_all_elements"))
def reduce_dataset(
    ctx: KernelContext,
    input_dataset: Array,
    initial_state: list[Any],
    captured: list[Any],
    *,
    f: FuncRef,
    output_types: list[DType],
    output_shapes: list[Shape],
) -> Sequence[Result]:
    """Fold the function over the elements from an initial state."""
    run, state = GraphFunction(ctx, "f", f, captured).of_values(), list(initial_state)
    for element in finalized(dataset_of(input_dataset)):
        state = run([*state, *element])
    # Only the last state is held to the declared shapes: in between a state may have any.
    return held_to(tuple(state), output_types, output_shapes)


@kernel("GetElementAtIndex", facts=("observes_pipeline", "input_pipeline"))
def get_element_at_index(
    dataset: Array, index: Array, *, output_types: list[DType], output_shapes: list[Shape]
) -> Sequence[Result]:
    """The element of that place; OutOfRangeError if there is none."""
    source, place = dataset_of(dataset), number_in(index, "index")
    # Before the search: a dataset without random access makes all elements up to the place.
    if source.cardinality() >= 0:
        require_index(place, source.cardinality())
    return held_to(source.element(place), output_types, output_shapes)


@kernel("ComputeBatchSize", shape="-> ()", facts=("input_pipeline",))
def compute_batch_size(input_dataset: Array) -> Result:
    """Return the size of all batches in a dataset, -1 if its ops do not determine the size."""
    return np.int64(_batch_size(dataset_of(input_dataset)))


def _batch_size(dataset: Dataset) -> int:
    if isinstance(dataset, _SAME_BATCHES):
        return _batch_size(dataset.source)
    if isinstance(dataset, Zip | Concatenate):
        sizes = {_batch_size(source) for source in dataset.inputs}
        return sizes.pop() if len(sizes) == 1 else -1
    return dataset.size if isinstance(dataset, Batch) and not isinstance(dataset, ParallelBatch) else -1


_SAME_BATCHES = (SameElements, Filter, Repeat, Shard, Shuffle, Skip, Take)
"""Datasets whose elements are elements of their input, unchanged."""


@kernel("InitializeTableFromDataset", facts=("side_effect", "initializes_table", "input_pipeline", "takes_all_elements"))
def initialize_table_from_dataset(table_handle: Any, dataset: Array) -> None:
    """Fill a table with the pairs that a dataset gives."""
    table = resource(table_handle, StaticTable)
    # All pairs are read and checked before the table changes.
    pairs = list(finalized(dataset_of(dataset)))
    expected = (table.key_dtype, table.value_dtype)
    for pair in pairs:
        if len(pair) != 2 or not all(is_of(array_of(part), dtype) for part, dtype in zip(pair, expected)):
            actual = [array_of(component).dtype for component in pair]
            raise InvalidArgumentError(f"a table of {table.key_dtype} and {table.value_dtype} cannot be filled with {actual}")
        if any(np.ndim(part) for part in pair):
            raise InvalidArgumentError("keys and values of a table must be scalars")
    keys, values = zip(*pairs) if pairs else ((), ())
    columns = zip((keys, values), expected)
    table.initialize(*[object_array(list(c), (-1,)) if t.is_object else np.array(c, t.numpy) for c, t in columns])


@kernel("CompressElement", shape="-> ()", facts=("input_pipeline",))
def compress_element(components: list[Any]) -> Array:
    """Return an element in a variant. TensorFlow compresses the element, but only UncompressElement could see a difference."""
    return scalar_object(CompressedElement(tuple(map(array_of, components))))


@kernel("UncompressElement")
def uncompress_element(compressed: Array, *, output_types: list[DType]) -> Sequence[Result]:
    """The components of an element in a variant."""
    element = compressed.item() if np.ndim(compressed) == 0 else None
    if not isinstance(element, CompressedElement):
        raise InvalidArgumentError("Tensor does not contain a compressed element")
    component_dtypes = [component.dtype for component in element.components]
    if len(component_dtypes) != len(output_types) or not all(map(is_of, element.components, output_types)):
        raise FailedPreconditionError(f"the element holds {component_dtypes}, not {list(map(str, output_types))}")
    return element.components


@dataclasses.dataclass(frozen=True, slots=True)
class CompressedElement:
    """An element as a single value."""

    components: tuple[Any, ...]


@kernel("WrapDatasetVariant", "UnwrapDatasetVariant", shape="-> ()", facts=("input_pipeline",))
def wrap_dataset_variant(input_handle: Array) -> Array:
    """The dataset."""
    # TensorFlow wraps a dataset so that its variant can be copied to another device and back. Here there is one device.
    return scalar_object(dataset_of(input_handle))


_SCALARS = (
    "CompressElement", "ComputeBatchSize", "DatasetCardinality", "ExperimentalDatasetCardinality", "WrapDatasetVariant",
    "UnwrapDatasetVariant",
)  # fmt: skip
_TAKEN = ("DatasetToSingleElement", "GetElementAtIndex", "UncompressElement")
_ELEMENTS = ("ReduceDataset", *_TAKEN)


shaped("-> {output_shapes}...", *_ELEMENTS)


without_gradient("InitializeTableFromDataset", *_SCALARS, *_TAKEN)
zero_flops("InitializeTableFromDataset", *_SCALARS, *_ELEMENTS)


_RESULT = "dataset"
_FAIL = 2
"""The policy under which state that a graph cannot hold is an error."""
_AROUND: Final = b""
"""The hash of a loop's node while the hashes of its ancestors are computed; cuts the cycle."""


def graph_of(dataset: Dataset, keeps_devices: bool = True) -> Graph:
    """Return a graph whose `_Retval` is the dataset; UnimplementedError if a part was not made by a node."""
    writer = _DatasetNodes(keeps_devices)
    output = writer.dataset(dataset)
    writer.graph.add_node(_RESULT, "_Retval", [output], (), {"T": dtypes.variant, "index": 0})
    return writer.graph


class _DatasetNodes:
    """A builder of nodes for datasets and their inputs, each node once."""

    def __init__(self, keeps_devices: bool) -> None:
        self.graph = Graph()
        self._keeps_devices = keeps_devices
        self._made: dict[int, Output] = {}

    def dataset(self, dataset: Dataset) -> Output:
        """Return the node that makes the dataset, after the nodes of its inputs."""
        origin = dataset.origin
        if origin is None:
            raise UnimplementedError(f"{dataset.kind}Dataset does not support serialization")
        # By identity: a cache or a table that two datasets share must stay one. `dataset` keeps all of them alive, so that no
        # id comes twice.
        if id(dataset) not in self._made:
            inputs = [self._value(value, origin.node, i) for i, value in enumerate(origin.inputs)]
            self._take_functions(origin)
            device = origin.node.device if self._keeps_devices else ""
            node = self._add(origin.node.op, inputs, dict(origin.node.attrs), device)
            self._made[id(dataset)] = node.output()
        return self._made[id(dataset)]

    def _add(self, op: str, inputs: Iterable[Output], attrs: dict[str, Any], device: str = "") -> Node:
        return self.graph.add_node(self.graph.unique_name(op), op, tuple(inputs), (), attrs, device)

    def _take_functions(self, origin: Origin) -> None:
        library = origin.library
        for reference in function_references(origin.node):
            function = library.function(reference.name)
            for name in (reference.name, *reached_functions(library.functions, function.body)):
                self.graph.functions[name] = library.functions[name]

    def _value(self, value: Any, node: Node, index: int) -> Output:
        dtype = node.inputs[index].base_dtype
        value = value.read() if isinstance(value, Readable) else value
        if not dtype.is_object or dtype is dtypes.string:
            return self._constant(value, dtype)
        held = value.item() if isinstance(value, np.ndarray) and value.size == 1 else value
        if isinstance(held, Dataset):
            return self.dataset(held)
        if id(held) not in self._made:
            self._made[id(held)] = self._resource(held, node)
        return self._made[id(held)]

    def _constant(self, value: Any, dtype: DType) -> Output:
        return add_constant(self.graph, "Const", Tensor.from_numpy(np.asarray(value), dtype)).output()

    def _resource(self, held: Any, node: Node) -> Output:
        """Return a node that makes a resource like the dataset's input."""
        if isinstance(held, Seeds):
            if held is DUMMY:
                return self._add("DummySeedGenerator", (), {}).output()
            # A seed drawn by chance has 64 bits without a sign, and the node's input is signed.
            pair = [self._constant(np.uint64(seed % 2**64).astype(np.int64), dtypes.int64) for seed in held.pair]
            return self._add(
                "AnonymousSeedGenerator", [*pair, self._constant(np.bool_(held.renewed), dtypes.bool_)], {}
            ).output()
        if isinstance(held, MemoryCache):
            # A graph begins with an empty cache: elements of this process are no part of it.
            return self._add("DummyMemoryCache", (), {}).output()
        if isinstance(held, StaticTable):
            return self._table(held)
        raise UnimplementedError(
            f"a dataset that takes a {type(held).__name__} does not support serialization", node=node.name
        )

    def _table(self, table: StaticTable) -> Output:
        types = {"key_dtype": table.key_dtype, "value_dtype": table.value_dtype}
        made = self._add("AnonymousHashTable", (), types)
        columns = [self._constant(*part) for part in zip(table.export(), (table.key_dtype, table.value_dtype))]
        filled = self._add(
            "LookupTableImportV2", [made.output(), *columns], {"Tin": table.key_dtype, "Tout": table.value_dtype}
        )
        # Whoever takes the handle waits through this node until the table is filled.
        handle = self._add("Identity", [made.output()], {"T": dtypes.resource})
        self.graph.add_control_input(handle, filled)
        return handle.output()


def _require_no_state(dataset: Dataset) -> None:
    """FailedPreconditionError if a function of the pipeline has a state that a graph does not hold."""
    for part in tree(dataset):
        origin = part.origin
        # Lookups may stay, as a table travels in the graph as constants.
        if origin is not None and any(has_state(origin.library, f.name, LOOKUPS) for f in function_references(origin.node)):
            raise FailedPreconditionError(f"a function of '{origin.node.name}' is stateful", node=origin.node.name)


@kernel("DatasetToGraph", shape="-> ()", facts=("input_pipeline", "observes_pipeline"), arithmetic=False)
def dataset_to_graph(input_dataset: Array, *, allow_stateful: bool, strip_device_assignment: bool) -> Array:
    """The GraphDef of a dataset."""
    return _graph_def(input_dataset, allow_stateful, strip_device_assignment)


@kernel("DatasetToGraphV2", shape="-> ()", facts=("input_pipeline", "observes_pipeline"), arithmetic=False)
def dataset_to_graph_v2(input_dataset: Array, *, external_state_policy: int, strip_device_assignment: bool) -> Array:
    """The GraphDef of a dataset."""
    return _graph_def(input_dataset, external_state_policy != _FAIL, strip_device_assignment)


def _graph_def(input_dataset: Array, may_have_state: bool, strip_device_assignment: bool) -> Array:
    dataset = dataset_of(input_dataset)
    if not may_have_state:
        _require_no_state(dataset)
    return scalar_object(graph_services().encode(graph_of(dataset, not strip_device_assignment)))


@kernel("DatasetFromGraph", shape="-> ()", facts=("input_pipeline",), arithmetic=False)
def dataset_from_graph(ctx: KernelContext, graph_def: Array) -> Array:
    """The dataset that a graph's `_Retval` gives."""
    graph = graph_services().decode(bytes_in(graph_def, "graph_def"))
    result = next((node for node in graph if node.op == "_Retval"), None)
    if result is None:
        raise InvalidArgumentError("Failed to find a _Retval op in the given dataset")
    # With the resources of this session: tables and caches that the graph names are found.
    return scalar_object(dataset_of(ctx.session.on_graph(graph).run(result.inputs[0].name)))


@kernel("DatasetFingerprint", shape="-> ()", facts=("input_pipeline", "observes_pipeline"), arithmetic=False)
def dataset_fingerprint(input_dataset: Array) -> Result:
    """A number for how a dataset is made."""
    return np.uint64(fingerprint(dataset_of(input_dataset)))


def fingerprint(dataset: Dataset) -> int:
    """Return a number of 64 bits that is equal for datasets made alike, whatever the names of functions and nodes.

    The number is not TensorFlow's, as TensorFlow hashes graphs in another way.
    """
    graph = graph_of(dataset, keeps_devices=False)
    digest = _Digests(graph.functions).of_node(graph.node(_RESULT))
    return int.from_bytes(digest[:8], "little")


class _Digests:
    """Hashes of nodes by content: op, attributes, hashes of the inputs, bodies of the functions."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = functions
        self._nodes: dict[Node, bytes] = {}
        self._bodies: dict[str, bytes] = {}

    def of_node(self, node: Node) -> bytes:
        """Return the hash of a node and its ancestors."""
        # By a list and not by recursion: a pipeline of a thousand steps would exceed Python's depth.
        pending = [node]
        opened: set[Node] = set()
        while pending:
            last = pending[-1]
            opened.add(last)
            sources = [*(value.node for value in last.inputs), *last.control_inputs]
            missing = [source for source in sources if source not in self._nodes and source not in opened]
            pending += missing
            if not missing:
                self._nodes[last] = self._hash(last)
                pending.pop()
        return self._nodes[node]

    def _hash(self, node: Node) -> bytes:
        # Attributes with an underscore are notes beside the op, such as `_class`, and change no element.
        attrs = ((name, self._attr(value)) for name, value in sorted(node.attrs.items()) if not name.startswith("_"))
        inputs = [(self._nodes.get(value.node, _AROUND), value.index) for value in node.inputs]
        # Control inputs have no order.
        controls = sorted(self._nodes.get(control, _AROUND) for control in node.control_inputs)
        return hashlib.sha256(repr((node.op, list(attrs), inputs, controls)).encode()).digest()

    def _attr(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [self._attr(item) for item in value]
        if isinstance(value, Tensor):
            return value.key()
        if not isinstance(value, FuncRef):
            return str(value)
        rest = [(name, self._attr(part)) for name, part in sorted(value.attrs.items())]
        return self._body(value.name), rest

    def _body(self, name: str) -> bytes:
        if name not in self._bodies:
            self._bodies[name] = b""  # a function that calls itself
            function = self._functions[name]
            parts = [(self.of_node(value.node), value.index) for value in function.results]
            effects = sorted(self.of_node(node) for node in function.control_results)
            self._bodies[name] = hashlib.sha256(repr((parts, effects)).encode()).digest()
        return self._bodies[name]


@kernel("GetOptions", shape="-> ()", facts=("input_pipeline",), arithmetic=False)
def get_options(input_dataset: Array) -> Array:
    """Return the options of a dataset, the outermost options where there are several."""
    options = [part.serialized for part in tree(dataset_of(input_dataset)) if isinstance(part, Options)]
    # Messages are merged by joining their bytes, and later fields win: the outermost options come last.
    return scalar_object(b"".join(reversed(options)))
