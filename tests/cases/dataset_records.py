"""Datasets that read files."""

import gzip
import zlib

import numpy as np

from tests.opcases import graph_case, strings
from tests.pipelines import NO_REWRITES, elements, int64, text
from tfg.core.codecs import snappy
from tfg.core.codecs.tfrecord import encode_record

FOLDER = "/tmp/tfg_cases/datasets/"
TEXT = elements(("string", ()))
LINES = [b"one\ntwo\r\n\nfour", b"", b"last\n"]
RECORDS = [b"".join(map(encode_record, (b"one", b"", b"three"))), b"", encode_record(b"four")]
PACKED = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress, "SNAPPY": snappy.framed}


def reading(key, op, contents, *inputs, missing=(), spec=TEXT, take=8):
    """Write files, then read them element by element; files in `missing` do not exist."""

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


def separated(key, contents, *, op="CSVDatasetV2", header=False, delim=",", quotes=True, na="", select=(), exclude=(),
              defaults=None, compression="", buffer=100, take=8):  # fmt: skip
    """Records of separated values; each column has a default, by default a string."""
    given = [np.asarray(d) for d in (defaults or [strings(f"d{i}") for i in range(3)])]
    types = ["string" if d.dtype == object else d.dtype.name for d in given]
    spec = elements(*((dtype, ()) for dtype in types))
    packed = [PACKED.get(compression, bytes)(content) for content in contents]

    def build(g):
        paths = [f"{FOLDER}{op} {key} {i}" for i in range(len(contents))]
        writes = [
            g.WriteFile(g.constant(text(path)), g.constant(text(content)), name=f"write{i}")
            for i, (path, content) in enumerate(zip(paths, packed))
        ]
        rest = [] if op == "CSVDataset" or op.startswith("Exp") else [np.int64(exclude)]
        options = [text(compression), int64(buffer), np.array(header), text(delim), np.array(quotes), text(na)]
        files = np.array([path.encode() for path in paths], object)
        dataset = getattr(g, op)(files, *options, np.int64(select), given, *rest, output_shapes=[()] * len(given))
        dataset = g.OptionsDataset(dataset, serialized_options=NO_REWRITES, **spec)
        iterator = g.IteratorV2(shared_name="", container="", **spec)
        g.MakeIterator(dataset, iterator, name="start")
        g.IteratorGetNext(iterator, name="next", **spec)
        following = [f"next:{i}" for i in range(len(given))]
        return [*[[write.name] for write in writes], ["start"], *[following] * take]

    return graph_case(f"{op} {key}", op, build)


QUOTED = b'1,"2"3",4\n1,"2"3",4",5,5\na,b,"c"d"\ne,f,g'
TYPED = b"1,2.5,x\n-7,1e3,\n,NA,NA\n99999999999,1,1\n1.5,1,1\n 4 , 5 ,6\nabc,1,1\n0x10,nan,q\n+3,inf,q\n"
NUMBERS = [np.int32([0]), np.float32([1.5]), strings("d")]
REQUIRED = [np.int32([]), np.int64([7]), np.float64([])]
SEPARATED = [
    separated("plain", [b"a,b,c\nd,e,f", b"", b"g,h,i\n"]),
    separated("wrong counts", [b"a,b,c\n\nd,e\nd,e,f,g\nd,e,f\n"]),
    separated("line ends", [b"a,,\r\n,b,\r,,c\r\n\r\nd,e,f\r"]),
    separated("quoted", [b'"a","b""c","x\ny"\n1,2,"3"']),
    separated("wrong quotes", [QUOTED]),
    separated("quotes in plain fields", [b'a"b,c,d\ne,f,g\n "a",b,c\n']),
    separated("no end of quotes", [b'"a"b,c,d\ne,f,g', b"a,b,c"]),
    separated("empty quotes", [b'"",,""\na,b,"c']),
    separated("no quotes", [b'"a",b,c\n'], quotes=False),
    separated("header", [b"h,i,j\na,b,c\n", b"h,i,j\nd,e,f"], header=True),
    separated("no header", [b"", b"h,i,j\nd,e,f"], header=True),
    separated("delimiter", [b"a|b|c\n"], delim="|"),
    separated("two delimiters", [b"a|b|c\n"], delim="||"),
    separated("numbers", [TYPED], defaults=NUMBERS, na="NA", take=11),
    separated("required", [b"1,2,3\n,2,3\n1,,3\n1,,\n"], defaults=REQUIRED),
    separated("select", [b"a,b\nc,d,e\n,,x,y\n"], select=[0, 2], defaults=[strings("p"), strings("q")]),
    separated("select none", [b"a,b\n"], select=[0], defaults=[strings("p"), strings("q")]),
    separated("select unordered", [b"a,b\n"], select=[1, 0], defaults=[strings("p"), strings("q")]),
    separated("select negative", [b"a,b\n"], select=[-1, 0], defaults=[strings("p"), strings("q")]),
    separated("exclude", [b"a,b,c\na,b\na,b,c,d\n"], exclude=[1], defaults=[strings("p"), strings("q")]),
    separated("select and exclude", [b"a,b,c\n"], select=[0, 1], exclude=[1], defaults=[strings("p"), strings("q")]),
    separated("no buffer", [b"a,b,c\n"], buffer=0),
    separated("gzip", [b"a,b,c\nd,e,f\n"], compression="GZIP"),
    separated("zlib", [b"a,b,c\nd,e,f\n"], compression="ZLIB"),
    separated("lz4", [b"a,b,c\nd,e,f\n"], compression="LZ4"),
    separated("long", [b"".join(b"%d,%d,%d\n" % (i, i, i) for i in range(40))], buffer=16, take=41),
    separated("first", [b"a,b,c\n"], op="CSVDataset"),
    separated("experimental", [b"a,b,c\n"], op="ExperimentalCSVDataset"),
]


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
    *SEPARATED,
    *(lines(compression) for compression in ("", "GZIP", "ZLIB", "LZ4")),
    lines("", 2),
    lines("", -1),
    lines("", missing=(1,), key="missing"),
    lines("", contents=[b"\n\n"], key="empty lines"),
    *(records(compression) for compression in ("", "GZIP", "ZLIB", "LZ4", "SNAPPY")),
    records("SNAPPY", contents=[snappy.framed(RECORDS[0])[:30]], key="cut off"),
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
