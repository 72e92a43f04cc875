"""Datasets that read files."""

import gzip
import zlib

import numpy as np

from tests.opcases import graph_case, strings
from tests.pipelines import NO_REWRITES, elements, int64, text
from tfg.core.numerics.records import encode_record

FOLDER = "/tmp/tfg_cases/datasets/"
TEXT = elements(("string", ()))
LINES = [b"one\ntwo\r\n\nfour", b"", b"last\n"]
RECORDS = [b"".join(map(encode_record, (b"one", b"", b"three"))), b"", encode_record(b"four")]
PACKED = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}


def reading(key, op, contents, *inputs, missing=(), spec=TEXT, take=8):
    """Write files, then read them element by element; those in `missing` are not there."""

    def build(g):
        paths = [f"{FOLDER}{op} {key} {i}" for i in range(len(contents))]
        given = np.array([path.encode() for path in paths], object)
        writes = []
        for i, (path, content) in enumerate(zip(paths, contents)):
            if i not in missing:
                g.WriteFile(g.constant(text(path)), g.constant(text(content)), name=f"write{i}")
                writes.append([f"write{i}"])
        dataset = getattr(g, op)(given, *[np.asarray(value) for value in inputs])
        dataset = g.OptionsDataset(dataset, serialized_options=NO_REWRITES, **spec)
        iterator = g.IteratorV2(shared_name="", container="", **spec)
        g.MakeIterator(dataset, iterator, name="start")
        g.IteratorGetNext(iterator, name="next", **spec)
        return [*writes, ["start"], *[["next:0"]] * take]

    return graph_case(f"{op} {key}", op, build)


def lines(compression, buffer=0, contents=LINES, key="", **more):
    packed = [PACKED.get(compression, bytes)(content) for content in contents]
    return reading(f"{compression} {buffer} {key}", "TextLineDataset", packed, text(compression), int64(buffer), **more)


def records(compression, op="TFRecordDataset", contents=RECORDS, key="", offsets=None, **more):
    packed = [PACKED.get(compression, bytes)(content) for content in contents]
    inputs = [text(compression), int64(256), *([] if offsets is None else [np.int64(offsets)])]
    return reading(f"{compression} {key}", op, packed, *inputs, **more)


def fixed(header, size, footer, op="FixedLengthRecordDataset", compression=None, contents=(b"HHabcdefF", b"HHghiF"), **more):
    packed = [PACKED.get(compression or "", bytes)(content) for content in contents]
    inputs = [*map(int64, (header, size, footer)), int64(0), *([] if compression is None else [text(compression)])]
    return reading(f"{header} {size} {footer} {compression}", op, packed, *inputs, **more)


def matching(op):
    def build(g):
        folder = f"{FOLDER}{op}"
        for i, name in enumerate(("b.txt", "a.txt", "c.bin")):
            g.WriteFile(g.constant(text(f"{folder}/{name}")), g.constant(text("x")), name=f"write{i}")
        patterns = strings(f"{folder}/*.txt", f"{folder}/c*", f"{folder}/nothing*")
        dataset = g.OptionsDataset(getattr(g, op)(patterns), serialized_options=NO_REWRITES, **TEXT)
        iterator = g.IteratorV2(shared_name="", container="", **TEXT)
        g.MakeIterator(dataset, iterator, name="start")
        g.IteratorGetNext(iterator, name="next", **TEXT)
        return [["write0"], ["write1"], ["write2"], ["start"], *[["next:0"]] * 4]

    return graph_case(op, op, build)


DAMAGED = [RECORDS[0][:40] + b"?" + RECORDS[0][41:], RECORDS[2]]

CASES = [
    *(lines(compression) for compression in ("", "GZIP", "ZLIB", "LZ4")),
    lines("", 2),
    lines("", -1),
    lines("", missing=(1,), key="missing"),
    lines("", contents=[b"\n\n"], key="empty lines"),
    *(records(compression) for compression in ("", "GZIP", "ZLIB", "LZ4")),
    records("", contents=DAMAGED, key="damaged"),
    records("", contents=[RECORDS[0][:-3], RECORDS[2]], key="cut off"),
    records("", missing=(1,), key="missing"),
    records("", "TFRecordDatasetV2", offsets=[19, 0, 0], key="offsets"),
    records("", "TFRecordDatasetV2", offsets=[], key="no offsets"),
    fixed(2, 3, 1),
    fixed(2, 2, 2),
    fixed(0, 0, 0),
    fixed(-1, 3, 1),
    fixed(2, 1, 1),
    fixed(2, 3, 1, "FixedLengthRecordDatasetV2", ""),
    fixed(2, 3, 1, "FixedLengthRecordDatasetV2", "GZIP"),
    fixed(2, 3, 1, "FixedLengthRecordDatasetV2", "ZLIB"),
    matching("MatchingFilesDataset"),
    matching("ExperimentalMatchingFilesDataset"),
]
