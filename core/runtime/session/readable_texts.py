"""Texts that a graph can read: an image file, a sound file, an Example or a number, by the op that parses the text.

Readers of a value lie also behind nodes that pass the value on, and in the functions that take it.
"""

from __future__ import annotations

import collections
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...codecs import png, wav, wire
from ...graph.call_kinds import call_kind
from ...graph.graph import Graph, Node, Output
from ...graph.instantiation import function_called
from ...inference.binding import require_op_def
from ...registry.op_facts import has_fact
from ...support.errors import InvalidArgumentError
from ...support.grouping import grouped
from ...types import dtypes
from ...types.arrays import Array
from ...types.dtypes import DType
from ...types.example_values import strings_value, texts_value
from ...types.shapes import Shape, as_shape
from ...types.tensors import as_bytes_array


def readers_of(
    value: Output, passed_on: Callable[[Node, Sequence[int]], Iterable[Output]]
) -> Iterator[tuple[Node, Sequence[int]]]:
    """Yield the nodes that read a value, nearest first, each with the numbers of the inputs.

    `passed_on` returns the values by which a node with these inputs passes the value on: their readers follow.
    """
    seen: set[Output] = set()
    places_by_reader: dict[Node, dict[Output, list[int]]] = {}
    queue = collections.deque([value])
    while queue:
        value = queue.popleft()
        if value in seen:
            continue
        seen.add(value)
        for user in value.node.uses:
            # Gathered once for a reader: a search among thousands of inputs for each of them would take the square.
            if user not in places_by_reader:
                places_by_reader[user] = grouped((source, place) for place, source in enumerate(user.inputs))
            places = places_by_reader[user].get(value)
            if places:  # else the user only waits for the node
                yield user, places
                queue += passed_on(user, places)


def called_arguments(graph: Graph, node: Node, places: Sequence[int]) -> Iterator[Output]:
    """Yield the arguments of the functions that a node calls that stand for the node's inputs at these places."""
    kind = call_kind(graph.functions, node)
    for reference in kind.references(node) if kind is not None else ():
        function = function_called(graph.functions, reference.name)
        if kind is None or function is None:
            continue
        # Captured values come before or after the arguments that the node itself hands over.
        shift = len(function.args) - len(kind.arguments(node.inputs)) - kind.before
        yield from (function.args[i + shift].output() for i in places if 0 <= i + shift < len(function.args))


PLAIN: Final = b"a"
_SIZE: Final = 64
"""Rows and columns of an image."""

_RATE: Final = 16000
"""Samples of a sound, and samples a second."""

_LISTS: Final[Mapping[DType, int]] = {dtypes.string: 1, dtypes.float32: 2, dtypes.int64: 3}
"""The field of a Feature message that holds values of a type."""


def contents_of(graph: Graph, value: Output) -> bytes:
    """Return a text that the first parsing reader of a string tensor accepts; "a" where no reader parses."""
    for reader, fact in _parsers(graph, value):
        text: bytes = MAKERS[fact](graph, reader)
        return text
    return PLAIN


def example_text(graph: Graph, value: Output, sizes: Sequence[int]) -> str:
    """Return an example of a string tensor for --feed: plain text, a number, or what a reader parses, which nobody types."""
    for _, fact in _parsers(graph, value):
        return texts_value("1", sizes) if fact == "number_text" else strings_value(sizes)
    return texts_value("text", sizes)


def example_types(graph: Graph, value: Output) -> dict[str, DType]:
    """Return the types of the features by name that the first parsing reader of a string tensor takes from an Example; none
    where no reader parses Examples.
    """
    for reader, fact in _parsers(graph, value):
        features = _features(reader) if fact == "example_contents" else ()
        return {key.decode("utf-8", "surrogateescape"): dtype for key, dtype, _, _ in features}
    return {}


def serialized_examples(
    graph: Graph, fed: Output, rows: Mapping[str, Any] | Sequence[Mapping[str, Any]], are_for_any: bool = False
) -> Array:
    """Return the serialized Example of each row, features by name, or of a single row, for a tensor that the graph parses.

    A feature is a value, a list of values or an array. InvalidArgumentError for a tensor of other strings, for an unknown
    feature, and for a value of another kind than the graph parses. Examples that `are_for_any` tensor of strings have
    features of the types of the values, where the graph does not tell the types.
    """
    types = example_types(graph, fed) or (_types_of(rows) if are_for_any and fed.base_dtype is dtypes.string else {})
    if not types:
        raise InvalidArgumentError("no op parses it as Examples: feed strings", node=fed.node.name, op=fed.node.op)
    if not isinstance(rows, Mapping):
        return as_bytes_array([_encoded_example(row, types) for row in rows])
    text = _encoded_example(rows, types)
    return as_bytes_array(text if fed.node.attrs.get("shape") == Shape(()) else [text])


