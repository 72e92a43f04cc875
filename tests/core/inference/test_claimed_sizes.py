"""Every recorded case with sizes that a file claims and no machine holds: an inference takes no longer."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests import opcases
from tests.core.inference.forgetting import claimed
from tfg.core.building.builder import GraphBuilder
from tfg.core.inference.inference import infer
from tfg.core.support.errors import TfgError

MOST_LINES = 3_000_000
"""Many times the lines of Python that the inference of any case executes, with the imports of SciPy."""


class TooManyLines(BaseException):
    """A block executes more lines than it may; no handler of exceptions catches this."""


@contextlib.contextmanager
def bounded(most: int) -> Iterator[None]:
    """Raise TooManyLines in a block that executes more lines of Python."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        if count > most:
            raise TooManyLines(f"{most:,} lines, the last of them {frame.f_code.co_filename}:{frame.f_lineno}")
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        yield
    finally:
        sys.settrace(before)


@pytest.mark.sampled(40)
@pytest.mark.parametrize("family", opcases.families())
def test_claimed_sizes_cost_nothing(family: str) -> None:
    for case in {case.op: case for case in opcases.load_cases(family)}.values():
        builder = GraphBuilder()
        with contextlib.suppress(TfgError):
            case.build(builder)
        specs = claimed(builder.graph, case.feeds)
        try:
            with contextlib.suppress(TfgError), bounded(MOST_LINES):
                infer(builder.graph, specs)
        except TooManyLines as error:
            pytest.fail(f"{case.key}: {error}")
