"""Fused LSTM and GRU cells for a step and for a sequence, and their gradient ops.

An LSTM's weights hold four gates side by side: input, cell, forget, output (V1), or input, forget, cell, output (V2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.half_precision import wide
from ...registry.registry import (
    WITHOUT_GRADIENT,
    Cost,
    facts,
    flops,
    gradient,
    kernel,
    multiply_adds,
    shaped,
    without_gradient,
)
from ...types.arrays import Array, Result
from ...types.shapes import TensorSpec
from ..shared.argument_checks import require, require_rank, require_shape, scalar, with_rank
from ..shared.decompositions import composed

_Value = TypeVar("_Value")
_V1 = (0, 1, 2, 3)
_V2 = (0, 2, 1, 3)
"""Where input, cell, forget and output gate lie among the four."""


def sigmoid(x: Array) -> Array:
    return np.float32(1) / (np.float32(1) + np.exp(-x))


class Cell(NamedTuple, Generic[_Value]):
    """The inputs of a step: x (batch, inputs), previous cell states and outputs, weights, peepholes, and biases.

    For a sequence x is (time, batch, inputs).
    """

    x: _Value
    cs_prev: _Value
    h_prev: _Value
    w: _Value
    wci: _Value
    wcf: _Value
    wco: _Value
    b: _Value


class LSTMStep(NamedTuple, Generic[_Value]):
    """The results of a step for the gradient, and the gradients of cell state and output."""

    i: _Value
    cs: _Value
    f: _Value
    o: _Value
    ci: _Value
    co: _Value
    cs_grad: _Value
    h_grad: _Value


class LSTMSequence(NamedTuple, Generic[_Value]):
    """As LSTMStep, for a sequence: the cells' outputs come before the gradients."""

    i: _Value
    cs: _Value
    f: _Value
    o: _Value
    ci: _Value
    co: _Value
    h: _Value
    cs_grad: _Value
    h_grad: _Value


class LSTMAttributes(NamedTuple):
    """The attributes of the ops; BlockLSTMV2 adds nothing to the forget gate."""

    use_peephole: bool
    cell_clip: float
    forget_bias: float = 0.0


def _check_cell(cell: Cell[Array]) -> None:
    """Check the shapes of a step."""
    require_rank(cell.x, 2, "x")
    require_rank(cell.cs_prev, 2, "cs_prev")
    batch, inputs = cell.x.shape
    cells = cell.cs_prev.shape[1]
    require(cell.cs_prev.shape[0] == batch, f"x {cell.x.shape} and cs_prev {cell.cs_prev.shape} differ in batch size")
    require_shape(cell.h_prev, (batch, cells), "h_prev")
    require_shape(cell.w, (inputs + cells, 4 * cells), "w")
    for name in ("wci", "wcf", "wco"):
        require_shape(getattr(cell, name), (cells,), name)
    require_shape(cell.b, (4 * cells,), "b")


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


def _cell(cell: Cell[Array], settings: LSTMAttributes, layout: tuple[int, ...]) -> tuple[Array, ...]:
    """Compute a step: i, cs, f, o, ci, co, h."""
    x, cs_prev, h_prev, w, wci, wcf, wco, b = cell
    # One product for all gates and both inputs: the weights lie side by side for it.
    i, ci, f, o = _split(np.concatenate((x, h_prev), 1) @ w + b, layout)
    f = f + x.dtype.type(settings.forget_bias)
    if settings.use_peephole:
        i, f = i + cs_prev * wci, f + cs_prev * wcf
    i, f, ci = sigmoid(i), sigmoid(f), np.tanh(ci)
    cs = ci * i + cs_prev * f
    # A limit of 0, BlockLSTMV2's default, or below means that nothing is clipped.
    if settings.cell_clip > 0:
        cs = np.clip(cs, x.dtype.type(-settings.cell_clip), x.dtype.type(settings.cell_clip))
    # The output gate looks at the new cell state, the two others at the old.
    o = sigmoid(o + cs * wco if settings.use_peephole else o)
    co = np.tanh(cs)
    return i, cs, f, o, ci, co, co * o


