"""Samples of exhaustive sweeps: quick runs try some of the parameters, `-m slow` all others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def mostly_slow(parameters: Iterable[Any], every: int) -> list[Any]:
    """Mark all parameters of a test as slow, except for one of `every` many."""
    return [parameter if i % every == 0 else _slow(parameter) for i, parameter in enumerate(parameters)]


def _slow(parameter: Any) -> Any:
    if hasattr(parameter, "marks"):
        return pytest.param(*parameter.values, id=parameter.id, marks=(*parameter.marks, pytest.mark.slow))
    return pytest.param(*parameter if isinstance(parameter, tuple) else (parameter,), marks=pytest.mark.slow)
