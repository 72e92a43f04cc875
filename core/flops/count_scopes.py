"""Scopes of a count: the graph or a called function's body, and values traced back through the callers."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from ..control_flow.frames import ENTER, EXIT, NEXT_ITERATION, Frame
from ..graph.graph import Graph, Node, Output
from ..graph.traversal import descendants
from ..graph.variable_nodes import VARIABLES
from ..inference.estimates import Estimate
from ..model.author_scopes import passes_weight_on
from ..registry.op_facts import has_fact
from ..support.hints import Blank, Hint, step
from ..types.dims import Dim
from ..types.shapes import Shape
from .input_shapes import is_placeholder
from .loop_counts import LoopCount

_READ: Final = re.compile(r"(?:^|/)(?:read|ReadVariableOp)(?:_\d+)?$")
"""The names of nodes that read a variable; freezing leaves an Identity of the same name."""


@dataclasses.dataclass(slots=True, eq=False)
class CountScope:
    """A scope of a count: the graph or function body, with specs, V1 loops, and the call that leads there."""

    graph: Graph
    inference: Estimate
    frames: Mapping[Node, Frame]
    loops: Mapping[Frame, LoopCount]
    needed: Collection[Node]
    """The nodes that run."""
    targets: Sequence[Output | Node]
    """The fetched tensors and operations, or the targets of the function's call."""
    prefix: str = ""
    outside: int = 0
    """How many letters of the prefix name calls that lie in no scope, or whose scope the nodes' names repeat."""
    around: str = ""
    """The scope around the call that leads here, with a slash; empty for none."""
    calls: frozenset[str] = frozenset()
    caller: CountScope | None = None
    site: Node | None = None
    """The caller's node that leads here."""
    arguments: Mapping[Node, Output] = dataclasses.field(default_factory=dict)
    """The values in the caller's graph that the body's arguments stand for; of a loop only the invariant arguments."""
    is_repeated: bool = False
    """True for a body that a loop runs repeatedly, perhaps with other shapes each time."""
    fed: Collection[Node] = ()
    """The nodes that depend on what a run is fed."""
    origins: dict[Output, tuple[Output | None, CountScope]] = dataclasses.field(default_factory=dict)
    """Where values were found to be read from."""
    shape_reasons: dict[Node, str] = dataclasses.field(default_factory=dict)
    """Reasons for unknown shapes, for all nodes asked about so far and the nodes on the way to the cause."""

    def outside_of(self, node: Node) -> int:
        """Return `outside` for a node: TensorFlow names the nodes of loops and branches with the scopes around them."""
        return len(self.prefix) if self.around and node.name.startswith(self.around) else self.outside

    def loops_around(self, node: Node) -> Iterator[LoopCount]:
        """Yield the V1 loops that a node runs in, the innermost first; an Enter or Exit runs outside of the frame."""
        frame = self.frames.get(node)
        if frame is not None and node.op in (*ENTER, *EXIT):
            frame = frame.enclosing
        while frame is not None:
            yield self.loops[frame]
            frame = frame.enclosing


def fed_nodes(scope: CountScope) -> set[Node]:
    """Return the nodes of a scope that depend on what a run is fed: on placeholders, or on elements of an input pipeline."""
    return descendants(node for node in scope.needed if _brings_input(node, scope))


def _brings_input(node: Node, scope: CountScope) -> bool:
    if not node.is_argument or scope.caller is None:
        return is_placeholder(node) or has_fact(node.op, "next_element")
    value = scope.arguments.get(node)
    return (scope.site if value is None else value.node) in scope.caller.fed


def is_definite(shape: Shape) -> bool:
    """Return True where all dimensions are numbers or have names."""
    return shape.dims is not None and not any(isinstance(d, Dim) and d.is_anonymous for d in shape.dims)


