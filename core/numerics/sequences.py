"""Algorithms on sequences: connectionist temporal classification, isotonic regression, heaps, the k best, edit distances.

CTC (Graves et al. 2006): loss, gradient, and decoding by beam search. Levenshtein's distances are computed row by row of a
table (Wagner and Fischer, J. ACM 21 (1974)), for many pairs of sequences at once.
"""

from __future__ import annotations

import heapq
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from math import exp, log1p
from typing import Any, Final, NamedTuple

import numpy as np

from ..types.arrays import Array
from .interruption_points import pause


def log_softmax(logits: Array) -> Array:
    """Return the logarithm of the softmax along the last dimension."""
    # The largest exponent becomes 0, so that no exponential overflows.
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def loss_and_gradient(
    logits: Array, labels: Sequence[Sequence[int]], lengths: Array, blank: int, merge_repeated: bool
) -> tuple[Array, Array]:
    """Return -log p(labels) for each sequence and the gradient for logits (time, batch, classes), in the dtype of the
    logits.

    Where no path exists, the loss is infinite and the gradient the softmax. Empty sequences (length 0) give zeros. Sums go
    in TensorFlow's order, in logarithms: over a hundred steps another order shows in the fifth digit.
    """
    time, batch, _ = logits.shape
    softmax = np.exp(logits - logits.max(-1, keepdims=True, initial=-np.inf))
    softmax /= softmax.sum(-1, keepdims=True)
    extended, skips, stays, sizes = _extended(labels, blank, merge_repeated)
    # The logarithm of the rounded softmax, not log_softmax: TensorFlow computes it so, and a probability of 0 is -inf.
    emitted = np.log(softmax)[:, np.arange(batch)[:, None], extended]
    inside = np.arange(extended.shape[1]) < sizes[:, None]
    alpha, beta = _both_ways(emitted, skips, stays, sizes, lengths)
    paths = np.where(inside, alpha + beta, -np.inf).astype(logits.dtype)
    sums = _class_sums(paths, extended, softmax.shape[2])
    total = sums[0, :, -1] if time else np.zeros(batch, logits.dtype)
    gradient = softmax - _expected(sums[:, :, :-1], total)
    gradient[np.arange(time)[:, None] >= lengths] = 0
    return np.where(lengths > 0, -total, 0), gradient


def _class_sums(paths: Array, extended: Array, classes: int) -> Array:
    """Return log p of all paths through a class at each time, and as an additional class, of all paths."""
    time, batch, _ = paths.shape
    sums = np.full((batch, classes + 1, time), -np.inf, paths.dtype)
    sequence = np.arange(batch)[:, None]
    both = np.stack([extended, np.full_like(extended, classes)], -1)
    for state, path in enumerate(np.ascontiguousarray(paths.transpose(2, 1, 0))):
        rows = sequence, both[:, state]
        sums[rows] = _add_logarithms(sums[rows], path[:, None])
    return np.ascontiguousarray(sums.transpose(2, 0, 1))


def _expected(sums: Array, total: Array) -> Array:
    """Return the probability of each class at each time, given the labels; 0 for sequences without a path."""
    return np.where(np.isfinite(total)[:, None], _exp(sums - np.where(np.isfinite(total), total, 0)[:, None]), 0)


def _exp(x: Array) -> Array:
    """Return the exponential in single precision, correctly rounded; TensorFlow's is the C library's expf in double
    precision too.
    """
    return np.exp(x.astype(np.float32), dtype=np.float64).astype(np.float32)


def _add_logarithms(a: Array, b: Array) -> Array:
    """Return log(exp(a) + exp(b)), with the smaller term's share in single precision."""
    high = np.maximum(a, b)
    share = np.subtract(np.minimum(a, b), high).astype(np.float32, copy=False)
    np.exp(share, out=share, dtype=np.float64, casting="unsafe")
    np.log1p(share, out=share, dtype=np.float64, casting="unsafe")
    return np.fmax(high + share, high)  # where both are -inf the share is NaN


def _extended(labels: Sequence[Sequence[int]], blank: int, merge_repeated: bool) -> tuple[Array, Array, Array, Array]:
    """Return labels with blanks around each; masks of places where a path may skip a blank and may stay; and the sizes."""
    sizes = np.array([2 * len(row) + 1 for row in labels], np.int64)
    extended = np.full((len(labels), int(sizes.max(initial=1))), blank, np.int64)
    for i, row in enumerate(labels):
        extended[i, 1 : 2 * len(row) : 2] = row
    skips = np.zeros(extended.shape, bool)
    # A blank between two different labels may be left out; a path from blank to blank must pass the label.
    skips[:, 2:] = extended[:, 2:] != blank
    if merge_repeated:
        skips[:, 2:] &= extended[:, 2:] != extended[:, :-2]
    stays = np.ones(extended.shape, bool) if merge_repeated else extended == blank
    return extended, skips, stays, sizes


