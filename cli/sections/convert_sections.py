"""Tables of `--verify`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from ...core.support.words import counted
from .. import render

if TYPE_CHECKING:
    from ...core.transforms.inference_form import Decision
    from ...formats.api.verification import Verification

_SHOWN: Final = 6
"""The number of feeds that are shown."""


def verification_sections(verification: Verification, runtime: str | None = None) -> Iterator[render.Section]:
    """Yield the worst comparison of each value, the feeds, and feeds that only one of the two refuses.

    `runtime` is the library that ran a model of another kind, in a single step.
    """
    columns = ("largest difference", "passing tolerance", "passed")
    results = [(c, (c.largest_difference, c.tolerance_needed, c.passed)) for c in verification.comparisons]
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


def decision_sections(decisions: Sequence[Decision]) -> Iterator[render.Section]:
    """Yield what makes a graph an inference graph, and what is left to the user."""
    for title, is_left in (("for inference", False), ("left as it is", True)):
        rows = [(one.node, one.change, one.why) for one in decisions if one.is_left is is_left]
        if rows:
            yield render.Table(("node", "decision", "reason"), rows, title, "inference" if not is_left else "left")


def feeds_of(verification: Verification | None) -> dict[str, Any]:
    """Return the fields of a JSON document on the feeds of a verification."""
    return {} if verification is None else {"drawn": verification.drawn, "refusals": verification.refusals}


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
    kinds = list(dict.fromkeys(words))
    more = f"; and {len(kinds) - _SHOWN:,} other kinds" if len(kinds) > _SHOWN else ""
    return f"{'; '.join(kinds[:_SHOWN])}{more}"
