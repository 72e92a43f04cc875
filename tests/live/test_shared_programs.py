"""First and second gradients of the programs kept beside the project, by every variable, beside TensorFlow's.

Frozen programs have no variables: their gradients are by the largest constants. Of programs with V1 loops TensorFlow builds no
gradient once they are in a file, and the training ResNet makes percents of the last digits of its batch statistics: theirs are
those that the program trains with, in the same run. `greedy_decode` answers with integers, so its loop is given one more
variable, that sums the squares of what the next word is chosen by. The iterations of TensorFlow's loops draw in the order in
which its threads come to them: what functions draw is made stateless.
"""

from __future__ import annotations

import json
import math
import pathlib

import numpy as np
import pytest

import tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients import gradients
from tfg.core.registry.catalog import CATALOG
from tfg.core.types.dtypes import float32
from tfg.formats.saving import to_bytes

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.live
v1 = tf.compat.v1

from tests.core.gradients.programs import UNOPTIMIZED  # noqa: E402 - needs TensorFlow

SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared"
LOSSES = {
    "graphs/counter_saved_model": "StatefulPartitionedCall_1:1",
    "graphs/greedy_decode": "while:22",
    "graphs/lenet_momentum": "loss:0",
    "graphs/lstm_v1": "loss:0",
    "graphs/mlp_adam": "loss:0",
    "graphs/mobilenetv2": "Identity:0",
    "graphs/resnet50_train": "loss:0",
    "graphs/transformer_mini": "Identity:0",
    "traces_real/bert": "add_1:0",
    "traces_real/go_autocomplete": "Mean:0",
    "traces_real/go_seq2seq": "Mean:0",
    "traces_real/sketch_lstm": "vector_rnn/Mean_1:0",
}
AS_TRAINED = {"graphs/resnet50_train"}
MOST_CONSTANTS = 12
TOLERANCE = 1e-5


class Program:
    """A graph, the fetches that initialize it, the feeds of its last recorded step, and what to differentiate by."""

    def __init__(self, folder: str) -> None:
        path = SHARED / folder
        arrays = np.load(path / "trace.npz")
        steps = json.loads(arrays["meta"].tobytes())["steps"]
        self.loss = LOSSES[folder]
        self.feeds = {
            name: arrays[ref["key"]].view(ref["dtype"]).reshape(ref["shape"]) for name, ref in steps[-1]["feeds"].items()
        }
        self.inits = steps[0]["fetches"] if len(steps) > 1 else []
        beside = [path / name for name in ("saved_model", "graph.pb", "graph.pbtxt") if (path / name).exists()]
        self.graph = tfg.load(str(beside[0]) if beside else arrays["graph"].tobytes())
        self.saved_model = str(beside[0]) if beside and beside[0].name == "saved_model" else None
        self.output = self.loss
        if self.saved_model:  # its output sums to one, so that a sum has no gradient
            self.loss = GraphBuilder(self.graph).L2Loss(self.graph.output(self.output)).name
        if folder == "graphs/greedy_decode":
            self.graph = with_score(self.graph)
        self.graph = with_settled_draws(self.graph)
        self.has_v1_loops = any(node.op == "Enter" for node in self.graph)
        self.sources = self._variables() or self._constants()
        assert self.sources, "nothing to differentiate by"

    def _variables(self) -> list[str]:
        owners = [node for node in self.graph if node.op in ("VariableV2", "VarHandleOp")]
        return [f"{node.name}:0" for node in owners if node.attr("dtype") is float32]

    def _constants(self) -> list[str]:
        floats = [node for node in self.graph if node.op == "Const" and node.attr("dtype") is float32]
        by_size = sorted(floats, key=lambda node: math.prod(node.attr("value").shape), reverse=True)
        return [f"{node.name}:0" for node in by_size[:MOST_CONSTANTS]]

    def trained_with(self) -> dict[str, str]:
        """variable -> the gradient that its Apply op is handed."""
        arguments = {node: [arg.name for arg in CATALOG[node.op].inputs] for node in self.graph}
        updates = [node for node, names in arguments.items() if {"var", "grad"} <= {*names}]
        grads = [arguments[node].index("grad") for node in updates]
        return {node.inputs[0].name: node.inputs[i].name for node, i in zip(updates, grads, strict=True)}


def with_score(graph: tfg.Graph) -> tfg.Graph:
    """The decoding loop with one more variable: half the sum of the squares of all logits."""
    definition = v1.GraphDef.FromString(to_bytes(graph))
    loop = next(node for node in definition.node if node.op == "StatelessWhile")
    loop.input.append("score")
    loop.attr["T"].list.type.append(tf.float32.as_datatype_enum)
    loop.attr["output_shapes"].list.shape.add()
    loop.attr["_num_original_outputs"].i += 1
    definition.node.add(name="score", op="Const").attr["value"].tensor.CopyFrom(tf.make_tensor_proto(0.0))
    definition.node[-1].attr["dtype"].type = tf.float32.as_datatype_enum
    functions = {function.signature.name: function for function in definition.library.function}
    body = functions[loop.attr["body"].func.name]
    for function in (body, functions[loop.attr["cond"].func.name]):
        function.signature.input_arg.add(name="score", type=tf.float32.as_datatype_enum)
    logits = next(node for node in body.node_def if node.op == "ArgMax").input[0]
    for op, inputs in ("L2Loss", [logits]), ("AddV2", ["score", "score/L2Loss:output:0"]):
        node = body.node_def.add(name=f"score/{op}", op=op, input=inputs)
        node.attr["T"].type = tf.float32.as_datatype_enum
    body.signature.output_arg.add(name="scored", type=tf.float32.as_datatype_enum)
    body.ret["scored"] = "score/AddV2:z:0"
    return tfg.load(definition.SerializeToString())


