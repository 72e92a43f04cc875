"""Divisions and powers in array programs; integer operands that NumPy refuses are left to NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def divided(whole: str, real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a division: of integers by the function `whole` of the namespace, where no divisor is 0; of others by `real`."""

    def call(xla: Any, x: Any, y: Any) -> Any:
        if not _is_whole(y):
            return real(xla, x, y)
        xla.require((y != 0).all())
        return getattr(xla, whole)(x, y)

    return call


def power(xla: Any, x: Any, y: Any) -> Any:
    """Return x to the power of y; integers need y >= 0."""
    if _is_whole(y):
        xla.require((y >= 0).all())
    return xla.power(x, y)


def _is_whole(x: Any) -> bool:
    return bool(x.dtype.kind in "iu")
