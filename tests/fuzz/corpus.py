"""Trials that begin as something that works: the cases of the op tests, changed in a few places."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from random import Random

import numpy as np

from tests import opcases
from tests.fuzz import drawing
from tests.fuzz.drawing import chance
from tests.fuzz.mutation import changed_bytes
from tests.fuzz.trials import Trial
from tfg.core.building.builder import GraphBuilder
from tfg.core.graph.graph import Graph, Node
from tfg.core.graph.instantiation import instantiate
from tfg.core.registry.catalog import CATALOG
from tfg.core.support.errors import TfgError
from tfg.core.support.tensor_names import parse_tensor_name
from tfg.core.types import dtypes
from tfg.core.types.dtypes import DType
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import Tensor


@functools.cache
def cases() -> Sequence[opcases.Case]:
    """Every op case whose graph can be built."""
    return [case for family in opcases.families() for case in opcases.load_cases(family)]


@functools.cache
def built(number: int) -> tuple[Graph, tuple[tuple[str, ...], ...]] | None:
    """The graph of a case and what each step fetches, None where it is a case of a graph that cannot be built."""
    case, builder = cases()[number], GraphBuilder()
    try:
        steps = case.build(builder)
    except TfgError:
        return None
    return builder.graph, tuple(map(tuple, steps))


def draw_trial(random: Random) -> Trial:
    """A case with up to four changes."""
    number = random.randrange(len(cases()))
    trial = unchanged(number)
    if trial is None:
        return drawing.op_trial(random, cases()[number].op)
    for _ in range(random.choice((0, 1, 1, 1, 2, 3, 4))):
        trial = mutate(random, trial)
    return trial


def unchanged(number: int) -> Trial | None:
    """A case as it is, to be changed; None where its graph cannot be built."""
    case, original = cases()[number], built(number)
    return None if original is None else Trial(original[0].copy(), original[1], dict(case.feeds), case.key)


def mutate(random: Random, trial: Trial) -> Trial:
    """The trial with one change, to its feeds or to its graph, which is changed in place."""
    if trial.feeds and chance(random, 0.6):
        name = random.choice(sorted(trial.feeds))
        node = trial.graph.node(parse_tensor_name(name)[0])
        feeds = {**trial.feeds, name: changed_array(random, trial.feeds[name], _declared(node))}
        if chance(random, 0.7):
            loosen(node)
        return Trial(trial.graph, trial.steps, feeds, trial.origin)
    mutate_graph(random, trial.graph)
    return trial


def loosen(node: Node) -> None:
    """Let a placeholder take any shape."""
    if "shape" in node.attrs:
        node.set_attr("shape", Shape())


def changed_array(random: Random, value: np.ndarray, dtype: DType | None) -> np.ndarray:
    """An array of another shape, of other values, or of both."""
    value = np.asarray(value)
    dtype = _fitting(dtype, value)
    if dtype in (dtypes.resource, dtypes.variant):
        return value
    change = random.choice(_ARRAY_CHANGES)
    return change(random, value, dtype)


def fed_dtype(node: Node, value: np.ndarray) -> DType:
    """What a node that is fed declares, or what the array is where that is something else."""
    return _fitting(_declared(node), value)


def _declared(node: Node) -> DType | None:
    return next(iter(drawing.output_dtypes(node)), None)


def _fitting(dtype: DType | None, value: np.ndarray) -> DType:
    return dtype.base if dtype is not None and dtype.numpy == value.dtype else dtypes.from_numpy(value.dtype)


def _other_values(random: Random, value: np.ndarray, dtype: DType) -> np.ndarray:
    return drawing.draw_array(random, dtype, value.shape)


def _other_shape(random: Random, value: np.ndarray, dtype: DType) -> np.ndarray:
    """One dimension more, less, or of another size."""
    shape = list(value.shape)
    if shape and chance(random, 0.6):
        shape[random.randrange(len(shape))] = random.choice(drawing.SIZES)
    elif shape and chance(random, 0.5):
        del shape[random.randrange(len(shape))]
    else:
        shape.insert(random.randint(0, len(shape)), random.choice((0, 1, 2)))
    return resized(random, value, dtype, shape)


def resized(random: Random, value: np.ndarray, dtype: DType, shape: Sequence[int]) -> np.ndarray:
    """The elements of the array again and again in another shape; others where there are none."""
    if 0 in shape or not value.size:
        return drawing.draw_array(random, dtype, tuple(shape))
    return np.resize(value, shape)


def _one_element(random: Random, value: np.ndarray, dtype: DType) -> np.ndarray:
    """One element replaced by an extreme one, or by its bytes with a few changed."""
    if not value.size:
        return value
    changed = np.array(value)
    place = random.randrange(value.size)
    element = changed.reshape(-1)[place]
    is_text = isinstance(element, bytes) and chance(random, 0.7)
    changed.reshape(-1)[place] = changed_bytes(random, element) if is_text else drawing.extreme(random, dtype)
    return changed


def _shuffled(random: Random, value: np.ndarray, dtype: DType) -> np.ndarray:
    order = list(range(value.size))
    random.shuffle(order)
    return value.reshape(-1)[order].reshape(value.shape)


def _empty(random: Random, value: np.ndarray, dtype: DType) -> np.ndarray:
    return value[:0] if value.ndim else value


_ARRAY_CHANGES: Sequence[Callable[[Random, np.ndarray, DType], np.ndarray]] = (
    _other_values, _other_shape, _other_shape, _one_element, _one_element, _shuffled, _empty,
)  # fmt: skip


def mutate_graph(random: Random, graph: Graph) -> None:
    """One change to an attribute, an edge, a constant or the type of a node, of a function's sometimes.

    Mostly it is one that is not refused at the door; of functions, which are looked into later, it may be any.
    """
    if graph.functions and chance(random, 0.3):
        name = random.choice(sorted(graph.functions))
        graph.functions[name] = changed = instantiate(graph.functions[name], {})
        _change_node(random, changed.body, is_any=chance(random, 0.5))
    else:
        _change_node(random, graph, is_any=chance(random, 0.1))


def spoil_attributes(random: Random, graph: Graph) -> None:
    """Values of any kind for a few attributes, those of no op among them: broken graphs are to be looked at, too."""
    bodies = [graph]
    for name in sorted(graph.functions):
        graph.functions[name] = changed = instantiate(graph.functions[name], {})
        bodies.append(changed.body)
    nodes = [node for body in bodies for node in body]
    for node in random.choices(nodes, k=random.choice((1, 1, 2, 4)) if nodes else 0):
        declared = node.op_def.attrs if node.op_def is not None else ()
        name = random.choice(["_class", "_output_shapes", *node.attrs, *declared])
        node.set_attr(name, drawing.draw_nonsense(random))


def _change_node(random: Random, graph: Graph, is_any: bool) -> None:
    nodes = list(graph)
    for _ in range(random.choice((1, 4, 4, 4)) if nodes else 0):
        node = random.choice(nodes)
        before = node.op, node.attrs, node.inputs, node.control_inputs
        random.choice(_GRAPH_CHANGES)(random, graph, node)
        if is_any or _is_accepted(graph):
            return
        op, node.attrs, inputs, controls = before
        node.change_op(op)
        graph.set_inputs(node, inputs, controls)


def _is_accepted(graph: Graph) -> bool:
    try:
        graph.check()
    except TfgError:
        return False
    return True


def _change_attr(random: Random, graph: Graph, node: Node) -> None:
    definition = node.op_def
    names = list(definition.attrs) if definition is not None else list(node.attrs)
    if not names:
        return
    name = random.choice(names)
    value = node.attr(name)
    if chance(random, 0.05):
        node.remove_attr(name)
    elif isinstance(value, Tensor) and value.dtype.name not in ("resource", "variant"):
        node.set_attr(name, Tensor.from_numpy(changed_array(random, value.numpy(), value.dtype), value.dtype))
    elif definition is None or chance(random, 0.1):
        node.set_attr(name, drawing.draw_nonsense(random))
    else:
        node.set_attr(name, drawing.draw_attr(random, definition.attrs[name]))


def _change_input(random: Random, graph: Graph, node: Node) -> None:
    """Another output of the graph in the place of an input, of the same dtype mostly; back edges make cycles now and then."""
    if not node.inputs:
        return
    index = random.randrange(len(node.inputs))
    outputs = {other: drawing.output_dtypes(other)[:8] for other in graph}
    source = node.inputs[index]
    expected = dict(enumerate(outputs[source.node])).get(source.index)
    result = [
        n.output(i) for n, types in outputs.items() for i, t in enumerate(types) if t is expected or chance(random, 0.02)
    ]
    if result:
        graph.set_input(node, index, random.choice(result))


def _drop_input(random: Random, graph: Graph, node: Node) -> None:
    if node.inputs:
        index = random.randrange(len(node.inputs))
        graph.set_inputs(node, node.inputs[:index] + node.inputs[index + 1 :])


def _add_control(random: Random, graph: Graph, node: Node) -> None:
    graph.add_control_input(node, random.choice(list(graph)))


def _go_in_circles(random: Random, graph: Graph, node: Node) -> None:
    """A copy of itself in the place of an input."""
    if node.inputs:
        put_circle(graph, node, random.randrange(len(node.inputs)), random.choice((1, 1, 2)))


def put_circle(graph: Graph, node: Node, index: int, length: int) -> None:
    """Give a node, for one of its inputs, a copy of a copy ... of itself; an input that is a reference stays."""
    source = node.inputs[index]
    dtype = dict(enumerate(drawing.output_dtypes(source.node))).get(source.index)
    if dtype is None or dtype.is_ref:
        return
    copies = [graph.add_node(graph.unique_name("copy"), "Identity", [source], (), {"T": dtype}) for _ in range(length)]
    for copy, before in zip(copies, [*copies[1:], copies[0]]):
        graph.set_inputs(copy, [before.output()])
    graph.set_input(node, index, copies[0].output())


def _change_op(random: Random, graph: Graph, node: Node) -> None:
    """An op of a like interface in the place of the node's own."""
    definition = node.op_def
    if definition is None:
        return
    node.change_op(random.choice(_alike(len(definition.inputs), len(definition.outputs))))


@functools.cache
def _alike(inputs: int, outputs: int) -> tuple[str, ...]:
    def counts(op: str) -> tuple[int, int]:
        return len(CATALOG[op].inputs), len(CATALOG[op].outputs)

    return tuple(op for op in drawing.ops() if counts(op) == (inputs, outputs))


_GRAPH_CHANGES = (
    *[_change_attr] * 4, *[_change_input] * 2, _drop_input, _add_control, _change_op, _go_in_circles,
)  # fmt: skip
