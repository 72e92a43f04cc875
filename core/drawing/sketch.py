"""Pictures as lines of text: boxes in layers, edges along columns and rows between the layers.

The steps are those of Sugiyama, Tagawa and Toda (1981): layers, order within a layer by the mean of the neighbours'
positions, edges. An edge over several layers passes through a dummy place in each.
"""

from __future__ import annotations

import collections
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from ..support import dataclasses
from ..support.escaping import printable_line
from ..support.grouping import grouped
from .picture import Box, Edge, Picture
from .picture_nodes import forward_edges, layers_of

MAX_TEXT_BOXES: Final = 18
"""The default largest number of boxes in a picture of characters; more boxes make lines too long for a terminal."""
_GAP: Final = 2
_SWEEPS: Final = 8
_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_SOLID: Final = " │││─┘┐┤─└┌├─┴┬┼"
_DASHED: Final = " ┊┊┊╌┘┐┤╌└┌├╌┴┬┼"
"""Box-drawing characters of dashed lines, by the set of directions in which lines leave the character."""
_HEAD: Final = "▼"


def printable_sketch(picture: Picture) -> Iterator[str]:
    """Return the lines of `sketch` with unprintable characters of the graph's names escaped."""
    return map(printable_line, sketch(picture))


@dataclasses.dataclass(eq=False, slots=True)
class _Place:
    """The place of a box, or of a passing edge, in a layer; x is the left end."""

    # Places are compared by identity: two edges that pass through a layer have equal fields at first.
    lines: tuple[str, ...]
    x: int = 0
    is_box: bool = True

    @property
    def width(self) -> int:
        return max(map(len, self.lines)) + 4 if self.is_box else 1

    @property
    def middle(self) -> int:
        return self.x + self.width // 2


@dataclasses.dataclass(frozen=True, slots=True)
class _Wire:
    """A part of an edge, from a layer to the next. Wires that share a way are either all dashed or all solid."""

    source: _Place
    target: _Place
    dashed: bool


_Layer = list[_Place]


def sketch(picture: Picture) -> list[str]:
    """Return the lines of the picture, notes last. Control edges are dashed; back edges are listed below instead of drawn."""
    boxes = {box.id: box for box in picture.boxes}
    # Layers need a graph without cycles: edges that close one, as in loops, are told in words below the picture.
    after = forward_edges(list(boxes), ((edge.source, edge.target) for edge in picture.edges))
    layers, wires = _laid_out([[boxes[i] for i in layer] for layer in layers_of(after)], picture.edges, after)
    _arrange(layers, wires)
    lines = [picture.title] if picture.title else []
    for layer, below in zip(layers, [*wires, []], strict=True):
        lines += _boxes(layer, below)
        lines += _channel(below) if below else []
    back = (edge for edge in picture.edges if edge.target not in after[edge.source])
    lines += [f"and back: {boxes[edge.source].lines[0]} -> {boxes[edge.target].lines[0]}" for edge in back]
    return [line.rstrip() for line in (*lines, *picture.notes)]


def _laid_out(
    layers: Sequence[Sequence[Box]], edges: Iterable[Edge], after: Mapping[int, Collection[int]]
) -> tuple[list[_Layer], list[list[_Wire]]]:
    """Return places by layer, and the wires between each layer and the next; edges of the same box share their way."""
    level = {box.id: i for i, layer in enumerate(layers) for box in layer}
    # Fewer lines than in other pictures have room: each is a row of the terminal.
    places = {box.id: _Place(box.lines[: 2 if box.kind == "scope" else 3]) for layer in layers for box in layer}
    places_by_layer = [[places[box.id] for box in layer] for layer in layers]
    wires: list[dict[_Wire, None]] = [{} for _ in layers[1:]]
    passing: dict[tuple[int, int, bool], _Place] = {}
    for edge in (edge for edge in edges if edge.target in after[edge.source]):
        source, dashed = places[edge.source], edge.kind == "control"
        # Edges of one box share their places on the way down, so that ten readers take one column, not ten.
        for i in range(level[edge.source] + 1, level[edge.target]):
            way = (edge.source, i, dashed)
            if way not in passing:
                passing[way] = _Place((), is_box=False)
                places_by_layer[i].append(passing[way])
            wires[i - 1][_Wire(source, passing[way], dashed)] = None
            source = passing[way]
        wires[level[edge.target] - 1][_Wire(source, places[edge.target], dashed)] = None
    return places_by_layer, [list(part) for part in wires]


