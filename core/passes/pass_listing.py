"""The passes, collected from the modules beside this module and from the rooms, in the order of their runs; their facts."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from ..support import dataclasses
from ..support.display import Rows
from ..support.errors import NotFoundError
from ..support.grouping import grouped
from ..support.hints import Hint, step
from .base.accuracy import Accuracy
from .base.graph_pass import Pass

_FOLDER = pathlib.Path(__file__).parent


@functools.cache
def all_passes() -> tuple[type[Pass], ...]:
    """Return every pass, each directly behind the pass that it follows; NotFoundError for an unknown name in `follows`."""
    followers = grouped((kind.follows, kind) for kind in _defined())
    ordered = _behind("", followers)
    # No chain reaches a pass that follows none of the passes, which would never run and say nothing.
    if unknown := followers.keys() - {"", *(kind.name for kind in ordered)}:
        raise NotFoundError(f"unknown passes in `follows`: {', '.join(sorted(unknown))}")
    return tuple(ordered)


def _defined() -> list[type[Pass]]:
    for path in sorted(_FOLDER.rglob("[a-z]*.py")):
        # Imported for the classes: a pass is found because its module is there, and no list has to name it.
        import_module(".".join(("", *path.relative_to(_FOLDER).with_suffix("").parts)), __package__)
    # Only tfg's own: tests define passes, too.
    return [kind for kind in Pass.__subclasses__() if kind.__module__.startswith(f"{__package__}.")]


def _behind(name: str, followers: Mapping[str, Sequence[type[Pass]]]) -> list[type[Pass]]:
    """Return the passes that run behind a pass: of several followers, the follower with the shortest chain comes first."""
    # A single pass that follows another stands right after it; a longer chain comes later, so that neither is torn apart.
    chains = [[kind, *_behind(kind.name, followers)] for kind in followers.get(name, ())]
    return [kind for chain in sorted(chains, key=lambda chain: (len(chain), chain[0].name)) for kind in chain]


def find_pass(name: str) -> type[Pass]:
    """Return the pass with a name; NotFoundError lists the existing names."""
    for kind in all_passes():
        if kind.name == name:
            return kind
    names = [kind.name for kind in all_passes()]
    hint = Hint(step("list_passes"), " describes all passes")
    raise NotFoundError(f"unknown pass '{name}'; the passes are {', '.join(names)}", hint=hint)


@dataclasses.dataclass(frozen=True, slots=True)
class RuleFacts:
    """A rule of a pass."""

    name: str
    """The name, by which reports count the rewrites."""
    algebra: str
    """The expression before and after the rewrite."""
    accuracy: Accuracy
    """`exact`, `rounding` or `relaxed`: what the rule keeps for all numbers."""
    relaxed_where: str
    """Where only --fast-math allows the rule; "" for nowhere."""


@dataclasses.dataclass(frozen=True, slots=True)
class PassFacts:
    """A pass."""

    name: str
    """The name, which --passes takes."""
    summary: str
    """What the pass does."""
    default: bool
    """True for a pass that runs without being named."""
    options: Mapping[str, Any]
    """The options with their defaults, by name."""
    accuracy: tuple[Accuracy, ...]
    """The accuracies of the pass's rewrites."""
    rules: tuple[RuleFacts, ...]
    """The rules of the pass."""


def list_passes() -> Rows[PassFacts]:
    """Return all passes of `optimize` in their order, with options, accuracy classes and rules."""
    return Rows(map(_facts, all_passes()))


def _facts(kind: type[Pass]) -> PassFacts:
    rules = [rule for rules in kind.rule_sets for rule in rules.rules]
    return PassFacts(
        kind.name, kind.summary, kind.in_default_pipeline, kind.defaults(), kind.accuracies(),
        tuple(RuleFacts(rule.name, rule.algebra, rule.accuracy, rule.relaxed_where) for rule in rules),
    )  # fmt: skip
