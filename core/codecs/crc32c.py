"""CRC-32C (Castagnoli), the checksum of TensorFlow's tables, bundles and records, computed by the package google-crc32c.

Polynomial: Castagnoli, Braeuer and Herrmann, IEEE Trans. Commun. 41 (1993), also in RFC 3720; the mask is LevelDB's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

Buffer = bytes | bytearray | memoryview

_MASK_DELTA = 0xA282EAD8
"""The number that TFRecord and LevelDB add to a rotated checksum."""
_COPIED = 1 << 20
"""The size, in bytes, of the pieces that google-crc32c gets: the library takes `bytes` only, so a view is copied."""


def crc32c(data: Buffer, crc: int = 0) -> int:
    """Return the checksum of `data`; `crc` is the checksum of preceding data."""
    extend = _extend()
    if isinstance(data, bytes):
        return extend(crc, data)
    view = memoryview(data).cast("B")
    for start in range(0, len(view), _COPIED):
        crc = extend(crc, bytes(view[start : start + _COPIED]))
    return crc


@functools.cache
def _extend() -> Callable[[int, bytes], int]:
    """Return google-crc32c's function (checksum before, data) -> checksum, imported when the first checksum is computed."""
    import google_crc32c

    extend: Callable[[int, bytes], int] = google_crc32c.extend
    return extend


def mask(crc: int) -> int:
    """Return the masked checksum stored in files; masking keeps checksums of data that contains checksums sound."""
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & 0xFFFFFFFF


def masked_crc32c(data: Buffer) -> int:
    """Return the masked checksum of `data`."""
    return mask(crc32c(data))
