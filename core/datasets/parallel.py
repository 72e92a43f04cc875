"""Functions called for several elements at a time, by threads that are done when the call is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from ..parallel.gemm import divide
from ..runtime.state.run_context import current
from .dataset import Element

Outcome = Element | Exception | None
WORTH_THREADS: Final = 1e-3
"""Seconds that an element takes at least, if a thread is to make others meanwhile: a thread is awake after 0.1 ms, and what
takes less works on small arrays, so that threads only take turns of Python.
"""


def outcomes(
    function: Callable[[Element], Element | None], elements: Sequence[Element | Exception], most: int
) -> list[Outcome]:
    """What a function without state makes of each element, or its error, in their order; errors stay what they are.

    At most so many calls are made at a time (-1: as many as there are threads), and only where the first took long. A run with
    a hook, which is to see one kernel after the other, makes one at a time.
    """
    found: list[Outcome] = [None] * len(elements)

    def call(place: int) -> None:
        element = elements[place]
        try:
            found[place] = element if isinstance(element, Exception) else function(element)
        except Exception as error:
            found[place] = error

    run, begun = current(None), time.perf_counter()
    if elements:
        call(0)
    is_slow, others = time.perf_counter() - begun > WORTH_THREADS, range(1, len(elements))
    if not is_slow or run is None or run.hook is not None or run.reserve is not None:
        for place in others:
            call(place)
        return found

    def call_apart(place: int) -> None:
        with run.part():
            call(place)

    divide(call_apart, others, most if most > 0 else None)
    return found
