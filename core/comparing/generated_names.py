"""Names that TensorFlow makes unique: a number behind an underscore, a UUID, an address."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

NAMING: Final = frozenset(("shared_name", "container", "debug_name"))
"""The attributes that name a resource."""
_NUMBER: Final = re.compile(r"(?:[_-]|^)(\d+)(?=[_/]|$)")
"""The number of `dense_1/kernel_12`, `__inference_call_116`, `while_body_7_const_0` and `CustomGradient-33`."""
_MOST_DIGITS: Final = 18
_UUID: Final = re.compile(r"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}|\b0x[0-9a-f]{6,16}\b")
"""A UUID, or the address of a Python object in a name made of its `repr`."""

_UUID_BYTES: Final = re.compile(_UUID.pattern.encode())


def stem(name: str) -> str:
    """Return a name without the numbers, UUIDs and addresses that make the name unique."""
    return _NUMBER.sub("", _UUID.sub("", name))


def numbers(name: str) -> tuple[int, ...]:
    """Return the numbers that `stem` drops: the order in which TensorFlow made names of one stem.

    Of a longer number than any counter reaches, the last digits; Python refuses to read thousands of digits.
    """
    return tuple(int(digits[-_MOST_DIGITS:]) for digits in _NUMBER.findall(name))


def common_names(before: Collection[str], after: Collection[str]) -> Iterator[str]:
    """Yield the names of both collections that identify the same object.

    Where only one collection has a name of a stem, all names of the stem may be numbered anew, and none is yielded.
    """
    renumbered = {stem(name) for names, others in ((before, after), (after, before)) for name in names if name not in others}
    return (name for name in before if name in after and (not renumbered or stem(name) not in renumbered))


def without_uuids(text: bytes) -> bytes:
    """Return a text with the same text in place of each UUID: TensorFlow's savers name their temporary folders by one."""
    return _UUID_BYTES.sub(b"UUID", text)
