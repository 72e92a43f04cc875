"""`--verify`: the comparison of a graph of another batch with the graph of the old one, and the tables of comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ..core.support.words import counted
from . import render

if TYPE_CHECKING:
    from ..core.graph.graph import Graph
    from ..core.runtime.session.session import Session
    from ..formats.api.verification import Verification

_SHOWN: Final = 6
"""The number of feeds that are shown."""


def verified_batch(
    before: Graph, after: Graph, fetches: Sequence[str], open_session: Callable[[Graph], Session], quiet: bool
) -> list[Verification]:
    """Compare a graph of another batch with the graph of the old one; notes tell what cannot be compared."""
    from ..formats.api.verification import verify_batch

    result, left_out = verify_batch(before, after, fetches, open_session)
    for words in left_out:
        render.note(f"not compared with the old batch: {words}", quiet)
    return [result] if result is not None else []


def verification_sections(verification: Verification, runtime: str | None = None) -> Iterator[render.Section]:
    """Yield the worst comparison of each value, the feeds, and feeds that only one of the two refuses.

    `runtime` is the library that ran a model of another kind, in a single step.
    """
    columns = ("largest difference", "passing tolerance", "passed")
    results = [(c, (c.largest_difference, c.tolerance_needed, c.passed)) for c in verification.comparisons]
    # Another runtime computes one step: it has no variables that a second step would change.
    if runtime is None:
        title = f"verification over {counted(verification.steps, 'step')}"
        rows = [(c.fetch, c.step, *result) for c, result in results]
        yield render.Table(("fetch", "worst step", *columns), rows, title, "verification")
    else:
        outputs = [(c.fetch, *result) for c, result in results]
        yield render.Table(("output", *columns), outputs, f"{runtime} compared with tfg", "verification")
    yield render.Text("\n".join(_feeds(verification)))
    if verification.refusals:
        refusals = [(refusal.feeds, refusal.by, refusal.error) for refusal in verification.refusals]
        yield render.Table(("feeds", "refused only by", "error"), refusals, "refused by one of the two", "refusals")


def _feeds(verification: Verification) -> Iterator[str]:
    drawn = verification.drawn
    yield f"compared in {counted(len(drawn.compared), 'case')}: {_some(drawn.compared)}"
    if drawn.refused:
        yield f"{counted(len(drawn.refused), 'feed')} refused by both: {_some(drawn.refused)}"
    if drawn.accepted:
        alone = counted(len(drawn.accepted), "feed")
        yield f"{alone} taken by the rewrite alone, without an op that refuses: {_some(drawn.accepted)}"
    if drawn.undeclared:
        yield f"{counted(len(drawn.undeclared), 'feed')} beyond the sizes that the file declares: {_some(drawn.undeclared)}"
    if drawn.one_sided:
        yield f"only one side taken of: {_some(drawn.one_sided)}"


def _some(words: Sequence[str]) -> str:
    # Many feeds differ in their numbers alone, and read the same.
    kinds = list(dict.fromkeys(words))
    more = f"; and {len(kinds) - _SHOWN:,} other kinds" if len(kinds) > _SHOWN else ""
    return f"{'; '.join(kinds[:_SHOWN])}{more}"
