"""Decoding and encoding of image files, through Pillow and simplejpeg (the optional extra `tfg[image]`) and codecs/png.

Both rest on the same libraries as TensorFlow (libjpeg-turbo, zlib), so that the bytes and pixels agree.
"""

from __future__ import annotations

import contextlib
import io
import struct
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from ...codecs import image_files, png
from ...codecs.image_files import image_kind
from ...registry.registry import kernel, shape
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.run_context import check_time, reserve
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...support.hints import extra_hint
from ...support.user_signals import pass_on
from ...types.arrays import Array, Result, object_array
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec
from ..shared.argument_checks import require, require_min_rank, require_rank, scalar, with_rank
from ..shared.shape_arguments import ints

_GREY = np.array([9797, 19234, 3737], np.uint32)
"""libpng's weights of red, green and blue for grey, in units of 2^-15."""


def _contents(contents: Array) -> bytes:
    data = scalar(contents, "contents")
    require(isinstance(data, bytes), "contents must be a string")
    return data


def _check_channels(channels: int, allowed: tuple[int, ...]) -> None:
    require(channels in allowed, f"channels must be one of {', '.join(map(str, allowed))}, not {channels}")


def _png_header(data: bytes) -> tuple[int, int, int, int, int]:
    try:
        return png.header(data)
    except ValueError as error:
        raise InvalidArgumentError(f"invalid PNG data: {error}") from None


