"""Small graphs that ask for more time or memory than there is: by name what adds one to a builder and returns its result."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.functions import define
from tfg import GraphBuilder
from tfg.core.graph import Output
from tfg.core.tensors import FuncRef, Tensor

MOST = 2**31 - 1
Bomb = Callable[[GraphBuilder], Output]


def ints(g: GraphBuilder, *values: int) -> Output:
    """A vector of int32, or of int64 where they need it."""
    return g.constant(np.array(values, np.int64 if max(map(abs, values), default=0) > MOST else np.int32))


HALF = np.float32(0.5)


def view(g: GraphBuilder, *shape: int, value: Any = HALF) -> Output:
    """A tensor of this shape that takes no memory, all elements the same."""
    return g.BroadcastTo(g.constant(value), ints(g, *shape))


def scalar(g: GraphBuilder, value: bytes) -> Output:
    array = np.empty((), object)
    array[()] = value
    return g.constant(Tensor.from_numpy(array))


def text(g: GraphBuilder, *values: bytes) -> Output:
    return g.constant(Tensor.from_numpy(np.array(values, object)))


def texts(g: GraphBuilder, count: int, value: bytes) -> Output:
    """`count` times the same string."""
    return g.Fill(ints(g, count), scalar(g, value))


def square(g: GraphBuilder, size: int) -> Output:
    """An invertible symmetric matrix."""
    return g.AddV2(g.MatrixDiag(view(g, size)), view(g, size, size))


def png(width: int, height: int) -> bytes:
    """A PNG picture whose pixels are all zero: a thousandth of its size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pack = zlib.compressobj(1)
    row = bytes(1 + width)
    data = b"".join([*(pack.compress(row) for _ in range(height)), pack.flush()])
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def gif(width: int, height: int, frames: int) -> bytes:
    """A GIF that claims frames of this size and brings hardly a pixel."""
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6)
    frame = b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x4c\x01\x00"
    return head + frame * frames + b";"


def bmp(width: int, height: int) -> bytes:
    """The header of a BMP picture, and no pixel."""
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + header


def wav(samples: int) -> bytes:
    """A WAV file that claims so many samples."""
    form = struct.pack("<HHIIHH", 1, 1, 44100, 88200, 2, 16)
    return b"RIFF" + struct.pack("<I", 36) + b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", samples)


def _while(g: GraphBuilder, op: str = "While", wide: int = 1) -> Output:
    """A loop whose body does nothing, and whose condition holds."""
    types = ["float32"] * wide
    define(g, "holds", types, lambda b, *a: [b.constant(True)])
    define(g, "same", types, lambda b, *a: [b.Identity(x) for x in a])
    return g.apply(op, [g.constant(np.float32(1))] * wide, cond=FuncRef("holds"), body=FuncRef("same"))[0]


def _growing(g: GraphBuilder) -> Output:
    """A loop whose variable doubles."""
    define(g, "holds", ["float32"], lambda b, a: [b.constant(True)])
    define(g, "twice", ["float32"], lambda b, a: [b.ConcatV2([a, a], b.constant(np.int32(0)))])
    shape = {"output_shapes": [None]}
    return g.While([view(g, 2)], cond=FuncRef("holds"), body=FuncRef("twice"), **shape)[0]


def _while_v1(g: GraphBuilder) -> Output:
    """Enter, Merge, Switch and NextIteration around a condition that holds."""
    start = g.Enter(g.constant(np.float32(1)), frame_name="endless")
    merged = g.Merge([start, start])[0]
    condition = g.LoopCond(
        g.Less(
            g.Mul(merged, g.Enter(g.constant(np.float32(0)), frame_name="endless", is_constant=True)),
            g.Enter(g.constant(np.float32(1)), frame_name="endless", is_constant=True),
        )
    )
    out, on = g.Switch(merged, condition)
    g.graph.set_input(merged.node, 1, g.NextIteration(g.Identity(on)))
    return g.Exit(out)


def _for(g: GraphBuilder) -> Output:
    define(g, "step", ["int32", "float32"], lambda b, i, x: [b.Identity(x)])
    limits = [g.constant(np.int32(n)) for n in (0, MOST, 1)]
    return g.For(*limits, [g.constant(np.float32(1))], body=FuncRef("step"))[0]


def _nested_calls(depth: int, op: str = "PartitionedCall", **attrs: Any) -> Bomb:
    """f_i calls f_(i-1) twice, so that f_depth is 2^depth calls."""

    def build(g: GraphBuilder) -> Output:
        def twice(name: str) -> Callable[..., list[Output]]:
            def body(b: GraphBuilder, x: Output) -> list[Output]:
                once = b.apply(op, [x], Tout=["float32"], f=FuncRef(name), **attrs)[0]
                return [b.apply(op, [once], Tout=["float32"], f=FuncRef(name), **attrs)[0]]

            return body

        define(g, "f0", ["float32"], lambda b, x: [b.Sqrt(x)])
        for level in range(1, depth + 1):
            define(g, f"f{level}", ["float32"], twice(f"f{level - 1}"))
        return g.apply(op, [g.constant(np.float32(1))], Tout=["float32"], f=FuncRef(f"f{depth}"), **attrs)[0]

    return build


def _nested(depth: int, kind: str) -> Bomb:
    """If, Case or While in each other, each with two functions that call the next ones."""

    def build(g: GraphBuilder) -> Output:
        define(g, "f0", ["float32"], lambda b, x: [b.Sqrt(x)])
        define(g, "never", ["float32"], lambda b, x: [b.Less(x, b.constant(np.float32(0)))])

        def call(b: GraphBuilder, x: Output, name: str) -> Output:
            if kind == "While":
                return b.StatelessWhile([x], cond=FuncRef("never"), body=FuncRef(name))[0]
            if kind == "Case":
                branches = [FuncRef(name)] * 3
                return b.StatelessCase(b.Cast(x, DstT="int32"), [x], Tout=["float32"], branches=branches)[0]
            true = b.Less(x, b.constant(np.float32(2)))
            return b.StatelessIf(true, [x], Tout=["float32"], then_branch=FuncRef(name), else_branch=FuncRef(name))[0]

        def level(name: str) -> Callable[..., list[Output]]:
            return lambda b, x: [call(b, call(b, x, name), name)]

        for i in range(1, depth + 1):
            define(g, f"f{i}", ["float32"], level(f"f{i - 1}"))
        return call(g, g.constant(np.float32(1)), f"f{depth}")

    return build


