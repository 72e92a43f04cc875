"""Cases of the readers family."""

import numpy as np

from tests.opcases import graph_case
from tests.opcases import string_array as strings
from tfg.core.codecs.tfrecord import encode_record
from tfg.core.support.versions import Versions

FOLDER = b"/tmp/tfg_cases/readers/"
LINES = b"head\r\nfirst\nsecond\n\nlast"
RECORDS = b"".join(encode_record(data) for data in (b"one", b"", b"three"))


def reader(key, op, contents, reads, **attrs):
    """Read records from two files of the same contents, singly and together."""
    version = "V2" if op.endswith("V2") else ""

    def build(g):
        if not version:
            g.graph.versions = Versions(producer=20)  # newer graphs have no readers by reference
        paths = [FOLDER + key.encode() + b"%d" % i for i in range(2)]
        for i, path in enumerate(paths):
            g.WriteFile(g.constant(path), g.constant(contents), name=f"write{i}")
        queue = getattr(g, f"FIFOQueue{version}")(component_types=["string"], shapes=[()])
        result = getattr(g, op)(**attrs)

        def use(what, *inputs, name):
            getattr(g, f"Reader{what}{version}")(result, *inputs, name=name)

        getattr(g, f"QueueEnqueueMany{version}")(queue, [g.constant(strings(paths))], name="put")
        getattr(g, f"QueueClose{version}")(queue, name="close")
        use("Read", queue, name="read")
        use("ReadUpTo", queue, g.constant(np.int64(2)), name="some")
        use("NumRecordsProduced", name="produced")
        use("NumWorkUnitsCompleted", name="done")
        use("Reset", name="reset")
        use("SerializeState", name="state")
        use("RestoreState", g.constant(b"bad"), name="restore")
        counts = [["produced:0"], ["done:0"]]
        steps = [["write0"], ["write1"], ["put"], ["close"], *[["read:0", "read:1"]] * reads, *counts, ["some:0", "some:1"]]
        return [*steps, *counts, *[["some:0", "some:1"]] * 3, *counts, ["restore"], ["reset"], *counts]

    return graph_case(key, op, build)


def record_input():
    def build(g):
        path = FOLDER + b"input"
        g.WriteFile(g.constant(path), g.constant(encode_record(b"only")), name="write")
        g.RecordInput(file_pattern=path, batch_size=2, file_buffer_size=2, name="op")
        g.RecordInput(file_pattern=FOLDER + b"nothing*", name="none")
        g.RecordInput(file_pattern=FOLDER + b"nothing*", batch_size=-1, name="negative")
        return [["write"], ["op:0"], ["none:0"], ["negative:0"]]

    return graph_case("record input", "RecordInput", build)


def lmdb():
    def build(g):
        g.LMDBReader(name="op")
        return [["op:0"]]

    return graph_case("lmdb", "LMDBReader", build)


CASES = [
    reader("lines", "TextLineReaderV2", LINES, 3),
    reader("lines without head", "TextLineReader", LINES, 3, skip_header_lines=1),
    reader("lines with carriage returns", "TextLineReaderV2", b"a\rb\r\r\n\r\n\r\rc\nd\r", 4),
    reader("a carriage return at the end", "TextLineReaderV2", b"a\n\r", 1),
    reader("two carriage returns at the end", "TextLineReaderV2", b"a\n\r\r", 1),
    reader("whole", "WholeFileReaderV2", LINES, 1),
    reader("whole by reference", "WholeFileReader", LINES, 1),
    reader("fixed", "FixedLengthRecordReaderV2", b"0123456789", 2, header_bytes=1, record_bytes=3, footer_bytes=2),
    reader("fixed with hops", "FixedLengthRecordReader", b"0123456789", 2, record_bytes=4, hop_bytes=2),
    reader("records", "TFRecordReaderV2", RECORDS, 2),
    reader("records by reference", "TFRecordReader", RECORDS, 4),
    reader("cut off", "TFRecordReaderV2", RECORDS[:-3], 3),
    reader("identity", "IdentityReaderV2", b"", 1),
    reader("identity by reference", "IdentityReader", b"", 2),
    record_input(),
    lmdb(),
]