def origin(value: Output, scope: CountScope) -> tuple[Output | None, CountScope]:
    """Return the variable or the weight frozen to a constant behind a value, and the scope of its node."""
    passed: dict[tuple[Output, CountScope], None] = {}
    while value not in scope.origins:
        before = _before(value.node, scope) if (value, scope) not in passed else None
        passed[value, scope] = None
        if before is None:
            was_read = any(_READ.search(one.node.name) for one, _ in passed)
            scope.origins[value] = _parameters(value, is_scalar_weight=was_read), scope
        else:
            value, scope = before
    source = scope.origins[value]
    for one, where in passed:
        where.origins[one] = source
    return source


def _before(node: Node, scope: CountScope) -> tuple[Output, CountScope] | None:
    """Return the value that a node forwards, and the value's scope; None for a node that computes."""
    if passes_weight_on(node) and node.inputs:
        return node.inputs[0], scope
    if node in scope.arguments and scope.caller is not None:
        return scope.arguments[node], scope.caller
    return None


def _parameters(value: Output, *, is_scalar_weight: bool) -> Output | None:
    """Return a value that is a variable or a floating-point constant, a scalar only if it was a variable; else None."""
    is_weight = value.node.is_constant and value.dtype is not None and value.dtype.is_floating
    has_rank = is_weight and (is_scalar_weight or value.node.attrs["value"].shape)
    return value if value.node.op in VARIABLES or has_rank else None


def passes_parameters_on(node: Node) -> bool:
    """Return True for nodes that hold parameters or hand them on, but do nothing with them."""
    return passes_weight_on(node) or node.op in VARIABLES


def shape_reason(node: Node, scope: CountScope) -> str:
    """Return the reason for unknown shapes at a node, from the first node with a reason on the way back."""
    stack, seen = [node], {node}
    reason, passed = None, []
    while stack and reason is None:
        current = stack.pop()
        passed.append(current)
        sources = [value.node for value in current.inputs if not is_definite(scope.inference.shape(value))]
        reason = scope.shape_reasons.get(current) or _own_reason(current, sources, scope)
        stack += [source for source in dict.fromkeys(sources) if source not in seen]
        seen.update(sources)
    reason = reason or "its cost depends on values known only at run time"
    scope.shape_reasons.update(dict.fromkeys(passed, reason))
    return reason


def _own_reason(node: Node, sources: Sequence[Node], scope: CountScope) -> str | None:
    """Return the reason why shapes end at a node; None where shapes end earlier, at a member of `sources`."""
    if node.name in scope.inference.reasons:
        return f"shapes end at node '{node.name}' ({node.op}): {scope.inference.reasons[node.name]}"
    if not sources and any(not is_definite(scope.inference.shape(value)) for value in node.outputs()):
        return _source_reason(node, scope)
    if node in scope.frames and any(value.node.op in NEXT_ITERATION for value in node.inputs):
        loop = scope.frames[node].name
        return f"the shape of '{scope.prefix}{node.name}' changes from one iteration of '{loop}' to the next"
    return None


def _source_reason(node: Node, scope: CountScope) -> str:
    """Return the reason why a node has outputs of unknown shape though the shapes of the inputs are known."""
    path, set_shape = scope.prefix + node.name, step("shape", name=node.name, sizes=Blank("SIZES"))
    if is_placeholder(node):
        return Hint(f"placeholder '{path}' has no shape: set it with ", set_shape)
    if node.is_argument and scope.caller is not None and scope.site is not None:
        if all(is_definite(scope.caller.inference.shape(value)) for value in scope.site.inputs):
            return f"the shape of '{path}' changes from one iteration of '{scope.site.name}' to the next"
        return shape_reason(scope.site, scope.caller)
    hint = () if scope.prefix else (": set it with ", set_shape)
    if scope.is_repeated or any(scope.loops_around(node)):
        return Hint(f"the shape of '{path}' ({node.op}) is known only at run time, and may change between iterations", *hint)
    return Hint(f"the shape of '{path}' ({node.op}) is known only at run time", *hint)
