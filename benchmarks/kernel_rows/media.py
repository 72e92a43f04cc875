"""Images, texts and records."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .making import BYTES, IMAGES, SMALL, Fixed, Row, boxes, fixed, indices, ints, normal, numerals, one, row, unit, words


def image_rows() -> Iterator[Row]:
    for size in ((256, 256), (64, 80)):
        for how in ("Bicubic", "Area", "Bilinear", "NearestNeighbor"):
            yield row(f"Resize{how}", IMAGES, fixed(*size), note=f"to {size[0]}")
        for kernel in ("lanczos3", "triangle", "gaussian"):
            sizes = np.array(size, np.float32)
            yield row(
                "ScaleAndTranslate",
                IMAGES,
                fixed(*size),
                Fixed(sizes / 128),
                Fixed(sizes * 0),
                kernel_type=kernel,
                note=kernel,
            )
    yield row("ResizeBicubic", IMAGES, fixed(256, 256), half_pixel_centers=True, note="centers")
    yield row("ResizeBilinear", IMAGES, fixed(256, 256), half_pixel_centers=True, note="centers")
    yield row("ResizeBilinear", SMALL, fixed(32, 32))
    yield row("ResizeBicubic", SMALL, fixed(32, 32))
    yield row("ResizeArea", SMALL, fixed(8, 8))
    yield row("ResizeBilinear", BYTES[None], fixed(128, 128), note="uint8")
    for how in ("Bilinear", "Bicubic"):
        yield row(f"Resize{how}Grad", unit(4, 256, 256, 3), IMAGES)
    yield row("ResizeNearestNeighborGrad", unit(4, 256, 256, 3), fixed(128, 128))
    yield row(
        "ScaleAndTranslateGrad", unit(4, 64, 64, 3), IMAGES, fixed(0.5, 0.5, dtype=np.float32), fixed(0, 0, dtype=np.float32)
    )
    for op in ("RGBToHSV", "HSVToRGB"):
        yield row(op, IMAGES)
        yield row(op, SMALL)
    for op in ("AdjustHue", "AdjustSaturation", "AdjustContrastv2"):
        yield row(op, IMAGES, one(0.3, np.float32))
        yield row(op, SMALL, one(0.3, np.float32))
    crops = boxes(64), ints(4, 64)
    yield row("CropAndResize", IMAGES, *crops, fixed(32, 32))
    yield row("CropAndResize", IMAGES, *crops, fixed(32, 32), method="nearest", note="nearest")
    yield row("CropAndResize", unit(1, 38, 38, 256), boxes(64), ints(1, 64), fixed(7, 7))
    yield row("CropAndResize", SMALL, boxes(4), ints(1, 4), fixed(8, 8))
    yield row("CropAndResizeGradImage", unit(64, 32, 32, 3), *crops, fixed(4, 128, 128, 3), T="float32", method="bilinear")
    yield row("CropAndResizeGradBoxes", unit(64, 32, 32, 3), IMAGES, *crops)
    yield row("DrawBoundingBoxes", IMAGES, unit(4, 20, 4))
    yield row("DrawBoundingBoxesV2", IMAGES, boxes(80).reshape(4, 20, 4), unit(5, 3))
    for count in (100, 1000):
        yield row("NonMaxSuppressionV3", boxes(count), unit(count), one(100), one(0.5, np.float32), one(0.1, np.float32))
    yield row("NonMaxSuppressionV5", boxes(500), unit(500), one(100), *(one(v, np.float32) for v in (0.5, 0.1, 0.5)))
    yield row("NonMaxSuppressionWithOverlaps", unit(500, 500), unit(500), one(100), *(one(v, np.float32) for v in (0.5, 0.1)))
    scores = unit(2, 300, 10)
    yield row(
        "CombinedNonMaxSuppression",
        boxes(600).reshape(2, 300, 1, 4),
        scores,
        one(20),
        one(50),
        *(one(v, np.float32) for v in (0.5, 0.2)),
    )
    turn = np.tile(np.array([[0.9, 0.1, 2, -0.1, 0.9, 3, 0, 0]], np.float32), (4, 1))
    for how in ("BILINEAR", "NEAREST"):
        yield row("ImageProjectiveTransformV3", IMAGES, turn, fixed(128, 128), one(0, np.float32), interpolation=how, note=how)
    yield row("ExtractGlimpseV2", IMAGES, fixed(32, 32), unit(4, 2), noise="zero", uniform_noise=False)
    yield row("ExtractImagePatches", IMAGES, ksizes=[1, 5, 5, 1], strides=[1, 3, 3, 1], rates=[1, 1, 1, 1], padding="SAME")
    yield row("ExtractVolumePatches", unit(2, 16, 32, 32, 3), ksizes=[1, 3, 3, 3, 1], strides=[1, 2, 2, 2, 1], padding="SAME")
    yield row("EncodePng", BYTES)
    yield row("EncodePng", np.tile(np.arange(256, dtype=np.uint8)[:, None, None], (1, 256, 3)), note="plain")
    yield row("EncodePng", ints(65536, 128, 128, 3, dtype=np.uint16))
    yield row("EncodeJpeg", BYTES)
    yield row("SampleDistortedBoundingBoxV2", np.array([256, 256, 3], np.int32), boxes(4)[None], one(0.1, np.float32))


def string_rows() -> Iterator[Row]:
    texts, few = words(10000), words(20)
    for op in ("StringLower", "StringUpper", "StringStrip", "StringLength"):
        yield row(op, texts)
        yield row(op, few)
    yield row("StringLength", texts, unit="UTF8_CHAR", note="characters")
    yield row("StringLower", texts, encoding="utf-8", note="utf-8")
    yield row("Substr", texts, one(0), one(3))
    yield row("Substr", texts, one(0), one(3), unit="UTF8_CHAR", note="characters")
    yield row("Substr", texts, ints(1, 10000), ints(5, 10000))
    yield row("StringJoin", [texts, texts, words(10000)], separator="-")
    yield row("StringJoin", [few, few])
    yield row("ReduceJoin", texts.reshape(1000, 10), fixed(1), separator=" ")
    yield row("UnsortedSegmentJoin", texts, ints(500, 10000), one(500), separator=" ")
    yield row("StringToNumber", numerals("%.5f", normal(10000)))
    yield row("StringToNumber", numerals("%d", ints(100000, 10000)), out_type="int64", note="int64")
    yield row("AsString", ints(1000000, 10000))
    yield row("AsString", normal(10000))
    yield row("AsString", normal(10000), precision=3, note="precision 3")
    yield row("AsString", ints(100, 10))
    yield row("RegexReplace", texts, one(b"a+b?", object), one(b"<\\0>", object))
    yield row("StaticRegexReplace", texts, pattern="[a-c]([x-z])", rewrite="\\1")
    yield row("RegexFullMatch", texts, one(b"[a-h]*,?.*", object))
    yield row("StringSplit", texts, one(b" ", object))
    yield row("StringSplit", few, one(b" ", object))
    yield row("StringSplitV2", texts, one(b" ", object))
    yield row("StringSplitV2", texts, one(b"", object), note="whitespace")
    yield row("StringSplitV2", few, one(b",", object))
    yield row(
        "StringNGrams",
        words(3000, length=4),
        np.arange(0, 3001, 10),
        separator=" ",
        ngram_widths=[2, 3],
        left_pad="<",
        right_pad=">",
        pad_width=1,
        preserve_short_sequences=False,
    )
    for op in ("StringToHashBucketFast", "StringToHashBucket"):
        yield row(op, texts, num_buckets=1000)
        yield row(op, few, num_buckets=1000)
    yield row("StringToHashBucketFast", words(10000, length=100), num_buckets=1000, note="long")
    yield row("StringToHashBucketStrong", texts, num_buckets=1000, key=[1, 2])
    yield row("StringToHashBucketStrong", few, num_buckets=1000, key=[1, 2])
    yield row("Fingerprint", unit(1000, 100), one(b"farmhash64", object))
    yield row("EncodeBase64", texts)
    yield row("DecodeBase64", numerals("%s", np.array(["YWJjZGVm", "eHl6LW1u"] * 5000)))
    yield row("UnicodeDecode", texts, input_encoding="UTF-8")
    yield row("UnicodeDecodeWithOffsets", texts, input_encoding="UTF-8")
    yield row("UnicodeEncode", ints(26, 30000) + 97, np.arange(0, 30001, 6), output_encoding="UTF-8")
    yield row("UnicodeTranscode", texts, input_encoding="UTF-8", output_encoding="UTF-16-BE")
    yield row("UnicodeScript", ints(500, 10000))
    yield row("StringFormat", [normal(100), ints(9, 10)], template="%s and %s")
    yield row(
        "EditDistance",
        indices(3000, 500, 10),
        ints(5, 3000, dtype=np.int64),
        fixed(500, 10, dtype=np.int64),
        indices(3000, 500, 10),
        ints(5, 3000, dtype=np.int64),
        fixed(500, 10, dtype=np.int64),
    )


def record_rows() -> Iterator[Row]:
    numbers = normal(5000), ints(1000, 5000), normal(5000)
    lines = np.array([b"%.5f,%d,%.3f,word" % values for values in zip(*(array.tolist() for array in numbers))], object)
    defaults = [fixed(0, dtype=np.float32), fixed(0), fixed(0, dtype=np.float32), fixed(b"", dtype=object)]
    yield row("DecodeCSV", lines, defaults)
    yield row("DecodeCSV", lines[:10], defaults)
    yield row(
        "DecodeCSV",
        numerals("%d,%d", ints(1000, 5000, 2).view([("a", np.int32), ("b", np.int32)])[:, 0]),
        [fixed(0), fixed(0)],
    )
    yield row("DecodeRaw", np.array([b"12345678" * 100] * 100, object), out_type="float32")
    yield row("DecodePaddedRaw", np.array([b"12345678" * 100] * 100, object), one(400), out_type="float32")
    yield row(
        "DecodeJSONExample", np.array([b'{"features": {"feature": {"a": {"int64List": {"value": [1, 2]}}}}}'] * 100, object)
    )
    yield row("SerializeTensor", unit(1000, 100))
    yield row("DecodeCompressed", np.array([b"abc"] * 1000, object))
    example = b"\n\x1f\n\x0e\n\x01a\x12\x09\x1a\x07\n\x05\x01\x02\x03\x04\x05\n\x0d\n\x01b\x12\x08\x12\x06\n\x04\x00\x00\x80?"
    many = np.array([example] * 1000, object)
    keys = [one(b"a", object), one(b"b", object)]
    yield row(
        "ParseExample",
        many,
        fixed(dtype=object),
        [],
        keys,
        [Fixed(np.zeros(5, np.int64)), Fixed(np.zeros(1, np.float32))],
        sparse_types=[],
        dense_shapes=[[5], [1]],
    )
    yield row(
        "ParseExampleV2",
        many,
        fixed(dtype=object),
        fixed(b"a", dtype=object),
        fixed(b"b", dtype=object),
        fixed(dtype=object),
        [Fixed(np.zeros(1, np.float32))],
        num_sparse=1,
        sparse_types=["int64"],
        dense_shapes=[[1]],
        ragged_value_types=[],
        ragged_split_types=[],
    )
    yield row(
        "ParseSingleExample",
        Fixed(np.array(example, object)),
        [Fixed(np.zeros(5, np.int64)), Fixed(np.zeros(1, np.float32))],
        num_sparse=0,
        sparse_keys=[],
        dense_keys=["a", "b"],
        sparse_types=[],
        dense_shapes=[[5], [1]],
    )