def _recursive(g: GraphBuilder) -> Output:
    """A function that calls itself twice, one after the other."""

    def body(b: GraphBuilder, x: Output) -> list[Output]:
        once = b.PartitionedCall([x], Tout=["float32"], f=FuncRef("f"))[0]
        return [b.PartitionedCall([once], Tout=["float32"], f=FuncRef("f"))[0]]

    g.graph.functions["f"] = None
    define(g, "f", ["float32"], body)
    return g.PartitionedCall([g.constant(np.float32(1))], Tout=["float32"], f=FuncRef("f"))[0]


def _chain(op: str, length: int) -> Bomb:
    """Each node takes the one before twice."""

    def build(g: GraphBuilder) -> Output:
        x = g.constant(np.ones(4, np.float32))
        for _ in range(length):
            x = g.ConcatV2([x, x], g.constant(np.int32(0))) if op == "ConcatV2" else g.apply(op, x, x)
        return x

    return build


def _random(op: str, **attrs: Any) -> Bomb:
    return lambda g: g.apply(op, ints(g, 1 << 40), **attrs)


def _of_views(op: str, *shapes: tuple[int, ...], **attrs: Any) -> Bomb:
    """An op on tensors that take no memory."""
    return lambda g: g.apply(op, *(view(g, *shape) for shape in shapes), **attrs)


def _of_square(op: str, **attrs: Any) -> Bomb:
    return lambda g: g.apply(op, square(g, 6000), **attrs)


def _resize(op: str, *size: int, **attrs: Any) -> Bomb:
    return lambda g: g.apply(op, view(g, 1, 2, 2, 1), ints(g, *size), **attrs)


def _decode(op: str, data: Callable[[], bytes], **attrs: Any) -> Bomb:
    def build(g: GraphBuilder) -> Output:
        made = g.apply(op, scalar(g, data()), **attrs)
        return made if isinstance(made, Output) else made[0]

    return build


