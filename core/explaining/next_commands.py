"""Commands that run a graph on values that fit, and that look further: what `explain` proposes next."""

from __future__ import annotations

import dataclasses
import itertools
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from ..feeding.example_feeds import Input, example_feeds
from ..feeding.named_components import whole_texts
from ..functions.table_fills import iterator_starts
from ..graph.graph import Function, Graph, Node
from ..graph.metagraph import SavedCallable, Signature
from ..graph.variable_nodes import find_variables
from ..inference.inference import Inference
from ..planning.reachability import needed_nodes
from ..registry.op_facts import has_fact
from ..runtime.session.runner import initializers, table_initializers
from ..support.untrusted import is_untrusted
from ..types.example_values import example_value
from ..types.shapes import Shape
from .node_listing import declared_shapes

_MAX_CALLS: Final = 4
_MAX_ASSIGNED: Final = 8


@dataclasses.dataclass(frozen=True, slots=True)
class NextCommands:
    """Commands for a graph in the file `path`, with values that fit as far as an inference tells."""

    graph: Graph
    path: str
    inference: Inference | None

    @property
    def _tfg(self) -> str:
        """The program: a graph that is a stranger's here is one in the commands too."""
        return "tfg --untrusted" if self.graph.is_untrusted or is_untrusted() else "tfg"

    def signature(self, signature: Signature, option: str = "--signature") -> str:
        """Return the command that runs a signature."""
        nodes = {key: self.graph.output(name).node for key, name in signature.fed.items() if key not in signature.defaults}
        fed = self._of_placeholders(nodes.values())
        feeds = _feeds(whole_texts(self.graph, signature, {key: fed[node] for key, node in nodes.items()}, nodes))
        return f"{self._tfg} run {self._quoted} {option} {shlex.quote(signature.name)}{feeds}"

    def calls(self) -> Iterator[str]:
        """Yield the commands that run the first functions of a SavedModel's objects."""
        called = self.graph.meta.callables if self.graph.meta is not None else ()
        for one in [one for one in called if one.function in self.graph.functions][:_MAX_CALLS]:
            function = self.graph.functions[one.function]
            texts = example_feeds(function.body, free_inputs(function, one))
            feeds = _feeds({node.name: text for node, text in texts.items()})
            yield f"{self._tfg} run {self._quoted} --function {shlex.quote(one.name)}{feeds}"

    def run(self, fetches: Sequence[str]) -> str:
        """Return the command that runs the graph for fetches."""
        options = "".join(f" --fetch {shlex.quote(name)}" for name in fetches)
        return f"{self._tfg} run {self._quoted}{self._start(fetches)}{options}{self._graph_feeds(fetches)}"

    def train(self, target: str, fetches: Sequence[str]) -> str:
        """Return the command that runs a training step a few times, or for an epoch of the input pipeline."""
        options = "".join(f" --fetch {shlex.quote(name)}" for name in fetches)
        steps = "epoch" if any(has_fact(node.op, "next_element") for node in self._needed([target])) else 10
        start, feeds = self._start([target, *fetches]), self._graph_feeds([target, *fetches])
        return f"{self._tfg} run {self._quoted}{start} --target {shlex.quote(target)}{options} --steps {steps}{feeds}"

    def explain(self, arguments: str) -> str:
        """Return the command that explains a part of the graph."""
        return f"{self._tfg} explain {self._quoted} {arguments}"

    def check(self) -> str:
        """Return the command that lists the problems of a graph that cannot run."""
        return self.without_values("check")

    def without_values(self, command: str) -> str:
        """Return the line of a command that takes the graph alone, without values of variables."""
        return f"{self._tfg} {command} {self._quoted}"

    def dump(self, options: str = "") -> str:
        """Return the command that lists the nodes."""
        return f"{self._tfg} dump {self._quoted}{options}"

    @property
    def _quoted(self) -> str:
        return shlex.quote(self.path)

    def _needed(self, fetches: Sequence[str]) -> Collection[Node]:
        return needed_nodes([self.graph.fetch(name) for name in fetches])

    def _start(self, fetches: Sequence[str]) -> str:
        """Return the options that initialize the variables, tables and iterators that fetches need.

        A SavedModel starts with the values of its files. Variables that no node initializes get values of their own.
        """
        graph = self.graph
        if graph.meta is not None and graph.meta.variables_prefix is not None:
            return ""
        needed = self._needed(fetches)
        held = [variable for variable in find_variables(graph).values() if variable.node in needed]
        has_state = bool(held) or any(has_fact(node.op, "table") or has_fact(node.op, "next_element") for node in needed)
        begun = has_state and (initializers(graph) or table_initializers(graph, ()) or iterator_starts(graph))
        values = {v.name: example_value(v.dtype.name, v.shape) for v in held if v.initializer is None}
        assigned = "".join(f" --assign {shlex.quote(f'{name}={value}')}" for name, value in values.items())
        return (" --init" if begun else "") + (assigned if len(values) <= _MAX_ASSIGNED else "")

    def _graph_feeds(self, fetches: Sequence[str]) -> str:
        """Return the feeds of placeholders, and of arguments of a stored function, that fetches need."""
        needed = self._needed(fetches)
        # A broken placeholder has no dtype: `tfg check` says what is wrong with it.
        inputs = (node for node in self.graph if node in needed and node.output_dtypes)
        nodes = [node for node in inputs if node.must_be_fed or node.is_argument or _is_unset(node)]
        texts = {node.name: text for node, text in self._of_placeholders(nodes).items()}
        return _feeds(whole_texts(self.graph, None, texts, {node.name: node for node in nodes}))

    def _of_placeholders(self, nodes: Collection[Node]) -> Mapping[Node, str]:
        inputs = [Input(node, str(node.output_dtypes[0]), declared_shapes(node, 1)[0]) for node in nodes]
        return example_feeds(self.graph, inputs, self.inference)


def _is_unset(node: Node) -> bool:
    """Return True for the shape of a sparse placeholder, whose default has -1 for each size that is not known."""
    if not node.is_placeholder or node.must_be_fed or not node.output_dtypes[0].is_integer:
        return False
    default = node.inputs[0].node
    return default.is_constant and default.constant_value().ndim == 1 and bool((default.constant_value() < 0).any())


def free_inputs(function: Function, called: SavedCallable) -> list[Input]:
    """Return the arguments of a function that a caller gives: all but those that the model's objects supply."""
    shapes = function.attrs.get("_input_shapes") or ()
    free = function.args[: len(function.args) - len(called.bound)]
    known = itertools.chain(shapes, itertools.repeat(Shape()))
    return [Input(node, str(node.attrs["T"]), shape) for node, shape in zip(free, known)]


def _feeds(texts: Mapping[str, str]) -> str:
    return "".join(f" --feed {shlex.quote(f'{name}={text}')}" for name, text in texts.items())