def _cell_gradient(cell: Cell[Array], step: LSTMStep[Array], use_peephole: bool) -> tuple[Any, Any]:
    """Return the gradients of cs_prev (through the cell), and of the gates input, cell, forget, output before their
    functions.
    """
    i, _, f, o, ci, co, cs_grad, h_grad = step
    # Derivatives by the results: o (1 - o) of a sigmoid, 1 - c^2 of a hyperbolic tangent. The clip is left out, as in
    # TensorFlow.
    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if use_peephole:
        # The output gate's peephole is a second way from the cell state to the output.
        dcs = dcs + do * cell.wco
    dci = (1 - ci * ci) * dcs * i
    df = f * (1 - f) * dcs * cell.cs_prev
    di = i * (1 - i) * dcs * ci
    cs_prev_grad = dcs * f
    if use_peephole:
        cs_prev_grad = cs_prev_grad + di * cell.wci + df * cell.wcf
    return cs_prev_grad, (di, dci, df, do)


def _peephole_gradients(gates: tuple[Array, ...], cs_prev: Array, cs: Array, use_peephole: bool) -> list[Array]:
    di, _, df, do = gates
    # TensorFlow returns zeros, not nothing, for peepholes that are not used.
    if not use_peephole:
        return [np.zeros(cs.shape[1:], cs.dtype)] * 3
    return [np.sum(x * y, 0, dtype=cs.dtype) for x, y in ((di, cs_prev), (df, cs_prev), (do, cs))]


def _narrow(values: Sequence[Array], dtype: Any) -> tuple[Array, ...]:
    return tuple(value.astype(dtype, copy=False) for value in values)


@kernel("LSTMBlockCell", shape="b i, b c, b c -> b c, b c, b c, b c, b c, b c, b c")
def lstm_block_cell(cell: Cell[Array], *, settings: LSTMAttributes) -> tuple[Result, ...]:
    """Compute an LSTM step: i, cs, f, o, ci, co, h, each (batch, cells)."""
    _check_cell(cell)
    return _narrow(_cell(Cell._make(map(wide, cell)), settings, _V1), cell.x.dtype)


def _step_cost(x: TensorSpec, cs_prev: TensorSpec, use_peephole: bool, cell_clip: float) -> Cost:
    """Return the cost of an LSTM step of a batch: the matrix product, and the gates of each cell."""
    batch, inputs = tuple(x.shape)[-2:]
    cells = with_rank(cs_prev.shape, 2)[1]
    # Five sums with biases, three operations for each of three sigmoids, three for the state and one for the output. A
    # peephole is a product and a sum, the clip two comparisons.
    each = Cost(18 + (6 if use_peephole else 0) + (2 if cell_clip > 0 else 0), transcendentals=5)
    return multiply_adds(batch * (inputs + cells) * 4 * cells) + each * (batch * cells)


@flops("LSTMBlockCell")
def lstm_block_cell_flops(cell: Cell[TensorSpec], *, use_peephole: bool, cell_clip: float) -> Cost:
    """One matrix product, and about twenty operations for each cell."""
    with_rank(cell.x.shape, 2)
    return _step_cost(cell.x, cell.cs_prev, use_peephole, cell_clip)


# TensorFlow registers no gradients for the single cells: they are those of these parts.
@composed("LSTMBlockCell")
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


@kernel("LSTMBlockCellGrad", shape="b i, b c, b c -> b c, b 4c, c, c, c", gradient=WITHOUT_GRADIENT, facts=("backward",))
def lstm_block_cell_grad(cell: Cell[Array], step: LSTMStep[Array], *, use_peephole: bool) -> tuple[Result, ...]:
    """The gradients of cs_prev, of the four gates side by side, and of the peepholes."""
    _check_cell(cell)
    for name, value in step._asdict().items():
        require_shape(value, cell.cs_prev.shape, name)
    wider: Cell[Array] = Cell._make(map(wide, cell))
    step = LSTMStep._make(map(wide, step))
    cs_prev_grad, gates = _cell_gradient(wider, step, use_peephole)
    peepholes = _peephole_gradients(gates, wider.cs_prev, step.cs, use_peephole)
    return _narrow((cs_prev_grad, _join(gates, _V1), *peepholes), cell.x.dtype)


