"""The report of a FLOPs count: totals by section, nodes, and nodes that could not be counted."""

from __future__ import annotations

import collections
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from ..registry.registry import Cost
from ..support import dataclasses
from ..support.display import Report
from ..support.grouping import grouped
from ..support.words import counted
from ..types.dims import Dim, DimLike, Monomial, not_negative, substitute
from ..types.shapes import Shape

_Item = TypeVar("_Item")

TYPICAL = 100
"""The number put for unknown dimensions and iterations where costs are compared."""
SECTIONS = ("forward", "backward", "update", "initializer")


# Not frozen: the constructor of a frozen class of so many fields takes six times as long, and a count may have a million.
@dataclasses.dataclass(slots=True)
class NodeCost:
    """An executed node with the cost of all executions together.

    `path` is the node's name, behind the names of the calls that lead to the function: `call/body_node`; in a graph of too
    many calls to list the path is `function/body_node` and stands for the node in all of them. `times` is the number of
    executions. `reason` says why the node could not be counted; `flops` and the rest are then 0 and mean nothing. `weights`
    are the names of the variables and of the constant weights that the node reads; `shape` is that of the first output.
    A node `computes` unless it holds a value, or hands on or measures what it gets. The first `outside` letters of the path
    name calls that lie in no scope, such as those of a signature's wrapper. A node that `is_fed` depends on what the run is
    fed. One that `is_logical` has truth values as its first output.
    """

    path: str
    op: str
    section: str
    cost: Cost
    bytes: DimLike
    parameters: DimLike
    times: DimLike
    reason: str = ""
    is_free: bool = False
    weights: tuple[str, ...] = ()
    shape: Shape | None = None
    computes: bool = False
    outside: int = 0
    is_fed: bool = True
    is_logical: bool = False

    def __hash__(self) -> int:
        return hash((self.path, self.op, self.section))


