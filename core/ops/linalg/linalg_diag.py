"""Bands and diagonals of matrices and tensors: taking them out, putting them in, and making matrices of them.

Diagonal d of a matrix holds the elements with column - row = d. Several diagonals are packed as the rows of a matrix, from
the uppermost down, each as long as the longest: `align` says on which side the shorter ones are padded.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import arrays, gradient, kernel, shape, zero_cost
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dims import DimLike, dim_max, dim_min
from ...types.shapes import UNKNOWN, Shape, TensorSpec, merge_shapes
from ..shared.argument_checks import require, require_known_sizes, require_min_rank, scalar
from ..shared.decompositions import by_ops
from ..shared.onnx_lowerings import numbered
from ..shared.shape_arguments import scalar_of


@functools.lru_cache(maxsize=64)
def _band(rows: int, columns: int, lower: int, upper: int) -> Array:
    """(rows, columns): True where -lower <= column - row <= upper."""
    offset = np.arange(columns) - np.arange(rows)[:, None]
    return (offset >= -lower) & (offset <= upper)


def _band_width(value: Array, name: str, size: int) -> int:
    """Return the number of diagonals on a side of the main diagonal; a negative number means all."""
    width: int = scalar(value, name)
    require(width <= size, f"{name} must be negative or not above {size}, not {width}")
    return size if width < 0 else width


@functools.lru_cache(maxsize=64)
def _band_places(rows: int, columns: int, lower: int, upper: int, align: str) -> tuple[Array, Array, Array, Array]:
    """Return the band's places: (row, column) in the matrix, (diagonal, position) in the packed diagonals."""
    row, column = np.nonzero(_band(rows, columns, -lower, upper))
    diagonal = column - row
    length = np.minimum(rows + np.minimum(diagonal, 0), columns - np.maximum(diagonal, 0))
    upper_left, lower_left = (side == "LEFT" for side in align.split("_"))
    is_left = ((diagonal >= 0) & upper_left) | ((diagonal <= 0) & lower_left)
    # Diagonals shorter than the longest are padded on the side that `align` names for theirs: above or below the main one.
    padding = np.where(is_left, 0, _longest(rows, columns, lower, upper) - length)
    return row, column, upper - diagonal, np.minimum(row, column) + padding


def _longest(rows: DimLike, columns: DimLike, lower: int, upper: int) -> Any:
    """Return the length of the longest diagonal between `lower` and `upper`."""
    return dim_min(rows + min(upper, 0), columns - max(lower, 0))


def _from_diagonals(diagonal: Array, lower: int, upper: int, rows: int, columns: int, padding: Array, align: str) -> Array:
    """Return matrices of `padding` with the given diagonals."""
    batch = diagonal.shape[: -2 if lower < upper else -1]
    result = np.empty((*batch, rows, columns), diagonal.dtype)
    result[...] = padding
    _set_diagonals(result, diagonal, lower, upper, align)
    return result


def _set_diagonals(result: Array, diagonal: Array, lower: int, upper: int, align: str) -> None:
    """Write diagonals into contiguous matrices (..., rows, columns)."""
    rows, columns = result.shape[-2:]
    # A slice with a step writes a single diagonal without a table of its places.
    if lower == upper and columns:  # every so many elements, as long as there are rows
        start = upper if upper >= 0 else -upper * columns
        result.reshape(*result.shape[:-2], rows * columns)[..., start :: columns + 1][..., : diagonal.shape[-1]] = diagonal
        return
    row, column, place, position = _band_places(rows, columns, lower, upper, align)
    packed = diagonal if lower < upper else diagonal[..., None, :]
    result[..., row, column] = packed[..., place, position]


def _diagonal_range(k: Array) -> tuple[int, int]:
    """Return (lower, upper) from a scalar, or a vector of one or two elements."""
    k = np.asarray(k)
    if k.ndim:
        require(k.ndim == 1, f"diag_index must be a scalar or vector, received shape: {k.shape}")
        require(k.size in (1, 2), f"diag_index must have only one or two elements, received {k.size} elements.")
    values = k.ravel().tolist()
    lower, upper = values[0], values[-1]
    require(lower <= upper, f"lower_diag_index must not be larger than upper_diag_index: {lower} > {upper}")
    return lower, upper


