"""What `tfg draw` does between its options and its output."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from ..core.drawing.picture import MAX_BOXES, Look, Picture, make_picture
from ..core.errors import DeadlineExceededError, InvalidArgumentError, NotFoundError, UnknownError
from ..core.graph import Graph, Node, Output
from ..core.journal import Stopwatch
from . import render

if TYPE_CHECKING:
    from ..core.explaining.roles import Roles
    from .options import Selection

_KINDS = {".dot": "dot", ".gv": "dot", ".svg": "svg", ".png": "png", ".pdf": "pdf", ".txt": "text", "": "dot"}
_MAX_TEXT_BOXES = 18
_MAX_TEXT_LAYERS = 12
_DOT_HINT = "install Graphviz (`apt install graphviz`, `brew install graphviz`), or write Graphviz source: --format dot"


@dataclasses.dataclass(frozen=True, slots=True)
class DrawOptions:
    """What `tfg draw` is told."""

    selection: Selection
    function: str | None
    functions: bool
    stages: bool
    depth: int | None
    expand: tuple[str, ...]
    max_nodes: int | None
    everything: bool
    shapes: bool
    flops: bool
    colour: str | None
    highlight: tuple[str, ...]
    timeout: float
    quiet: bool


class DrawJob:
    """One `tfg draw`: a graph, or the body of one of its functions, and how it is to be drawn."""

    def __init__(self, graph: Graph, options: DrawOptions) -> None:
        self.options = options
        self.library = graph
        self.graph = graph if options.function is None else _body(graph, options.function)
        self.kept = [self.graph.node_of(name) for name in options.highlight]
        if options.selection.around is not None:
            self.kept.append(self.graph.node_of(options.selection.around))

    def write(self, out: str, format_: str | None) -> None:
        """Draw, and write to a file or to standard output; several pictures go to files of their own."""
        kind = format_ or _KINDS.get(os.path.splitext(out)[1].lower())
        if kind is None:
            endings = ", ".join(ending for ending in _KINDS if ending)
            raise click.UsageError(f"'{out}' does not say what to write: end it in one of {endings}, or give --format")
        from ..formats.source import write_file

        pictures = list(self._pictures(kind == "text"))
        if len(pictures) > 1 and out == "-" and kind not in ("dot", "text"):
            raise click.UsageError(f"{len(pictures)} pictures need files: give -o FILE.{kind}")
        if out == "-" and kind == "text":
            for picture in pictures:
                render.print_lines(_lines(picture))
            return
        drawn = [self._drawn(picture, kind) for picture in pictures]
        if out == "-":
            write_file(out, drawn)
            return
        if os.path.isdir(out):
            raise InvalidArgumentError(f"'{out}' is a folder")
        for path, data in zip(_paths(out, [picture.title for picture in pictures]), drawn, strict=True):
            write_file(path, [data])
            if len(drawn) > 1:
                render.note(f"wrote {path}", self.options.quiet)

    def _pictures(self, as_text: bool) -> Iterator[Picture]:
        look = self._look(as_text)
        if self.options.stages:
            yield from self._stages(look)
            return
        yield make_picture(self._chosen(self.graph), look, self.options.function or "", self.kept)
        for name, function in self.graph.functions.items() if self.options.functions else ():
            yield make_picture(list(function.body), dataclasses.replace(look, specs=self._specs(function.body)), name)

    def _stages(self, look: Look) -> Iterator[Picture]:
        """What stands after each stage, with what is new."""
        from ..core.explaining.stages import ORDER, stage_of_nodes

        chosen = self._chosen(self.graph)
        placed = stage_of_nodes(self._roles())
        for i, stage in enumerate(ORDER):
            new = {node for node in chosen if placed[node][0] == stage}
            if new:
                nodes = [node for node in chosen if placed[node][0] in ORDER[: i + 1]]
                yield make_picture(nodes, dataclasses.replace(look, emphasis=new), stage, self.kept)

    def _look(self, as_text: bool) -> Look:
        options = self.options
        look = Look(
            max_boxes=options.max_nodes or (_MAX_TEXT_BOXES if as_text else MAX_BOXES),
            depth=options.depth,
            expand=options.expand,
            everything=options.everything,
            emphasis={self.graph.node_of(name) for name in options.highlight},
            colours=self._colours(),
            shares=self._shares() if options.flops else None,
            specs=self._specs(self.graph),
        )
        if not as_text:
            return look
        width = shutil.get_terminal_size((100, 0)).columns
        return dataclasses.replace(look, max_layers=_MAX_TEXT_LAYERS, max_width=width)

    def _chosen(self, graph: Graph) -> list[Node]:
        nodes = list(self.options.selection.of(graph).apply(graph))
        if not nodes:
            raise NotFoundError("no node is chosen", hint="`tfg dump GRAPH --format list` lists all nodes")
        return nodes

    def _colours(self) -> Mapping[Node, str]:
        """What each node is coloured by, where that is not its kind."""
        if self.options.colour == "stage":
            from ..core.explaining.stages import stage_of_nodes

            return {node: stage for node, (stage, _) in stage_of_nodes(self._roles()).items()}
        if self.options.colour == "device":
            return {node: node.device or "no device" for node in self.graph}
        if self.options.colour == "colocation":
            from ..core.building.placement import Placement

            placement = Placement(self.graph)
            groups = {node: placement.group(node) for node in self.graph}
            return {node: f"loc:@{group.root}" if group else "none" for node, group in groups.items()}
        return {}

    def _roles(self) -> Roles:
        from ..core.explaining.roles import Roles

        return Roles(self.graph)

    def _shares(self) -> dict[Node, float]:
        """Each node's part of the FLOPs of what the outputs, or the fetches, run."""
        from ..core.flops import count_flops
        from ..core.flops.by_node import flops_by_node, flops_shares
        from ..core.passes.pipeline import guessed_fetches

        with render.Working("counting", self.options.quiet):
            report = count_flops(self.graph, self.options.selection.to or guessed_fetches(self.graph))
        return flops_shares(self.graph, flops_by_node(self.graph, report))

    def _specs(self, graph: Graph) -> dict[Output, str]:
        if not self.options.shapes:
            return {}
        from ..core.inference import infer

        specs = infer(graph, functions=self.library.functions).specs
        return {value: f"{spec.dtype} {spec.shape}" for value, spec in specs.items()}

    def _drawn(self, picture: Picture, kind: str) -> bytes:
        if kind == "text":
            return "".join(f"{line}\n" for line in _lines(picture)).encode()
        from ..formats.dot import to_dot

        source = str(to_dot(picture).source).encode()
        return source if kind == "dot" else self._rendered(source, kind, len(picture.boxes))

    def _rendered(self, source: bytes, kind: str, boxes: int) -> bytes:
        """What Graphviz makes of its source."""
        watch = Stopwatch()
        try:
            found = subprocess.run(["dot", f"-T{kind}"], input=source, capture_output=True, timeout=self.options.timeout)
        except FileNotFoundError:
            raise NotFoundError("the program 'dot' of Graphviz is not installed", hint=_DOT_HINT) from None
        except subprocess.TimeoutExpired:
            hint = "draw less (--max-nodes, --scope, --around, a smaller --depth), or give it more time (--timeout)"
            message = f"'dot' did not lay out {boxes} boxes within {self.options.timeout:g} s"
            raise DeadlineExceededError(message, hint=hint) from None
        if found.returncode:
            raise UnknownError(f"Graphviz failed: {found.stderr.decode(errors='replace').strip()}")
        watch.tell("dot laid out %d boxes", boxes)
        return found.stdout


def _lines(picture: Picture) -> Iterator[str]:
    from ..core.drawing.sketch import sketch
    from ..core.escaping import printable_line

    return map(printable_line, sketch(picture))


def _body(graph: Graph, name: str) -> Graph:
    if name not in graph.functions:
        raise NotFoundError(f"the graph has no function '{name}'", hint="`tfg explain GRAPH` lists its functions")
    return graph.functions[name].body


def _paths(out: str, titles: Sequence[str]) -> Iterator[str]:
    """Where each picture goes: all but a first without a title get that in the file's name."""
    stem, extension = os.path.splitext(out)
    for i, title in enumerate(titles):
        word = re.sub(r"\W+", "_", title)
        yield f"{stem}-{i}-{word}{extension}" if word and len(titles) > 1 else out