def _both_ways(emitted: Array, skips: Array, stays: Array, sizes: Array, lengths: Array) -> tuple[Array, Array]:
    """Return log p of all paths to a state up to and with each time, and of all paths from a state after each time.

    The second recursion runs through times and states from the end, and is otherwise equal to the first: both run in the
    same steps.
    """
    time, batch, states = emitted.shape
    column = np.arange(states)
    first, last = column < np.minimum(sizes, 2)[:, None], (column >= sizes[:, None] - 2) & (column < sizes[:, None])
    skips_ahead = np.zeros_like(skips)
    skips_ahead[:, :-2] = skips[:, 2:]
    start, may_stay = _costs(first, last, emitted.dtype), _costs(stays, stays, emitted.dtype)
    may_skip = _costs(skips, skips_ahead, emitted.dtype)
    # The way back is the way forward through reversed times and states: one loop runs both, with half the calls to NumPy.
    emitted_both = np.stack([emitted, emitted[::-1, :, ::-1]], 1)
    before = np.full(emitted_both.shape, -np.inf, emitted.dtype)
    padded = np.full((2, batch, 2 + states), -np.inf, emitted.dtype)
    begin = {time - length: lengths == length for length in set(lengths.tolist()) if length}
    for t in range(time):
        if t:
            near = _add_logarithms(padded[..., 2:] + may_stay, padded[..., 1:-1])
            before[t] = _add_logarithms(near, padded[..., :-2] + may_skip)
        else:
            before[t, 0] = start[0]
        if t in begin:
            # Shorter sequences begin later on the way back, at the last time that they have.
            before[t, 1, begin[t]] = start[1, begin[t]]
        np.add(before[t], emitted_both[t], out=padded[..., 2:])
    return before[:, 0] + emitted, before[::-1, 1, :, ::-1]


def _costs(forward: Array, backward: Array, dtype: np.dtype[Any]) -> Array:
    """Return log weights of transitions, forward and backward: 0 for a possible transition, -inf otherwise."""
    return np.where(np.stack([forward, backward[:, ::-1]]), 0, -np.inf).astype(dtype)


_IMPOSSIBLE: Final = -math.inf
_total_of: Final = operator.attrgetter("total")


class _Beam:
    """A prefix of labels, with log probabilities: of paths that end in a blank, of paths that end in the last label, of all
    paths.
    """

    __slots__ = ("blank", "children", "label", "label_probability", "old", "parent", "total")

    def __init__(self, parent: _Beam | None, label: int) -> None:
        self.parent, self.label = parent, label
        self.children: dict[int, _Beam] = {}
        self.blank = self.label_probability = self.total = _IMPOSSIBLE
        self.old = (_IMPOSSIBLE, _IMPOSSIBLE)

    def reset(self) -> None:
        self.blank = self.label_probability = self.total = _IMPOSSIBLE

    def child(self, label: int) -> _Beam:
        child = self.children.get(label)
        if child is None:
            child = self.children[label] = _Beam(self, label)
        return child

    def labels(self) -> list[int]:
        """Return the labels from the root on."""
        beam, labels = self, []
        while beam.parent is not None:
            labels.append(beam.label)
            beam = beam.parent
        return labels[::-1]


def beam_search(logits: Array, width: int, paths: int) -> list[tuple[list[int], float]]:
    """Return the `paths` most probable label sequences of logits (time, classes), the last class being the blank."""
    root = _Beam(None, -1)
    root.blank = root.total = 0.0
    beams = [root]
    for row in log_softmax(logits) if len(logits) else []:
        beams = _step(beams, row, width)
    beams.sort(key=lambda beam: -beam.total)
    return [(beam.labels(), beam.total) for beam in beams[:paths]]


