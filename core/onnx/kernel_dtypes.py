"""The dtypes of onnxruntime's kernels on CPUs, and the wider dtype for an operator without a kernel.

ONNX itself allows most operators on more dtypes. A file with such operators is valid, but no runtime loads the file.
"""

from __future__ import annotations

from typing import Final

from ..types import dtypes
from ..types.dtypes import DType

_SINGLE: Final = "half float"
_FLOATS: Final = "half float double"
_NUMBERS: Final = f"{_FLOATS} int8 int16 int32 int64 uint8 uint16 uint32 uint64"
_WIDE: Final = f"{_FLOATS} int32 int64"
_MOST: Final = f"{_FLOATS} int8 int32 int64 uint8 uint32 uint64"
_ORDERED: Final = f"{_FLOATS} int8 int32 int64 uint8"

_KERNELS: Final = {
    _SINGLE: "Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Erf Softplus Softsign Elu Selu LeakyRelu Gelu HardSigmoid PRelu "
    "Mean Conv ConvTranspose AveragePool LRN InstanceNormalization Det",
    _FLOATS: "Ceil Floor Round Sqrt Exp Log Reciprocal Sin Cos Tanh Sigmoid Gemm Softmax LogSoftmax BatchNormalization DFT "
    "LayerNormalization LSTM GRU",
    f"{_FLOATS} int8 int16 int32 int64": "Neg",
    f"{_FLOATS} int8 int32": "Relu",
    f"{_FLOATS} bfloat16": "IsNaN IsInf",
    f"{_FLOATS} int8 uint8": "MaxPool SpaceToDepth DepthToSpace",
    f"{_SINGLE} int32 int64 uint8 bool": "NonZero",
    f"{_SINGLE} int8 int32 uint8": "Resize",
    f"{_FLOATS} int8 int64": "Unique",
    f"{_FLOATS} int8 int16 int32 int64 uint8": "TopK",
    "float double int16 int32 int64": "Range",
    "uint8 uint32 uint64": "BitShift",
    _WIDE: "Pow ReduceSum ReduceMean ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSumExp CumSum Einsum",
    f"{_WIDE} bool": "Trilu",
    _MOST: "Clip",
    f"{_WIDE} uint32 uint64": "MatMul Max Min",
    f"{_MOST} bool": "Pad",
    f"{_FLOATS} int8 int32 int64 uint8 uint32 string": "Where",
    f"{_ORDERED} bool": "ReduceMax ReduceMin",
    _ORDERED: "ArgMax ArgMin",
    _NUMBERS: "Abs Add Sub Mul Div Mod Less Greater LessOrEqual GreaterOrEqual",
    _NUMBERS.removeprefix("half "): "ScatterND add,ScatterND mul,ScatterND max,ScatterND min",
    f"{_NUMBERS} bool string": "Equal Expand Tile ReverseSequence",
}
_BY_OP: Final = {
    op: frozenset(types.split()) for types, ops in _KERNELS.items() for op in ops.split("," if "," in ops else None)
}
_WIDER: Final = {
    dtypes.bool_: (dtypes.uint8, dtypes.int32, dtypes.int8),
    dtypes.uint8: (dtypes.int32, dtypes.int64, dtypes.float32),
    dtypes.int8: (dtypes.int32, dtypes.int64, dtypes.float32),
    dtypes.uint16: (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.uint32),
    dtypes.int16: (dtypes.int32, dtypes.int64, dtypes.float32),
    dtypes.uint32: (dtypes.int64, dtypes.uint64, dtypes.float64),
    dtypes.int32: (dtypes.int64, dtypes.float64),
    dtypes.bfloat16: (dtypes.float32,),
    dtypes.float16: (dtypes.float32,),
    dtypes.float64: (dtypes.float32,),
}
"""The dtypes that hold all values of another, in order of preference; for 64-bit floats float32, the only other kernel."""


def carrier(dtype: DType) -> DType:
    """Return the dtype of a tensor in ONNX: for a quantized dtype the integers that it holds, else the dtype itself."""
    base = dtype.base
    return dtypes.from_numpy(base.numpy) if base.is_quantized else base


def wider_dtypes(dtype: DType) -> tuple[DType, ...]:
    """Return the dtypes that hold all values of another, in order of preference."""
    return () if dtype is dtypes.float64 else _WIDER.get(dtype, ())


def computed_in(op: str, dtype: DType) -> DType | None:
    """Return the dtype in which onnxruntime computes an operator on tensors of `dtype`: the same, or a dtype to cast to and
    back.

    None where there is no such dtype.
    """
    kernels = _BY_OP.get(op)
    if kernels is None or dtype.name in kernels:
        return dtype
    return next((wider for wider in _WIDER.get(dtype, ()) if wider.name in kernels), None)