def _arrange(layers: Sequence[_Layer], wires: Sequence[Sequence[_Wire]]) -> None:
    """Set the x of every place: sweeps down and up, each layer sorted by the means of the neighbours' middles."""
    near: dict[tuple[_Place, bool], list[_Place]] = collections.defaultdict(list)
    for wire in (wire for part in wires for wire in part):
        near[wire.source, False].append(wire.target)
        near[wire.target, True].append(wire.source)
    for layer in layers:
        _set_side_by_side(layer, {})
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            positions = {place: _mean(near[place, down]) for place in layer if near[place, down]}
            # A place without neighbours on that side stays where it is among the others.
            layer.sort(key=lambda place: positions.get(place, place.middle))
            _set_side_by_side(layer, positions)
    # The sweeps move places to the left of the first column, and a line of text has none there.
    left = min((place.x for layer in layers for place in layer), default=0)
    for place in (place for layer in layers for place in layer):
        place.x -= left


def _mean(places: Sequence[_Place]) -> float:
    return sum(place.middle for place in places) / len(places)


def _set_side_by_side(layer: _Layer, positions: Mapping[_Place, float]) -> None:
    """Set each place as near to its wanted x as the places to the left allow, then shift all by the mean of the misses."""
    end = None
    missing = []
    for place in layer:
        best = round(positions.get(place, place.middle)) - place.width // 2
        place.x = best if end is None else max(best, end)
        end = place.x + place.width + _GAP
        missing.append(best - place.x)
    # Places are pushed to the right only; the shift gives each side its part of the miss.
    shift = round(sum(missing) / len(missing)) if missing else 0
    for place in layer:
        place.x += shift


def _boxes(layer: _Layer, below: Iterable[_Wire]) -> list[str]:
    """Return the lines of a layer: boxes from the top, lines from their middles down, edges that pass."""
    height = max(len(place.lines) for place in layer) + 2
    canvas = _Canvas(height)
    leaving = {wire.source: wire.dashed for wire in below}
    for place in layer:
        if place.is_box:
            canvas.box(place)
        start = len(place.lines) + 2 if place.is_box else 0
        if place in leaving:
            canvas.down(place.middle, start, height - 1, leaving[place])
    return canvas.texts()


def _channel(wires: Sequence[_Wire]) -> list[str]:
    """Return the lines between two layers; sources whose lines would overlap get rows of their own."""
    ports = _ports(wires)
    rows = _rows(wires, ports)
    height = max(rows.values(), default=-1) + 3
    canvas = _Canvas(height)
    for wire in wires:
        start, end = wire.source.middle, ports[wire]
        row = rows[wire.source] + 1
        canvas.down(start, 0, row if start != end else height - 1, wire.dashed)
        if start != end:
            canvas.across(start, end, row, wire.dashed)
            canvas.down(end, row, height - 1, wire.dashed)
        if wire.target.is_box:
            canvas.write(end, height - 1, _HEAD)
    return canvas.texts()


def _ports(wires: Iterable[_Wire]) -> dict[_Wire, int]:
    """Return the column where each wire arrives; wires from further left arrive further left."""
    ports = {}
    for target, together in grouped((wire.target, wire) for wire in wires).items():
        together.sort(key=lambda wire: wire.source.middle)
        for i, wire in enumerate(together, 1):
            ports[wire] = target.x + target.width * i // (len(together) + 1)
            if len(together) == 1 and target.x < wire.source.middle < target.x + target.width - 1:
                # A single wire from above goes straight down wherever it meets the box.
                ports[wire] = wire.source.middle
    return ports


