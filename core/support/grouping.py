"""Items grouped by keys, and names that pairs join into groups."""

from __future__ import annotations

import collections
from collections.abc import Hashable, Iterable
from typing import TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Item = TypeVar("_Item")


def grouped(items: Iterable[tuple[_Key, _Item]]) -> dict[_Key, list[_Item]]:
    """Return the items of each key; keys and items keep their order."""
    groups: collections.defaultdict[_Key, list[_Item]] = collections.defaultdict(list)
    for key, item in items:
        groups[key].append(item)
    # A plain dictionary, to which a question adds no key.
    return dict(groups)


class JoinedNames:
    """Groups of names, each with a root; `parents` has the names that were joined, in order."""

    def __init__(self) -> None:
        self.parents: dict[str, str] = {}

    def root(self, name: str) -> str:
        parent = self.parents.get(name, name)
        # Each name on the way is moved up to the grandparent (path splitting), so that later questions are short.
        while parent != (above := self.parents.get(parent, parent)):
            self.parents[name] = above
            name, parent = parent, above
        return parent

    def join(self, first: str, second: str) -> None:
        """Unite the groups of two names under the root of the first."""
        first, second = self.root(first), self.root(second)
        # The root too is an entry: whoever goes through `parents` meets every name of a group.
        self.parents.setdefault(first, first)
        self.parents[second] = first
