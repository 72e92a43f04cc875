"""Pillow's images, opened and read: InvalidArgumentError where the data is damaged."""

from __future__ import annotations

import contextlib
import io
import struct
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ...runtime.state.run_context import reserve
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...support.optional_packages import extra_hint
from ...support.user_signals import pass_on
from ...types.arrays import Array

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
