"""A picture of a graph: boxes, edges and frames around scopes, without a word on how they are put on paper."""

from __future__ import annotations

import collections
import functools
import heapq
import itertools
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Final

from ..explaining.author_scopes import common_scope, scopes_around
from ..explaining.node_listing import value_text
from ..graph.callers import function_references
from ..graph.graph import Node, Output
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.grouping import grouped
from ..support.words import counted
from .picture_nodes import Link, flow_order, folded, forward_edges, kind_of, layers_of, links
from .scope_tree import NameScope, name_inside, scope_path, scope_tree

MAX_BOXES: Final = 40
_PARTS: Final = (12, 6)
"""The numbers of parts to try, in turn, for the division of a scope whose parts do not all fit."""
_MAX_LAYERS: Final = 18
_MAX_WIDTH: Final = 200
_MIN_WIDTH: Final = 12
_MIN_SCOPE: Final = 30
_MAX_LINE: Final = 44
_WEIGHTS: Final = ("variable", "constant")
_MAX_CONSTANTS: Final = 4
"""The largest number of constants written into the box of their user."""


@dataclasses.dataclass(frozen=True, slots=True)
class Box:
    """A node, or a scope that is not opened."""

    id: int
    kind: str
    name: str
    lines: tuple[str, ...]
    """The text in the box; the first line is the name inside the frame."""
    nodes: tuple[Node, ...]
    colour: str = ""
    """The box's colour in pictures whose colours mean other things than kinds."""
    share: float | None = None
    """The box's part of all FLOPs, where FLOPs were counted."""
    emphasis: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Edge:
    """All edges of the same kind, `data`, `control` or `reference`, between two boxes."""

    source: int
    target: int
    kind: str
    count: int
    label: str


@dataclasses.dataclass(frozen=True, slots=True)
class ScopeFrame:
    """An open scope with boxes and nested frames."""

    label: str
    boxes: tuple[Box, ...]
    frames: tuple[ScopeFrame, ...]

    def all_boxes(self) -> Iterator[Box]:
        """Yield the boxes of the frame and of all nested frames."""
        yield from self.boxes
        for frame in self.frames:
            yield from frame.all_boxes()


@dataclasses.dataclass(frozen=True, slots=True)
class Picture:
    """A picture: frame, edges and notes. `colours` are the meanings of the boxes' colours, in order of first use."""

    title: str
    frame: ScopeFrame
    edges: tuple[Edge, ...]
    notes: tuple[str, ...]
    colours: tuple[str, ...] = ()

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Return the boxes of all frames."""
        return tuple(self.frame.all_boxes())

    @property
    def has_shares(self) -> bool:
        """Return True if FLOPs were counted."""
        return any(box.share is not None for box in self.boxes)


@dataclasses.dataclass(frozen=True, slots=True)
class Look:
    """The contents and the style of a picture; see the options of `tfg draw`."""

    max_boxes: int = MAX_BOXES
    depth: int | None = None
    expand: tuple[str, ...] = ()
    everything: bool = False
    """Draw constants, identities and NoOps too."""
    emphasis: Container[Node] = ()
    colours: Mapping[Node, str] = dataclasses.field(default_factory=dict)
    shares: Mapping[Node, float] | None = None
    """Each node's part of all FLOPs."""
    amounts: Mapping[Node, str] = dataclasses.field(default_factory=dict)
    """A line more for the boxes of some nodes."""
    specs: Mapping[Output, str] = dataclasses.field(default_factory=dict)
    """The text at an output's edges."""
    layers: Collection[str] = ()
    """The scopes of a model's layers, which stay closed but for `depth` and `expand`."""
    max_layers: int = _MAX_LAYERS
    frame_layers: int = 0
    """The layers for which the head and the edge of a frame take the room."""
    max_width: int = _MAX_WIDTH
    """How many letters may stand beside each other."""


