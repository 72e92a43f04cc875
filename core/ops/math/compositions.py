"""Chains of elementwise ops that TensorFlow's optimizer fuses into a single node."""

from __future__ import annotations

from collections.abc import Sequence

from ...building.gradbuilder import GradientBuilder
from ...graph.graph import Node, Output
from ...registry import registry
from ...registry.registry import ZERO, Cost, facts, flops, kernel, shape
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.shapes import TensorSpec
from ..shared.decompositions import composed
from ..shared.plain_shapes import first_shape

_COMPOSABLE = frozenset(
    [
        "Abs",
        "Acos",
        "Acosh",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "Ceil",
        "Cos",
        "Cosh",
        "Elu",
        "Exp",
        "Expm1",
        "Floor",
        "Inv",
        "Log",
        "Log1p",
        "Neg",
        "Reciprocal",
        "Relu",
        "Relu6",
        "Rint",
        "Round",
        "Rsqrt",
        "Selu",
        "Sigmoid",
        "Sin",
        "Sinh",
        "Sqrt",
        "Square",
        "Tan",
        "Tanh",
    ]
)


def _require_composable(op_names: list[str]) -> None:
    unknown = [op for op in op_names if op not in _COMPOSABLE]
    if unknown or not op_names:
        raise InvalidArgumentError(f"_UnaryOpsComposition cannot compose {unknown or 'nothing'}")


@kernel("_UnaryOpsComposition")
def unary_ops_composition(x: Array, *, op_names: list[str]) -> Result:
    """The last of the ops of ... the first op of x."""
    _require_composable(op_names)
    attrs = {"T": dtypes.from_numpy(x.dtype)}
    for op in op_names:
        function = next(k.function for k in registry.kernels(op) if k.accepts(attrs))
        x = function(x)
    return x


shape("_UnaryOpsComposition")(first_shape)


@flops("_UnaryOpsComposition")
def unary_ops_composition_flops(x: TensorSpec, *, op_names: list[str]) -> Cost:
    """The sum of the costs of the ops."""
    total = ZERO
    for op in op_names:
        function = registry.flops_function(op)
        total = total + (ZERO if function is None else function(x))
    return total


@composed("_UnaryOpsComposition")
def unary_ops_composition_parts(g: GradientBuilder, node: Node, inputs: Sequence[Output]) -> list[Output]:
    """Apply the ops in turn."""
    (x,) = inputs
    for op in node.attr("op_names"):
        x = g.apply(op.decode("utf-8", "replace"), x)
    return [x]


facts("elementwise", of=("_UnaryOpsComposition",))
