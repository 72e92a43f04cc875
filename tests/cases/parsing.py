"""Cases of the parsing family."""

import gzip
import zlib

import numpy as np

from tests.opcases import case, graph_case, normal
from tests.opcases import string_array as strings

DEFAULTS = [np.int32([7]), np.float32([1.5]), strings(["d"])]
TEXT_ROWS = ("1,2", '"a,""b""",x', 'a"b,c', "\n1,2", '"a"b,1', '"a', '"a",', "", ",", "1,2,3", '"",""')


def csv(key, records, defaults, **attrs):
    return case("DecodeCSV", strings(records), defaults, key=f"csv {key}", **attrs)


def parse_tensor(key, value, out_type):
    """SerializeTensor and ParseTensor in the same graph."""

    def build(g):
        text = g.SerializeTensor(g.constant(value), name="text")
        g.ParseTensor(text, out_type=out_type, name="op")
        return [["text:0"], ["op:0"]]

    return graph_case(key, "ParseTensor", build)


CASES = [
    case("DecodeRaw", strings(["abcd", "efgh"]), out_type="int16"),
    case("DecodeRaw", strings(["abcd", "efgh"]), out_type="int16", little_endian=False),
    case("DecodeRaw", strings([["abcdefgh"]]), out_type="complex64", little_endian=False),
    case("DecodeRaw", strings(b"\x02\x00\x01"), out_type="bool"),
    case("DecodeRaw", strings(["abc"]), out_type="int16"),
    case("DecodeRaw", strings(["abcd", "ef"]), out_type="int16", key="lengths"),
    case("DecodeRaw", strings(np.zeros((2, 0), object)), out_type="float"),
    case("DecodePaddedRaw", strings(["abcd", "e", "abcdefgh"]), np.int32(4), out_type="int16"),
    case("DecodePaddedRaw", strings(["abcd", "e"]), np.int32(6), out_type="int16", little_endian=False),
    case("DecodePaddedRaw", strings(["abcd"]), np.int32(3), out_type="int16"),
    case("DecodePaddedRaw", strings(["abcd"]), np.int32(0), out_type="int16"),
    case("DecodeCompressed", strings([zlib.compress(b"abc"), b"", zlib.compress(b"abc")[:-3]]), compression_type="ZLIB"),
    case("DecodeCompressed", strings(gzip.compress(b"abc", mtime=0) * 2), compression_type="GZIP"),
    case("DecodeCompressed", strings(zlib.compress(b"a") + zlib.compress(b"b")), compression_type="ZLIB"),
    case("DecodeCompressed", strings(gzip.compress(b"", mtime=0) + gzip.compress(b"b", mtime=0)), compression_type="GZIP"),
    case("DecodeCompressed", strings(["abc"]), compression_type="ZLIB"),
    case("DecodeCompressed", strings(["abc"])),
    case("DecodeCompressed", strings(["abc"]), compression_type="LZ4"),
    csv("plain", ["1,2.5,a", '3,,"b,""c"""', "-4,1e3,"], DEFAULTS),
    csv("matrix", [["1,2"], ["3,4"]], [np.int32([5]), np.int64([5])]),
    csv("selected", ["1,2,3"], [np.int32([5]), np.int32([5])], select_cols=[0, 2]),
    csv("selected few", ["1,2"], [np.int32([5]), np.int32([5])], select_cols=[0, 3]),
    csv("na", ["NA,1"], [np.int32([5]), np.int32([5])], na_value="NA"),
    csv(
        "defaults among numbers",
        ["1,a,.5", ",,", "+3,c,-5e-1", "NA,NA,NA", "-0,,7."],
        [np.int64([5]), strings(["x"]), np.float32([2])],
        na_value="NA",
    ),
    csv("spaces among numbers", ["1,1.5", " 2 , inf", "3,-nan"], [np.int32([5]), np.float64([2])]),
    csv("too large", ["1,2", "3,2147483648"], [np.int32([5]), np.int32([5])]),
    csv("of no width", ["1,2", "3"], [np.int32([5]), np.int32([5])]),
    csv("an empty record", ["1", ""], [np.int32([5])]),
    csv("no record", np.zeros(0, object), [np.int32([5]), strings(["x"])]),
    csv("quotes in one", ["1,2", '"3",4'], [np.int32([5]), np.int32([5])]),
    csv("quotes as they are", ["1,2", '"3",4'], [strings(["x"]), np.int32([5])], use_quote_delim=False),
    csv("selected of one", ["1,2,3", "4,5"], [np.int32([5]), np.int32([5])], select_cols=[0, 1]),
    csv("delimiter", ["1|2"], [np.float64([5]), np.int32([5])], field_delim="|"),
    csv("required", ["1,"], [np.int32([5]), np.int32([])]),
    csv("bad number", ["1,x"], [np.int32([5]), np.int32([5])]),
    csv("two defaults", ["1"], [np.int32([5, 6])]),
    csv("no quotes", ['a"b,c'], [strings(["x"]), strings(["y"])], use_quote_delim=False),
    *[csv(f"text {row!r}", [row], [strings(["x"]), strings(["y"])]) for row in TEXT_ROWS],
    case("SerializeTensor", normal(2, 3)),
    case("SerializeTensor", strings(["a", ""])),
    case("SerializeTensor", np.zeros((2, 0), np.int64)),
    parse_tensor("float tensor", normal(2, 3), "float"),
    parse_tensor("string tensor", strings(["a", ""]), "string"),
    parse_tensor("wrong dtype", np.int32([1]), "float"),
    # int_val, one value for three elements; half_val; a message that is cut off; no message
    case("ParseTensor", strings(b"\x08\x03\x12\x04\x12\x02\x08\x03\x3a\x01\x05"), out_type="int32"),
    case("ParseTensor", strings(b"\x08\x13\x12\x04\x12\x02\x08\x01\x6a\x02\x80\x78"), out_type="half"),
    case("ParseTensor", strings(b"\x08\x03\x12\x04\x12"), out_type="int32"),
    case("ParseTensor", strings(b""), out_type="int32", key="empty message"),
]
