"""Keys and edges in layers, each key below those that lead to it, but for the edges that close a cycle (the first two steps of
Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system structures", 1981)."""

from __future__ import annotations

import collections
import heapq
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_After = Mapping[_Key, Mapping[_Key, None]]


def forward_edges(keys: Sequence[_Key], edges: Iterable[tuple[_Key, _Key]]) -> _After[_Key]:
    """Where edges lead from each key, without those from a key to itself and those that close a cycle: that lead back to a key
    which a depth-first walk in the order of `keys` has not left yet."""
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
    """A walk from `root`; `done` tells the keys that it has left from those that it is in."""
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
    """The keys, each after those that lead to it, otherwise in the order in which they stand."""
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
    """The keys by layer, from the top: as far up as those that lead to them let them; where none does, just above the first
    that one leads to."""
    layer = dict.fromkeys(after, 0)
    led_to = set()
    for key in flow_order(after):
        for target in after[key]:
            led_to.add(target)
            layer[target] = max(layer[target], layer[key] + 1)
    for key, targets in after.items():
        if key not in led_to and targets:
            layer[key] = min(layer[target] for target in targets) - 1
    found: list[list[_Key]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for key in after:
        found[layer[key]].append(key)
    return found
