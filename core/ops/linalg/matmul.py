"""Products of matrices."""

from __future__ import annotations

import math
from typing import Any

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...inference.profiler_formulas import inner_product
from ...numerics import gemm
from ...numerics.half_precision import is_narrow, widened
from ...registry.registry import Cost, arrays, flops, gradient, kernel, multiply_adds, profiled, shape
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec, broadcast_shapes, merge_dims, merge_shapes
from ..shared.argument_checks import require_known_sizes
from ._matrices import reduce_batch

# a @ b in the inputs' dtype; 16-bit floats are multiplied in float32.
_product = widened(gemm.matmul)


@kernel("MatMul", facts=("total", "half_allow"))
def matmul(a: Array, b: Array, *, transpose_a: bool, transpose_b: bool) -> Result:
    """Product of two matrices, (m, k) x (k, n) -> (m, n)."""
    if a.ndim != 2 or b.ndim != 2:
        raise InvalidArgumentError(f"MatMul takes two matrices, not shapes {Shape(a.shape)} and {Shape(b.shape)}")
    a = a.T if transpose_a else a
    b = b.T if transpose_b else b
    if a.shape[1] != b.shape[0]:
        raise InvalidArgumentError(f"Matrix size-incompatible: In[0]: {Shape(a.shape)}, In[1]: {Shape(b.shape)}")
    # The wrapper for narrow floats costs as much as a small product.
    return _product(a, b) if is_narrow(a.dtype) else gemm.matmul(a, b)


@shape("MatMul")
def matmul_shape(a: TensorSpec, b: TensorSpec, *, transpose_a: bool, transpose_b: bool) -> Shape:
    for spec in (a, b):
        if spec.rank not in (None, 2):
            raise InvalidArgumentError(f"MatMul takes matrices, not shape {spec.shape}")
    rows, inner_a = (a.shape[1], a.shape[0]) if transpose_a else (a.shape[0], a.shape[1])
    inner_b, columns = (b.shape[1], b.shape[0]) if transpose_b else (b.shape[0], b.shape[1])
    merge_dims(inner_a, inner_b)
    return Shape([rows, columns])


@gradient("MatMul")
def matmul_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    # The flags of MatMul transpose and do not conjugate, so the gradient does that itself.
    a, b = (g.conj(value) for value in node.inputs)
    flip_a, flip_b = node.attr("transpose_a"), node.attr("transpose_b")
    # Transposes go into the flags of the products: no op of the gradient copies a matrix.
    first = (b, grad, flip_b, True) if flip_a else (grad, b, False, not flip_b)
    second = (grad, a, True, flip_a) if flip_b else (a, grad, not flip_a, False)
    return [g.MatMul(x, y, transpose_a=flip_x, transpose_b=flip_y) for x, y, flip_x, flip_y in (first, second)]


@flops("MatMul")
def matmul_flops(a: TensorSpec, *, transpose_a: bool, outputs: list[TensorSpec]) -> Cost:
    """One multiply-add for each result element and each step along the inner dimension: 2 m k n."""
    inner = a.shape[0] if transpose_a else a.shape[1]
    return multiply_adds(outputs[0].shape.num_elements * inner)


profiled(inner_product, "MatMul")


def _adjoint(x: Array, flip: bool) -> Array:
    if not flip:
        return x
    turned = x.swapaxes(-1, -2)
    return turned.conj() if x.dtype.kind == "c" else turned


def _batch_matmul(x: Array, y: Array, adj_x: bool, adj_y: bool) -> Array:
    if x.ndim < 2 or y.ndim < 2:
        raise InvalidArgumentError(f"In[0] and In[1] ndims must be >= 2: {x.ndim} and {y.ndim}")
    x, y = _adjoint(x, adj_x), _adjoint(y, adj_y)
    if x.shape[-1] != y.shape[-2]:
        raise InvalidArgumentError(f"Matrix size-incompatible: In[0]: {Shape(x.shape)}, In[1]: {Shape(y.shape)}")
    # Only for the error: the product broadcasts by itself.
    if min(x.ndim, y.ndim) > 2:
        broadcast_shapes(Shape(x.shape[:-2]), Shape(y.shape[:-2]))
    return _product(x, y)


@kernel("BatchMatMul", facts=("total", "half_allow"))
def batch_matmul(x: Array, y: Array, *, adj_x: bool, adj_y: bool) -> Result:
    """Products of matrices in the last two dimensions; the batch dimensions must be equal."""
    _require_same_batch(x, y)
    return _batch_matmul(x, y, adj_x, adj_y)


def _require_same_batch(x: Any, y: Any) -> None:
    if x.shape[:-2] != y.shape[:-2]:
        raise InvalidArgumentError(f"the batch dimensions of {Shape(x.shape)} and {Shape(y.shape)} must be equal")


