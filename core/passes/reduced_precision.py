"""Fewer bits for numbers: weights, or weights and computation, in 16-bit floats, with casts where float32 begins and ends;
weights rounded to few values, or stored in 8 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from ..graph.graph import Graph, Node, Output
from ..graph.node_making import add_constant
from ..graph.traversal import closure
from ..registry.kernel_types import takes
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from ..types import dtypes
from ..types.arrays import Array
from ..types.dtypes import DType, float32
from ..types.tensors import Tensor
from .base.accuracy import Accuracy
from .base.graph_pass import Pass, PassContext, become


@dataclasses.dataclass(frozen=True)
class HalfPrecision:
    """The fields and the run of both passes, which differ in their dtype."""

    in_default_pipeline: ClassVar[bool] = False
    is_final: ClassVar[bool] = True
    precedes: ClassVar[tuple[str, ...]] = ("fuse",)
    accuracy: ClassVar[Accuracy] = Accuracy.RELAXED
    dtype: ClassVar[DType]
    compute: bool = True
    stay: tuple[str, ...] = ()
    minimum_size: int = 16

    def run(self, graph: Graph, ctx: PassContext) -> None:
        if self.compute:
            _PrecisionConversion(graph, ctx, self.dtype, self.stay).make()
        else:
            _convert_weights(graph, ctx, self.dtype, self.minimum_size)


class Float16(HalfPrecision, Pass):
    """Compute products and convolutions in float16, and the ops around them that float16 serves, or store weights so.

    `compute=false` converts only float constants of at least `minimum_size` elements, with a Cast behind each. `stay` names
    ops and nodes that stay in float32, joined by +.
    """

    name: ClassVar[str] = "float16"
    summary: ClassVar[str] = "compute in float16 where safe, or store weights in float16 (results change)"
    follows: ClassVar[str] = "quantize_weights"
    tolerance: ClassVar[float] = 0.01
    dtype: ClassVar[DType] = dtypes.float16


class BFloat16(HalfPrecision, Pass):
    """Do as `float16` does, in bfloat16: the range of float32, and 8 bits of precision."""

    name: ClassVar[str] = "bfloat16"
    summary: ClassVar[str] = "compute in bfloat16 where safe, or store weights in bfloat16 (results change)"
    follows: ClassVar[str] = "float16"
    tolerance: ClassVar[float] = 0.05
    dtype: ClassVar[DType] = dtypes.bfloat16


_CAST: Final = "Cast"


def _convert_weights(graph: Graph, ctx: PassContext, dtype: DType, minimum_size: int) -> None:
    """Store the float constants of at least `minimum_size` elements in a dtype, with a Cast behind each."""
    for node in list(graph):
        if not node.is_constant or node.attrs["dtype"] is not dtypes.float32 or ctx.is_fed(node.output()):
            continue
        value = _narrowed(ctx, node, dtype) if node.attrs["value"].size >= minimum_size else None
        if value is not None:
            stored = add_constant(graph, f"{node.name}/{dtype.name}", value, node.control_inputs, node.device)
            become(graph, node, _CAST, [stored.output()], _cast_attrs(dtype, dtypes.float32), ())
            ctx.fire("weights", node, f"its values are stored as {dtype}")


def _narrowed(ctx: PassContext, node: Node, dtype: DType) -> Tensor | None:
    """Return the value of a constant in 16 bits and note the error; None, with a refusal, if a number leaves the range."""
    value = ctx.constant_value(node.output())
    if value is None:
        ctx.refuse("weights", node, "a single element stands for very many")
        return None
    if _leaves_range(value, dtype):
        ctx.refuse("weights", node, f"it holds numbers outside the range of {dtype}")
        return None
    narrow = value.astype(dtype.numpy)
    ctx.note_error(node, value, narrow.astype(np.float32), narrow.nbytes)
    return Tensor.from_numpy(narrow, dtype)


def _leaves_range(value: Array, dtype: DType) -> bool:
    """Return True if a finite number becomes infinite in a dtype."""
    with np.errstate(over="ignore"):
        narrow = value.astype(dtype.numpy)
    # Numbers below the range become 0 or lose digits. That is an error of the size that the pass is asked for, and an infinity
    # is not.
    return bool((np.isfinite(value) & ~np.isfinite(narrow)).any())


def _cast_attrs(source: DType, target: DType) -> dict[str, Any]:
    return {"SrcT": source, "DstT": target, "Truncate": False}


def _declares(node: Node, attr: str, dtype: DType) -> bool:
    """Return False if the op does not allow a dtype, or takes further values of float32 by a list of types.

    TensorFlow declares the biases of fused convolutions by a list; their kernels without oneDNN have 32 or 64 bits.
    """
    definition = node.op_def
    assert definition is not None
    allowed = definition.attrs[attr].allowed
    lists = [arg.type_list_attr for arg in definition.inputs if arg.type_list_attr is not None]
    return (allowed is None or dtype in allowed) and not any(
        dtypes.float32 in definition.attr(node.attrs, name) for name in lists
    )


class _PrecisionConversion:
    """A conversion of the chosen ports, with casts at the borders."""

    def __init__(self, graph: Graph, ctx: PassContext, dtype: DType, stay: tuple[str, ...]) -> None:
        self._graph, self._ctx, self._dtype, self._stay = graph, ctx, dtype, stay
        self._converted: set[Port] = set()
        self._casts: dict[tuple[Output, DType], Output] = {}

    def make(self) -> None:
        self._converted = ports_to_convert(self._graph, self._is_able)
        # In the order of names, since sets have none: new nodes get the same names in every process.
        for port in sorted(self._converted, key=lambda port: port.node.name):
            if self._ctx.is_preserved(port.node) and port in self._converted:
                self._step_aside(port.node)
        # All borders are found before the first type changes: afterwards the ports, which are float32, would be gone.
        edges = [(node, self._border_inputs(node)) for node in list(self._graph)]
        for port in self._converted:
            port.node.set_attr(port.attr, self._dtype)
            self._ctx.fire("compute", port.node, f"computes in {self._dtype}")
        for node, dtypes_of_inputs in edges:
            if any(dtypes_of_inputs):
                values = [self._cast(v, d) if d is not None else v for v, d in zip(node.inputs, dtypes_of_inputs)]
                self._graph.set_inputs(node, values)

    def _is_able(self, port: Port) -> bool:
        """Return True if the node of a port has kernels of the dtype, and nothing outside of the graph reads its type."""
        node = port.node
        if {node.op, node.name} & set(self._stay):
            self._ctx.refuse("compute", node, "it must stay in float32")
            return False
        if not _declares(node, port.attr, self._dtype):
            self._ctx.refuse("compute", node, f"{node.op} does not support {self._dtype}")
            return False
        if not takes(node.op, port.attr, self._dtype.name):
            self._ctx.refuse("compute", node, f"TensorFlow has no {self._dtype} kernel for {node.op}")
            return False
        is_named = self._ctx.is_preserved(node) and len(node.outputs()) != 1
        if is_named or self._ctx.has_fed_output(node):
            self._ctx.refuse("compute", node, "it is fed, or one of several outputs is fetched")
            return False
        return all(self._fits(value) for value in node.inputs)

    def _fits(self, value: Output) -> bool:
        """Return False for a constant with numbers beyond the range of the dtype."""
        constant = self._ctx.constant_value(value) if value.dtype is dtypes.float32 else None
        return constant is None or not _leaves_range(constant, self._dtype)

    def _step_aside(self, node: Node) -> None:
        """Put a new node in the place of a fetched node, which becomes the cast of the new node's result."""
        graph = self._graph
        name = graph.unique_name(f"{node.name}/{self._dtype.name}")
        inner = graph.add_node(name, node.op, node.inputs, node.control_inputs, dict(node.attrs), node.device)
        own = {p for p in self._converted if p.node is node}
        self._converted = (self._converted - own) | {Port(inner, p.attr) for p in own}
        for user in list(node.uses):
            # Only inputs of converted nodes read the half; the others read the cast.
            halves = {i for i, v in enumerate(user.inputs) if v.node is node and input_port(user, i) in self._converted}
            graph.set_inputs(user, [inner.output() if i in halves else v for i, v in enumerate(user.inputs)])
        become(graph, node, _CAST, [inner.output()], _cast_attrs(self._dtype, dtypes.float32), ())

    def _border_inputs(self, node: Node) -> list[DType | None]:
        """Return the dtype to which each input of a node is cast, None for an input that fits."""
        targets: list[DType | None] = []
        for index, value in enumerate(node.inputs):
            is_half, is_source_half = input_port(node, index) in self._converted, output_port(value) in self._converted
            # A Cast from the half dtype needs no cast before it: it is itself the border.
            is_cast = node.op == _CAST and node.attrs["SrcT"] is self._dtype
            targets.append(None if is_half == is_source_half or is_cast else self._dtype if is_half else dtypes.float32)
        return targets

    def _cast(self, value: Output, dtype: DType) -> Output:
        """Return a value in another dtype."""
        if (value, dtype) not in self._casts:
            make = self._narrow if dtype is self._dtype else self._new_cast
            self._casts[value, dtype] = make(value, dtype)
        return self._casts[value, dtype]

    def _narrow(self, value: Output, dtype: DType) -> Output:
        """Return a new constant for a constant, the cast of another value."""
        node = value.node
        narrow = _narrowed(self._ctx, node, self._dtype) if node.is_constant and not self._ctx.is_fed(value) else None
        if narrow is None:
            return self._new_cast(value, dtype)
        self._ctx.fire("weights", node, f"its values are stored as {self._dtype}")
        name = f"{node.name}/{self._dtype.name}"
        return add_constant(self._graph, name, narrow, node.control_inputs, node.device).output()

    def _new_cast(self, value: Output, dtype: DType) -> Output:
        source = self._dtype if dtype is dtypes.float32 else dtypes.float32
        name = self._graph.unique_name(f"{value.node.name}/to_{dtype.name}")
        node = self._graph.add_node(name, _CAST, [value], (), _cast_attrs(source, dtype), value.node.device)
        self._ctx.fire("cast", node)
        return node.output()