def _step(beams: list[_Beam], row: Array, width: int) -> list[_Beam]:
    """Return the best beams after another time step."""
    beams = sorted(beams, key=_total_of, reverse=True)
    for beam in beams:
        beam.old = (beam.blank, beam.total)
    numbers = row.tolist()
    for beam in beams:
        _extend(beam, numbers)
    heap = [(beam.total, -i, beam) for i, beam in enumerate(beams)]
    heapq.heapify(heap)
    likely = np.flatnonzero(row[:-1] + beams[0].old[1] > (heap[0][0] if len(heap) >= width else _IMPOSSIBLE))
    ranked = [(label, numbers[label]) for label in likely[(-row[likely]).argsort()].tolist()]
    order = len(beams)
    for beam in beams:
        blank, total = beam.old
        # The worst beam that is kept: no extension below it can come in, and the bound rises while beams are offered.
        least = heap[0][0] if len(heap) >= width else _IMPOSSIBLE
        if len(heap) >= width and not total > least:
            continue
        # Existing children are offered too: a child that was pushed out and does not come back is not extended.
        better = _better(beam, ranked, numbers, least)
        for label in sorted(better.union(beam.children)) if beam.children else sorted(better):
            order += 1
            _offer(heap, beam, label, numbers[label] + (blank if label == beam.label else total), width, order)
    return [entry[2] for entry in heap]


def _better(beam: _Beam, ranked: list[tuple[int, float]], numbers: list[float], least: float) -> set[int]:
    """Return the labels that make a beam more probable than `least`; `ranked` has the most probable labels first."""
    blank, total = beam.old
    better = set()
    for label, number in ranked:
        if not number + total > least:
            break
        better.add(label)
    better.discard(beam.label)
    if beam.label >= 0 and numbers[beam.label] + blank > least:
        better.add(beam.label)
    return better


def _extend(beam: _Beam, row: list[float]) -> None:
    """Update the probabilities of a beam that stays: by its label again, by its parent's next label, or by a blank."""
    parent, label = beam.parent, beam.label
    if parent is not None:
        if parent.total > _IMPOSSIBLE:
            previous = parent.old[0 if label == parent.label else 1]
            beam.label_probability = _log_of_sum(beam.label_probability, previous)
        beam.label_probability += row[label]
    beam.blank = beam.old[1] + row[-1]
    beam.total = _log_of_sum(beam.blank, beam.label_probability)


def _log_of_sum(x: float, y: float) -> float:
    """Return log(e^x + e^y) in NumPy's arithmetic of logaddexp."""
    if x == y:
        return x + _LOG_2
    return x + log1p(exp(y - x)) if x > y else y + log1p(exp(x - y))


_LOG_2: Final = math.log(2)


def _offer(heap: list[Any], beam: _Beam, label: int, score: float, width: int, order: int) -> None:
    """Add a beam with another label if there is room, or the beam is better than the worst."""
    full = len(heap) >= width
    is_worse = full and not score > heap[0][0]
    if is_worse and label not in beam.children:
        return
    child = beam.child(label)
    # The child is among the beams already, and was extended by its own step.
    if child.total > _IMPOSSIBLE:
        return
    if is_worse:
        # Its parent's next step must not count the paths of an earlier time, before the child was pushed out.
        child.old = (_IMPOSSIBLE, _IMPOSSIBLE)
        return
    child.blank, child.label_probability, child.total = _IMPOSSIBLE, score, score
    if full:
        heapq.heappop(heap)[2].reset()
    heapq.heappush(heap, (score, -order, child))


# Isotonic regression by pooling adjacent violators.
# Ayer et al., "An empirical distribution function for sampling with incomplete information", Ann. Math. Stat. 26 (1955).


def decreasing_fit(row: Sequence[float]) -> tuple[list[float], list[int]]:
    """Return the non-increasing sequence of least squared distance, and for each element the number of its pool."""
    means: list[float] = []
    counts: list[int] = []
    for value in row:
        mean, count = value, 1
        # A rise violates the order: both pools become one of their common mean, which may violate the order with the pool
        # before.
        while means and means[-1] < mean:
            before, members = means.pop(), counts.pop()
            mean = (mean * count + before * members) / (count + members)
            count += members
        means.append(mean)
        counts.append(count)
    fit = [mean for mean, count in zip(means, counts) for _ in range(count)]
    return fit, [i for i, count in enumerate(counts) for _ in range(count)]


# Binary heaps that move their elements as C++'s std::push_heap and std::pop_heap (GNU libstdc++, bits/stl_heap.h) do.
# Elements of equal priority leave the heap in no simple order; TensorFlow's priority queues and barriers show that order. The
# largest element is at the root; a pop sifts a hole down to a leaf and back up (Floyd, Algorithm 245, CACM 7 (1964)).


class _Entry(NamedTuple):
    priority: int
    element: Any

    def __lt__(self, other: tuple[Any, ...]) -> bool:
        """Return True for an element that leaves a heap after the other."""
        return bool(self.priority > other[0])


