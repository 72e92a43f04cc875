"""A fused GRU cell, and its gradient op."""

from __future__ import annotations

import numpy as np

from ...registry.registry import Cost, facts, flops, kernel, multiply_adds, shape, without_gradient
from ...types.arrays import Array, Result
from ...types.shapes import Shape, TensorSpec, merge_dims
from ..shared.argument_checks import require, require_rank, require_shape, with_rank
from ..shared.decompositions import composed
from ._cells import gru_cell_parts
from .lstm import sigmoid


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


@kernel("GRUBlockCell")
def gru_block_cell(
    x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array
) -> tuple[Result, Result, Result, Result]:
    """Compute a GRU step (Cho et al. 2014): reset gate r, update gate u, candidate c and state h."""
    _check_gru(x, h_prev, w_ru, w_c, b_ru, b_c)
    r, u = np.split(sigmoid(np.concatenate((x, h_prev), 1) @ w_ru + b_ru), 2, 1)
    c = np.tanh(np.concatenate((x, h_prev * r), 1) @ w_c + b_c)
    return r, u, c, u * h_prev + (1 - u) * c


@shape("GRUBlockCell")
def gru_block_cell_shape(x: TensorSpec, h_prev: TensorSpec, *rest: TensorSpec) -> list[Shape]:
    batch, cells = with_rank(h_prev.shape, 2)
    return [Shape((merge_dims(with_rank(x.shape, 2)[0], batch), cells))] * 4


@flops("GRUBlockCell")
def gru_block_cell_flops(x: TensorSpec, h_prev: TensorSpec, *rest: TensorSpec) -> Cost:
    """Two matrix products, and for each cell two sigmoids, a tanh, and the new state."""
    batch, inputs = with_rank(x.shape, 2)
    cells = with_rank(h_prev.shape, 2)[1]
    return multiply_adds(batch * (inputs + cells) * 3 * cells) + Cost(14, transcendentals=3) * (batch * cells)


@kernel("GRUBlockCellGrad")
def gru_block_cell_grad(
    x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array, r: Array, u: Array, c: Array, d_h: Array
) -> tuple[Result, Result, Result, Result]:
    """Return the gradients of x and h_prev, of c, and of r and u before their activations."""
    _check_gru(x, h_prev, w_ru, w_c, b_ru, b_c)
    for name, value in (("r", r), ("u", u), ("c", c), ("d_h", d_h)):
        require_shape(value, h_prev.shape, name)
    inputs = x.shape[1]
    d_c_bar = d_h * (1 - u) * (1 - c * c)
    d_u_bar = d_h * (h_prev - c) * u * (1 - u)
    d_candidate = d_c_bar @ w_c.T
    d_hr = d_candidate[:, inputs:]
    d_ru_bar = np.concatenate((d_hr * h_prev * r * (1 - r), d_u_bar), 1)
    d_gates = d_ru_bar @ w_ru.T
    d_x = d_gates[:, :inputs] + d_candidate[:, :inputs]
    return d_x, d_gates[:, inputs:] + d_hr * r + d_h * u, d_c_bar, d_ru_bar


@shape("GRUBlockCellGrad")
def gru_block_cell_grad_shape(x: TensorSpec, h_prev: TensorSpec, *rest: TensorSpec) -> list[Shape]:
    batch, cells = with_rank(h_prev.shape, 2)
    return [x.shape, h_prev.shape, Shape((batch, cells)), Shape((batch, 2 * cells))]


@flops("GRUBlockCellGrad")
def gru_block_cell_grad_flops(x: TensorSpec, h_prev: TensorSpec, *rest: TensorSpec) -> Cost:
    """Two matrix products, the derivatives of the gates, and sums for the inputs and the state."""
    batch, inputs = with_rank(x.shape, 2)
    cells = with_rank(h_prev.shape, 2)[1]
    return multiply_adds(batch * (inputs + cells) * 3 * cells) + Cost(18 * batch * cells + batch * inputs)


facts("backward", of=("GRUBlockCellGrad",))
composed("GRUBlockCell")(gru_cell_parts)
without_gradient("GRUBlockCellGrad")


facts("half_allow", of=["GRUBlockCell", "GRUBlockCellGrad"])
