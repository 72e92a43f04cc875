"""What a fuzzer found: which error, at which place of tfg."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any
from unittest import mock

import tfg
from tests.fuzz.bounds import TooSlow
from tfg.core.inference import error_context
from tfg.core.passes import pipeline
from tfg.core.support.errors import InternalError, TfgError

_ROOT = os.path.dirname(os.path.abspath(tfg.__file__ or "."))


@dataclasses.dataclass(frozen=True)
class Finding:
    """An error that is a fault of tfg: its kind, the innermost line of tfg it came through, and what was done."""

    place: str
    kind: str
    message: str
    part: str
    details: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Findings with one key have one cause."""
        return self.place, self.kind

    def __str__(self) -> str:
        return f"{self.place}: {self.kind}: {self.message} (in {self.part})"


def attempt(action: Callable[[], object], part: str) -> Finding | None:
    """What is wrong with how `action` ends, None for a result and for a TfgError that is no fault of tfg's.

    Faults behind which tfg goes on (a shape function that fails is a reason why a shape is unknown) are faults too.
    """
    with _recorded() as result:
        try:
            action()
        except TfgError as error:
            if isinstance(error, InternalError):
                result.append(error.__cause__ or error)
        except (Exception, TooSlow) as error:
            result.append(error)
    return _finding(result[0], part) if result else None


@contextlib.contextmanager
def _recorded() -> Iterator[list[BaseException]]:
    """The errors for which `faults.fault` is asked for an InternalError, as they come."""
    results: list[BaseException] = []
    make = error_context.fault

    def fault(*args: Any) -> InternalError:
        made = make(*args)
        results.append(sys.exception() or made)
        return made

    with contextlib.ExitStack() as stack:
        for module in (error_context, pipeline):
            stack.enter_context(mock.patch.object(module, "fault", fault))
        yield results


def _finding(error: BaseException, part: str) -> Finding:
    trace = "".join(traceback.format_exception(error))
    return Finding(_place(error.__traceback__), type(error).__name__, str(error)[:300], part, trace)


def _place(trace: TracebackType | None) -> str:
    """The innermost frame in tfg's own files."""
    frames = traceback.extract_tb(trace)
    inside = [f for f in frames if f.filename.startswith(_ROOT) and f"{os.sep}tests{os.sep}" not in f.filename]
    if not inside:
        return "outside tfg"
    last = inside[-1]
    return f"{os.path.relpath(last.filename, _ROOT)}:{last.lineno} {last.name}"
