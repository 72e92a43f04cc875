"""Cases of the summaries family."""

import numpy as np

from tests.opcases import case, graph_case, integers, normal
from tests.opcases import string_array as strings
from tfg.core.codecs import wire
from tfg.core.support.versions import Versions
from tfg.core.types import dtypes
from tfg.core.types.tensors import Tensor

SCALARS = [wire.bytes_field(1, wire.bytes_field(1, tag) + wire.float_field(2, 1.5)) for tag in (b"a", b"b", b"c")]
RED = Tensor.from_numpy(np.uint8([255, 0, 0, 255]))


def image(key, value, **attrs):
    return case("ImageSummary", strings("i"), value, key=f"image {key}", bad_color=RED, **attrs)


def old_audio(g):
    g.graph.versions = Versions(producer=10)
    g.AudioSummary(g.constant(strings("a")), g.constant(normal(2, 5)), sample_rate=8000.0, name="op")
    return [["op:0"]]


def tensor_summary(g):
    g.TensorSummary(g.constant(normal(2)), description="d", labels=["l"], name="op")
    return [["op:0"]]


CASES = [
    case("ScalarSummary", strings("a"), np.float32(1.5)),
    case("ScalarSummary", strings(["a", "b"]), np.float64([1.5, 0.0])),
    case("ScalarSummary", strings(["a"]), np.int64([3])),
    case("ScalarSummary", strings(["a"]), np.float32([3, 4])),
    case("HistogramSummary", strings("h"), normal(20)),
    case("HistogramSummary", strings("h"), integers(3, 3, low=-5)),
    case("HistogramSummary", strings("h"), np.zeros(0, np.float32)),
    case("HistogramSummary", strings("h"), np.float32([0])),
    case("HistogramSummary", strings("h"), np.float32([np.nan])),
    case("HistogramSummary", strings("h"), np.float32([np.inf]), key="infinite"),
    image("uint8", integers(2, 9, 11, 3, high=256, dtype="uint8")),
    image("grey", integers(1, 30, 40, 1, high=256, dtype="uint8"), max_images=1),
    image("float", normal(2, 6, 5, 3), max_images=1),
    image("positive", np.abs(normal(2, 6, 5, 4))),
    image("half", normal(1, 6, 5, 1, dtype="half")),
    image("double", normal(1, 6, 5, 1, dtype="double")),
    image("not finite", np.float32([[[[1], [np.nan], [np.inf], [-2]]]])),
    image("zero", np.zeros((1, 2, 2, 1), np.float32)),
    image("two channels", np.zeros((1, 2, 2, 2), np.float32)),
    image("rank 3", np.zeros((1, 2, 2), np.float32)),
    image("none", np.zeros((0, 2, 2, 1), np.float32)),
    case("AudioSummaryV2", strings("a"), normal(2, 5), np.float32(44100)),
    case("AudioSummaryV2", strings("a"), normal(2, 5, 2), np.float32(8001.7), max_outputs=1),
    case("AudioSummaryV2", strings("a"), np.float32([[np.nan, np.inf, -np.inf, 1.0]]), np.float32(8000)),
    case("AudioSummaryV2", strings("a"), normal(2), np.float32(8000)),
    case("AudioSummaryV2", strings("a"), normal(2, 3), np.float32(0)),
    case("AudioSummaryV2", strings("a"), normal(2, 3), np.float32(0.4)),
    case("AudioSummaryV2", strings("a"), normal(2, 3), np.float32(3e9)),
    case("AudioSummaryV2", strings("a"), normal(2, 3), np.float32(1e12)),
    case("AudioSummaryV2", strings("a"), np.zeros((1, 0, 2), np.float32), np.float32(5)),
    case("AudioSummaryV2", strings("a"), np.zeros((1, 2, 0), np.float32), np.float32(5)),
    graph_case("audio of old graphs", "AudioSummary", old_audio),
    case("TensorSummaryV2", strings("t"), normal(2, 2), strings(b"\x12\x01x")),
    case("TensorSummaryV2", strings("t"), strings(["q", ""]), strings(b"")),
    case("TensorSummaryV2", strings("t"), np.zeros((), np.float32), strings(b"\x07")),
    graph_case("tensor", "TensorSummary", tensor_summary),
    case("MergeSummary", [strings(SCALARS[0]), strings(SCALARS[1:])]),
    case("MergeSummary", [strings(SCALARS[0]), strings(SCALARS[0])], key="same tag"),
    case("MergeSummary", [strings(b"\x07")], key="damaged"),
    case("HistogramSummary", strings("h"), normal(5).astype(dtypes.bfloat16.numpy), key="bfloat16"),
]
