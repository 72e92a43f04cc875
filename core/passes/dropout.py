"""Dropout that is switched off: the value before it takes the place of what it keeps by chance and scales."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import ClassVar, Final, NamedTuple

import ml_dtypes

from ..graph.callers import called_functions
from ..graph.frames import ENTER
from ..graph.graph import Graph, Node, Output
from ..graph.purity import change_blocker
from ..graph.traversal import closure, trail_end
from ..registry.op_facts import has_fact
from ..support.errors import InvalidArgumentError
from ..types.shapes import merge_shapes
from .base.accuracy import Accuracy
from .base.graph_pass import Pass, PassContext
from .function_bodies import ChangedBody
from .rules.uniform_draws import draw_of, factors, is_draw, number, rounded_down, summands

_CAST: Final = "Cast"
_RULE: Final = "dropout of "
_UNITS: Final = 4
"""The distances from 1 to the next number by which two ways of computing the kept part may differ."""
_NEAR: Final = 1e-3
"""The distance of numbers of alpha dropout from those that their formulas give."""
_DEEP: Final = 4
"""The subtractions, and the factors, that a dropout has at most."""


class RemoveDropout(Pass):
    """Replace dropout by the value before it, as TensorFlow does outside of training, also in functions.

    Dropout keeps each element if a draw from [0, 1) says so, and divides by the part that it keeps on average. What a
    draw chooses without that division stays, because its average would change. Gaussian dropout multiplies by a normal draw
    of mean 1, and alpha dropout puts a constant in the place of elements, and restores their mean and variance.
    """

    name: ClassVar[str] = "remove_dropout"
    summary: ClassVar[str] = "switch dropout off, as outside of training"
    follows: ClassVar[str] = "strip_debug"
    in_default_pipeline: ClassVar[bool] = False
    accuracy: ClassVar[Accuracy] = Accuracy.RELAXED
    assumes: ClassVar[bool] = True

    def run(self, graph: Graph, ctx: PassContext) -> None:
        if _draws(graph):
            self._run_here(graph, ctx)
        if not ctx.function:
            self._run_in_functions(graph, ctx)
            counts = [f"{count:,} of {rule.removeprefix(_RULE)}" for rule, count in ctx.fired.items() if _RULE in rule]
            ctx.notes += [f"dropout is off: {', '.join(counts)}"] if counts else []

    def _run_here(self, graph: Graph, ctx: PassContext) -> None:
        # From the end, since the division may come behind the mask: the dropout is removed as a whole.
        for node in reversed(ctx.order()):
            dropout = _dropout_at(ctx, node) if graph.get(node.name) is node else None
            if dropout is None or not self._is_off(dropout):
                continue
            sources = [value.node for value in node.inputs]
            if (reader := _other_reader(ctx, node, dropout)) is not None:
                ctx.refuse("dropout", node, f"'{reader.name}' reads its mask, too")
            elif ctx.replace(node, dropout.value, dropout.rule, f"bypassed: {dropout.rule} is off"):
                _drop_unread(graph, ctx, sources)
        # A mask whose dropout had to stay is told of already.
        for node in () if ctx.refusals else graph:
            if _kept_by(ctx, node) is not None:
                ctx.refuse("dropout", node, "it chooses by chance, and nothing divides by the part that it keeps")

    def _is_off(self, dropout: _Dropout) -> bool:
        """Return True for dropout to remove."""
        return True

    def _run_in_functions(self, graph: Graph, ctx: PassContext) -> None:
        # Sorted, since a set has another order in each process, and the report must not.
        for name in sorted(called_functions(graph, graph)):
            function = graph.functions[name]
            if not _draws(function.pattern.body):
                continue
            if (reason := change_blocker(graph, function)) is not None:
                ctx.refuse("dropout", name, reason)
            else:
                ChangedBody(graph, ctx, name, {}).run([self])


class RemoveEmptyDropout(RemoveDropout):
    """Remove dropout of rate 0, which keeps all elements in every run, bit for bit."""

    accuracy: ClassVar[Accuracy] = Accuracy.EXACT
    assumes: ClassVar[bool] = False

    def _is_off(self, dropout: _Dropout) -> bool:
        return dropout.kept == dropout.divisor == _ALL


def _draws(graph: Graph) -> bool:
    return any(map(is_draw, graph))


def _other_reader(ctx: PassContext, node: Node, dropout: _Dropout) -> Node | None:
    """Return a node that reads the draw of a dropout at `node`, and is no part of dropout.

    Without the dropout it would still read the mask, as a gradient does, or run on numbers of another turn.
    """

    def before(one: Node) -> list[Node]:
        is_start = one is dropout.value.node or is_draw(one)
        return [] if is_start else [value.node for value in one.inputs]

    reached = closure(before(node), before)
    pending = [one for one in reached if is_draw(one)]
    seen = {node, *pending}
    while pending:
        one = pending.pop()
        for user in one.uses.keys() - seen:
            seen.add(user)
            if _dropout_at(ctx, user) is not None:
                continue
            if not _hands_on(ctx, user):
                return user
            pending.append(user)
    return None


def _hands_on(ctx: PassContext, node: Node) -> bool:
    """Return True for a node that may stand between a draw and the end of dropout."""
    if not node.output_dtypes:
        return False
    if node.is_identity or node.op in (_CAST, *ENTER) or factors(node) or summands(node) or _is_rest(ctx, node):
        return True
    return _kept_by(ctx, node) is not None or _plain_factor(ctx, node.output()) is not None


def _drop_unread(graph: Graph, ctx: PassContext, nodes: Iterable[Node]) -> None:
    """Remove the nodes, and those before them, that only dropout has read; also a draw."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        is_needed = node.uses or ctx.is_preserved(node) or node.is_placeholder or node.is_argument
        if graph.get(node.name) is node and not is_needed and (is_draw(node) or not ctx.acts(node)):
            pending += [value.node for value in node.inputs]
            graph.remove_node(node)
            ctx.fire("unread", node, "removed: only dropout read it")


