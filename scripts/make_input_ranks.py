"""Write core/registry/input_ranks.txt, the ranks that TensorFlow accepts for each op input, from an installed TensorFlow.

usage: python -m scripts.make_input_ranks

A line has an op, and the lowest and highest accepted rank for each input with a bound. Attributes are drawn, and a rank
counts as accepted if some attributes accept the rank. The other inputs have unknown shapes.
"""

from __future__ import annotations

import multiprocessing
import os
import pathlib
import random
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

from tests.fuzz import drawing
from tfg.core.graph.graph import Graph
from tfg.core.registry.catalog import CATALOG, AttrDef, OpDef
from tfg.core.support.errors import TfgError
from tfg.core.support.versions import Versions
from tfg.core.types.dtypes import DType, resource
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import Tensor
from tfg.formats import to_bytes

TARGET = pathlib.Path(__file__).parents[1] / "core" / "registry" / "input_ranks.txt"
HIGHEST = 9
"""A rank above the bounds of all ops: an input that accepts this rank accepts all larger ranks."""
PRODUCERS = (2474, 2474, 22, 8)
"""The GraphDef versions to try: TensorFlow accepts deprecated and not yet forbidden uses only in old graphs."""
DRAWS = 400
ENOUGH = 30
PATIENCE = 120.0
"""The seconds for an op."""


def line(op: str) -> str | None:
    """Return the line of an op's inputs, None if all inputs accept every rank."""
    by_name = {name: ranks for name, ranks in taken(op).items() if len(ranks) <= HIGHEST}
    words = [f"{name}={_range(min(ranks), max(ranks))}" for name, ranks in by_name.items() if ranks]
    return " ".join([op, *words]) if words else None


def _range(low: int, high: int) -> str:
    return f"{low}+" if high == HIGHEST else f"{low}-{high}" if low < high else str(low)


def taken(op: str) -> dict[str, set[int]]:
    """The ranks that each input takes with any of the attributes drawn."""
    definition = CATALOG[op]
    by_name: dict[str, set[int]] = {}
    generator, tried = random.Random(op), set()
    for _ in range(DRAWS if definition.inputs else 0):
        attrs, version = drawing.draw_attrs(generator, definition), generator.choice(PRODUCERS)
        key = repr([version, *(attrs.get(name) for name, attr in definition.attrs.items() if _matters(attr))])
        if len(tried) < ENOUGH and key not in tried and is_taken(_graph(definition, attrs, version, None, 0)):
            tried.add(key)
            for name, place in _places(definition, attrs):
                ranks = by_name.setdefault(name, set())
                missing = set(range(HIGHEST + 1)) - ranks
                ranks |= {rank for rank in missing if is_taken(_graph(definition, attrs, version, place, rank))}
                if 0 not in ranks and is_taken(_graph(definition, attrs, version, place, 0, unknown=True)):
                    ranks.add(0)
    return by_name


def _matters(attr: AttrDef) -> bool:
    """True where ranks may depend on the attribute: not on types, nor on names."""
    return attr.type not in ("type", "list(type)", "string") or (attr.type == "string" and attr.allowed is not None)


def _places(definition: OpDef, attrs: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """The first place of each input, no handle, that stands at the same place whatever the lengths of lists."""
    for place, arg in enumerate(definition.inputs):
        if place < len(drawing.input_dtypes(definition, attrs)) and arg.dtype is not resource:
            yield arg.name, place
        if arg.is_list:
            return


def _graph(
    definition: OpDef, attrs: dict[str, Any], version: int, place: int | None, rank: int, unknown: bool = False
) -> Graph:
    """Return a graph with the op on inputs of unknown shapes, except for an input of this rank.

    With `unknown` the input is the constant -1, which stands for an unknown shape where an op takes a shape.
    """
    graph = Graph()
    graph.versions = Versions(version)
    types = drawing.input_dtypes(definition, attrs)
    inputs = [_input(graph, i, dtype, Shape([None] * rank if i == place else None)) for i, dtype in enumerate(types)]
    if unknown and place is not None and types[place].is_integer:
        value = Tensor.from_numpy(-1, types[place])
        inputs[place] = graph.add_node("unknown", "Const", attrs={"dtype": value.dtype, "value": value}).output()
    graph.add_node("op", definition.name, inputs, (), attrs)
    return graph


def _input(graph: Graph, number: int, dtype: DType, shape: Shape) -> Any:
    old = graph.versions.producer < 24
    op = "VariableV2" if dtype.is_ref else "PlaceholderV2" if old else "Placeholder"  # an old Placeholder's [] is any shape
    return graph.add_node(f"input{number}", op, attrs={"dtype": dtype.base, "shape": shape}).output()


def is_taken(graph: Graph) -> bool:
    """True where TensorFlow builds the graph."""
    try:
        graph.check()
        definition = tf.compat.v1.GraphDef.FromString(to_bytes(graph))
        with tf.Graph().as_default():
            tf.import_graph_def(definition, name="")
    except (TfgError, ValueError, TypeError, tf.errors.OpError):
        return False
    return True


def line_of_its_own(op: str) -> str | None:
    """Return the line from a separate process: some attributes make TensorFlow crash or hang."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=lambda: sender.send(line(op)))
    process.start()
    sender.close()
    try:
        if receiver.poll(PATIENCE):
            return receiver.recv()
        process.kill()
    except EOFError:
        pass
    process.join()
    print(f"{op} ended TensorFlow, and is left out")
    return None


if __name__ == "__main__":
    TARGET.write_text("".join(f"{text}\n" for text in filter(None, map(line_of_its_own, sorted(CATALOG)))))
