"""Facts about the passes: their options, accuracy classes and rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..support import dataclasses
from ..support.display import Rows
from .base.accuracy import Accuracy
from .base.graph_pass import Pass
from .order import all_passes


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
