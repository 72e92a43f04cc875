"""Work in a forked copy of the test process."""

from __future__ import annotations

import os
from collections.abc import Callable


def fork_to(work: Callable[[], object]) -> int:
    """Fork this process for `work` and return the child's id; the child exits with 0 if `work` returns True, else with 1.

    An error ends the child too: an error that reached pytest would let the child run all further tests.
    """
    child = os.fork()
    if not child:
        code = 1
        try:
            code = 0 if work() is True else 1
        finally:
            os._exit(code)
    return child
