"""`--set` and `--shape`: values and static shapes for the placeholders of a graph."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..core.graph.graph import Graph
from ..core.types.shapes import Shape
from .options import Pair, ShapePair

if TYPE_CHECKING:
    from ..core.types.arrays import Array
    from .names import Names

_Command = TypeVar("_Command", bound=Callable[..., Any])


@dataclasses.dataclass(frozen=True, slots=True)
class PlaceholderOptions:
    """The values and shapes for placeholders, by the words of the command line."""

    values: tuple[tuple[str, str], ...] = ()
    shapes: tuple[tuple[str, tuple[int | None, ...]], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.values or self.shapes)

    def apart(self, cuts: Sequence[str]) -> tuple[PlaceholderOptions, PlaceholderOptions]:
        """Return the options for placeholders of the graph, and the options for tensors that `cuts` turns into
        placeholders.
        """
        stems = {word.removesuffix(":0") for word in cuts}
        there, cut = (
            PlaceholderOptions(
                tuple(pair for pair in self.values if (pair[0].removesuffix(":0") in stems) is is_cut),
                tuple(pair for pair in self.shapes if (pair[0].removesuffix(":0") in stems) is is_cut),
            )
            for is_cut in (False, True)
        )
        return there, cut

    def apply(self, graph: Graph, names: Names) -> None:
        """Set the values and shapes of placeholders in a graph; `names` resolves their names."""
        if not self:
            return
        from ..core.transforms.placeholders import declared_shape, set_placeholders, set_shapes
        from ..formats.value_literals import value_of

        set_shapes(graph, {names.input(word).name: Shape(sizes) for word, sizes in self.shapes})
        values: dict[str, Array] = {}
        for word, text in self.values:
            tensor = graph.output(names.input(word).name)
            values[tensor.name] = value_of(text, tensor.dtype, f"--set {word}", declared_shape(tensor.node))
        set_placeholders(graph, values)


def placeholder_options(command: _Command) -> _Command:
    """--set and --shape; the command gets them as `placeholders`."""

    @click.option("--set", "values", type=Pair("NAME", "VALUE"), multiple=True,
                  help="Replace this placeholder with a constant; values as for --feed; repeatable.")  # fmt: skip
    @click.option("--shape", "shapes", type=ShapePair(), multiple=True,
                  help="Set the static shape of this placeholder, with ? for an unknown size; repeatable.")  # fmt: skip
    @functools.wraps(command)
    def wrapped(*args: Any, values: Any, shapes: Any, **kwargs: Any) -> Any:
        return command(*args, placeholders=PlaceholderOptions(values, shapes), **kwargs)

    return wrapped  # type: ignore[return-value]
