"""Fed tensors, and the checks of a value before any kernel sees the value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...graph.graph import Graph, Output
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...support.hints import Hint, step
from ...support.tensor_names import parse_tensor_name
from ...types import dtypes
from ...types.dtypes import DType
from ...types.example_values import example_value, feeding
from ...types.shapes import UNKNOWN, Shape, fits
from ...types.tensors import as_array, as_bytes_array
from ..state.edge_values import Batched
from ..state.resources import Stored


@dataclasses.dataclass(frozen=True, slots=True)
class Feed:
    """The name, dtype and shape of a fed tensor."""

    name: str
    output: Output
    dtype: DType | None
    shape: Shape

    def convert(self, value: Any) -> Any:
        """Return the value as an array of the fed tensor's dtype; InvalidArgumentError where the shape does not fit."""
        if isinstance(value, Batched):
            return value
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
    """True where the graph had the node before optimization, and no fetch needed the node then."""
    node_name = parse_tensor_name(name)[0]
    return node_name in graph.needless and node_name not in graph


def _feed(runnable: Graph, name: str, graph: Graph) -> Feed:
    output = runnable.output(name)
    node = output.node
    declared = node.attrs.get("shape") if node.must_be_fed else None
    shape = declared if isinstance(declared, Shape) else UNKNOWN
    return Feed(name, output, output.dtype.base if output.dtype else None, shape)