# The choice of the ops that compute in 16-bit floats, by the algorithm of Grappler's auto_mixed_precision.


class Port(NamedTuple):
    """A type attribute of a node that is float32: all inputs and outputs of this type change together."""

    node: Node
    attr: str


def input_port(node: Node, index: int) -> Port | None:
    """Return the port of an input, None for an input of another dtype or of a fixed dtype."""
    attrs = list(_input_attrs(node)) if node.op_def is not None else []
    return _port(node, attrs[index]) if index < len(attrs) else None


def output_port(value: Output) -> Port | None:
    """Return the port of an output, None for an output of another dtype or of a fixed dtype."""
    definition = value.node.op_def
    if definition is None:
        return None
    attrs = [arg.type_attr for arg in definition.outputs for _ in range(definition.length(arg, value.node.attrs))]
    return _port(value.node, attrs[value.index]) if value.index < len(attrs) else None


def ports_to_convert(graph: Graph, is_able: Callable[[Port], bool]) -> set[Port]:
    """Return the ports of the nodes that compute in 16 bits; `is_able` is False for a port that has to stay float32."""
    before, after = _edges(graph)
    ports = before.keys() | after.keys()

    def of(fact: str) -> set[Port]:
        return {port for port in ports if has_fact(port.node.op, fact) and is_able(port)}

    allowed, inferred, clear = of(fact="half_allow"), of(fact="half_infer"), of(fact="half_clear")
    denied = {port for port in ports if has_fact(port.node.op, "half_deny")}
    # Grappler's four steps: forbid what follows a forbidden op, allow what leads from an allowed op to an allowed op, and let
    # ops that only move numbers join their neighbours.
    passing = _reached(denied | inferred, clear, before)
    denied |= _reached(denied, passing, after)
    below = _reached(allowed, (inferred | clear) - denied, after)
    allowed |= _reached(allowed, below, before)
    return allowed | _reached(allowed, clear - denied, before, after)