def make_picture(nodes: Sequence[Node], look: Look, title: str = "", keep: Collection[Node] = ()) -> Picture:
    """Return the picture of `nodes`; nodes in `keep` always get a box, or lie in the box of a scope."""
    left_out = set() if look.everything else folded(nodes, keep)
    # A dictionary finds a node as a set does, and keeps the order in which links are drawn.
    edges_drawn = list(links(dict.fromkeys(nodes), left_out))
    painter = _Painter(look, left_out)
    frame = painter.frame(*opened_tree([node for node in nodes if node not in left_out], edges_drawn, look))
    edges = painter.edges(edges_drawn)
    return Picture(title, frame, edges, tuple(_notes(frame, left_out, look)), tuple(dict.fromkeys(painter.colours)))


def opened_tree(nodes: Sequence[Node], edges: Sequence[Link], look: Look) -> tuple[NameScope, set[NameScope]]:
    """Return the tree of scopes of the drawn nodes, and the set of open scopes.

    The division of the tree with the most parts that fits is taken, where none fits that with the most boxes; parts stand in
    the order of the data flow.
    """
    place = {node: number for number, node in enumerate(nodes)}
    # Most files have the nodes in such an order, which takes a fraction of the time to see.
    if not all(place[link.source] < place[link.target] for link in edges):
        nodes = list(flow_order(forward_edges(nodes, ((link.source, link.target) for link in edges))))
    # Asked once for each op, which alone decides whether a node is of these kinds.
    weights = {op for op, node in {node.op: node for node in nodes}.items() if kind_of(node) in _WEIGHTS}
    homes: dict[Node, str] = {}
    if weights:
        sources = grouped((link.target, link.source) for link in edges)
        held = _held(nodes, sources, weights)
        nodes, homes = _beside_readers(nodes, sources, held), _homes(nodes, edges, held)
    candidates = []
    # A scope of forty parts fits a picture only closed. Divided into rows of twelve or six it may be opened in part.
    for parts in sorted({look.max_boxes, *(n for n in _PARTS if n < look.max_boxes)}, reverse=True):
        root = scope_tree(nodes, parts, homes)
        fits = functools.partial(_fits, root, edges, look)
        opened = scopes_to_open(root, look, fits)
        if fits(opened):
            return root, opened
        candidates.append((root, opened))
    return max(candidates, key=lambda candidate: len(set(dict(_places(*candidate)).values())))


def _held(nodes: Sequence[Node], sources: Mapping[Node, Sequence[Node]], weights: Container[str]) -> set[Node]:
    """Return the nodes of the ops `weights`, and what is computed from them alone, of nodes in the order of the data flow."""
    held: set[Node] = set()
    for node in nodes:
        before = sources.get(node, ())
        if held.issuperset(before) if before else node.op in weights:
            held.add(node)
    return held


def _homes(nodes: Sequence[Node], edges: Iterable[Link], held: set[Node]) -> dict[Node, str]:
    """Return the scopes that alone read variables, for variables that lie in none, or where nothing computes."""
    readers = grouped((link.source, link.target) for link in edges if link.source in held)
    around = {node: scope_path(node.name) for node in nodes}
    inner = {around[node] for node in nodes if node not in held}
    computing = {outer for scope in inner for outer in scopes_around(scope)}
    read_in: dict[Node, str] = {}
    # From the readers back: what only another read of a variable takes belongs where that one is read.
    for node in reversed(nodes):
        if node in readers:
            # Each scope once, as a whole model may read a constant.
            scopes = {read_in[each] if each in read_in else around[each] for each in readers[node]}
            read_in[node] = common_scope(scopes)
    return {node: scope for node, scope in read_in.items() if scope and (not around[node] or around[node] not in computing)}


def _beside_readers(nodes: Sequence[Node], sources: Mapping[Node, Sequence[Node]], held: set[Node]) -> list[Node]:
    """Return nodes in the order of the data flow with those held before the first reader: at the beginning they would put
    the scopes of layers in the order of their weights.
    """
    ordered: dict[Node, None] = {}
    # The others first, each behind the weights that it reads; then the weights that nothing reads.
    for node in [*(node for node in nodes if node not in held), *nodes]:
        if node in ordered:
            continue
        if held.isdisjoint(sources.get(node, ())):
            ordered[node] = None
            continue
        pending = [node]
        while pending:
            before = [source for source in sources.get(pending[-1], ()) if source in held and source not in ordered]
            if before:
                pending += before[::-1]
            else:
                ordered[pending.pop()] = None
    return list(ordered)


