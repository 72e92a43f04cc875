"""Name scopes as a tree, divided further where a scope has too many parts for a picture."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from ..explaining.author_scopes import has_name_stem, name_stem
from ..graph.graph import Node
from ..support import dataclasses

_MAX_DEPTH: Final = 32
"""Scopes further down are none of their own."""
_MIN_ALIKE: Final = 3
_DIGITS: Final = re.compile(r"\d+")


@dataclasses.dataclass(eq=False, slots=True)
class NameScope:
    """A name scope: `path` is the full name, without the slash at the end; parts stand in the order of the graph."""

    path: str
    label: str
    prefix: str
    """The name scope that the nodes have in common; `path` itself, but for scopes that were made by division."""
    parts: list[NameScope | Node] = dataclasses.field(default_factory=list)
    nodes: int = 0
    """The number of nodes in the scope, nested scopes included."""
    alike: int = 1
    """The number of scopes that are alike and that the scope stands for."""

    @property
    def is_name_scope(self) -> bool:
        """Return False for a scope that was made by division."""
        return self.path == self.prefix

    def members(self) -> Iterator[Node]:
        """Yield all nodes of the scope in the order of the graph, nested scopes included."""
        # By a stack, since scopes made by division may nest deeper than Python recurses.
        pending = [iter(self.parts)]
        while pending:
            for part in pending[-1]:
                if isinstance(part, NameScope):
                    pending.append(iter(part.parts))
                    break
                yield part
            else:
                pending.pop()


def scope_tree(nodes: Sequence[Node], max_parts: int, homes: Mapping[Node, str] = MappingProxyType({})) -> NameScope:
    """Return the tree of scopes of `nodes`, no scope with more than `max_parts` parts.

    A node of a scope's name belongs into the scope. A scope with a single part is left out. More than `max_parts` parts are
    put into scopes: those whose names have a common stem (`block1`), several that are alike (`20 x block_0 ... block_19`), and
    then rows of the same length, in the order of `nodes`, named by first and last part (`a ... f`). If any scope has too many
    parts, nodes with a scope in `homes` stand there: variables that lie between blocks would tear apart those alike.
    """
    scopes = _scopes(nodes, {})
    if homes and any(len(scope.parts) > max_parts for scope in scopes):
        scopes = _scopes(nodes, homes)
    for scope in scopes:
        _divide(scope, max_parts)
    return scopes[0]


def _scopes(nodes: Iterable[Node], homes: Mapping[Node, str]) -> list[NameScope]:
    """Return the scopes of nodes with their parts, not yet divided; the root first."""
    scopes = {"": NameScope("", "", "")}
    last, scope = "", scopes[""]
    for node in nodes:
        path = homes[node] if node in homes else scope_path(node.name)
        # Most nodes stand behind one of the same scope.
        if path != last:
            last, scope = path, scopes.get(path) or _scope_of(path, scopes)
        scope.parts.append(node)
    _place_namesakes(scopes)
    # From the innermost scopes out, for `_only_part` replaces a scope by what is left in it.
    for scope in reversed(scopes.values()):
        scope.parts = [part if isinstance(part, Node) else _only_part(part) for part in scope.parts]
        scope.nodes = _count(scope.parts)
    return list(scopes.values())


def _scope_of(inner: str, scopes: dict[str, NameScope]) -> NameScope:
    """Return the scope of a path, made where there is none yet."""
    scope = scopes[""]
    path = ""
    for part in inner.split("/") if inner else ():
        path = f"{path}/{part}" if scope.path else part
        if path not in scopes:
            scopes[path] = NameScope(path, part, path)
            scope.parts.append(scopes[path])
        scope = scopes[path]
    return scope


def _place_namesakes(scopes: dict[str, NameScope]) -> None:
    """Put nodes into the scopes of their names."""
    for scope in list(scopes.values()):
        named = {part for part in scope.parts if isinstance(part, Node) and part.name in scopes and part.name != scope.path}
        for node in named:
            # First in its scope, as the others compute around it.
            scopes[node.name].parts.insert(0, node)
        if named:
            scope.parts = [part for part in scope.parts if part not in named]


def _only_part(part: NameScope | Node) -> NameScope | Node:
    """Return the part, or the only part inside where there is just a single member."""
    while isinstance(part, NameScope) and len(part.parts) == 1:
        inner = part.parts[0]
        if isinstance(inner, NameScope):
            inner.label = f"{part.label}/{inner.label}"
        part = inner
    return part


def _count(parts: Iterable[NameScope | Node]) -> int:
    return sum(part.nodes if isinstance(part, NameScope) else 1 for part in parts)


def _divide(scope: NameScope, max_parts: int) -> None:
    """Put the parts of a scope with too many into scopes: those of a common stem, twice, those alike, then rows."""
    if len(scope.parts) > max_parts:
        count, scope.parts = len(scope.parts), _of_a_stem(scope)
        # Again, if there are new scopes: `conv2_block1_1_conv` is of `conv2_block1`, and that of `conv2`.
        if max_parts < len(scope.parts) < count:
            scope.parts = _of_a_stem(scope)
    if len(scope.parts) > max_parts:
        scope.parts = _alike(scope)
    while len(scope.parts) > max_parts:
        # About as many rows as parts in a row, so that neither level is too large.
        length = min(math.isqrt(len(scope.parts) - 1) + 1, max_parts)
        scope.parts = [_row(scope, scope.parts[i : i + length]) for i in range(0, len(scope.parts), length)]
    for part in scope.parts:
        # Name scopes have their turn in `scope_tree`; only what was made here is divided again.
        if isinstance(part, NameScope) and not part.is_name_scope:
            _divide(part, max_parts)


def _of_a_stem(scope: NameScope) -> list[NameScope | Node]:
    """Return the parts, those behind each other whose names begin alike as one: `conv2_block1_1_conv` ..."""
    labels = [part_label(part, scope.prefix) for part in scope.parts]
    # One look at all names together: most scopes have no such name, and a search in each takes several times as long.
    if not has_name_stem("\n".join(labels)):
        return scope.parts
    stems = dict(zip(scope.parts, map(name_stem, labels)))
    runs = [(stem, list(run)) for stem, run in itertools.groupby(scope.parts, stems.get)]
    if len(runs) == 1:
        return scope.parts
    taken = {part.path for part in scope.parts if isinstance(part, NameScope)}
    return [part for stem, run in runs for part in ([_group(scope, stem, run, taken)] if stem and len(run) > 1 else run)]


def _alike(scope: NameScope) -> list[NameScope | Node]:
    """Return the parts, several scopes behind each other that are alike as one."""
    if all(isinstance(part, Node) for part in scope.parts):
        return scope.parts
    runs = [list(run) for _, run in itertools.groupby(scope.parts, _shape)]
    if len(runs) == 1:
        return scope.parts
    return [part for run in runs for part in ([_row(scope, run, len(run))] if len(run) >= _MIN_ALIKE else run)]


def _shape(part: NameScope | Node) -> Hashable:
    """Return what scopes that are alike have in common: names but for numbers, and ops; a node is like no other."""
    if not isinstance(part, NameScope):
        return part
    # Sorted: in the order of the data flow the nodes of blocks that are alike may stand otherwise.
    return _DIGITS.sub("#", part.label), tuple(sorted(node.op for node in part.members()))


def _group(scope: NameScope, label: str, parts: Sequence[NameScope | Node], taken: set[str]) -> NameScope:
    """Return a scope of parts under a path that is not taken, as a page finds scopes by their paths."""
    path = f"{scope.path}/{label}" if scope.path else label
    if path in taken:
        # Such as a scope `conv2` beside the nodes `conv2_a` and `conv2_b`: both would have the path `conv2`.
        path += f" ... {part_label(parts[0], scope.prefix)}"
    taken.add(path)
    return NameScope(path, label, scope.prefix, list(parts), _count(parts))


def _row(scope: NameScope, parts: Sequence[NameScope | Node], alike: int = 1) -> NameScope | Node:
    if len(parts) == 1:
        return parts[0]
    first, last = (part_label(part, scope.prefix) for part in (parts[0], parts[-1]))
    label = f"{f'{alike} x ' if alike > 1 else ''}{first} ... {last}"
    path = f"{scope.path}/{label}" if scope.path else label
    return NameScope(path, label, scope.prefix, list(parts), _count(parts), alike)


def scope_path(name: str) -> str:
    """Return the path of the scope that a node of this name stands in; scopes that lie very deep are none."""
    # A search from the end takes a third of the time of a split, and most names have few scopes.
    return name.rpartition("/")[0] if name.count("/") <= _MAX_DEPTH else "/".join(name.split("/", _MAX_DEPTH)[:-1])


def part_label(part: NameScope | Node, prefix: str) -> str:
    """Return a part's name inside the scope of name `prefix`: the first component after the prefix."""
    if isinstance(part, NameScope):
        return part.label.partition(" ... ")[0].rpartition(" x ")[2]
    return name_inside(part, prefix).partition("/")[0]


def name_inside(node: Node, prefix: str) -> str:
    """Return a node's name from inside the scope of name `prefix`."""
    if node.name == prefix:
        return node.name.rpartition("/")[2]
    return node.name.removeprefix(f"{prefix}/") if prefix else node.name
