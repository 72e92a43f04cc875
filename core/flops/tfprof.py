"""The formulas that tf.profiler registers, for comparison: they need static shapes, know few ops and visit every node once."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..dims import DimLike, substitute
from ..graph import Graph, Node
from ..inference import infer
from ..shapes import Shape, TensorSpec
from .given import symbolic_placeholders
from .report import FlopsReport, NodeCost, add_up, magnitude
from .symbols import Symbols


class _Dropped(Exception):
    """tf.profiler skips the node without a word."""


Formula = Callable[[Node, Sequence[TensorSpec], Sequence[TensorSpec]], float]


def _size(spec: TensorSpec) -> int:
    size = spec.shape.num_elements
    if not isinstance(size, int):
        raise _Dropped("shapes are unknown")
    return size


def _dims(spec: TensorSpec) -> tuple[int, ...]:
    _size(spec)
    return tuple(dim for dim in spec.shape if isinstance(dim, int))


def _of_input(factor: int) -> Formula:
    return lambda node, inputs, outputs: factor * _size(inputs[0])


def _of_output(factor: int) -> Formula:
    return lambda node, inputs, outputs: factor * _size(outputs[0])


def _reduction(node: Node, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> float:
    return _size(inputs[0]) - _size(outputs[0])


def _require_nhwc(node: Node) -> None:
    if node.attrs.get("data_format", b"NHWC") != b"NHWC":
        raise _Dropped("data format NCHW")


def _pool(of: int, factor: int, more: int) -> Formula:
    """factor * window + more for each element of output (-1) or of input number `of`."""

    def formula(node: Node, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> float:
        _require_nhwc(node)
        return (factor * math.prod(node.attr("ksize")) + more) * _size(outputs[0] if of < 0 else inputs[of])

    return formula


def _matmul(node: Node, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> float:
    """The inner dimension by `transpose_a`, an attribute that batch matmuls do not have."""
    return 2 * _dims(inputs[0])[-2 if node.attrs.get("transpose_a") else -1] * _size(outputs[0])


def _window(upto: int) -> Formula:
    """2 for each output element and each of the filter's first dimensions."""
    return lambda node, inputs, outputs: 2 * _size(outputs[0]) * math.prod(_dims(inputs[1])[:upto])


