"""Ways to look at a FLOPs count: by op, by layer, by scope, by node; and numbers as people read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ..support import dataclasses
from ..support.arguments import checked, expect
from ..support.errors import InvalidArgumentError
from ..support.grouping import grouped
from ..support.hints import Hint
from ..support.words import counted
from ..types.dims import Dim, DimLike
from .flops_report import FlopsReport, NodeCost, Section, add_up, magnitude, total

if TYPE_CHECKING:
    from .model_layers import Layer, LayersReport, LayerTree

_LAYER_COLUMNS: Final = ("layer", "kind", "ops", "output shape", "parameters", "trainable", "FLOPs", "bytes moved", "ms")
"""The columns of a table of layers."""
_MOST_OPS: Final = 4
"""The largest number of ops in a row of a layer."""
_MAX_TEXT = 40
_MAX_FACTOR = 18
_MORE = " + 10 terms"
_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclasses.dataclass(frozen=True, slots=True)
class FlopsRow:
    """A line of a view: a name, the number of nodes behind the name, totals, and share of all FLOPs.

    `own` are the FLOPs of nodes that lie directly in a scope, not in scopes below.
    """

    name: str
    depth: int
    nodes: int
    totals: Section
    share: float
    own: DimLike = 0


def by_op(nodes: Sequence[NodeCost], whole: Sequence[NodeCost] | None = None) -> list[FlopsRow]:
    """Return totals by op type, the most FLOPs first."""
    return _ranked(grouped((node.op, node) for node in nodes), nodes if whole is None else whole)


def by_node(nodes: Sequence[NodeCost], whole: Sequence[NodeCost] | None = None) -> list[FlopsRow]:
    """Return a row for each node, the most FLOPs first."""
    return _ranked({node.path: [node] for node in nodes}, nodes if whole is None else whole)


@checked
def rows(
    report: FlopsReport,
    view: str = "op",
    depth: int = 3,
    nodes: Sequence[NodeCost] | None = None,
    *,
    whole: Sequence[NodeCost] | None = None,
) -> list[FlopsRow]:
    """Return the rows of a view: `op`, `node`, `layer` or `scope`, the most FLOPs first.

    `depth` bounds the levels of scopes, `nodes` is a part of the report's nodes to show. Shares are of the FLOPs of the
    nodes `whole`, by default of `nodes`. InvalidArgumentError for another view.
    """
    nodes = report.nodes if nodes is None else nodes
    whole = nodes if whole is None else whole
    expect(NodeCost, *nodes, *whole)
    if view == "scope":
        return by_scope(nodes, depth, whole)
    if view == "layer":
        from .model_layers import layers_by_path  # lazy: most views have no layers

        layers = layers_by_path(report.nodes)
        return _ranked(grouped((layers[node.path], node) for node in nodes), whole)
    if view not in ("op", "node"):
        raise InvalidArgumentError(f"unknown view '{view}'", hint="the views are op, node, layer and scope")
    return by_op(nodes, whole) if view == "op" else by_node(nodes, whole)


def scopes_of(path: str, depth: int) -> list[str]:
    """Return the scopes around a node down to `depth`, the outermost first; a node above this depth is a scope as well."""
    parts = path.split("/")
    return ["/".join(parts[:level]) for level in range(1, min(depth, len(parts)) + 1)]


def by_scope(nodes: Sequence[NodeCost], depth: int = 3, whole: Sequence[NodeCost] | None = None) -> list[FlopsRow]:
    """Return the tree of name scopes down to `depth`, each scope with everything below."""
    # Without FLOPs all shares are 0, and nothing is divided by 0.
    everything = magnitude(total(nodes if whole is None else whole).flops) or 1.0
    rows, sizes = [], {}
    for scope, members in grouped((scope, node) for node in nodes for scope in scopes_of(node.path, depth)).items():
        totals = total(members)
        sizes[scope] = magnitude(totals.flops)
        own = add_up(node.cost.flops for node in members if scope in (node.path, node.path.rpartition("/")[0]))
        rows.append(FlopsRow(scope, scope.count("/"), len(members), totals, sizes[scope] / everything, own))
    return sorted(rows, key=lambda row: _scope_key(row.name, sizes))


def _scope_key(name: str, sizes: Mapping[str, float]) -> list[tuple[float, str]]:
    """Return a key that sorts siblings by FLOPs, and every scope behind the parent."""
    parts = name.split("/")
    scopes = ["/".join(parts[: i + 1]) for i in range(len(parts))]
    return [(-sizes[scope], scope) for scope in scopes]


def _ranked(groups: dict[str, list[NodeCost]], whole: Iterable[NodeCost]) -> list[FlopsRow]:
    everything = magnitude(total(whole).flops) or 1.0
    rows = []
    for name, members in groups.items():
        totals = total(members)
        rows.append(FlopsRow(name, 0, len(members), totals, magnitude(totals.flops) / everything))
    return sorted(rows, key=lambda row: (-magnitude(row.totals.flops), row.name))


def layer_table(layers: Sequence[Layer]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the columns of a table of layers and the texts of the rows; kinds and times stand there if they are known."""
    unknown = {"kind"} if all(layer.kind is None for layer in layers) else set()
    unknown |= {"ms"} if all(layer.seconds is None for layer in layers) else set()
    places = [place for place, column in enumerate(_LAYER_COLUMNS) if column not in unknown]
    rows = map(_layer_texts, layers)
    return tuple(_LAYER_COLUMNS[place] for place in places), [tuple(row[place] for place in places) for row in rows]


