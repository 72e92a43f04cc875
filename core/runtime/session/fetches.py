"""Fetches of a session, as TensorFlow's takes them: names, outputs and nodes, in lists, tuples and mappings; and fed tensors.

A fed value is checked before any kernel sees the value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ...graph.graph import Graph, Node, Output
from ...graph.metagraph import Signature
from ...support import dataclasses
from ...support.errors import ArgumentTypeError, InvalidArgumentError, NotFoundError
from ...support.hints import Hint, step
from ...support.tensor_names import parse_tensor_name
from ...types import dtypes
from ...types.dtypes import DType
from ...types.example_values import example_value, feeding
from ...types.shapes import UNKNOWN, Shape, fits
from ...types.tensors import as_array, as_bytes_array
from ..state.edge_values import Batched
from ..state.resources import Stored

_MOST_SIGNATURES: Final = 3
"""The largest number of signatures in a hint."""


def is_list_of_names(fetches: Any) -> bool:
    """True for the form that most callers use and that needs no arranging."""
    return type(fetches) is list and all(type(fetch) is str for fetch in fetches)


def fetched_names(fetches: Any, graph: Graph) -> Iterator[str]:
    """Yield the names of all fetches, from left to right; ArgumentTypeError for an object that cannot be fetched."""
    if isinstance(fetches, str):
        yield fetches
    elif isinstance(fetches, (Output, Node)):
        yield name_of(fetches, graph)
    elif isinstance(fetches, (list, tuple)):
        for fetch in fetches:
            yield from fetched_names(fetch, graph)
    elif isinstance(fetches, Mapping):
        for fetch in fetches.values():
            yield from fetched_names(fetch, graph)
    else:
        raise ArgumentTypeError(f"{fetches!r} is neither a tensor or node nor a list, tuple or mapping of tensors and nodes")


def name_of(fetch: Any, graph: Graph) -> str:
    """Return the name of an output or node of the graph; ArgumentTypeError for anything else."""
    if isinstance(fetch, str):
        return fetch
    if not isinstance(fetch, (Output, Node)):
        raise ArgumentTypeError(f"{fetch!r} is not a tensor of the graph")
    node = fetch.node if isinstance(fetch, Output) else fetch
    if graph.get(node.name) is not node:
        raise ArgumentTypeError(f"node '{node.name}' belongs to another graph than the session")
    return fetch.name


def arranged(fetches: Any, values: Iterator[Any]) -> Any:
    """Return the values in the structure of the fetches."""
    if isinstance(fetches, Mapping):
        return {key: arranged(fetch, values) for key, fetch in fetches.items()}
    if isinstance(fetches, list):
        return [arranged(fetch, values) for fetch in fetches]
    if isinstance(fetches, tuple):
        members = [arranged(fetch, values) for fetch in fetches]
        # A named tuple takes its members one by one.
        return type(fetches)(*members) if hasattr(fetches, "_fields") else tuple(members)
    return next(values)


def names_in_graph(
    graph: Graph, fetches: tuple[str, ...], feeds: tuple[str, ...], nodes: Graph | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return fetches and feeds with the tensors of a signature in place of its outputs and inputs.

    The name of a node stands for the node, also where a signature has the name. All other names are those of a single
    signature: the usual signature, if it has them. `nodes` is the graph that runs, where another than `graph`. NotFoundError
    for a name that nothing has, InvalidArgumentError if several signatures have the names for different tensors.
    """
    outputs, inputs = ([name for name in names if not _is_node(nodes or graph, name)] for names in (fetches, feeds))
    if not graph.signatures or not (outputs or inputs):
        return fetches, feeds
    signature = _signature_of(graph, outputs, inputs)
    fetched = tuple(signature.fetched[name] if name in outputs else name for name in fetches)
    return fetched, tuple(signature.fed[name] if name in inputs else name for name in feeds)


def _is_node(graph: Graph, name: str) -> bool:
    node = parse_tensor_name(name)[0]
    # A node that an optimization removed still owns its name: a signature must not take the name over silently.
    return node in graph or node in graph.needless or node in graph.left_out