def _matrix_size(longest: Any, lower: Any, upper: Any, rows: Any, columns: Any) -> tuple[Any, Any]:
    """Return the size of a matrix from the length of its longest diagonal; -1 means the smallest size that fits."""
    least_rows, least_columns = longest - min(upper, 0), longest + max(lower, 0)
    if rows == -1 and columns == -1:
        # TensorFlow makes the matrix square if neither size is given.
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


def _require_diagonals(rows: int, columns: int, lower: int, upper: int) -> None:
    for name, value in (("lower_diag_index", lower), ("upper_diag_index", upper)):
        # 0 passes any shape: TensorFlow lets even a matrix without rows have a main diagonal.
        if value and not -rows < value < columns:
            raise InvalidArgumentError(f"{name} is out of bound: {value}. It must be between {-rows} and {columns}")


@kernel("MatrixBandPart", "BatchMatrixBandPart", flops=zero_cost, shape="... m n -> ... m n")
def matrix_band_part(input: Array, num_lower: Array, num_upper: Array) -> Result:
    """The matrices (..., m, n) with zeros outside the band; a negative number keeps the whole triangle."""
    require_min_rank(input, 2, "input")
    rows, columns = input.shape[-2:]
    lower = _band_width(num_lower, "num_lower", rows)
    upper = _band_width(num_upper, "num_upper", columns)
    # Not a product with 0 and 1, which would make NaN of infinities outside the band.
    return np.where(_band(rows, columns, lower, upper), input, np.zeros((), input.dtype))


gradient("MatrixBandPart", "BatchMatrixBandPart")(by_ops("same dy 1 2"))


@kernel("MatrixDiag", "BatchMatrixDiag", shape="... n -> ... n n", flops=zero_cost, gradient=by_ops("MatrixDiagPart dy"))
def matrix_diag(diagonal: Array) -> Result:
    """Square matrices (..., n, n) with the vectors (..., n) as main diagonals and zeros elsewhere."""
    require_min_rank(diagonal, 1, "diagonal")
    size = diagonal.shape[-1]
    return _from_diagonals(diagonal, 0, 0, size, size, np.zeros((), diagonal.dtype), "LEFT_LEFT")


def _padding(value: Array) -> Array:
    require(np.ndim(value) == 0, f"padding_value must be scalar, received a tensor of shape {np.shape(value)}")
    return value


@kernel("MatrixDiagV2", "MatrixDiagV3", flops=zero_cost)
def matrix_diag_v3(
    diagonal: Array, k: Array, num_rows: Array, num_cols: Array, padding_value: Array, *, align: str = "LEFT_LEFT"
) -> Result:
    """Matrices (..., num_rows, num_cols) with the given diagonals and `padding_value` elsewhere."""
    require_min_rank(diagonal, 1, "diagonal")
    lower, upper = _diagonal_range(k)
    rows, columns = scalar(num_rows, "num_rows"), scalar(num_cols, "num_cols")
    if lower < upper:
        require_min_rank(diagonal, 2, "diagonal")
        require(
            diagonal.shape[-2] == upper - lower + 1,
            "The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index range: "
            f"shape {diagonal.shape}, range [{lower}, {upper}]",
        )
    rows, columns = _matrix_size(diagonal.shape[-1], lower, upper, rows, columns)
    return _from_diagonals(diagonal, lower, upper, rows, columns, _padding(padding_value), align)


@shape("MatrixDiagV2", "MatrixDiagV3")
def matrix_diag_v3_shape(diagonal: TensorSpec, k: TensorSpec, num_rows: TensorSpec, num_cols: TensorSpec) -> Shape:
    rows, columns = scalar_of(num_rows), scalar_of(num_cols)
    if diagonal.shape.dims is None or k.value is None:
        return UNKNOWN
    lower, upper = _diagonal_range(k.value)
    require(len(diagonal.shape) >= (1 if lower == upper else 2), f"diagonal has too low a rank: {diagonal.shape}")
    batch = diagonal.shape[: -1 if lower == upper else -2]
    if rows is None or columns is None:
        return batch + Shape([rows if rows != -1 else None, columns if columns != -1 else None])
    return batch + _matrix_size(diagonal.shape[-1], lower, upper, rows, columns)


