"""Cases of the strings_split family."""

import numpy as np

from tests.opcases import case
from tests.opcases import string_array as strings

ROWS = strings(["a,b;;c ", "", " x y", "ab", "  "])
PADDING = {"left_pad": "<", "right_pad": ">", "separator": "|"}

CASES = [
    *[
        case("StringSplit", ROWS, strings(d), skip_empty=skip, key=f"StringSplit{d}{skip}")
        for d in ("", " ", ",;")
        for skip in (True, False)
    ],
    case("StringSplit", strings("a b"), strings(" ")),
    *[
        case("StringSplitV2", ROWS, strings(d), maxsplit=n, key=f"StringSplitV2{d}{n}")
        for d in ("", " ", "ab")
        for n in (-1, 0, 1, 2)
    ],
    case("StringSplitV2", strings(np.zeros(0, object)), strings(" ")),
    *[
        case(
            "StringNGrams",
            strings(list("abcdef")),
            np.int64([0, 3, 3, 5, 6]),
            ngram_widths=widths,
            pad_width=pad,
            preserve_short_sequences=keep,
            key=f"StringNGrams{widths}{pad}{keep}",
            **PADDING,
        )
        for widths in ([2], [1, 3], [4])
        for pad in (0, 1, -1)
        for keep in (True, False)
    ],
    case(
        "StringNGrams",
        strings(list("ab")),
        np.int32([0, 1]),
        ngram_widths=[2],
        pad_width=0,
        preserve_short_sequences=False,
        key="bad_splits",
        **PADDING,
    ),
]
