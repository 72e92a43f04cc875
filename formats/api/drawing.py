"""The function behind `tfg draw`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Final, Literal

from ...core.drawing.picture import MAX_BOXES, Look, make_picture
from ...core.drawing.sketch import MAX_TEXT_BOXES, printable_sketch
from ...core.graph.graph import Graph
from ...core.support.arguments import takes
from ...core.support.display import Displayed
from ...core.support.errors import InvalidArgumentError
from ...core.support.file_formats import DOT, DRAWING, PICTURES
from ..codecs.source import write_file
from ..dot import to_dot
from ..rendering import layout_program

_SECONDS: Final = 60.0
_FORMATS: Final = tuple(form.word for form in PICTURES.formats)


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Drawing(Displayed):
    """A picture of a graph; a notebook shows SVG and PNG."""

    format: str
    data: bytes

    def __repr__(self) -> str:
        return f"<Drawing {self.format}: {len(self.data):,} bytes>"

    def __str__(self) -> str:
        return self.data.decode()

    def _repr_html_(self) -> None:
        return None

    def _repr_svg_(self) -> str | None:
        return str(self) if self.format == "svg" else None

    def _repr_png_(self) -> bytes | None:
        return self.data if self.format == "png" else None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file, whole or not at all."""
        write_file(path, [self.data])


@takes(graph=Graph, format=str, max_nodes=int | None, depth=int | None, everything=bool, timeout=float | int)
def draw(
    graph: Graph,
    format: Literal["svg", "png", "pdf", "dot", "text"] = "svg",
    *,
    max_nodes: int | None = None,
    depth: int | None = None,
    expand: Sequence[str] = (),
    everything: bool = False,
    highlight: Sequence[str] = (),
    timeout: float = _SECONDS,
) -> Drawing:
    """Return a picture of a graph, its scopes folded so that at most `max_nodes` boxes are left.

    `depth` opens the scopes down to a depth, `expand` opens the scopes named, `everything` shows the nodes that say little,
    `highlight` names nodes to emphasize. `svg`, `png` and `pdf` need Graphviz, or graphviz-pure for the first two:
    NotFoundError where neither is installed, DeadlineExceededError for a layout that takes longer than `timeout` seconds.
    """
    if format not in _FORMATS:
        raise InvalidArgumentError(f"there is no format '{format}'", hint=f"the formats are {', '.join(_FORMATS)}")
    boxes = max_nodes or (MAX_TEXT_BOXES if format == DRAWING.word else MAX_BOXES)
    emphasis = {graph.node_of(name) for name in highlight}
    look = Look(max_boxes=boxes, depth=depth, expand=tuple(expand), everything=everything, emphasis=emphasis)
    picture = make_picture(list(graph), look, "", list(emphasis))
    if format == DRAWING.word:
        return Drawing(format, "".join(f"{line}\n" for line in printable_sketch(picture)).encode())
    source = str(to_dot(picture).source)
    return Drawing(format, source.encode() if format == DOT.word else layout_program(format).render(source, format, timeout))
