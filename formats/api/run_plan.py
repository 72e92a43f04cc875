"""The work of a run by the words of a user, and the plan of the run for a graph."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, TypedDict

from ...core.graph.graph import Graph, Output
from ...core.graph.variable_nodes import VariableNodes
from ...core.runtime.execute.limits import check_numerics
from ...core.runtime.session.runner import Orders, Runner, StepResult
from ...core.runtime.state.run_context import Hook
from ...core.support import dataclasses
from ...core.support.arguments import named, names_of
from ...core.support.hints import Hint, option, value_place
from .names import Given, Names, value_for
from .step_results import read_labels, with_top_classes

_MAX_NAMED: Final = 4
"""The largest number of outputs that a note lists."""

Pairs = tuple[tuple[str, str | Given], ...]
"""Names, each with a value or with the text of a value."""


# A parameter of the steps needs a key here and a field of the same name in `RunRequest`. Both are written out, because type
# checkers read the keys for `Unpack` in the source, and cannot derive them from the dataclass.
class StepKeywords(TypedDict, total=False):
    """The steps of a run."""

    targets: Annotated[Sequence[str] | str, (), "The operations to run in each step."]
    steps: Annotated[int | None, 1, "The number of steps; None for a step for each element of an iterator."]
    fetch_every: Annotated[int, 1, "Fetch in each step of this number, and in the last."]
    assign: Annotated[Mapping[str, Any] | None, None, "Values of variables before the first step."]
    assign_add: Annotated[Mapping[str, Any] | None, None, "Values to add to variables before the first step."]
    assign_sub: Annotated[Mapping[str, Any] | None, None, "Values to subtract from variables before the first step."]
    check_numerics: Annotated[bool, False, "Fail runs with NaN or infinity."]
    top_k: Annotated[int | None, None, "The number of best classes that replace the scores."]
    labels: Annotated[str | Sequence[str] | None, None, "The labels of the classes, or the file with the labels."]


@dataclasses.dataclass(frozen=True, slots=True)
class RunRequest:
    """The work of a run: fetches, feeds, operations to run, and the values of variables before the first step."""

    fetches: tuple[str, ...] = ()
    feeds: Pairs = ()
    targets: tuple[str, ...] = ()
    steps: int | None = 1
    """The number of steps; None for a step for each element of an iterator."""
    fetch_every: int = 1
    assign: Pairs = ()
    assign_add: Pairs = ()
    assign_sub: Pairs = ()
    check_numerics: bool = False
    top_k: int | None = None
    """The number of best classes in the place of scores."""
    labels: str | tuple[str, ...] | None = None
    """The labels of the classes, or the file with the labels."""
    fetches_outputs: bool = True
    """Fetch the outputs of the signature or of the graph if `fetches` is empty."""

    @classmethod
    def of_values(cls, fetches: Sequence[str], feeds: Pairs, options: StepKeywords) -> RunRequest:
        """Return the request of parameters in Python: each key of `StepKeywords` is the field of its name."""
        values: Mapping[str, Any] = options
        fields = {
            name: _FIELDS[name](values[name]) if name in _FIELDS else values[name] for name in StepKeywords.__annotations__
        }
        return cls(names_of(fetches), feeds, **fields)


def _labels(labels: str | Sequence[str] | None) -> str | tuple[str, ...] | None:
    # A text is the name of a file, and no sequence of letters.
    return labels if labels is None or isinstance(labels, str) else names_of(labels)


def given_pairs(values: Mapping[str, Any] | None) -> Pairs:
    """Return names, each with a value itself."""
    return tuple((name, Given(value)) for name, value in named(values).items())


_FIELDS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "targets": names_of, "assign": given_pairs, "assign_add": given_pairs, "assign_sub": given_pairs, "labels": _labels,
}  # fmt: skip
"""By parameter: how the value in Python becomes the value of the request, if the two have different forms."""


class RunPlan:
    """The plan of a run for a graph."""

    def __init__(
        self, graph: Graph, request: RunRequest, signature: str | None, note: Callable[[str], None] = lambda _: None
    ) -> None:
        """`note` takes the choice of outputs if the request names no fetch."""
        graph.check()
        self.graph = graph
        self.request = request
        self.names = Names(graph, signature)
        self._note = note

    def orders(self, fed: Mapping[str, Any] | None = None, hook: Hook | None = None) -> Orders:
        """Return the orders for each step; `fed` are values in addition to the feeds of the request."""
        request = self.request
        feeds = self.names.complete(
            {**self.names.feeds(request.feeds), **(fed or {})}, (*self.fetches.values(), *self.targets)
        )
        hook = check_numerics if request.check_numerics else hook
        return Orders(self.fetches, feeds, self.targets, request.steps, request.fetch_every, hook, self.inside)

    @functools.cached_property
    def fetches(self) -> dict[str, str]:
        """The names to show, each with its fetch: a tensor, or the caller of the function that holds the node."""
        inside, names, paths = self.inside, self.names, self._paths
        if not paths:
            return names.fetches(())
        return {word: names.caller(path) if word in inside else names.fetch(path) for word, path in paths.items()}

    @functools.cached_property
    def inside(self) -> dict[str, Output]:
        """The tensors in functions that are to be fetched, by the names to show."""
        outputs = ((word, self.names.inside(path)) for word, path in self._paths.items())
        return {word: output for word, output in outputs if output is not None}

    @functools.cached_property
    def _paths(self) -> dict[str, str]:
        """The names to show, each with a name of the file: of a tensor, an operation, or as FUNCTION/NODE."""
        # The view of the model is made only for a word that neither the signature nor the file knows.
        return {word: word if self.names.knows(word) else self._path_of(word) for word in self.words}

    def _path_of(self, word: str) -> str:
        """Return the tensor of the file for a layer or a node as the author of the model named it."""
        value = self.names.layer(word, self._note)
        if value is None:
            # For the error of `fetch`, which lists the outputs.
            return self.names.fetch(word)
        path = self.names.view.origin(value.node).path
        return f"{path}:{value.index}" if value.index else path

    @functools.cached_property
    def targets(self) -> tuple[str, ...]:
        """The operations to run."""
        return tuple(self.names.operation(target) for target in self.request.targets)

    @property
    def words(self) -> Iterable[str]:
        """The names to fetch: as asked for, or all outputs of the signature or of the graph."""
        return self.request.fetches or self._outputs

    @functools.cached_property
    def _outputs(self) -> Iterable[str]:
        return (self.names.outputs or self._graph_outputs()) if self.request.fetches_outputs else ()

    def _graph_outputs(self) -> tuple[str, ...]:
        """Return the outputs of a graph without a signature."""
        from ...core.explaining.graph_facts import explain  # lazy: most runs name their fetches

        names = tuple(tensor.name for tensor in explain(self.graph).outputs)
        if names:
            shown = ", ".join(names[:_MAX_NAMED]) + (" ..." if len(names) > _MAX_NAMED else "")
            self._note(Hint(f"fetching {shown}; ", option("fetch"), " chooses others"))
        return names

    @functools.cached_property
    def labels(self) -> tuple[str, ...] | None:
        """The labels of the classes."""
        labels = self.request.labels
        return tuple(read_labels(labels)) if isinstance(labels, str) else labels

    def shown(self, results: Iterable[StepResult]) -> tuple[StepResult, ...]:
        """Return the results, with the best classes in the place of scores if the request asks for classes."""
        k = self.request.top_k
        return tuple(results) if k is None else tuple(with_top_classes(result, k, self.labels) for result in results)

    def assign(self, runner: Runner, more: Pairs = ()) -> None:
        """Assign the values of the request to variables, and then those of `more`."""
        request = self.request
        # All assignments come first, in whatever order the options were given, so that sums begin with the assigned values.
        for word, pairs, mode in (
            ("assign", (*request.assign, *more), "assign"),
            ("assign-add", request.assign_add, "add"),
            ("assign-sub", request.assign_sub, "sub"),
        ):
            for name, given in pairs:
                runner.assign(name, functools.partial(_assigned, given, word), mode)


def _assigned(given: str | Given, word: str, variable: VariableNodes) -> Any:
    return value_for(given, variable.dtype, value_place(word, variable.name))
