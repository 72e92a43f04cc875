"""Strings: many, long, packed, and patterns that are slow to match."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.security.bombs.building import MOST, Bomb, ints, scalar, text, texts, view
from tests.security.bombs.media import bmp, gif, png, wav
from tfg import GraphBuilder
from tfg.core.graph.graph import Output


def _decode(op: str, data: Callable[[], bytes], **attrs: Any) -> Bomb:
    def build(g: GraphBuilder) -> Output:
        made = g.apply(op, scalar(g, data()), **attrs)
        return made if isinstance(made, Output) else made[0]

    return build


def _example(count: int) -> bytes:
    """An Example of JSON whose values lie in each other."""
    return b'{"features":' * count + b"{}" + b"}" * count


STRINGS: dict[str, Bomb] = {
    "StringJoin": lambda g: g.StringJoin([texts(g, 1 << 28, b"a" * 64)] * 4),
    "StringJoin of long ones": lambda g: g.StringJoin([texts(g, 3000, bytes(1 << 20))] * 4),
    "ReduceJoin": lambda g: g.ReduceJoin(texts(g, 1 << 14, bytes(1 << 20)), ints(g, 0)),
    "UnsortedSegmentJoin": lambda g: g.UnsortedSegmentJoin(
        texts(g, 1 << 14, bytes(1 << 20)), view(g, 1 << 14, value=np.int32(0)), g.constant(np.int32(1))
    ),
    "StringNGrams": lambda g: g.StringNGrams(
        texts(g, 1 << 14, b"a"),
        g.constant(np.array([0, 1 << 14])),
        separator=b" ",
        ngram_widths=[*range(1, 1 << 12)],
        left_pad=b"",
        right_pad=b"",
        pad_width=0,
        preserve_short_sequences=False,
    )[0],
    "StringNGrams with padding": lambda g: g.StringNGrams(
        text(g, b"a"),
        g.constant(np.array([0, 1])),
        separator=b" ",
        ngram_widths=[3],
        left_pad=b"p",
        right_pad=b"p",
        pad_width=MOST,
        preserve_short_sequences=False,
    )[0],
    "StringSplit": lambda g: g.StringSplitV2(text(g, b"a " * (1 << 23)), scalar(g, b" "))[1],
    "StringSplit into bytes": lambda g: g.StringSplit(text(g, b"a" * (1 << 23)), scalar(g, b""))[1],
    "StringFormat": lambda g: g.StringFormat([view(g, 1 << 28)], template="{}", placeholder="{}", summarize=-1),
    "AsString": lambda g: g.AsString(view(g, 1 << 26)),
    "AsString wide": lambda g: g.AsString(view(g, 16), width=MOST, fill="0"),
    "AsString precise": lambda g: g.AsString(view(g, 16), precision=MOST),
    "Substr": lambda g: g.Substr(
        texts(g, 1 << 28, b"abc"), view(g, 1 << 28, value=np.int32(0)), view(g, 1 << 28, value=np.int32(1))
    ),
    "StringUpper": lambda g: g.StringUpper(texts(g, 1 << 14, b"a" * (1 << 20))),
    "StringLower in UTF-8": lambda g: g.StringLower(texts(g, 1 << 14, "Ä".encode() * (1 << 19)), encoding="utf-8"),
    "StringStrip": lambda g: g.StringStrip(texts(g, 1 << 14, b"a" * (1 << 20) + b" ")),
    "StringToHashBucket": lambda g: g.StringToHashBucketFast(texts(g, 1 << 28, b"a"), num_buckets=7),
    "StringToHashBucketStrong": lambda g: g.StringToHashBucketStrong(
        texts(g, 1 << 14, bytes(1 << 20)), num_buckets=7, key=[1, 2]
    ),
    "StringToNumber": lambda g: g.StringToNumber(texts(g, 1 << 26, b"3.25"), out_type="float32"),
    "EncodeBase64": lambda g: g.EncodeBase64(texts(g, 1 << 14, bytes(1 << 20))),
    "DecodeBase64": lambda g: g.DecodeBase64(texts(g, 1 << 14, b"AAAA" * (1 << 18))),
    "DecodeRaw": lambda g: g.DecodeRaw(texts(g, 1 << 14, bytes(1 << 20)), out_type="uint8"),
    "DecodePaddedRaw": lambda g: g.DecodePaddedRaw(text(g, b"a"), g.constant(np.int32(MOST)), out_type="uint8"),
    "DecodeCSV": lambda g: g.DecodeCSV(texts(g, 1 << 26, b"1,2"), [text(g, b"1"), text(g, b"2")])[0],
    "DecodeCompressed": _decode("DecodeCompressed", lambda: zlib.compress(bytes(1 << 26), 1), compression_type="ZLIB"),
    "DecodeCompressed gzip": _decode("DecodeCompressed", lambda: gzip.compress(bytes(1 << 26), 1), compression_type="GZIP"),
    "DecodeCompressed many": lambda g: g.DecodeCompressed(
        texts(g, 1 << 12, zlib.compress(bytes(1 << 22), 1)), compression_type="ZLIB"
    ),
    "DecodePng": _decode("DecodePng", lambda: png(8000, 8000)),
    "DecodePng in color": _decode("DecodePng", lambda: png(8000, 8000), channels=4, dtype="uint16"),
    "DecodeGif": _decode("DecodeGif", lambda: gif(65535, 65535, 1000)),
    "DecodeGif small": _decode("DecodeGif", lambda: gif(2000, 2000, 3000)),
    "DecodeBmp": _decode("DecodeBmp", lambda: bmp(1 << 16, 1 << 16)),
    "DecodeImage": _decode("DecodeImage", lambda: png(8000, 8000)),
    "DecodeWav": _decode("DecodeWav", lambda: wav(MOST)),
    "DecodeWav padded": lambda g: g.DecodeWav(scalar(g, wav(0)), desired_samples=MOST)[0],
    "EncodePng": lambda g: g.EncodePng(view(g, 1 << 15, 1 << 15, 3, value=np.uint8(7))),
    "EncodeJpeg": lambda g: g.EncodeJpeg(view(g, 1 << 13, 1 << 13, 3, value=np.uint8(7))),
    "EncodeWav": lambda g: g.EncodeWav(view(g, 1 << 30, 1), g.constant(np.int32(44100))),
    "RegexReplace": lambda g: g.RegexReplace(text(g, b"a" * 100000), scalar(g, b""), scalar(g, b"b" * 100000)),
    "RegexReplace of matches": lambda g: g.RegexReplace(text(g, b"a" * 100000), scalar(g, b"a"), scalar(g, rb"\0" * 1000000)),
    "RegexFullMatch": lambda g: g.RegexFullMatch(text(g, b"a" * 5000 + b"!"), scalar(g, b"(a|a)*(a|a)*(b+)+$")),
    "StaticRegexFullMatch": lambda g: g.StaticRegexFullMatch(text(g, b"a" * 40), pattern="(a+)+$"),
    "StaticRegexReplace": lambda g: g.StaticRegexReplace(text(g, b"a" * 10000000), pattern="(a|b|ab)*c", rewrite=""),
    "repeated patterns": lambda g: g.StaticRegexFullMatch(text(g, b"a" * 4000), pattern="((a{0,100}){0,10}){0,1}b"),
    "nested patterns": lambda g: g.StaticRegexFullMatch(text(g, b"a" * 100), pattern="(" * 20000 + ")" * 20000),
    "UnicodeDecode": lambda g: g.UnicodeDecode(text(g, b"a" * (1 << 23)), input_encoding="UTF-8")[1],
    "UnicodeTranscode": lambda g: g.UnicodeTranscode(
        texts(g, 1 << 14, b"a" * (1 << 20)), input_encoding="UTF-8", output_encoding="UTF-32-BE"
    ),
    "UnicodeEncode": lambda g: g.UnicodeEncode(
        view(g, 1 << 26, value=np.int32(97)), g.constant(np.array([0, 1 << 26])), output_encoding="UTF-8"
    ),
    "StringLength": lambda g: g.StringLength(texts(g, 1 << 14, b"a" * (1 << 20)), unit="UTF8_CHAR"),
    "Equal of strings": lambda g: g.Equal(
        texts(g, 1 << 14, b"a" * (1 << 20)), g.StringJoin([texts(g, 1, b"a" * (1 << 19))] * 2)
    ),
    "Unique of strings": lambda g: g.Unique(texts(g, 1 << 28, b"a"))[0],
    "SparseCross": lambda g: g.SparseCrossV2([], [], [], [texts(g, 1 << 9, b"a") for _ in range(9)], scalar(g, b"_"))[1],
    "SparseCross of rows": lambda g: g.SparseCrossV2(
        [], [], [], [g.Reshape(texts(g, 1 << 9, b"a" * 99), ints(g, 1, -1)) for _ in range(9)], scalar(g, b"_")
    )[1],
    "DecodeJSONExample": lambda g: g.DecodeJSONExample(text(g, _example(100000))),
    "ParseExample": lambda g: g.ParseExample(
        texts(g, 1 << 12, b""),
        text(g),
        [],
        [scalar(g, b"a")],
        [view(g, 1 << 30)],
        sparse_types=[],
        dense_shapes=[[1 << 30]],
    )[0],
    "table": lambda g: g.LookupTableFindV2(
        g.HashTableV2(key_dtype="string", value_dtype="int64"), texts(g, 1 << 26, b"a"), g.constant(np.int64(0))
    ),
}