def _backprop_input(node: Node, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> float:
    return _backprop(node, _dims(outputs[0]), _dims(inputs[1]))


def _backprop_filter(node: Node, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> float:
    return _backprop(node, _dims(inputs[0]), _dims(outputs[0]))


def _backprop(node: Node, image: Sequence[int], kernel: Sequence[int]) -> float:
    """By input positions over strides; output positions are what it takes."""
    _require_nhwc(node)
    strides = node.attr("strides")
    return int(2 * math.prod(image) * math.prod(kernel) / (image[-1] * strides[1] * strides[2]))


def _add_n(node: Node, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> float:
    return _size(inputs[0]) * (len(inputs) - 1)


FORMULAS: Final[Mapping[str, Formula]] = {
    **dict.fromkeys(("Reciprocal", "Square", "Log", "Neg", "AssignAdd", "AssignSub", "BiasAdd", "Mean"), _of_input(1)),
    "Rsqrt": _of_input(2),
    "Softmax": _of_input(5),
    "L2Loss": lambda node, inputs, outputs: 3 * _size(inputs[0]) - 1,
    **dict.fromkeys(
        ("Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow", "Greater", "GreaterEqual", "Less",
         "LessEqual", "Equal", "NotEqual"), _of_output(1),
    ),
    "SquaredDifference": _of_output(2),
    "RsqrtGrad": _of_output(4),
    **dict.fromkeys(("Sum", "ArgMax", "ArgMin", "BiasAddGrad"), _reduction),
    **dict.fromkeys(("AvgPool", "MaxPool"), _pool(-1, 1, 0)),
    "AvgPoolGrad": _pool(1, 2, 0),
    "MaxPoolGrad": _pool(1, 1, 1),
    **dict.fromkeys(("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"), _matmul),
    **dict.fromkeys(("Conv2D", "Conv3D"), _window(-1)),
    **dict.fromkeys(("DepthwiseConv2dNative", "Dilation2D"), _window(2)),
    "Conv2DBackpropInput": _backprop_input,
    "Conv2DBackpropFilter": _backprop_filter,
    "AddN": _add_n,
}  # fmt: skip

_REASONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("Log", "Pow"), "transcendental functions are counted apart here"),
    "Softmax": "5 an element there; exponentials are counted apart here",
    "L2Loss": "3 an element less 1 there, 2 an element here",
    "AvgPoolGrad": "2 for each place of a window there",
    "MaxPool": "as many comparisons as the window has places there, one less here",
    "MaxPoolGrad": "one operation a window more there",
    **dict.fromkeys(("Conv2DBackpropInput", "Conv2DBackpropFilter"), "input positions there, output positions here"),
    **dict.fromkeys(("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"), "adj_x is not looked at there"),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """An op: what runs of it costs here, what tf.profiler says of the graph, and why the two differ."""

    op: str
    nodes: int
    flops: DimLike
    profiler: int
    reason: str


def compare(
    graph: Graph, report: FlopsReport, shapes: Mapping[str, Any] | None = None, batch: int | None = None
) -> list[Difference]:
    """By op, the largest of either count first; only ops that one of the two counts."""
    theirs, dropped = _profiler_counts(graph, shapes or {}, batch)
    ours: dict[str, list[NodeCost]] = {}
    for cost in report.nodes:
        ours.setdefault(cost.op, []).append(cost)
    listed: dict[str, list[Node]] = {}
    for node in graph:
        listed.setdefault(node.op, []).append(node)
    found = []
    for op in {*ours, *theirs}:
        flops, profiler = add_up(cost.cost.flops for cost in ours.get(op, ())), theirs.get(op, 0)
        if flops != 0 or profiler:
            reason = "" if flops == profiler else _reason(op, ours.get(op, []), listed.get(op, []), dropped.get(op, []))
            found.append(Difference(op, len(ours.get(op, ())), flops, profiler, reason))
    return sorted(found, key=lambda d: (-max(magnitude(d.flops), d.profiler), d.op))


def _profiler_counts(
    graph: Graph, shapes: Mapping[str, Any], batch: int | None
) -> tuple[dict[str, int], dict[str, list[str]]]:
    """(FLOPs by op, why nodes were dropped by op): every node of the graph, once."""
    known = symbolic_placeholders(graph, shapes, Symbols())
    if batch is not None:
        known = {value: dataclasses.replace(spec, shape=_with_batch(spec.shape, batch)) for value, spec in known.items()}
    inference = infer(graph, known)
    counts: dict[str, int] = {}
    dropped: dict[str, list[str]] = {}
    for node in graph:
        formula = FORMULAS.get(node.op)
        if formula is None:
            continue
        inputs, outputs = ([inference.specs[v] for v in values] for values in (node.inputs, node.outputs()))
        try:
            counts[node.op] = counts.get(node.op, 0) + int(formula(node, inputs, outputs))
        except _Dropped as reason:
            dropped.setdefault(node.op, []).append(str(reason))
    return counts, dropped


def _with_batch(shape: Shape, batch: int) -> Shape:
    return Shape(substitute(dim, {"N": batch}) for dim in shape) if shape.dims is not None else shape


def _reason(op: str, ours: Sequence[NodeCost], nodes: Sequence[Node], dropped: Sequence[str]) -> str:
    if op not in FORMULAS:
        return "tf.profiler has no formula"
    found = [f"{dropped.count(reason)} of {len(nodes)} dropped there: {reason}" for reason in dict.fromkeys(dropped)]
    names = {node.name for node in nodes}
    run = sum(cost.path in names for cost in ours)
    if run < len(nodes):
        found.append(f"{len(nodes) - run} do not run for these fetches")
    if len(ours) > run:
        found.append(f"{len(ours) - run} in functions are not visited there")
    if any(cost.times != 1 for cost in ours):
        found.append("loops count once there")
    if op in _REASONS:
        found.append(_REASONS[op])
    return "; ".join(found)
