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
        return f"Says whether its loop goes on for another iteration: while '{shown_input(node)}' is true."
    for fact, describe in _V1.items():
        if has_fact(node.op, fact):
            return describe(node)
    return _functional_role(node)


def shown_input(node: Node, index: int = 0) -> str:
    """Return the name of an input, or "nothing": nodes of broken graphs may lack inputs."""
    return str(node.inputs[index]) if index < len(node.inputs) else "nothing"


def _enter(node: Node) -> str:
    hands_in = f"Hands '{shown_input(node)}' into loop '{node.text_attr('frame_name')}'"
    if node.attr("is_constant", False):
        return f"{hands_in}; every iteration sees the same value."
    return f"{hands_in}, as the first value of a variable of the loop."


def _exit(node: Node) -> str:
    return f"Hands the last value of a loop's variable, '{shown_input(node)}', out of the loop once that has ended."


def _next_iteration(node: Node) -> str:
    return f"Hands '{shown_input(node)}' to the next iteration, where the Merge at the head of the loop takes it."


def _switch(node: Node) -> str:
    value, predicate = shown_input(node), shown_input(node, 1)
    if len(node.inputs) > 1 and node.inputs[1].node.is_loop_condition:
        return f"Keeps '{value}' in the loop (output 1) while '{predicate}' is true, and lets it out (output 0) after."
    outputs = "output 1 where that is true, else output 0" if len(node.output_dtypes) == 2 else "the output of that number"
    return f"Sends '{value}' one of several ways, by '{predicate}': {outputs}. What only follows another does not run."


def _merge(node: Node) -> str:
    back = [value for value in node.inputs if has_fact(value.node.op, "next_iteration")]
    if back:
        first = next((str(value) for value in node.inputs if value not in back), "nothing")
        return f"A variable of a loop: in the first iteration '{first}', in all others '{back[0]}'."
    names = ", ".join(f"'{value}'" for value in node.inputs)
    return f"Joins branches: hands on whichever of {names} is alive; output 1 says which that was."


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
            f"{functions['cond']} of {'it' if len(node.inputs) == 1 else 'them'} is true; its outputs are the last values."
        )
    if {"then_branch", "else_branch"} <= functions.keys():
        return (
            f"A conditional ({node.op}): where '{shown_input(node)}' is true calls {functions['then_branch']}, otherwise "
            f"{functions['else_branch']}, with the other inputs."
        )
    branches = node.attr("branches", None)
    if isinstance(branches, (list, tuple)) and branches and all(isinstance(branch, FuncRef) for branch in branches):
        names = ", ".join(branch.name for branch in branches)
        number = shown_input(node)
        return f"A choice ({node.op}): calls the one of number '{number}' of {names}, the last where there is none such."
    return None
