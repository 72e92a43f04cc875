"""Cases of the image_codecs family."""

import io
import struct

import numpy as np
from PIL import Image

from tests.opcases import case, graph_case, integers, strings

RGB = integers(9, 11, 3, high=256, dtype="uint8")
SMOOTH = (np.add.outer(np.arange(20), np.arange(24))[..., None] * [3, 5, 7] % 256).astype(np.uint8)
RED_TO_WHITE = bytes([255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255])
"""The colours of four indices."""
GREY = integers(6, 5, 1, high=256, dtype="uint8")


def file(array, form, **options):
    """An image file as a string scalar."""
    stream = io.BytesIO()
    picture = Image.fromarray(array[..., 0] if array.shape[-1] == 1 else array)
    picture.save(stream, form, **options)
    return strings(stream.getvalue())[0]


def png(array, **options):
    return file(array, "PNG", **options)


def cmyk(adobe=True):
    """A file of cyan, magenta, yellow and black, with the marker that says that they are inverted or without."""
    stream = io.BytesIO()
    Image.fromarray(integers(20, 24, 4, high=256, dtype="uint8"), "CMYK").save(stream, "JPEG")
    data = stream.getvalue()
    start = data.index(b"\xff\xee")
    return strings(data if adobe else data[:start] + data[start + 16 :])[0]


def sixteen(channels):
    """A 16-bit file, written by the op itself, decoded again."""

    def build(g):
        x = g.constant(integers(5, 6, channels, high=65536, dtype="uint16"))
        data = g.EncodePng(x, name="data")
        for expected in (0, 1, 3, 4):
            g.DecodePng(data, channels=expected, dtype="uint16", name=f"as{expected}")
        g.DecodePng(data, name="bytes")
        g.DecodeImage(data, dtype="float", expand_animations=False, name="float")
        return [["data:0", "as0:0", "bytes:0", "float:0"], ["as1:0", "as3:0", "as4:0"]]

    return graph_case(f"sixteen_bits_{channels}", "DecodePng", build, tolerance=1e-4)


def pngs():
    return [
        *(case("DecodePng", png(RGB), channels=c) for c in (0, 1, 3, 4)),
        case("DecodePng", png(GREY), channels=0),
        case("DecodePng", png(GREY), channels=3, dtype="uint16"),
        case("DecodePng", png(integers(3, 4, 4, high=256, dtype="uint8"))),
        case("DecodePng", png(integers(3, 4, 2, high=256, dtype="uint8"))),
        case("DecodePng", strings(b"not an image")[0]),
        case("DecodePng", strings(b"a", b"b")),
        *(sixteen(c) for c in (1, 3, 4)),
        *(case("EncodePng", SMOOTH, compression=c) for c in (-1, 1, 9)),
        *(case("EncodePng", integers(3, 4, c, high=256, dtype="uint8")) for c in (1, 2, 4)),
        case("EncodePng", integers(2, 3, 4, 1, high=256, dtype="uint8")),
        case("EncodePng", integers(3, 4, 3, high=65536, dtype="uint16")),
        case("EncodePng", integers(3, 4, 5, dtype="uint8")),
        case("EncodePng", integers(3, 4, dtype="uint8")),
    ]


