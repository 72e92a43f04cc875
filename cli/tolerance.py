"""The option `--tolerance` of all commands that compare values."""

from __future__ import annotations

from typing import Any, Final

from .options import Number
from .requests import option

TOLERANCE: Final = 1e-5
"""The default of --tolerance."""


def tolerance_option(compared: str, default: float | str = TOLERANCE, **rules: Any) -> Any:
    """--tolerance: the largest accepted difference, relative to the largest value; `default` is a text if the default
    varies.
    """
    number = default if isinstance(default, float) else None
    text = f"Largest difference that {compared} accepts, relative to the largest value. Default: {default}."
    return option(type=Number(0), default=number, help=text, **rules)
