"""Sparse and ragged inputs by their name: the tensors of their components, and the arrays for these."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ...graph.graph import Graph, Node, Output
from ...graph.metagraph import Signature
from ...support.errors import InvalidArgumentError
from ...support.tensor_names import parse_tensor_name
from ...types.arrays import Array
from ...types.dtypes import int32, int64, string
from ...types.example_values import example_value
from ...types.shapes import UNKNOWN, Shape
from ...types.tensors import Tensor

_SPARSE: Final = (("indices", "values", "shape"), ("indices", "values", "dense_shape"))
"""The names below that of a sparse placeholder of TensorFlow 1."""
_NOTHING: Final = (None, 0, False, "", b"")
"""The elements that a sparse tensor leaves out, as tf.sparse.from_dense does, and None for no element."""


class Composite(NamedTuple):
    """A sparse or ragged input: indices, values and shape, or values and the row splits from the outermost on."""

    is_sparse: bool
    parts: tuple[Output, ...]
    is_sure: bool = True
    """False if the names of the components may be those of inputs of their own: `x` and `x_1`."""

    def takes(self, value: Any) -> bool:
        """Return True for a value of the whole input, False for one of the first component alone."""
        if self.is_sure or self.is_sparse or isinstance(value, (tuple, Mapping)):
            return True
        rank, depth = _shape_of(self.parts[0]).rank, _depth(value) if isinstance(value, list) else np.ndim(value)
        splits = len(self.parts) - 1
        return rank is not None and (depth == rank + splits or (depth > splits and _is_empty(value)))

    def is_fed_in_parts(self, tensors: Iterable[str]) -> bool:
        """Return True if tensors to feed, by name, are components of the input. The first component alone is none: its name
        may be that of the whole input.
        """
        return not {part.node.name for part in self.parts[1:]}.isdisjoint(parse_tensor_name(name)[0] for name in tensors)

    def arrays(self, value: Any) -> dict[str, Array]:
        """Return the arrays of the components, by the names of their tensors, for a dense array or nested lists.

        A sparse tensor also comes as the tuple or mapping (indices, values, shape), or as an object with such attributes,
        and a ragged one as (values, splits ...). Zeros, empty strings and None are no elements of a sparse tensor.
        InvalidArgumentError for a value of another depth.
        """
        stated = _stated(value, (("indices", "values", "dense_shape"), ("indices", "values", "shape")) if self.is_sparse
                        else (("flat_values", "nested_row_splits"), ("values", "row_splits")))  # fmt: skip
        divided = self._of_sparse if self.is_sparse else self._of_ragged
        given = stated if stated is not None else divided(value)
        if len(given) != len(self.parts):
            kind = "indices, values and shape" if self.is_sparse else f"values and {len(self.parts) - 1} row splits"
            raise InvalidArgumentError(f"it has {kind}, and {len(given)} arrays were given")
        values = ((part, np.array(one, object) if part.base_dtype is string else one) for part, one in zip(self.parts, given))
        return {part.name: Tensor.from_numpy(value, part.base_dtype).numpy() for part, value in values}

    def example(self, shape: str = "") -> str:
        """Return a text of a dense array for --feed; `shape` is the text of the shape of a sparse tensor."""
        values = self.parts[self.is_sparse]
        if self.is_sparse:
            sizes = self._example_sizes(shape)
        else:
            inner = (_shape_of(values).dims or (2,))[1:]
            sizes = [2] * len(self.parts) + [size if isinstance(size, int) else 2 for size in inner]
        return example_value(values.base_dtype.name, Shape(sizes))

    def _example_sizes(self, shape: str) -> list[int]:
        """Return sizes for an example of a sparse tensor: those of the text, the default of the graph, or twos."""
        if shape.startswith("["):
            stated: list[int] = json.loads(shape)
            return stated
        defaults = [value.node for value in self.parts[2].node.inputs if value.node.is_constant]
        if defaults and not shape:
            default: list[int] = defaults[0].constant_value().tolist()
            return default
        rank = (_shape_of(self.parts[2]).dims or (2,))[0]
        return [2] * (rank if isinstance(rank, int) else 2)

    def _of_sparse(self, value: Any) -> list[Any]:
        rank = _shape_of(self.parts[2]).dims
        size = rank[0] if rank else None
        if isinstance(value, list):
            # The rank that the graph states takes precedence over the depth of the lists, whose strings and Nones may end
            # early.
            depth = size if isinstance(size, int) else _depth(value)
            elements = list(_elements(value, depth, ()))
            places = np.array([place for place, _ in elements], np.int64).reshape(-1, depth)
            return [places, [one for _, one in elements], _extent(value, depth)]
        dense = np.asarray(value)
        if isinstance(size, int) and dense.ndim != size:
            raise InvalidArgumentError(f"it has {size} dimensions, and the value has {dense.ndim}")
        # By equality, and not as truth values: an array of objects may hold None and strings.
        mask = np.vectorize(lambda one: one not in _NOTHING, otypes=[bool])(dense)
        return [np.argwhere(mask), dense[mask], dense.shape]

    def _of_ragged(self, value: Any) -> list[Any]:
        splits: list[Any] = []
        level = value
        for number in range(1, len(self.parts)):
            rows = [[] if row is None else row for row in _listed(level, f"at depth {number}")]
            rows = [_listed(row, f"in a row at depth {number + 1}") for row in rows]
            if number == len(self.parts) - 1:
                rows = [[one for one in row if one is not None] for row in rows]
            splits.append(list(itertools.accumulate(map(len, rows), initial=0)))
            level = list(itertools.chain.from_iterable(rows))
        if not len(level):
            inner = _shape_of(self.parts[0]).dims or (0,)
            level = np.zeros([0, *(size if isinstance(size, int) else 0 for size in inner[1:])])
        return [level, *splits]


def composite_of(graph: Graph, signature: Signature | None, word: str) -> Composite | None:
    """Return the sparse or ragged input that a word names; None for another word.

    The word is an argument of the signature, whose components are its own or the arguments `x`, `x_1` ..., as TensorFlow 2
    names them, or the scope of the placeholders of TensorFlow 1.
    """
    argument = signature.inputs.get(word) if signature is not None else None
    if argument is not None and argument.components:
        return _composite([graph.output(name) for name in argument.components])
    scoped = [[graph.get(f"{word}/{name}") for name in names] for names in _SPARSE]
    if nodes := next((nodes for nodes in scoped if all(nodes)), None):
        return Composite(True, tuple(node.output() for node in nodes if node is not None))
    if values := graph.get(f"{word}/flat_values"):
        return Composite(False, (values.output(), *_numbered(graph, {}, f"{word}/row_splits", 0)))
    names = signature.fed if signature is not None and signature.name in graph.signatures else {}
    first = names.get(word) or (word if (node := graph.get(word)) is not None and node.is_placeholder else None)
    if first is None:
        return None
    parts = [graph.output(first if ":" in first else f"{first}:0"), *_numbered(graph, names, word, 1)]
    composite = _composite(parts[:3]) or _composite(parts)
    if composite is None or not (names or composite.is_sparse):  # features and labels of a graph are no ragged tensor
        return None
    return composite._replace(is_sure=False)


def whole_texts(
    graph: Graph, signature: Signature | None, texts: Mapping[str, str], nodes: Mapping[str, Node]
) -> dict[str, str]:
    """Return example texts for --feed in which a sparse or ragged input has one, a dense array, in place of its components.

    `texts` and `nodes`, the placeholders, are by the words of the inputs.
    """
    words = {node: word for word, node in nodes.items()}
    whole: dict[str, str] = {}
    seen: set[str] = set()
    for word, text in texts.items():
        for stem in dict.fromkeys((word, word.rpartition(".")[0], word.rpartition("/")[0])):
            composite = composite_of(graph, signature, stem) if stem and word not in seen else None
            if composite is not None and all(part.node in words or not part.node.must_be_fed for part in composite.parts):
                seen |= {words[part.node] for part in composite.parts if part.node in words}
                shape = words.get(composite.parts[-1].node)
                whole[stem] = composite.example(texts[shape] if shape is not None else "")
        if word not in seen:
            whole[word] = text
    return whole


def _numbered(graph: Graph, names: Mapping[str, str], stem: str, first: int) -> Iterator[Output]:
    """Yield the inputs `stem_1`, `stem_2` ... up to the first that is missing."""
    for number in itertools.count(first):
        name = f"{stem}_{number}"
        node = graph.node_of(names[name]) if name in names else graph.get(name) if not names else None
        if node is None or not node.must_be_fed:
            return
        yield node.output()


def _composite(parts: Sequence[Output]) -> Composite | None:
    """Return the composite of these components, by their dtypes and shapes; None if they are of several inputs."""
    if len(parts) == 3 and _is_sparse(*parts):
        return Composite(True, tuple(parts))
    splits = parts[1:]
    types = {part.base_dtype for part in splits}
    if len(types) == 1 and types <= {int32, int64} and all(_shape_of(part).rank in (None, 1) for part in splits):
        is_divisible = _shape_of(parts[0]).rank != 0
        return Composite(False, tuple(parts)) if is_divisible else None
    return None


def _is_sparse(indices: Output, values: Output, shape: Output) -> bool:
    if {indices.base_dtype, shape.base_dtype} != {int64} or _shape_of(values).rank not in (None, 1):
        return False
    table, sizes = _shape_of(indices), _shape_of(shape)
    if table.rank not in (None, 2) or sizes.rank not in (None, 1):
        return False
    width, count = table.dims[1] if table.dims else None, sizes.dims[0] if sizes.dims else None
    # Three integer inputs of the right ranks may just be three inputs: only a known rank, or values of another dtype, make a
    # sparse tensor of them.
    return width == count if isinstance(width, int) and isinstance(count, int) else values.base_dtype not in (int32, int64)


def _shape_of(part: Output) -> Shape:
    shape = part.node.attr("shape")
    return shape if isinstance(shape, Shape) else UNKNOWN


def _stated(value: Any, names: Sequence[Sequence[str]]) -> list[Any] | None:
    """Return the components that a value states by name or as a tuple; None for other values."""
    # A named tuple, such as TensorFlow's SparseTensorValue, is read by its names.
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return list(value)
    for own in names:
        if isinstance(value, Mapping):
            stated = [value[name] for name in own if name in value]
        else:
            has_own = not isinstance(value, np.ndarray) and all(hasattr(value, name) for name in own)
            stated = [getattr(value, name) for name in own] if has_own else []
        if len(stated) == len(own):
            first, *rest = stated
            nested = rest[0] if own[-1] == "nested_row_splits" else rest
            return [first, *nested]
    if isinstance(value, Mapping):
        raise InvalidArgumentError(f"an object has the names {', '.join(names[0])}, not {', '.join(value)}")
    return None


def _listed(value: Any, where: str) -> list[Any]:
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim):
        return list(value)
    raise InvalidArgumentError(f"a ragged input takes lists of lists, and {value!r} {where} is none")


def _depth(value: Any) -> int:
    depths = [_depth(one) for one in value if one is not None] if isinstance(value, (list, tuple)) else []
    return 1 + max(depths, default=0) if isinstance(value, (list, tuple)) else 0


def _elements(value: Any, depth: int, place: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield the elements of nested lists with their places."""
    if value is None or (not depth and value in _NOTHING):
        return
    if isinstance(value, (list, tuple)) != bool(depth):
        raise InvalidArgumentError(f"a sparse input takes lists of one depth, and {value!r} is at depth {len(place)}")
    if not depth:
        yield place, value
        return
    for number, one in enumerate(value):
        yield from _elements(one, depth - 1, (*place, number))


def _extent(value: Any, depth: int) -> list[int]:
    """Return the lengths of the longest lists by depth."""
    level, sizes = [value], []
    for _ in range(depth):
        level = [one for one in level if one is not None]
        sizes.append(max(map(len, level), default=0))
        level = list(itertools.chain.from_iterable(level))
    return sizes


def _is_empty(value: Any) -> bool:
    """Return True for lists without elements."""
    return all(map(_is_empty, value)) if isinstance(value, list) else value is None