def _rows(wires: Iterable[_Wire], ports: Mapping[_Wire, int]) -> dict[_Place, int]:
    """Return the row in which the wires of each source go across; overlapping spans get different rows."""
    spans: dict[_Place, tuple[int, int]] = {}
    for wire in wires:
        start, end = spans.get(wire.source, (wire.source.middle,) * 2)
        spans[wire.source] = min(start, ports[wire]), max(end, ports[wire])
    rows: dict[_Place, int] = {}
    taken: list[list[tuple[int, int]]] = []
    # From the left, as the greedy colouring of intervals needs for the fewest rows.
    for source, (start, end) in sorted(spans.items(), key=lambda item: item[1]):
        # A wire that goes straight down crosses no row, and takes none.
        row = 0 if start == end else _free_row(taken, start, end)
        rows[source] = row
    return rows


def _free_row(taken: list[list[tuple[int, int]]], start: int, end: int) -> int:
    for row, spans in enumerate(taken):
        if all(end < left or start > right for left, right in spans):
            spans.append((start, end))
            return row
    taken.append([(start, end)])
    return len(taken) - 1


class _Canvas:
    """Lines and letters by place."""

    def __init__(self, height: int) -> None:
        # Letters and lines are kept apart, as a letter hides whatever lines meet below.
        self._letters: list[dict[int, str]] = [{} for _ in range(height)]
        self._lines: list[dict[int, int]] = [{} for _ in range(height)]
        self._solid: list[set[int]] = [set() for _ in range(height)]

    def write(self, x: int, y: int, text: str) -> None:
        """Write letters, hiding any lines below."""
        self._letters[y].update({x + i: letter for i, letter in enumerate(text)})

    def box(self, place: _Place) -> None:
        """Draw a frame around the place's lines."""
        inside = place.width - 2
        self.write(place.x, 0, f"┌{'─' * inside}┐")
        for y, line in enumerate(place.lines, 1):
            self.write(place.x, y, f"│{line.center(inside)}│")
        self.write(place.x, len(place.lines) + 1, f"└{'─' * inside}┘")

    def down(self, x: int, top: int, bottom: int, dashed: bool) -> None:
        """Draw a line from row `top` to row `bottom`, open at an end on the canvas's edge."""
        for y in range(top, bottom + 1):
            # The line goes on in the rows of the next canvas, so its ends there are open.
            at_edge = (_UP if y == 0 else 0) | (_DOWN if y == len(self._lines) - 1 else 0)
            self._add(x, y, (_UP if y > top else 0) | (_DOWN if y < bottom else 0) | at_edge, dashed)

    def across(self, start: int, end: int, y: int, dashed: bool) -> None:
        """Draw a line from column `start` to column `end`."""
        left, right = sorted((start, end))
        for x in range(left, right + 1):
            self._add(x, y, (_LEFT if x > left else 0) | (_RIGHT if x < right else 0), dashed)

    def _add(self, x: int, y: int, directions: int, dashed: bool) -> None:
        # Where lines meet, the character has the directions of all of them, and is solid if one of them is.
        self._lines[y][x] = self._lines[y].get(x, 0) | directions
        if not dashed:
            self._solid[y].add(x)

    def texts(self) -> list[str]:
        """Return every row as printed."""
        return [self._text(*row) for row in zip(self._letters, self._lines, self._solid, strict=True)]

    @staticmethod
    def _text(letters: Mapping[int, str], lines: Mapping[int, int], solid: Collection[int]) -> str:
        width = max((*letters, *lines), default=-1) + 1
        drawn = {x: (_SOLID if x in solid else _DASHED)[directions] for x, directions in lines.items()}
        drawn.update(letters)
        return "".join(drawn.get(x, " ") for x in range(width))
