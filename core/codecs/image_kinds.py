"""Detection of image formats by the first bytes of files, as defined by the formats."""

from __future__ import annotations

from . import png

HEAD = 12
"""The number of leading bytes that identify the format."""


def image_kind(data: bytes) -> str:
    """Return the format of a file by the file's first bytes; '' for an unknown format."""
    if data.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if data.startswith(png.SIGNATURE[:4]):
        return "png"
    if data.startswith(b"GIF8"):
        return "gif"
    if data.startswith(b"BM"):
        return "bmp"
    return "webp" if data.startswith(b"RIFF") and data[8:12] == b"WEBP" else ""
