"""Cases of the strings_unicode family."""

import numpy as np

from tests.opcases import case
from tests.opcases import string_array as strings

TEXTS = strings([b"a\xffb", b"\xe2\x82", b"\xed\xa0\x80", "😀x".encode(), b"\xf0\x9fA", b"\x00\x07\n", b"\xef\xbf\xbf", ""])
GOOD = strings(["aé€😀", ""])
CODES = np.int32([65, 0xD800, 0xFFFF, 0x110000, 66, -1, 0x1F600])
SPLITS = np.int64([0, 2, 2, 7])
UTF_16 = strings([b"\x00A\xd8\x3d\xde\x00\x00", b"\xff\xfea\x00"])
ENCODINGS = ("UTF-16-BE", "UTF-16", "UTF-16LE", "utf-32-be", "latin1", "US-ASCII", "windows-1252", "shift-jis", "nope")

CASES = [
    *[
        case(op, TEXTS, input_encoding="UTF-8", errors=errors, key=f"{op} {errors}")
        for op in ("UnicodeDecode", "UnicodeDecodeWithOffsets")
        for errors in ("strict", "replace", "ignore")
    ],
    case("UnicodeDecode", GOOD, input_encoding="UTF-8", errors="strict", Tsplits="int32"),
    case("UnicodeDecode", TEXTS, input_encoding="UTF-8", replace_control_characters=True, replacement_char=63),
    case("UnicodeDecode", TEXTS, input_encoding="UTF-8", replace_control_characters=True, errors="ignore"),
    case("UnicodeDecode", GOOD, input_encoding="UTF-8", replacement_char=0x110000),
    case("UnicodeDecodeWithOffsets", strings([b"a\xc3", b"\xa9b"]), input_encoding="UTF-8", key="a divided character"),
    case(
        "UnicodeDecodeWithOffsets",
        strings([b"", "a\u00e9\u20ac\U0001f600".encode(), b"", b"z"]),
        input_encoding="UTF-8",
        key="widths",
    ),
    case("UnicodeDecode", strings(np.zeros(0, object)), input_encoding="UTF-8", key="no text"),
    *[case("UnicodeDecodeWithOffsets", UTF_16, input_encoding=e, key=f"from {e}") for e in ENCODINGS],
    *[
        case("UnicodeTranscode", TEXTS, input_encoding="UTF-8", output_encoding=e, errors=errors, key=f"to {e} {errors}")
        for e in ("UTF-8", "UTF-16-BE", "UTF-32-BE")
        for errors in ("replace", "ignore", "strict")
    ],
    case("UnicodeTranscode", GOOD, input_encoding="UTF-8", output_encoding="UTF-16-BE", replacement_char=0xD800),
    *[
        case("UnicodeEncode", CODES, SPLITS, output_encoding=e, errors=errors, key=f"encode {e} {errors}")
        for e in ("UTF-8", "UTF-16-BE", "UTF-32-BE")
        for errors in ("replace", "ignore", "strict")
    ],
    *[
        case("UnicodeEncode", np.int32([65, 66, 67]), np.int64(splits), output_encoding="UTF-8", key=f"splits {splits}")
        for splits in ([0, 2], [0, 2, 5], [1, 3], [0, 2, 1, 3], [], [0, 3])
    ],
    case("UnicodeScript", np.int32([-1, 0, 65, 0x430, 0x3042, 0x1F600, 0x10FFFF, 0x110000])),
]
