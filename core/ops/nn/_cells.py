"""Steps of recurrent cells in single ops, for their gradients: TensorFlow has none of the fused cells."""

from __future__ import annotations

from collections.abc import Sequence

from ...building.gradbuilder import GradientBuilder
from ...graph.graph import Node, Output


def lstm_cell_parts(g: GradientBuilder, node: Node, inputs: Sequence[Output]) -> list[Output]:
    """Return the step of an LSTM: i, cs, f, o, ci, co, h."""
    x, cs_prev, h_prev, w, wci, wcf, wco, b = inputs
    gates = g.BiasAdd(g.MatMul(g.ConcatV2([x, h_prev], 1), w), b)
    i, ci, f, o = g.Split(1, gates, num_split=4)
    f = g.AddV2(f, g.scalar_like(x, node.attr("forget_bias")))
    if node.attr("use_peephole"):
        i, f = g.AddV2(i, g.Mul(cs_prev, wci)), g.AddV2(f, g.Mul(cs_prev, wcf))
    i, f, ci = g.Sigmoid(i), g.Sigmoid(f), g.Tanh(ci)
    cs = g.AddV2(g.Mul(ci, i), g.Mul(cs_prev, f))
    clip = node.attr("cell_clip")
    if clip > 0:
        cs = g.Minimum(g.Maximum(cs, g.scalar_like(x, -clip)), g.scalar_like(x, clip))
    o = g.Sigmoid(g.AddV2(o, g.Mul(cs, wco)) if node.attr("use_peephole") else o)
    co = g.Tanh(cs)
    return [i, cs, f, o, ci, co, g.Mul(co, o)]


def gru_cell_parts(g: GradientBuilder, node: Node, inputs: Sequence[Output]) -> list[Output]:
    """Return the step of a GRU: r, u, c, h."""
    x, h_prev, w_ru, w_c, b_ru, b_c = inputs
    gates = g.Sigmoid(g.BiasAdd(g.MatMul(g.ConcatV2([x, h_prev], 1), w_ru), b_ru))
    r, u = g.Split(1, gates, num_split=2)
    c = g.Tanh(g.BiasAdd(g.MatMul(g.ConcatV2([x, g.Mul(h_prev, r)], 1), w_c), b_c))
    return [r, u, c, g.AddV2(g.Mul(u, h_prev), g.Mul(g.Sub(g.scalar_like(x, 1), u), c))]
