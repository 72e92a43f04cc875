"""Levenshtein's distance, row by row of a table (Wagner and Fischer, J. ACM 21 (1974)), of many pairs of sequences at once."""

from __future__ import annotations

import numpy as np

from ..parallel.interruption_points import pause
from ..types.arrays import Array


def edit_distances(sources: Array, source_sizes: Array, targets: Array, target_sizes: Array) -> Array:
    """How many insertions, deletions and substitutions turn each source into its target, int64.

    Sequences stand one after the other in a vector, beside which are their sizes, one for each pair.
    """
    starts = [np.cumsum(sizes) - sizes for sizes in (source_sizes, target_sizes)]
    distances = source_sizes + target_sizes
    _, kinds = np.frexp(target_sizes)  # targets together are at most twice as long as each other
    kinds[(source_sizes == 0) | (target_sizes == 0)] = 0
    for kind in np.unique(kinds[kinds > 0]):
        pairs = np.flatnonzero(kinds == kind)
        pairs = pairs[np.argsort(-source_sizes[pairs], kind="stable")]
        wanted = _side_by_side(targets, starts[1][pairs], target_sizes[pairs])
        distances[pairs] -= _saved(sources, starts[0][pairs], source_sizes[pairs], wanted, target_sizes[pairs])
    return distances


def _side_by_side(values: Array, starts: Array, sizes: Array) -> Array:
    """(longest, sequences): sequences as columns, behind whose end stands anything."""
    places = starts + np.arange(sizes.max())[:, None]
    return values.take(places, mode="clip")


def _saved(sources: Array, starts: Array, sizes: Array, targets: Array, target_sizes: Array) -> Array:
    """How many edits less than to delete the source and insert the target; `sizes` do not grow.

    A column of the table is that of a pair, a row that of a place in the target. What is kept of it, for the first i elements
    of the source and the first j of the target, is i + j - distance: 2 more for two that are equal, 1 for a substitution.
    """
    table = np.zeros((len(targets) + 1, len(starts)), np.int64)
    ends = np.searchsorted(-sizes, -np.arange(sizes[0]), "left")
    for i, count in enumerate(ends.tolist()):
        pause()
        before = table[:, :count]
        saved = before[:-1] + (targets[:, :count] == sources[starts[:count] + i])
        saved += 1
        np.maximum(saved, before[1:], out=saved)
        np.maximum.accumulate(saved, axis=0, out=before[1:])
    return table[target_sizes, np.arange(len(starts))]
