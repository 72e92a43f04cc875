"""The option `--tolerance` of all commands that compare values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from .options import Number

_Command = TypeVar("_Command", bound=Callable[..., Any])

TOLERANCE: Final = 1e-5
"""The default of --tolerance."""


def tolerance_option(compared: str, default: float | str = TOLERANCE) -> Callable[[_Command], _Command]:
    """Add --tolerance: the largest accepted difference, relative to the largest value; `default` is a text if the default
    varies.
    """
    number = default if isinstance(default, float) else None
    text = f"Largest difference that {compared} accepts, relative to the largest value. Default: {default}."
    return click.option("--tolerance", type=Number(0), default=number, help=text)
