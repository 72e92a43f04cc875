"""Bands and diagonals of matrices and tensors: taking them out, putting them in, and making matrices of them."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import arrays, gradient, kernel, lower, onnx, shape, zero_flops
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dims import DimLike, dim_max, dim_min
from ...types.shapes import UNKNOWN, Shape, TensorSpec, merge_shapes
from ..shared.argument_checks import require, require_min_rank, scalar
from ..shared.onnx_lowerings import along, gathered, last_dims, numbered
from ..shared.shape_arguments import scalar_of


@functools.lru_cache(maxsize=64)
def band(rows: int, columns: int, lower: int, upper: int) -> Array:
    """(rows, columns): True where -lower <= column - row <= upper."""
    offset = np.arange(columns) - np.arange(rows)[:, None]
    return (offset >= -lower) & (offset <= upper)


def band_width(value: Array, name: str, size: int) -> int:
    """Return the number of diagonals on a side of the main diagonal; a negative number means all."""
    width: int = scalar(value, name)
    require(width <= size, f"{name} must be negative or not above {size}, not {width}")
    return size if width < 0 else width


#
# Diagonal d of a matrix holds the elements with column - row = d. Several diagonals are packed as the rows of a matrix, from
# the uppermost down, each as long as the longest: `align` says on which side the shorter ones are padded.
@functools.lru_cache(maxsize=64)
def band_places(rows: int, columns: int, lower: int, upper: int, align: str) -> tuple[Array, Array, Array, Array]:
    """Return the band's places: (row, column) in the matrix, (diagonal, position) in the packed diagonals."""
    row, column = np.nonzero(band(rows, columns, -lower, upper))
    diagonal = column - row
    length = np.minimum(rows + np.minimum(diagonal, 0), columns - np.maximum(diagonal, 0))
    upper_left, lower_left = (side == "LEFT" for side in align.split("_"))
    is_left = ((diagonal >= 0) & upper_left) | ((diagonal <= 0) & lower_left)
    padding = np.where(is_left, 0, longest(rows, columns, lower, upper) - length)
    return row, column, upper - diagonal, np.minimum(row, column) + padding


def longest(rows: DimLike, columns: DimLike, lower: int, upper: int) -> Any:
    """Return the length of the longest diagonal between `lower` and `upper`."""
    return dim_min(rows + min(upper, 0), columns - max(lower, 0))


def from_diagonals(diagonal: Array, lower: int, upper: int, rows: int, columns: int, padding: Array, align: str) -> Array:
    """Return matrices of `padding` with the given diagonals."""
    batch = diagonal.shape[: -2 if lower < upper else -1]
    result = np.empty((*batch, rows, columns), diagonal.dtype)
    result[...] = padding
    set_diagonals(result, diagonal, lower, upper, align)
    return result


def set_diagonals(result: Array, diagonal: Array, lower: int, upper: int, align: str) -> None:
    """Write diagonals into contiguous matrices (..., rows, columns)."""
    rows, columns = result.shape[-2:]
    if lower == upper and columns:  # every so many elements, as long as there are rows
        start = upper if upper >= 0 else -upper * columns
        result.reshape(*result.shape[:-2], rows * columns)[..., start :: columns + 1][..., : diagonal.shape[-1]] = diagonal
        return
    row, column, place, position = band_places(rows, columns, lower, upper, align)
    packed = diagonal if lower < upper else diagonal[..., None, :]
    result[..., row, column] = packed[..., place, position]


def diagonal_range(k: Array) -> tuple[int, int]:
    """Return (lower, upper) from a scalar, or a vector of one or two elements."""
    k = np.asarray(k)
    if k.ndim:
        require(k.ndim == 1, f"diag_index must be a scalar or vector, received shape: {k.shape}")
        require(k.size in (1, 2), f"diag_index must have only one or two elements, received {k.size} elements.")
    values = k.ravel().tolist()
    lower, upper = values[0], values[-1]
    require(lower <= upper, f"lower_diag_index must not be larger than upper_diag_index: {lower} > {upper}")
    return lower, upper


def matrix_size(longest: Any, lower: Any, upper: Any, rows: Any, columns: Any) -> tuple[Any, Any]:
    """Return the size of a matrix from the length of its longest diagonal; -1 means the smallest size that fits."""
    least_rows, least_columns = longest - min(upper, 0), longest + max(lower, 0)
    if rows == -1 and columns == -1:
        rows = columns = dim_max(least_rows, least_columns)
    rows = least_rows if rows == -1 else rows
    columns = least_columns if columns == -1 else columns
    are_known = all(isinstance(size, int) for size in (least_rows, least_columns, rows, columns))
    if are_known and (rows < least_rows or columns < least_columns):
        raise InvalidArgumentError(f"The number of rows or columns is too small: {rows} x {columns}")
    if are_known and rows != least_rows and columns != least_columns:
        raise InvalidArgumentError(
            f"The number of rows or columns is not consistent with the specified diagonals: {rows} x {columns}"
        )
    return rows, columns


def require_diagonals(rows: int, columns: int, lower: int, upper: int) -> None:
    for name, value in (("lower_diag_index", lower), ("upper_diag_index", upper)):
        if value and not -rows < value < columns:
            raise InvalidArgumentError(f"{name} is out of bound: {value}. It must be between {-rows} and {columns}")


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


