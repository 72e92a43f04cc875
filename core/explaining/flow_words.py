"""Roles of control flow nodes, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ..graph.graph import Node
from ..registry.op_facts import has_fact
from ..support.words import counted
from ..types.tensors import FuncRef


def flow_role(node: Node) -> str | None:
    """Return the role of a node of a loop or conditional, of V1's or V2's form; None for all others."""
    if node.is_loop_condition:
        return f"The condition of its loop: the loop continues while '{shown_input(node)}' is true."
    for fact, describe in _V1.items():
        if has_fact(node.op, fact):
            return describe(node)
    return _functional_role(node)


def shown_input(node: Node, index: int = 0) -> str:
    """Return the name of an input, or "nothing": nodes of broken graphs may lack inputs."""
    return str(node.inputs[index]) if index < len(node.inputs) else "nothing"


def _enter(node: Node) -> str:
    hands_in = f"Passes '{shown_input(node)}' into loop '{node.text_attr('frame_name')}'"
    if node.attr("is_constant", False):
        return f"{hands_in}; every iteration sees the same value."
    return f"{hands_in}, as the initial value of a loop variable."


def _exit(node: Node) -> str:
    return f"Passes the last value of the loop variable '{shown_input(node)}' out of the loop when the loop ends."


def _next_iteration(node: Node) -> str:
    return f"Passes '{shown_input(node)}' to the next iteration, to the Merge at the head of the loop."


def _switch(node: Node) -> str:
    value, predicate = shown_input(node), shown_input(node, 1)
    if len(node.inputs) > 1 and node.inputs[1].node.is_loop_condition:
        return f"Keeps '{value}' in the loop (output 1) while '{predicate}' is true, then passes it out (output 0)."
    outputs = (
        "output 1 if the predicate is true, otherwise output 0"
        if len(node.output_dtypes) == 2
        else "the output with that index"
    )
    return f"Sends '{value}' to one of several branches, by '{predicate}': {outputs}. The other branches do not run."


def _merge(node: Node) -> str:
    back = [value for value in node.inputs if has_fact(value.node.op, "next_iteration")]
    if back:
        first = next((str(value) for value in node.inputs if value not in back), "nothing")
        return f"A loop variable: '{first}' in the first iteration, '{back[0]}' in later iterations."
    names = ", ".join(f"'{value}'" for value in node.inputs)
    return f"Joins branches: passes on the live input among {names}; output 1 is the index of that input."


_V1: Final[Mapping[str, Callable[[Node], str]]] = {
    "enter": _enter,
    "exit": _exit,
    "next_iteration": _next_iteration,
    "switch": _switch,
    "merge": _merge,
}
"""By fact."""


def _functional_role(node: Node) -> str | None:
    """Describe a node whose attributes name the functions of a loop or of branches; None for other nodes."""
    functions = {name: value.name for name, value in node.attrs.items() if isinstance(value, FuncRef)}
    if {"cond", "body"} <= functions.keys():
        return (
            f"A loop ({node.op}): runs function {functions['body']} on its {counted(len(node.inputs), 'value')} as long as "
            f"{functions['cond']} returns true; its outputs are the last values."
        )
    if {"then_branch", "else_branch"} <= functions.keys():
        return (
            f"A conditional ({node.op}): calls {functions['then_branch']} if '{shown_input(node)}' is true, otherwise "
            f"{functions['else_branch']}, with the other inputs."
        )
    branches = node.attr("branches", None)
    if isinstance(branches, (list, tuple)) and branches and all(isinstance(branch, FuncRef) for branch in branches):
        names = ", ".join(branch.name for branch in branches)
        number = shown_input(node)
        return (
            f"A choice ({node.op}): calls the function with index '{number}' among {names}, or the last function if "
            f"the index is out of range."
        )
    return None