def _types_of(rows: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> dict[str, DType]:
    """Return the types of features by the kinds of all their values: numbers are floats where one is no integer."""
    kinds: dict[str, set[str]] = {}
    for row in [rows] if isinstance(rows, Mapping) else rows:
        for name, given in row.items():
            kinds.setdefault(name, set()).update(_KINDS.get(type(one), "") for one in np.asarray(given, object).flat)
    return {
        name: dtypes.string if "string" in own else dtypes.float32 if "float" in own else dtypes.int64
        for name, own in kinds.items()
    }


_KINDS: Final[Mapping[type, str]] = {str: "string", bytes: "string", float: "float"}


def _encoded_example(features: Mapping[str, Any], types: Mapping[str, DType]) -> bytes:
    entries = []
    for name, given in features.items():
        values = np.asarray(given, object).reshape(-1).tolist()
        if name not in types:
            raise InvalidArgumentError(f"the graph parses no feature '{name}'", hint=f"its features are {', '.join(types)}")
        key, encoded = name.encode("utf-8", "surrogateescape"), _encoded_list(name, values, types[name])
        entries.append(_entry(key, types[name], encoded))
    return wire.bytes_field(1, b"".join(entries))


def _encoded_list(name: str, values: Sequence[Any], dtype: DType) -> bytes:
    """Return the message of a feature's values."""
    kinds = {dtypes.string: str | bytes, dtypes.float32: int | float, dtypes.int64: int}[dtype]
    for value in values:
        # For Python True is an int; it stands for 1 in a feature of integers, and is no float.
        if not isinstance(value, kinds) or isinstance(value, bool) > (dtype is dtypes.int64):
            raise InvalidArgumentError(f"feature '{name}' takes {dtype}, not {value!r}")
    if dtype is dtypes.string:
        return b"".join(wire.bytes_field(1, one if isinstance(one, bytes) else one.encode()) for one in values)
    if dtype is dtypes.float32:
        return wire.bytes_field(1, np.array(values, "<f4").tobytes())
    if any(not -(1 << 63) <= value < 1 << 63 for value in values):
        raise InvalidArgumentError(f"feature '{name}' takes int64, and a value has more bits")
    # A negative number is written in two's complement, of 64 bits.
    return b"".join(wire.varint_field(1, int(value) % (1 << 64), always=True) for value in values)


def _parsers(graph: Graph, value: Output) -> Iterator[tuple[Node, str]]:
    """Yield readers that parse a text, nearest first, each with the fact that states the format."""
    for reader, _ in readers_of(value, functools.partial(_passed_on, graph)):
        yield from ((reader, fact) for fact in MAKERS if has_fact(reader.op, fact))


def _passed_on(graph: Graph, node: Node, places: Sequence[int]) -> Iterator[Output]:
    """Yield the arguments of called functions, and all texts and lists of texts that a node returns."""
    yield from called_arguments(graph, node, places)
    yield from (Output(node, i) for i, dtype in enumerate(node.output_dtypes) if dtype.base.is_object)


def _image(graph: Graph, node: Node) -> bytes:
    ramp = np.add.outer(np.arange(_SIZE) * 3, np.arange(_SIZE) * 2)[..., None] + np.array([0, 50, 100])
    return png.encode((ramp % 256).astype(np.uint8))


def _sound(graph: Graph, node: Node) -> bytes:
    return wav.encode(np.sin(np.arange(_RATE, dtype=np.float32) / 20)[:, None], _RATE)


def _example(graph: Graph, node: Node) -> bytes:
    """Return an Example with each feature that the node parses."""
    features = b"".join(_feature(graph, *feature) for feature in _features(node))
    return wire.bytes_field(1, features)


def _feature(graph: Graph, key: bytes, dtype: DType, count: int, value: Output) -> bytes:
    """Return an entry of the map of features with values that the graph can parse."""
    if dtype is dtypes.string:
        values = wire.bytes_field(1, contents_of(graph, value)) * count
    elif dtype is dtypes.float32:
        values = wire.bytes_field(1, np.linspace(-1, 1, count, dtype="<f4").tobytes())
    else:
        values = b"".join(wire.varint_field(1, i % 2, always=True) for i in range(count))
    return _entry(key, dtype, values)


def _entry(key: bytes, dtype: DType, values: bytes) -> bytes:
    """Return an entry of the map of features: the key, and the message of the list of a type's values."""
    feature = wire.bytes_field(_LISTS[dtype], values)
    return wire.bytes_field(1, wire.bytes_field(1, key) + wire.bytes_field(2, feature))


def _features(node: Node) -> Iterator[tuple[bytes, DType, int, Output]]:
    """Yield key, type, number of values and output of each feature; features with computed keys are left out."""
    sparse, dense = _keys(node, "sparse_keys"), _keys(node, "dense_keys")
    for i, (key, dtype) in enumerate(zip(sparse, node.attr("sparse_types"))):
        yield key, dtype, 2, Output(node, len(sparse) + i)
    # ParseExample returns indices, values and shapes of all sparse features before the dense ones.
    first = 3 * len(node.attr("sparse_types"))
    for i, (key, dtype, shape) in enumerate(zip(dense, node.attr("Tdense"), node.attr("dense_shapes"))):
        yield key, dtype, math.prod(d if isinstance(d, int) else 2 for d in as_shape(shape)), Output(node, first + i)
    if "ragged_value_types" in node.attrs:
        first += len(dense)
        for i, (key, dtype) in enumerate(zip(_keys(node, "ragged_keys"), node.attr("ragged_value_types"))):
            yield key, dtype, 2, Output(node, first + i)


def _keys(node: Node, name: str) -> list[bytes]:
    """Return the keys that an attribute lists, or constants of an input."""
    definition = require_op_def(node)
    if name in definition.attrs:
        return [key.encode("utf-8", "surrogateescape") if isinstance(key, str) else key for key in node.attr(name)]
    at = 0
    for arg in definition.inputs:
        count = node.attr(arg.number_attr) if arg.number_attr else 1
        if arg.name == name:
            values = [value.node.constant_value() for value in node.inputs[at : at + count] if value.node.is_constant]
            return [key for value in values for key in np.asarray(value).reshape(-1)]
        at += count
    return []


MAKERS: Final[Mapping[str, Callable[[Graph, Node], Any]]] = {
    "image_contents": _image,
    "sound_contents": _sound,
    "example_contents": _example,
    "number_text": lambda graph, node: b"1",
}
"""The maker of a text for an op, by the op fact that states the format."""