def _align(node: Node) -> dict[str, Any]:
    """Return the attributes of an op of the third version, which are none in the second."""
    return {"align": node.attr("align")} if node.op.endswith("V3") else {}


@gradient("MatrixDiagV2", "MatrixDiagV3")
def matrix_diag_v3_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    op = node.op.replace("Diag", "DiagPart")
    # TensorFlow has no gradient for the padding, although it is a float and shows in the result.
    return [g.apply(op, grad, node.inputs[1], g.scalar_like(grad, 0), **_align(node)), None, None, None, None]


@kernel("MatrixDiagPart", "BatchMatrixDiagPart", flops=zero_cost, shape="... m n -> ... m&n")
def matrix_diag_part(input: Array) -> Result:
    """The main diagonals (..., min(m, n)) of matrices (..., m, n)."""
    require_min_rank(input, 2, "input")
    return np.diagonal(input, axis1=-2, axis2=-1)


gradient("MatrixDiagPart", "BatchMatrixDiagPart")(by_ops("MatrixSetDiag (ZerosLike 0) dy"))


def _part_padding(value: Array) -> Array:
    """Return the padding value of a MatrixDiagPart; the tensor must have a single element, of any rank."""
    # TensorFlow takes a single element of any rank here, and only a scalar in MatrixDiag.
    require(np.size(value) == 1, f"padding_value must have one element, received a tensor of shape {np.shape(value)}")
    return np.reshape(value, ())


@kernel("MatrixDiagPartV2", "MatrixDiagPartV3", flops=zero_cost)
def matrix_diag_part_v3(input: Array, k: Array, padding_value: Array, *, align: str = "LEFT_LEFT") -> Result:
    """The diagonals k of matrices, (..., longest), or packed (..., number of diagonals, longest)."""
    require_min_rank(input, 2, "input")
    lower, upper = _diagonal_range(k)
    rows, columns = input.shape[-2:]
    _require_diagonals(rows, columns, lower, upper)
    padding = _part_padding(padding_value)
    if lower == upper:
        # A single diagonal is the longest, and has no padding.
        return np.diagonal(input, upper, -2, -1)
    row, column, place, position = _band_places(rows, columns, lower, upper, align)
    size = (upper - lower + 1, max(_longest(rows, columns, lower, upper), 0))
    result = np.full((*input.shape[:-2], *size), padding, input.dtype)
    result[..., place, position] = input[..., row, column]
    return result


@shape("MatrixDiagPartV2", "MatrixDiagPartV3")
def matrix_diag_part_v3_shape(input: TensorSpec, k: TensorSpec) -> Shape:
    if input.shape.dims is None or k.value is None:
        return UNKNOWN
    require(len(input.shape) >= 2, f"input must have at least rank 2, not shape {input.shape}")
    lower, upper = _diagonal_range(k.value)
    rows, columns = input.shape[-2:]
    if isinstance(rows, int) and isinstance(columns, int):
        _require_diagonals(rows, columns, lower, upper)
    count = [] if lower == upper else [upper - lower + 1]
    return input.shape[:-2] + [*count, _longest(rows, columns, lower, upper)]


@gradient("MatrixDiagPartV2", "MatrixDiagPartV3")
def matrix_diag_part_v3_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    op = node.op.replace("DiagPart", "SetDiag")
    return [g.apply(op, g.ZerosLike(node.inputs[0]), grad, node.inputs[1], **_align(node)), None, None]


@kernel("MatrixSetDiag", "BatchMatrixSetDiag", flops=zero_cost, shape="... m n, ... m&n -> ... m n")
def matrix_set_diag(input: Array, diagonal: Array) -> Result:
    """The matrices with other main diagonals."""
    return matrix_set_diag_v3(input, diagonal, np.int32(0))


gradient("MatrixSetDiag", "BatchMatrixSetDiag")(by_ops("MatrixSetDiag dy (ZerosLike 1)", "MatrixDiagPart dy"))


