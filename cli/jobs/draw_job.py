"""The work of `tfg draw`, from its options to its output."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from ...core.drawing.picture import MAX_BOXES, Look, Picture, make_picture
from ...core.drawing.sketch import MAX_TEXT_BOXES, printable_sketch
from ...core.graph.graph import Graph, Node, Output
from ...core.runtime.session.function_signatures import function_named
from ...core.support.errors import NotFoundError
from ...core.support.file_formats import DOT, DRAWING, PDF, PICTURES, PNG, named_format
from ...formats.rendering import LayoutProgram, layout_program
from .. import render
from ..options import refuse_terminal

if TYPE_CHECKING:
    from ...core.explaining.roles import Roles
    from ...core.inference.inference import Answers
    from ..options import Selection

_MAX_TEXT_LAYERS = 12


@dataclasses.dataclass(frozen=True, slots=True)
class DrawOptions:
    """The options of `tfg draw`."""

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


@dataclasses.dataclass(frozen=True, slots=True)
class Paper:
    """Where pictures go: the file or `-`, the format, and the program that lays them out, where the format needs one."""

    out: str
    format: str
    program: LayoutProgram | None

    @classmethod
    def of(cls, out: str, format_: str | None) -> Paper:
        """The paper that the options ask for; NotFoundError where the program that it needs is not installed."""
        asked = named_format(out, format_, PICTURES) or DOT
        if out == "-" and asked in (PNG, PDF):
            refuse_terminal(asked.name)
        return cls(out, asked.word, None if asked in (DOT, DRAWING) else layout_program(asked.word))

    @property
    def is_text(self) -> bool:
        """True where boxes are drawn with characters."""
        return self.format == DRAWING.word


class DrawJob:
    """One `tfg draw`: a graph, or the body of one of its functions, how it is to be drawn and on what."""

    def __init__(self, graph: Graph, paper: Paper, options: DrawOptions) -> None:
        self.paper = paper
        self.options = options
        self.library = graph
        self.graph = graph if options.function is None else _body(graph, options.function)
        self.kept = [self.graph.node_of(name) for name in options.highlight]
        if options.selection.around is not None:
            self.kept.append(self.graph.node_of(options.selection.around))
        self._answers: Answers | None = None
        """What calls of functions return, found once for all pictures."""

    def write(self) -> None:
        """Draw, and write to a file or to standard output; several pictures go to files of their own."""
        from ...formats.codecs.source import write_file

        out, format_ = self.paper.out, self.paper.format
        pictures = list(self._pictures())
        if out == "-" and self.paper.is_text:
            for picture in pictures:
                render.print_lines(printable_sketch(picture))
            return
        if out == "-" and len(pictures) > 1 and self.paper.program is not None:
            raise click.UsageError(f"{len(pictures)} pictures need files: give -o FILE.{format_}")
        drawn = [self._drawn(picture) for picture in pictures]
        if out == "-":
            write_file(out, drawn)
            return
        for path, data in zip(_paths(out, [picture.title for picture in pictures]), drawn, strict=True):
            write_file(path, [data])
            render.note(f"wrote {path}", self.options.quiet)

    def _pictures(self) -> Iterator[Picture]:
        look = self._look()
        if self.options.stages:
            yield from self._stages(look)
            return
        yield make_picture(self._chosen(self.graph), look, self.options.function or "", self.kept)
        for name, function in self.graph.functions.items() if self.options.functions else ():
            yield make_picture(list(function.body), dataclasses.replace(look, specs=self._specs(function.body)), name)

    def _stages(self, look: Look) -> Iterator[Picture]:
        """What stands after each stage, with what is new."""
        from ...core.explaining.stages import ORDER, stage_of_nodes

        chosen = self._chosen(self.graph)
        placed = stage_of_nodes(self._roles())
        for i, stage in enumerate(ORDER):
            new = {node for node in chosen if placed[node][0] == stage}
            if new:
                nodes = [node for node in chosen if placed[node][0] in ORDER[: i + 1]]
                yield make_picture(nodes, dataclasses.replace(look, emphasis=new), stage, self.kept)

    def _look(self) -> Look:
        options = self.options
        look = Look(
            max_boxes=options.max_nodes or (MAX_TEXT_BOXES if self.paper.is_text else MAX_BOXES),
            depth=options.depth,
            expand=options.expand,
            everything=options.everything,
            emphasis={self.graph.node_of(name) for name in options.highlight},
            colours=self._colours(),
            shares=self._shares() if options.flops else None,
            specs=self._specs(self.graph),
        )
        if not self.paper.is_text:
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
            from ...core.explaining.stages import stage_of_nodes

            return {node: stage for node, (stage, _) in stage_of_nodes(self._roles()).items()}
        if self.options.colour == "device":
            return {node: node.device or "no device" for node in self.graph}
        if self.options.colour == "colocation":
            from ...core.building.placement import Placement

            placement = Placement(self.graph)
            groups = {node: placement.group(node) for node in self.graph}
            return {node: f"loc:@{group.root}" if group else "none" for node, group in groups.items()}
        return {}

    def _roles(self) -> Roles:
        from ...core.explaining.roles import Roles

        return Roles(self.graph)

    def _shares(self) -> dict[Node, float]:
        """Each node's part of the FLOPs of what the outputs, or the fetches, run."""
        from ...core.flops import count_flops
        from ...core.flops.by_node import flops_by_node, flops_shares
        from ...core.passes.pipeline import guessed_fetches

        with render.Working("counting", self.options.quiet):
            report = count_flops(self.graph, self.options.selection.to or guessed_fetches(self.graph))
        return flops_shares(self.graph, flops_by_node(self.graph, report))

    def _specs(self, graph: Graph) -> dict[Output, str]:
        if not self.options.shapes:
            return {}
        from ...core.inference.inference import Answers, infer

        if self._answers is None:
            self._answers = Answers()
        specs = infer(graph, functions=self.library.functions, answers=self._answers).specs
        return {value: f"{spec.dtype} {spec.shape}" for value, spec in specs.items()}

    def _drawn(self, picture: Picture) -> bytes:
        if self.paper.is_text:
            return "".join(f"{line}\n" for line in printable_sketch(picture)).encode()
        from ...formats.dot import to_dot

        source = str(to_dot(picture).source)
        program = self.paper.program
        return source.encode() if program is None else program.render(source, self.paper.format, self.options.timeout)


def _body(graph: Graph, name: str) -> Graph:
    return graph.functions[function_named(graph, name)].body


def _paths(out: str, titles: Sequence[str]) -> Iterator[str]:
    """Where each picture goes: all but a first without a title get that in the file's name."""
    stem, extension = os.path.splitext(out)
    for i, title in enumerate(titles):
        word = re.sub(r"\W+", "_", title)
        yield f"{stem}-{i}-{word}{extension}" if word and len(titles) > 1 else out