def _layer_texts(layer: Layer) -> tuple[str, ...]:
    ops = ", ".join(layer.ops[:_MOST_OPS]) + (" ..." if len(layer.ops) > _MOST_OPS else "")
    counts, costs = (layer.parameters, layer.trainable), (layer.flops, layer.bytes)
    shape, time = ("" if one is None else str(one) for one in (layer.shape, _milliseconds(layer.seconds)))
    return (layer.name, layer.kind or "", ops, shape, *map(digits, counts), *map(shortened, costs), time)


def _milliseconds(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds * 1e3:.3f}"


def layer_totals(report: LayersReport | LayerTree, count: int) -> list[str]:
    """Return the lines below a table of layers: the totals, the meaning of symbols, and notes."""
    totals = f"{digits(report.parameters)} parameters, {digits(report.trainable)} of them trainable"
    costs = f"{shortened(report.flops)} FLOPs, {shortened(report.bytes)} bytes moved"
    time = "" if report.seconds is None else f", {_milliseconds(report.seconds)} ms in all nodes"
    meanings = [Hint(f"{symbol}: ", text) for symbol, text in report.symbols.items()]
    counts = f"{counted(count, 'layer')}, {totals}; {costs}{time}"
    return [counts, *meanings, *report.notes, *what_is_short((report.flops, report.bytes))]


def digits(value: DimLike) -> str:
    """Return a count with all its digits, as people compare counts of parameters."""
    return f"{value:,}" if isinstance(value, int) else str(value)


def readable(value: DimLike) -> str:
    """Return `7.72 G x N`: a number, or each term of a polynomial, with a metric prefix."""
    return _with_prefix(value) if isinstance(value, int) else _sum(_ordered(value))


def shortened(value: DimLike) -> str:
    """Return `3.2 M x N x q_1 + 2 terms`: as `readable`, but of a long polynomial only the largest terms for an example.

    A long factor is `f(q_1)`, by the symbols inside.
    """
    text = readable(value)
    if isinstance(value, int) or len(text) <= _MAX_TEXT:
        return text
    largest = sorted(_ordered(value), key=lambda term: -abs(magnitude(term)))
    # At least one term: the largest says more than any number of terms left out.
    shown = max((n for n in range(2, len(largest)) if len(_sum(largest[:n])) + len(_MORE) <= _MAX_TEXT), default=1)
    left = len(largest) - shown
    return _sum(largest[:shown], _brief) + (f" + {counted(left, 'term')}" if left else "")


def what_is_short(values: Iterable[DimLike]) -> list[str]:
    """Return the line that explains the texts of `shortened`, if one of the values is too long to be shown whole."""
    # Polynomials of many symbols are long, and their small terms tell little.
    is_cut = any(shortened(value) != readable(value) for value in values)
    return ["long sums show the largest terms, and f(N) for a long factor of N; the JSON has all terms"] if is_cut else []


def _ordered(value: Dim) -> list[Dim]:
    """Return the terms of a polynomial, terms of many factors first."""
    return [Dim({monomial: c}) for monomial, c in sorted(value.terms.items(), key=lambda item: -len(item[0]))]


def _sum(terms: Iterable[Dim], text_of: Callable[[Dim], str] = str) -> str:
    # A negative coefficient brings its own sign.
    return " + ".join(_term(term, text_of) for term in terms).replace("+ -", "- ")


def _term(term: Dim, text_of: Callable[[Dim], str]) -> str:
    ((monomial, coefficient),) = term.terms.items()
    factors = [text_of(Dim({(factor,): 1})) for factor in monomial]
    return " x ".join([_with_prefix(coefficient), *factors])


def _brief(factor: Dim) -> str:
    """Return a factor; a long factor only by the symbols inside."""
    text, brief = str(factor), f"f({', '.join(sorted(factor.symbols))})"
    # The name of a symbol may be long, too: behind f( ) it would only be longer.
    return text if len(text) <= max(_MAX_FACTOR, len(brief)) else brief


def _with_prefix(number: int) -> str:
    for size, prefix in _PREFIXES:
        if abs(number) >= size:
            # Three digits in either case: of 999.7 the first format would make 1e+03.
            return f"{number / size:.3g} {prefix}" if abs(number) < 100 * size else f"{number / size:.0f} {prefix}"
    return str(number)