@kernel("MatrixSetDiagV2", "MatrixSetDiagV3", shape="... m n -> ... m n", flops=zero_cost)
def matrix_set_diag_v3(input: Array, diagonal: Array, k: Any, *, align: str = "LEFT_LEFT") -> Result:
    """The matrices (..., m, n) with the diagonals k replaced."""
    require_min_rank(input, 2, "input")
    require_min_rank(diagonal, 1, "diagonal")
    lower, upper = _diagonal_range(k)
    rows, columns = input.shape[-2:]
    _require_diagonals(rows, columns, lower, upper)
    count = () if lower == upper else (upper - lower + 1,)
    expected = (*input.shape[:-2], *count, _longest(rows, columns, lower, upper))
    if diagonal.shape != expected:
        raise InvalidArgumentError(f"diagonal must have shape {expected}, not {diagonal.shape}")
    result = input.copy()
    _set_diagonals(result, diagonal, lower, upper, align)
    return result


@gradient("MatrixSetDiagV2", "MatrixSetDiagV3")
def matrix_set_diag_v3_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    k, attrs = node.inputs[2], _align(node)
    rest = g.apply(node.op, grad, g.ZerosLike(node.inputs[1]), k, **attrs)
    return [rest, g.apply(node.op.replace("SetDiag", "DiagPart"), grad, k, g.scalar_like(grad, 0), **attrs), None]


@kernel("Diag", shape="... n -> ... n ... n", flops=zero_cost, gradient=by_ops("DiagPart dy"))
def diag(diagonal: Array) -> Result:
    """A tensor of shape s + s with the elements of `diagonal`, of shape s, where both indices agree."""
    require_min_rank(diagonal, 1, "diagonal")
    return np.diag(diagonal.ravel()).reshape(diagonal.shape * 2)


@kernel("DiagPart", flops=zero_cost, gradient=by_ops("Diag dy"))
def diag_part(input: Array) -> Result:
    """Return the elements of a tensor of shape s + s at which both halves of the index agree."""
    half = input.ndim // 2
    # TensorFlow's kernel returns a scalar as it is, which its shape function refuses in a graph.
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


# The array programs move elements by their numbers: the kernels, of matrices of numbers, say where they go.
_NOWHERE = np.full((), -1)


def _moved(xp: Any, x: Any, places: Any, dims: int, fill: Any = None) -> Any:
    """Return the elements at flat `places` of the last dimensions of `x`; `fill` where a place is -1."""
    batch, at = x.shape[: x.ndim - dims], np.asarray(places)
    if fill is not None and (at < 0).all():
        return xp.broadcast_to(fill, (*batch, *at.shape))
    flat = xp.reshape(x, (*batch, math.prod(x.shape[x.ndim - dims :])))
    elements = xp.reshape(xp.take(flat, np.maximum(at, 0).ravel(), -1), (*batch, *at.shape))
    return elements if fill is None or (at >= 0).all() else xp.where(at >= 0, elements, fill)


@arrays("MatrixBandPart", "BatchMatrixBandPart")
def _band_part_arrays(xp: Any, x: Any, lower: Any, upper: Any) -> Any:
    require_min_rank(x, 2, "input")
    rows, columns = (xp.arange(size) for size in x.shape[-2:])
    below = rows[:, None] - columns
    for width, size in ((lower, x.shape[-2]), (upper, x.shape[-1])):
        require(width.ndim == 0, "the width of a band must be a scalar")
        xp.require(width <= size)
    lower, upper = (width.astype(below.dtype) for width in (lower, upper))
    is_inside = ((lower < 0) | (below <= lower)) & ((upper < 0) | (-below <= upper))
    return xp.where(is_inside, x, np.zeros((), x.dtype))


@arrays("MatrixDiag", "BatchMatrixDiag")
def _of_main_diagonal_arrays(xp: Any, diagonal: Any) -> Any:
    require_min_rank(diagonal, 1, "diagonal")
    return xp.where(np.eye(diagonal.shape[-1], dtype=bool), diagonal[..., None, :], np.zeros((), diagonal.dtype))


@arrays("MatrixDiagV2", "MatrixDiagV3", static=(1, 2, 3))
def of_diagonals_arrays(
    xp: Any, diagonal: Any, k: Array, num_rows: Array, num_cols: Array, padding: Any, *, align: str = "LEFT_LEFT"
) -> Any:
    """Return matrices with the given diagonals and the padding, which has no gradient in TensorFlow, elsewhere."""
    count = _packed_dims(k)
    places = matrix_diag_v3(numbered(diagonal.shape[-count:]), k, num_rows, num_cols, _NOWHERE, align=align)
    return _moved(xp, diagonal, places, count, xp.stop_gradient(_padding(padding)))


