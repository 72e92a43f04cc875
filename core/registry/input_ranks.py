"""Ranks that TensorFlow accepts for the inputs of an op; scripts/make_input_ranks.py makes input_ranks.txt.

The table is consulted when a function of an op fails, to tell a fault of the graph from a fault of tfg.
"""

from __future__ import annotations

import functools
import math
import pathlib
from collections.abc import Mapping, Sequence

from ..support.errors import InvalidArgumentError
from ..types.shapes import TensorSpec
from .catalog import CATALOG, OpDef

_Ranks = tuple[int, float]


def check_input_ranks(definition: OpDef, inputs: Sequence[TensorSpec | list[TensorSpec]]) -> None:
    """Raise InvalidArgumentError if TensorFlow builds no graph with an input's rank; `inputs` are grouped by argument."""
    allowed = _allowed().get(definition.name)
    if allowed is None:
        return
    for arg, value in zip(definition.inputs, inputs):
        low, high = allowed.get(arg.name, (0, float("inf")))
        for spec in value if isinstance(value, list) else (value,):
            rank = spec.shape.rank
            # An unknown rank may be right.
            if rank is not None and not low <= rank <= high:
                raise InvalidArgumentError(f"{arg.name} must be of {_described(low, high)}, not of shape {spec.shape}")


def input_rank_bounds(op: str, index: int) -> _Ranks:
    """Return the lowest and highest rank of an op's input by number; unbounded if an argument up to the input is a list."""
    # Behind a list the number of an input does not tell its argument.
    allowed, definition = _allowed().get(op), CATALOG.get(op)
    if allowed is None or definition is None or any(arg.is_list for arg in definition.inputs[: index + 1]):
        return 0, math.inf
    return allowed.get(definition.inputs[index].name, (0, math.inf))


def _described(low: int, high: float) -> str:
    if low == high:
        return f"rank {low}"
    return f"rank {low} or higher" if high == float("inf") else f"a rank from {low} to {high:g}"


@functools.cache
def _allowed() -> Mapping[str, Mapping[str, _Ranks]]:
    lines = pathlib.Path(__file__).with_suffix(".txt").read_text().splitlines()
    return {op: dict(map(_parsed, words)) for op, *words in map(str.split, lines)}


def _parsed(word: str) -> tuple[str, _Ranks]:
    # `x=2`, `x=2-4` or, without an upper bound, `x=2+`.
    name, _, ranks = word.partition("=")
    low, _, high = ranks.removesuffix("+").partition("-")
    return name, (int(low), float("inf") if ranks.endswith("+") else int(high or low))