def with_settled_draws(graph: tfg.Graph) -> tfg.Graph:
    """Each uniform draw of a function the same in each call and iteration."""
    definition = v1.GraphDef.FromString(to_bytes(graph))
    draws = [(f, node) for f in definition.library.function for node in f.node_def if node.op == "RandomUniform"]
    for function, node in draws:
        seed = function.node_def.add(name=f"{node.name}/settled_seed", op="Const")
        seed.attr["dtype"].type = tf.int32.as_datatype_enum
        seed.attr["value"].tensor.CopyFrom(tf.make_tensor_proto([4, 2]))
        node.op = "StatelessRandomUniform"
        node.input.insert(1, f"{seed.name}:output:0")
        node.attr["Tseed"].type = tf.int32.as_datatype_enum
        del node.attr["seed"], node.attr["seed2"]
    return tfg.load(definition.SerializeToString()) if draws else graph


def theirs(program: Program) -> tuple[list, list]:
    """The values of TensorFlow's first and second gradients in a session's first run, None where it has None."""
    if program.saved_model:
        return of_saved_model(program)
    with tf.Graph().as_default() as graph, v1.Session(config=UNOPTIMIZED) as session:
        tf.import_graph_def(v1.GraphDef.FromString(to_bytes(program.graph)), name="")
        tensor = graph.get_tensor_by_name
        xs = [tensor(name) for name in program.sources]
        first = v1.gradients(tensor(program.loss), xs)
        squares = [tf.nn.l2_loss(tf.convert_to_tensor(grad)) for grad in first if grad is not None]
        twice = v1.gradients(squares, xs)
        for name in program.inits:
            session.run(name)
        elements = iter(session.run([tf.convert_to_tensor(g) for g in first + twice if g is not None], program.feeds))
    values = [None if grad is None else next(elements) for grad in first + twice]
    return values[: len(first)], values[len(first) :]


def of_saved_model(program: Program) -> tuple[list, list]:
    """By tapes: in a session TensorFlow differentiates no call of a function that comes from a file."""
    loaded = tf.saved_model.load(program.saved_model)
    signature = program.graph.meta.signatures["serving_default"]
    given = {name: tf.constant(program.feeds[value.tensor]) for name, value in signature.inputs.items()}
    (output,) = (name for name, value in signature.outputs.items() if value.tensor == program.output)
    variables = {variable.name: variable for variable in loaded.signatures["serving_default"].variables}
    xs = [variables[name] for name in program.sources]
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.nn.l2_loss(loaded.signatures["serving_default"](**given)[output])
        first = inner.gradient(y, xs)
        squares = tf.add_n([tf.nn.l2_loss(grad) for grad in first])
    return [grad.numpy() for grad in first], [grad.numpy() for grad in outer.gradient(squares, xs)]


def ours(program: Program) -> tuple[list, list]:
    graph, first = gradients(program.graph, program.loss, program.sources, name="gradients_tfg")
    g = GraphBuilder(graph)
    squares = [g.L2Loss(graph.output(name)).name for name in first if name is not None]
    graph, twice = gradients(graph, squares, program.sources, name="second")
    values = run(program, graph, [*first, *twice])
    return values[: len(first)], values[len(first) :]


def run(program: Program, graph: tfg.Graph, names: list) -> list:
    session = tfg.Session(graph)
    for name in program.inits:
        session.run(name)
    elements = iter(session.run([name for name in names if name is not None], program.feeds))
    return [None if name is None else next(elements) for name in names]


def assert_equal(program: Program, got: list, want: list, tolerance: float) -> None:
    """None where TensorFlow has None; elsewhere equal to a part of the variable's largest element.

    What cancels out, like the gradient by a bias that softmax takes away, is noise: what rounding the others leaves.
    """
    noise = 1e-3 * max((np.abs(expected).max() for expected in want if expected is not None and expected.size), default=0)
    for name, mine, expected in zip(program.sources, got, want, strict=True):
        assert (mine is None) == (expected is None), name
        if mine is not None:
            largest = max(np.abs(expected).max(), noise, 1e-6)
            np.testing.assert_allclose(mine, expected, rtol=0, atol=tolerance * largest, err_msg=name)


@pytest.mark.parametrize("folder", LOSSES)
def test_gradients(folder: str) -> None:
    if not (SHARED / folder).exists():
        pytest.skip("there is no ../shared/traces")
    program = Program(folder)
    if program.has_v1_loops or folder in AS_TRAINED:
        check_trained_with(program)
        return
    for got, want in zip(ours(program), theirs(program), strict=True):
        assert_equal(program, got, want, TOLERANCE)


def check_trained_with(program: Program) -> None:
    """In one run, as the draws of loops are one run's."""
    trained = program.trained_with()
    assert trained, "the program trains nothing"
    program.sources = list(trained)
    graph, first = gradients(program.graph, program.loss, program.sources, name="gradients_tfg")
    values = run(program, graph, [*first, *trained.values()])
    assert_equal(program, values[: len(first)], values[len(first) :], TOLERANCE)