def _packed_dims(k: Array) -> int:
    """Return the number of dimensions of the diagonals k: one, or two for several."""
    lower, upper = _diagonal_range(k)
    return 2 if lower < upper else 1


@arrays("MatrixDiagPart", "BatchMatrixDiagPart")
def _main_diagonal_arrays(xp: Any, x: Any) -> Any:
    return _moved(xp, x, matrix_diag_part(numbered(x.shape[-2:])), 2)


@arrays("MatrixDiagPartV2", "MatrixDiagPartV3", static=(1,))
def _diagonals_arrays(xp: Any, x: Any, k: Array, padding: Any, *, align: str = "LEFT_LEFT") -> Any:
    places = matrix_diag_part_v3(numbered(x.shape[-2:]), k, _NOWHERE, align=align)
    return _moved(xp, x, places, 2, xp.stop_gradient(xp.reshape(padding, ())))


@arrays("MatrixSetDiagV2", "MatrixSetDiagV3", static=(2,))
def _with_diagonals_arrays(xp: Any, x: Any, diagonal: Any, k: Array, *, align: str = "LEFT_LEFT") -> Any:
    count = _packed_dims(k)
    require_min_rank(x, 2, "input")
    require_min_rank(diagonal, count, "diagonal")
    require_known_sizes(x.shape[:-2], diagonal.shape[:-count])
    # The main diagonals of matrices whose size only the run knows need no table of places.
    if not k.any():
        return _with_main_diagonal_arrays(xp, x, diagonal)
    # The kernel moves numbers of places instead of elements, and the program gathers by what it returns.
    places = matrix_set_diag_v3(np.full(x.shape[-2:], -1), numbered(diagonal.shape[-count:]), k, align=align)
    return _moved(xp, diagonal, places, count, x)


@arrays("MatrixSetDiag", "BatchMatrixSetDiag")
def _with_main_diagonal_arrays(xp: Any, x: Any, diagonal: Any) -> Any:
    """Return matrices of any size with other main diagonals: the element of each row, where the column is the row's."""
    require_min_rank(x, 2, "input")
    require_min_rank(diagonal, 1, "diagonal")
    require_known_sizes(x.shape[:-2], diagonal.shape[:-1])
    rows, columns = x.shape[-2:]
    if isinstance(rows, int) and isinstance(columns, int):
        require_known_sizes((min(rows, columns),), diagonal.shape[-1:])
        elements = diagonal[..., None] if rows <= columns else diagonal[..., None, :]
        return xp.where(np.eye(rows, columns, dtype=bool), elements, x)
    rows, columns = xp.arange(rows), xp.arange(columns)
    longer = xp.pad(diagonal, [*[(0, 0)] * (diagonal.ndim - 1), (0, 1)])  # for rows beyond the diagonal, which may be empty
    elements = xp.take(longer, xp.minimum(rows, diagonal.shape[-1]), -1)
    return xp.where(rows[:, None] == columns, elements[..., None], x)


@arrays("Diag")
def _diagonal_tensor_arrays(xp: Any, diagonal: Any) -> Any:
    """Return a tensor of twice the rank, zero where the two halves of the index differ."""
    require_min_rank(diagonal, 1, "diagonal")
    size = math.prod(diagonal.shape)
    matrix = xp.where(np.eye(size, dtype=bool), diagonal.reshape(size), np.zeros((), diagonal.dtype))
    return matrix.reshape(diagonal.shape * 2)


@arrays("DiagPart")
def _diagonal_of_tensor_arrays(xp: Any, x: Any) -> Any:
    """Return the elements where both halves of the index agree."""
    half = x.ndim // 2
    require(x.ndim > 0 and x.ndim % 2 == 0, f"a tensor of rank {x.ndim} has no diagonal")
    require_known_sizes(x.shape[:half], x.shape[half:])
    size = math.prod(x.shape[:half])
    return xp.take(x.reshape(size * size), np.arange(size) * (size + 1), 0).reshape(x.shape[:half])
