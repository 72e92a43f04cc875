"""The function behind `tfg draw`."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, TypeAlias, TypedDict, Unpack

from ...core.building.placement import Placement
from ...core.drawing.picture import MAX_BOXES, Look, Picture, make_picture
from ...core.drawing.sketch import MAX_TEXT_BOXES, printable_sketch
from ...core.explaining.default_fetches import guessed_fetches
from ...core.explaining.model_view import ModelView, model_view
from ...core.explaining.roles import Roles
from ...core.explaining.stages import ORDER, stage_of_nodes
from ...core.flops import count_flops
from ...core.flops.by_node import flops_by_node, flops_shares
from ...core.graph.graph import Graph, GraphLike, Node, Output, as_graph
from ...core.inference.inference import Answers, infer
from ...core.runtime.session.function_signatures import function_named
from ...core.support import dataclasses
from ...core.support.arguments import checked, expect
from ...core.support.display import Displayed
from ...core.support.errors import InvalidArgumentError, NotFoundError
from ...core.support.file_formats import DOT, DRAWING, PICTURES
from ...core.support.hints import Hint, step
from ...core.support.tensor_names import parse_tensor_name
from ..codecs.source import write_file
from ..dot import layout_program, to_dot

PictureFormat: TypeAlias = Literal["svg", "png", "pdf", "dot", "text"]
_COLOURS: Final = ("device", "colocation", "stage")
_MAX_TEXT_LAYERS: Final = 12
_FORMATS: Final = tuple(form.word for form in PICTURES.formats)


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Drawing(Displayed):
    """A picture of a graph; a notebook shows SVG and PNG."""

    format: str
    data: bytes
    title: str = ""

    def __repr__(self) -> str:
        return f"<Drawing {self.format}: {len(self.data):,} bytes>"

    def __str__(self) -> str:
        return self.data.decode()

    # Without this, a notebook would show the HTML of the base class in place of the picture.
    def _repr_html_(self) -> None:
        return None

    def _repr_svg_(self) -> str | None:
        return str(self) if self.format == "svg" else None

    def _repr_png_(self) -> bytes | None:
        return self.data if self.format == "png" else None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file, whole or not at all."""
        write_file(path, [self.data])


class DrawKeywords(TypedDict, total=False):
    """The options of `draw` and `draw_each`."""

    function: Annotated[str | None, None, "Draw the body of a function."]
    signature: Annotated[str | None, None, "The signature of the model."]
    raw: Annotated[bool, False, "Draw the graph as the file has it, not the model that `tfg.model_view` makes of it."]
    nodes: Annotated[Sequence[str] | None, None, "The names of the nodes to draw, by default of all."]
    keep: Annotated[Sequence[str], (), "Names of nodes that say little, which stay."]
    max_nodes: Annotated[int | None, None, "Fold scopes until so many boxes are left."]
    depth: Annotated[int | None, None, "Open the scopes down to a depth."]
    expand: Annotated[Sequence[str], (), "Open the scopes named."]
    everything: Annotated[bool, False, "Draw the nodes that say little."]
    highlight: Annotated[Sequence[str], (), "The names of nodes to emphasize."]
    shapes: Annotated[bool, False, "Write dtypes and shapes at the edges."]
    flops: Annotated[bool, False, "Colour nodes by their share of the FLOPs of `fetches`."]
    fetches: Annotated[Sequence[str], (), "The tensors whose FLOPs count, by default the outputs."]
    color_by: Annotated[Literal["device", "colocation", "stage"] | None, None, "Colour by device, colocation group or stage."]
    width: Annotated[int | None, None, "The largest width of a drawing in text, in characters."]
    timeout: Annotated[float, 60.0, "The time limit of a layout, in seconds."]


