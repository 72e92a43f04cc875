"""Graphs in the ops and attributes of an older release of TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ..explaining.node_listing import value_text
from ..graph.graph import Function, Graph, Node
from ..graph.instantiation import copied
from ..ops.shared.older_ops import KeepsNewOpError, OlderOps
from ..registry.catalog import CATALOG, AttrDef
from ..registry.op_history import Release, graph_versions, history
from ..support.errors import UnimplementedError
from ..support.grouping import grouped
from ..support.hints import Hint, option, step
from ..support.versions import GRAPH_VERSION, Versions
from ..support.words import counted

_CUTS: Final = Hint(option("to"), " and ", option("from"), " cut nodes off")
_HINTS: Final = frozenset((
    "allowed_devices", "config", "config_proto", "debug_name", "executor_type", "grad_a", "grad_b", "grad_x", "grad_y",
    "metadata", "parallel_iterations", "use_inter_op_parallelism",
))  # fmt: skip
"""Attributes that tell how to run, and change no result: a release that lacks one does without."""


class Rewritten(NamedTuple):
    """A node with an older op: of a function with the function's name before a slash."""

    node: str
    before: str
    after: str


class Lack(NamedTuple):
    """Something about a node that a release lacks."""

    node: str
    op: str
    reason: str
    release: Release
    """The first release that has it."""
    is_inside: bool
    """True for a node of a function."""


def _is_needless(attr: AttrDef, value: Any) -> bool:
    """Return True for a value that a release without the attribute stands for."""
    return attr.name in _HINTS or attr.is_default(value)


def lacks_op(node: Node, release: Release) -> bool:
    """Return True for a node of an op of TensorFlow that came after the release."""
    known = history(node.op)
    return known is not None and known.first > release


class ReleaseForm:
    """The change of a graph, and of its functions, to the ops and attributes of a release."""

    def __init__(self, graph: Graph, release: Release) -> None:
        self.graph = graph
        self.release = release
        self.rewritten: list[Rewritten] = []
        self.lacks: list[Lack] = []
        self.dropped = 0
        """The number of attributes that were dropped."""

    def change(self) -> None:
        """Change the graph in place; UnimplementedError names all nodes that the release cannot say."""
        self._change_nodes(self.graph, None)
        for name in list(self.graph.functions):
            own = self.graph.functions[name] = copied(self.graph.functions[name])
            own.body.functions = self.graph.functions
            self._change_nodes(own.body, own)
        if self.lacks:
            raise self._refusal()
        # TensorFlow refuses a graph whose min_consumer is above its own version.
        made = self.graph.versions or Versions(GRAPH_VERSION)
        known = graph_versions()[self.release]
        self.graph.versions = Versions(min(made.producer, known), min(made.min_consumer, known), made.bad_consumers)

    def _change_nodes(self, graph: Graph, function: Function | None) -> None:
        older = OlderOps(graph, function)
        # The readers come first: a node has an older op where no reader takes an output that this op lacks.
        for node in [*graph][::-1]:
            where = node.name if function is None else f"{function.name}/{node.name}"
            before = node.op
            self._change_node(older, node, where)
            if node.op != before:
                self.rewritten.append(Rewritten(where, before, node.op))
        for node in graph:
            self.dropped += self._settle_attrs(node)

    def _change_node(self, older: OlderOps, node: Node, where: str) -> None:
        # An older op may be too new itself, and have an older one in turn.
        while missing := list(self._missing(node)):
            try:
                older.change(node)
            except KeepsNewOpError as error:
                why = f", and {error}" if str(error) else ""
                self.lacks += [Lack(where, node.op, reason + why, came, where != node.name) for reason, came in missing]
                return

    def _missing(self, node: Node) -> Iterator[tuple[str, Release]]:
        """Yield what the release lacks of a node: the op, or attributes that hold another value than the default."""
        known = history(node.op)
        if known is None:
            return
        attrs = CATALOG[node.op].attrs
        values = {name: node.attrs.get(name, attr.default) for name, attr in attrs.items()}
        came = {
            name: known.value_came(name, value)
            for name, value in values.items()
            if not (known.attr_came(name) > self.release and _is_needless(attrs[name], value))
        }
        if known.first > self.release:
            yield f"the op is of TensorFlow {known.first}", max([known.first, *came.values()])
            return
        for name, release in came.items():
            if release > self.release:
                yield f"{name} = {value_text(values[name])} is of TensorFlow {release}", release

    def _settle_attrs(self, node: Node) -> int:
        """Drop new attributes and stated defaults, and state defaults that came later; return the number of dropped ones."""
        known, count = history(node.op), 0
        if known is None:
            return count
        for name, attr in CATALOG[node.op].attrs.items():
            # A release refuses an attribute that it does not know, and the lack of one that has no default there yet.
            has_default = attr.is_default(node.attrs.get(name, attr.default))
            is_stated = known.attr_came(name) <= self.release and not (
                has_default and known.default_came(name) <= self.release
            )
            if is_stated and name not in node.attrs:
                node.set_attr(name, attr.default)
            elif not is_stated and name in node.attrs:
                node.remove_attr(name)
                count += 1
        return count

    def _refusal(self) -> UnimplementedError:
        # A model lacks a few ops in hundreds of nodes: a line for each op.
        groups = grouped(((each.op, each.reason), each.node) for each in self.lacks)
        lines = [f"{op} ({', '.join(nodes)}): {reason}" for (op, reason), nodes in groups.items()]
        enough = max(each.release for each in self.lacks)
        count = counted(len({each.node for each in self.lacks}), "node")
        hint = Hint(step("for_tensorflow", release=str(enough)), " says all of the graph; ", _CUTS)
        if any(each.is_inside for each in self.lacks):
            hint = Hint(hint, "; ", option("inline-functions"), " lets shapes be known")
        return UnimplementedError(f"TensorFlow {self.release} cannot say {count} of the graph:", hint=hint, details=lines)