def _gates_gradient_cost(cs_prev: TensorSpec, use_peephole: bool) -> Cost:
    batch, cells = with_rank(cs_prev.shape, 2)
    # `_cell_gradient` counted: 22 operations for a cell. Peepholes add 6, and their own gradients a product and a sum over the
    # batch for each of three gates.
    return Cost(34 * batch * cells - 3 * cells if use_peephole else 22 * batch * cells)


@flops("LSTMBlockCellGrad")
def lstm_block_cell_grad_flops(cell: Cell[TensorSpec], *, use_peephole: bool) -> Cost:
    """No matrix product; the derivatives of the gates, and sums over the batch for the peepholes."""
    return _gates_gradient_cost(cell.cs_prev, use_peephole)


def _check_sequence(seq_len_max: Array, cell: Cell[Array]) -> int:
    """Return the number of steps to take."""
    steps = scalar(seq_len_max, "seq_len_max")
    require_rank(cell.x, 3, "x")
    require(0 <= steps <= len(cell.x), f"seq_len_max {steps} is not in [0, {len(cell.x)}]")
    require(len(cell.x) > 0, f"x holds no time step: {cell.x.shape}")
    _check_cell(cell._replace(x=cell.x[0]))
    return steps


def _block_lstm(seq_len_max: Array, cell: Cell[Array], settings: LSTMAttributes, layout: tuple[int, ...]) -> tuple[Array, ...]:
    steps = _check_sequence(seq_len_max, cell)
    dtype = cell.x.dtype
    x, cs_prev, h_prev, *weights = map(wide, cell)
    # Zeros, since steps from seq_len_max on are not computed.
    results = [np.zeros((len(x), *cs_prev.shape), x.dtype) for _ in range(7)]
    for t in range(steps):
        step = _cell(Cell(x[t], cs_prev, h_prev, *weights), settings, layout)
        for result, value in zip(results, step):
            result[t] = value
        cs_prev, h_prev = step[1], step[6]
    return _narrow(results, dtype)


@gradient("BlockLSTM", "BlockLSTMV2")
def block_lstm_gradient(g: GradientBuilder, node: Node, *grads: Output) -> Gradients:
    """Through cs and h, as in TensorFlow."""
    # The gradient op takes all results of the forward op, and computes no step again.
    outputs = [node.output(i) for i in range(7)]
    op = "BlockLSTMGrad" if node.op == "BlockLSTM" else "BlockLSTMGradV2"
    return [None, *g.apply(op, *node.inputs, *outputs, grads[1], grads[6], use_peephole=node.attr("use_peephole"))]


shaped("*, t b i, b c, b c -> t b c, t b c, t b c, t b c, t b c, t b c, t b c", "BlockLSTM", "BlockLSTMV2")


@flops("BlockLSTM", "BlockLSTMV2")
def block_lstm_flops(seq_len_max: TensorSpec, cell: Cell[TensorSpec], *, use_peephole: bool, cell_clip: float) -> Cost:
    """The cost of a step times the number of steps in x."""
    return _step_cost(cell.x, cell.cs_prev, use_peephole, cell_clip) * with_rank(cell.x.shape, 3)[0]


