"""Devices and colocation: the parts of device strings, the nodes that share a device, and conflicts among them."""

from __future__ import annotations

import re
from typing import Final

from ..graph.graph import Graph, Node
from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from ..support.grouping import JoinedNames, grouped

_PARTS = {
    "job": re.compile(r"job:(\w+)"),
    "replica": re.compile(r"replica:(\d+|\*)"),
    "task": re.compile(r"task:(\d+|\*)"),
    "device": re.compile(r"(?:device:)?([A-Za-z_][\w]*)(?::(\d+|\*))?"),
}


@dataclasses.dataclass(frozen=True, slots=True)
class DeviceSpec:
    """A full or partial device name: `/job:worker/replica:0/task:1/device:GPU:0`; None if a part is left open."""

    job: str | None = None
    replica: str | None = None
    task: str | None = None
    kind: str | None = None
    index: str | None = None

    @staticmethod
    def parse(text: str) -> DeviceSpec:
        """Return the device of a string such as `/gpu:0`; InvalidArgumentError for a string that names none."""
        parts: dict[str, str | None] = {}
        for part in filter(None, text.split("/")):
            name = next((n for n, pattern in _PARTS.items() if pattern.fullmatch(part)), None)
            match = _PARTS[name].fullmatch(part) if name else None
            if match is None:
                raise InvalidArgumentError(
                    f"'{text}' is not a device", hint="write a device such as /job:worker/task:0/device:GPU:0"
                )
            if name == "device":
                parts |= {"kind": match[1].upper(), "index": match[2]}
            else:
                parts[str(name)] = match[1]
        # A star leaves a part open, as a part that is not there does.
        return DeviceSpec(**{key: None if value == "*" else value for key, value in parts.items()})

    def merged(self, inner: DeviceSpec) -> DeviceSpec:
        """Return this device with the parts that `inner` names replaced, as nested device scopes do."""
        # `or` keeps device number "0": the parts are texts, of which only the empty one is false.
        parts = {f.name: getattr(inner, f.name) or getattr(self, f.name) for f in dataclasses.fields(self)}
        if inner.kind is not None:  # device numbers count within a kind
            parts["index"] = inner.index
        return DeviceSpec(**parts)

    def conflict(self, other: DeviceSpec) -> str | None:
        """Return the first part in which two devices differ, or None if a single device can be both."""
        for field in dataclasses.fields(self):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            if mine is not None and theirs is not None and mine != theirs:
                return f"{field.name} {mine} and {theirs}"
        return None

    def __str__(self) -> str:
        parts = [f"/{name}:{getattr(self, name)}" for name in ("job", "replica", "task") if getattr(self, name) is not None]
        if self.kind is not None:
            parts.append(f"/device:{self.kind}:{'*' if self.index is None else self.index}")
        return "".join(parts)


def canonical_device(text: str) -> str:
    """Return the device string as TensorFlow writes the device: `/cpu:0` is `/device:CPU:0`."""
    return str(DeviceSpec.parse(text)) if text else ""


LONGEST_CHAIN: Final = 32
"""The number of names in a chain of `loc:@`.

Unbounded chains of all nodes of a group would be quadratic in the group's size.
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Colocation:
    """Nodes that must share a device, the common device, and the conflicts."""

    root: str
    """The node that stands for the group."""
    members: tuple[str, ...]
    """The nodes of the group."""
    device: str
    """The device that they ask for together, or ""."""
    conflicts: tuple[str, ...] = ()
    """Demands that contradict each other, in words."""
    missing: tuple[str, ...] = ()
    """Names after `loc:@` that no node of the graph has."""


class Placement:
    """The colocation groups of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._joined = JoinedNames()
        self._next: dict[str, str] = {}
        self._groups: dict[str, Colocation] = {}
        named: dict[int, tuple[str, ...]] = {}  # by the attributes, which nodes share
        for node in graph:
            key = id(node.attrs)
            names = named.get(key)
            if names is None:
                names = named[key] = node.colocation
            if names:
                self._next[node.name] = names[0]
            for name in names:
                self._joined.join(name, node.name)
        self._members = grouped((self._joined.root(name), name) for name in self._joined.parents)

    def groups(self) -> tuple[Colocation, ...]:
        """Return all groups of two nodes or more, in the order of the graph."""
        return tuple(self._describe(root) for root, members in self._members.items() if len(members) > 1)

    def group(self, node: Node) -> Colocation | None:
        """Return the colocation group of a node, None for a node that shares its device with nobody."""
        if node.name not in self._joined.parents:
            return None
        root = self._joined.root(node.name)
        return self._describe(root) if len(self._members[root]) > 1 else None

    def chain(self, node: Node) -> tuple[str, ...]:
        """Follow `loc:@` names from node to node until a node names no other, or for LONGEST_CHAIN names."""
        if node.name not in self._next:
            return ()
        names = [node.name]
        while len(names) <= LONGEST_CHAIN:
            following = self._next.get(names[-1])
            # Nodes of a file may name each other in a circle.
            if following is None or following in names:
                break
            names.append(following)
        return tuple(names[1:])

    def _describe(self, root: str) -> Colocation:
        """Return the group of a root; each group is gone through once."""
        if root not in self._groups:
            self._groups[root] = self._group(root)
        return self._groups[root]

    def _group(self, root: str) -> Colocation:
        members = self._members[root]
        device, conflicts = DeviceSpec(), []
        for node in filter(None, map(self._graph.get, members)):
            if not node.device:
                continue
            try:
                # A device that TensorFlow could not read is a conflict to report, and no reason to stop.
                own = DeviceSpec.parse(node.device)
            except InvalidArgumentError as error:
                conflicts.append(f"'{node.name}': {error.message}")
                continue
            conflict = device.conflict(own)
            if conflict:
                conflicts.append(f"'{node.name}' asks for {node.device}, but its colocation group has {device}: {conflict}")
            else:
                device = device.merged(own)
        missing = tuple(name for name in members if name not in self._graph)
        return Colocation(root, tuple(members), str(device), tuple(conflicts), missing)
