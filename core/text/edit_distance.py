"""Levenshtein's distance, row by row of a table (Wagner and Fischer, J. ACM 21 (1974)), of many pairs of sequences at once."""

from __future__ import annotations

import numpy as np

from ..parallel.interruption_points import pause
from ..types.arrays import Array


def edit_distances(sources: Array, source_sizes: Array, targets: Array, target_sizes: Array) -> Array:
    """Return the number of insertions, deletions and substitutions from each source to the paired target, int64.

    Sequences are concatenated in a vector; the sizes vectors have an entry for each pair.
    """
    starts = [np.cumsum(sizes) - sizes for sizes in (source_sizes, target_sizes)]
    distances = source_sizes + target_sizes
    _, kinds = np.frexp(target_sizes)  # targets together are at most twice as long as each other
    kinds[(source_sizes == 0) | (target_sizes == 0)] = 0
    for kind in np.unique(kinds[kinds > 0]):
        pairs = np.flatnonzero(kinds == kind)
        pairs = pairs[np.argsort(-source_sizes[pairs], kind="stable")]
        places = starts[1][pairs] + np.arange(target_sizes[pairs].max())[:, None]
        target_columns = targets.take(places, mode="clip")  # behind a sequence's end the entries are arbitrary
        distances[pairs] -= _saved(sources, starts[0][pairs], source_sizes[pairs], target_columns, target_sizes[pairs])
    return distances


def _saved(sources: Array, starts: Array, sizes: Array, targets: Array, target_sizes: Array) -> Array:
    """Return the edits saved relative to deleting the source and inserting the target; `sizes` do not grow.

    The table has a column for each pair and a row for each place in the target. The entry for the first i elements of the
    source and the first j of the target is i + j - distance: 2 more for two equal elements, 1 more for a substitution.
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