_Edges = dict[Port, set[Port]]


def _edges(graph: Graph) -> tuple[_Edges, _Edges]:
    """Return the ports before and behind each port."""
    before: _Edges = {}
    after: _Edges = {}
    for node in graph:
        for index, value in enumerate(node.inputs):
            source, target = output_port(value), input_port(node, index)
            for port in filter(None, (source, target)):
                before.setdefault(port, set())
                after.setdefault(port, set())
            if source is not None and target is not None:
                before[target].add(source)
                after[source].add(target)
    return before, after


def _reached(roots: Iterable[Port], among: set[Port], *edges: _Edges) -> set[Port]:
    """Return the roots and the ports of `among` that edges lead to from a root, through ports of `among`."""
    return closure(roots, lambda port: (other for step in edges for other in step.get(port, ()) if other in among))


def _input_attrs(node: Node) -> Iterator[str | None]:
    assert node.op_def is not None
    for arg in node.op_def.inputs:
        # A reference has the dtype of its variable, which stays in float32.
        yield from [None if arg.is_ref else arg.type_attr] * node.op_def.length(arg, node.attrs)


def _port(node: Node, attr: str | None) -> Port | None:
    is_float = attr is not None and node.op_def is not None and node.op_def.attr(node.attrs, attr) is float32
    return Port(node, attr) if is_float and attr is not None else None


