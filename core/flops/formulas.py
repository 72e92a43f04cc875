"""The formulas of FLOPs as text, read off the source of the counting functions and therefore never out of date."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Collection
from typing import Any

from ..registry import registry
from ..registry.catalog import CATALOG
from ..support import dataclasses
from ..support.arguments import checked, expect
from ..support.display import Rows
from ..support.grouping import grouped

_SIZE = re.compile(r"([\w.]+(?:\[[^\[\]]*\])?)\.shape\.num_elements")

# (expression, what is counted, family) of what is no formula.
_NONE = {
    registry.zero_cost: ("", "none: moves data or control", ""),
    registry.uncounted_call: ("", "the cost of the called functions", ""),
    registry.uncounted_program: ("", "unknown: holds a compiled program", ""),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Formula:
    """The formula of ops of the same family with the same counting function.

    `flops` is an expression: `size(x)` is the number of elements of the input x, `result` the first output. The text is ""
    where there is no arithmetic, or none of the op's own.
    """

    ops: tuple[str, ...]
    """The ops that share the formula."""
    flops: str
    """The formula; "" where the ops do no arithmetic of their own."""
    counted: str
    """What the formula counts, in words."""
    family: str
    """The file of `core/ops`."""


@checked
def flops_formulas(ops: Collection[str]) -> Rows[Formula]:
    """Return the formulas of `ops` by family; ops without a formula are left out, ops without arithmetic of their own come
    last.
    """
    expect(str, *ops)
    functions = ((op, registry.flops_function(op)) for op in sorted({ops} if isinstance(ops, str) else ops))
    groups = grouped(
        (_NONE.get(function) or _formula(function, op, str(registry.family(op))), op)
        for op, function in functions
        if function is not None
    )
    ranked = sorted(groups.items(), key=lambda item: (not item[0][2], item[0][2], item[1]))
    return Rows(Formula(tuple(names), flops, counted, family) for (flops, counted, family), names in ranked)


def _formula(function: Callable[..., Any], op: str, family: str) -> tuple[str, str, str]:
    """Return (formula, explanation, family) of a counting function."""
    keywords = function.keywords if isinstance(function, functools.partial) else {}
    if "words" in keywords:
        names = ["result" if place < 0 else CATALOG[op].inputs[place].name for place in keywords["places"]]
        sizes = " + ".join(f"size({name}{'[..., 0]' * keywords['of_rows']})" for name in names)
        per_element = _per_element(keywords["per_element"])
        times = f"({per_element}) * {sizes}" if " " in per_element else f"{per_element} * {sizes}".removeprefix("1 * ")
        return times, keywords["words"], family
    if "per_element" in keywords:
        return _per_element(keywords["per_element"]), "for each element of the result", family
    if isinstance(function, functools.partial) and hasattr(function.args[-1], "more"):
        # The table of training rules binds a rule's work last, and a number of operations is all its formula.
        work = function.args[-1]
        more = f" ({work.more:+d} with the op's flag)" if work.more else ""
        cost = registry.Cost(work.flops, transcendentals=work.transcendentals)
        return _per_element(cost) + more, "for each element of the gradient", family
    if isinstance(function, functools.partial):
        function = function.func
    return _expression(function), " ".join((inspect.getdoc(function) or "").split()), family


def _per_element(cost: registry.Cost) -> str:
    parts = [str(cost.flops)] if cost.flops or not cost.transcendentals else []
    parts += [f"{cost.transcendentals} transcendental"] if cost.transcendentals else []
    return " + ".join(parts) + (f", macs: {cost.macs}" if cost.macs else "")


_UNKNOWN = "unknown"
"""The count of an op whose function only raises why there is none."""


def _expression(function: Callable[..., Any]) -> str:
    """Return the expression that a function returns, as in the source; sizes as |x|."""
    source = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
    # The source of a lambda is the whole statement around it, which need not parse.
    tree = ast.parse(source[source.index("def ") :] if "def " in source else "0")
    returns = [ast.unparse(node.value) for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value]
    text = returns[0] if returns else _UNKNOWN
    # Neither an attribute nor a keyword argument of the same name is meant.
    for name, value in _assigned(tree):
        text = re.sub(rf"(?<!\.)\b{name}\b(?!=)", value, text)
    for name, value in (inspect.getclosurevars(function).nonlocals if inspect.isfunction(function) else {}).items():
        if isinstance(value, int):
            text = re.sub(rf"(?<!\.)\b{name}\b(?!=)", str(value), text)
    return _readable(text)


def _assigned(tree: ast.AST) -> list[tuple[str, str]]:
    """Yield the named sizes: `elements, rows = x.shape.num_elements, ...`."""
    assignments = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ".num_elements" in ast.unparse(node.value):
            target, value = node.targets[0], node.value
            both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs = zip(target.elts, value.elts) if both else [(target, value)]  # type: ignore[attr-defined]
            assignments += [(ast.unparse(a), _as_factor(b)) for a, b in pairs]
    return assignments


def _as_factor(value: ast.expr) -> str:
    """Return an expression that may stand beside a product's sign: sums and choices in parentheses."""
    is_sum = isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub))
    return f"({ast.unparse(value)})" if is_sum or isinstance(value, ast.IfExp) else ast.unparse(value)


def _readable(text: str) -> str:
    text = _SIZE.sub(r"size(\1)", text).replace("outputs[0]", "result")
    text = re.sub(r"\b(flops|transcendentals|macs)=", r"\1: ", text)
    return text
