"""Layers of a directed graph, each key below the keys that lead there; back edges, which close a cycle, are left out.

These are the first two steps of Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system
structures", 1981.
"""

from __future__ import annotations

import collections
import heapq
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_After = Mapping[_Key, Mapping[_Key, None]]


def forward_edges(keys: Sequence[_Key], edges: Iterable[tuple[_Key, _Key]]) -> _After[_Key]:
    """Return the targets of each key's edges, without self loops and back edges.

    A back edge leads to a key that a depth-first walk, in the order of `keys`, has not left yet.
    """
    after: dict[_Key, dict[_Key, None]] = {key: {} for key in keys}
    for source, target in edges:
        if source != target:
            after[source][target] = None
    done: dict[_Key, bool] = {}
    for root in keys:
        if root not in done:
            _drop_back_edges(root, after, done)
    return after


def _drop_back_edges(root: _Key, after: Mapping[_Key, dict[_Key, None]], done: dict[_Key, bool]) -> None:
    """Walk depth-first from `root` and delete back edges; `done` is True for keys left, False for keys on the stack."""
    stack = [(root, list(after[root]))]
    done[root] = False
    while stack:
        key, pending = stack[-1]
        if not pending:
            done[key] = True
            stack.pop()
            continue
        target = pending.pop()
        if target not in done:
            done[target] = False
            stack.append((target, list(after[target])))
        elif not done[target]:
            del after[key][target]


def flow_order(after: _After[_Key]) -> Iterator[_Key]:
    """Yield the keys in topological order, ties in the order of `after`."""
    keys = list(after)
    place = {key: i for i, key in enumerate(keys)}
    waiting = collections.Counter(target for targets in after.values() for target in targets)
    ready = [i for i, key in enumerate(keys) if not waiting[key]]
    while ready:
        key = keys[heapq.heappop(ready)]
        yield key
        for target in after[key]:
            waiting[target] -= 1
            if not waiting[target]:
                heapq.heappush(ready, place[target])


def layers_of(after: _After[_Key]) -> list[list[_Key]]:
    """Return the keys by layer, from the top.

    A key lies as far up as the sources of its edges allow; a key without sources lies just above the first of its targets.
    """
    layer = dict.fromkeys(after, 0)
    led_to = set()
    for key in flow_order(after):
        for target in after[key]:
            led_to.add(target)
            layer[target] = max(layer[target], layer[key] + 1)
    for key, targets in after.items():
        if key not in led_to and targets:
            layer[key] = min(layer[target] for target in targets) - 1
    layers: list[list[_Key]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for key in after:
        layers[layer[key]].append(key)
    return layers
