"""Steps that run a graph on values that fit, and that look further: what `explain` proposes next."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from ..graph.graph import Function, Graph, Node
from ..graph.metagraph import SavedCallable, Signature
from ..graph.table_fills import iterator_starts
from ..graph.traversal import nodes_of_kind
from ..graph.variable_nodes import find_variables
from ..inference.inference import Inference
from ..planning.reachability import needed_nodes
from ..registry.op_facts import has_fact
from ..runtime.session.drawn_feeds import Input, example_feeds
from ..runtime.session.named_components import whole_texts
from ..runtime.session.runner import initializers, table_initializers
from ..support import dataclasses
from ..support.hints import GraphFile, Hint, step
from ..support.untrusted import is_untrusted
from ..types.example_values import example_value
from ..types.shapes import Shape
from .node_listing import declared_shapes

_MAX_CALLS: Final = 4
_MAX_ASSIGNED: Final = 8


@dataclasses.dataclass(frozen=True, slots=True)
class NextCommands:
    """Steps for a graph in the file `path`, with values that fit as far as an inference tells."""

    graph: Graph
    path: str
    inference: Inference | None

    def signature(self, signature: Signature, is_function: bool = False) -> Hint:
        """Return the step that runs a signature, or the function of a model's object."""
        nodes = {key: self.graph.output(name).node for key, name in signature.fed.items() if key not in signature.defaults}
        fed = self._of_placeholders(nodes.values())
        feeds = whole_texts(self.graph, signature, {key: fed[node] for key, node in nodes.items()}, nodes)
        return Hint(step("call", file=self.file, name=signature.name, is_function=is_function, feeds=feeds))

    def calls(self) -> Iterator[Hint]:
        """Yield the steps that run the first functions of a SavedModel's objects."""
        called = self.graph.meta.callables if self.graph.meta is not None else ()
        for one in [one for one in called if one.function in self.graph.functions][:_MAX_CALLS]:
            function = self.graph.functions[one.function]
            texts = example_feeds(function.body, free_inputs(function, one))
            feeds = {node.name: text for node, text in texts.items()}
            yield Hint(step("call", file=self.file, name=one.name, is_function=True, feeds=feeds))

    def run(self, fetches: Sequence[str]) -> Hint:
        """Return the step that runs the graph for fetches."""
        return self._run(fetches, target=None, steps=None)

    def train(self, target: str, fetches: Sequence[str]) -> Hint:
        """Return the step that runs a training step a few times, or for an epoch of the input pipeline."""
        is_epoch = any(has_fact(node.op, "next_element") for node in self._needed([target]))
        return self._run(fetches, target=target, steps="epoch" if is_epoch else 10)

    def explain(self, node: str) -> Hint:
        """Return the step that explains a node of the graph."""
        return Hint(step("explain_node", file=self.file, node=node))

    def look(self, what: str) -> Hint:
        """Return the step that takes the graph alone, without values of variables, such as `check` or `layers`."""
        return Hint(step("look", file=self.file, what=what))

    def _run(self, fetches: Sequence[str], target: str | None, steps: int | str | None) -> Hint:
        asked = [*fetches, *([] if target is None else [target])]
        needed = self._needed(asked)
        begins, assigned = self._start(needed)
        return Hint(
            step(
                "run", file=self.file, begins=begins, assigned=assigned, target=target, fetches=fetches, steps=steps,
                feeds=self._graph_feeds(needed),
            )
        )  # fmt: skip

    @property
    def file(self) -> GraphFile:
        """The file of the graph; a graph that is a stranger's here is one in the steps too."""
        return GraphFile(self.path, self.graph.is_untrusted or is_untrusted())

    def _needed(self, fetches: Sequence[str]) -> Collection[Node]:
        return needed_nodes([self.graph.fetch(name) for name in fetches])

    def _start(self, needed: Collection[Node]) -> tuple[bool, dict[str, str]]:
        """Return True if an initializer runs for the variables, tables and iterators among the nodes of a run, and first
        values.

        A SavedModel starts with the values of its files. Variables that no node initializes get values of their own.
        """
        graph = self.graph
        # An initializer would overwrite what was learned.
        if graph.meta is not None and graph.meta.variables_prefix is not None:
            return False, {}
        held = [variable for variable in find_variables(graph).values() if variable.node in needed]
        ops = {node.op for node in needed}
        has_state = bool(held) or any(has_fact(op, "table") or has_fact(op, "next_element") for op in ops)
        begun = has_state and (initializers(graph) or table_initializers(graph, ()) or iterator_starts(graph))
        values = {v.name: example_value(v.dtype.name, v.shape) for v in held if v.initializer is None}
        # A command of many assignments is not for pasting; the reader learns from a shorter one as much.
        return bool(begun), values if len(values) <= _MAX_ASSIGNED else {}

    def _graph_feeds(self, needed: Collection[Node]) -> dict[str, str]:
        """Return the feeds of placeholders, and of arguments of a stored function, among the nodes of a run."""
        # A broken placeholder has no dtype: `tfg check` says what is wrong with it.
        held = nodes_of_kind(self.graph, lambda kind: kind.is_placeholder or kind.is_argument)
        inputs = (node for node in held if node in needed and node.output_dtypes)
        nodes = [node for node in inputs if node.must_be_fed or node.is_argument or _is_unset(node)]
        texts = {node.name: text for node, text in self._of_placeholders(nodes).items()}
        return whole_texts(self.graph, None, texts, {node.name: node for node in nodes})

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
    # TensorFlow appends what a function captures to the arguments that its caller gives.
    free = function.args[: len(function.args) - len(called.bound)]
    known = itertools.chain(shapes, itertools.repeat(Shape()))
    return [Input(node, str(node.attrs["T"]), shape) for node, shape in zip(free, known)]
