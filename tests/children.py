"""Work in a forked copy of the test process."""

from __future__ import annotations

import os
from collections.abc import Callable


def fork_to(work: Callable[[], object]) -> int:
    """Start a copy of this process for `work` and return its number; it exits with 0 if `work` returns True, else with 1.

    An error ends the copy too: one that came up to pytest would have the copy go on with all tests.
    """
    child = os.fork()
    if not child:
        code = 1
        try:
            code = 0 if work() is True else 1
        finally:
            os._exit(code)
    return child