class _Line(NamedTuple):
    """The number `factor` * `source` + `offset`."""

    factor: float
    offset: float
    source: Output | None
    is_near: bool = False
    """True for the part of the draws below a limit of this size, where draws that equal the limit count too."""

    @property
    def rest(self) -> _Line:
        """What the number leaves of 1."""
        return self._replace(factor=-self.factor, offset=1 - self.offset)

    @property
    def words(self) -> str:
        return f"{self.offset:.3g}" if self.source is None else f"by '{self.source.node.name}'"


_ALL: Final = _Line(0, 1, None)


class _Dropout(NamedTuple):
    """A value before dropout, the part that is kept on average, and the number that it is divided by."""

    value: Output
    kept: _Line
    divisor: _Line

    @property
    def rule(self) -> str:
        return f"{_RULE}rate {self.kept.rest.words}"


class _Factor(NamedTuple):
    """A value, and what it is multiplied by: a mask that keeps a part on average, the inverse of a number, or both."""

    value: Output
    kept: _Line | None = None
    divisor: _Line | None = None


def _dropout_at(ctx: PassContext, node: Node) -> _Dropout | None:
    """Return the dropout that ends at a node: a mask that keeps all elements needs no division."""
    if len(node.output_dtypes) != 1 or not node.output_dtypes[0].is_floating:
        return None
    dropout = _scaled_dropout(ctx, node) or _alpha_dropout(ctx, node) or _gaussian_dropout(ctx, node)
    return dropout if dropout is not None and _fits(ctx, dropout.value, node.output()) else None


def _scaled_dropout(ctx: PassContext, node: Node) -> _Dropout | None:
    """Return the dropout that divides by the part that it keeps."""
    value, kept, divisor, result = node.output(), None, None, None
    for _ in range(_DEEP):
        factor = _factor(ctx, value)
        if factor is None or (kept and factor.kept) or (divisor and factor.divisor):
            break
        value, kept, divisor = factor.value, kept or factor.kept, divisor or factor.divisor
        if kept is not None and _is_same(kept, divisor or _ALL, value):
            result = _Dropout(value, kept, divisor or _ALL)
    return result


def _gaussian_dropout(ctx: PassContext, node: Node) -> _Dropout | None:
    """Return the dropout that multiplies by draws of mean 1 and variance rate / (1 - rate), as in Srivastava et al. 2014."""
    for value, by in factors(node):
        for spread, mean in summands(by.node):
            deviation = _deviation(ctx, spread)
            if deviation is not None and number(ctx, mean) == 1 and not ctx.is_fed(by):
                # The variance is rate / (1 - rate), so the kept part 1 - rate is 1 / (1 + variance).
                kept = _Line(0, 1 / (1 + deviation**2), None)
                return _Dropout(value, kept, kept)
    return None