def _block_lstm_grad(
    seq_len_max: Array, cell: Cell[Array], results: LSTMSequence[Array], use_peephole: bool, layout: tuple[int, ...]
) -> tuple[Array, ...]:
    """Return the gradients of x, cs_prev, h_prev, w, wci, wcf, wco and b."""
    steps = _check_sequence(seq_len_max, cell)
    dtype = cell.x.dtype
    for name, value in results._asdict().items():
        require_shape(value, (len(cell.x), *cell.cs_prev.shape), name)
    cell = Cell._make(map(wide, cell))
    i, cs, f, o, ci, co, h, cs_grads, h_grads = map(wide, results)
    x, cs_first, h_first, w, wci, _, _, b = cell
    dx, dw, db = np.zeros_like(x), np.zeros_like(w), np.zeros_like(b)
    peepholes = [np.zeros_like(wci) for _ in range(3)]
    dcs, dh = np.zeros_like(cs_first), np.zeros_like(h_first)
    # Backwards, as each step needs the gradients of the state after it.
    for t in range(steps - 1, -1, -1):
        cs_prev, h_prev = (cs[t - 1], h[t - 1]) if t else (cs_first, h_first)
        # State and output leave the op and enter the next step: a gradient comes from either side.
        step = LSTMStep(i[t], cs[t], f[t], o[t], ci[t], co[t], cs_grads[t] + dcs, h_grads[t] + dh)
        dcs, gates = _cell_gradient(cell._replace(cs_prev=cs_prev), step, use_peephole)
        joined = _join(gates, layout)
        dxh = joined @ w.T
        dx[t], dh = dxh[:, : x.shape[2]], dxh[:, x.shape[2] :]
        dw += np.concatenate((x[t], h_prev), 1).T @ joined
        db += joined.sum(0)
        if use_peephole:
            for total, part in zip(peepholes, _peephole_gradients(gates, cs_prev, cs[t], use_peephole)):
                total += part
    return _narrow((dx, dcs, dh, dw, *peepholes, db), dtype)


def _register_sequences(suffix: str, layout: tuple[int, ...]) -> None:
    """Register the kernels of a sequence and its gradient, with the gates in an order."""

    @kernel(f"BlockLSTM{suffix}")
    def block_lstm(seq_len_max: Array, cell: Cell[Array], *, settings: LSTMAttributes) -> tuple[Result, ...]:
        """An LSTM over x (time, batch, inputs): i, cs, f, o, ci, co, h, (time, batch, cells), zero from seq_len_max on."""
        return _block_lstm(seq_len_max, cell, settings, layout)

    @kernel(f"BlockLSTMGrad{suffix}")
    def block_lstm_grad(
        seq_len_max: Array, cell: Cell[Array], results: LSTMSequence[Array], *, use_peephole: bool
    ) -> tuple[Result, ...]:
        """Return the gradients of BlockLSTM's inputs from cs_grad and h_grad, the gradients of its outputs cs and h."""
        return _block_lstm_grad(seq_len_max, cell, results, use_peephole, layout)


_register_sequences("", _V1)
_register_sequences("V2", _V2)


shaped("*, t b i, b c, b c, w g, c, c, c, g -> t b i, b c, b c, w g, c, c, c, g", "BlockLSTMGrad", "BlockLSTMGradV2")


@flops("BlockLSTMGrad", "BlockLSTMGradV2")
def block_lstm_grad_flops(seq_len_max: TensorSpec, cell: Cell[TensorSpec], *, use_peephole: bool) -> Cost:
    """Two matrix products a step, for the inputs and for the weights; the gates; sums over the steps."""
    time, batch, inputs = with_rank(cell.x.shape, 3)
    cells = with_rank(cell.cs_prev.shape, 2)[1]
    weights = (inputs + cells) * 4 * cells
    sums = weights + 6 * batch * cells + (3 * cells if use_peephole else 0)
    return (multiply_adds(2 * batch * weights) + _gates_gradient_cost(cell.cs_prev, use_peephole) + Cost(sums)) * time


without_gradient("BlockLSTMGrad", "BlockLSTMGradV2")
facts("backward", of=("BlockLSTMGrad", "BlockLSTMGradV2"))
facts("half_allow", of=["BlockLSTM", "BlockLSTMGrad", "BlockLSTMGradV2", "BlockLSTMV2", "LSTMBlockCell", "LSTMBlockCellGrad"])


def _check_gru(x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array) -> None:
    require_rank(x, 2, "x")
    require_rank(h_prev, 2, "h_prev")
    batch, inputs = x.shape
    cells = h_prev.shape[1]
    require(h_prev.shape[0] == batch, f"x {x.shape} and h_prev {h_prev.shape} differ in batch size")
    require_shape(w_ru, (inputs + cells, 2 * cells), "w_ru")
    require_shape(w_c, (inputs + cells, cells), "w_c")
    require_shape(b_ru, (2 * cells,), "b_ru")
    require_shape(b_c, (cells,), "b_c")


