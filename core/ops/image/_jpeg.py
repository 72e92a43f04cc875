"""JPEG files decoded as by TensorFlow, through simplejpeg (the optional extra `tfg[image]`), which wraps the same library."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...codecs import jpeg
from ...runtime.state.run_context import reserve
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...support.optional_packages import extra_hint
from ...types.arrays import Array
from ..shared.argument_checks import require

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


def jpeg_header(data: bytes) -> jpeg.Header:
    """Return the header of a file; InvalidArgumentError where damaged."""
    try:
        return jpeg.header(data)
    except ValueError as error:
        raise InvalidArgumentError(f"invalid JPEG data of {len(data)} bytes: {error}") from None


def decode(data: bytes, how: Decoding, window: tuple[int, ...] | None = None) -> Array:
    """(height, width, channels), uint8, of the whole picture or of the window (top, left, height, width)."""
    how.check()
    file = jpeg_header(data)
    own = len(file.sampling)
    channels = how.channels or min(own, 3)
    can_be = channels == 3 if own == 4 else channels in (1, 3)
    require(can_be, f"a JPEG file of {own} components cannot be decoded as {channels}")
    reserve(2 * file.height * file.width * max(own, 3))
    _check_scale(file, how.ratio)
    pixels = _whole(data, file, how, 4 if own == 4 else channels)
    if own == 4:
        pixels = _without_black(pixels, file.adobe is not None)
    return pixels if window is None else _cut(pixels, data, file, how, window)


def _whole(data: bytes, file: jpeg.Header, how: Decoding, channels: int) -> Array:
    """Return the decoded components."""
    try:
        return _decoded(data, file, how, channels, strict=True)
    except ValueError as error:
        if _TRUNCATED in str(error):
            _refuse_truncated(data, file, how, channels)
    try:
        return _decoded(data, file, how, channels, strict=False)
    except ValueError as error:
        raise InvalidArgumentError(f"invalid JPEG data of {len(data)} bytes: {error}") from None


def _decoded(data: bytes, file: jpeg.Header, how: Decoding, channels: int, strict: bool) -> Array:
    sizes = (-(-file.height // how.ratio), -(-file.width // how.ratio)) if how.ratio > 1 else (0, 0)
    fast, box = _METHODS[how.dct_method], not how.fancy_upscaling
    pixels: Array = _simplejpeg().decode_jpeg(data, _COLOURS[channels], fast, box, *sizes, how.ratio, None, strict)
    return pixels


def _refuse_truncated(data: bytes, file: jpeg.Header, how: Decoding, channels: int) -> None:
    """Raise an error unless nothing but the end marker is missing of a file that is to be recovered."""
    if how.try_recover_truncated:
        try:
            _decoded(data + b"\xff\xd9", file, how, channels, strict=True)
        except ValueError:
            raise UnimplementedError("the pixels that TensorFlow decodes from a truncated JPEG file are unknown") from None
    elif how.acceptable_fraction < 1:
        raise UnimplementedError("the number of lines that TensorFlow accepts of a truncated JPEG file is unknown")
    else:
        raise InvalidArgumentError(f"invalid JPEG data of {len(data)} bytes: {_TRUNCATED}")


def _check_scale(file: jpeg.Header, ratio: int) -> None:
    """Refuse a tiny picture that has the same size at another scale: the decoder might take the other scale."""
    sizes = [[-(-size * eighths // _EIGHTHS) for size in (file.height, file.width)] for eighths in range(1, _EIGHTHS + 1)]
    if ratio > 1 and sizes.count(sizes[_EIGHTHS // ratio - 1]) > 1:
        raise UnimplementedError(f"a picture of {file.height} x {file.width} pixels is too small for ratio {ratio}")


def _without_black(pixels: Array, is_inverted: bool) -> Array:
    """Red, green and blue of cyan, magenta, yellow and black; Adobe's files have them inverted."""
    wide = pixels.astype(np.uint16) if is_inverted else 255 - pixels.astype(np.uint16)
    return (wide[..., :3] * wide[..., 3:] // 255).astype(np.uint8)


def _cut(pixels: Array, data: bytes, file: jpeg.Header, how: Decoding, window: tuple[int, ...]) -> Array:
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
    cut = jpeg.cut_columns(file, how.ratio, left, width) if how.fancy_upscaling and pixels.shape[2] == 3 else None
    if cut is not None:
        if len(file.sampling) != 3 or file.is_rgb:
            raise UnimplementedError("a window of a picture with subsampled colours that are not luma and chroma")
        box = how._replace(fancy_upscaling=False)
        planes = _whole(jpeg.without_colours(data), file, box, 3)
        result[:, [column - left for column in cut.columns]] = jpeg.cut_pixels(planes, cut, rows)
    return result


def _simplejpeg() -> Any:
    """Return the package, or raise an error that names the extra to install."""
    try:
        import simplejpeg
    except ImportError:
        raise UnimplementedError("JPEG files need simplejpeg, which is missing", hint=extra_hint("image")) from None
    return simplejpeg
