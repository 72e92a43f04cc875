"""Fetches that race with each other: what a run of all of them returns depends on the readiness of nodes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from ..graph.graph import Graph, Output
from ..planning.planner import races_of
from ..planning.reachability import needed_nodes


def fetches_in_turn(graph: Graph, fetches: Mapping[str, str], fed: Sequence[Output] = ()) -> list[list[str]]:
    """Return the keys of `fetches` in groups, such that no two fetches of a group race with each other.

    Two training operations of one variable come into two groups: what a run of both does has no order, what each does alone
    has. Accesses that race in the run of a single fetch separate nothing, as no group would order them.

        >>> fetches_in_turn(graph, {"loss": "loss:0", "first": "sgd", "second": "momentum"})
        [['loss', 'first'], ['second']]
    """
    targets = {key: graph.fetch(name) for key, name in fetches.items()}
    races = list(races_of(graph, list(targets.values()), fed)) if len(targets) > 1 else []
    needed = {key: needed_nodes([target], fed) for key, target in targets.items()} if races else {}
    conflicts: set[tuple[str, str]] = set()
    for race in races:
        first, second = ({key for key in needed if access.node in needed[key]} for access in (race.first, race.second))
        conflicts.update(itertools.product(first - second, second - first))
    groups: list[list[str]] = []
    for key in targets:
        free = [
            group for group in groups if conflicts.isdisjoint([(key, own) for own in group] + [(own, key) for own in group])
        ]
        if free:
            free[0].append(key)
        else:
            groups.append([key])
    return groups
