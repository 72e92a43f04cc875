"""Call sites: a node's call of a function, and the part of the function that the call runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..graph.graph import Function, Node, Output
from ..support import dataclasses
from .call_kinds import BY_NAME, CALL_KINDS, PARTLY_READ


@dataclasses.dataclass(frozen=True, slots=True)
class CallSite:
    """The nodes that a call leaves out: unread results, and in an inlined call effects that lead to no result.

    TensorFlow inlines the bodies of calls, and the bodies of conditionals and loops whose node has
    `_lower_using_switch_merge`. After inlining, a node that leads to neither a result nor a control output never runs. A
    call of a body with neither is left as a call.
    """

    unused: tuple[int, ...] = ()
    is_inlined: bool = False
    is_lowered: bool = False

    def runs_effects(self, function: Function) -> bool:
        """True where nodes with effects run although they lead to no result."""
        return not (self.is_lowered or (self.is_inlined and (function.results or function.control_results)))


PLAIN_CALL: Final = CallSite()


def call_site(node: Node, unused: tuple[int, ...] = ()) -> CallSite:
    """Return the call site of a node. A loop needs all results of its body, read or not."""
    kind = CALL_KINDS.get(node.op, BY_NAME)
    is_lowered = kind.may_be_lowered and bool(node.attrs.get("_lower_using_switch_merge"))
    return CallSite(() if kind.is_loop else unused, kind.is_inlined, is_lowered)


def is_partly_read(node: Node) -> bool:
    """True for a node with functions that run only as far as their results are read."""
    return node.op in PARTLY_READ or (node.op in CALL_KINDS and call_site(node).is_lowered)


def function_inputs(function: Function) -> list[Output]:
    """Return the values in the body that a call passes in."""
    return [arg.output() for arg in function.args]


def function_targets(function: Function, site: CallSite = PLAIN_CALL) -> list[Output | Node]:
    """Return the targets of a call of a function: the results, the control results, and nodes with effects."""
    targets: list[Output | Node] = [value for i, value in enumerate(function.results) if i not in site.unused]
    targets += function.control_results
    if site.runs_effects(function):
        functions = function.body.functions
        targets += [node for node in function.body if node not in function.args and _has_effects(node, functions)]
    return targets


def _has_effects(node: Node, functions: Mapping[str, Function]) -> bool:
    if node.op_def is not None:
        return node.op_def.is_stateful
    return node.op in functions and functions[node.op].signature.is_stateful