class MinHeap:
    """Elements by priority, the smallest first."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    def push(self, priority: int, element: Any) -> None:
        """Add an element."""
        entry = _Entry(priority, element)
        self._entries.append(entry)
        _rise(self._entries, len(self._entries) - 1, 0, entry)

    def pop(self) -> Any:
        """Take an element of the smallest priority."""
        first, last = self._entries[0], self._entries.pop()
        if self._entries:
            sift(self._entries, 0, len(self._entries), last)
        return first.element


def sift(heap: list[Any], hole: int, size: int, item: Any) -> None:
    """Move the hole to a leaf along the larger children, then `item` up from there."""
    top, child = hole, hole
    while child < (size - 1) // 2:
        child = 2 * child + 2
        if heap[child] < heap[child - 1]:
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if size % 2 == 0 and child == (size - 2) // 2:
        child = 2 * child + 1
        heap[hole] = heap[child]
        hole = child
    _rise(heap, hole, top, item)


def _rise(heap: list[Any], hole: int, top: int, item: Any) -> None:
    """Move the hole up, at most to `top`, until `item` fits."""
    while hole > top and heap[(hole - 1) // 2] < item:
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = item


# The k best of a row, in sorted order or in the order of a bounded heap, TensorFlow's order of an unsorted top k.
# The heap is the C++ library's, so that the order agrees.

_FEW: Final = 1 << 9
"""The largest number of keys where sorting all takes less time than selecting the smallest first, as measured by
`benchmarks/thresholds.py`.
"""


def sorted_top_k(keys: Array, k: int) -> Array:
    """Return places of the k smallest keys along the last dimension, ascending; of equals the first comes first, NaN last."""
    count = keys.shape[-1]
    if k == 1 and count:
        least_place = np.argmin(keys, -1, keepdims=True)
        least = np.take_along_axis(keys, least_place, -1)
        if not np.any(least != least):
            return least_place
    elif 0 < 4 * k <= count and keys.size > _FEW:
        return _smallest(keys, k)
    return np.argsort(keys, -1, kind="stable")[..., :k]


def _smallest(keys: Array, k: int) -> Array:
    """Select the k smallest without a full sort: all keys below the k-th smallest, and the first of the keys equal to the
    k-th.
    """
    last = np.partition(keys, k - 1, -1)[..., k - 1 : k]
    chosen = keys <= last
    if np.any(np.count_nonzero(chosen, -1) != k):
        if np.any(last != last):  # the k-th smallest is NaN
            return np.argsort(keys, -1, kind="stable")[..., :k]
        below, equal = keys < last, keys == last
        missing = k - np.count_nonzero(below, -1, keepdims=True)
        chosen = below | (equal & (np.cumsum(equal, -1, dtype=np.int32) <= missing))
    chosen_places = np.nonzero(chosen)[-1].reshape(*keys.shape[:-1], k)
    best = np.take_along_axis(keys, chosen_places, -1)
    return np.take_along_axis(chosen_places, np.argsort(best, -1, kind="stable"), -1)


def unsorted_top_k(keys: Array, k: int) -> Array:
    """Return places of the k smallest keys of each row, (rows, n) -> (rows, k < n), in heap order; of equals the first is
    better.
    """
    rows = len(keys)
    result = np.empty((rows, k), np.int64)
    for row in range(rows) if k else ():
        result[row] = [place for _, place in _best_in_heap(keys[row], k, tuple)]
    return result


def top_k_beside_nan(keys: Array, k: int, is_sorted: bool) -> list[int]:
    """Return places of the k > 1 smallest keys of a row with NaN, by TensorFlow's comparisons, which are no order then."""
    if k == len(keys):
        return _all_in_order(keys.tolist())
    heap = _best_in_heap(keys, k, _Candidate._make)
    if is_sorted:
        _sort_heap(heap)
    return [place for _, place in heap]


class _Candidate(NamedTuple):
    key: float
    place: int

    def __lt__(self, other: tuple[Any, ...]) -> bool:
        """Compare as TensorFlow: beside NaN, which is neither less nor greater, the place decides."""
        return bool(self.key < other[0] or (not self.key > other[0] and self.place < other[1]))


def _best_in_heap(keys: Array, k: int, pair: Callable[[Any], Any]) -> list[tuple[float, int]]:
    """Return the heap of the k best as pairs of key and place: a better newcomer replaces the root, the worst of k + 1."""
    heap = list(map(pair, zip(keys[: k + 1].tolist(), range(k + 1))))
    _make_heap(heap)
    _drop_root(heap, k + 1)
    heap.pop()
    # Beside NaN the root need not be the worst, and no number is better than a root that is NaN.
    worst = max((key for key, _ in heap if key == key), default=-math.inf)
    for place in np.flatnonzero(keys[k + 1 :] < worst).tolist():
        newcomer = pair((keys[k + 1 + place].item(), k + 1 + place))
        if newcomer < heap[0]:
            _drop_root(heap, k)
            _rise(heap, k - 1, 0, newcomer)
    return heap


