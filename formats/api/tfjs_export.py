"""The function behind `tfg convert GRAPH FOLDER/model.json`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ...core.functions.table_fills import table_fills
from ...core.graph.graph import Graph
from ...core.passes.pipeline import optimize
from ...core.support.errors import InvalidArgumentError
from ...core.support.words import counted
from ...core.transforms.returned_elements import fit_results
from ...core.transforms.subgraphs import state_default_attrs
from ...core.types.arrays import Array
from ...core.types.shapes import Shape
from ..loading import load
from ..tfjs import QUANTIZED, unknown_ops, write_tfjs
from .model_export import DeclaredDims, ModelExport
from .prepared_sessions import opened


class TfjsExport(ModelExport):
    """A written graph model of TensorFlow.js; `weights` is the number of bytes of its weights, `nodes` that of its nodes."""

    runtime: ClassVar[str] = "the file read again"

    def __init__(self, *args: Any, weight_type: str | None = None) -> None:
        if weight_type not in (None, *QUANTIZED):
            problem = f"weights cannot be stored as {weight_type!r}"
            raise InvalidArgumentError(problem, hint=f"the types are {', '.join(QUANTIZED)}")
        self.weight_type = weight_type
        super().__init__(*args)

    def write(self) -> None:
        """Write the model, in ops that TensorFlow.js knows, and count the parts."""
        graph = self._optimized("default,strip_debug")
        if set(unknown_ops(graph)) - set(unknown_ops(self.graph)):  # a pass made what TensorFlow.js lacks
            graph = self._optimized("prune,strip_debug")
        fit_results(graph)
        state_default_attrs(graph)
        inputs = {word: graph.output(value.name) for word, value in self.inputs.items() if value.node.name in graph}
        outputs = {word: graph.output(value.name) for word, value in self.outputs.items()}
        self.weights = write_tfjs(self.path, graph, inputs, outputs, self.weight_type)
        self.nodes = len(graph)

    def _optimized(self, passes: str) -> Graph:
        """Return the graph after passes, without checks, which TensorFlow.js lacks."""
        fetches = [value.name for value in self.outputs.values()]
        fills = [node.name for node in table_fills(self.graph)]
        fed = [value.node.name for value in self.inputs.values()]
        return optimize(self.graph, [*fetches, *fills], passes=passes, portable=True, keep=fed).graph

    def __repr__(self) -> str:
        return f"<TfjsExport {os.path.basename(self.path)}: {counted(self.nodes, 'node')}>"

    def summary(self) -> str:
        """Return the contents in words."""
        return f"{counted(self.nodes, 'node')} for TensorFlow.js and {self.weights:,} bytes of weights to {self.path}"

    def check_trust(self) -> None:
        """Do nothing: tfg runs the model, within the limits of its own."""

    def declared_dims(self) -> DeclaredDims:
        """Return the dimensions of the inputs in the file."""
        graph = load(self.path)
        nodes = {word: graph.get(value.node.name) for word, value in self.inputs.items()}
        shapes = {word: node.attr_of(Shape, "shape") for word, node in nodes.items() if node is not None}
        return {
            word: [dim if isinstance(dim, int) else None for dim in shape]
            for word, shape in shapes.items()
            if shape is not None and shape.rank is not None
        }

    def run(self, inputs: Mapping[str, Array]) -> Sequence[Array]:
        """Return the outputs that tfg computes of the written model."""
        graph = load(self.path)
        session = opened(graph)
        feeds = {self.inputs[word].name: value for word, value in inputs.items() if self.inputs[word].node.name in graph}
        return session.run([value.name for value in self.outputs.values()], feeds)
