"""Fused LSTM cells for one step and for a sequence, and the ops of their gradients.

An LSTM's weights hold four gates side by side: input, cell, forget, output (V1), or input, forget, cell, output (V2).
"""
# Ops here (scripts/regenerate.py writes this list):
#   BlockLSTM BlockLSTMV2 LSTMBlockCell
#   BlockLSTMGrad BlockLSTMGradV2 LSTMBlockCellGrad: backward

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.half_precision import wide
from ...registry.registry import Cost, facts, flops, gradient, kernel, multiply_adds, onnx, shape, without_gradient
from ...types.arrays import Array, Result
from ...types.shapes import Shape, TensorSpec
from ..shared.argument_checks import require, require_rank, require_shape, scalar, with_rank
from ..shared.decompositions import gradient_by_parts
from ._cells import lstm_cell_parts

_V1 = (0, 1, 2, 3)
_V2 = (0, 2, 1, 3)
"""Where input, cell, forget and output gate lie among the four."""


def sigmoid(x: Array) -> Array:
    return np.float32(1) / (np.float32(1) + np.exp(-x))


def _check_cell(x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array, wcf: Array, wco: Array, b: Array) -> None:
    """Shapes for one step: x (batch, inputs), state (batch, cells)."""
    require_rank(x, 2, "x")
    require_rank(cs_prev, 2, "cs_prev")
    batch, inputs = x.shape
    cells = cs_prev.shape[1]
    require(cs_prev.shape[0] == batch, f"x {x.shape} and cs_prev {cs_prev.shape} differ in batch size")
    require_shape(h_prev, (batch, cells), "h_prev")
    require_shape(w, (inputs + cells, 4 * cells), "w")
    for name, peephole in (("wci", wci), ("wcf", wcf), ("wco", wco)):
        require_shape(peephole, (cells,), name)
    require_shape(b, (4 * cells,), "b")


def _split(gates: Array, layout: tuple[int, ...]) -> list[Array]:
    """(batch, 4 * cells) as input, cell, forget and output."""
    parts = np.split(gates, 4, 1)
    return [parts[i] for i in layout]


def _join(parts: tuple[Array, ...], layout: tuple[int, ...]) -> Array:
    """Input, cell, forget and output gates side by side."""
    ordered: list[Any] = [None] * 4
    for part, place in zip(parts, layout):
        ordered[place] = part
    return np.concatenate(ordered, 1)


def _cell(
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    *,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
    layout: tuple[int, ...],
) -> tuple[Array, ...]:
    """One step: i, cs, f, o, ci, co, h."""
    i, ci, f, o = _split(np.concatenate((x, h_prev), 1) @ w + b, layout)
    f = f + x.dtype.type(forget_bias)
    if use_peephole:
        i, f = i + cs_prev * wci, f + cs_prev * wcf
    i, f, ci = sigmoid(i), sigmoid(f), np.tanh(ci)
    cs = ci * i + cs_prev * f
    if cell_clip > 0:
        cs = np.clip(cs, x.dtype.type(-cell_clip), x.dtype.type(cell_clip))
    o = sigmoid(o + cs * wco if use_peephole else o)
    co = np.tanh(cs)
    return i, cs, f, o, ci, co, co * o


def _cell_gradient(
    cs_prev: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    i: Array,
    cs: Array,
    f: Array,
    o: Array,
    ci: Array,
    co: Array,
    cs_grad: Array,
    h_grad: Array,
    *,
    use_peephole: bool,
) -> tuple[Any, Any]:
    """The gradients of cs_prev (through the cell), and of the gates input, cell, forget, output before their functions."""
    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if use_peephole:
        dcs = dcs + do * wco
    dci = (1 - ci * ci) * dcs * i
    df = f * (1 - f) * dcs * cs_prev
    di = i * (1 - i) * dcs * ci
    cs_prev_grad = dcs * f
    if use_peephole:
        cs_prev_grad = cs_prev_grad + di * wci + df * wcf
    return cs_prev_grad, (di, dci, df, do)


def _peephole_gradients(gates: tuple[Array, ...], cs_prev: Array, cs: Array, use_peephole: bool) -> list[Array]:
    di, _, df, do = gates
    if not use_peephole:
        return [np.zeros(cs.shape[1:], cs.dtype)] * 3
    return [np.sum(x * y, 0, dtype=cs.dtype) for x, y in ((di, cs_prev), (df, cs_prev), (do, cs))]


def _narrow(values: Sequence[Array], dtype: Any) -> tuple[Array, ...]:
    return tuple(value.astype(dtype, copy=False) for value in values)


