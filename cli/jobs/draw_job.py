"""Implementation of `tfg draw`."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

import click

from ...core.explaining.model_view import ModelView, model_view
from ...core.support import dataclasses
from ...core.support.file_formats import DOT, DRAWING, PDF, PICTURES, PNG, named_format
from ...formats.api.drawing import Drawing, DrawKeywords, body_of, draw, draw_each
from ...formats.codecs.source import write_file
from ...formats.dot import LayoutProgram, layout_program
from .. import render
from ..commands.draw import DrawOptions
from ..options import ListingSelection, refuse_terminal

if TYPE_CHECKING:
    from ...formats.api.drawing import PictureFormat


def run(options: DrawOptions) -> None:
    """Draw a graph."""
    paper = Paper.of(options.out, options.format_)
    graph, is_sound = options.reader.look_closely(options.graph)
    # A broken graph has no view of its model, but its nodes can be drawn.
    is_raw = options.raw or options.functions or options.stages or options.function is not None or not is_sound
    DrawJob(model_view(graph, options.signature, raw=is_raw), paper, options).write()


@dataclasses.dataclass(frozen=True, slots=True)
class Paper:
    """The destination of pictures: the file or `-`, the format, and the layout program if the format needs a program."""

    out: str
    format: PictureFormat
    program: LayoutProgram | None

    @classmethod
    def of(cls, out: str, format_: str | None) -> Paper:
        """Return the destination for the options; NotFoundError if a required layout program is not installed.

        People read what a terminal gets, and programs what a pipe gets: boxes here, Graphviz source there.
        """
        asked = named_format(out, format_, PICTURES) or (DRAWING if sys.stdout.isatty() else DOT)
        if out == "-" and asked in (PNG, PDF):
            refuse_terminal(asked.name)
        return cls(out, cast("PictureFormat", asked.word), None if asked in (DOT, DRAWING) else layout_program(asked.word))

    @property
    def is_text(self) -> bool:
        """True if boxes are drawn with characters."""
        return self.format == DRAWING.word


class DrawJob:
    """A run of `tfg draw`: the model, the options, and the destination."""

    def __init__(self, view: ModelView, paper: Paper, options: DrawOptions) -> None:
        self.view = view
        self.graph = view.graph
        self.paper = paper
        self.options = options

    def write(self) -> None:
        """Draw, and write to a file or to standard output; several pictures go to files of their own."""
        out, format_ = self.paper.out, self.paper.format
        with render.Working("counting", self.options.quiet or not self.options.flops):
            drawings = self._drawings()
        if out == "-" and self.paper.is_text:
            for drawing in drawings:
                render.print_drawing(str(drawing))
            return
        # Text and Graphviz source may follow each other, but two pictures in one stream are no picture.
        if out == "-" and len(drawings) > 1 and self.paper.program is not None:
            raise click.UsageError(f"{len(drawings)} pictures need files: add -o FILE.{format_}")
        if out == "-":
            write_file(out, [drawing.data for drawing in drawings])
            return
        for path, drawing in zip(_paths(out, [drawing.title for drawing in drawings]), drawings, strict=True):
            drawing.save(path)
            render.note(f"wrote {path}", self.options.quiet)

    def _drawings(self) -> Sequence[Drawing]:
        options, selection = self.options, self._selection()
        graph = body_of(self.graph, options.function) if options.function is not None else self.graph
        # The dictionary of the library: a look that Python has not would be a type error here.
        looks = DrawKeywords(
            function=options.function,
            nodes=[node.name for node in selection.of(graph).apply(graph)] if selection.is_of_some else None,
            keep=() if selection.around is None else [selection.around],
            max_nodes=options.max_nodes, depth=options.depth, expand=options.expand, everything=options.everything,
            highlight=[self.view.path(name) for name in options.highlight],
            shapes=options.shapes, flops=options.flops, fetches=selection.to,
            color_by=options.colour, width=shutil.get_terminal_size((100, 0)).columns if self.paper.is_text else None,
            timeout=options.timeout,
        )  # fmt: skip
        if options.stages or options.functions:
            return draw_each(self.view, "stages" if options.stages else "functions", self.paper.format, **looks)
        return [draw(self.view, self.paper.format, **looks)]

    def _selection(self) -> ListingSelection:
        """Return the choice of nodes by the names of the view."""
        selection, view = self.options.selection, self.view
        # The user may name a layer or a node of the file: in the view, either has another path.
        around = selection.around if selection.around is None else view.path(selection.around)
        return dataclasses.replace(selection, around=around, to=tuple(view.path(name) for name in selection.to))


def _paths(out: str, titles: Sequence[str]) -> Iterator[str]:
    """Where each picture goes: all but a first without a title get that in the file's name."""
    stem, extension = os.path.splitext(out)
    for i, title in enumerate(titles):
        word = re.sub(r"\W+", "_", title)
        yield f"{stem}-{i}-{word}{extension}" if word and len(titles) > 1 else out
