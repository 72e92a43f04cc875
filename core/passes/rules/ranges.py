"""Range analysis: bounds of the values that a graph computes, for all feeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import ml_dtypes
import numpy as np

from ...graph.graph import Node, Output
from ...graph.traversal import sources_first
from ...registry.op_facts import has_fact
from ..base.graph_pass import PassContext
from .product_axes import PRODUCTS, data_input, weights_sum


class ValueRange(NamedTuple):
    """The least and the greatest of the elements that are numbers. NaN may be among them too."""

    low: float
    high: float

    @property
    def magnitude(self) -> float:
        """The greatest absolute value."""
        return max(-self.low, self.high)


UNKNOWN: Final = ValueRange(-math.inf, math.inf)


def _between(ranges: Sequence[ValueRange]) -> ValueRange:
    return ValueRange(min(0.0, *(one.low for one in ranges)), max(0.0, *(one.high for one in ranges)))


def _sum(ranges: Sequence[ValueRange]) -> ValueRange:
    return ValueRange(sum(one.low for one in ranges), sum(one.high for one in ranges))


def _product(ranges: Sequence[ValueRange]) -> ValueRange:
    """Return the range of a product: the ends are products of ends; a product of positive numbers may round to 0."""
    corners = [a * b for a in ranges[0] for b in ranges[1]]
    if any(map(math.isnan, corners)):
        return UNKNOWN
    return ValueRange(min(0.0, *corners), max(0.0, *corners))


def _of_results(op: str, ranges: Sequence[ValueRange]) -> ValueRange:
    """Return the range of an op's results from the ranges of the op's floating-point inputs."""
    if has_fact(op, "unit_range"):
        bounds = ValueRange(-1, 1)
    elif op == "Relu6":
        bounds = ValueRange(0, 6)
    elif op == "Mul":
        bounds = _product(ranges)
    elif has_fact(op, "sum_of_inputs"):
        bounds = _sum(ranges)
    elif has_fact(op, "bounded_by_inputs") or has_fact(op, "forwarding") or has_fact(op, "view"):
        bounds = _between(ranges)
    else:
        bounds = UNKNOWN
    low = max(bounds.low, 0) if has_fact(op, "not_negative") else bounds.low
    return UNKNOWN if math.isnan(low) or math.isnan(bounds.high) else ValueRange(low, bounds.high)


class ValueRanges:
    """The ranges of a graph's values, computed at first use."""

    def __init__(self, ctx: PassContext) -> None:
        self._ctx = ctx
        self._ranges: dict[Output, ValueRange] = {}

    def of(self, value: Output) -> ValueRange:
        """Return the range of a value: all numbers where nothing is known, as in a loop."""
        known = self._ranges
        if value not in known:
            for each in sources_first(value, lambda each: (v for v in self._operands(each) if v not in known)):
                known[each] = self._computed(each)
        return known[value]

    def _operands(self, value: Output) -> list[Output]:
        """Return the inputs whose ranges determine the range of a value."""
        node = value.node
        if self._ctx.is_fed(value):
            return []
        if node.op in PRODUCTS:
            return [data_input(node)]
        return [v for v in node.inputs if v.dtype is not None and v.dtype.is_floating]

    def _computed(self, value: Output) -> ValueRange:
        node = value.node
        if self._ctx.is_fed(value) or value.dtype is None or not value.dtype.is_floating:
            return UNKNOWN
        if node.is_constant:
            return _of_constant(self._ctx.constant_value(value))
        if node.op == "Cast":
            return _of_integers(node.inputs[0])
        ranges = [self._ranges.get(operand, UNKNOWN) for operand in self._operands(value)]
        if node.op in PRODUCTS:
            return self._of_product(node, ranges[0])
        return _of_results(node.op, ranges) if ranges else UNKNOWN

    def _of_product(self, node: Node, data: ValueRange) -> ValueRange:
        """Bound a product by the greatest datum times the greatest sum of the absolute weights of a channel."""
        weights = self._ctx.constant_value(node.inputs[1])
        most = data.magnitude * weights_sum(node, weights) if weights is not None else math.inf
        return ValueRange(-most, most) if math.isfinite(most) else UNKNOWN


def _of_constant(array: Any) -> ValueRange:
    if array is None or not array.size or not np.all(np.isfinite(array)):
        return UNKNOWN
    return ValueRange(float(array.min()), float(array.max()))


def _of_integers(source: Output) -> ValueRange:
    """Return the range of numbers that are cast from integers, by their dtype."""
    if source.dtype is None or not source.dtype.is_integer:
        return UNKNOWN
    limits = ml_dtypes.iinfo(source.dtype.base.numpy)
    return ValueRange(float(limits.min), float(limits.max))