@kernel("LSTMBlockCell")
def lstm_block_cell(
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    *,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> tuple[Result, ...]:
    """One LSTM step: i, cs, f, o, ci, co, h, each (batch, cells)."""
    values = (x, cs_prev, h_prev, w, wci, wcf, wco, b)
    _check_cell(*values)
    step = _cell(*map(wide, values), forget_bias=forget_bias, cell_clip=cell_clip, use_peephole=use_peephole, layout=_V1)
    return _narrow(step, x.dtype)


@shape("LSTMBlockCell")
def lstm_block_cell_shape(x: TensorSpec, cs_prev: TensorSpec, *rest: TensorSpec) -> list[Shape]:
    state = Shape((with_rank(x.shape, 2)[0], with_rank(cs_prev.shape, 2)[1]))
    return [state] * 7


def _step_cost(x: TensorSpec, cs_prev: TensorSpec, use_peephole: bool) -> Cost:
    """One LSTM step of a batch: the matrix product, and for each cell its gates."""
    batch, inputs = tuple(x.shape)[-2:]
    cells = with_rank(cs_prev.shape, 2)[1]
    each = Cost(18 + (6 if use_peephole else 0), transcendentals=5)
    return multiply_adds(batch * (inputs + cells) * 4 * cells) + each * (batch * cells)


@flops("LSTMBlockCell")
def lstm_block_cell_flops(x: TensorSpec, cs_prev: TensorSpec, *rest: TensorSpec, use_peephole: bool) -> Cost:
    """One matrix product, and about twenty operations for each cell."""
    with_rank(x.shape, 2)
    return _step_cost(x, cs_prev, use_peephole)


gradient_by_parts("LSTMBlockCell")(lstm_cell_parts)


@kernel("LSTMBlockCellGrad")
def lstm_block_cell_grad(
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    i: Array,
    cs: Array,
    f: Array,
    o: Array,
    ci: Array,
    co: Array,
    cs_grad: Array,
    h_grad: Array,
    *,
    use_peephole: bool,
) -> tuple[Result, ...]:
    """The gradients of cs_prev, of the four gates side by side, and of the peepholes."""
    _check_cell(x, cs_prev, h_prev, w, wci, wcf, wco, b)
    for name, value in zip(("i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad"), (i, cs, f, o, ci, co, cs_grad, h_grad)):
        require_shape(value, cs_prev.shape, name)
    values = [wide(v) for v in (cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad)]
    cs_prev_grad, gates = _cell_gradient(*values, use_peephole=use_peephole)
    peepholes = _peephole_gradients(gates, values[0], values[5], use_peephole)
    return _narrow((cs_prev_grad, _join(gates, _V1), *peepholes), x.dtype)


@shape("LSTMBlockCellGrad")
def lstm_block_cell_grad_shape(
    x: TensorSpec,
    cs_prev: TensorSpec,
    h_prev: TensorSpec,
    w: TensorSpec,
    wci: TensorSpec,
    wcf: TensorSpec,
    wco: TensorSpec,
    b: TensorSpec,
    *rest: TensorSpec,
) -> list[Shape]:
    batch = with_rank(x.shape, 2)[0]
    cells = with_rank(cs_prev.shape, 2)[1]
    return [Shape((batch, cells)), Shape((batch, 4 * cells)), *[Shape((cells,))] * 3]


def _gates_gradient_cost(cs_prev: TensorSpec, use_peephole: bool) -> Cost:
    batch, cells = with_rank(cs_prev.shape, 2)
    return Cost(34 * batch * cells - 3 * cells if use_peephole else 22 * batch * cells)


@flops("LSTMBlockCellGrad")
def lstm_block_cell_grad_flops(x: TensorSpec, cs_prev: TensorSpec, *rest: TensorSpec, use_peephole: bool) -> Cost:
    """No matrix product; the derivatives of the gates, and sums over the batch for the peepholes."""
    return _gates_gradient_cost(cs_prev, use_peephole)


facts("backward", of=("LSTMBlockCellGrad",))


# TensorFlow registers no gradient for the single cells.
without_gradient("LSTMBlockCellGrad")


def _check_sequence(
    seq_len_max: Array, x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array, wcf: Array, wco: Array, b: Array
) -> int:
    """The number of steps to take."""
    steps = scalar(seq_len_max, "seq_len_max")
    require_rank(x, 3, "x")
    require(0 <= steps <= x.shape[0], f"seq_len_max {steps} is not in [0, {x.shape[0]}]")
    require(x.shape[0] > 0, f"x holds no time step: {x.shape}")
    _check_cell(x[0], cs_prev, h_prev, w, wci, wcf, wco, b)
    return steps


def _block_lstm(
    seq_len_max: Array,
    inputs: Sequence[Array],
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
    layout: tuple[int, ...],
) -> tuple[Array, ...]:
    steps = _check_sequence(seq_len_max, *inputs)
    dtype = inputs[0].dtype
    x, cs_prev, h_prev, *weights = map(wide, inputs)
    results = [np.zeros((len(x), *cs_prev.shape), x.dtype) for _ in range(7)]
    for t in range(steps):
        step = _cell(
            *(x[t], cs_prev, h_prev, *weights),
            forget_bias=forget_bias,
            cell_clip=cell_clip,
            use_peephole=use_peephole,
            layout=layout,
        )
        for result, value in zip(results, step):
            result[t] = value
        cs_prev, h_prev = step[1], step[6]
    return _narrow(results, dtype)


@kernel("BlockLSTM")
def block_lstm(
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    *,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> tuple[Result, ...]:
    """An LSTM over x (time, batch, inputs): i, cs, f, o, ci, co, h, each (time, batch, cells), zero from seq_len_max on."""
    inputs = (x, cs_prev, h_prev, w, wci, wcf, wco, b)
    return _block_lstm(seq_len_max, inputs, forget_bias, cell_clip, use_peephole, _V1)


def _sequence_gradient(g: GradientBuilder, node: Node, grads: Any, op: str) -> Any:
    attrs = {"use_peephole": node.attr("use_peephole")}
    outputs = [node.output(i) for i in range(7)]
    return [None, *g.apply(op, *node.inputs, *outputs, grads[1], grads[6], **attrs)]


@gradient("BlockLSTM")
def block_lstm_gradient(g: GradientBuilder, node: Node, *grads: Output) -> Gradients:
    """Through cs and h, as in TensorFlow."""
    return _sequence_gradient(g, node, grads, "BlockLSTMGrad")


@kernel("BlockLSTMV2")
def block_lstm_v2(
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    *,
    cell_clip: float,
    use_peephole: bool,
) -> tuple[Result, ...]:
    """As BlockLSTM with the gates in another order and no bias for the forget gate."""
    inputs = (x, cs_prev, h_prev, w, wci, wcf, wco, b)
    return _block_lstm(seq_len_max, inputs, 0.0, cell_clip, use_peephole, _V2)


@shape("BlockLSTM", "BlockLSTMV2")
def block_lstm_shape(
    seq_len_max: TensorSpec,
    x: TensorSpec,
    cs_prev: TensorSpec,
    h_prev: TensorSpec,
    w: TensorSpec,
    wci: TensorSpec,
    wcf: TensorSpec,
    wco: TensorSpec,
    b: TensorSpec,
) -> list[Shape]:
    time, batch, _ = with_rank(x.shape, 3)
    return [Shape((time, batch, with_rank(cs_prev.shape, 2)[1]))] * 7


@gradient("BlockLSTMV2")
def block_lstm_v2_gradient(g: GradientBuilder, node: Node, *grads: Output) -> Gradients:
    """Through cs and h, as in TensorFlow."""
    return _sequence_gradient(g, node, grads, "BlockLSTMGradV2")


@flops("BlockLSTM", "BlockLSTMV2")
def block_lstm_flops(
    seq_len_max: TensorSpec, x: TensorSpec, cs_prev: TensorSpec, *rest: TensorSpec, use_peephole: bool
) -> Cost:
    """As many steps as x holds."""
    time, _, _ = with_rank(x.shape, 3)
    return _step_cost(x, cs_prev, use_peephole) * time


def _block_lstm_grad(
    seq_len_max: Array, inputs: Sequence[Array], outputs: Sequence[Array], use_peephole: bool, layout: tuple[int, ...]
) -> tuple[Array, ...]:
    """The gradients of x, cs_prev, h_prev, w, wci, wcf, wco and b."""
    steps = _check_sequence(seq_len_max, *inputs)
    dtype = inputs[0].dtype
    for name, value in zip(("i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"), outputs):
        require_shape(value, (inputs[0].shape[0], *inputs[1].shape), name)
    x, cs_first, h_first, w, wci, wcf, wco, b = map(wide, inputs)
    i, cs, f, o, ci, co, h, cs_grads, h_grads = map(wide, outputs)
    dx, dw, db = np.zeros_like(x), np.zeros_like(w), np.zeros_like(b)
    peepholes = [np.zeros_like(wci) for _ in range(3)]
    dcs, dh = np.zeros_like(cs_first), np.zeros_like(h_first)
    for t in range(steps - 1, -1, -1):
        cs_prev, h_prev = (cs[t - 1], h[t - 1]) if t else (cs_first, h_first)
        step = (i[t], cs[t], f[t], o[t], ci[t], co[t], cs_grads[t] + dcs, h_grads[t] + dh)
        dcs, gates = _cell_gradient(cs_prev, wci, wcf, wco, *step, use_peephole=use_peephole)
        joined = _join(gates, layout)
        dxh = joined @ w.T
        dx[t], dh = dxh[:, : x.shape[2]], dxh[:, x.shape[2] :]
        dw += np.concatenate((x[t], h_prev), 1).T @ joined
        db += joined.sum(0)
        if use_peephole:
            for total, part in zip(peepholes, _peephole_gradients(gates, cs_prev, cs[t], use_peephole)):
                total += part
    return _narrow((dx, dcs, dh, dw, *peepholes, db), dtype)


@kernel("BlockLSTMGrad")
def block_lstm_grad(
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    i: Array,
    cs: Array,
    f: Array,
    o: Array,
    ci: Array,
    co: Array,
    h: Array,
    cs_grad: Array,
    h_grad: Array,
    *,
    use_peephole: bool,
) -> tuple[Result, ...]:
    """The gradients of BlockLSTM's inputs, where cs_grad and h_grad are those of its outputs cs and h."""
    outputs = (i, cs, f, o, ci, co, h, cs_grad, h_grad)
    return _block_lstm_grad(seq_len_max, (x, cs_prev, h_prev, w, wci, wcf, wco, b), outputs, use_peephole, _V1)


@shape("BlockLSTMGrad", "BlockLSTMGradV2")
def block_lstm_grad_shape(
    seq_len_max: TensorSpec,
    x: TensorSpec,
    cs_prev: TensorSpec,
    h_prev: TensorSpec,
    w: TensorSpec,
    wci: TensorSpec,
    wcf: TensorSpec,
    wco: TensorSpec,
    b: TensorSpec,
    *rest: TensorSpec,
) -> list[Shape]:
    return [spec.shape for spec in (x, cs_prev, h_prev, w, wci, wcf, wco, b)]


@flops("BlockLSTMGrad", "BlockLSTMGradV2")
def block_lstm_grad_flops(
    seq_len_max: TensorSpec, x: TensorSpec, cs_prev: TensorSpec, *rest: TensorSpec, use_peephole: bool
) -> Cost:
    """Two matrix products a step, for the inputs and for the weights; the gates; sums over the steps."""
    time, batch, inputs = with_rank(x.shape, 3)
    cells = with_rank(cs_prev.shape, 2)[1]
    weights = (inputs + cells) * 4 * cells
    sums = weights + 6 * batch * cells + (3 * cells if use_peephole else 0)
    return (multiply_adds(2 * batch * weights) + _gates_gradient_cost(cs_prev, use_peephole) + Cost(sums)) * time


@kernel("BlockLSTMGradV2")
def block_lstm_grad_v2(
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    i: Array,
    cs: Array,
    f: Array,
    o: Array,
    ci: Array,
    co: Array,
    h: Array,
    cs_grad: Array,
    h_grad: Array,
    *,
    use_peephole: bool,
) -> tuple[Result, ...]:
    """As BlockLSTMGrad with the gates in the order of BlockLSTMV2."""
    outputs = (i, cs, f, o, ci, co, h, cs_grad, h_grad)
    return _block_lstm_grad(seq_len_max, (x, cs_prev, h_prev, w, wci, wcf, wco, b), outputs, use_peephole, _V2)


facts("backward", of=("BlockLSTMGrad", "BlockLSTMGradV2"))


# TensorFlow registers no gradient for the single cells.
without_gradient("BlockLSTMGrad", "BlockLSTMGradV2")


@onnx("LSTMBlockCell")
def _lstm_cell_onnx(
    g: Any, x: Any, cs_prev: Any, h_prev: Any, w: Any, wci: Any, wcf: Any, wco: Any, b: Any, *,
    forget_bias: float, cell_clip: float, use_peephole: bool,
) -> Any:  # fmt: skip
    def gate(value: Any, weight: Any, cell: Any) -> Any:
        return g.Sigmoid(g.Add(value, g.Mul(cell, weight)) if use_peephole else value)

    gates = g.Add(g.MatMul(g.Concat(x, h_prev, axis=1), w), b)
    i, ci, f, o = g.split(gates, 4, 1)
    i, f, ci = gate(i, wci, cs_prev), gate(g.Add(f, forget_bias), wcf, cs_prev), g.Tanh(ci)
    cs = g.Add(g.Mul(ci, i), g.Mul(cs_prev, f))
    cs = g.Min(g.Max(cs, -cell_clip), cell_clip) if cell_clip > 0 else cs
    o, co = gate(o, wco, cs), g.Tanh(cs)
    return i, cs, f, o, ci, co, g.Mul(co, o)
