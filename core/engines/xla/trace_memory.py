"""What traces of loops, conditionals and calls have found, for later traces: of a loop in a loop there are several.

Without this memory, each level of loops or calls would multiply the number of traces of the innermost.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from ...support import dataclasses
from .library import jax
from .list_programs import StackedElements, Unread


@dataclasses.dataclass
class TraceFinding:
    """What a trace with these values has found: the places of values, and of cells, that change inside."""

    values: Sequence[Any]
    varying: Sequence[int] = ()
    cells: Sequence[int] = ()


@dataclasses.dataclass
class TracedCall:
    """A call with values of one form: the program for it, from the second call on, where it `is_closed`."""

    values: Sequence[Any]
    is_closed: bool
    program: Any = None


class TraceMemory:
    """The findings of a program by the loop or conditional, its calls, and its results that follow from known values alone."""

    def __init__(self) -> None:
        self._findings: dict[Hashable, list[TraceFinding]] = {}
        self._calls: dict[Hashable, list[TracedCall]] = {}
        self._results: dict[Hashable, list[tuple[Sequence[Any], Any]]] = {}

    def findings(self, site: Hashable, values: Sequence[Any]) -> Iterable[TraceFinding]:
        """Return the findings of which all hold for `values`: a trace that knew as much or more found no change too many."""
        return [one for one in self._findings.get(site, ()) if _knows_all(one.values, values)]

    def note(self, site: Hashable, finding: TraceFinding) -> None:
        """Keep a finding, in place of an older one of the same values."""

        def is_replaced(one: TraceFinding) -> bool:
            return _knows_all(one.values, finding.values) and _knows_all(finding.values, one.values)

        self._findings[site] = [*(one for one in self._findings.get(site, ()) if not is_replaced(one)), finding]

    def call(self, site: Hashable, values: Sequence[Any]) -> TracedCall | None:
        """Return the call with values of the same form and the same constants, None for the first."""
        known = self._calls.get(site, ())
        return next((call for call in known if all(map(_is_same, call.values, values))), None)

    def note_call(self, site: Hashable, values: Sequence[Any], is_closed: bool) -> None:
        """Keep a first call."""
        self._calls.setdefault(site, []).append(TracedCall(values, is_closed))

    def once(self, site: Hashable, values: Sequence[Any], find: Callable[[], Any]) -> Any:
        """Return the result of `find` for known values; it is called once for the same values."""
        results = self._results.setdefault(site, [])
        for known, result in results:
            if all(a is b or (_is_constant(a) and _is_constant(b) and _equal(a, b)) for a, b in zip(known, values)):
                return result
        results.append((list(values), find()))
        return results[-1][1]


def _is_same(before: Any, after: Any) -> bool:
    """Return True where a program for one value is right for the other: equal constants, or arrays of one form."""
    if _is_constant(before) or _is_constant(after):
        return _is_constant(before) and _is_constant(after) and _equal(before, after)
    return same_form(before, after)


def same_form(a: Any, b: Any) -> bool:
    """Return True for trees of one structure whose arrays have the same shapes and dtypes."""
    return jax.tree.structure(a) == jax.tree.structure(b) and all(map(_alike, jax.tree.leaves(a), jax.tree.leaves(b)))


def _knows_all(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Return True where `before` has each constant that `after` has."""
    return len(before) == len(after) and all(_knows(a, b) for a, b in zip(before, after))


def _knows(before: Any, after: Any) -> bool:
    if before is after:
        return True
    if isinstance(before, StackedElements) or isinstance(after, StackedElements):
        return type(before) is type(after) and _knows_list(before, after)
    if isinstance(before, Unread) or isinstance(after, Unread):
        return bool(before == after)
    if hasattr(before, "value") and type(before) is type(after):  # a variable, a stack, an array of tensors
        return _knows(before.value, after.value)
    if _is_constant(before) and _is_constant(after):
        return _equal(before, after)
    is_array = isinstance(after, jax.Array) and isinstance(before, (jax.Array, np.ndarray, np.generic))
    return bool(is_array) and _alike(before, after)


def _knows_list(before: StackedElements, after: StackedElements) -> bool:
    """Return True where the earlier list is known as well; what it has room for is seen by no step."""
    length = isinstance(before.length, np.integer) and (
        not isinstance(after.length, np.integer) or before.length == after.length
    )
    traced = not isinstance(before.length, np.integer) and not isinstance(after.length, np.integer)
    constant = after.constant is None or (before.constant is not None and _equal(before.constant, after.constant))
    return before.dtype == after.dtype and (length or traced) and constant


def _is_constant(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def _equal(a: Any, b: Any) -> bool:
    return a.dtype == b.dtype and np.shape(a) == np.shape(b) and bool(np.array_equal(a, b))


def _alike(a: Any, b: Any) -> bool:
    return bool(a.dtype == b.dtype and np.shape(a) == np.shape(b))
