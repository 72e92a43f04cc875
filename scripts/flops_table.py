"""Write the table of FLOPs formulas into docs/flops.md, from the functions that count.

usage: flops_table.py [--check]        --check changes nothing and exits with 1 where the table is out of date
"""

from __future__ import annotations

import ast
import functools
import inspect
import pathlib
import re
import sys
import textwrap
from collections.abc import Callable
from typing import Any

from tfg.core import registry

ROOT = pathlib.Path(__file__).parents[1]
PAGE = ROOT / "docs" / "flops.md"
BEGIN, END = "<!-- formulas -->\n", "<!-- end of formulas -->\n"
_SIZE = re.compile(r"([\w.]+(?:\[[^\[\]]*\])?)\.shape\.num_elements")


def table() -> str:
    """The rows: ops that share a function stand together."""
    registry.load_all_families()
    groups: dict[tuple[str, str, str], list[str]] = {}
    free = []
    for op in sorted(op for op in registry.registered_ops() if registry.family(op)):
        function = registry.flops_function(op)
        if function is registry.zero_cost:
            free.append(op)
        elif function is not None:
            groups.setdefault(row(function, str(registry.family(op))), []).append(op)
    lines = ["| ops | FLOPs | what is counted | where |", "| --- | --- | --- | --- |"]
    ranked = sorted(groups.items(), key=lambda item: (item[0][2], item[1]))
    lines += [f"| {', '.join(ops)} | {cell(formula)} | {cell(why)} | {where} |" for (formula, why, where), ops in ranked]
    listed = textwrap.fill(", ".join(free), 120, break_long_words=False)
    return "\n".join(lines) + f"\n\nThese {len(free)} ops move data or control and do no arithmetic:\n\n{listed}\n"


def row(function: Callable[..., Any], family: str) -> tuple[str, str, str]:
    """(formula, explanation, family) of a function that counts."""
    given = function.keywords if isinstance(function, functools.partial) else {}
    if "per_element" in given:
        return per_element(given["per_element"]), "for each element of the result", family
    if isinstance(function, functools.partial) and hasattr(function.args[-1], "more"):
        work = function.args[-1]
        more = f" ({work.more:+d} with the op's flag)" if work.more else ""
        cost = registry.Cost(work.flops, transcendentals=work.transcendentals)
        return per_element(cost) + more, "for each element of the gradient", family
    if isinstance(function, functools.partial):
        function = function.func
    held = inspect.getclosurevars(function).nonlocals if inspect.isfunction(function) else {}
    if isinstance(held.get("cost"), registry.Cost):
        return per_element(held["cost"]), "for each element", family
    return expression(function), " ".join((inspect.getdoc(function) or "").split()), family


def per_element(cost: registry.Cost) -> str:
    parts = [str(cost.flops)] if cost.flops or not cost.transcendentals else []
    parts += [f"{cost.transcendentals} transcendental"] if cost.transcendentals else []
    return " + ".join(parts)


def expression(function: Callable[..., Any]) -> str:
    """What a function returns, as it is written there; sizes as |x|."""
    source = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
    tree = ast.parse(source[source.index("def ") :] if "def " in source else "0")
    returns = [ast.unparse(node.value) for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value]
    text = returns[0] if returns else ""
    for name, value in assigned(tree):
        text = re.sub(rf"(?<!\.)\b{name}\b(?!=)", value, text)
    for name, value in (inspect.getclosurevars(function).nonlocals if inspect.isfunction(function) else {}).items():
        if isinstance(value, int):
            text = re.sub(rf"(?<!\.)\b{name}\b(?!=)", str(value), text)
    return readable(text)


def assigned(tree: ast.AST) -> list[tuple[str, str]]:
    """Sizes that have names: `elements, rows = x.shape.num_elements, ...`."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ".num_elements" in ast.unparse(node.value):
            target, value = node.targets[0], node.value
            both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs = zip(target.elts, value.elts) if both else [(target, value)]
            found += [(ast.unparse(a), as_factor(b)) for a, b in pairs]
    return found


def as_factor(value: ast.expr) -> str:
    """An expression that may stand beside a product's sign: sums and choices in parentheses."""
    is_sum = isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub))
    return f"({ast.unparse(value)})" if is_sum or isinstance(value, ast.IfExp) else ast.unparse(value)


def readable(text: str) -> str:
    text = _SIZE.sub(r"size(\1)", text).replace("outputs[0]", "result")
    text = re.sub(r"\b(flops|transcendentals|macs)=", r"\1: ", text)
    return f"`{text}`" if text else ""


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def rewritten(page: str) -> str:
    """The page with a fresh table between its marks."""
    head, rest = page.split(BEGIN)
    return head + BEGIN + "\n" + table() + "\n" + END + rest.split(END)[1]


def main() -> None:
    old = PAGE.read_text()
    new = rewritten(old)
    if "--check" in sys.argv and old != new:
        sys.exit("docs/flops.md is out of date; scripts/flops_table.py writes its table anew")
    PAGE.write_text(new)


if __name__ == "__main__":
    main()
