"""Ops on counted arrays: their array programs, kernels and parts, run for the recorded cases and for larger inputs."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from scipy import special

from tests import opcases
from tests.core.flops import definitions
from tests.core.flops.counting import NotCountableError, Tally, counted
from tests.core.ops.test_ops import fed_specs, is_refused, outputs
from tfg import GraphBuilder
from tfg.core.building.gradbuilder import parts_of
from tfg.core.flops import count_flops
from tfg.core.graph.graph import Graph, Node, Output
from tfg.core.inference import inference, node_calls
from tfg.core.inference.binding import bind_attrs, bind_kernel, group_inputs, input_bundles, require_op_def, select_kernel
from tfg.core.registry import registry
from tfg.core.registry.registry import Cost
from tfg.core.support.errors import TfgError
from tfg.core.types.shapes import Shape

Array = Any
Feeds = Mapping[str, np.ndarray[Any, Any]]

PLAIN = {
    "all", "any", "arange", "broadcast_arrays", "broadcast_to", "concatenate", "diagonal", "expand_dims", "finfo", "flip",
    "issubdtype", "max", "mean", "min", "moveaxis", "ndim", "ones_like", "pad", "prod", "repeat", "reshape", "roll", "size",
    "split", "squeeze", "stack", "sum", "swapaxes", "take", "take_along_axis", "tile", "transpose", "tril", "where",
    "zeros_like",
}  # fmt: skip
"""NumPy's functions that compute nothing, such as a choice between values, or all by ufuncs, which are counted."""
MADE = {"full", "ones", "zeros"}
SPECIAL = {"digamma": special.psi, "erf_inv": special.erfinv, "lgamma": special.gammaln}
NARROW = ("float16", "bfloat16")
"""Sums of such numbers are made in float32 and rounded, which is no part of the definition."""


class Primitives:
    """The functions of jax.lax: windows, loops and decompositions, which are no expressions of arrays."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        raise NotCountableError(name)


class Namespace:
    """The namespace of array programs on counted arrays; the functions of jax.nn are written out."""

    is_eager = False
    has_views = has_64_bits = is_cpu = True
    lax = Primitives()
    added, subtracted, multiplied = map(staticmethod, (operator.add, operator.sub, operator.mul))
    softmax, log_softmax = map(staticmethod, (definitions.softmax, definitions.log_softmax))
    truncated_quotient = staticmethod(np.floor_divide)
    population_count = staticmethod(np.bitwise_count)

    def __init__(self, tally: Tally) -> None:
        self.tally = tally

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = SPECIAL.get(name) or getattr(np, name, None) or getattr(special, name, None)
        if name in MADE:
            return lambda *args, **options: counted(function(*args, **options), self.tally)
        if isinstance(function, np.ufunc) or name in PLAIN:
            return function
        raise NotCountableError(name)

    def grouped(
        self, rows: Array, places: Array, count: int, how: str, start: Any = 0, in_vectors: Any = None
    ) -> Array:  # fmt: skip
        """Return rows of `start` with `rows` in their places: the sum of the sent rows, in any order."""
        target = counted(np.full((count, *rows.shape[1:]), start, rows.dtype), self.tally)
        return getattr(target.at[np.where(places < 0, count, places)], how)(rows)

    def scattered(self, target: Array, vectors: Array, rows: Array, how: str) -> Array:
        places = tuple(vectors[..., axis] for axis in range(vectors.shape[-1]))
        return getattr(target.at[places], how)(rows)

    def scatter_nd(self, target: Array, indices: Array, updates: Array, how: str, policy: str) -> Array:
        return self.scattered(target, indices, updates, how)

    def stop_gradient(self, x: Array) -> Array:
        return x

    def require(self, condition: Any) -> None:
        assert np.all(condition)

    def same_shape(self, x: Array, y: Array) -> bool:
        return x.shape == y.shape

    def with_factor(self, x: Array, result: Array, factor: Any) -> Array:
        return result

    def with_derivatives(self, result: Array, path: Any) -> Array:
        return result

    def asarray(self, x: Any, dtype: Any = None) -> Array:
        array = x if isinstance(x, np.ndarray) else np.asarray(x)
        return array if dtype is None else array.astype(dtype)

    def cast(self, x: Array, dtype: Any) -> Array:
        return x.astype(dtype)

    def angle(self, x: Array) -> Array:
        return np.arctan2(x.imag, x.real)

    def clip(self, x: Array, low: Any, high: Any) -> Array:
        return np.minimum(np.maximum(x, low), high)

    def relu(self, x: Array) -> Array:
        return np.maximum(x, 0)

    def relu6(self, x: Array) -> Array:
        return np.minimum(np.maximum(x, 0), 6)

    def elu(self, x: Array) -> Array:
        return np.where(x > 0, x, np.expm1(x))

    def sigmoid(self, x: Array) -> Array:
        return 1 / (1 + np.exp(-x))

    def softplus(self, x: Array) -> Array:
        return np.log(1 + np.exp(x))

    def soft_sign(self, x: Array) -> Array:
        return x / (1 + abs(x))

    def rsqrt(self, x: Array) -> Array:
        return 1 / np.sqrt(x)


# ---- three ways to run a node


def by_program(node: Node, feeds: Feeds) -> Cost:
    """Count what the op's array program does."""
    rule, tally = registry.lowering(node.op), Tally()
    values = _values(node, feeds, tally)
    for place in rule.static:
        values[place] = np.asarray(values[place])
    call = functools.partial(rule.function, Namespace(tally), **bind_attrs(node, rule.function))
    with np.errstate(all="ignore"):
        group_inputs(require_op_def(node), node, call, input_bundles(rule.function, True))(*values)
    return tally.cost