def _decode_png(data: bytes, channels: int, dtype: Any) -> Array:
    """(height, width, channels) as uint8 or uint16; channels 0 means the file's."""
    _check_channels(channels, (0, 1, 3, 4))
    width, height, depth, _, _ = _png_header(data)
    # By the header, before the decoder allocates: a file of a few bytes can claim 2^31 rows.
    reserve(2 * width * height * 3 * depth // 8)
    pixels = _decode_png_16(data, channels) if depth == 16 else _decode_png_8(data, channels)
    if pixels.dtype == dtype:
        return pixels
    # libpng repeats the byte (257 = 256 + 1) to widen, and drops the lower byte to narrow.
    return pixels.astype(np.uint16) * 257 if dtype == np.uint16 else (pixels >> 8).astype(np.uint8)


def _decode_png_8(data: bytes, channels: int) -> Array:
    image = open_image(data, "PNG")
    if not channels:
        # A palette has three channels, or four if the file makes some of its colours transparent.
        channels = {"1": 1, "L": 1, "LA": 2, "RGB": 3, "RGBA": 4}.get(image.mode, 3)
        if image.mode == "P" and "transparency" in image.info:
            channels = 4
    if channels == 1 and image.mode not in ("1", "L", "LA"):
        colours = pixels_of(in_mode(image, 3, "PNG"), "PNG")
        # libpng's fixed point, without rounding for 8 bits and with rounding for 16.
        return (colours.astype(np.uint32) @ _GREY >> 15).astype(np.uint8)[..., None]
    pixels = pixels_of(in_mode(image, channels, "PNG"), "PNG")
    if channels % 2 == 0 and image.mode in ("1", "L", "RGB", "P") and "transparency" not in image.info:
        pixels = pixels.copy()
        pixels[..., -1] = 2 ** _png_header(data)[2] - 1  # TensorFlow's alpha is the largest sample of the file
    return pixels


def _decode_png_16(data: bytes, channels: int) -> Array:
    try:
        pixels = png.decode16(data)
    except ValueError as error:
        raise InvalidArgumentError(f"invalid PNG data: {error}") from None
    return _with_channels(pixels, channels or pixels.shape[-1])


def _with_channels(pixels: Array, channels: int) -> Array:
    """16-bit samples as grey or colour, with alpha or without."""
    colours = pixels[..., : pixels.shape[-1] - (pixels.shape[-1] % 2 == 0)]
    if channels > 2 and colours.shape[-1] == 1:
        colours = np.repeat(colours, 3, -1)
    elif channels <= 2 and colours.shape[-1] == 3:
        colours = ((colours.astype(np.uint32) @ _GREY + 16384) >> 15).astype(np.uint16)[..., None]
    if channels % 2:
        return colours
    has_alpha = pixels.shape[-1] % 2 == 0
    alpha = pixels[..., -1:] if has_alpha else np.full((*pixels.shape[:-1], 1), 65535, np.uint16)
    return np.concatenate((colours, alpha), -1)


@kernel("DecodePng", facts=("image_contents",), arithmetic=False)
def decode_png(contents: Array, *, channels: int, dtype: DType) -> Result:
    """A PNG file (or another kind of image file) as (height, width, channels)."""
    data = _contents(contents)
    return _decode_any(data, channels, dtype.numpy, allow_gif=True)


@kernel("DecodeJpeg", facts=("image_contents",), arithmetic=False)
def decode_jpeg(contents: Array, *, how: Decoding) -> Result:
    """A JPEG file (or another kind of image file) as (height, width, channels), uint8."""
    data = _contents(contents)
    how.check()
    if image_kind(data) == "jpeg":
        return decode(data, how)
    return _decode_any(data, how.channels, np.uint8, allow_gif=True)


def _decode_bmp(data: bytes, channels: int) -> Array:
    """(height, width, channels), uint8."""
    _check_channels(channels, (0, 3, 4))
    # TensorFlow asks for 32 bytes, though the header alone has 54.
    require(len(data) >= 32, f"a BMP file of {len(data)} bytes is too short")
    depth = struct.unpack("<H", data[28:30])[0]
    channels_in_file = depth // 8
    require(channels_in_file in (1, 3, 4), f"a BMP file of {depth} bits a pixel; only 8, 24 and 32 are supported")
    offset, _, width, height = struct.unpack("<IIii", data[10:26])
    require(width > 0 and height != 0, f"a BMP file of {width} x {height} pixels")
    # Lines are padded to words of four bytes.
    line = (channels_in_file * width + 3) // 4 * 4
    require(offset >= 0 and offset + line * abs(height) <= len(data), "the BMP file is too short for its pixels")
    rows = np.frombuffer(data, np.uint8, line * abs(height), offset).reshape(abs(height), line)
    pixels = rows[:, : channels_in_file * width].reshape(abs(height), width, channels_in_file)
    # A positive height means that the lowest line comes first.
    pixels = pixels[::-1] if height > 0 else pixels
    return _as_channels(
        # BMP files have blue, green, red and alpha.
        pixels if channels_in_file == 1 else pixels[..., [2, 1, 0, 3][:channels_in_file]],
        channels or channels_in_file,
    )


def _as_channels(pixels: Array, channels: int) -> Array:
    """Grey repeated as colour, an opaque alpha added or alpha taken away."""
    if channels >= 3 and pixels.shape[-1] == 1:
        pixels = np.repeat(pixels, 3, -1)
    if channels == 4 and pixels.shape[-1] == 3:
        opaque = np.full((*pixels.shape[:-1], 1), 255, np.uint8)
        return np.concatenate((pixels, opaque), -1)
    return np.ascontiguousarray(pixels[..., :channels])


@kernel("DecodeBmp", arithmetic=False)
def decode_bmp(contents: Array, *, channels: int) -> Result:
    """A BMP file as (height, width, channels), uint8, or the frames of a WebP file."""
    data = _contents(contents)
    if image_kind(data) == "webp":
        return _decode_webp(data, channels)
    _check_channels(channels, (0, 3, 4))
    require(image_kind(data) == "bmp", "the contents are not a BMP file")
    return _decode_bmp(data, channels)


def _decode_webp(data: bytes, channels: int, dtype: Any = np.uint8) -> Array:
    """(frames, height, width, channels), uint8, the only dtype of the format."""
    require(dtype == np.uint8, "a WebP file is decoded as uint8 only")
    _check_channels(channels, (0, 3, 4))
    image = open_image(data, "WebP")
    channels_in_file = 4 if image.mode == "RGBA" else 3
    # TensorFlow's decoder converts no channels of WebP files.
    require(channels in (0, channels_in_file), f"the WebP file has {channels_in_file} channels, not {channels}")
    frames = []
    for number in range(getattr(image, "n_frames", 1)):
        image.seek(number)
        frames.append(pixels_of(in_mode(image, channels_in_file, "WebP"), "WebP"))
    return np.stack(frames)


@shape("DecodePng", "DecodeJpeg", "DecodeBmp")
def decode_shape(contents: TensorSpec, *, channels: int) -> Shape:
    """As TensorFlow says; a WebP file gives frames all the same."""
    with_rank(contents.shape, 0)
    return Shape([None, None, channels or None])


@kernel("EncodePng", shape="... _ _ _ -> ...", arithmetic=False)
def encode_png(image: Array, *, compression: int) -> Result:
    """Images (..., height, width, channels) as PNG files, of shape (...)."""
    require_min_rank(image, 3, "image")
    require(-1 <= compression <= 9, f"compression must be in [-1, 9], not {compression}")
    require(1 <= image.shape[-1] <= 4, f"image must have 1, 2, 3, or 4 channels, not {image.shape[-1]}")
    require(min(image.shape[-3:]) > 0, f"image must not be empty: {image.shape}")
    images = image.reshape(-1, *image.shape[-3:])
    return object_array([png.encode(one, compression) for one in images], image.shape[:-3])


@kernel("DecodeAndCropJpeg", arithmetic=False)
def decode_and_crop_jpeg(contents: Array, crop_window: Array, *, how: Decoding) -> Result:
    """The window (top, left, height, width) of a JPEG file, uint8."""
    data = _contents(contents)
    how.check()
    window = ints(crop_window, "crop_window", 4)
    require(image_kind(data) == "jpeg", "the contents are not a JPEG file")
    return decode(data, how, tuple(window))


@shape("DecodeAndCropJpeg")
def decode_and_crop_jpeg_shape(contents: TensorSpec, crop_window: TensorSpec, *, channels: int) -> Shape:
    with_rank(contents.shape, 0)
    sizes = [None, None] if crop_window.value is None else ints(crop_window.value, "crop_window", 4)[2:]
    return Shape([*sizes, channels or None])


@kernel("ExtractJpegShape", shape="() -> 3", arithmetic=False)
def extract_jpeg_shape(contents: Array, *, output_type: DType) -> Result:
    """Return height, width and channels of a JPEG file, from its header."""
    data = _contents(contents)
    require(image_kind(data) == "jpeg", "the contents are not a JPEG file")
    file = jpeg_header(data)
    return np.array([file.height, file.width, len(file.sampling)], output_type.numpy)


@kernel("EncodeJpeg", shape="_ _ _ -> ()", arithmetic=False)
def encode_jpeg(
    image: Array,
    *,
    format: str,
    quality: int,
    progressive: bool,
    optimize_size: bool,
    chroma_downsampling: bool,
    density_unit: str,
    x_density: int,
    y_density: int,
    xmp_metadata: str,
) -> Result:
    """An image (height, width, 1 or 3 channels) as a JPEG file."""
    require_rank(image, 3, "image")
    require(0 <= quality <= 100, f"quality must be in [0, 100], not {quality}")
    allowed = {"": (1, 3), "grayscale": (1,), "rgb": (3,)}[format]
    require(image.shape[2] in allowed, f"image must have {' or '.join(map(str, allowed))} channels, not {image.shape[2]}")
    require(image.size > 0 and max(image.shape[:2]) < 65536, f"image must not be empty or too large: {image.shape}")
    x_density, y_density = x_density & 0xFFFF, y_density & 0xFFFF  # as much as a JFIF header holds
    # Pillow takes dots per inch and rounds; the header is corrected below where centimetres are asked for.
    density = (x_density, y_density) if density_unit == "in" else (x_density * 2.54, y_density * 2.54)
    options: dict[str, Any] = {"progressive": progressive, "optimize": optimize_size, "dpi": density}
    if image.shape[2] == 3:
        options["subsampling"] = 2 if chroma_downsampling else 0
    if xmp_metadata:
        options["xmp"] = xmp_metadata.encode("utf-8", "surrogateescape")
    stream = io.BytesIO()
    picture = pillow().fromarray(np.ascontiguousarray(image[..., 0] if image.shape[2] == 1 else image))
    # libjpeg takes 0 for 1; Pillow would take it for its default.
    picture.save(stream, "JPEG", quality=max(quality, 1), **options)
    return scalar_object(_with_density_unit(stream.getvalue(), density_unit, x_density, y_density))


def _with_density_unit(data: bytes, unit: str, x_density: int, y_density: int) -> bytes:
    """Return the file with its JFIF density in dots per centimetre if asked; Pillow writes inches only."""
    # The density lies at a fixed place of the first segment.
    if unit == "in" or data[6:11] != b"JFIF\0":
        return data
    return data[:13] + struct.pack(">BHH", 2, x_density, y_density) + data[18:]


@kernel("EncodeJpegVariableQuality", shape="_ _ _ -> ()", arithmetic=False)
def encode_jpeg_variable_quality(images: Array, quality: Array) -> Result:
    """An image (height, width, 1 or 3 channels) as a JPEG file of a quality that is an input."""
    # The other attributes are the defaults of EncodeJpeg; this op has none.
    return encode_jpeg(
        images, format="", quality=scalar(quality, "quality"), progressive=False, optimize_size=False,
        chroma_downsampling=True, density_unit="in", x_density=300, y_density=300, xmp_metadata="",
    )  # fmt: skip


def _decode_gif(data: bytes, channels: int = 0) -> Array:
    """Return all frames (frames, height, width, 3), uint8. A frame with damaged data and all later frames are left out."""
    require(channels in (0, 3), f"channels must be 0 or 3 for a GIF file, not {channels}")
    frames: list[image_files.GifFrame] = []
    indices: list[Array] = []
    largest = 0
    try:
        with reading("GIF data"):
            for frame in image_files.read_frames(data):
                check_time()
                size = frame.width * frame.height
                largest = max(largest, size)
                # Each frame becomes a picture as large as the largest frame, with four bytes a pixel: an index and three
                # colours.
                reserve((len(frames) + 1) * largest * 4)
                indices.append(pixels_of(open_image(frame.file, "GIF"), "GIF")[..., 0] if size else np.empty((0, 0), np.uint8))
                frames.append(frame)
    except InvalidArgumentError:
        if not frames:
            raise
    with reading("GIF data"):
        require(frames, "the GIF file has no frame")
        return image_files.compose(frames, indices)


@kernel("DecodeGif", shape="() -> frames h w 3", facts=("image_contents",), arithmetic=False)
def decode_gif(contents: Array) -> Result:
    """Decode the frames of a GIF file, or another image file as a frame: (frames, height, width, 3), uint8."""
    data = _contents(contents)
    if image_kind(data) == "gif":
        return _decode_gif(data)
    pixels = _decode_any(data, 3, np.uint8, allow_gif=False)
    return pixels if pixels.ndim == 4 else pixels[None]


@kernel("DecodeWebP", shape="() -> *", facts=("image_contents",), arithmetic=False)
def decode_webp(contents: Array, *, channels: int) -> Result:
    """The frames of a WebP file: (frames, height, width, channels), uint8; a PNG or JPEG file as (height, width, channels)."""
    data = _contents(contents)
    _check_channels(channels, (0, 3, 4))
    require(image_kind(data) in ("webp", "png", "jpeg"), "the contents are not a WebP file")
    return _decode_any(data, channels, np.uint8, allow_gif=False)


def _decode_any(data: bytes, channels: int, dtype: Any, allow_gif: bool) -> Array:
    """Decode a PNG, JPEG or single-frame GIF file as (height, width, channels); a WebP file as frames."""
    kind = image_kind(data)
    if kind == "png":
        return _decode_png(data, channels, dtype)
    require(kind, "Unknown image file format. One of JPEG, PNG, GIF, BMP, WebP required.")
    if kind == "jpeg":
        return _as_type(decode(data, Decoding(channels)), dtype)
    if kind == "webp":
        return _decode_webp(data, channels, dtype)
    require(kind == "gif" and allow_gif, f"this op does not decode {kind} files; DecodeImage does")
    frames = _decode_gif(data, channels)
    require(len(frames) == 1, f"a GIF file of {len(frames)} frames, not one")
    return _as_type(frames[0], dtype)


# Rank 4 for WebP files, 3 for others.


@kernel("DecodeImage", facts=("image_contents",), arithmetic=False)
def decode_image(contents: Array, *, channels: int, dtype: DType, expand_animations: bool) -> Result:
    """An image file of any kind as (height, width, channels), or (frames, ...) for GIF and WebP; float within [0, 1]."""
    data = _contents(contents)
    _check_channels(channels, (0, 1, 3, 4))
    kind = image_kind(data)
    if kind in ("gif", "webp"):
        frames = _decode_gif(data, channels) if kind == "gif" else _decode_webp(data, channels, dtype.numpy)
        pixels = frames if expand_animations else frames[0]
    elif kind == "bmp":
        pixels = _decode_bmp(data, channels)
    else:
        # Only PNG files hold 16 bits; a float result then keeps them all.
        wide = kind == "png" and dtype.numpy != np.uint8
        pixels = _decode_any(data, channels, np.uint16 if wide else np.uint8, allow_gif=False)
    return _as_type(pixels, dtype.numpy)


def _as_type(pixels: Array, dtype: Any) -> Array:
    """Scale samples to another type, as TensorFlow does: 8 bits by 256 to 16 bits, and all by a rounded factor to 1."""
    if pixels.dtype == dtype:
        return pixels
    if dtype == np.uint16:
        return pixels.astype(np.uint16) << 8
    # TensorFlow multiplies by the rounded reciprocal: a quotient would differ in the last bit.
    return pixels.astype(np.float32) * np.float32(1 / np.iinfo(pixels.dtype).max)


@shape("DecodeImage")
def decode_image_shape(contents: TensorSpec, *, channels: int, expand_animations: bool) -> Shape:
    with_rank(contents.shape, 0)
    return Shape() if expand_animations else Shape([None, None, channels or None])


# JPEG files decoded as by TensorFlow, through simplejpeg (the optional extra `tfg[image]`), which wraps the same library.

_METHODS = {"": True, "INTEGER_FAST": True, "INTEGER_ACCURATE": False}
"""True for the fast dct_method, TensorFlow's default."""

_COLOURS = {1: "GRAY", 3: "RGB", 4: "CMYK"}
_TRUNCATED = "Premature end of JPEG file"
_EIGHTHS = 8
"""A decoder scales by eighths."""


class Decoding(NamedTuple):
    """The attributes of an op. Channels of 0 mean the file's."""

    channels: int = 0
    ratio: int = 1
    fancy_upscaling: bool = True
    try_recover_truncated: bool = False
    acceptable_fraction: float = 1.0
    dct_method: str = ""

    def check(self) -> None:
        """InvalidArgumentError where TensorFlow refuses a value."""
        require(self.channels in (0, 1, 3), f"channels must be 0, 1, or 3, not {self.channels}")
        require(self.ratio in (1, 2, 4, 8), f"ratio must be 1, 2, 4, or 8, not {self.ratio}")
        require(self.dct_method in _METHODS, f"dct_method '{self.dct_method}' is not one of {', '.join(_METHODS)}")


def jpeg_header(data: bytes) -> image_files.JpegHeader:
    """Return the header of a file; InvalidArgumentError where damaged."""
    try:
        return image_files.jpeg_header(data)
    except ValueError as error:
        raise InvalidArgumentError(f"invalid JPEG data of {len(data)} bytes: {error}") from None


def decode(data: bytes, how: Decoding, window: tuple[int, ...] | None = None) -> Array:
    """(height, width, channels), uint8, of the whole picture or of the window (top, left, height, width)."""
    how.check()
    file = jpeg_header(data)
    own = len(file.sampling)
    # Four components are cyan, magenta, yellow and black, which TensorFlow only returns as colours.
    channels = how.channels or min(own, 3)
    can_be = channels == 3 if own == 4 else channels in (1, 3)
    require(can_be, f"a JPEG file of {own} components cannot be decoded as {channels}")
    reserve(2 * file.height * file.width * max(own, 3))
    _check_scale(file, how.ratio)
    pixels = _whole(data, file, how, 4 if own == 4 else channels)
    if own == 4:
        pixels = _without_black(pixels, file.adobe is not None)
    return pixels if window is None else _cut(pixels, data, file, how, window)


def _whole(data: bytes, file: image_files.JpegHeader, how: Decoding, channels: int) -> Array:
    """Return the decoded components."""
    try:
        # First strictly: a warning about a truncated file is an error for TensorFlow, other warnings are not.
        return _decoded(data, file, how, channels, strict=True)
    except ValueError as error:
        if _TRUNCATED in str(error):
            _refuse_truncated(data, file, how, channels)
    try:
        return _decoded(data, file, how, channels, strict=False)
    except ValueError as error:
        raise InvalidArgumentError(f"invalid JPEG data of {len(data)} bytes: {error}") from None


def _decoded(data: bytes, file: image_files.JpegHeader, how: Decoding, channels: int, strict: bool) -> Array:
    sizes = (-(-file.height // how.ratio), -(-file.width // how.ratio)) if how.ratio > 1 else (0, 0)
    fast, box = _METHODS[how.dct_method], not how.fancy_upscaling
    pixels: Array = _simplejpeg().decode_jpeg(data, _COLOURS[channels], fast, box, *sizes, how.ratio, None, strict)
    return pixels


def _refuse_truncated(data: bytes, file: image_files.JpegHeader, how: Decoding, channels: int) -> None:
    """Raise an error unless nothing but the end marker is missing of a file that is to be recovered."""
    if how.try_recover_truncated:
        try:
            # An end marker: if the file then decodes without a warning, all of its lines were there.
            _decoded(data + b"\xff\xd9", file, how, channels, strict=True)
        except ValueError:
            raise UnimplementedError("the pixels that TensorFlow decodes from a truncated JPEG file are unknown") from None
    elif how.acceptable_fraction < 1:
        raise UnimplementedError("the number of lines that TensorFlow accepts of a truncated JPEG file is unknown")
    else:
        raise InvalidArgumentError(f"invalid JPEG data of {len(data)} bytes: {_TRUNCATED}")


def _check_scale(file: image_files.JpegHeader, ratio: int) -> None:
    """Refuse a tiny picture that has the same size at another scale: the decoder might take the other scale."""
    sizes = [[-(-size * eighths // _EIGHTHS) for size in (file.height, file.width)] for eighths in range(1, _EIGHTHS + 1)]
    # The wrapper takes the wanted size and picks the scale itself.
    if ratio > 1 and sizes.count(sizes[_EIGHTHS // ratio - 1]) > 1:
        raise UnimplementedError(f"a picture of {file.height} x {file.width} pixels is too small for ratio {ratio}")


def _without_black(pixels: Array, is_inverted: bool) -> Array:
    """Red, green and blue of cyan, magenta, yellow and black; Adobe's files have them inverted."""
    wide = pixels.astype(np.uint16) if is_inverted else 255 - pixels.astype(np.uint16)
    return (wide[..., :3] * wide[..., 3:] // 255).astype(np.uint8)


def _cut(pixels: Array, data: bytes, file: image_files.JpegHeader, how: Decoding, window: tuple[int, ...]) -> Array:
    """Return the window of the picture, with the chroma at its sides as TensorFlow has it: TensorFlow decodes only the
    window.
    """
    top, left, height, width = window
    require(
        min(top, left) >= 0 and min(height, width) > 0 and top + height <= pixels.shape[0] and left + width <= pixels.shape[1],
        f"crop_window {window} does not lie within the image of {pixels.shape[0]} x {pixels.shape[1]}",
    )
    rows = slice(top, top + height)
    result = np.ascontiguousarray(pixels[rows, left : left + width])
    cut = image_files.cut_columns(file, how.ratio, left, width) if how.fancy_upscaling and pixels.shape[2] == 3 else None
    if cut is not None:
        if len(file.sampling) != 3 or file.is_rgb:
            raise UnimplementedError("a window of a picture with subsampled colours that are not luma and chroma")
        # Chroma samples repeated, so that every second column and row holds the samples themselves.
        box = how._replace(fancy_upscaling=False)
        planes = _whole(image_files.without_colours(data), file, box, 3)
        result[:, [column - left for column in cut.columns]] = image_files.cut_pixels(planes, cut, rows)
    return result


def _simplejpeg() -> Any:
    """Return the package, or raise an error that names the extra to install."""
    try:
        import simplejpeg
    except ImportError:
        raise UnimplementedError("JPEG files need simplejpeg, which is missing", hint=extra_hint("image")) from None
    return simplejpeg


# Pillow's images, opened and read: InvalidArgumentError where the data is damaged.

_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
"""Pillow's modes by the number of channels."""
_DAMAGE: Final = (OSError, SyntaxError, ValueError, EOFError, LookupError, TypeError, OverflowError, struct.error)
"""The exceptions of Pillow for damaged data."""


def pillow() -> Any:
    """Return PIL.Image, or raise an error that names the extra to install."""
    try:
        from PIL import Image
    except ImportError:
        raise UnimplementedError("image files need Pillow, which is not installed", hint=extra_hint("image")) from None
    return Image


@contextlib.contextmanager
def reading(place: str) -> Iterator[None]:
    """Return a context in which Pillow reads: InvalidArgumentError about the place where the data is damaged."""
    try:
        yield
    except _DAMAGE as error:
        # An error that a signal handler of the program raised is no damage.
        pass_on(error)
        # Pillow's message for unknown data holds a memory address.
        why = "" if isinstance(error, pillow().UnidentifiedImageError) else f": {error}"
        raise InvalidArgumentError(f"invalid {place}{why}") from None


def open_image(data: bytes, what: str) -> Any:
    """Return a Pillow image; InvalidArgumentError where the file is damaged."""
    image_module = pillow()
    place = f"{what} data of {len(data)} bytes"
    try:
        with reading(place):
            image = image_module.open(io.BytesIO(data))
    except image_module.DecompressionBombError as error:
        raise InvalidArgumentError(f"invalid {place}: {error}") from None
    reserve(2 * image.width * image.height * max(len(image.getbands()), 3))  # Pillow's copy and the array
    return image


def pixels_of(image: Any, what: str) -> Array:
    """Return the decoded pixels (height, width, channels)."""
    with reading(f"{what} data"):
        array = np.asarray(image)
    return array[..., None] if array.ndim == 2 else array


def in_mode(image: Any, channels: int, what: str) -> Any:
    """Convert the image to the mode with `channels` channels."""
    mode = _MODES[channels]
    with reading(f"{what} data"):
        image.load()
        return image if image.mode == mode else image.convert(mode)
