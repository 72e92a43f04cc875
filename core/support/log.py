"""Progress messages of tfg, by standard logging under the name `tfg`.

A listener has imported `logging`. This module does not, since the import would be a good part of the start-up.
"""

from __future__ import annotations

import sys
import time
from typing import Final

from .escaping import masked

NAME: Final = "tfg"
DEBUG: Final = 10
INFO: Final = 20
"""Levels, as `logging` numbers them."""


def tell(message: str, *values: object, level: int = INFO) -> None:
    """Tell something; `values` are put into the message if somebody listens, as by `%`, without credentials."""
    logging = sys.modules.get("logging")
    if logging is not None and logging.getLogger(NAME).isEnabledFor(level):
        shown = (masked(value) if isinstance(value, str) else value for value in values)
        logging.getLogger(NAME).log(level, message, *shown)


def is_told(level: int = INFO) -> bool:
    """Return True if a listener gets messages of this level."""
    logging = sys.modules.get("logging")
    return logging is not None and logging.getLogger(NAME).isEnabledFor(level)


class Stopwatch:
    """A timer that logs the elapsed time at the end."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def tell(self, message: str, *values: object, level: int = INFO) -> None:
        """Log a message as `tell`, with the time since the start at the end."""
        tell(f"{message} in %.3f s", *values, time.perf_counter() - self._start, level=level)