@dataclasses.dataclass(frozen=True, slots=True)
class Section:
    """Totals of a section. FLOPs count a multiply-add as 2; transcendental functions are counted apart from FLOPs."""

    flops: DimLike
    """Floating-point operations; a multiply-add is 2."""
    macs: DimLike
    """Multiply-adds."""
    transcendentals: DimLike
    """Calls of exp, log, tanh and the like, which `flops` leaves out."""
    bytes: DimLike
    """Bytes read and written."""
    parameters: DimLike
    """Elements of variables and constants."""
    nodes: int
    """How many nodes the totals cover."""

    @property
    def intensity(self) -> float:
        """Return FLOPs a byte, 0 where no byte moves; symbols count as the sizes that `typical` puts for them."""
        moved = magnitude(self.bytes)
        return magnitude(self.flops) / moved if moved else 0.0

    def substituted(self, values: Mapping[str, int]) -> Section:
        """Return the totals with symbols replaced by numbers."""
        return Section(
            substitute(self.flops, values),
            substitute(self.macs, values),
            substitute(self.transcendentals, values),
            substitute(self.bytes, values),
            substitute(self.parameters, values),
            self.nodes,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class PipelineCost:
    """The cost of a call of a dataset's function: the work for an element that reaches the dataset."""

    dataset: str
    """The node of the dataset."""
    op: str
    """The op of the dataset."""
    function: str
    """The function that the dataset calls."""
    cost: Section
    """The work for an element."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class FlopsReport(Report, main_table="nodes"):
    """The count of all nodes that the fetches run."""

    fetches: tuple[str, ...]
    nodes: tuple[NodeCost, ...]
    symbols: Mapping[str, str]
    """The meaning of each symbol in the numbers."""
    notes: tuple[str, ...]
    """Trip counts, branches and other decisions that the numbers rest on."""
    pipeline: tuple[PipelineCost, ...] = ()
    """The costs of input pipelines for each element, not part of any total."""

    def headline(self) -> str:
        return f"{self.total().flops} FLOPs, {counted(len(self.nodes), 'node')}, {len(self.unknown())} unknown"

    def sections(self) -> dict[str, Section]:
        """Return totals by section, sections without nodes left out."""
        return {name: total(n for n in self.nodes if n.section == name) for name in SECTIONS if self._has(name)}

    def total(self) -> Section:
        return total(self.nodes)

    def unknown(self) -> list[NodeCost]:
        """Return the nodes that could not be counted."""
        return [node for node in self.nodes if node.reason]

    def select(self, name: str = "", op: str = "", min_flops: float = 0, *, section: str | None = None) -> list[NodeCost]:
        """Return the nodes whose path and op match the regular expressions and that have at least `min_flops` FLOPs.

        `section` keeps the nodes of a section of `sections()`.
        """
        return [
            node
            for node in self.nodes
            if section in (None, node.section)
            and re.search(name, node.path)
            and re.search(op, node.op)
            and magnitude(node.cost.flops) >= min_flops
        ]

    @property
    def coverage(self) -> float:
        """Return the share of nodes that are counted or free, 1.0 where nothing is unknown."""
        return 1.0 - len(self.unknown()) / len(self.nodes) if self.nodes else 1.0

    def _has(self, section: str) -> bool:
        return any(node.section == section for node in self.nodes)

    def substituted(self, values: Mapping[str, int]) -> FlopsReport:
        """Return the report with symbols replaced by numbers."""
        nodes = tuple(_substituted(node, values) for node in self.nodes)
        left = {name: text for name, text in self.symbols.items() if name not in values}
        pipeline = tuple(dataclasses.replace(cost, cost=cost.cost.substituted(values)) for cost in self.pipeline)
        return FlopsReport(self.fetches, nodes, left, self.notes, pipeline)


def total(nodes: Iterable[NodeCost]) -> Section:
    """Return the sums over nodes."""
    listed = list(nodes)
    costs = _tally([node.cost for node in listed])
    return Section(
        _sum((cost.flops, times) for cost, times in costs),
        _sum((cost.macs, times) for cost, times in costs),
        _sum((cost.transcendentals, times) for cost, times in costs),
        add_up([node.bytes for node in listed]),
        add_up([node.parameters for node in listed]),
        len(listed),
    )


def add_up(values: Iterable[DimLike]) -> DimLike:
    """Return the sum."""
    return _sum(_tally(list(values)))


def _tally(items: Sequence[_Item]) -> list[tuple[_Item, int]]:
    """Return the different objects, each with how often it is there.

    Nodes that are alike share their costs and numbers. A million nodes have hundreds, and to compare polynomials would take
    longer than to add them.
    """
    distinct = dict(zip(map(id, items), items))
    return [(distinct[key], times) for key, times in collections.Counter(map(id, items)).items()]


def _sum(parts: Iterable[tuple[DimLike, int]]) -> DimLike:
    """Return the sum of values that are there several times; polynomials are added term by term in a single sweep, since
    repeated addition would copy all terms each time.
    """
    number = 0
    terms: collections.Counter[Monomial] = collections.Counter()
    for value, times in parts:
        if isinstance(value, Dim):
            for monomial, coefficient in value.terms.items():
                terms[monomial] += coefficient * times
        else:
            number += value * times
    # An int stays an int where the polynomials cancel out.
    result: DimLike = number
    return result + Dim(dict(terms)) if any(terms.values()) else result


def merged(nodes: Iterable[NodeCost]) -> list[NodeCost]:
    """Return the nodes with equal paths merged into a node that runs as often as all together."""
    # A node that could not be counted in one of its calls stays apart: its reason would be lost in a sum.
    groups = grouped(((node.path, node.section, node.reason), node) for node in nodes)
    return [members[0] if len(members) == 1 else _merged(members) for members in groups.values()]


def _merged(nodes: Sequence[NodeCost]) -> NodeCost:
    sums = total(nodes)
    return dataclasses.replace(
        nodes[0],
        cost=Cost(sums.flops, sums.macs, sums.transcendentals),
        bytes=sums.bytes,
        parameters=sums.parameters,
        times=add_up(node.times for node in nodes),
    )


def magnitude(value: DimLike) -> float:
    """Return a number to sort by: the value for an example (N = 1) with all other symbols `TYPICAL`."""
    if isinstance(value, Dim):
        value = substitute(value, {name: typical(name) for name in value.symbols})
    # What no number can be put for counts as the largest, so that it is not overlooked at the end of a list.
    return float(value) if isinstance(value, int) else math.inf


def typical(symbol: str) -> int:
    """Return the number put for a symbol where costs are compared."""
    return 1 if symbol == "N" else TYPICAL


def _substituted(node: NodeCost, values: Mapping[str, int]) -> NodeCost:
    # A formula such as n - 1 holds for sizes above 0: for an empty tensor it would be negative.
    cost = Cost(*(not_negative(substitute(v, values)) for v in (node.cost.flops, node.cost.macs, node.cost.transcendentals)))
    dims = None if node.shape is None else node.shape.dims
    return dataclasses.replace(
        node,
        cost=cost,
        bytes=substitute(node.bytes, values),
        parameters=substitute(node.parameters, values),
        times=substitute(node.times, values),
        shape=node.shape if dims is None else Shape([size if size is None else substitute(size, values) for size in dims]),
    )