def _fits(root: NameScope, edges: Iterable[Link], look: Look, opened: Collection[NameScope]) -> bool:
    """Return True if the picture is neither too high nor too wide with these scopes open."""
    places = dict(_places(root, opened))
    parts = list(dict.fromkeys(places.values()))
    layers = layers_of(forward_edges(parts, ((places[e.source], places[e.target]) for e in edges)))
    # An estimate by layers and letters: a layout for each choice of open scopes would take seconds.
    height, width = len(layers) + (len(opened) - 1) * look.frame_layers, max(map(_width, layers), default=0)
    return height <= look.max_layers and width <= look.max_width


def _width(layer: Iterable[NameScope | Node]) -> int:
    """Return the width of a layer in letters."""
    return sum(_MIN_SCOPE if isinstance(part, NameScope) else _letters(part.name.rpartition("/")[2]) for part in layer)


def _letters(name: str) -> int:
    return min(max(len(name), _MIN_WIDTH), _MAX_LINE) + 3


def _places(scope: NameScope, opened: Container[NameScope]) -> Iterator[tuple[Node, NameScope | Node]]:
    """Yield every node with the part that stands for the node in the picture."""
    for part in scope.parts:
        if not isinstance(part, NameScope):
            yield part, part
        elif part in opened:
            yield from _places(part, opened)
        else:
            yield from ((node, part) for node in part.members())


def _notes(frame: ScopeFrame, left_out: Collection[Node], look: Look) -> Iterator[str]:
    closed = [box for box in frame.all_boxes() if box.kind == "scope"]
    if closed:
        hidden = sum(len(box.nodes) for box in closed)
        share = f", {sum(box.share or 0 for box in closed):.0%} of the FLOPs" if look.shares is not None else ""
        what = f"{counted(len(closed), 'scope')} closed, with {counted(hidden, 'node')}{share}"
        yield f"{what} (expand SCOPE, depth, max-nodes)"  # a picture belongs to neither Python nor the command line
    ops = collections.Counter(node.op for node in left_out)
    listed = sorted(ops.items(), key=lambda item: (-item[1], item[0]))
    if listed:
        yield f"not drawn: {', '.join(counted(n, f'{op} node') for op, n in listed)} (all)"


class _Painter:
    """Makes boxes and edges; each box gets the next number."""

    def __init__(self, look: Look, left_out: Collection[Node]) -> None:
        self._look = look
        self._constants = ConstantTexts(left_out)
        self._boxes: dict[Node, int] = {}
        self._count = 0
        self.colours: list[str] = []

    def frame(self, scope: NameScope, opened: Container[NameScope]) -> ScopeFrame:
        """Return the frame of an open scope; scopes made by division get no frame of their own."""
        boxes, frames = [], []
        for part in scope.parts:
            if not isinstance(part, NameScope) or part not in opened:
                boxes.append(self._box(part, scope.prefix))
                continue
            inner = self.frame(part, opened)
            if part.is_name_scope:
                frames.append(inner)
            else:
                boxes += inner.boxes
                frames += inner.frames
        return ScopeFrame(scope.label, tuple(boxes), tuple(frames))

    def _box(self, part: NameScope | Node, prefix: str) -> Box:
        nodes = tuple(part.members()) if isinstance(part, NameScope) else (part,)
        for node in nodes:
            self._boxes[node] = self._count
        self._count += 1
        lines = (
            ScopeOps(part).lines(part, self._look.layers) if isinstance(part, NameScope) else self._node_lines(part, prefix)
        )
        return Box(
            id=self._count - 1,
            kind="scope" if isinstance(part, NameScope) else kind_of(part),
            name=part.path if isinstance(part, NameScope) else part.name,
            lines=lines,
            nodes=nodes,
            colour=self._colour(nodes),
            share=None if self._look.shares is None else sum(self._look.shares.get(node, 0.0) for node in nodes),
            emphasis=any(node in self._look.emphasis for node in nodes),
        )

    def _colour(self, nodes: Sequence[Node]) -> str:
        """Return the colour of most of the nodes."""
        if not self._look.colours:
            return ""
        colour = collections.Counter(self._look.colours.get(node, "") for node in nodes).most_common(1)[0][0]
        self.colours.append(colour)
        return colour

    def _node_lines(self, node: Node, prefix: str) -> tuple[str, ...]:
        label = name_inside(node, prefix)
        op = () if node.op == label else (node.op,)
        amount = (self._look.amounts[node],) if node in self._look.amounts else ()
        functions = ", ".join(dict.fromkeys(reference.name for reference in function_references(node)))
        calls = (f"calls {functions}",) if functions else ()
        return tuple(map(_shortened, (label, *op, *calls, *self._constants.of(node), *amount)))

    def edges(self, drawn: Iterable[Link]) -> tuple[Edge, ...]:
        """Return the edges between boxes, links between the same boxes joined; links inside a box are left out."""
        between = grouped(((self._boxes[link.source], self._boxes[link.target]), link) for link in drawn)
        return tuple(self._edge(*pair, together) for pair, together in between.items() if pair[0] != pair[1])

    def _edge(self, source: int, target: int, together: Sequence[Link]) -> Edge:
        values = list(dict.fromkeys(link.value for link in together if link.value is not None))
        if not values:
            return Edge(source, target, "control", len(together), "")
        kind = "reference" if all(value.is_reference for value in values) else "data"
        return Edge(source, target, kind, len(values), self._edge_label(values))

    def _edge_label(self, values: Sequence[Output]) -> str:
        if len(values) > 1:
            return counted(len(values), "tensor")
        spec = self._look.specs.get(values[0], "")
        return f":{values[0].index} {spec}".rstrip() if values[0].index else spec


