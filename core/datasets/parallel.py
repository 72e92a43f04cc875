"""Functions called for several elements at a time, by threads that are done when the call is."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import Final

from ..parallel.work_division import divide
from ..runtime.state.run_context import current
from .dataset import Element

Outcome = Element | Exception | None
WORTH_THREADS: Final = 1e-3
"""Least seconds for an element before threads make others meanwhile. A thread wakes up after 0.1 ms, and a shorter element
works on small arrays, for which threads only take turns of Python.
"""


def outcome_of(pull: Callable[[], Element | None]) -> Outcome:
    """Return the next element, or the error raised by the pull."""
    try:
        return pull()
    except Exception as error:
        return error


def outcomes(
    function: Callable[[Element], Element | None], elements: Sequence[Element | Exception], most: int
) -> list[Outcome]:
    """Return a function's result for each element, or the error, in order; an error in the input stays in place.

    At most `most` calls are made at a time (-1: the number of threads), and only where the first call took long. A run with
    a hook makes a single call at a time, since the hook must see kernels in order.
    """
    results: list[Outcome] = [None] * len(elements)

    def call(place: int) -> None:
        element = elements[place]
        results[place] = element if isinstance(element, Exception) else outcome_of(functools.partial(function, element))

    run, begun = current(None), time.perf_counter()
    if elements:
        call(0)
    is_slow, others = time.perf_counter() - begun > WORTH_THREADS, range(1, len(elements))
    if not is_slow or run is None or run.hook is not None or run.reserve is not None:
        for place in others:
            call(place)
        return results

    def call_apart(place: int) -> None:
        with run.part():
            call(place)

    divide(call_apart, others, most if most > 0 else None)
    return results
