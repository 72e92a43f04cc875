"""Image formats told apart by how their files begin, as the formats' own definitions say."""

from __future__ import annotations

from . import png

HEAD = 12
"""As many bytes tell."""


def image_kind(data: bytes) -> str:
    """The format of a file by its first bytes; '' for an unknown one."""
    if data.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if data.startswith(png.SIGNATURE[:4]):
        return "png"
    if data.startswith(b"GIF8"):
        return "gif"
    if data.startswith(b"BM"):
        return "bmp"
    return "webp" if data.startswith(b"RIFF") and data[8:12] == b"WEBP" else ""
