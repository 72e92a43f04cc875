"""Cases of the summary_writers family."""

import numpy as np

from tests.opcases import graph_case, integers, normal

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


OPS = (
    "SummaryWriter", "CreateSummaryFileWriter", "WriteScalarSummary", "WriteHistogramSummary", "WriteImageSummary",
    "WriteAudioSummary", "WriteSummary", "WriteRawProtoSummary", "WriteGraphSummary", "ImportEvent", "FlushSummaryWriter",
    "CloseSummaryWriter",
)  # fmt: skip
CASES = [graph_case(op, op, build) for op in OPS]