def jpegs():
    smooth, accurate = file(SMOOTH, "JPEG"), {"dct_method": "INTEGER_ACCURATE"}
    noise = integers(40, 50, 3, high=256, dtype="uint8")
    noisy = {n: file(noise, "JPEG", subsampling=n) for n in (0, 1, 2)}
    ways = [{"fancy_upscaling": f, "dct_method": d} for f in (True, False) for d in ("", "INTEGER_FAST", "INTEGER_ACCURATE")]
    bare = file(GREY, "JPEG")[:-2]
    crop = np.array([2, 3, 5, 6], np.int32)
    windows = [[2, 3, 5, 6], [0, 0, 40, 50], [3, 16, 9, 8], [17, 0, 4, 2], [0, 33, 7, 1], [39, 32, 1, 2]]
    return [
        *(case("DecodeJpeg", noisy[n], **way) for n in (0, 1, 2) for way in ways),
        *(case("DecodeJpeg", noisy[n], ratio=r, channels=c) for n in (1, 2) for r in (2, 4, 8) for c in (0, 1)),
        case("DecodeJpeg", file(noise, "JPEG", progressive=True)),
        *(case("DecodeJpeg", cmyk(**marker), channels=c) for marker in ({}, {"adobe": False}) for c in (0, 1, 3)),
        *(case("DecodeJpeg", strings(bare)[0], try_recover_truncated=recover) for recover in (True, False)),
        *(case("DecodeJpeg", smooth, channels=c, **accurate) for c in (0, 1, 3)),
        *(case("DecodeJpeg", smooth, ratio=r, **accurate) for r in (2, 4, 8)),
        case("DecodeJpeg", file(GREY, "JPEG"), **accurate),
        case("DecodeJpeg", file(GREY, "JPEG"), channels=3, **accurate),
        case("DecodeJpeg", smooth, ratio=3),
        case("DecodeJpeg", smooth, channels=2),
        case("DecodeJpeg", smooth, dct_method="FLOAT"),
        case("DecodeImage", noisy[2]),
        case("DecodePng", noisy[2]),
        *(case("DecodeAndCropJpeg", noisy[n], np.array(w, np.int32)) for n in (0, 1, 2) for w in windows),
        *(case("DecodeAndCropJpeg", noisy[2], np.array(windows[2], np.int32), **way) for way in ways),
        case("DecodeAndCropJpeg", noisy[1], np.array([1, 8, 9, 8], np.int32), ratio=2),
        case("DecodeAndCropJpeg", cmyk(), crop),
        case("ExtractJpegShape", cmyk()),
        case("DecodeJpeg", png(RGB)),
        case("DecodeAndCropJpeg", smooth, crop, **accurate),
        case("DecodeAndCropJpeg", smooth, np.array([2, 3, 50, 6], np.int32)),
        case("ExtractJpegShape", smooth),
        case("ExtractJpegShape", file(GREY, "JPEG"), output_type="int64"),
        case("ExtractJpegShape", png(RGB)),
        case("EncodeJpeg", SMOOTH),
        case("EncodeJpeg", SMOOTH, quality=30, progressive=True, optimize_size=True, chroma_downsampling=False),
        case("EncodeJpeg", SMOOTH, density_unit="cm", x_density=50, y_density=70),
        case("EncodeJpeg", GREY, format="grayscale"),
        case("EncodeJpeg", GREY, format="rgb"),
        case("EncodeJpeg", integers(3, 4, 4, dtype="uint8")),
        case("EncodeJpegVariableQuality", SMOOTH, np.int32(60)),
        case("EncodeJpegVariableQuality", SMOOTH, np.int32(101)),
    ]


