"""Texts and records."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .making import Fixed, Row, fixed, indices, ints, normal, numerals, one, row, sizes, unit, words

_TEXTS, _FEW = words(10000), words(20)


def string_rows() -> Iterator[Row]:
    for op in ("StringLower", "StringUpper", "StringStrip", "StringLength"):
        yield row(op, _TEXTS)
        yield row(op, _FEW)
    yield row("StringLength", _TEXTS, unit="UTF8_CHAR", note="characters")
    yield row("StringLower", _TEXTS, encoding="utf-8", note="utf-8")
    yield row("Substr", _TEXTS, one(0), one(3))
    yield row("Substr", _TEXTS, one(0), one(3), unit="UTF8_CHAR", note="characters")
    yield row("Substr", _TEXTS, ints(1, 10000), ints(5, 10000))
    yield row("StringJoin", [_TEXTS, _TEXTS, words(10000)], separator="-")
    yield row("StringJoin", [_FEW, _FEW])
    yield row("ReduceJoin", _TEXTS.reshape(1000, 10), fixed(1), separator=" ")
    yield row("UnsortedSegmentJoin", _TEXTS, ints(500, 10000), one(500), separator=" ")
    yield row("StringFormat", [normal(100), ints(9, 10)], template="%s and %s")
    compared = [(indices(3000, 500, 10), ints(5, 3000, dtype=np.int64), sizes(500, 10)) for _ in range(2)]
    yield row("EditDistance", *compared[0], *compared[1])


def numeral_rows() -> Iterator[Row]:
    yield row("StringToNumber", numerals("%.5f", normal(10000)))
    yield row("StringToNumber", numerals("%d", ints(100000, 10000)), out_type="int64", note="int64")
    yield row("AsString", ints(1000000, 10000))
    yield row("AsString", normal(10000))
    yield row("AsString", normal(10000), precision=3, note="precision 3")
    yield row("AsString", ints(100, 10))


def pattern_rows() -> Iterator[Row]:
    yield row("RegexReplace", _TEXTS, one(b"a+b?", object), one(b"<\\0>", object))
    yield row("StaticRegexReplace", _TEXTS, pattern="[a-c]([x-z])", rewrite="\\1")
    yield row("RegexFullMatch", _TEXTS, one(b"[a-h]*,?.*", object))
    yield row("StringSplit", _TEXTS, one(b" ", object))
    yield row("StringSplit", _FEW, one(b" ", object))
    yield row("StringSplitV2", _TEXTS, one(b" ", object))
    yield row("StringSplitV2", _TEXTS, one(b"", object), note="whitespace")
    yield row("StringSplitV2", _FEW, one(b",", object))
    around = {"separator": " ", "left_pad": "<", "right_pad": ">", "pad_width": 1, "preserve_short_sequences": False}
    yield row("StringNGrams", words(3000, length=4), np.arange(0, 3001, 10), ngram_widths=[2, 3], **around)


def hash_rows() -> Iterator[Row]:
    for op in ("StringToHashBucketFast", "StringToHashBucket"):
        yield row(op, _TEXTS, num_buckets=1000)
        yield row(op, _FEW, num_buckets=1000)
    yield row("StringToHashBucketFast", words(10000, length=100), num_buckets=1000, note="long")
    yield row("StringToHashBucketStrong", _TEXTS, num_buckets=1000, key=[1, 2])
    yield row("StringToHashBucketStrong", _FEW, num_buckets=1000, key=[1, 2])
    yield row("Fingerprint", unit(1000, 100), one(b"farmhash64", object))


def encoding_rows() -> Iterator[Row]:
    yield row("EncodeBase64", _TEXTS)
    yield row("DecodeBase64", numerals("%s", np.array(["YWJjZGVm", "eHl6LW1u"] * 5000)))
    yield row("UnicodeDecode", _TEXTS, input_encoding="UTF-8")
    yield row("UnicodeDecodeWithOffsets", _TEXTS, input_encoding="UTF-8")
    yield row("UnicodeEncode", ints(26, 30000) + 97, np.arange(0, 30001, 6), output_encoding="UTF-8")
    yield row("UnicodeTranscode", _TEXTS, input_encoding="UTF-8", output_encoding="UTF-16-BE")
    yield row("UnicodeScript", ints(500, 10000))


def decoding_rows() -> Iterator[Row]:
    numbers = normal(5000), ints(1000, 5000), normal(5000)
    lines = np.array([b"%.5f,%d,%.3f,word" % values for values in zip(*(array.tolist() for array in numbers))], object)
    defaults = [fixed(0, dtype=np.float32), fixed(0), fixed(0, dtype=np.float32), fixed(b"", dtype=object)]
    yield row("DecodeCSV", lines, defaults)
    yield row("DecodeCSV", lines[:10], defaults)
    pairs = ints(1000, 5000, 2).view([("a", np.int32), ("b", np.int32)])[:, 0]
    yield row("DecodeCSV", numerals("%d,%d", pairs), [fixed(0), fixed(0)])
    yield row("DecodeRaw", np.array([b"12345678" * 100] * 100, object), out_type="float32")
    yield row("DecodePaddedRaw", np.array([b"12345678" * 100] * 100, object), one(400), out_type="float32")
    example = b'{"features": {"feature": {"a": {"int64List": {"value": [1, 2]}}}}}'
    yield row("DecodeJSONExample", np.array([example] * 100, object))
    yield row("SerializeTensor", unit(1000, 100))
    yield row("DecodeCompressed", np.array([b"abc"] * 1000, object))


def example_rows() -> Iterator[Row]:
    example = b"\n\x1f\n\x0e\n\x01a\x12\x09\x1a\x07\n\x05\x01\x02\x03\x04\x05\n\x0d\n\x01b\x12\x08\x12\x06\n\x04\x00\x00\x80?"
    many, none = np.array([example] * 1000, object), fixed(dtype=object)
    integers, floats = Fixed(np.zeros(5, np.int64)), Fixed(np.zeros(1, np.float32))
    both = {"sparse_types": [], "dense_shapes": [[5], [1]]}
    yield row("ParseExample", many, none, [], [one(b"a", object), one(b"b", object)], [integers, floats], **both)
    yield row(
        "ParseExampleV2",
        *(many, none, fixed(b"a", dtype=object), fixed(b"b", dtype=object), none, [floats]),
        num_sparse=1,
        sparse_types=["int64"],
        dense_shapes=[[1]],
        ragged_value_types=[],
        ragged_split_types=[],
    )
    single = Fixed(np.array(example, object)), [integers, floats]
    yield row("ParseSingleExample", *single, num_sparse=0, sparse_keys=[], dense_keys=["a", "b"], **both)
