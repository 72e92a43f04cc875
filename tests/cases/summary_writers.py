"""Cases of the summary_writers family."""

import numpy as np

from tests.opcases import graph_case, integers, normal, strings
from tfg.core.codecs import wire

WRITES = ("scalar", "histogram", "image", "audio", "tensor", "raw", "graph", "event")


def build(g):
    """An event of each kind."""
    writer = g.SummaryWriter(shared_name="w")
    text = [g.constant(t) for t in (b"/tmp/tfg_cases/events", b".suffix", b"tag", b"")]
    step, tag = g.constant(np.int64(3)), text[2]
    g.CreateSummaryFileWriter(writer, text[0], g.constant(10), g.constant(1000), text[1], name="create")
    g.WriteScalarSummary(writer, step, tag, g.constant(1.5), name="scalar")
    g.WriteHistogramSummary(writer, step, tag, g.constant(normal(5)), name="histogram")
    image = g.constant(integers(1, 2, 2, 3, dtype="uint8"))
    g.WriteImageSummary(writer, step, tag, image, g.constant(np.uint8([255, 0, 0, 255])), name="image")
    g.WriteAudioSummary(writer, step, tag, g.constant(normal(1, 4)), g.constant(8000.0), name="audio")
    g.WriteSummary(writer, step, g.constant(normal(2)), tag, text[3], name="tensor")
    g.WriteRawProtoSummary(writer, step, text[3], name="raw")
    g.WriteGraphSummary(writer, step, text[3], name="graph")
    g.ImportEvent(writer, text[3], name="event")
    g.FlushSummaryWriter(writer, name="flush")
    g.CloseSummaryWriter(writer, name="close")
    return [["scalar"], ["create"], *([name] for name in WRITES), ["flush"], ["close"]]


def raw_summaries(key, *summaries):
    """The only event after the first, without the time: one for all summaries."""

    def build(g):
        folder = b"/tmp/tfg_cases/events_raw/" + key.encode()
        writer = g.SummaryWriter(shared_name="w")
        numbers = (g.constant(10), g.constant(1000))
        g.CreateSummaryFileWriter(writer, g.constant(folder), *numbers, g.constant(b""), name="create")
        g.WriteRawProtoSummary(writer, g.constant(np.int64(3)), g.constant(strings(*summaries)), name="raw")
        g.CloseSummaryWriter(writer, name="close")
        # The names begin with the time: the last file is this run's.
        newest = g.StridedSlice(g.MatchingFiles(g.constant(folder + b"/*")), [-1], [0], [1], end_mask=1)
        queue = g.FIFOQueueV2(component_types=["string"], shapes=[()])
        g.QueueEnqueueManyV2(queue, [newest], name="put")
        g.QueueCloseV2(queue, name="closed")
        _, event = g.ReaderReadV2(g.TFRecordReaderV2(), queue, name="read")
        after_time = g.Substr(event, g.constant(9), g.constant(1000), name="event")
        return [["create"], ["raw"], ["close"], ["put"], ["closed"], ["read"], [after_time.name], ["read"]]

    return graph_case(f"raw, {key}", "WriteRawProtoSummary", build)


OPS = (
    "SummaryWriter", "CreateSummaryFileWriter", "WriteScalarSummary", "WriteHistogramSummary", "WriteImageSummary",
    "WriteAudioSummary", "WriteSummary", "WriteRawProtoSummary", "WriteGraphSummary", "ImportEvent", "FlushSummaryWriter",
    "CloseSummaryWriter",
)  # fmt: skip
VALUES = [wire.bytes_field(1, wire.bytes_field(1, tag)) for tag in (b"a", b"b")]
CASES = [
    *(graph_case(op, op, build) for op in OPS),
    raw_summaries("two", *VALUES),
    raw_summaries("none"),
    raw_summaries("bad", VALUES[0], b"\x0a"),
]