class ConstantTexts:
    """The texts of the constants among the nodes `left_out`, which stand in the boxes of their users."""

    def __init__(self, left_out: Iterable[Node]) -> None:
        self._constants = {node for node in left_out if node.is_constant}
        self._texts: dict[Node, str] = {}

    def of(self, node: Node) -> tuple[str, ...]:
        """Return the texts of the constants that stand in the node's box instead of boxes of their own."""
        constants = [value.node for value in node.inputs if value.node in self._constants]
        if not constants:
            return ()
        texts = tuple(map(self._text, constants[:_MAX_CONSTANTS]))
        return (*texts, "with ...") if len(constants) > _MAX_CONSTANTS else texts

    def _text(self, constant: Node) -> str:
        # Kept, as a thousand nodes may read the same constant.
        if constant not in self._texts:
            self._texts[constant] = f"with {value_text(constant.attr('value', None))}"
        return self._texts[constant]


_HELD: Final = ("constant", "input", "variable", "no-op")
"""The kinds of nodes that compute nothing."""


class ScopeOps:
    """How often each op type is in each scope of a tree, in the order of the scope's nodes."""

    def __init__(self, root: NameScope) -> None:
        self._counts: dict[NameScope, collections.Counter[str]] = {}
        self._held: dict[str, bool] = {}
        pending = [root]
        for scope in pending:
            pending += [part for part in scope.parts if isinstance(part, NameScope)]
        # From the innermost scopes: a scope adds up its parts, so that each node counts once and not once for each level.
        for scope in reversed(pending):
            self._counts[scope] = self._counted(scope)

    def _counted(self, scope: NameScope) -> collections.Counter[str]:
        counts: collections.Counter[str] = collections.Counter()
        for part in scope.parts:
            if isinstance(part, NameScope):
                counts.update(self._counts[part])
            else:
                counts[part.op] += 1
                if part.op not in self._held:
                    self._held[part.op] = kind_of(part) in _HELD
        return counts

    def lines(self, scope: NameScope, layers: Container[str]) -> tuple[str, ...]:
        """Return a scope's name, and the number of nodes and most frequent op types; of a layer the op types that compute."""
        label, count = _shortened(f"{scope.label}/"), counted(scope.nodes, "node")
        ops = _shortened(self.text(scope, layers))
        return (label, ops or count) if scope.path in layers else (label, count, ops)

    def text(self, scope: NameScope, layers: Container[str]) -> str:
        """Return the op types that compute in a layer, in its order; of another scope the most frequent op types with counts:
        `3 MatMul, 2 Add, 1 Relu ...`. Nodes that compute nothing and reshapes count where no others are in the scope.
        """
        counts = self._counts[scope]
        computing = [op for op in counts if not self._held[op]]
        ops = [op for op in computing if not has_fact(op, "view")] or computing or list(counts)
        if scope.path in layers:
            return _listed(ops)
        start = "alike, each " if scope.alike > 1 else ""
        # Sorting is stable: op types that are equally frequent stay in the order of the nodes.
        ops.sort(key=lambda op: -counts[op])
        return start + _listed([f"{counts[op] // scope.alike} {op}" for op in ops], len(start), 3)