class _Maker:
    """The pictures of a graph or of a function's body, and the way onto paper."""

    def __init__(self, graph: Graph | ModelView, format: str, options: DrawKeywords) -> None:
        if format not in _FORMATS:
            raise InvalidArgumentError(f"unknown format '{format}'", hint=f"the formats are {', '.join(_FORMATS)}")
        expect(str | None, options["color_by"], options["function"])
        colour = options["color_by"]
        if colour not in (None, *_COLOURS):
            raise InvalidArgumentError(f"unknown colouring '{colour}'", hint=f"the colourings are {', '.join(_COLOURS)}")
        self.format = format
        self.options = options
        self.title = options["function"] or ""
        # Functions belong to the file: in the view they may be dissolved into their calls.
        is_raw = options["raw"] or bool(self.title)
        view = graph if isinstance(graph, ModelView) else model_view(graph, options["signature"], raw=is_raw)
        self.view = view
        self.library = view.graph
        self.graph = body_of(view.graph, self.title) if self.title else view.graph
        # Emphasized nodes are drawn even if they say little, or the user would look for them in vain.
        self.emphasis = set(map(self._node, options["highlight"]))
        self.required = [*self.emphasis, *map(self._node, options["keep"])]
        names = options["nodes"]
        self.nodes = list(self.graph) if names is None else [self.graph.node(name) for name in names]
        if not self.nodes:
            raise NotFoundError("no node matches", hint=Hint(step("list_nodes"), " lists all nodes"))
        self._answers = Answers()
        """What calls of functions return, found once for all pictures."""

    def _node(self, name: str) -> Node:
        """Return the node of a name, also as the file has it."""
        # In the body of a function, names are those of the file.
        node, _, _ = parse_tensor_name(name)
        return self.graph.node(node if self.title else self.view.path(node))

    def picture(self) -> Picture:
        """Return the picture of the nodes."""
        return make_picture(self.nodes, self._look, self.title, self.required)

    def functions(self) -> Iterator[Picture]:
        """Yield the graph and each of its functions."""
        yield self.picture()
        for name, function in self.graph.functions.items():
            # Shapes in a body are of the body alone: the outputs of the graph and of its functions are different objects.
            look = dataclasses.replace(self._look, specs=self._specs(function.body))
            yield make_picture(list(function.body), look, name)

    def stages(self) -> Iterator[Picture]:
        """Yield the nodes after each stage of the construction, with an emphasis on the new nodes."""
        placed = stage_of_nodes(Roles(self.graph))
        for i, stage in enumerate(ORDER):
            new = {node for node in self.nodes if placed[node][0] == stage}
            if new:
                # The picture of a stage shows what was there before, too, so that the new nodes have their surroundings.
                nodes = [node for node in self.nodes if placed[node][0] in ORDER[: i + 1]]
                yield make_picture(nodes, dataclasses.replace(self._look, emphasis=new), stage, self.required)

    def drawn(self, picture: Picture) -> Drawing:
        """Return a picture on paper."""
        if self.format == DRAWING.word:
            data = "".join(f"{line}\n" for line in printable_sketch(picture)).encode()
        elif self.format == DOT.word:
            data = str(to_dot(picture).source).encode()
        else:
            seconds = self.options["timeout"]
            data = layout_program(self.format).render(str(to_dot(picture).source), self.format, seconds)
        return Drawing(self.format, data, picture.title)

    @functools.cached_property
    def _look(self) -> Look:
        options, is_text = self.options, self.format == DRAWING.word
        look = Look(
            max_boxes=options["max_nodes"] or (MAX_TEXT_BOXES if is_text else MAX_BOXES),
            depth=options["depth"],
            expand=tuple(options["expand"]),
            everything=options["everything"],
            emphasis=self.emphasis,
            layers=set(self.view.layers.values()),
            colours=self._colours(),
            shares=self._shares() if options["flops"] else None,
            specs=self._specs(self.graph),
        )
        # A picture has no columns of characters; only text folds its layers to fit.
        width = options["width"]
        return dataclasses.replace(look, max_layers=_MAX_TEXT_LAYERS, max_width=width) if width and is_text else look

    def _colours(self) -> Mapping[Node, str]:
        """Return the word that each node is coloured by, if that is not the node's kind."""
        colour = self.options["color_by"]
        if colour == "stage":
            return {node: stage for node, (stage, _) in stage_of_nodes(Roles(self.graph)).items()}
        if colour == "device":
            return {node: node.device or "no device" for node in self.graph}
        if colour == "colocation":
            placement = Placement(self.graph)
            groups = {node: placement.group(node) for node in self.graph}
            return {node: f"loc:@{group.root}" if group else "none" for node, group in groups.items()}
        return {}

    def _shares(self) -> dict[Node, float]:
        """Return each node's part of the FLOPs that the fetches run."""
        fetches = [self.view.value(name).name for name in self.options["fetches"]]
        report = count_flops(self.graph, fetches or guessed_fetches(self.graph))
        return flops_shares(self.graph, flops_by_node(self.graph, report))

    def _specs(self, graph: Graph) -> dict[Output, str]:
        if not self.options["shapes"]:
            return {}
        specs = infer(graph, functions=self.library.functions, answers=self._answers).specs
        return {value: f"{spec.dtype} {spec.shape}" for value, spec in specs.items()}


def body_of(graph: Graph, function: str) -> Graph:
    """Return the body of a function by its name, or by the name that TensorFlow numbered; NotFoundError for other names."""
    return graph.functions[function_named(graph, function)].body


@checked
def draw(graph: GraphLike | ModelView, format: PictureFormat = "svg", **options: Unpack[DrawKeywords]) -> Drawing:
    """Return a picture of a model, or of the body of a function, with scopes folded.

    A model is what `tfg.model_view` makes of the graph and its signature. `svg`, `png` and `pdf` need Graphviz, or
    graphviz-pure for the first two: NotFoundError if neither is installed, DeadlineExceededError for a layout that takes
    longer than the time limit.
    """
    maker = _Maker(graph if isinstance(graph, ModelView) else as_graph(graph), format, options)
    return maker.drawn(maker.picture())


@checked
def draw_each(
    graph: GraphLike | ModelView,
    parts: Literal["functions", "stages"],
    format: PictureFormat = "svg",
    **options: Unpack[DrawKeywords],
) -> tuple[Drawing, ...]:
    """Return a picture for each stage of the construction with its new nodes emphasized, or of the graph and each function.

    The title of a picture is the name of the stage or function.
    """
    if parts not in ("functions", "stages"):
        raise InvalidArgumentError(f"unknown parts '{parts}'", hint="the parts are functions and stages")
    # Stages and functions are those of the file: a view of the model leaves out the training, and dissolves calls.
    maker = _Maker(graph if isinstance(graph, ModelView) else model_view(as_graph(graph), raw=True), format, options)
    return tuple(map(maker.drawn, maker.stages() if parts == "stages" else maker.functions()))
