"""How a node calls a function, and what of the function then runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final

from ..graph.graph import Function, Node, Output
from .call_kinds import BY_NAME, CALL_KINDS, PARTLY_READ


@dataclasses.dataclass(frozen=True, slots=True)
class CallSite:
    """What a call leaves out: results that nobody reads, and (where it is inlined) what has effects but leads to no result.

    TensorFlow puts the bodies of calls into the graph around them, and those of conditionals and loops where the node has
    `_lower_using_switch_merge`; what is neither a result nor a control output there never runs. A call of a body that has
    neither is left as it is.
    """

    unused: tuple[int, ...] = ()
    is_inlined: bool = False
    is_lowered: bool = False

    def runs_effects(self, function: Function) -> bool:
        """What leads to no result runs too."""
        return not (self.is_lowered or (self.is_inlined and (function.results or function.control_results)))


PLAIN_CALL: Final = CallSite()


def call_site(node: Node, unused: tuple[int, ...] = ()) -> CallSite:
    """How a node calls its functions. A loop needs all results of its body, be they read afterwards or not."""
    kind = CALL_KINDS.get(node.op, BY_NAME)
    is_lowered = kind.may_be_lowered and bool(node.attrs.get("_lower_using_switch_merge"))
    return CallSite(() if kind.is_loop else unused, kind.is_inlined, is_lowered)


def is_partly_read(node: Node) -> bool:
    """True of a node whose functions run only as far as somebody reads their results."""
    return node.op in PARTLY_READ or (node.op in CALL_KINDS and call_site(node).is_lowered)


def function_targets(function: Function, site: CallSite = PLAIN_CALL) -> list[Output | Node]:
    """What a call of a function runs: its results, its control results, and what has effects."""
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
