"""Cases of the strings family."""

import numpy as np

from tests.opcases import case, graph_case
from tests.opcases import string_array as strings

WORDS = strings(["hello", "World Ünïcode".encode(), b"", b"\xff\x80 x", "  pad\t\n"])
NUMBERS = strings(["1", " -2.5 ", "+3e2", "inf", "-Infinity", "nan", "0x1p3", ".5", "5.", "1e400", "\t7\n"])


def texts(*shape):
    """Distinct short strings."""
    return strings(np.array([f"{chr(97 + i % 26)}{i}" for i in range(int(np.prod(shape)))], object).reshape(shape))


def ids_of_any_shape(key, ids):
    """UnsortedSegmentJoin of two strings by ids of unknown shape."""

    def build(g):
        placeholder = g.Placeholder(dtype="int32", name="ids")
        g.UnsortedSegmentJoin(g.constant(texts(2)), placeholder, g.constant(np.int32(2)), name="join")
        return [["join:0"]]

    return graph_case(f"ids of any shape, {key}", "UnsortedSegmentJoin", build, ids=ids)


CASES = [
    case("StringLower", WORDS),
    case("StringLower", strings("ÀÉẞΣ aΣ"), encoding="utf-8", key="lower_utf8"),
    case("StringLower", WORDS, encoding="utf-16"),
    case("StringUpper", WORDS),
    case("StringUpper", strings(["ßéŉ", "x"]), encoding="utf-8"),
    case("StringUpper", texts(0)),
    case("StringStrip", WORDS),
    case("StringLength", WORDS),
    case("StringLength", WORDS, unit="UTF8_CHAR"),
    case("StringToNumber", NUMBERS),
    case("StringToNumber", NUMBERS, out_type="double"),
    case("StringToNumber", strings(["1", " -2 ", "+2147483647", "0012"]), out_type="int32"),
    case("StringToNumber", strings(["4294967296"]), out_type="int32"),
    case("StringToNumber", strings(["-9223372036854775808"]), out_type="int64"),
    case("StringToNumber", strings(["4294967295"]), out_type="uint32"),
    case("StringToNumber", strings(["-1"]), out_type="uint64"),
    case("StringToNumber", strings(["-0", "+7", "000123", "-2147483648"]), out_type="int32"),
    case("StringToNumber", strings(["-0"]), out_type="uint32"),
    case("StringToNumber", strings(["18446744073709551615", "0"]), out_type="uint64"),
    case("StringToNumber", strings(["18446744073709551616"]), out_type="uint64"),
    case("StringToNumber", strings(["1" * 5000, "2"]), out_type="int64", key="too_many_digits"),
    case("StringToNumber", strings(["--1"]), out_type="int32", key="two_signs"),
    case("StringToNumber", strings(["1.5e400", "-1e-400", "1" * 400]), out_type="double", key="beyond_double"),
    case("StringToNumber", strings(["+.e1"]), key="no_digits"),
    case("StringToNumber", strings(["1x"]), key="bad_number"),
    case("StringToNumber", strings([""]), key="empty_number"),
    case("Substr", strings(["hello", "world"]), np.int32(1), np.int32(3)),
    case("Substr", strings(["hello", "world"]), np.int64([-3, 5]), np.int64([2, 1])),
    case("Substr", strings(["héllo", "wörld"]), np.int32(1), np.int32(2), unit="UTF8_CHAR"),
    case("Substr", strings(["héllo", "wörld"]), np.int32(-2), np.int32(9), unit="UTF8_CHAR"),
    *[
        case(
            "Substr",
            strings(["hello", "abc", "wörld"][:count]),
            np.int32(pos),
            np.int32(length),
            unit=unit,
            key=f"part {count} {pos} {length} {unit}",
        )
        for unit in ("BYTE", "UTF8_CHAR")
        for count in (2, 3)
        for pos in (-3, 0, 2)
        for length in (-1, 0, 2, 3, 9)
    ],
    case("UnsortedSegmentJoin", texts(2, 3, 2), np.int32([[2, 0, 2], [2, 1, 0]]), np.int32(4), separator="+"),
    case("UnsortedSegmentJoin", texts(0, 2), np.int32(np.zeros(0)), np.int32(2)),
    case("Substr", strings([["hello"], ["world"]]), np.int32([[1, 2]]), np.int32([[3, 1]])),
    case("Substr", strings(["hello"]), np.int32(6), np.int32(3), key="substr_out_of_range"),
    case("Substr", strings(["hello"]), np.int32(1), np.int32(-3), key="substr_negative_length"),
    case("Substr", texts(2, 1, 2), np.ones((1, 2, 1), np.int32), np.ones((1, 2, 1), np.int32)),
    case("Substr", texts(2), np.int32([1, 1, 1]), np.int32([1, 1, 1])),
    case("StringJoin", [texts(2, 2), strings("x"), texts(2, 2)], separator="-"),
    case("StringJoin", [strings("x"), strings("y")]),
    case("StringJoin", [texts(2), texts(3)]),
    case("ReduceJoin", texts(2, 3), np.int32([0, 1]), separator="."),
    case("ReduceJoin", texts(2, 3), np.int32([1, 0]), separator="."),
    case("ReduceJoin", texts(2, 3, 2), np.int32([-2]), keep_dims=True),
    case("ReduceJoin", texts(2, 3), np.zeros(0, np.int32)),
    case("ReduceJoin", texts(2, 0), np.int32(1)),
    case("ReduceJoin", texts(2, 3), np.int32([0, -2])),
    case("UnsortedSegmentJoin", texts(4), np.int32([2, 0, 2, 0]), np.int32(4), separator=","),
    case("UnsortedSegmentJoin", texts(3, 2), np.int64([1, 1, 0]), np.int64(2), separator=","),
    case("UnsortedSegmentJoin", texts(2, 2), np.int32([[1, 0], [1, 1]]), np.int32(2)),
    case("UnsortedSegmentJoin", texts(2), np.int32([1, -1]), np.int32(2)),
    ids_of_any_shape("more ids than dimensions", np.int32([[1, 0]])),
    ids_of_any_shape("scalar", np.int32(1)),
    case("UnsortedSegmentJoin", texts(2), np.int32([1, 2]), np.int32(2)),
    case("ShardedFilename", strings("x"), np.int32(3), np.int32(123456)),
    case("ShardedFilespec", strings("x"), np.int32(12)),
]