def _deviation(ctx: PassContext, spread: Output) -> float | None:
    """Return the number by which draws of deviation 1 are multiplied."""
    if ctx.is_fed(spread):
        return None
    if has_fact(spread.node.op, "unit_normal"):
        return 1
    draws = (by for drawn, by in factors(spread.node) if has_fact(drawn.node.op, "unit_normal") and not ctx.is_fed(drawn))
    return next((number(ctx, by) for by in draws), None)


def _alpha_dropout(ctx: PassContext, node: Node) -> _Dropout | None:
    """Return the dropout a (mask x + (1 - mask) c) + b, which keeps mean 0 and variance 1, as in Klambauer et al. 2017."""
    for scaled, shift in summands(node):
        for mixed, scale in factors(scaled.node):
            for kept_part, other_part in summands(mixed.node):
                parts = _mixed(ctx, kept_part, other_part)
                if any(map(ctx.is_fed, (scaled, mixed, kept_part, other_part))) or parts is None:
                    continue
                value, kept, other = parts
                # The formulas of Klambauer et al. for c = other: a restores variance 1, b mean 0.
                a = (kept.offset * (1 + (1 - kept.offset) * other**2)) ** -0.5 if kept.offset > 0 else math.nan
                if _is_near(number(ctx, scale), a) and _is_near(number(ctx, shift), -a * other * (1 - kept.offset)):
                    return _Dropout(value, kept, kept)
    return None


def _mixed(ctx: PassContext, kept_part: Output, other_part: Output) -> tuple[Output, _Line, float] | None:
    """Return x, the part that the mask keeps, and c of mask x and (1 - mask) c."""
    for value, mask in factors(kept_part.node):
        kept = _kept(ctx, mask)
        for rest, by in factors(other_part.node) if kept is not None and kept.source is None else ():
            other = number(ctx, by)
            is_rest = _is_rest(ctx, rest.node) and not ctx.is_fed(rest)
            if is_rest and other is not None and rest.node.inputs[1] == mask:
                assert kept is not None
                return value, kept, other
    return None


def _is_rest(ctx: PassContext, node: Node) -> bool:
    """Return True for what a number, or a mask, leaves of 1."""
    return has_fact(node.op, "subtraction") and number(ctx, node.inputs[0]) == 1


def _is_near(value: float | None, expected: float) -> bool:
    """Return True for a number that a graph has in the precision of half floats at least."""
    return value is not None and abs(value - expected) <= _NEAR * max(1, abs(expected))


def _is_same(kept: _Line, divisor: _Line, value: Output) -> bool:
    assert value.dtype is not None
    nearby = _UNITS * float(ml_dtypes.finfo(value.dtype.base.numpy).eps)
    # The factors and the sources are equal; the offsets are computed by two ways, and may differ by roundings.
    return kept[::2] == divisor[::2] and abs(kept.offset - divisor.offset) <= nearby


def _fits(ctx: PassContext, value: Output, result: Output) -> bool:
    """Return False if the mask gives the value another shape."""
    try:
        merge_shapes(ctx.shape(value), ctx.shape(result))
    except InvalidArgumentError:
        return False
    return True


def _factor(ctx: PassContext, value: Output) -> _Factor | None:
    """Return a value and its factor if a node multiplies by a mask, divides by a number, or both."""
    plain = _plain_factor(ctx, value)
    if plain is not None or ctx.is_fed(value):
        return plain
    for one, by in factors(value.node):
        inner = _plain_factor(ctx, by)
        if inner is not None and inner.kept is not None and (divisor := _inverse(ctx, inner.value)) is not None:
            return _Factor(one, inner.kept, divisor)
        if inner is not None and inner.divisor is not None and (kept := _kept(ctx, inner.value)) is not None:
            return _Factor(one, kept, inner.divisor)
    return None


def _plain_factor(ctx: PassContext, value: Output) -> _Factor | None:
    """Return a value and its factor if a node multiplies by a mask or divides by a number."""
    node = value.node
    if ctx.is_fed(value):
        return None
    if node.op in ("Select", "SelectV2"):
        return _selected(ctx, node)
    if has_fact(node.op, "division"):
        return _Factor(node.inputs[0], divisor=_line(ctx, node.inputs[1]))
    for one, by in factors(node):
        kept, divisor = _kept(ctx, by), _inverse(ctx, by)
        if kept is not None or divisor is not None:
            return _Factor(one, kept, divisor)
    return None


