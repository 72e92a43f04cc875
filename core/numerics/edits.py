"""Levenshtein's distance, row by row of a table (Wagner and Fischer, J. ACM 21 (1974))."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def edit_distance(source: Sequence[Any], target: Sequence[Any]) -> int:
    """How many insertions, deletions and substitutions turn one sequence into the other."""
    if not source or not target:
        return len(source) + len(target)
    previous = list(range(len(target) + 1))
    for i, item in enumerate(source, 1):
        current = [i]
        for j, wanted in enumerate(target, 1):
            current.append(min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (item != wanted)))
        previous = current
    return previous[-1]