def by_kernel(node: Node, feeds: Feeds) -> Cost:
    """Count what the op's kernel does."""
    tally = Tally()
    with np.errstate(all="ignore"):
        bind_kernel(node, select_kernel(node), None)(*_values(node, feeds, tally))
    return tally.cost


def by_parts(node: Node, feeds: Feeds) -> Cost:
    """Add up the costs of the ops that a node is composed of."""
    values = [feeds[_name(value)] for value in node.inputs]
    graph, inputs, results = parts_of(node, registry.lowering(node.op).function, [Shape(value.shape) for value in values])
    sizes = {place.name: value for place, value in zip(inputs, values) if value.dtype.kind == "i"}
    report = count_flops(graph, [output.name for output in results], values=sizes)
    total = report.total()
    if report.unknown() or not isinstance(total.flops, int):
        raise ValueError("its parts do not take these inputs")
    return Cost(total.flops, total.macs, total.transcendentals)


def _values(node: Node, feeds: Feeds, tally: Tally) -> list[Any]:
    places = _places(node, feeds)
    return [feeds[name] if name in places else counted(feeds[name], tally) for name in map(_name, node.inputs)]


def _places(node: Node, feeds: Feeds) -> set[str]:
    """Return the inputs that are places, sizes or axes, and do not count: integers of another type than the results."""
    definition = require_op_def(node)
    kinds = [_kind(arg) for arg in definition.inputs for _ in range(definition.length(arg, node.attrs))]
    operands = set(kinds) & {_kind(arg) for arg in definition.outputs} or set(kinds)
    names = map(_name, node.inputs)
    return {name for name, kind in zip(names, kinds) if kind not in operands and feeds[name].dtype.kind in "iu"}


def _name(value: Output) -> str:
    return f"{value.node.name}:{value.index}"


def _kind(argument: Any) -> Any:
    return argument.type_attr or argument.dtype or argument.type_list_attr


# ---- what to run


def counts(op: str, run: Callable[[Node, Feeds], Cost]) -> Iterator[tuple[str, Cost, Cost]]:
    """Yield (case, what tfg counts, what `run` counts) for an op's cases with elements, and for the cases made larger.

    Cases that the program leaves to the kernel, and larger inputs that the op does not take, are left out.
    """
    for family, case in opcases.by_op()[op]:
        if not case.is_single_op or is_refused(family, case) or not all(map(_is_countable, case.feeds.values())):
            continue
        for feeds in (case.feeds, *_larger(case)):
            try:
                node, cost = _counted(dataclasses.replace(case, feeds=feeds))
                result = run(node, feeds)
            except (TfgError, ValueError, IndexError):
                continue
            yield f"{case.key} of {[value.shape for value in feeds.values()]}", cost, result


def _is_countable(value: np.ndarray[Any, Any]) -> bool:
    return value.size > 0 and value.dtype != object and value.dtype.name not in NARROW


def _larger(case: opcases.Case) -> Iterator[Feeds]:
    """Yield the inputs with one more element wherever a dimension has a certain size, for each size."""
    _, node = _built(case)
    grows = {name: value for name, value in case.feeds.items() if name not in _places(node, case.feeds)}
    for size in sorted({dim for value in grows.values() for dim in value.shape}):
        yield {**case.feeds, **{name: _grown(value, size) for name, value in grows.items() if size in value.shape}}


def _grown(value: np.ndarray[Any, Any], size: int) -> np.ndarray[Any, Any]:
    return np.pad(value, [(0, int(dim == size)) for dim in value.shape], mode="edge")


def _built(case: opcases.Case) -> tuple[Graph, Node]:
    builder = GraphBuilder()
    case.build(builder)
    for name, value in case.feeds.items():
        builder.graph.output(name).node.set_attr("shape", Shape(value.shape))
    return builder.graph, builder.graph["op"]


def _counted(case: opcases.Case) -> tuple[Node, Cost]:
    """Return the node of a case, and what tfg counts for it."""
    graph, node = _built(case)
    specs = inference.infer(graph, fed_specs(graph, case, full=True)).specs
    inputs, results = [specs[value] for value in node.inputs], [specs[output] for output in outputs(node)]
    return node, node_calls.call_flops_function(node, registry.flops_function(case.op), inputs, results)