def _signature_of(graph: Graph, outputs: Collection[str], inputs: Collection[str]) -> Signature:
    """Return the signature that has all the names."""
    signatures = list(graph.signatures.values())
    fits = [one for one in signatures if set(outputs) <= set(one.fetched) and set(inputs) <= set(one.fed)]
    if not fits:
        raise NotFoundError(_problem(signatures, outputs, inputs), hint="; ".join(_known(signatures)))
    usual = graph.meta.usual_signature if graph.meta is not None else None
    # Signatures share names, such as `output_0`; the one that is served by default wins.
    if usual is not None and usual in fits:
        return usual
    if len({(*(one.fetched[name] for name in outputs), *(one.fed[name] for name in inputs)) for one in fits}) > 1:
        problem = f"{_joined([*outputs, *inputs])}: several signatures have the names: {_joined([one.name for one in fits])}"
        raise InvalidArgumentError(problem, hint=f"choose a signature: tfg.Model(graph, signature='{fits[0].name}')")
    return fits[0]


def _problem(signatures: Sequence[Signature], outputs: Collection[str], inputs: Collection[str]) -> str:
    """Return the problem of names that no signature has, or no signature has together."""
    known_outputs = {name for one in signatures for name in one.fetched}
    known_inputs = {name for one in signatures for name in one.fed}
    unknown = [(name, "output") for name in outputs if name not in known_outputs]
    unknown += [(name, "input") for name in inputs if name not in known_inputs]
    if not unknown:
        return f"no signature has all these names: {_joined([*outputs, *inputs])}"
    return "the graph has no node '{}', and no signature has this {}".format(*unknown[0])


def _joined(names: Collection[str]) -> str:
    return ", ".join(names)


def _known(signatures: Sequence[Signature]) -> Iterator[str]:
    """Yield the names of the first signatures."""
    for one in signatures[:_MOST_SIGNATURES]:
        inputs, outputs = (_joined(names) or "none" for names in (one.fed, one.fetched))
        yield f"inputs of signature '{one.name}': {inputs}; outputs: {outputs}"


# Fed tensors, and the checks of their values.


@dataclasses.dataclass(frozen=True, slots=True)
class Feed:
    """The name, dtype and shape of a fed tensor."""

    name: str
    output: Output
    dtype: DType | None
    shape: Shape

    def convert(self, value: Any) -> Any:
        """Return the value as an array of the fed tensor's dtype; InvalidArgumentError if the shape does not fit."""
        if isinstance(value, Batched):
            return value
        # A value that still lies in a checkpoint stays there until a kernel reads it.
        if isinstance(value, Stored) and self.dtype is not None and value.tensor.dtype is self.dtype:
            array: Any = value
        else:
            array = as_bytes_array(value) if self.dtype is dtypes.string else as_array(value, self.dtype)
        if not fits(array.shape, self.shape):
            example = example_value(str(self.dtype or ""), self.shape)
            raise misfit(array.shape, self.output, self.shape, feeding(self.output.node.name, example))
        return array


def misfit(dims: tuple[int, ...], fed: Output, shape: Shape, example: str) -> InvalidArgumentError:
    """Return the error for a value whose dimensions do not fit the shape of a fed tensor; `example` is a hint that does."""
    is_other_batch = fed.node.is_placeholder and shape.rank == len(dims) and fits(dims[1:], shape[1:])
    hint = Hint(step("any_batch"), " makes a graph for any batch; ", example) if is_other_batch else example
    return InvalidArgumentError(
        f"cannot feed a value of shape {Shape(dims)} for tensor '{fed.name}' of shape {shape}",
        node=fed.node.name,
        op=fed.node.op,
        hint=hint,
    )


def find_feeds(graph: Graph, names: Iterable[str], runnable: Graph | None = None) -> tuple[Feed | None, ...]:
    """Return the Feed of each name, in order; None for a tensor that an optimization of the graph made needless.

    `runnable` is the graph that runs, where another than `graph`.
    """
    return tuple(None if _is_needless(graph, name) else _feed(runnable or graph, name, graph) for name in names)


def _is_needless(graph: Graph, name: str) -> bool:
    """True if the graph had the node before optimization, and no fetch needed the node then."""
    node_name = parse_tensor_name(name)[0]
    return node_name in graph.needless and node_name not in graph


def _feed(runnable: Graph, name: str, graph: Graph) -> Feed:
    output = runnable.output(name)
    node = output.node
    declared = node.attrs.get("shape") if node.must_be_fed else None
    shape = declared if isinstance(declared, Shape) else UNKNOWN
    return Feed(name, output, output.dtype.base if output.dtype else None, shape)
