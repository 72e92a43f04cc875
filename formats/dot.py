"""Pictures of graphs by Graphviz: the source, and SVG, PNG or PDF laid out by `dot` or by the package graphviz-pure."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, Final

import graphviz

from ..core.drawing.picture import Box, Picture, ScopeFrame
from ..core.support import dataclasses
from ..core.support.errors import DeadlineExceededError, NotFoundError, UnknownError
from ..core.support.escaping import printable_line
from ..core.support.hints import Hint, option, step
from ..core.support.log import Stopwatch

_STYLES: Final[Mapping[str, Mapping[str, str]]] = {
    "absent": {"shape": "octagon", "fillcolor": "#ffc9c9"},
    "constant": {"shape": "note", "fillcolor": "#ededed"},
    "input": {"shape": "ellipse", "fillcolor": "#cfe8ff"},
    "output": {"shape": "house", "fillcolor": "#ffe2b8"},
    "variable": {"shape": "cylinder", "fillcolor": "#d5f0d0"},
    "update": {"shape": "parallelogram", "fillcolor": "#b9e3b0"},
    "control flow": {"shape": "diamond", "fillcolor": "#e7dcfb"},
    "call": {"shape": "component", "fillcolor": "#fbdcf0"},
    "random": {"shape": "hexagon", "fillcolor": "#fff3c4"},
    "no-op": {"shape": "box", "fillcolor": "#ffffff"},
    "effect": {"shape": "cds", "fillcolor": "#f3d9c0"},
    "op": {"shape": "box", "style": "filled,rounded", "fillcolor": "#fff9ec"},
    "scope": {"shape": "box3d", "fillcolor": "#f4f6f8"},
}
_EDGES: Final[Mapping[str, Mapping[str, str]]] = {
    "data": {"color": "#444444"},
    "control": {"color": "#888888", "style": "dashed"},
    "reference": {"color": "#8e44ad", "arrowhead": "diamond"},
}
_PALETTE: Final = (
    "#cfe8ff", "#d5f0d0", "#ffe2b8", "#fbdcf0", "#e7dcfb", "#fff3c4", "#c9f0ec", "#f3d9c0", "#e3e8b5", "#dcdff7",
)  # fmt: skip
_OTHERS: Final = "#ededed"
_FONT: Final = {"fontname": "Helvetica"}
"""A font with widths known to every layout program; graphviz-pure cannot read a list of fonts."""
_COLUMN: Final = 6
"""The number of the legend's boxes in a column."""
_SCREEN: Final = "18,9.5"
"""The width and height, in inches at 96 dots each, to which a larger drawing is scaled down."""
_PURE: Final = "graphviz-pure"
"""The package, and the program, with the layout of `dot` in a wheel."""
_PURE_KINDS: Final = ("svg", "png")
_LONGEST: Final = 2e6
"""The largest time limit in seconds: a wait for a process takes at most 2^31 milliseconds."""
_GET_DOT: Final = "install Graphviz (`apt install graphviz`, `brew install graphviz`, `winget install graphviz`)"


def to_dot(picture: Picture, *, legend: bool = True) -> graphviz.Digraph:
    """Return the picture as a drawing, with Graphviz text as `source`, at most as large as a screen.

    Nodes are called n0, n1 ... in Graphviz: text from a graph appears in labels only, escaped, so no text acts as markup.
    """
    source = graphviz.Digraph(
        graph_attr={
            **_FONT, "rankdir": "TB", "ranksep": "0.35", "nodesep": "0.2", "size": _SCREEN, "fontsize": "11", "pad": "0.2",
        },
        node_attr={**_FONT, "style": "filled", "fontsize": "11", "margin": "0.12,0.05", "height": "0.3", "color": "#777777"},
        edge_attr={**_FONT, "fontsize": "9", "arrowsize": "0.7"},
    )  # fmt: skip
    source.attr(label=_label(*filter(None, [picture.title]), *picture.notes), labelloc="b", labeljust="l")
    _Drawing(picture).add_frame(source, picture.frame)
    for edge in picture.edges:
        label = {"label": _label(f" {edge.label}")} if edge.label else {}
        width = {"penwidth": "1.6"} if edge.count > 1 else {}
        source.edge(f"n{edge.source}", f"n{edge.target}", **{**_EDGES[edge.kind], **label, **width})
    if legend:
        _add_legend(source, picture)
    return source


class _Drawing:
    """The colours and frame numbers shared by all boxes and frames of a picture."""

    def __init__(self, picture: Picture) -> None:
        # Groups beyond the palette share the colour `_OTHERS`: more colours than these cannot be told apart.
        self._colours = dict(zip(picture.colours, _PALETTE, strict=False))
        self._frames = 0

    def add_frame(self, source: graphviz.Digraph, frame: ScopeFrame) -> None:
        for box in frame.boxes:
            share = [f"{box.share:.1%} of FLOPs"] if box.share else []
            source.node(f"n{box.id}", _label(*box.lines, *share), tooltip=_label(box.name), **self._style(box))
        for inner in frame.frames:
            self._frames += 1
            with source.subgraph(name=f"cluster{self._frames}") as part:
                part.attr(label=_label(inner.label), style="rounded", color="#aaaaaa", labelloc="t", labeljust="l")
                self.add_frame(part, inner)

    def _style(self, box: Box) -> dict[str, str]:
        style = dict(_STYLES[box.kind])
        # The shape still tells the kind of a node whose colour tells its share or its group.
        if box.share is not None:
            # From white to red, by the root, as most shares are small.
            root = box.share**0.5
            style["fillcolor"] = f"#ff{round(255 - 175 * root):02x}{round(255 - 215 * root):02x}"
        elif self._colours:
            style["fillcolor"] = self._colours.get(box.colour, _OTHERS)
        if box.emphasis:
            style.update(color="#d62728", penwidth="2.5")
        return style


