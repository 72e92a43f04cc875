"""Sequences written out naively, to be run on counted arrays: CTC, scans, searches, Levenshtein's distance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.core.flops import definitions
from tests.core.flops.counting import counted

Array = Any
IMPOSSIBLE = -1e30
"""A logarithm whose exponential is zero."""


def log_sum(a: Array, b: Array) -> Array:
    """log(exp(a) + exp(b))"""
    least, most = np.minimum(a, b), np.maximum(a, b)
    return most + np.log1p(np.exp(least - most))


def scan(combine: Callable[[Array, Array], Array], x: Array) -> Array:
    """Running results along the first axis."""
    result = x.copy()
    for i in range(1, len(x)):
        result[i : i + 1] = combine(result[i - 1 : i], x[i : i + 1])
    return result


def _shifted(row: Array, places: int) -> Array:
    """The row moved right, or left for negative places, over impossible states."""
    edge = np.full(abs(places), IMPOSSIBLE)
    values = np.asarray(row)
    kept = np.concatenate([edge, values])[: len(row)] if places > 0 else np.concatenate([values, edge])[-len(row) :]
    return counted(kept, row.tally)


def ctc_loss(logits: Array, labels: Sequence[int], blank: int) -> tuple[Array, Array]:
    """Loss and gradient of one sequence (time, classes) by forward and backward variables (Graves et al. 2006)."""
    scores = definitions.log_softmax(logits)
    states = np.full(2 * len(labels) + 1, blank)
    states[1::2] = labels
    skips = np.array([i > 1 and states[i] not in (blank, states[i - 2]) for i in range(len(states))])
    skips_ahead = np.append(skips, [False, False])[2:]
    emitted, steps = scores[:, states], len(logits)

    def step(row: Array, direction: int, allowed: Array) -> Array:
        skipping = counted(np.where(allowed, np.asarray(_shifted(row, 2 * direction)), IMPOSSIBLE), row.tally)
        return log_sum(log_sum(row, _shifted(row, direction)), skipping)

    alpha = counted(np.full(emitted.shape, IMPOSSIBLE), logits.tally)
    alpha[0, :2] = emitted[0, :2]
    for t in range(1, steps):
        alpha[t] = step(alpha[t - 1], 1, skips) + emitted[t]
    beta = counted(np.full(emitted.shape, IMPOSSIBLE), logits.tally)
    beta[-1, -2:] = 0
    for t in reversed(range(steps - 1)):
        beta[t] = step(beta[t + 1] + emitted[t + 1], -1, skips_ahead)
    last = np.append(IMPOSSIBLE, np.asarray(alpha[-1]))
    total = log_sum(counted(last[-1:], logits.tally), counted(last[-2:-1], logits.tally))
    paths, gradient = np.exp(alpha + beta - total), np.exp(scores)
    for i, state in enumerate(states):
        gradient[:, state] = gradient[:, state] - paths[:, i]
    return -total, gradient


def greedy_path(logits: Array) -> Array:
    """The most probable class of each step, and the negated sum of their logits."""
    total: Any = 0.0
    for row in logits:
        total = total - np.maximum.reduce(row, keepdims=True)
    return total


def beam_step(beams: Array, row: Array) -> None:
    """One step of full beams (width, 3): log-probabilities of ending in a blank, in the last label, and of both.

    A beam that stays ends in its label again, or in a blank; one that grows is compared with the worst one kept.
    """
    for blank, label, total in beams[..., None]:
        stayed = log_sum(label, blank) + row[:1]
        log_sum(total + row[-1:], stayed)
        _ = total + row[:-1] > blank


def insertions(x: Array) -> int:
    """How many comparisons sort falling numbers by insertion from the end: the least that finding the greatest k takes."""
    done = list(np.split(x[:1], 1))
    for i in range(1, len(x)):
        item, place = x[i : i + 1], len(done)
        while place and np.asarray(item > done[place - 1]):
            place -= 1
        done.insert(place, item)
    return len(done)


def binary_search(row: Array, value: Array, before: Callable[[Array, Array], Array]) -> int:
    """The first place whose element is not before the value, as the C++ library halves."""
    first, length = 0, len(row)
    while length:
        half = length // 2
        if np.asarray(before(row[first + half : first + half + 1], value)):
            first, length = first + half + 1, length - half - 1
        else:
            length = half
    return first


def edit_distance(source: Array, target: Array) -> Array:
    """Wagner and Fischer 1974, a cell after the other."""
    previous = [counted(np.array([float(j)]), source.tally) for j in range(len(target) + 1)]
    for i in range(len(source)):
        current = [counted(np.array([i + 1.0]), source.tally)]
        for j in range(len(target)):
            is_other = source[i : i + 1] != target[j : j + 1]
            replaced = previous[j] + np.asarray(is_other)
            current.append(np.minimum(np.minimum(previous[j + 1] + 1.0, current[j] + 1.0), replaced))
        previous = current
    return previous[-1]
