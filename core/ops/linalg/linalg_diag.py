"""Bands and diagonals of matrices and tensors: taking them out, putting them in, and making matrices of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import gradient, kernel, onnx, shape, zero_flops
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dims import dim_min
from ...types.shapes import UNKNOWN, Shape, TensorSpec, merge_shapes
from ..shared.argument_checks import require, require_min_rank, scalar
from ..shared.onnx_lowerings import along, gathered, last_dims, numbered
from ..shared.shape_arguments import scalar_of
from . import _xla_diag  # noqa: F401 - registers lowerings
from ._diagonals import (
    band,
    band_places,
    band_width,
    diagonal_range,
    from_diagonals,
    longest,
    matrix_size,
    require_diagonals,
    set_diagonals,
)  # fmt: skip


@kernel("MatrixBandPart", "BatchMatrixBandPart")
def matrix_band_part(input: Array, num_lower: Array, num_upper: Array) -> Result:
    """The matrices (..., m, n) with zeros outside the band; a negative number keeps the whole triangle."""
    require_min_rank(input, 2, "input")
    rows, columns = input.shape[-2:]
    lower = band_width(num_lower, "num_lower", rows)
    upper = band_width(num_upper, "num_upper", columns)
    return np.where(band(rows, columns, lower, upper), input, np.zeros((), input.dtype))


@shape("MatrixBandPart", "BatchMatrixBandPart")
def same_matrices_shape(input: TensorSpec, *rest: TensorSpec) -> Shape:
    require(input.rank is None or input.rank >= 2, f"input must have at least rank 2, not shape {input.shape}")
    return input.shape


@gradient("MatrixBandPart", "BatchMatrixBandPart")
def matrix_band_part_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.apply(node.op, grad, node.inputs[1], node.inputs[2]), None, None]


zero_flops("MatrixBandPart", "BatchMatrixBandPart")


@kernel("MatrixDiag", "BatchMatrixDiag")
def matrix_diag(diagonal: Array) -> Result:
    """Square matrices (..., n, n) with the vectors (..., n) as main diagonals and zeros elsewhere."""
    require_min_rank(diagonal, 1, "diagonal")
    size = diagonal.shape[-1]
    return from_diagonals(diagonal, 0, 0, size, size, np.zeros((), diagonal.dtype), "LEFT_LEFT")


@shape("MatrixDiag", "BatchMatrixDiag")
def matrix_diag_shape(diagonal: TensorSpec) -> Shape:
    if diagonal.shape.dims is None:
        return UNKNOWN
    require(len(diagonal.shape) >= 1, "diagonal must be at least a vector")
    return diagonal.shape + [diagonal.shape[-1]]


@gradient("MatrixDiag", "BatchMatrixDiag")
def matrix_diag_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.MatrixDiagPart(grad)]


zero_flops("MatrixDiag", "BatchMatrixDiag", "MatrixDiagV2", "MatrixDiagV3")


def _padding(value: Array) -> Array:
    require(np.ndim(value) == 0, f"padding_value must be scalar, received a tensor of shape {np.shape(value)}")
    return value


@kernel("MatrixDiagV2", "MatrixDiagV3")
def matrix_diag_v3(
    diagonal: Array, k: Array, num_rows: Array, num_cols: Array, padding_value: Array, *, align: str = "LEFT_LEFT"
) -> Result:
    """Matrices (..., num_rows, num_cols) with the given diagonals and `padding_value` elsewhere."""
    require_min_rank(diagonal, 1, "diagonal")
    lower, upper = diagonal_range(k)
    rows, columns = scalar(num_rows, "num_rows"), scalar(num_cols, "num_cols")
    if lower < upper:
        require_min_rank(diagonal, 2, "diagonal")
        require(
            diagonal.shape[-2] == upper - lower + 1,
            "The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index range: "
            f"shape {diagonal.shape}, range [{lower}, {upper}]",
        )
    rows, columns = matrix_size(diagonal.shape[-1], lower, upper, rows, columns)
    return from_diagonals(diagonal, lower, upper, rows, columns, _padding(padding_value), align)


@shape("MatrixDiagV2", "MatrixDiagV3")
def matrix_diag_v3_shape(
    diagonal: TensorSpec, k: TensorSpec, num_rows: TensorSpec, num_cols: TensorSpec, padding_value: TensorSpec
) -> Shape:
    rows, columns = scalar_of(num_rows), scalar_of(num_cols)
    if diagonal.shape.dims is None or k.value is None:
        return UNKNOWN
    lower, upper = diagonal_range(k.value)
    require(len(diagonal.shape) >= (1 if lower == upper else 2), f"diagonal has too low a rank: {diagonal.shape}")
    batch = diagonal.shape[: -1 if lower == upper else -2]
    if rows is None or columns is None:
        return batch + Shape([rows if rows != -1 else None, columns if columns != -1 else None])
    return batch + matrix_size(diagonal.shape[-1], lower, upper, rows, columns)


def _align(node: Node) -> dict[str, Any]:
    """Return the attributes of an op of the third version, which are none in the second."""
    return {"align": node.attr("align")} if node.op.endswith("V3") else {}


@gradient("MatrixDiagV2", "MatrixDiagV3")
def matrix_diag_v3_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    op = node.op.replace("Diag", "DiagPart")
    return [g.apply(op, grad, node.inputs[1], g.scalar_like(grad, 0), **_align(node)), None, None, None, None]


@kernel("MatrixDiagPart", "BatchMatrixDiagPart")
def matrix_diag_part(input: Array) -> Result:
    """The main diagonals (..., min(m, n)) of matrices (..., m, n)."""
    require_min_rank(input, 2, "input")
    return np.diagonal(input, axis1=-2, axis2=-1)


@shape("MatrixDiagPart", "BatchMatrixDiagPart")
def matrix_diag_part_shape(input: TensorSpec) -> Shape:
    if input.shape.dims is None:
        return UNKNOWN
    require(len(input.shape) >= 2, f"input must have at least rank 2, not shape {input.shape}")
    return input.shape[:-2] + [dim_min(input.shape[-2], input.shape[-1])]


@gradient("MatrixDiagPart", "BatchMatrixDiagPart")
def matrix_diag_part_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.MatrixSetDiag(g.ZerosLike(node.inputs[0]), grad)]


def _part_padding(value: Array) -> Array:
    """Return the padding value of a MatrixDiagPart; the tensor must have a single element, of any rank."""
    require(np.size(value) == 1, f"padding_value must have one element, received a tensor of shape {np.shape(value)}")
    return np.reshape(value, ())


@kernel("MatrixDiagPartV2", "MatrixDiagPartV3")
def matrix_diag_part_v3(input: Array, k: Array, padding_value: Array, *, align: str = "LEFT_LEFT") -> Result:
    """The diagonals k of matrices, (..., longest), or packed (..., number of diagonals, longest)."""
    require_min_rank(input, 2, "input")
    lower, upper = diagonal_range(k)
    rows, columns = input.shape[-2:]
    require_diagonals(rows, columns, lower, upper)
    padding = _part_padding(padding_value)
    if lower == upper:
        return np.diagonal(input, upper, -2, -1)
    row, column, place, position = band_places(rows, columns, lower, upper, align)
    size = (upper - lower + 1, max(longest(rows, columns, lower, upper), 0))
    result = np.full((*input.shape[:-2], *size), padding, input.dtype)
    result[..., place, position] = input[..., row, column]
    return result


@shape("MatrixDiagPartV2", "MatrixDiagPartV3")
def matrix_diag_part_v3_shape(input: TensorSpec, k: TensorSpec, padding_value: TensorSpec) -> Shape:
    if input.shape.dims is None or k.value is None:
        return UNKNOWN
    require(len(input.shape) >= 2, f"input must have at least rank 2, not shape {input.shape}")
    lower, upper = diagonal_range(k.value)
    rows, columns = input.shape[-2:]
    if isinstance(rows, int) and isinstance(columns, int):
        require_diagonals(rows, columns, lower, upper)
    count = [] if lower == upper else [upper - lower + 1]
    return input.shape[:-2] + [*count, longest(rows, columns, lower, upper)]


@gradient("MatrixDiagPartV2", "MatrixDiagPartV3")
def matrix_diag_part_v3_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    op = node.op.replace("DiagPart", "SetDiag")
    return [g.apply(op, g.ZerosLike(node.inputs[0]), grad, node.inputs[1], **_align(node)), None, None]


zero_flops("MatrixDiagPart", "BatchMatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3")


@kernel("MatrixSetDiag", "BatchMatrixSetDiag")
def matrix_set_diag(input: Array, diagonal: Array) -> Result:
    """The matrices with other main diagonals."""
    return matrix_set_diag_v3(input, diagonal, np.int32(0))


@gradient("MatrixSetDiag", "BatchMatrixSetDiag")
def matrix_set_diag_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.MatrixSetDiag(grad, g.ZerosLike(node.inputs[1])), g.MatrixDiagPart(grad)]


@kernel("MatrixSetDiagV2", "MatrixSetDiagV3")
def matrix_set_diag_v3(input: Array, diagonal: Array, k: Any, *, align: str = "LEFT_LEFT") -> Result:
    """The matrices (..., m, n) with the diagonals k replaced."""
    require_min_rank(input, 2, "input")
    require_min_rank(diagonal, 1, "diagonal")
    lower, upper = diagonal_range(k)
    rows, columns = input.shape[-2:]
    require_diagonals(rows, columns, lower, upper)
    count = () if lower == upper else (upper - lower + 1,)
    expected = (*input.shape[:-2], *count, longest(rows, columns, lower, upper))
    if diagonal.shape != expected:
        raise InvalidArgumentError(f"diagonal must have shape {expected}, not {diagonal.shape}")
    result = input.copy()
    set_diagonals(result, diagonal, lower, upper, align)
    return result


shape("MatrixSetDiag", "BatchMatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3")(same_matrices_shape)


@gradient("MatrixSetDiagV2", "MatrixSetDiagV3")
def matrix_set_diag_v3_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    k, attrs = node.inputs[2], _align(node)
    rest = g.apply(node.op, grad, g.ZerosLike(node.inputs[1]), k, **attrs)
    return [rest, g.apply(node.op.replace("SetDiag", "DiagPart"), grad, k, g.scalar_like(grad, 0), **attrs), None]


zero_flops("MatrixSetDiag", "BatchMatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3")


@kernel("Diag")
def diag(diagonal: Array) -> Result:
    """A tensor of shape s + s with the elements of `diagonal`, of shape s, where both indices agree."""
    require_min_rank(diagonal, 1, "diagonal")
    return np.diag(diagonal.ravel()).reshape(diagonal.shape * 2)


@shape("Diag")
def diag_shape(diagonal: TensorSpec) -> Shape:
    require(diagonal.rank != 0, "diagonal must be at least a vector")
    return diagonal.shape + diagonal.shape


@gradient("Diag")
def diag_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.DiagPart(grad)]


@kernel("DiagPart")
def diag_part(input: Array) -> Result:
    """Return the elements of a tensor of shape s + s at which both halves of the index agree."""
    half = input.ndim // 2
    if input.ndim == 0:
        return input
    require(input.ndim % 2 == 0, f"The rank of the tensor should be even and positive, got shape {input.shape}")
    require(input.shape[:half] == input.shape[half:], f"Invalid shape {input.shape}: the halves of the dimensions differ")
    size = int(np.prod(input.shape[:half]))
    return np.diagonal(input.reshape(size, size)).reshape(input.shape[:half])


@shape("DiagPart")
def diag_part_shape(input: TensorSpec) -> Shape:
    if input.shape.dims is None:
        return UNKNOWN
    rank = len(input.shape)
    require(rank and rank % 2 == 0, f"Input must have even and non-zero rank, not shape {input.shape}")
    return merge_shapes(input.shape[: rank // 2], input.shape[rank // 2 :])


@gradient("DiagPart")
def diag_part_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.Diag(grad)]


zero_flops("Diag", "DiagPart")


# ONNX moves elements by their numbers: the kernels say where they go to.
_MAIN, _NOWHERE = np.zeros((), np.int32), np.full((), -1)


@onnx("MatrixBandPart", "BatchMatrixBandPart")
def _band_part_onnx(g: Any, x: Any, lower: Any, upper: Any) -> Any:
    """Zero outside of the band."""
    rows, columns = (along(g, x, axis) for axis in (-2, -1))
    below = g.Sub(g.unsqueeze(rows, 1), columns)
    lower, upper = (g.cast(g.reshape(width, []), dtypes.int64) for width in (lower, upper))
    is_inside = g.And(
        g.Or(g.Less(lower, 0), g.LessOrEqual(below, lower)), g.Or(g.Less(upper, 0), g.LessOrEqual(g.Neg(below), upper))
    )
    return g.Where(is_inside, x, g.like(0, x))


@onnx("MatrixDiagV2", "MatrixDiagV3")
def _matrix_diag_v3_onnx(
    g: Any, diagonal: Any, k: Any, num_rows: Any, num_cols: Any, padding_value: Any, *, align: str = "LEFT_LEFT"
) -> Any:
    bounds, rows, columns = (g.known(value, "diagonals and sizes") for value in (k, num_rows, num_cols))
    count = 1 + (np.ptp(bounds) > 0)
    places = matrix_diag_v3(numbered(last_dims(g, diagonal, count)), bounds, rows, columns, _NOWHERE, align=align)
    return gathered(g, diagonal, np.asarray(places), count, padding_value)


@onnx("MatrixDiagPart", "BatchMatrixDiagPart")
def _matrix_diag_part_onnx(g: Any, x: Any) -> Any:
    return gathered(g, x, np.asarray(matrix_diag_part(numbered(last_dims(g, x, 2)))), 2)


@onnx("MatrixDiagPartV2", "MatrixDiagPartV3")
def _matrix_diag_part_v3_onnx(g: Any, x: Any, k: Any, padding_value: Any, *, align: str = "LEFT_LEFT") -> Any:
    places = matrix_diag_part_v3(numbered(last_dims(g, x, 2)), g.known(k, "diagonals"), _NOWHERE, align=align)
    return gathered(g, x, np.asarray(places), 2, padding_value)


@onnx("MatrixSetDiag", "BatchMatrixSetDiag")
def _matrix_set_diag_onnx(g: Any, x: Any, diagonal: Any) -> Any:
    return _set_diag_onnx(g, x, diagonal, _MAIN, "LEFT_LEFT")


@onnx("MatrixSetDiagV2", "MatrixSetDiagV3")
def _matrix_set_diag_v3_onnx(g: Any, x: Any, diagonal: Any, k: Any, *, align: str = "LEFT_LEFT") -> Any:
    return _set_diag_onnx(g, x, diagonal, g.known(k, "diagonals"), align)


def _set_diag_onnx(g: Any, x: Any, diagonal: Any, k: Array, align: str) -> Any:
    if not k.any() and not (x.shape.is_known and diagonal.shape.is_known):
        return _set_main_onnx(g, x, diagonal)
    count = 1 + (np.ptp(k) > 0)
    places = matrix_set_diag_v3(np.full(last_dims(g, x, 2), -1), numbered(last_dims(g, diagonal, count)), k, align=align)
    return gathered(g, diagonal, np.asarray(places), count, x)


def _set_main_onnx(g: Any, x: Any, diagonal: Any) -> Any:
    """Return the main diagonal, of whatever size: the element of each row, where the column is the row's."""
    rows, columns = (along(g, x, axis) for axis in (-2, -1))
    rank = g.rank(diagonal)
    longer = g.Pad(diagonal, [0] * (2 * rank - 1) + [1])  # for rows beyond the diagonal, which may be empty
    places = g.Min(rows, g.dim(diagonal, -1))
    elements = g.unsqueeze(g.Gather(longer, places, axis=-1), rank)
    return g.Where(g.Equal(g.unsqueeze(rows, 1), columns), elements, x)


@onnx("Diag")
def _diag_onnx(g: Any, diagonal: Any) -> Any:
    sizes = last_dims(g, diagonal, g.rank(diagonal))
    places = np.diag(np.arange(1, math.prod(sizes) + 1)).reshape(sizes * 2) - 1
    return gathered(g, diagonal, places, len(sizes), g.like(0, diagonal))


@onnx("DiagPart")
def _diag_part_onnx(g: Any, x: Any) -> Any:
    sizes = last_dims(g, x, g.rank(x))
    half = sizes[: len(sizes) // 2]
    places = np.diagonal(np.arange(math.prod(sizes)).reshape(2 * (math.prod(half),)))
    return gathered(g, x, places.reshape(half), len(sizes))
