"""`--set`, `--shape` and `--batch`: values and static shapes for the placeholders of a graph."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.graph.graph import Graph, Output
from ..core.support.errors import InvalidArgumentError
from ..core.support.words import counted
from ..core.types.shapes import BatchSize, Shape
from .next_steps import in_commands
from .options import batch_option, block_size, pair, shape_pair
from .render import note
from .requests import option, request

if TYPE_CHECKING:
    from ..core.types.arrays import Array
    from ..formats.api.names import Names


def shape_option(**rules: Any) -> Any:
    """--shape TENSOR=SIZES, repeatable."""
    text = "Set the static shape of this placeholder, with ? for an unknown size; repeatable."
    return option("--shape", type=shape_pair, help=text, **rules)


@request
class SizeOptions:
    """The shapes of placeholders and the batch with which a command looks at a graph."""

    shapes: tuple[tuple[str, tuple[int | None, ...]], ...] = shape_option()
    batch: BatchSize | None = batch_option()

    def __bool__(self) -> bool:
        return bool(self.shapes or self.batch is not None)

    def carried(self, commands: Iterable[str]) -> tuple[str, ...]:
        """Return commands for the graph with these options, as far as the commands take them."""
        shapes = [f"{name}={','.join('?' if size is None else str(size) for size in sizes)}" for name, sizes in self.shapes]
        words = [word for shape in shapes for word in ("--shape", shape)]
        words += [] if self.batch is None else ["--batch", str(self.batch)]
        # The lines are shell commands, so they are cut and joined as a shell does, with all quotes.
        lines = map(in_commands, commands)
        return tuple(shlex.join([*shlex.split(line), *words]) if _takes_sizes(line) else line for line in lines)

    def applied(self, graph: Graph, signature: str | None, fetches: Sequence[str], quiet: bool = False) -> Graph:
        """Return the graph with the shapes, and the batch of the inputs that the fetches need, by default the outputs."""
        if not self:
            return graph
        from ..core.explaining.default_fetches import default_fetches
        from ..formats.api.names import Names

        graph.check()  # sizes are inferred, and a broken graph has none
        changed, names = graph.copy(), Names(graph, signature)
        options = PlaceholderOptions(values=(), shapes=self.shapes, batch=self.batch)
        options.apply(changed, Names(changed, signature), quiet)
        # A tensor inside a function has no inputs of its own to give a batch.
        wanted = [names.fetch(word) for word in fetches if names.inside(word) is None] or list(names.outputs.values())
        return options.with_batch(changed, lambda: wanted or default_fetches(changed), quiet)


@request
class RunSizeOptions(SizeOptions):
    """The sizes with which a command runs a graph, for many inputs in blocks."""

    batch: Any = option(
        type=block_size,
        help="Change the batch: the first size of the inputs, also in nodes that state it; ? for an unknown batch. With "
        "--each: number of inputs in a run; auto: blocks grow to runs of 50 ms, where no node mixes rows. Default with "
        "--each: auto.",
    )


def _takes_sizes(command: str) -> bool:
    return not {"run", "explain"}.isdisjoint(command.split()[:3])


@request
class PlaceholderOptions:
    """The values and shapes for placeholders, by the words of the command line."""

    values: tuple[tuple[str, str], ...] = option(
        "--set", type=pair("NAME", "VALUE"), help="Replace this placeholder with a constant; values as for --feed; repeatable."
    )
    shapes: tuple[tuple[str, tuple[int | None, ...]], ...] = shape_option()
    batch: BatchSize | None = batch_option()

    def __bool__(self) -> bool:
        return bool(self.values or self.shapes or self.batch is not None)

    def apply(self, graph: Graph, names: Names, quiet: bool, cuts: Sequence[str] = ()) -> None:
        """Set the values and shapes of the placeholders of a graph, except at tensors of `cuts`.

        `names` resolves the names. A note tells how many nodes the values leave without a run.
        """
        there, _ = self._parted(names, cuts)
        there._set(graph, {word: names.input(word) for word in there._words}, quiet)

    def applied_at_cuts(self, graph: Graph, names: Names, cuts: Sequence[str], quiet: bool) -> tuple[Graph, list[str]]:
        """Return a graph with the values and shapes at tensors of `cuts`, and the cuts that remain."""
        _, cut = self._parted(names, cuts)
        tensors = {word: names.input(word).name for word in cut._words}
        if not tensors:
            return graph, list(cuts)
        from ..core.transforms.subgraphs import cut_at

        changed = graph.copy()
        placeholders = cut_at(changed, list(dict.fromkeys(tensors.values())))
        cut._set(changed, {word: placeholders[name].output() for word, name in tensors.items()}, quiet)
        return changed, [name for name in cuts if name not in placeholders]

    def with_batch(self, graph: Graph, fetches: Callable[[], Sequence[str]], quiet: bool) -> Graph:
        """Return the graph with the batch of the inputs that the fetches need; notes tell the changes."""
        if self.batch is None:
            return graph
        from ..core.transforms.batch_size import set_batch

        changed = graph.copy()
        for change in set_batch(changed, fetches(), self.batch):
            note(change, quiet)
        return changed

    def with_batch_at_cuts(
        self, graph: Graph, cuts: Sequence[str], fetches: Callable[[], Sequence[str]], quiet: bool
    ) -> tuple[Graph | None, Graph, list[str]]:
        """Return a graph before and after a change of the batch, and the cuts that have no placeholder yet."""
        if self.batch is None:
            return None, graph, list(cuts)
        from ..core.transforms.subgraphs import cut_at

        original = graph.copy()
        cut_at(original, cuts)
        return original, self.with_batch(original, fetches, quiet), []

    @property
    def _words(self) -> list[str]:
        return [word for word, _ in (*self.values, *self.shapes)]

    def _parted(self, names: Names, cuts: Sequence[str]) -> tuple[PlaceholderOptions, PlaceholderOptions]:
        """Return the options for placeholders of the graph, and the options for tensors of `cuts`."""
        # A placeholder that --from makes does not exist yet: its options are applied after the cut.
        at_cut = {word: names.input(word).name in cuts for word in self._words}
        there, cut = (
            PlaceholderOptions(
                values=tuple(pair for pair in self.values if at_cut[pair[0]] is is_cut),
                shapes=tuple(pair for pair in self.shapes if at_cut[pair[0]] is is_cut),
            )
            for is_cut in (False, True)
        )
        return there, cut

    def _set(self, graph: Graph, tensors: Mapping[str, Output], quiet: bool) -> None:
        if not self._words:
            return
        from ..core.transforms.placeholders import set_placeholders, set_shapes
        from ..formats.api.live_branches import settle_values
        from ..formats.value_literals import value_of

        _refuse_doubles("--shape", [(word, tensors[word]) for word, _ in self.shapes])
        _refuse_doubles("--set", [(word, tensors[word]) for word, _ in self.values])
        # Shapes first: a value is read for the new shape of its placeholder.
        set_shapes(graph, {tensors[word].name: Shape(sizes) for word, sizes in self.shapes})
        values: dict[str, Array] = {}
        for word, text in self.values:
            tensor = tensors[word]
            values[tensor.name] = value_of(text, tensor.dtype, f"--set {word}", tensor.node.declared_shape)
        set_placeholders(graph, values)
        if values:
            # A value may decide the branch of a conditional: what only the other branch needs goes.
            before = set(graph)
            settle_values(graph, {tensor.node.name for tensor in tensors.values()})
            gone = len(before - set(graph))
            note(f"--set leaves out {counted(gone, 'node')} that no run needs", quiet or not gone)


def _refuse_doubles(name: str, given: Iterable[tuple[str, Output]]) -> None:
    """Raise InvalidArgumentError if an option sets a tensor twice."""
    seen = set()
    for word, tensor in given:
        if tensor in seen:
            raise InvalidArgumentError(f"{name} {word}: '{tensor.name}' is already set")
        seen.add(tensor)
