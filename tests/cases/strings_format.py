"""Cases of the strings_format family."""

import numpy as np

from tests.opcases import case, integers
from tests.opcases import string_array as strings
from tfg.core.types import dtypes

FLOATS = np.array([0.0, -0.0, 1.5, 1e20, 1e-7, 123456.789, np.inf, -np.inf, np.nan, -np.nan, 0.1, 1e10])
BAD = ("a", "YQ=", "a+b/", "YQ===", "=", "YQ==YQ==", "Y Q=")
FORMATS = (
    {}, {"precision": 2}, {"scientific": True}, {"shortest": True}, {"width": 12}, {"width": 12, "fill": "0"},
    {"width": 10, "fill": "-"}, {"width": 10, "fill": "+"}, {"width": 10, "fill": " "}, {"shortest": True, "precision": 3},
    {"precision": 3, "scientific": True, "width": 15, "fill": "0"}, {"fill": "x"}, {"fill": "00"},
)  # fmt: skip


def formats(dtype, values):
    """The values in every format."""
    array = strings(values) if dtype == "string" else np.array(values, dtypes.from_name(dtype).numpy)
    return [case("AsString", array, key=f"AsString {dtype} {options}", **options) for options in FORMATS]


CASES = [
    *[c for dtype in ("float", "double", "half", "bfloat16") for c in formats(dtype, FLOATS)],
    *formats("int32", [1, -5, 0]),
    *formats("uint8", [1, 255]),
    *formats("int64", [-(2**62)]),
    *formats("bool", [True, False]),
    *formats("complex64", [1 + 2j, complex(np.nan, -np.inf)]),
    *formats("string", ["a", "bcd"]),
    case("AsString", np.zeros((0, 2), np.float32)),
    case("AsString", strings(["abcdef", "ab", "é"]), key="AsString cut and padded", width=4, precision=3),
    case("AsString", strings(["é", "ab"]), key="AsString padded in bytes", width=4, fill="-"),
    case("AsString", np.array([1e10 - 2j, 3]), key="AsString complex with spaces", width=5, fill=" "),
    case("StringFormat", [np.zeros((2, 0), np.float32)], summarize=-1),
    case("StringFormat", [integers(12)]),
    case("StringFormat", [integers(8, 8), np.array(True), strings(['a"b\n', b"\xff"])], template="a%sb%s%s!"),
    case("StringFormat", [integers(12)], summarize=-1),
    *(case("StringFormat", [integers(*shape)], summarize=0) for shape in ((), (0,), (3,), (2, 2))),
    case("StringFormat", [integers(2, 2, 2)], summarize=1),
    case("StringFormat", [np.array([1.5, 1e20, 1e-7, np.nan, np.inf, 123456789.0, 0.1], np.float32)], summarize=10),
    case("StringFormat", [np.array([0.1, 1 / 3])]),
    case("StringFormat", [np.array([0.1, 1 / 3], np.float16), strings("x")], template="{} {}", placeholder="{}"),
    case("StringFormat", [np.zeros(0, np.float32)]),
    case("StringFormat", [np.int32(3)], template="%s %s"),
    *(
        case("StringFormat", [np.ones(shape, np.complex64)], summarize=count)
        for shape in ((), (2,), (3, 3), (0,))
        for count in (3, 1, -1)
    ),
    case("StringFormat", [np.int32(3)], template="ab", placeholder=""),
    case("EncodeBase64", strings(["", "a", "ab", "abc", b"\xff\xfe\xfd\xfc"])),
    case("EncodeBase64", strings(["", "a", "ab", "abc", b"\xff\xfe\xfd\xfc"]), pad=True),
    case("DecodeBase64", strings(["", "YQ", "YQ==", "YWI", "YWJj", "__79_A"])),
    *[case("DecodeBase64", strings([bad]), key=f"bad {bad}") for bad in BAD],
]