def _listed(words: Sequence[str], taken: int = 0, most: int = _MAX_LINE) -> str:
    """Return the first words, at most so many and no more than a line has room for."""
    ends = itertools.accumulate(len(word) + 2 for word in words)
    count = max(sum(taken + end + 2 <= _MAX_LINE for end in ends), 1)
    shown = words[: min(count, most)]
    return ", ".join(shown) + (" ..." if len(shown) < len(words) else "")


def _shortened(line: str) -> str:
    """Return a line, with the middle left out where the line is too long."""
    if len(line) <= _MAX_LINE:
        return line
    # Names begin with their scopes and end with what tells them apart; the middle says the least.
    half = (_MAX_LINE - 3) // 2
    return f"{line[:half]}...{line[-half:]}"


# The choice of the scopes that a picture opens: the most that fit.


def scopes_to_open(root: NameScope, look: Look, fits: Callable[[set[NameScope]], bool]) -> set[NameScope]:
    """Return the scopes whose parts are drawn apart; the root is among them.

    All paths in `expand` are open, with the scopes around them. With `depth` all scopes down to that level are open too,
    else the most that leave at most `max_boxes` boxes and still fit: nearest to the root first, then the largest, without
    layers and several scopes that are alike.
    """
    required = {root, *_named(root, look.expand)}
    if look.depth is not None:
        return required | set(_down_to(root, look.depth))
    order = [*required, *_by_size(root, required, look)]
    # By halving, since a layout for each number of scopes would take the square of their number. More open scopes hardly ever
    # make a picture smaller.
    low, high = len(required), len(order)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(set(order[:middle])) else (low, middle - 1)
    return set(order[:low])


def _named(root: NameScope, expand: Collection[str]) -> Iterator[NameScope]:
    for part in root.parts:
        if not isinstance(part, NameScope):
            continue
        # A scope made by division has no name that a user could give: it opens for the named scopes inside.
        is_around = any(path == part.path or path.startswith(f"{part.path}/") for path in expand)
        inner = list(_named(part, expand)) if is_around or not part.is_name_scope else []
        if is_around or inner:
            yield from (part, *inner)


def _down_to(scope: NameScope, depth: int) -> Iterator[NameScope]:
    for part in scope.parts if depth > 0 else ():
        if isinstance(part, NameScope):
            yield part
            yield from _down_to(part, depth - 1)


def _by_size(root: NameScope, wanted: Collection[NameScope], look: Look) -> Iterator[NameScope]:
    """Yield the scopes in the order of opening, as long as there is room for their parts."""
    ties = itertools.count()
    pending: list[tuple[int, int, int, NameScope]] = []

    def offer(scope: NameScope, level: int) -> None:
        for part in scope.parts:
            if isinstance(part, NameScope) and part.alike == 1 and part.prefix not in look.layers:
                # The number of the offer decides between equals: scopes have no order.
                heapq.heappush(pending, (level, -part.nodes, next(ties), part))

    boxes = len(root.parts)
    offer(root, 0)
    while pending:
        level, _, _, scope = heapq.heappop(pending)
        # A scope that is too large is passed over, for a smaller one further on may still fit.
        more = len(scope.parts) - 1
        if scope in wanted or boxes + more <= look.max_boxes:
            boxes += more
            offer(scope, level + 1)
            if scope not in wanted:
                yield scope
