"""The accuracy of a rewritten graph's results, relative to the original's; and tables of rules with an accuracy class each."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ...graph.graph import Node, Output
from ...registry.op_facts import has_fact
from ...support import dataclasses
from ...types.dtypes import DType

# A few units in the last place of float32, which has 24 bits: 2^-23 is 1.2e-7.
_EXACT: Final = 1e-6
_ROUNDING: Final = 1e-4
_UNITS: Final = 16
"""The tolerated units in the last place: in half and bfloat16 more than `_ROUNDING`."""
_EPSILONS: Final = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


class Accuracy(enum.StrEnum):
    """The class of a rewrite, by the worst possible change of a floating-point result. Integer results stay the same."""

    EXACT = "exact"
    """The same bits; all NaNs count as equal."""
    ROUNDING = "rounding"
    """A few units in the last place of the operands, or the sign of a zero. Finite, infinite and NaN keep their kinds."""
    RELAXED = "relaxed"
    """Digits may cancel, and a finite result may become infinite or NaN, or the reverse. Only fast math allows the change."""

    @property
    def rank(self) -> int:
        """The rank of the class: 0 for exact, and more for looser classes."""
        return list(Accuracy).index(self)


def loosest(classes: Iterable[Accuracy]) -> Accuracy:
    """Return the class that promises least; exact if there is none."""
    return max(classes, key=lambda one: one.rank, default=Accuracy.EXACT)


def tolerance_of(accuracy: Accuracy, dtype: np.dtype[Any]) -> float:
    """Return the tolerance, relative to the largest element, for a result of rewrites of a class.

    The tolerance of exact rewrites is not 0: in another graph a kernel may add in another order.
    """
    # In half 16 units are 1.6e-2, in bfloat16 0.125: more than any tolerance that float32 could share with them.
    return _EXACT if accuracy is Accuracy.EXACT else max(_ROUNDING, _UNITS * _EPSILONS.get(dtype.name, 0))


RuleFunction = Callable[[Any, Node], Output | str | None]
"""A function (rewriter, node) -> the replacement of the first output, the reason not to replace it, or None."""


@dataclasses.dataclass(frozen=True, eq=False)
class Rule:
    """A rule with an algebraic notation, for example `x * 1 -> x`.

    `accuracy` is the class of the rule. With `relaxed_where` the rule is relaxed under the condition, and asks
    `Rewriter.may_relax` there. With `reads` the rule is tried only at nodes that read a result of one of these ops.
    """

    name: str
    algebra: str
    ops: Sequence[str]
    fact: str
    function: RuleFunction
    accuracy: Accuracy
    relaxed_where: str = ""
    reads: Collection[str] = ()

    def is_for(self, op: str) -> bool:
        """Return True if the rule may start from nodes of this type."""
        return op in self.ops or (bool(self.fact) and has_fact(op, self.fact))

    def accuracy_with(self, numbers: Numbers) -> Accuracy:
        """Return the class at a node of such numbers: integers never change, and an exact rule may round complex numbers."""
        # A complex product is a sum of four real products. Exact identities of real numbers hold for it only up to the
        # rounding of the sum and the signs of zeros.
        if self.accuracy is Accuracy.EXACT and numbers.are_complex:
            return Accuracy.ROUNDING
        return self.accuracy if numbers.round else Accuracy.EXACT

    @property
    def classes(self) -> str:
        """Return the class in words, with the condition under which the rule is relaxed."""
        return f"{self.accuracy}; relaxed where {self.relaxed_where}" if self.relaxed_where else str(self.accuracy)


def rounds(node: Node) -> bool:
    """Return True for a node that takes or gives floating-point or complex numbers."""
    return numbers_at(node).round


def numbers_at(node: Node) -> Numbers:
    """Return the numbers that a node takes or gives."""
    return _numbers((*node.output_dtypes, *node.input_dtypes()))


@functools.lru_cache(1000)
def _numbers(dtypes: tuple[DType | None, ...]) -> Numbers:
    known = [dtype for dtype in dtypes if dtype is not None]
    are_complex = any(dtype.is_complex for dtype in known)
    return Numbers(are_complex or any(dtype.is_floating for dtype in known), are_complex)


class Numbers(NamedTuple):
    """The numbers that a node takes or gives: whether any of them round, and whether any are complex."""

    round: bool
    are_complex: bool


class RuleSet:
    """Rules by root op, in the order of the attempts."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rules = list(rules)
        self._by_op: dict[str, list[Rule]] = {}

    def rule(
        self, *ops: str, fact: str = "", algebra: str, accuracy: Accuracy, relaxed_where: str = "", reads: Collection[str] = ()
    ) -> Callable[[RuleFunction], RuleFunction]:
        """Register a function, by its name, as a rule for nodes of type `ops`, and of the types with a `fact`.

        The ops that a rule `reads` decide for most nodes of a large graph, and hardly any rule is called for nothing.
        """

        def register(function: RuleFunction) -> RuleFunction:
            name = function.__name__.replace("_", "-")
            self.rules.append(Rule(name, algebra, ops, fact, function, accuracy, relaxed_where, reads))
            return function

        return register

    def of(self, op: str) -> Sequence[Rule]:
        """Return the rules for nodes of a type, cached at first use."""
        if op not in self._by_op:
            self._by_op[op] = [rule for rule in self.rules if rule.is_for(op)]
        return self._by_op[op]
