"""Module-level numbers of the computing rooms: each docstring states the unit, and for tuned numbers the benchmark."""

from __future__ import annotations

import ast
import functools
import pathlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from tests.sources import tree_of

ROOT = pathlib.Path(__file__).parents[1]
ROOMS = ("codecs", "numerics", "ordering", "parallel", "planning", "random", "runtime", "text")
_NUMBERS = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Tuple, ast.expr_context)
_TUNED = re.compile(r"\b(less time|takes? (no )?longer|take as long|stays? in a|costs least|worth)\b")
"""Words of a docstring that tell of a trade-off in time."""
_BENCHMARK = re.compile(r"benchmarks/(\w+\.py)")


class Number(NamedTuple):
    """A module-level constant of numbers alone, with the constant's docstring and the module's docstring."""

    place: str
    names: str
    docstring: str
    of_module: str


def numbers_of(path: pathlib.Path) -> Iterator[Number]:
    module = tree_of(path)
    of_module = ast.get_docstring(module) or ""
    for statement, following in zip(module.body, [*module.body[1:], None]):
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or not _is_number(statement.value):
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        place = f"{path.relative_to(ROOT).as_posix()}:{statement.lineno}"
        yield Number(place, ast.unparse(target), _text(following), of_module)


def _is_number(value: ast.expr | None) -> bool:
    """True for numbers, arithmetic on them, and tuples of them."""
    if value is None or not all(isinstance(node, _NUMBERS) for node in ast.walk(value)):
        return False
    constants = [node.value for node in ast.walk(value) if isinstance(node, ast.Constant)]
    return bool(constants) and all(type(constant) in (int, float) for constant in constants)


def _text(statement: ast.stmt | None) -> str:
    if (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    ):
        return statement.value.value
    return ""


@functools.cache
def numbers() -> list[Number]:
    return [n for room in ROOMS for path in sorted((ROOT / "core" / room).rglob("*.py")) for n in numbers_of(path)]


def test_numbers_are_found():
    assert {n.names for n in numbers()} >= {"BLOCK_ELEMENTS", "WORTH_DIVIDING", "FUSING_RUN"}
    (number,) = numbers_of(pathlib.Path(__file__))
    assert (number.names, number.docstring) == ("EXAMPLE", "Three.")


def test_every_number_says_what_it_counts():
    assert [f"{n.place} {n.names}" for n in numbers() if len(n.docstring.split()) < 3] == []


def test_tuned_numbers_name_benchmarks():
    """The docstring of the number, or of its module, names a file of benchmarks/ that shows what the number is worth."""
    tuned = [n for n in numbers() if _TUNED.search(n.docstring)]
    named = {f"{n.place} {n.names}": _BENCHMARK.findall(n.docstring + n.of_module) for n in tuned}
    assert tuned and [place for place, files in named.items() if not files] == []
    assert {file for files in named.values() for file in files} <= {path.name for path in (ROOT / "benchmarks").iterdir()}


EXAMPLE = 3
"""Three."""
