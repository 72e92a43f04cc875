"""Tables of `--verify`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ...core.support.words import counted
from ...formats.api.verification import Verification
from .. import render

_SHOWN: Final = 6
"""The number of feeds that are shown."""


def verification_sections(verification: Verification, runtime: str | None = None) -> Iterator[render.Section]:
    """Yield the worst comparison of each value, the feeds, and feeds that only one of the two refuses.

    `runtime` is the library that ran a model of another kind, in a single step.
    """
    rows = [(c.fetch, c.step, c.largest_difference, c.tolerance_needed, c.passed) for c in verification.comparisons]
    columns = ("fetch", "worst step", "largest difference", "passing tolerance", "passed")
    title = f"verification over {counted(verification.steps, 'step')}"
    if runtime is not None:
        columns, rows = ("output", *columns[2:]), [(row[0], *row[2:]) for row in rows]
        title = f"{runtime} compared with tfg"
    yield render.Table(columns, rows, title, "verification")
    yield render.Text("\n".join(_feeds(verification)))
    if verification.refusals:
        refusals = [(refusal.feeds, refusal.by, refusal.error) for refusal in verification.refusals]
        yield render.Table(("feeds", "refused only by", "error"), refusals, "refused by one of the two", "refusals")


def feeds_of(verification: Verification | None) -> dict[str, Any]:
    """Return the fields of a JSON document on the feeds of a verification."""
    return {} if verification is None else {"drawn": verification.drawn, "refusals": verification.refusals}


def _feeds(verification: Verification) -> Iterator[str]:
    drawn = verification.drawn
    yield f"compared on {counted(len(drawn.compared), 'feed')}: {_some(drawn.compared)}"
    if drawn.refused:
        yield f"{counted(len(drawn.refused), 'feed')} refused by both: {_some(drawn.refused)}"
    if drawn.undeclared:
        yield f"{counted(len(drawn.undeclared), 'feed')} beyond the sizes that the file declares: {_some(drawn.undeclared)}"
    if drawn.one_sided:
        yield f"only one side taken of: {_some(drawn.one_sided)}"


def _some(words: Sequence[str]) -> str:
    kinds = list(dict.fromkeys(words))
    more = f"; and {len(kinds) - _SHOWN:,} other kinds" if len(kinds) > _SHOWN else ""
    return f"{'; '.join(kinds[:_SHOWN])}{more}"