def _add_legend(source: graphviz.Digraph, picture: Picture) -> None:
    """Add a column beside the drawing: a box for each kind in the picture and each colour, an edge for each kind of edge."""
    present = {box.kind for box in picture.boxes}
    plain = {"fillcolor": "#ffffff"} if picture.colours or picture.has_shares else {}
    entries = [(kind, {**style, **plain}) for kind, style in _STYLES.items() if kind in present]
    entries += [
        (_label(name or "none"), {"shape": "box", "fillcolor": colour})
        for name, colour in zip(picture.colours, _PALETTE, strict=False)
    ]
    with source.subgraph(name="cluster_legend") as part:
        part.attr(label="legend", style="dotted", color="#aaaaaa", fontsize="9")
        part.attr("node", fontsize="9", width="0.3", height="0.2", margin="0.05,0.02")
        for i, (label, style) in enumerate(entries):
            part.node(f"k{i}", label, **style)
            if i % _COLUMN:
                # Graphviz puts a box below another only for an edge between them, so an invisible edge keeps a column
                # together.
                part.edge(f"k{i - 1}", f"k{i}", style="invis")
        _add_edge_legend(part, picture)


def _add_edge_legend(part: graphviz.Digraph, picture: Picture) -> None:
    present = {edge.kind for edge in picture.edges}
    for i, kind in enumerate(kind for kind in _EDGES if kind in present):
        part.node(f"e{i}", "", shape="point", width="0.03")
        part.node(f"f{i}", "", shape="point", width="0.03")
        part.edge(f"e{i}", f"f{i}", label=f" {kind}", **_EDGES[kind])


def _label(*lines: str) -> Any:
    """Return a label that Graphviz shows letter by letter: without Graphviz's escapes, HTML or entities."""
    # Graphviz reads character entities in every label, so "&" is escaped after Graphviz's own escapes.
    escaped: Sequence[str] = [graphviz.escape(printable_line(line)).replace("&", "&amp;") for line in lines]
    return graphviz.nohtml("\\n".join(escaped))


@dataclasses.dataclass(frozen=True, slots=True)
class LayoutProgram:
    """A program that lays out Graphviz source: name and path."""

    name: str
    path: str

    def render(self, source: str, kind: str, timeout: float) -> bytes:
        """Lay out Graphviz source and return the picture; `timeout` in seconds.

        DeadlineExceededError if the layout takes longer, UnknownError if the program fails.
        """
        watch = Stopwatch()
        command = [self.path, f"-T{kind}"]
        try:
            # The command is a list of words without a shell, so that nothing in a path is a command.
            done = subprocess.run(command, input=source.encode(), capture_output=True, timeout=min(timeout, _LONGEST))
        except subprocess.TimeoutExpired:
            hint = Hint("draw less (", step("draw_less"), "), or raise the time limit (", option("timeout"), ")")
            message = f"'{self.name}' needed more than {timeout:g} s to lay out the graph"
            raise DeadlineExceededError(message, hint=hint) from None
        if done.returncode:
            raise UnknownError(f"'{self.name}' failed: {done.stderr.decode(errors='replace').strip()}")
        watch.tell("%s laid out %d bytes of Graphviz source", self.name, len(source))
        return done.stdout


def layout_program(kind: str) -> LayoutProgram:
    """Find the program that makes pictures of a kind: `dot` if installed, else the program of graphviz-pure.

    NotFoundError if neither can make the picture; graphviz-pure writes no PDF.
    """
    dot = shutil.which("dot")
    if dot is not None:
        return LayoutProgram("dot", dot)
    if kind not in _PURE_KINDS:
        message = f"{kind.upper()} needs the program 'dot' of Graphviz, which is not installed"
        raise NotFoundError(message, hint=f"{_GET_DOT}, or write SVG or PNG")
    pure = pure_path()
    if pure is None:
        message = f"{kind.upper()} needs the package {_PURE} or the program 'dot' of Graphviz, and neither is installed"
        hint = Hint(f"`pip install {_PURE}`, or {_GET_DOT}; ", option("format"), " dot and text need neither")
        raise NotFoundError(message, hint=hint)
    return LayoutProgram(_PURE, pure)


def pure_path() -> str | None:
    """Return the path of graphviz-pure's program, wherever pip put the file; None if the package is not installed."""
    from importlib.metadata import PackageNotFoundError, files

    try:
        installed = files(_PURE) or ()
    except PackageNotFoundError:
        return None
    # By the list of installed files, as the folder of programs need not be on the path.
    return next((str(file.locate()) for file in installed if file.stem == _PURE), None)
