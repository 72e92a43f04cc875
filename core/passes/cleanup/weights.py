"""Weights that take less room: rounded, so that they compress, or stored in 8 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ...graph.graph import Graph, Node
from ...graph.node_making import add_constant
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.tensors import Tensor
from ..base.accuracy import Accuracy
from ..base.graph_pass import Pass, PassContext


@dataclasses.dataclass(frozen=True)
class RoundWeights(Pass):
    """Round every float constant of at least `minimum_size` elements to `steps` values between the least and greatest
    element.
    """

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
            value, width = value.astype(np.float64), (high - low) / self.steps
            bucket = np.minimum(np.floor((value - low) / width), self.steps - 1)
            rounded = (low + width * (bucket + 0.5)).astype(np.float32)
            ctx.note_error(node, value, rounded, value.size * 4)
            node.set_attr("value", Tensor.from_numpy(rounded, dtypes.float32))
            ctx.fire("round", node, f"rounded to {self.steps} values")


@dataclasses.dataclass(frozen=True)
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
            low, high = _range(value)
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
            made = add_constant(graph, f"{node.name}/{suffix}", tensor, node.control_inputs, node.device)
            inputs.append(made.output())
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


def _range(value: Any) -> tuple[float, float]:
    """Return the least and greatest element, moved apart where they are equal."""
    low, high = float(value.min()), float(value.max())
    if low != high:
        return low, high
    if abs(low) < 1e-6:
        return low, low + 1
    return (low, 2 * low) if low > 0 else (low, low / 2)
