"""The values of a run by the nodes of a model: what each node returned, and how often it ran."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..graph.callers import CallPaths
from ..graph.graph import Node, Output
from ..graph.variable_nodes import VARIABLES
from ..numerics.tensor_statistics import TensorStatistics, tensor_statistics
from ..runtime.session.session_like import SessionLike
from ..runtime.state.resources import Readable, Variable
from ..support import dataclasses
from ..support.display import Displayed, record
from ..support.errors import InvalidArgumentError, MissingKeyError, NotFoundError
from ..support.tensor_names import parse_tensor_name
from ..support.words import counted
from ..types.arrays import Array
from ..types.dtypes import DType
from ..types.shapes import Shape
from ..types.tensors import Tensor
from .model_view import ModelView


@dataclasses.dataclass(frozen=True, slots=True)
class NodeRun:
    """The values of the outputs in the last of `runs` runs of a node; None for a dead output, a handle or a list."""

    values: tuple[Array | None, ...]
    runs: int = 1


class RunRecorder:
    """A hook that keeps the last results of each node by its path: the names of the calls around, and the node's name.

    A variable has the value that it had when the run asked for it. What is no step of a run, such as a placeholder, an
    Identity or an argument, has the value that a reader takes.
    """

    def __init__(self) -> None:
        self.runs: dict[tuple[str, Node], NodeRun] = {}
        """By the path of the calls around, with a slash behind, and the node."""
        self._steps: set[tuple[str, Node]] = set()
        self._around = _Around()

    def __call__(self, node: Node, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        prefix = self._around.prefix
        key = prefix, node
        # A source that was noted by its readers has the number of their runs.
        count = self.runs[key].runs + 1 if key in self._steps else 1
        self._note_inputs(prefix, zip(node.inputs, inputs), count)
        self._around.prefix = f"{prefix}{node.name}/"
        try:
            result = call(*inputs)
        finally:
            self._around.prefix = prefix
        self._steps.add(key)
        values = result if isinstance(result, (tuple, list)) else (result,)
        self.runs[key] = NodeRun(tuple(map(_array, values)), count)
        return result

    def _note_inputs(self, prefix: str, inputs: Iterable[tuple[Output, Any]], count: int) -> None:
        """Note the values of sources that are no steps, which run as often as their readers."""
        for source, value in inputs:
            key = prefix, source.node
            # Of an op that is no step, such as a placeholder, only the first output exists. Constants are in the file.
            if key not in self._steps and not source.index and not source.node.is_constant:
                self.runs[key] = NodeRun((_array(value),), count)


class _Around(threading.local):
    """The path of the calls around the kernels of a thread."""

    prefix = ""


def _array(value: Any) -> Array | None:
    """Return a value as an array; of a variable, its value; None for other handles, lists and dead values."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        held = value.item() if value.ndim == 0 else None
        if not isinstance(held, Variable):
            return value if all(isinstance(item, bytes) for item in value.flat) else None
        value = held
    if isinstance(value, Variable) and not value.is_initialized:
        return None
    if isinstance(value, Readable):
        return _array(value.read())
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    return np.asarray(value, object) if isinstance(value, bytes) else None


@dataclasses.dataclass(frozen=True, slots=True)
class ActivationRow:
    """A tensor of a run, with statistics of its elements."""

    tensor: str
    op: str
    dtype: DType
    shape: Shape
    runs: int
    """How often the node ran; the values are of the last run."""
    statistics: TensorStatistics