HUGE = 1 << 36
SIZES: dict[str, Bomb] = {
    "Fill": lambda g: g.Fill(ints(g, HUGE), g.constant(1.0)),
    "Fill beyond addresses": lambda g: g.Fill(ints(g, 1 << 62, 4), g.constant(1.0)),
    "Fill of strings": lambda g: texts(g, HUGE, b"a"),
    "Tile": lambda g: g.Tile(view(g, 4), ints(g, HUGE)),
    "Pad": lambda g: g.Pad(view(g, 4), g.constant(np.array([[0, HUGE]]))),
    "PadV2 of nothing": lambda g: g.PadV2(view(g, 0), g.constant(np.array([[HUGE, HUGE]])), g.constant(np.float32(1))),
    "MirrorPad": lambda g: g.MirrorPad(view(g, 1 << 34), g.constant(np.array([[1 << 33, 1 << 33]])), mode="SYMMETRIC"),
    "Range of floats": lambda g: g.Range(g.constant(0.0), g.constant(1e30), g.constant(1e-30)),
    "Range of int64": lambda g: g.Range(*(g.constant(np.int64(n)) for n in (0, 1 << 50, 1))),
    "Range of int32": lambda g: g.Range(*(g.constant(np.int32(n)) for n in (0, MOST, 1))),
    "LinSpace": lambda g: g.LinSpace(g.constant(0.0), g.constant(1.0), g.constant(np.int32(MOST))),
    "OneHot": lambda g: g.OneHot(ints(g, *range(100)), g.constant(np.int32(MOST)), g.constant(1.0), g.constant(0.0)),
    "Gather": lambda g: g.GatherV2(view(g, 4), view(g, HUGE, value=np.int32(1)), g.constant(np.int32(0))),
    "GatherNd": lambda g: g.GatherNd(view(g, 4), view(g, HUGE, 1, value=np.int32(1))),
    "ScatterNd": lambda g: g.ScatterNd(g.constant(np.array([[0]])), view(g, 1), g.constant(np.array([HUGE]))),
    "SparseToDense": lambda g: g.SparseToDense(
        ints(g, 1), g.constant(np.array([MOST], np.int32)), view(g, 1), g.constant(np.float32(0))
    ),
    "SparseFillEmptyRows": lambda g: g.SparseFillEmptyRows(
        g.constant(np.array([[0, 0]])), view(g, 1), g.constant(np.array([HUGE, 1])), g.constant(np.float32(0))
    )[1],
    "SparseTensorDenseMatMul": lambda g: g.SparseTensorDenseMatMul(
        g.constant(np.array([[0, 0]])), view(g, 1), g.constant(np.array([HUGE, 1])), view(g, 1, 1)
    ),
    "SparseReduceSum": lambda g: g.SparseReduceSum(
        g.constant(np.array([[0, 0]])), view(g, 1), g.constant(np.array([HUGE, 2])), ints(g, 1)
    ),
    "SparseSegmentSum": lambda g: g.SparseSegmentSumWithNumSegments(view(g, 1, 1), ints(g, 0), ints(g, 0), ints(g, HUGE)),
    "SparseDenseCwiseAdd": lambda g: g.SparseDenseCwiseAdd(
        g.constant(np.array([[0, 0]])), view(g, 1), g.constant(np.array([1 << 20, 1 << 20])), view(g, 1)
    ),
    "SparseBincount": lambda g: g.SparseBincount(
        g.constant(np.array([[0]])), ints(g, 1), g.constant(np.array([1])), g.constant(np.int32(MOST)), view(g, 0)
    ),
    "Bincount": lambda g: g.Bincount(ints(g, 1), g.constant(np.int32(MOST)), view(g, 0)),
    "DenseBincount": lambda g: g.DenseBincount(ints(g, 1), g.constant(np.int32(MOST)), view(g, 0)),
    "HistogramFixedWidth": lambda g: g.HistogramFixedWidth(
        view(g, 1), g.constant(np.array([0, 1], np.float32)), g.constant(np.int32(MOST))
    ),
    "UnsortedSegmentSum": lambda g: g.UnsortedSegmentSum(view(g, 1), ints(g, 0), g.constant(np.int64(HUGE))),
    "SegmentSum": lambda g: g.SegmentSum(view(g, 1), ints(g, MOST)),
    "MatrixDiag": lambda g: g.MatrixDiag(view(g, 1 << 20)),
    "MatrixDiagV3": lambda g: g.MatrixDiagV3(
        view(g, 1), *(g.constant(np.int32(n)) for n in (0, MOST, MOST)), g.constant(np.float32(0))
    ),
    "Diag": lambda g: g.Diag(view(g, 1 << 20)),
    "RaggedRange": lambda g: g.RaggedRange(g.constant(np.int64(0)), g.constant(np.int64(HUGE)), g.constant(np.int64(1)))[1],
    "RaggedRange of floats": lambda g: g.RaggedRange(g.constant(0.0), g.constant(1e30), g.constant(1e-30))[1],
    "RaggedTensorToTensor": lambda g: g.RaggedTensorToTensor(
        g.constant(np.array([1, HUGE])),
        view(g, 1),
        g.constant(np.float32(0)),
        [g.constant(np.array([0, 1]))],
        row_partition_types=[b"ROW_SPLITS"],
    ),
    "TensorListReserve": lambda g: g.TensorListStack(
        g.TensorListReserve(ints(g, 1), g.constant(np.int32(MOST)), element_dtype="float32"),
        ints(g, 1),
        element_dtype="float32",
    ),
    "TensorListResize": lambda g: g.TensorListLength(
        g.TensorListResize(
            g.EmptyTensorList(ints(g, 1), g.constant(np.int32(-1)), element_dtype="float32"), g.constant(np.int32(MOST))
        )
    ),
    "TensorListStack of large zeros": lambda g: g.TensorListStack(
        g.TensorListReserve(ints(g, 1 << 20), g.constant(np.int32(1 << 20)), element_dtype="float32"),
        ints(g, 1 << 20),
        element_dtype="float32",
    ),
    "TensorListFromTensor": lambda g: g.TensorListLength(
        g.TensorListFromTensor(view(g, HUGE), ints(g), element_dtype="float32")
    ),
    "TensorArray": lambda g: _tensor_array(g),
    "DynamicStitch": lambda g: g.DynamicStitch([ints(g, MOST - 1)], [view(g, 1)]),
    "DynamicPartition": lambda g: g.DynamicPartition(view(g, 1), ints(g, 0), num_partitions=1 << 16)[0],
    "Unpack": lambda g: g.Unpack(view(g, 1 << 16), num=1 << 16)[0],
    "Split": lambda g: g.Split(g.constant(np.int32(0)), view(g, 1 << 16), num_split=1 << 16)[0],
    "Pack of views": lambda g: g.Pack([view(g, HUGE)] * 3),
    "ConcatV2 of views": lambda g: g.ConcatV2([view(g, HUGE)] * 3, g.constant(np.int32(0))),
    "Reverse": lambda g: g.ReverseV2(view(g, HUGE), ints(g, 0)),
    "Roll": lambda g: g.Roll(view(g, HUGE), ints(g, 5), ints(g, 0)),
    "StridedSlice": lambda g: g.Identity(
        g.StridedSlice(view(g, HUGE), *(g.constant(np.array([n])) for n in (1, HUGE - 1, 2)))
    ),
    "SpaceToBatchND": lambda g: g.SpaceToBatchND(view(g, 1, 1, 1), ints(g, 1), g.constant(np.array([[0, HUGE]]))),
    "SpaceToBatch": lambda g: g.SpaceToBatch(
        view(g, 1, 2, 2, 1), g.constant(np.array([[0, 1 << 30], [0, 1 << 30]])), block_size=2
    ),
    "BatchToSpaceND": lambda g: g.BatchToSpaceND(view(g, 1 << 30, 4, 1), ints(g, 1 << 30), g.constant(np.array([[0, 0]]))),
    "Transpose": lambda g: g.Add(g.Transpose(view(g, 1 << 18, 1 << 18), ints(g, 1, 0)), view(g, 1)),
    "ConjugateTranspose": lambda g: g.ConjugateTranspose(view(g, 1 << 18, 1 << 18, value=np.complex64(1j)), ints(g, 1, 0)),
    "ResizeArea": _resize("ResizeArea", MOST, 2),
    "ResizeArea wide": _resize("ResizeArea", 2, MOST),
    "ResizeBilinear": _resize("ResizeBilinear", MOST, 2),
    "ResizeBicubic": _resize("ResizeBicubic", MOST, 2),
    "ResizeBicubic square": _resize("ResizeBicubic", 1 << 20, 1 << 20),
    "ResizeNearestNeighbor": _resize("ResizeNearestNeighbor", MOST, 2),
    "ScaleAndTranslate": lambda g: g.ScaleAndTranslate(view(g, 1, 2, 2, 1), ints(g, MOST, 2), view(g, 2), view(g, 2)),
    "ResizeArea of a huge picture": lambda g: g.ResizeArea(view(g, 1, 1 << 18, 1 << 18, 1), ints(g, 2, 2)),
    "ResizeBilinear of a huge picture": lambda g: g.ResizeBilinear(view(g, 1, 1 << 18, 1 << 18, 1), ints(g, 2, 2)),
    "CropAndResize": lambda g: g.CropAndResize(view(g, 1, 2, 2, 1), view(g, 1, 4), ints(g, 0), ints(g, MOST, 2)),
    "CropAndResize of many boxes": lambda g: g.CropAndResize(
        view(g, 1, 2, 2, 1), view(g, 1 << 28, 4), view(g, 1 << 28, value=np.int32(0)), ints(g, 2, 2)
    ),
    "ExtractGlimpse": lambda g: g.ExtractGlimpse(view(g, 1, 2, 2, 1), ints(g, MOST, 1 << 10), view(g, 1, 2)),
    "ExtractImagePatches": lambda g: g.ExtractImagePatches(
        view(g, 1, 1 << 14, 1 << 14, 1), ksizes=[1, 100, 100, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID"
    ),
    "Conv2DBackpropInput": lambda g: g.Conv2DBackpropInput(
        ints(g, 1, 1 << 20, 1 << 20, 1),
        view(g, 1, 1, 1, 1),
        view(g, 1, 1 << 20, 1 << 20, 1),
        strides=[1, 1, 1, 1],
        padding="SAME",
    ),
    "AvgPoolGrad": lambda g: g.AvgPoolGrad(
        ints(g, 1, 1 << 20, 1 << 20, 1),
        view(g, 1, 1 << 19, 1 << 19, 1),
        ksize=[1, 2, 2, 1],
        strides=[1, 2, 2, 1],
        padding="SAME",
    ),
    "RFFT": lambda g: g.RFFT(view(g, 4), ints(g, MOST)),
    "IRFFT2D": lambda g: g.IRFFT2D(view(g, 4, 4, value=np.complex64(1)), ints(g, 1 << 20, 1 << 20)),
    "FFT": lambda g: g.FFT(view(g, 1 << 32, value=np.complex64(1))),
    "RandomUniform": _random("RandomUniform", dtype="float32"),
    "RandomStandardNormal": _random("RandomStandardNormal", dtype="float64"),
    "TruncatedNormal": _random("TruncatedNormal", dtype="float32"),
    "StatelessRandomUniform": lambda g: g.StatelessRandomUniform(ints(g, 1 << 40), ints(g, 1, 2), dtype="float32"),
    "StatelessRandomUniformV2": lambda g: g.StatelessRandomUniformV2(
        ints(g, 1 << 40),
        g.constant(np.array([1], np.uint64)),
        g.constant(np.array([1, 2], np.uint64)),
        g.constant(np.int32(1)),
    ),
    "StatelessRandomNormal of 1 GB": lambda g: g.Sum(
        g.StatelessRandomNormal(ints(g, 1 << 28), ints(g, 1, 2), dtype="float32"), ints(g, 0)
    ),
    "Multinomial": lambda g: g.Multinomial(view(g, 1, 2), g.constant(np.int32(MOST))),
    "RandomPoisson": lambda g: g.RandomPoissonV2(ints(g, 1 << 36), view(g, 1)),
    "RandomGamma": lambda g: g.RandomGamma(ints(g, 1 << 36), view(g, 1)),
    "RandomShuffle": lambda g: g.RandomShuffle(view(g, HUGE)),
    "StatelessRandomBinomial": lambda g: g.StatelessRandomBinomial(
        ints(g, 1 << 36), ints(g, 1, 2), view(g, 1), view(g, 1), dtype="float32"
    ),
    "ParameterizedTruncatedNormal": lambda g: g.ParameterizedTruncatedNormal(
        ints(g, 1 << 26), *(g.constant(np.array([n], np.float32)) for n in (0, 1, 30, 31))
    ),
    "SobolSample": lambda g: g.SobolSample(*(g.constant(np.int32(n)) for n in (100, MOST, MOST)), dtype="float32"),
    "StatelessRandomUniformInt": lambda g: g.StatelessRandomUniformInt(
        ints(g, 1 << 38), ints(g, 1, 2), g.constant(np.int32(0)), g.constant(np.int32(5))
    ),
    "LogUniformCandidateSampler": lambda g: g.LogUniformCandidateSampler(
        g.constant(np.array([[1]])), num_true=1, num_sampled=2000000, unique=True, range_max=2000001
    )[0],
    "LearnedUnigramCandidateSampler": lambda g: g.LearnedUnigramCandidateSampler(
        g.constant(np.array([[1]])), num_true=1, num_sampled=MOST - 1, unique=True, range_max=MOST
    )[0],
    "UniformCandidateSampler": lambda g: g.UniformCandidateSampler(
        g.constant(np.array([[1]])), num_true=1, num_sampled=1 << 30, unique=False, range_max=1 << 40
    )[0],
    "AllCandidateSampler": lambda g: g.AllCandidateSampler(
        g.constant(np.array([[1]])), num_true=1, num_sampled=1 << 31, unique=True
    )[0],
    "Where": lambda g: g.Where(view(g, HUGE, value=np.bool_(True))),
    "Cast": lambda g: g.Cast(view(g, HUGE), DstT="float64"),
    "Bucketize": lambda g: g.Bucketize(view(g, HUGE), boundaries=[0.0, 1.0]),
    "ImmutableConst": lambda g: g.ImmutableConst(dtype="float32", shape=[HUGE], memory_region_name=b"x"),
    "Empty": lambda g: g.Empty(ints(g, 1 << 30, 1 << 30), dtype="float32", init=True),
    "LowerBound": lambda g: g.LowerBound(view(g, 1, 2), view(g, 1, HUGE)),
    "TopKV2": lambda g: g.TopKV2(view(g, HUGE), g.constant(np.int32(5)))[0],
    "Batch": lambda g: g.BatchMatMulV2(view(g, HUGE, 1, 1), view(g, HUGE, 1, 1)),
}


def _edit_distance(g: GraphBuilder) -> Output:
    """Of two sequences of 65,536 numbers."""
    count = 1 << 16
    positions = g.constant(np.stack([np.zeros(count, np.int64), np.arange(count)], 1))
    sequence = positions, view(g, count, value=np.int64(1)), g.constant(np.array([1, count]))
    return g.EditDistance(*sequence, *sequence)


def _tensor_array(g: GraphBuilder) -> Output:
    handle, flow = g.TensorArrayV3(g.constant(np.int32(MOST)), dtype="float32", element_shape=[1])
    return g.TensorArrayGatherV3(handle, ints(g, 0), flow, dtype="float32", element_shape=[1])


WORK: dict[str, Bomb] = {
    "Sum": lambda g: g.Sum(view(g, HUGE), ints(g, 0)),
    "Prod": lambda g: g.Prod(view(g, HUGE), ints(g, 0)),
    "All": lambda g: g.All(view(g, HUGE, value=np.bool_(True)), ints(g, 0)),
    "ArgMax": lambda g: g.ArgMax(view(g, HUGE), g.constant(np.int32(0))),
    "Max of bfloat16": lambda g: g.Max(g.Cast(view(g, 1 << 31), DstT="bfloat16"), ints(g, 0)),
    "EuclideanNorm": lambda g: g.EuclideanNorm(view(g, HUGE), ints(g, 0)),
    "L2Loss": lambda g: g.L2Loss(view(g, HUGE)),
    "Cumsum": lambda g: g.Cumsum(view(g, 1 << 30), g.constant(np.int32(0))),
    "Cumprod": lambda g: g.Cumprod(view(g, 1 << 30), g.constant(np.int32(0))),
    "CumulativeLogsumexp": lambda g: g.CumulativeLogsumexp(view(g, 1 << 28), g.constant(np.int32(0))),
    "Equal": lambda g: g.All(g.Equal(view(g, 1 << 32), view(g, 1 << 32)), ints(g, 0)),
    "Softmax": lambda g: g.Softmax(view(g, 1 << 15, 1 << 15)),
    "Exp": lambda g: g.Exp(view(g, 1 << 30)),
    "Lgamma": lambda g: g.Lgamma(view(g, 1 << 28)),
    "Zeta": lambda g: g.Zeta(view(g, 1 << 26, value=np.float32(1.5)), view(g, 1 << 26)),
    "Polygamma": lambda g: g.Polygamma(view(g, 1 << 26, value=np.float32(3)), view(g, 1 << 26)),
    "Igamma": lambda g: g.Igamma(view(g, 1 << 26, value=np.float32(100)), view(g, 1 << 26, value=np.float32(99))),
    "IgammaGradA": lambda g: g.IgammaGradA(view(g, 1 << 24, value=np.float32(100)), view(g, 1 << 24, value=np.float32(99))),
    "RandomGammaGrad": lambda g: g.RandomGammaGrad(
        view(g, 1 << 24, value=np.float32(100)), view(g, 1 << 24, value=np.float32(99))
    ),
    "Betainc": lambda g: g.Betainc(*(view(g, 1 << 26, value=np.float32(v)) for v in (100, 99, 0.5))),
    "Pow of int64": lambda g: g.Pow(view(g, 1 << 30, value=np.int64(3)), view(g, 1 << 30, value=np.int64(1 << 60))),
    "FloorMod": lambda g: g.FloorMod(view(g, 1 << 30), view(g, 1 << 30)),
    "Unique": lambda g: g.Unique(view(g, 1 << 30))[0],
    "UniqueV2": lambda g: g.UniqueV2(view(g, 1 << 24, 4), ints(g, 0))[0],
    "Unique of many": lambda g: g.Unique(g.StatelessRandomUniform(ints(g, 1 << 27), ints(g, 1, 2), dtype="float32"))[0],
    "ListDiff": lambda g: g.ListDiff(view(g, 1 << 28), view(g, 1 << 28))[0],
    "TopKV2 of many": lambda g: g.TopKV2(
        g.StatelessRandomUniform(ints(g, 1 << 27), ints(g, 1, 2), dtype="float32"), g.constant(np.int32(1 << 27))
    )[0],
    "NthElement": lambda g: g.NthElement(view(g, 1 << 30), g.constant(np.int32(7))),
    "InvertPermutation": lambda g: g.InvertPermutation(g.Range(*(g.constant(np.int32(n)) for n in (0, 1 << 28, 1)))),
    "InTopK": lambda g: g.InTopKV2(view(g, 1 << 16, 1 << 16), view(g, 1 << 16, value=np.int32(0)), g.constant(np.int32(5))),
    "MatMul": _of_views("MatMul", (40000, 40000), (40000, 40000)),
    "MatMul of int32": lambda g: g.MatMul(*(view(g, 5000, 5000, value=np.int32(1)) for _ in "ab")),
    "MatMul of bfloat16": lambda g: g.MatMul(*(g.Cast(view(g, 8000, 8000), DstT="bfloat16") for _ in "ab")),
    "MatMul of half": lambda g: g.MatMul(*(view(g, 8000, 8000, value=np.float16(1)) for _ in "ab")),
    "SparseMatMul": _of_views("SparseMatMul", (20000, 20000), (20000, 20000)),
    "MatMul of int64": lambda g: g.MatMul(*(view(g, 8000, 8000, value=np.int64(1)) for _ in "ab")),
    "BatchMatMulV2": _of_views("BatchMatMulV2", (1 << 14, 512, 512), (1 << 14, 512, 512)),
    "Einsum": lambda g: g.Einsum([view(g, 1 << 12, 1 << 12)] * 3, equation="ij,jk,kl->il"),
    "Einsum of outer products": lambda g: g.Einsum([view(g, 1 << 18)] * 2, equation="i,j->ij"),
    "Conv2D": lambda g: g.Conv2D(view(g, 64, 1024, 1024, 64), view(g, 9, 9, 64, 256), strides=[1, 1, 1, 1], padding="SAME"),
    "Conv2D dilated": lambda g: g.Conv2D(
        view(g, 1, 4096, 4096, 16), view(g, 33, 33, 16, 16), strides=[1, 1, 1, 1], dilations=[1, 5, 5, 1], padding="SAME"
    ),
    "Conv2DBackpropFilter": lambda g: g.Conv2DBackpropFilter(
        view(g, 64, 512, 512, 64), ints(g, 9, 9, 64, 256), view(g, 64, 512, 512, 256), strides=[1, 1, 1, 1], padding="SAME"
    ),
    "Conv3D": lambda g: g.Conv3D(view(g, 1, 256, 256, 256, 16), view(g, 9, 9, 9, 16, 64), strides=[1] * 5, padding="SAME"),
    "DepthwiseConv2dNative": lambda g: g.DepthwiseConv2dNative(
        view(g, 8, 1024, 1024, 64), view(g, 31, 31, 64, 1), strides=[1, 1, 1, 1], padding="SAME"
    ),
    "MaxPool": lambda g: g.MaxPool(view(g, 1, 4096, 4096, 1), ksize=[1, 2000, 2000, 1], strides=[1, 1, 1, 1], padding="SAME"),
    "AvgPool": lambda g: g.AvgPool(view(g, 1, 4096, 4096, 1), ksize=[1, 2000, 2000, 1], strides=[1, 1, 1, 1], padding="SAME"),
    "MaxPool3D": lambda g: g.MaxPool3D(
        view(g, 1, 300, 300, 300, 1), ksize=[1, 100, 100, 100, 1], strides=[1] * 5, padding="SAME"
    ),
    "MaxPoolWithArgmax": lambda g: g.MaxPoolWithArgmax(
        view(g, 1, 4096, 4096, 1), ksize=[1, 500, 500, 1], strides=[1, 1, 1, 1], padding="SAME"
    )[1],
    "FractionalMaxPool": lambda g: g.FractionalMaxPool(
        view(g, 1, 8192, 8192, 4), pooling_ratio=[1.0, 1.01, 1.01, 1.0], seed=1, seed2=2, deterministic=True
    )[0],
    "Dilation2D": lambda g: g.Dilation2D(
        view(g, 1, 1024, 1024, 16), view(g, 99, 99, 16), strides=[1] * 4, rates=[1] * 4, padding="SAME"
    ),
    "LRN": lambda g: g.LRN(view(g, 8, 512, 512, 256), depth_radius=100),
    "CropAndResize of large crops": lambda g: g.CropAndResize(
        view(g, 1, 1024, 1024, 3), view(g, 4, 4), view(g, 4, value=np.int32(0)), ints(g, 4096, 4096)
    ),
    "ResizeBicubic of a picture": lambda g: g.ResizeBicubic(view(g, 1, 64, 64, 3), ints(g, 16384, 16384)),
    "ResizeArea of a picture": lambda g: g.ResizeArea(view(g, 1, 4096, 4096, 64), ints(g, 2000, 2000)),
    "NonMaxSuppression": lambda g: g.NonMaxSuppressionV3(
        g.StatelessRandomUniform(ints(g, 300000, 4), ints(g, 1, 2), dtype="float32"),
        view(g, 300000),
        *(g.constant(n) for n in (np.int32(300000), np.float32(1.0), np.float32(0))),
    ),
    "MatrixInverse": _of_square("MatrixInverse"),
    "MatrixDeterminant": _of_square("MatrixDeterminant"),
    "Cholesky": _of_square("Cholesky"),
    "Svd": lambda g: g.Svd(square(g, 6000))[0],
    "Svd without vectors": lambda g: g.Svd(square(g, 6000), compute_uv=False)[0],
    "Qr": lambda g: g.Qr(square(g, 6000))[0],
    "Lu": lambda g: g.Lu(square(g, 6000))[0],
    "SelfAdjointEigV2": lambda g: g.SelfAdjointEigV2(square(g, 6000))[0],
    "Eig": lambda g: g.Eig(square(g, 6000), Tout="complex64")[0],
    "MatrixSquareRoot": lambda g: g.MatrixSquareRoot(g.Cast(square(g, 2000), DstT="complex64")),
    "MatrixLogarithm": lambda g: g.MatrixLogarithm(g.Cast(square(g, 2000), DstT="complex64")),
    "MatrixExponential": _of_square("MatrixExponential"),
    "MatrixSolve": lambda g: g.MatrixSolve(square(g, 6000), view(g, 6000, 6000)),
    "MatrixSolveLs": lambda g: g.MatrixSolveLs(square(g, 6000), view(g, 6000, 10), g.constant(np.float64(0.1))),
    "MatrixTriangularSolve": lambda g: g.MatrixTriangularSolve(square(g, 8000), view(g, 8000, 8000)),
    "MatrixInverse of many": lambda g: g.MatrixInverse(g.AddV2(view(g, 1 << 20, 8, 8), g.MatrixDiag(view(g, 8)))),
    "TridiagonalSolve": lambda g: g.TridiagonalSolve(view(g, 3, 1 << 22, value=np.float32(1)), view(g, 1 << 22, 4)),
    "BandedTriangularSolve": lambda g: g.BandedTriangularSolve(view(g, 2000, 4000, value=np.float32(1)), view(g, 4000, 4000)),
    "FFT of a prime": lambda g: g.FFT(view(g, 33554467, value=np.complex64(1))),
    "FFT3D": lambda g: g.FFT3D(view(g, 600, 600, 600, value=np.complex64(1))),
    "SparseTensorDenseMatMul of many": lambda g: g.SparseTensorDenseMatMul(
        view(g, 1 << 22, 2, value=np.int64(0)), view(g, 1 << 22), g.constant(np.array([1, 1])), view(g, 1, 1 << 12)
    ),
    "ScatterNd of many": lambda g: g.ScatterNd(view(g, 1 << 28, 1, value=np.int32(0)), view(g, 1 << 28), ints(g, 1)),
    "UnsortedSegmentSum of many": lambda g: g.UnsortedSegmentSum(
        view(g, 1 << 28), view(g, 1 << 28, value=np.int32(0)), g.constant(np.int32(1))
    ),
    "UnsortedSegmentProd of many": lambda g: g.UnsortedSegmentProd(
        view(g, 1 << 26), view(g, 1 << 26, value=np.int32(0)), g.constant(np.int32(1))
    ),
    "Bincount of many": lambda g: g.Bincount(view(g, 1 << 30, value=np.int32(0)), g.constant(np.int32(1)), view(g, 0)),
    "Fingerprint": lambda g: g.Fingerprint(view(g, 1, 1 << 30, value=np.uint8(0)), g.constant(np.array("farmhash64", object))),
    "EditDistance": lambda g: _edit_distance(g),
    "CTCLoss": lambda g: g.CTCLoss(
        view(g, 20000, 16, 100), g.constant(np.array([[0, 0]])), ints(g, 1), view(g, 16, value=np.int32(20000))
    )[0],
    "CTCBeamSearchDecoder": lambda g: g.CTCBeamSearchDecoder(
        view(g, 20000, 1, 100), ints(g, 20000), beam_width=1000, top_paths=1
    )[3],
    "LSTMBlockCell": lambda g: g.BlockLSTM(
        g.constant(np.int64(100000)),
        view(g, 100000, 1, 64),
        view(g, 1, 256),
        view(g, 1, 256),
        view(g, 320, 1024),
        *(view(g, 256) for _ in range(3)),
        view(g, 1024),
    )[6],
    "KMC2ChainInitialization": lambda g: g.KMC2ChainInitialization(view(g, 1 << 26), g.constant(np.int64(3))),
    "NearestNeighbors": lambda g: g.NearestNeighbors(view(g, 30000, 64), view(g, 30000, 64), g.constant(np.int64(5)))[0],
    "RandomPoisson of a large rate": lambda g: g.RandomPoissonV2(ints(g, 1 << 22), view(g, 8, value=np.float32(1e9))),
    "StatelessTruncatedNormal": lambda g: g.Sum(
        g.StatelessTruncatedNormal(ints(g, 1 << 28), ints(g, 1, 2), dtype="float32"), ints(g, 0)
    ),
    "AudioSpectrogram": lambda g: g.AudioSpectrogram(view(g, 1 << 24, 1), window_size=1 << 16, stride=1),
    "AdjustHue": lambda g: g.AdjustHue(view(g, 8192, 8192, 3), g.constant(np.float32(0.1))),
    "RGBToHSV": lambda g: g.RGBToHSV(view(g, 1 << 28, 3)),
    "QuantizeV2": lambda g: g.QuantizeV2(view(g, 1 << 28), g.constant(0.0), g.constant(1.0), T="quint8")[0],
    "FakeQuantWithMinMaxArgs": lambda g: g.FakeQuantWithMinMaxArgs(view(g, 1 << 28)),
    "Bitcast": lambda g: g.Bitcast(view(g, HUGE), type="uint8"),
    "CheckNumerics": lambda g: g.CheckNumerics(view(g, HUGE), message="no"),
    "Print": lambda g: g.Print(view(g, 1 << 24), [view(g, 1 << 24)], summarize=-1),
    "chain of doublings": _chain("ConcatV2", 64),
    "chain of 20,000": _chain("AddV2", 20000),
}

STRINGS: dict[str, Bomb] = {
    "StringJoin": lambda g: g.StringJoin([texts(g, 1 << 28, b"a" * 64)] * 4),
    "StringJoin of long ones": lambda g: g.StringJoin([texts(g, 3000, bytes(1 << 20))] * 4),
    "ReduceJoin": lambda g: g.ReduceJoin(texts(g, 1 << 14, bytes(1 << 20)), ints(g, 0)),
    "UnsortedSegmentJoin": lambda g: g.UnsortedSegmentJoin(
        texts(g, 1 << 14, bytes(1 << 20)), view(g, 1 << 14, value=np.int32(0)), g.constant(np.int32(1))
    ),
    "StringNGrams": lambda g: g.StringNGrams(
        texts(g, 1 << 14, b"a"),
        g.constant(np.array([0, 1 << 14])),
        separator=b" ",
        ngram_widths=[*range(1, 1 << 12)],
        left_pad=b"",
        right_pad=b"",
        pad_width=0,
        preserve_short_sequences=False,
    )[0],
    "StringNGrams with padding": lambda g: g.StringNGrams(
        text(g, b"a"),
        g.constant(np.array([0, 1])),
        separator=b" ",
        ngram_widths=[3],
        left_pad=b"p",
        right_pad=b"p",
        pad_width=MOST,
        preserve_short_sequences=False,
    )[0],
    "StringSplit": lambda g: g.StringSplitV2(text(g, b"a " * (1 << 23)), scalar(g, b" "))[1],
    "StringSplit into bytes": lambda g: g.StringSplit(text(g, b"a" * (1 << 23)), scalar(g, b""))[1],
    "StringFormat": lambda g: g.StringFormat([view(g, 1 << 28)], template="{}", placeholder="{}", summarize=-1),
    "AsString": lambda g: g.AsString(view(g, 1 << 26)),
    "AsString wide": lambda g: g.AsString(view(g, 16), width=MOST, fill="0"),
    "AsString precise": lambda g: g.AsString(view(g, 16), precision=MOST),
    "Substr": lambda g: g.Substr(
        texts(g, 1 << 28, b"abc"), view(g, 1 << 28, value=np.int32(0)), view(g, 1 << 28, value=np.int32(1))
    ),
    "StringUpper": lambda g: g.StringUpper(texts(g, 1 << 14, b"a" * (1 << 20))),
    "StringLower in UTF-8": lambda g: g.StringLower(texts(g, 1 << 14, "Ä".encode() * (1 << 19)), encoding="utf-8"),
    "StringStrip": lambda g: g.StringStrip(texts(g, 1 << 14, b"a" * (1 << 20) + b" ")),
    "StringToHashBucket": lambda g: g.StringToHashBucketFast(texts(g, 1 << 28, b"a"), num_buckets=7),
    "StringToHashBucketStrong": lambda g: g.StringToHashBucketStrong(
        texts(g, 1 << 14, bytes(1 << 20)), num_buckets=7, key=[1, 2]
    ),
    "StringToNumber": lambda g: g.StringToNumber(texts(g, 1 << 26, b"3.25"), out_type="float32"),
    "EncodeBase64": lambda g: g.EncodeBase64(texts(g, 1 << 14, bytes(1 << 20))),
    "DecodeBase64": lambda g: g.DecodeBase64(texts(g, 1 << 14, b"AAAA" * (1 << 18))),
    "DecodeRaw": lambda g: g.DecodeRaw(texts(g, 1 << 14, bytes(1 << 20)), out_type="uint8"),
    "DecodePaddedRaw": lambda g: g.DecodePaddedRaw(text(g, b"a"), g.constant(np.int32(MOST)), out_type="uint8"),
    "DecodeCSV": lambda g: g.DecodeCSV(texts(g, 1 << 26, b"1,2"), [text(g, b"1"), text(g, b"2")])[0],
    "DecodeCompressed": _decode("DecodeCompressed", lambda: zlib.compress(bytes(1 << 26), 1), compression_type="ZLIB"),
    "DecodeCompressed gzip": _decode("DecodeCompressed", lambda: gzip.compress(bytes(1 << 26), 1), compression_type="GZIP"),
    "DecodeCompressed many": lambda g: g.DecodeCompressed(
        texts(g, 1 << 12, zlib.compress(bytes(1 << 22), 1)), compression_type="ZLIB"
    ),
    "DecodePng": _decode("DecodePng", lambda: png(8000, 8000)),
    "DecodePng in color": _decode("DecodePng", lambda: png(8000, 8000), channels=4, dtype="uint16"),
    "DecodeGif": _decode("DecodeGif", lambda: gif(65535, 65535, 1000)),
    "DecodeGif small": _decode("DecodeGif", lambda: gif(2000, 2000, 3000)),
    "DecodeBmp": _decode("DecodeBmp", lambda: bmp(1 << 16, 1 << 16)),
    "DecodeImage": _decode("DecodeImage", lambda: png(8000, 8000)),
    "DecodeWav": _decode("DecodeWav", lambda: wav(MOST)),
    "DecodeWav padded": lambda g: g.DecodeWav(scalar(g, wav(0)), desired_samples=MOST)[0],
    "EncodePng": lambda g: g.EncodePng(view(g, 1 << 15, 1 << 15, 3, value=np.uint8(7))),
    "EncodeJpeg": lambda g: g.EncodeJpeg(view(g, 1 << 13, 1 << 13, 3, value=np.uint8(7))),
    "EncodeWav": lambda g: g.EncodeWav(view(g, 1 << 30, 1), g.constant(np.int32(44100))),
    "RegexReplace": lambda g: g.RegexReplace(text(g, b"a" * 100000), scalar(g, b""), scalar(g, b"b" * 100000)),
    "RegexReplace of matches": lambda g: g.RegexReplace(text(g, b"a" * 100000), scalar(g, b"a"), scalar(g, rb"\0" * 1000000)),
    "RegexFullMatch": lambda g: g.RegexFullMatch(text(g, b"a" * 5000 + b"!"), scalar(g, b"(a|a)*(a|a)*(b+)+$")),
    "StaticRegexFullMatch": lambda g: g.StaticRegexFullMatch(text(g, b"a" * 40), pattern="(a+)+$"),
    "StaticRegexReplace": lambda g: g.StaticRegexReplace(text(g, b"a" * 10000000), pattern="(a|b|ab)*c", rewrite=""),
    "repeated patterns": lambda g: g.StaticRegexFullMatch(text(g, b"a" * 4000), pattern="((a{0,100}){0,10}){0,1}b"),
    "nested patterns": lambda g: g.StaticRegexFullMatch(text(g, b"a" * 100), pattern="(" * 20000 + ")" * 20000),
    "UnicodeDecode": lambda g: g.UnicodeDecode(text(g, b"a" * (1 << 23)), input_encoding="UTF-8")[1],
    "UnicodeTranscode": lambda g: g.UnicodeTranscode(
        texts(g, 1 << 14, b"a" * (1 << 20)), input_encoding="UTF-8", output_encoding="UTF-32-BE"
    ),
    "UnicodeEncode": lambda g: g.UnicodeEncode(
        view(g, 1 << 26, value=np.int32(97)), g.constant(np.array([0, 1 << 26])), output_encoding="UTF-8"
    ),
    "StringLength": lambda g: g.StringLength(texts(g, 1 << 14, b"a" * (1 << 20)), unit="UTF8_CHAR"),
    "Equal of strings": lambda g: g.Equal(
        texts(g, 1 << 14, b"a" * (1 << 20)), g.StringJoin([texts(g, 1, b"a" * (1 << 19))] * 2)
    ),
    "Unique of strings": lambda g: g.Unique(texts(g, 1 << 28, b"a"))[0],
    "table": lambda g: g.LookupTableFindV2(
        g.HashTableV2(key_dtype="string", value_dtype="int64"), texts(g, 1 << 26, b"a"), g.constant(np.int64(0))
    ),
}

LOOPS: dict[str, Bomb] = {
    "While": _while,
    "StatelessWhile": lambda g: _while(g, "StatelessWhile"),
    "wide While": lambda g: _while(g, "StatelessWhile", 1000),
    "While that doubles": _growing,
    "loop of primitives": _while_v1,
    "For": _for,
    "40 levels of calls": _nested_calls(40),
    "40 levels of StatefulPartitionedCall": _nested_calls(40, "StatefulPartitionedCall"),
    "40 levels of If": _nested(40, "If"),
    "40 levels of Case": _nested(40, "Case"),
    "40 levels of While": _nested(40, "While"),
    "recursion": _recursive,
}

BOMBS: dict[str, Bomb] = {**SIZES, **WORK, **STRINGS, **LOOPS}