@lower("MatrixBandPart", "BatchMatrixBandPart", static=(1, 2))
def _band_part_lowering(xla: Any, x: Any, lower_: Array, upper: Array) -> Any:
    """Return the matrices with zeros outside the band."""
    rows, columns = x.shape[-2:]
    widths = band_width(lower_, "num_lower", rows), band_width(upper, "num_upper", columns)
    return xla.where(band(rows, columns, *widths), x, 0)


@lower("MatrixDiagV2", "MatrixDiagV3", static=(1, 2, 3))
def of_diagonals_lowering(
    xla: Any, diagonal: Any, k: Array, num_rows: Array, num_cols: Array, padding: Any, *, align: str = "LEFT_LEFT"
) -> Any:
    """Return matrices with the given diagonals and the padding elsewhere."""
    bounds = diagonal_range(k)
    has_many = bounds[0] < bounds[1]
    require_min_rank(diagonal, 2 if has_many else 1, "diagonal")
    require(not has_many or diagonal.shape[-2] == bounds[1] - bounds[0] + 1, f"{diagonal.shape} does not fit {bounds}")
    require(np.ndim(padding) == 0, "padding_value must be scalar")
    size = matrix_size(diagonal.shape[-1], *bounds, scalar(num_rows, "num_rows"), scalar(num_cols, "num_cols"))
    # The padding has no gradient in TensorFlow.
    padding = xla.lax.stop_gradient(padding)
    matrices = xla.full((*diagonal.shape[: -2 if has_many else -1], *size), padding, diagonal.dtype)
    return _with_diagonals(xla, matrices, diagonal, bounds, align)


def _with_diagonals(xla: Any, matrices: Any, diagonal: Any, bounds: tuple[int, int], align: str) -> Any:
    row, column, place, position = band_places(*matrices.shape[-2:], *bounds, align)
    packed = diagonal if bounds[0] < bounds[1] else diagonal[..., None, :]
    return matrices.at[..., row, column].set(packed[..., place, position], unique_indices=True) if row.size else matrices


@arrays("MatrixDiag", "BatchMatrixDiag")
def _main_diagonal_lowering(xp: Any, diagonal: Any) -> Any:
    """Return square matrices with the given main diagonals."""
    require_min_rank(diagonal, 1, "diagonal")
    return xp.where(np.eye(diagonal.shape[-1], dtype=bool), diagonal[..., None, :], np.zeros((), diagonal.dtype))


@lower("MatrixDiagPartV2", "MatrixDiagPartV3", static=(1,))
def _diagonals_of_lowering(xla: Any, x: Any, k: Array, padding: Any, *, align: str = "LEFT_LEFT") -> Any:
    """Return the diagonals k of matrices, packed where there are several."""
    require_min_rank(x, 2, "input")
    bounds, (rows, columns) = diagonal_range(k), x.shape[-2:]
    require_diagonals(rows, columns, *bounds)
    require(padding.size == 1, "padding_value must have one element")
    if bounds[0] == bounds[1]:
        return xla.diagonal(x, bounds[1], -2, -1)
    row, column, place, position = band_places(rows, columns, *bounds, align)
    size = (bounds[1] - bounds[0] + 1, max(longest(rows, columns, *bounds), 0))
    packed = xla.full((*x.shape[:-2], *size), xla.lax.stop_gradient(padding.reshape(())), x.dtype)
    return packed.at[..., place, position].set(x[..., row, column], unique_indices=True) if row.size else packed


@lower("MatrixDiagPart", "BatchMatrixDiagPart")
def _main_diagonal_of_lowering(xla: Any, x: Any) -> Any:
    """Return the main diagonals of matrices."""
    require_min_rank(x, 2, "input")
    return xla.diagonal(x, 0, -2, -1)


@lower("MatrixSetDiagV2", "MatrixSetDiagV3", static=(2,))
def _with_diagonals_lowering(xla: Any, x: Any, diagonal: Any, k: Array, *, align: str = "LEFT_LEFT") -> Any:
    """Return the matrices with the diagonals k replaced."""
    require_min_rank(x, 2, "input")
    bounds, (rows, columns) = diagonal_range(k), x.shape[-2:]
    require_diagonals(rows, columns, *bounds)
    count = () if bounds[0] == bounds[1] else (bounds[1] - bounds[0] + 1,)
    expected = (*x.shape[:-2], *count, longest(rows, columns, *bounds))
    require(diagonal.shape == expected, f"diagonal must have shape {expected}, not {diagonal.shape}")
    return _with_diagonals(xla, x, diagonal, bounds, align)


@lower("MatrixSetDiag", "BatchMatrixSetDiag")
def _with_main_diagonal_lowering(xla: Any, x: Any, diagonal: Any) -> Any:
    """Return the matrices with other main diagonals."""
    return _with_diagonals_lowering(xla, x, diagonal, _MAIN)


@lower("Diag")
def _diagonal_tensor_lowering(xla: Any, diagonal: Any) -> Any:
    """Return a tensor of twice the rank, zero where the two halves of the index differ."""
    require_min_rank(diagonal, 1, "diagonal")
    return _main_diagonal_lowering(xla, diagonal.reshape(-1)).reshape(diagonal.shape * 2)


@lower("DiagPart")
def _diagonal_of_tensor_lowering(xla: Any, x: Any) -> Any:
    """Return the elements where both halves of the index agree."""
    half = x.ndim // 2
    require(x.ndim and x.ndim % 2 == 0 and x.shape[:half] == x.shape[half:], f"shape {x.shape} has no diagonal")
    size = math.prod(x.shape[:half])
    return xla.diagonal(x.reshape(size, size)).reshape(x.shape[:half])