class Activations(Mapping[str, Array], Displayed):
    """The tensors of a run of a model by name, in the order of the run: the values that nodes returned when they last ran.

    A name is that of the model's view: a node for its first output, `NODE:1` for the second, CALL/NODE for a node in the body
    of a loop. A layer or scope stands for its output, and the end of a name for the name. NotFoundError, also a KeyError,
    names the nearest tensors for an unknown name.
    """

    def __init__(self, view: ModelView, runs: Sequence[tuple[str, Node, NodeRun]]) -> None:
        """`runs` has paths in the view with their nodes, in the order of the run."""
        self.view = view
        self._runs = runs

    @functools.cached_property
    def by_node(self) -> Mapping[Node, NodeRun]:
        """The runs of the view's nodes in the order of the run, those of variables included; a node of a function that
        several nodes call has run for all of them.
        """
        merged: dict[Node, NodeRun] = {}
        for _, node, run in self._runs:
            before = merged.get(node)
            merged[node] = run if before is None else dataclasses.replace(run, runs=run.runs + before.runs)
        return merged

    @functools.cached_property
    def _arrays(self) -> Mapping[str, tuple[Array, Node, NodeRun]]:
        computed = [each for each in self._runs if each[1].op not in VARIABLES and not each[1].is_variable_read]
        return {
            f"{path}:{index}" if index else path: (value, node, run)
            for path, node, run in computed
            for index, value in enumerate(run.values)
            if value is not None
        }

    def __getitem__(self, name: str) -> Array:
        known = self._arrays.get(name) or self._arrays.get(self._named(name))
        if known is None:
            raise MissingKeyError.of("tensor", name, self._arrays)
        return known[0]

    def _named(self, word: str) -> str:
        """Return the tensor that a word names in the view, without `:0`; the word itself if there is none."""
        try:
            return self.view.value(word).name.removesuffix(":0")
        except (NotFoundError, InvalidArgumentError):
            return word

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        return f"<Activations of {counted(len(self), 'tensor')}>"

    def describe(self) -> tuple[ActivationRow, ...]:
        """Return op, dtype, shape and statistics of each tensor."""
        return tuple(
            ActivationRow(
                name, node.op, Tensor.from_numpy(value).dtype, Shape(value.shape), run.runs, tensor_statistics(value)
            )
            for name, (value, node, run) in self._arrays.items()
        )

    def to_records(self) -> list[dict[str, Any]]:
        """Return the rows of `describe` as dictionaries of plain values, for `pandas.DataFrame` and `polars.DataFrame`."""
        return [record(row) for row in self.describe()]


def activations(
    view: ModelView, session: SessionLike, fetches: Sequence[str], feeds: Mapping[str, Any], steps: int = 1
) -> tuple[list[Any], Activations]:
    """Run the fetches in a session on the graph of a view's file; return their values, and those of all nodes, in the last of
    `steps` runs.

    UnimplementedError for a session on a cluster.
    """
    for _ in range(steps - 1):
        session.run(list(fetches), feeds)
    recorder = RunRecorder()
    fetched = session.run(list(fetches), feeds, hook=recorder)
    ran = list(_in_view(view, recorder.runs))
    known = {node for _, node, _ in ran}
    # A placeholder that no kernel reads, such as one that only an Identity takes.
    unread = [each for each in _fed(view, feeds) if each[1] not in known]
    for name, value in zip(fetches, fetched):
        if value is not None and (output := view.value(name)).node not in known and not output.index:
            ran.append((output.node.name, output.node, NodeRun((_array(value),))))
    runs = [*unread, *ran]
    return fetched, Activations(view, [*runs, *_passed_on(view, runs)])


def _fed(view: ModelView, feeds: Mapping[str, Any]) -> Iterator[tuple[str, Node, NodeRun]]:
    """Yield the placeholders that are fed."""
    for name, value in feeds.items():
        node = view.graph.get(view.path(parse_tensor_name(name)[0]))
        if node is not None and node.is_placeholder:
            yield node.name, node, NodeRun((_array(np.asarray(value, node.output().base_dtype.numpy)),))


def _in_view(view: ModelView, runs: Mapping[tuple[str, Node], NodeRun]) -> Iterator[tuple[str, Node, NodeRun]]:
    """Yield the runs of nodes of the view with their paths there."""
    inner = {node for function in view.graph.functions.values() for node in function.body}
    paths = CallPaths(view.graph)
    homes = {node: name for name, function in view.source.functions.items() for node in function.body}
    # A condition and a body may have a node of one name: a path alone does not tell which of both ran.
    names = {(origin.function, origin.call_path): name for name, origin in view.origins.items()}
    for (prefix, ran), run in runs.items():
        whole = f"{prefix}{ran.name}"
        path, name = view.path(whole), names.get((homes.get(ran, ""), whole), "")
        node = ran if ran in inner else view.get(name) or view.graph.get(path) or paths.node_at(path)
        # A path can lead to another node where names repeat; then no value is better than a wrong one.
        if node is not None and node.op == ran.op:
            yield path, node, run


def _passed_on(view: ModelView, runs: Iterable[tuple[str, Node, NodeRun]]) -> Iterator[tuple[str, Node, NodeRun]]:
    """Yield the runs of Identity nodes that only other Identity nodes read."""
    known = {node: run for _, node, run in runs}
    for node in view.graph:
        source = node
        while source.is_identity and source not in known and not source.inputs[0].index:
            source = source.inputs[0].node
        if source is not node and source in known:
            yield node.name, node, known[source]
