"""What `tfg convert` does to write an ONNX file: variables frozen, the model exported, written and compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...core.comparing.drawn_feeds import Feeds
from ...core.comparing.verify_rewrite import Comparison, compare
from ...core.graph.graph import Graph, Output
from ...core.onnx.exporting import export
from ...core.onnx.stateless import updates, without_updates
from ...core.passes.pipeline import inline_functions
from ...core.support.words import counted
from ...core.transforms.freezing import freeze
from ...core.types.shapes import Shape, as_shape, merge_shapes
from ...formats.onnx_model import OPSET, as_pairs, require, run_onnx, save_onnx
from .. import render
from ..names import Names
from ..sessions import SessionOptions

if TYPE_CHECKING:
    from ...core.runtime.session.runner import Runner


class OnnxJob:
    """One conversion to ONNX: the frozen graph, and what of it are the model's inputs and outputs, by their names there."""

    def __init__(
        self,
        names: Names,
        runner: Runner,
        outputs: Mapping[str, str],
        inputs: Sequence[str],
        shapes: Sequence[tuple[str, tuple[int | None, ...]]],
    ) -> None:
        given = {names.input(word).name: Shape(sizes) for word, sizes in shapes}
        graph, self.states = _stateless(names.graph, list(outputs.values()))
        wanted = {**outputs, **{f"{name}_after": tensor for name, tensor in self.states.items()}}
        self.graph = freeze(graph, runner.state(), list(wanted.values()), inputs)
        self.outputs = {word.removesuffix(":0"): self.graph.output(name) for word, name in wanted.items()}
        words = {tensor: word for word, tensor in names.inputs.items()}
        placeholders = [node.output() for node in self.graph if node.op == "Placeholder"]
        for value in placeholders:
            if value.name in given:
                value.node.set_attr("shape", merge_shapes(as_shape(value.node.attr("shape")), given[value.name]))
        found = {words.get(value.name, value.node.name): value for value in placeholders}
        self.inputs: Mapping[str, Output] = {word: found[word] for word in (*names.inputs, *found) if word in found}

    def write(self, target: str, quiet: bool) -> None:
        """Export and write the model, and say what there is to know of it."""
        require("onnx")
        model = export(self.graph, self.inputs, self.outputs)
        size = save_onnx(model, target)
        count = sum(1 for _ in model.block.everything())
        render.note(f"wrote {counted(count, 'operation')} of opset {OPSET} and {size:,} bytes of weights to {target}", quiet)
        for name in self.states:
            render.note(f"variable '{name}' changes: {name}_before is an input, {name}_after an output", quiet)
        if model.narrowed:
            some = ", ".join(model.narrowed[:3]) + (" ..." if len(model.narrowed) > 3 else "")
            count_of = counted(len(model.narrowed), "node")
            render.note(f"onnxruntime has no 64-bit kernels for {count_of}, which have 32 bits: {some}", quiet)

    def verify(self, target: str, session: SessionOptions, tolerance: float) -> list[Comparison]:
        """Compare what tfg and onnxruntime compute of several feeds that are drawn, the worst of each output."""
        fetches = [value.name for value in self.outputs.values()]
        worst: dict[str, Comparison] = {}
        drawn = Feeds(self.graph, {}, [*fetches, *(value.name for value in self.inputs.values())])
        for feeds, wanted in drawn.each_that_runs(lambda feeds: session.local(self.graph).run(fetches, feeds)):
            found = run_onnx(target, {word: feeds[value.name] for word, value in self.inputs.items()})
            for word, a, b in zip(self.outputs, wanted, found):
                comparison = compare(word, 1, as_pairs(a), b, tolerance)
                if word not in worst or comparison.tolerance_needed > worst[word].tolerance_needed:
                    worst[word] = comparison
        return [worst[word] for word in self.outputs]


def _stateless(graph: Graph, outputs: Sequence[str]) -> tuple[Graph, dict[str, str]]:
    """The graph without updates of variables, those in functions that it calls put where they are called.

    Also the tensors of what the variables are after a run whose changed values the outputs take.
    """
    found = updates(graph, outputs)
    if any(access.through is not None for access in found):
        graph = inline_functions(graph)[0]
    return without_updates(graph, outputs) if found else (graph, {})


def verdict_sections(comparisons: Sequence[Comparison]) -> Iterator[render.Section]:
    """What --verify found."""
    rows = [(c.fetch, c.largest_difference, c.tolerance_needed, c.passed) for c in comparisons]
    yield render.Table(("output", "largest difference", "tolerance that passes", "passed"), rows, "onnxruntime beside tfg")