@kernel("BatchMatMulV2", facts=("total", "half_allow"))
def batch_matmul_v2(x: Array, y: Array, *, adj_x: bool, adj_y: bool) -> Result:
    """Products of matrices in the last two dimensions; the batch dimensions broadcast."""
    return _batch_matmul(x, y, adj_x, adj_y)


@kernel("BatchMatMulV3", facts=("total",))
def batch_matmul_v3(x: Array, y: Array, *, adj_x: bool, adj_y: bool, Tout: DType) -> Result:
    """Multiply as BatchMatMulV2 does, with a result of dtype `Tout`."""
    return _batch_matmul(x.astype(Tout.numpy), y.astype(Tout.numpy), adj_x, adj_y)


@shape("BatchMatMul")
def batch_matmul_v1_shape(x: TensorSpec, y: TensorSpec, *, adj_x: bool, adj_y: bool) -> Shape:
    """The dimensions in front of the matrices are equal: one input tells those of the other."""
    if x.rank is not None or y.rank is not None:
        x, y = (
            spec if spec.rank is not None else TensorSpec(spec.dtype, other.shape[:-2] + [None, None])
            for spec, other in ((x, y), (y, x))
        )
        merge_shapes(x.shape[:-2], y.shape[:-2])
    return batch_matmul_shape(x, y, adj_x=adj_x, adj_y=adj_y)


@shape("BatchMatMulV2", "BatchMatMulV3")
def batch_matmul_shape(x: TensorSpec, y: TensorSpec, *, adj_x: bool, adj_y: bool) -> Shape:
    if x.shape.dims is None or y.shape.dims is None:
        return UNKNOWN
    if len(x.shape) < 2 or len(y.shape) < 2:
        raise InvalidArgumentError(f"In[0] and In[1] ndims must be >= 2: {x.shape} and {y.shape}")
    rows, inner_x = (x.shape[-1], x.shape[-2]) if adj_x else (x.shape[-2], x.shape[-1])
    inner_y, columns = (y.shape[-1], y.shape[-2]) if adj_y else (y.shape[-2], y.shape[-1])
    merge_dims(inner_x, inner_y)
    return broadcast_shapes(x.shape[:-2], y.shape[:-2]) + [rows, columns]


@gradient("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    x, y = node.inputs
    adj_x, adj_y = node.attr("adj_x"), node.attr("adj_y")
    multiply = g.BatchMatMulV2 if node.op != "BatchMatMul" else g.BatchMatMul
    # Unlike those of MatMul, these flags conjugate as well: no node for it is needed.
    dx = multiply(y, grad, adj_x=adj_y, adj_y=True) if adj_x else multiply(grad, y, adj_y=not adj_y)
    dy = multiply(grad, x, adj_x=True, adj_y=adj_x) if adj_y else multiply(x, grad, adj_x=not adj_x)
    if node.op == "BatchMatMul":
        return [dx, dy]
    # Also where nothing was broadcast: shapes may be unknown, and a sum over no axes is free.
    return [reduce_batch(g, dx, x, y), reduce_batch(g, dy, y, x)]


@flops("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul_flops(x: TensorSpec, *, adj_x: bool, outputs: list[TensorSpec]) -> Cost:
    """2 m k n for each matrix of the batch."""
    inner = x.shape[-2] if adj_x else x.shape[-1]
    return multiply_adds(math.prod(outputs[0].shape) * inner)


profiled(inner_product, "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", differs="tf.profiler ignores adj_x")


@arrays("MatMul")
def matmul_arrays(xp: Any, a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    return xp.matmul(a.swapaxes(-1, -2) if transpose_a else a, b.swapaxes(-1, -2) if transpose_b else b)


@arrays("BatchMatMul")
def _batch_matmul_arrays(xp: Any, x: Any, y: Any, *, adj_x: bool, adj_y: bool) -> Any:
    require_known_sizes(x.shape[:-2], y.shape[:-2])
    return _batch_matmul_v2_arrays(xp, x, y, adj_x=adj_x, adj_y=adj_y)


@arrays("BatchMatMulV2", "BatchMatMulV3")
def _batch_matmul_v2_arrays(xp: Any, x: Any, y: Any, *, adj_x: bool, adj_y: bool, Tout: DType | None = None) -> Any:
    pair = (x, y) if Tout is None else (x.astype(Tout.numpy), y.astype(Tout.numpy))
    return xp.matmul(*(xp.conj(z.swapaxes(-1, -2)) if is_adjoint else z for z, is_adjoint in zip(pair, (adj_x, adj_y))))