@kernel("GRUBlockCell", shape="b i, b c -> b c, b c, b c, b c", facts=("half_allow",))
def gru_block_cell(
    x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array
) -> tuple[Result, Result, Result, Result]:
    """Compute a GRU step (Cho et al. 2014): reset gate r, update gate u, candidate c and state h."""
    _check_gru(x, h_prev, w_ru, w_c, b_ru, b_c)
    r, u = np.split(sigmoid(np.concatenate((x, h_prev), 1) @ w_ru + b_ru), 2, 1)
    c = np.tanh(np.concatenate((x, h_prev * r), 1) @ w_c + b_c)
    return r, u, c, u * h_prev + (1 - u) * c


@flops("GRUBlockCell")
def gru_block_cell_flops(x: TensorSpec, h_prev: TensorSpec) -> Cost:
    """Two matrix products, and for each cell two sigmoids, a tanh, and the new state."""
    batch, inputs = with_rank(x.shape, 2)
    cells = with_rank(h_prev.shape, 2)[1]
    # Three biases, three operations for each of two sigmoids, the reset of the state, and four for the new state.
    return multiply_adds(batch * (inputs + cells) * 3 * cells) + Cost(14, transcendentals=3) * (batch * cells)


@composed("GRUBlockCell")
def gru_cell_parts(g: GradientBuilder, node: Node, inputs: Sequence[Output]) -> list[Output]:
    """Return the step of a GRU: r, u, c, h."""
    x, h_prev, w_ru, w_c, b_ru, b_c = inputs
    gates = g.Sigmoid(g.BiasAdd(g.MatMul(g.ConcatV2([x, h_prev], 1), w_ru), b_ru))
    r, u = g.Split(1, gates, num_split=2)
    c = g.Tanh(g.BiasAdd(g.MatMul(g.ConcatV2([x, g.Mul(h_prev, r)], 1), w_c), b_c))
    return [r, u, c, g.AddV2(g.Mul(u, h_prev), g.Mul(g.Sub(g.scalar_like(x, 1), u), c))]


@kernel(
    "GRUBlockCellGrad", shape="b i, b c -> b i, b c, b c, b 2c", gradient=WITHOUT_GRADIENT, facts=("backward", "half_allow")
)
def gru_block_cell_grad(
    x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array, r: Array, u: Array, c: Array, d_h: Array
) -> tuple[Result, Result, Result, Result]:
    """Return the gradients of x and h_prev, of c, and of r and u before their activations."""
    _check_gru(x, h_prev, w_ru, w_c, b_ru, b_c)
    for name, value in (("r", r), ("u", u), ("c", c), ("d_h", d_h)):
        require_shape(value, h_prev.shape, name)
    inputs = x.shape[1]
    # `bar` marks the gradient before an activation.
    d_c_bar = d_h * (1 - u) * (1 - c * c)
    d_u_bar = d_h * (h_prev - c) * u * (1 - u)
    d_candidate = d_c_bar @ w_c.T
    d_hr = d_candidate[:, inputs:]
    d_ru_bar = np.concatenate((d_hr * h_prev * r * (1 - r), d_u_bar), 1)
    d_gates = d_ru_bar @ w_ru.T
    d_x = d_gates[:, :inputs] + d_candidate[:, :inputs]
    return d_x, d_gates[:, inputs:] + d_hr * r + d_h * u, d_c_bar, d_ru_bar


@flops("GRUBlockCellGrad")
def gru_block_cell_grad_flops(x: TensorSpec, h_prev: TensorSpec) -> Cost:
    """Two matrix products, the derivatives of the gates, and sums for the inputs and the state."""
    batch, inputs = with_rank(x.shape, 2)
    cells = with_rank(h_prev.shape, 2)[1]
    return multiply_adds(batch * (inputs + cells) * 3 * cells) + Cost(18 * batch * cells + batch * inputs)