def _make_heap(heap: list[Any]) -> None:
    for parent in range((len(heap) - 2) // 2, -1, -1):
        sift(heap, parent, len(heap), heap[parent])


def _sort_heap(heap: list[Any]) -> None:
    for size in range(len(heap), 1, -1):
        _drop_root(heap, size)


def _drop_root(heap: list[Any], size: int) -> None:
    last = heap[size - 1]
    heap[size - 1] = heap[0]
    sift(heap, 0, size - 1, last)


_SHORT: Final = 16
"""Up to how many elements the C++ library sorts by insertion."""


class _Keyed(NamedTuple):
    key: float
    place: int

    def __lt__(self, other: tuple[Any, ...]) -> bool:
        """Compare the keys alone, so that neither of two equal keys is less."""
        return bool(self.key < other[0])


def _all_in_order(keys: list[float]) -> list[int]:
    """Return the places of keys with NaN as C++'s std::sort leaves them (GNU libstdc++, bits/stl_algo.h), equals by place."""
    pairs = [_Keyed(key, place) for place, key in enumerate(keys)]
    _divide(pairs, 0, len(pairs), 2 * len(pairs).bit_length() - 2)
    _insert(pairs)
    # TensorFlow sorts runs of equal neighbours by place. NaN equals nothing, so that it is a run of its own.
    runs = itertools.accumulate((a.key != b.key for a, b in itertools.pairwise(pairs)), initial=0)
    return [place for _, place in sorted(zip(runs, [pair.place for pair in pairs]))]


def _divide(pairs: list[_Keyed], first: int, last: int, depth: int) -> None:
    """Divide by pivots until the parts are short; sort a part by a heap if the divisions do not shorten it."""
    while last - first > _SHORT:
        if not depth:
            heap = pairs[first:last]
            _make_heap(heap)
            _sort_heap(heap)
            pairs[first:last] = heap
            return
        depth -= 1
        cut = _cut(pairs, first, last)
        _divide(pairs, cut, last, depth)
        last = cut


def _cut(pairs: list[_Keyed], first: int, last: int) -> int:
    """Bring less than the median of three before the others, and return where the others begin."""
    a, b, c = first + 1, (first + last) // 2, last - 1
    if pairs[a] < pairs[b]:
        median = b if pairs[b] < pairs[c] else c if pairs[a] < pairs[c] else a
    else:
        median = a if pairs[a] < pairs[c] else c if pairs[b] < pairs[c] else b
    pairs[first], pairs[median] = pairs[median], pairs[first]
    pivot, low, high = pairs[first], first + 1, last
    while True:
        # C++ has no bounds here: without NaN the median is one. Beyond them TensorFlow's result has no meaning.
        while low < len(pairs) - 1 and pairs[low] < pivot:
            low += 1
        high -= 1
        while high and pivot < pairs[high]:
            high -= 1
        if low >= high:
            return low
        pairs[low], pairs[high] = pairs[high], pairs[low]
        low += 1


def _insert(pairs: list[_Keyed]) -> None:
    for i, pair in enumerate(pairs):
        pause()
        at = i
        if i < _SHORT and pair < pairs[0]:
            at = 0  # at once, past a NaN where the steps below would stop
        while at and pair < pairs[at - 1]:
            at -= 1
        pairs[at + 1 : i + 1] = pairs[at:i]
        pairs[at] = pair


# Edit distances.


def edit_distances(sources: Array, source_sizes: Array, targets: Array, target_sizes: Array) -> Array:
    """Return the number of insertions, deletions and substitutions from each source to the paired target, int64.

    Sequences are concatenated in a vector; the sizes vectors have an entry for each pair.
    """
    starts = [np.cumsum(sizes) - sizes for sizes in (source_sizes, target_sizes)]
    distances = source_sizes + target_sizes
    # Pairs of like length share a table: with all pairs in one, short targets would be computed to the length of the longest.
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
    # The pairs are sorted by falling length of their sources: those that still have an element i come first.
    ends = np.searchsorted(-sizes, -np.arange(sizes[0]), "left")
    for i, count in enumerate(ends.tolist()):
        pause()
        before = table[:, :count]
        saved = before[:-1] + (targets[:, :count] == sources[starts[:count] + i])
        saved += 1
        np.maximum(saved, before[1:], out=saved)
        # An insertion leaves the saved edits as they are, so that the running maximum along the target covers all insertions
        # at once.
        np.maximum.accumulate(saved, axis=0, out=before[1:])
    return table[target_sizes, np.arange(len(starts))]