def animation(*frames, screen=(6, 5), table=RED_TO_WHITE, end=b";"):
    """A GIF file of frames (left, top, indices of four colours, options); every pair of codes clears the dictionary."""
    parts = [b"GIF89a", struct.pack("<HHBBB", *screen, 0x81 if table else 0, 0, 0), table]
    for left, top, indices, options in frames:
        height, width = indices.shape
        if "disposal" in options or "transparent" in options:
            flags = options.get("disposal", 0) << 2 | ("transparent" in options)
            parts.append(struct.pack("<BBBBHBB", 0x21, 0xF9, 4, flags, 10, options.get("transparent", 0), 0))
        own = options.get("table", b"")
        parts += [struct.pack("<BHHHHB", 0x2C, left, top, width, height, 0x81 if own else 0), own, b"\x02"]
        pairs = indices.ravel().tolist()
        codes = [code for at in range(0, len(pairs), 2) for code in (4, *pairs[at : at + 2])] + [5]
        data = sum(code << 3 * place for place, code in enumerate(codes)).to_bytes(-(-3 * len(codes) // 8), "little")
        parts += [bytes([len(data)]), data, b"\0"]
    return strings(b"".join(parts) + end)[0]


def animations():
    whole, part = integers(5, 6, high=4, dtype="uint8"), integers(2, 3, high=4, dtype="uint8")
    moved = [(0, 0, whole, {}), (1, 2, part, {})]
    return [
        *(animation((0, 0, whole, {"disposal": d}), (1, 2, part, {"disposal": d}), (3, 0, part, {})) for d in range(4)),
        *(animation((0, 0, whole, {"transparent": 1}), (2, 2, part, {"transparent": t}), (1, 1, part, {})) for t in (0, 9)),
        animation(*moved, screen=(9, 8)),
        animation(*moved, screen=(2, 2)),
        animation((2, 1, whole, {})),
        animation((1, 1, part, {}), (0, 0, whole, {})),
        animation((0, 0, whole, {}), (4, 4, part, {}), (7, 7, part, {})),
        animation((0, 0, whole, {"table": RED_TO_WHITE[6:] * 2}), (0, 0, part, {})),
        animation((0, 0, whole, {"table": RED_TO_WHITE}), (0, 0, part, {}), table=b""),
        animation((0, 0, whole, {}), table=b""),
        animation(*moved, end=b""),
        animation(*moved, end=b"junk"),
        animation(*moved, end=b"!\xfe\x03abc\0;"),
        *(strings(animation(*moved)[:end])[0] for end in (-3, 60)),
    ]


def few_bits(bits):
    """A PNG file of a palette with as many colours as `bits` tell apart."""
    picture = Image.fromarray(RGB).quantize(2**bits)
    stream = io.BytesIO()
    picture.save(stream, "PNG", bits=bits)
    return strings(stream.getvalue())[0]


WIDE = ("uint16", "float")


def others():
    frames = [Image.fromarray(RGB), Image.fromarray(SMOOTH[:9, :11])]
    gif, webp = io.BytesIO(), io.BytesIO()
    frames[0].save(gif, "GIF", save_all=True, append_images=frames[1:], loop=0)
    frames[0].save(webp, "WEBP", lossless=True)
    gif, webp = strings(gif.getvalue())[0], strings(webp.getvalue())[0]
    one = file(RGB, "GIF")
    return [
        case("DecodeGif", gif),
        case("DecodeGif", one),
        case("DecodeGif", png(RGB)),
        case("DecodeGif", strings(b"GIF89a")[0]),
        *(case("DecodeGif", contents, key=f"DecodeGif animation {place}") for place, contents in enumerate(animations())),
        *(case("DecodeBmp", file(RGB, "BMP"), channels=c) for c in (0, 3, 4)),
        case("DecodeBmp", file(integers(3, 4, 4, high=256, dtype="uint8"), "BMP")),
        case("DecodeBmp", png(RGB)),
        *(case("DecodeWebP", webp, channels=c) for c in (0, 3, 4)),
        case("DecodeWebP", png(RGB)),
        case("DecodeImage", png(RGB)),
        *(case("DecodeImage", png(RGB), dtype=t) for t in WIDE),
        *(case(op, png(RGB, transparency=(1, 2, 3)), channels=c) for c in (0, 4) for op in ("DecodePng", "DecodeImage")),
        *(case("DecodePng", png(GREY, transparency=int(GREY[0, 0, 0])), channels=c) for c in (0, 4)),
        case("DecodeImage", webp, dtype="float"),
        *(case("DecodePng", contents, dtype="uint16") for contents in (file(RGB, "JPEG"), one, webp)),
        *(case("DecodeImage", one, channels=c) for c in (1, 3, 4)),
        *(case("DecodePng", few_bits(bits), channels=c) for bits in (1, 2, 4) for c in (0, 1, 3, 4)),
        case("DecodePng", few_bits(4), channels=4, dtype="uint16"),
        case("DecodeImage", png(GREY), dtype="uint16", channels=3),
        case("DecodeImage", gif),
        case("DecodeImage", gif, expand_animations=False),
        case("DecodeImage", animations()[9], expand_animations=False),
        case("DecodeImage", webp),
        *(case("DecodeImage", contents, dtype=t) for contents in (file(RGB, "BMP"), one, file(RGB, "JPEG")) for t in WIDE),
        case("DecodeImage", strings(b"nothing")[0]),
    ]


CASES = [*pngs(), *jpegs(), *others()]