def _selected(ctx: PassContext, node: Node) -> _Factor | None:
    """Return the value that a mask chooses, if the others are zero."""
    condition, one, other = node.inputs
    kept = _kept(ctx, condition)
    if kept is None:
        return None
    if _is_zero(ctx, other):
        return _Factor(one, kept)
    return _Factor(other, kept.rest) if _is_zero(ctx, one) else None


def _is_zero(ctx: PassContext, value: Output) -> bool:
    return number(ctx, value) == 0 or value.node.op == "ZerosLike" or ctx.is_filled(value, 0)


def _kept(ctx: PassContext, mask: Output) -> _Line | None:
    """Return the part that a mask keeps on average, if it compares with a draw or rounds it."""
    mask = _origin(ctx, mask)
    mask = _origin(ctx, mask.node.inputs[0]) if mask.node.op == _CAST and not ctx.is_fed(mask) else mask
    return None if ctx.is_fed(mask) else _kept_by(ctx, mask.node)


def _kept_by(ctx: PassContext, node: Node) -> _Line | None:
    """Return the part that a node keeps, which compares with a draw or rounds it."""
    return _kept_by_comparing(ctx, node) or _kept_by_rounding(ctx, node)


def _kept_by_comparing(ctx: PassContext, node: Node) -> _Line | None:
    """Return the part of draws for which a comparison with a number is true."""
    is_less = has_fact(node.op, "less")
    if not is_less and not has_fact(node.op, "greater"):
        return None
    draws = [draw_of(ctx, value, ENTER) for value in node.inputs]
    if draws.count(None) != 1:
        return None
    # A draw from [0, 1) lies below p with probability p, and above with 1 - p.
    limit, is_below = _line(ctx, node.inputs[draws.index(None)]), is_less is (draws[1] is None)
    # Where equal numbers count on this side, the part is larger by the probability of one draw; both spellings of a mask mean
    # the same rate.
    limit = limit._replace(is_near=has_fact(node.op, "true_of_equals") is is_below)
    return limit if is_below else limit.rest


def _kept_by_rounding(ctx: PassContext, node: Node) -> _Line | None:
    """Return p of floor(p + draw)."""
    rounded = rounded_down(node)
    added = _origin(ctx, rounded) if rounded is not None else None
    if added is None or ctx.is_fed(added):
        return None
    return next((_line(ctx, part) for part, drawn in summands(added.node) if draw_of(ctx, drawn, ENTER) is not None), None)


def _inverse(ctx: PassContext, value: Output) -> _Line | None:
    """Return the number by which a product with a value divides."""
    value = _origin(ctx, value)
    known = number(ctx, value)
    if known is not None:
        return _Line(0, 1 / known, None) if known else None
    if ctx.is_fed(value):
        return None
    if has_fact(value.node.op, "division") and number(ctx, value.node.inputs[0]) == 1:
        return _line(ctx, value.node.inputs[1])
    return _line(ctx, value.node.inputs[0]) if has_fact(value.node.op, "reciprocal") else None


def _line(ctx: PassContext, value: Output, deep: int = _DEEP) -> _Line:
    """Return a number as a line through the tensor that it is computed from, behind subtractions."""
    value = _origin(ctx, value)
    known = number(ctx, value)
    if known is not None:
        return _Line(0, known, None)
    if deep and has_fact(value.node.op, "subtraction") and not ctx.is_fed(value):
        one, other = (_line(ctx, operand, deep - 1) for operand in value.node.inputs)
        # The difference of two unknown tensors is no line through one of them.
        if one.source is None or other.source is None:
            return _Line(one.factor - other.factor, one.offset - other.offset, one.source or other.source)
    return _Line(1, 0, value)


def _origin(ctx: PassContext, value: Output) -> Output:
    """Return the value before copies, and before the way into loops."""

    def before(value: Output) -> Output | None:
        is_passed_on = value.node.is_identity or value.node.op in ENTER
        return value.node.inputs[0] if is_passed_on and not ctx.is_fed(value) else None

    return trail_end(value, before)
