"""`--set` and `--shape`: values and static shapes for the placeholders of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..core.graph.graph import Graph, Output
from ..core.types.shapes import Shape
from .options import Pair, ShapePair
from .requests import option, request

if TYPE_CHECKING:
    from ..core.types.arrays import Array
    from ..formats.runs.names import Names


@request
class PlaceholderOptions:
    """The values and shapes for placeholders, by the words of the command line."""

    values: tuple[tuple[str, str], ...] = option(
        "--set",
        type=Pair("NAME", "VALUE"),
        help="Replace this placeholder with a constant; values as for --feed; repeatable.",
    )
    shapes: tuple[tuple[str, tuple[int | None, ...]], ...] = option(
        "--shape",
        type=ShapePair(),
        help="Set the static shape of this placeholder, with ? for an unknown size; repeatable.",
    )

    def __bool__(self) -> bool:
        return bool(self.values or self.shapes)

    def apply(self, graph: Graph, names: Names, cuts: Sequence[str] = ()) -> None:
        """Set the values and shapes of the placeholders of a graph, except at tensors of `cuts`.

        `names` resolves the names.
        """
        there, _ = self._parted(names, cuts)
        there._set(graph, {word: names.input(word) for word in there._words})

    def applied_at_cuts(self, graph: Graph, names: Names, cuts: Sequence[str]) -> tuple[Graph, list[str]]:
        """Return a graph with the values and shapes at tensors of `cuts`, and the cuts that remain."""
        _, cut = self._parted(names, cuts)
        tensors = {word: names.input(word).name for word in cut._words}
        if not tensors:
            return graph, list(cuts)
        from ..core.transforms.subgraphs import cut_at

        changed = graph.copy()
        placeholders = cut_at(changed, list(dict.fromkeys(tensors.values())))
        cut._set(changed, {word: placeholders[name].output() for word, name in tensors.items()})
        return changed, [name for name in cuts if name not in placeholders]

    @property
    def _words(self) -> list[str]:
        return [word for word, _ in (*self.values, *self.shapes)]

    def _parted(self, names: Names, cuts: Sequence[str]) -> tuple[PlaceholderOptions, PlaceholderOptions]:
        """Return the options for placeholders of the graph, and the options for tensors of `cuts`."""
        at_cut = {word: names.input(word).name in cuts for word in self._words}
        there, cut = (
            PlaceholderOptions(
                values=tuple(pair for pair in self.values if at_cut[pair[0]] is is_cut),
                shapes=tuple(pair for pair in self.shapes if at_cut[pair[0]] is is_cut),
            )
            for is_cut in (False, True)
        )
        return there, cut

    def _set(self, graph: Graph, tensors: Mapping[str, Output]) -> None:
        if not self:
            return
        from ..core.transforms.placeholders import declared_shape, set_placeholders, set_shapes
        from ..formats.value_literals import value_of

        set_shapes(graph, {tensors[word].name: Shape(sizes) for word, sizes in self.shapes})
        values: dict[str, Array] = {}
        for word, text in self.values:
            tensor = tensors[word]
            values[tensor.name] = value_of(text, tensor.dtype, f"--set {word}", declared_shape(tensor.node))
        set_placeholders(graph, values)