class RoundWeights(Pass):
    """Round each float constant of at least `minimum_size` elements to `steps` values between its least and greatest."""

    name: ClassVar[str] = "round_weights"
    summary: ClassVar[str] = "round weights to few distinct values, so that the file compresses well (results change)"
    follows: ClassVar[str] = "fuse"
    in_default_pipeline: ClassVar[bool] = False
    is_final: ClassVar[bool] = True
    accuracy: ClassVar[Accuracy] = Accuracy.RELAXED
    tolerance: ClassVar[float] = 0.05
    steps: int = 256
    minimum_size: int = 16

    def __post_init__(self) -> None:
        if self.steps < 1:
            problem = f"pass {self.name} cannot round weights to {self.steps} values"
            raise InvalidArgumentError(problem, hint="set the option steps to at least 1")

    def run(self, graph: Graph, ctx: PassContext) -> None:
        for node, value in _weights(graph, ctx, self.minimum_size):
            low, high = float(value.min()), float(value.max())
            if low == high:
                ctx.refuse("round", node, "all its elements are equal")
                continue
            # In float64, as differences of large float32 numbers have few digits.
            value, width = value.astype(np.float64), (high - low) / self.steps
            # The greatest element lies at the end of the last bucket, not in one of its own.
            bucket = np.minimum(np.floor((value - low) / width), self.steps - 1)
            rounded = (low + width * (bucket + 0.5)).astype(np.float32)
            ctx.note_error(node, value, rounded, value.size * 4)
            node.set_attr("value", Tensor.from_numpy(rounded, dtypes.float32))
            ctx.fire("round", node, f"rounded to {self.steps} values")


class QuantizeWeights(Pass):
    """Store every float constant of at least `minimum_size` elements in 8 bits, with a Dequantize behind the constant.

    The codes follow Dequantize in mode MIN_FIRST: element = (code + round(least / step)) step,
    where a step is (greatest - least) / 255.
    """

    name: ClassVar[str] = "quantize_weights"
    summary: ClassVar[str] = "store weights in 8 bits, followed by Dequantize (results change)"
    follows: ClassVar[str] = "round_weights"
    in_default_pipeline: ClassVar[bool] = False
    is_final: ClassVar[bool] = True
    accuracy: ClassVar[Accuracy] = Accuracy.RELAXED
    tolerance: ClassVar[float] = 0.05
    minimum_size: int = 1024

    def run(self, graph: Graph, ctx: PassContext) -> None:
        for node, value in _weights(graph, ctx, self.minimum_size):
            low, high = _least_and_greatest(value)
            step = np.float32((high - low) / 255)
            least = np.round(np.float32(low) / step)  # Dequantize rounds the least element to whole steps
            codes = np.clip(np.round(value / step) - least, 0, 255).astype(dtypes.quint8.numpy)
            stored = codes.astype(np.float32) * step + least * step
            ctx.note_error(node, value, stored, codes.nbytes)
            self._replace(graph, node, codes, (low, high))
            ctx.fire("quantize", node, "its values are stored in 8 bits")

    def _replace(self, graph: Graph, node: Node, codes: Any, limits: tuple[float, float]) -> None:
        """Turn the node into the Dequantize under the same name; the constants stand beside the node."""
        parts = [("quantized", codes, dtypes.quint8), ("min", limits[0], dtypes.float32), ("max", limits[1], dtypes.float32)]
        inputs = []
        for suffix, value, dtype in parts:
            tensor = Tensor.from_numpy(np.asarray(value, dtype.numpy), dtype)
            constant = add_constant(graph, f"{node.name}/{suffix}", tensor, node.control_inputs, node.device)
            inputs.append(constant.output())
        private = {key: value for key, value in node.attrs.items() if key.startswith("_")}
        node.change_op("Dequantize", {"T": dtypes.quint8, "mode": b"MIN_FIRST", "dtype": dtypes.float32, **private})
        graph.set_inputs(node, inputs, ())


def _weights(graph: Graph, ctx: PassContext, minimum: int) -> Iterator[tuple[Node, Any]]:
    for node in list(graph):
        if node.is_constant and node.attrs["dtype"] is dtypes.float32 and not ctx.is_fed(node.output()):
            value = ctx.constant_value(node.output())
            if value is None:
                ctx.refuse("weights", node, "a single element stands for very many")
            elif value.size < max(minimum, 1):
                ctx.refuse("weights", node, f"it has fewer than {minimum} elements")
            elif not np.all(np.isfinite(value)):
                ctx.refuse("weights", node, "it holds infinities or NaN")
            else:
                yield node, value


def _least_and_greatest(value: Any) -> tuple[float, float]:
    """Return the least and greatest element, moved apart if they are equal."""
    low, high = float(value.min()), float(value.max())
    if low != high:
        return low, high
    if abs(low) < 1e-6:
        return low, low + 1
    # The width of the range is divided by, so it must not be 0; and the only element must lie at its lower end, where it is
    # stored without an error.
    return (low, 2 * low) if low > 0 else (low, low / 2)
