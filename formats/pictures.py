"""Pictures as values: pixels of an image file, resized and scaled as `@photo.png?resize=224,224&scale=1/255` asks."""

from __future__ import annotations

import re
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Final

import numpy as np

from ..core.codecs.image_files import HEAD, image_kind
from ..core.numerics.resize import bilinear, resample
from ..core.registry import registry
from ..core.support import dataclasses
from ..core.support.atomic import file_errors
from ..core.support.errors import InvalidArgumentError, TfgError
from ..core.support.hints import Hint, option
from ..core.support.places import is_address
from ..core.support.regular_files import open_regular
from ..core.types.arrays import Array
from ..core.types.dtypes import DType, uint8
from ..core.types.shapes import UNKNOWN, Shape

_OPTIONS: Final = re.compile(r"\?([a-z]+=[^?]*)$")
_FORMS: Final = "write @photo.png?resize=HEIGHT,WIDTH&scale=1/255&offset=-1, with any of these options"
_LARGEST: Final = 1 << 15
"""The largest height and width that a picture is resized to; bounds memory."""


@dataclasses.dataclass(frozen=True, slots=True)
class Transform:
    """A change of pixels: a new size, (height, width), then pixel * scale + offset."""

    size: tuple[int, int] | None = None
    scale: float = 1.0
    offset: float = 0.0

    @property
    def is_empty(self) -> bool:
        """Return True if pixels stay as they are."""
        return self == Transform()

    def apply(self, pixels: Array, dtype: DType | None) -> Array:
        """Return the pixels (height, width, channels) changed: float32, but rounded for a tensor of integers.

        The size changes as by `tf.image.resize`, bilinear and without antialiasing.
        """
        if self.is_empty:
            return pixels
        result = pixels.astype(np.float32)
        if self.size is not None:
            # Half-pixel centers and no aligned corners, as tf.image.resize of TensorFlow 2 has them.
            rows, columns = (bilinear(old, new, False, True) for old, new in zip(result.shape, self.size))
            result = resample(result[None], rows, columns)[0]
        # Scaled in float32, as a model's own preprocessing does: a double would round otherwise.
        result = result * np.float32(self.scale) + np.float32(self.offset)
        # A cast would cut off the fraction: 254.99 of a resized white area would become 254.
        return np.rint(result) if dtype is not None and dtype.is_integer else result


def parse_transform(text: str) -> tuple[str, Transform]:
    """Return the path and the transform of `photo.png?resize=224,224&scale=1/255`; an empty transform without options.

    InvalidArgumentError for options that do not exist.
    """
    match = _OPTIONS.search(text)
    if match is None:
        return text, Transform()
    fields: dict[str, str] = dict(_pair(part) for part in match[1].split("&"))
    unknown = fields.keys() - {"resize", "scale", "offset"}
    # Signed addresses have queries of their own, behind the same sign.
    if unknown and is_address(text):
        return text, Transform()
    if unknown:
        raise InvalidArgumentError(f"unknown option '{min(unknown)}' of a picture", hint=_FORMS)
    size = _size(fields["resize"]) if "resize" in fields else None
    return text[: match.start()], Transform(size, _factor(fields.get("scale", "1")), _factor(fields.get("offset", "0")))


def read_picture(
    path: str, dtype: DType | None = None, shape: Shape = UNKNOWN, transform: Transform | None = None
) -> Array | None:
    """Return the pixels of an image file, (height, width, channels) of 0 to 255, or changed by `transform`.

    Four dimensions in `shape` add a batch of 1; its last dimension is the number of channels. None for a file that is no
    picture, InvalidArgumentError for a picture of another size than `shape`.
    """
    with file_errors(path), open_regular(path) as file:
        if not image_kind(file.read(HEAD)):
            return None
        # The kind is told by the first bytes: other files, which may be large, are not read as a whole.
        file.seek(0)
        contents = np.array(file.read(), object)
    # The numbers of channels that TensorFlow's decoders make: gray, colour, and colour with transparency.
    channels = shape[-1] if shape.rank and shape[-1] in (1, 3, 4) else 3
    # The op's kernel decodes the picture, which then has the pixels that a graph's own decoder would give.
    decode = registry.kernels("DecodeImage")[0].function
    try:
        pixels: Array = decode(contents, channels=channels, dtype=uint8, expand_animations=False)
    except TfgError as error:
        raise type(error)(f"'{path}': {error.message}", hint=error.hint) from None
    pixels = (transform or Transform()).apply(pixels, dtype)
    _check_size(path, pixels, channels, shape)
    return pixels[None] if shape.rank == 4 else pixels


def _check_size(path: str, pixels: Array, channels: int, shape: Shape) -> None:
    """Raise InvalidArgumentError for a picture of another height or width than a tensor of pixels."""
    if shape.rank not in (3, 4) or (isinstance(shape[-1], int) and shape[-1] != channels):
        return
    actual, asked = pixels.shape[:2], [size if isinstance(size, int) else None for size in (shape[-3], shape[-2])]
    if all(size in (None, own) for size, own in zip(asked, actual)):
        return
    height, width = (own if size is None else size for size, own in zip(asked, actual))
    resize = f"resize={height},{width}"
    takes = " x ".join("any" if size is None else str(size) for size in asked)
    raise InvalidArgumentError(
        f"'{path}' has {actual[0]} x {actual[1]} pixels, but the tensor takes {takes}",
        hint=Hint(f"write @{path}?{resize}, or for ", option("each"), f" @each?{resize}"),
    )


def is_picture(path: str) -> bool:
    """Return True for an image file, by its first bytes."""
    with file_errors(path), open_regular(path) as file:
        return bool(image_kind(file.read(HEAD)))


def _pair(part: str) -> tuple[str, str]:
    key, equals, value = part.partition("=")
    if not equals:
        raise InvalidArgumentError(f"unknown option '{part}' of a picture", hint=_FORMS)
    return key, value


def _size(text: str) -> tuple[int, int]:
    parts = text.split(",")
    # The length comes first: Python refuses to read thousands of digits with an error of its own.
    are_short = all(part.isdecimal() and len(part) <= len(str(_LARGEST)) for part in parts)
    if len(parts) != 2 or not are_short or not all(0 < int(part) <= _LARGEST for part in parts):
        raise InvalidArgumentError(f"resize={text} is not a height and width from 1 to {_LARGEST}", hint=_FORMS)
    return int(parts[0]), int(parts[1])


def _factor(text: str) -> float:
    return factor(text, _FORMS)


def factor(text: str, hint: str) -> float:
    """Return the number that a decimal or a fraction of decimals such as `1/127.5` stands for."""
    try:
        parts = [_exact(part) for part in text.split("/")]
        (numerator, denominator) = parts if len(parts) == 2 else (*parts, Fraction(1))
        return float(numerator / denominator)
    except (ValueError, ArithmeticError):
        raise InvalidArgumentError(f"'{text}' is not a number or fraction", hint=hint) from None


def _exact(text: str) -> Fraction:
    """Return the fraction of a decimal in the range of a float; Fraction itself would write out all digits of 1e999999999."""
    number = Decimal(text)
    if not number.is_finite() or abs(number.adjusted()) > sys.float_info.max_10_exp:
        raise ValueError(f"{text} is out of range")
    return Fraction(number)
