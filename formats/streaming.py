"""Graphs that are written or compared while they are read, node by node, without a graph that holds all of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from ..core.comparing.graph_diff import GraphDiff, NodeChange, diff_around
from ..core.comparing.matching import GraphMatch, common_names, stem
from ..core.comparing.node_changes import STRICT, Renaming, node_changes
from ..core.explaining.node_listing import NodeRecord, node_record
from ..core.graph.graph import Graph, Node
from ..core.support import dataclasses
from ..core.support.errors import TfgError
from ..core.support.tensor_names import parse_tensor_name
from ..core.types.dtypes import DType
from .codecs.source import write_file
from .graphdef import NodeStream, graph_chunks, graph_texts
from .saving import within_limit

_NOTHING: Final[tuple[DType, ...]] = ()


class Unsound(Exception):
    """Raised if loading would refuse the graph with a reason, or might refuse the graph."""


class SoundNodes:
    """The nodes of a stream; Unsound, at the latest behind the last of them, if loading might refuse the graph."""

    def __init__(self, stream: NodeStream) -> None:
        self._stream = stream
        self._edges = _Edges()
        self.count = 0
        """The number of nodes so far."""

    def __iter__(self) -> Iterator[Node]:
        try:
            for node in self._stream.nodes():
                if not self._edges.take(node):
                    raise Unsound
                self.count += 1
                yield node
        except TfgError:
            raise Unsound from None
        if self._stream.faults or not self._edges.are_sound():
            raise Unsound

    def rest(self) -> Graph:
        """Return a graph with everything but nodes, once all nodes were iterated."""
        try:
            rest = self._stream.rest(checks=True)
        except TfgError:
            raise Unsound from None
        if rest.source.rest.library.registered_gradients:
            raise Unsound
        return rest


class _Edges:
    """The check that nodes' inputs exist and have fitting dtypes; the producers may come before or after the nodes."""

    def __init__(self) -> None:
        self._outputs: dict[str, tuple[DType, ...]] = {}
        self._waiting: list[tuple[str, DType]] = []

    def take(self, node: Node) -> bool:
        """Check the next node; False if the node is not sound, or if soundness is unknown."""
        # A node is judged here only if its check depends on nothing but itself.
        checked = node.checked
        if checked is None or checked.opened:
            return False
        self._outputs[node.name] = checked.outputs
        texts = (node.spelling or ())[: node.input_count()]
        # Data inputs come first in a sound node: a control input among them is an error, which the loader words.
        if any(text.startswith("^") for text in texts):
            return False
        expected = checked.inputs
        if expected is None:
            return True
        return len(expected) == len(texts) and all(map(self._fits, texts, expected))

    def are_sound(self) -> bool:
        """Return True if inputs that were named before their producers came fit too."""
        return all(self._fits(text, want) for text, want in self._waiting if want is not None)

    def _fits(self, text: str, want: DType | None) -> bool:
        if want is None:
            return True
        outputs, index = self._outputs.get(text), 0
        if outputs is None:
            name, index, _ = parse_tensor_name(text)
            outputs = self._outputs.get(name)
        if outputs is None:
            self._waiting.append((text, want))
            return True
        got = outputs[index] if index < len(outputs) else None
        # A reference fits where a value is wanted, but not the other way: a kernel cannot write into a value.
        return got is want or (got is not None and got.base is want.base and (got.is_ref or not want.is_ref))


def write_stream(stream: NodeStream, path: str | os.PathLike[str], text: bool, gzip: bool) -> int | None:
    """Write the graph of a stream, as `saving.save` does, and return the number of nodes.

    None, and nothing is written, if the graph has to be loaded: loading may refuse the graph.
    """
    nodes = SoundNodes(stream)
    encoded = (piece.encode() for piece in graph_texts(nodes, nodes.rest))
    try:
        write_file(path, encoded if text else within_limit(graph_chunks(nodes, nodes.rest)), gzip)
    except Unsound:
        return None
    return nodes.count


def diff_streams(before: NodeStream, after: NodeStream, *, strict_names: bool = False) -> GraphDiff | None:
    """Compare two streams as `diff_models`; None if a graph has to be loaded. Only nodes that differ stay in memory.

    Graphs have to be loaded if nodes or functions may match under other names, unless `strict_names` forbids it.
    """
    try:
        return _diff(before, after, strict_names)
    except Unsound:
        return None


def _diff(before: NodeStream, after: NodeStream, strict_names: bool) -> GraphDiff | None:
    old, new = SoundNodes(before), SoundNodes(after)
    renaming = STRICT if strict_names else Renaming()
    places = {node.name: before.place for node in old}
    # `places` loses the names that both graphs have, and ends up with the removed nodes.
    names = [*places]
    added: list[NodeRecord] = []
    changed: list[NodeChange] = []
    for node in new:
        place = places.pop(node.name, None)
        if place is None:
            added.append(node_record(node))
        # Equal bytes are equal nodes, and most nodes of two versions of a graph are equal: only the others are decoded.
        elif not before.has_at(place, after):
            changes = tuple(node_changes(before.node_at(place), node, renaming))
            changed += [NodeChange(node.name, node.op, changes)] if changes else []
    removed = tuple(node_record(before.node_at(place)) for place in places.values())
    rests = old.rest(), new.rest()
    remaining = [name for name in names if name not in places]
    new_names = dict.fromkeys([*remaining, *(node.name for node in added)])
    # A name whose number differs, as `add` and `add_1`, may be the same node; finding out takes both graphs.
    is_renumbered = len([*common_names(dict.fromkeys(names), new_names)]) < len(remaining)
    is_renumbered |= not {stem(name) for name in places}.isdisjoint(stem(node.name) for node in added)
    if not strict_names and (is_renumbered or set(rests[0].functions) != set(rests[1].functions)):
        return None
    return dataclasses.replace(
        diff_around(*rests, None if strict_names else GraphMatch(*rests)),
        nodes_before=old.count, nodes_after=new.count, added=tuple(added), removed=removed, changed=tuple(changed),
    )  # fmt: skip
