"""Graphs of any size: forms of real programs, and forms that are hard for analyses of whole graphs."""

from __future__ import annotations

import itertools
import pathlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tfg.core.types import dtypes
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import FuncRef, Tensor
from tfg.formats.codecs.attrs import encode_attr
from tfg.formats.protos.graph_pb2 import FunctionDef, GraphDef, NodeDef

FLOAT = {"T": dtypes.float32}
INT = {"T": dtypes.int32}
CALL = {"Tin": [dtypes.float32], "Tout": [dtypes.float32]}
COUNTS = {name: Tensor.from_numpy(np.array(i, np.int32)) for i, name in enumerate(("zero", "one", "two"))}
UNKNOWN = Shape()
BODY, BLOCK, LOOP, MOST, DEEPEST = 8, 14, 17, 50_000, 40


def node(name: str, op: str, *inputs: str, **attrs: Any) -> NodeDef:
    """A NodeDef with attributes given as plain values."""
    return NodeDef(name=name, op=op, input=inputs, attr={key: encode_attr(value) for key, value in attrs.items()})


def constant(name: str, *dims: int) -> NodeDef:
    value = Tensor.from_numpy(np.full(dims, 0.5, np.float32))
    return node(name, "Const", dtype=dtypes.float32, value=value)


def placeholder(shape: Shape) -> NodeDef:
    return node("x", "Placeholder", dtype=dtypes.float32, shape=shape)


def variable(name: str) -> Iterator[NodeDef]:
    """Yield a variable with an initializer."""
    yield constant(f"{name}/initial", 4)
    yield node(name, "VariableV2", dtype=dtypes.float32, shape=Shape((4,)))
    yield node(f"{name}/Assign", "Assign", name, f"{name}/initial", **FLOAT)


def resource_variable(name: str) -> Iterator[NodeDef]:
    """Yield a resource variable with an initializer."""
    yield constant("initial", 4)
    yield node(name, "VarHandleOp", dtype=dtypes.float32, shape=Shape((4,)), shared_name=name.encode())
    yield node("init", "AssignVariableOp", name, "initial", dtype=dtypes.float32)


def chain(count: int) -> Iterator[NodeDef]:
    """x + c + c + ..."""
    yield constant("c", 4)
    last = "x"
    for i in range(count):
        yield node(f"layer_{i // 100}/add_{i}", "AddV2", last, "c", **FLOAT)
        last = f"layer_{i // 100}/add_{i}"
    yield node("y", "Identity", last, **FLOAT)


def wide(count: int) -> Iterator[NodeDef]:
    """Yield a value with many consumers, and nodes that read up to MOST of the consumers."""
    sums = []
    for start in range(0, count, MOST):
        names = [f"branch_{i}" for i in range(start, min(start + MOST, count))]
        for name in names:
            yield node(name, "Tanh", "x", **FLOAT)
        sums.append(f"sum_{start}")
        yield node(sums[-1], "AddN", *names, N=len(names), **FLOAT)
    yield node("y", "AddN", *sums, N=len(sums), **FLOAT)


def calls(count: int) -> Iterator[NodeDef]:
    """Yield a chain of calls of different functions; a call and the function are ten nodes."""
    last = "x"
    for i in range(count // (BODY + 2)):
        yield node(f"call_{i}", "PartitionedCall", last, f=FuncRef(f"f_{i}"), **CALL)
        last = f"call_{i}"
    yield node("y", "Identity", last, **FLOAT)


def functions(count: int) -> Iterator[FunctionDef]:
    """Yield the callees of `calls`."""
    for i in range(count // (BODY + 2)):
        function = FunctionDef(ret={"r": f"t{BODY - 1}:y:0"})
        function.signature.name = f"f_{i}"
        function.signature.input_arg.add(name="a", type=dtypes.float32.number)
        function.signature.output_arg.add(name="r", type=dtypes.float32.number)
        inputs = ["a", *(f"t{k}:y:0" for k in range(BODY))]
        function.node_def.extend(node(f"t{k}", "Tanh", inputs[k], **FLOAT) for k in range(BODY))
        yield function


def in_a_row(scope: str, count: int, part: Callable[[str, str], Iterator[NodeDef]]) -> Iterator[NodeDef]:
    """Yield a chain of parts: each part reads the last node of the previous part, and the first part reads `x`."""
    last = "x"
    for i in range(count):
        for made in part(f"{scope}_{i}", last):
            yield made
        last = made.name
    yield node("y", "Identity", last, **FLOAT)


def blocks(count: int) -> Iterator[NodeDef]:
    """The residual blocks of a convolutional network in inference: weights, convolution, batch norm, ReLU, sum."""
    return in_a_row("block", count // BLOCK, residual_block)


def residual_block(scope: str, last: str) -> Iterator[NodeDef]:
    statistics = [f"{scope}/{name}" for name in ("gamma", "beta", "mean", "variance")]
    yield constant(f"{scope}/kernel", 1, 1, 4, 4)
    for name in statistics:
        yield constant(name, 4)
    for name in (f"{scope}/kernel", *statistics):
        yield node(f"{name}/read", "Identity", name, **FLOAT)
    reads = [f"{name}/read" for name in statistics]
    yield node(f"{scope}/conv", "Conv2D", last, f"{scope}/kernel/read", strides=[1, 1, 1, 1], padding=b"SAME", **FLOAT)
    yield node(f"{scope}/norm", "FusedBatchNormV3", f"{scope}/conv", *reads, U=dtypes.float32, is_training=False, **FLOAT)
    yield node(f"{scope}/relu", "Relu", f"{scope}/norm", **FLOAT)
    yield node(f"{scope}/out", "AddV2", f"{scope}/relu", last, **FLOAT)


def hub(count: int) -> Iterator[NodeDef]:
    """Yield a node of many inputs, a node of many outputs, and a node that reads all results."""
    many = count // 2
    yield from (node(f"in_{i}", "Neg", "x", **FLOAT) for i in range(many))
    yield node("pack", "Pack", *(f"in_{i}" for i in range(many)), N=many, axis=0, **FLOAT)
    yield node("unpack", "Unpack", "pack", num=many, axis=0, **FLOAT)
    yield from (node(f"out_{i}", "Tanh", f"unpack:{i}", **FLOAT) for i in range(many))
    yield node("y", "AddN", *(f"out_{i}" for i in range(many)), N=many, **FLOAT)


def waits(count: int) -> Iterator[NodeDef]:
    """A node that waits for very many, and that very many wait for."""
    many = count // 2
    yield from (node(f"first_{i}", "Tanh", "x", **FLOAT) for i in range(many))
    yield node("gate", "NoOp", *(f"^first_{i}" for i in range(many)))
    yield from (node(f"then_{i}", "Neg", "x", "^gate", **FLOAT) for i in range(many))
    yield node("y", "AddN", *(f"then_{i}" for i in range(many)), N=many, **FLOAT)


def nested(count: int) -> Iterator[NodeDef]:
    """Yield nested calls of functions, DEEPEST levels deep."""
    last = "x"
    for i in range(0, count // (BODY + 2), DEEPEST):
        yield node(f"call_{i}", "PartitionedCall", last, f=FuncRef(f"f_{i}"), **CALL)
        last = f"call_{i}"
    yield node("y", "Identity", last, **FLOAT)


def nested_functions(count: int) -> Iterator[FunctionDef]:
    """Yield the callees of `nested`: the bodies of `functions`, and a call of the next function."""
    for i, function in enumerate(functions(count)):
        if (i + 1) % DEEPEST and i + 1 < count // (BODY + 2):
            function.node_def.append(node("deeper", "PartitionedCall", function.ret["r"], f=FuncRef(f"f_{i + 1}"), **CALL))
            function.ret["r"] = "deeper:output:0"
        yield function


def variables(count: int) -> Iterator[NodeDef]:
    """Variables with their initializers, saved and restored, in a product of them all."""
    names = [f"layer_{i}/kernel" for i in range(count // 9)]
    last = "x"
    for i, name in enumerate(names):
        yield from variable(name)
        yield node(f"{name}/read", "Identity", name, **FLOAT)
        yield node(f"layer_{i}/mul", "Mul", last, f"{name}/read", **FLOAT)
        yield node(f"save/Assign_{i}", "Assign", name, f"save/RestoreV2:{i}", **FLOAT)
        yield node(f"layer_{i}/l2", "L2Loss", f"{name}/read", **FLOAT)
        yield node(f"layer_{i}/step", "AssignSub", name, f"layer_{i}/mul", **FLOAT)
        last = f"layer_{i}/mul"
    yield node("init", "NoOp", *(f"^{name}/Assign" for name in names))
    yield node("train", "NoOp", *(f"^layer_{i}/step" for i in range(len(names))))
    yield from saver(names)
    yield node("losses", "AddN", *(f"layer_{i}/l2" for i in range(len(names))), N=len(names), **FLOAT)
    yield node("y", "AddV2", last, "losses", **FLOAT)


def saver(names: list[str]) -> Iterator[NodeDef]:
    kinds = [dtypes.float32] * len(names)
    yield text("save/Const", np.array(b"model", object))
    yield text("save/names", np.array([name.encode() for name in names], object))
    yield text("save/slices", np.array([b""] * len(names), object))
    yield node("save/SaveV2", "SaveV2", "save/Const", "save/names", "save/slices", *names, dtypes=kinds)
    yield node("save/control_dependency", "Identity", "save/Const", "^save/SaveV2", T=dtypes.string)
    yield node("save/RestoreV2", "RestoreV2", "save/Const", "save/names", "save/slices", dtypes=kinds)
    yield node("save/restore_all", "NoOp", *(f"^save/Assign_{i}" for i in range(len(names))))


def text(name: str, values: np.ndarray) -> NodeDef:
    return node(name, "Const", dtype=dtypes.string, value=Tensor.from_numpy(values))


def conditionals(count: int) -> Iterator[NodeDef]:
    """Yield a chain of V1 conditionals on the same predicate."""
    yield node("wanted", "Const", dtype=dtypes.bool_, value=Tensor.from_numpy(np.array(True)))
    last = "x"
    for i in range(count // 5):
        yield node(f"cond_{i}/Switch", "Switch", last, "wanted", **FLOAT)
        yield node(f"cond_{i}/then", "Neg", f"cond_{i}/Switch:1", **FLOAT)
        yield node(f"cond_{i}/else", "Tanh", f"cond_{i}/Switch", **FLOAT)
        yield node(f"cond_{i}/Merge", "Merge", f"cond_{i}/else", f"cond_{i}/then", N=2, **FLOAT)
        yield node(f"after_{i}", "Tanh", f"cond_{i}/Merge", **FLOAT)
        last = f"after_{i}"
    yield node("y", "Identity", last, **FLOAT)


def loops(count: int) -> Iterator[NodeDef]:
    """Yield a chain of V1 loops of two iterations."""
    yield from (node(name, "Const", dtype=dtypes.int32, value=number) for name, number in COUNTS.items())
    yield from in_a_row("while", count // LOOP, loop)


def growing(count: int) -> Iterator[NodeDef]:
    """Yield a chain of V1 loops of two iterations that lengthen the value."""
    yield from (node(name, "Const", dtype=dtypes.int32, value=number) for name, number in COUNTS.items())
    yield constant("more", 1)
    yield from in_a_row("while", count // (LOOP + 2), growing_loop)


def growing_loop(scope: str, last: str) -> Iterator[NodeDef]:
    yield node(f"{scope}/more", "Enter", "more", frame_name=scope.encode(), is_constant=True, **FLOAT)
    for made in loop(scope, last):
        if made.op == "Tanh":
            yield node(f"{scope}/tanh", "Tanh", *made.input, **FLOAT)
            longer = (f"{scope}/tanh", f"{scope}/more", f"{scope}/zero")
            made = node(made.name, "ConcatV2", *longer, N=2, Tidx=dtypes.int32, **FLOAT)
        yield made


def loop(scope: str, last: str) -> Iterator[NodeDef]:
    for name in COUNTS:
        yield node(f"{scope}/{name}", "Enter", name, frame_name=scope.encode(), is_constant=True, **INT)
    yield node(f"{scope}/Less", "Less", f"{scope}/Merge", f"{scope}/two", **INT)
    yield node(f"{scope}/LoopCond", "LoopCond", f"{scope}/Less")
    yield node(f"{scope}/count", "AddV2", f"{scope}/Switch:1", f"{scope}/one", **INT)
    yield node(f"{scope}/body", "Tanh", f"{scope}/Switch_1:1", **FLOAT)
    for suffix, first, kind, step in (("", "zero", INT, "count"), ("_1", last, FLOAT, "body")):
        yield node(f"{scope}/Enter{suffix}", "Enter", first, frame_name=scope.encode(), **kind)
        yield node(f"{scope}/Merge{suffix}", "Merge", f"{scope}/Enter{suffix}", f"{scope}/Next{suffix}", N=2, **kind)
        yield node(f"{scope}/Switch{suffix}", "Switch", f"{scope}/Merge{suffix}", f"{scope}/LoopCond", **kind)
        yield node(f"{scope}/Next{suffix}", "NextIteration", f"{scope}/{step}", **kind)
        yield node(f"{scope}/Exit{suffix}", "Exit", f"{scope}/Switch{suffix}", **kind)


def handed_on(count: int) -> Iterator[NodeDef]:
    """Yield a variable's value through many identities to a loss, and the gradient to an update."""
    yield from variable("weights")
    yield from copies("copy", "weights", count // 4)
    yield node("y", "AddV2", f"copy_{count // 4 - 1}/cast", "x", **FLOAT)
    yield node("loss", "Sum", "y", "zero", Tidx=dtypes.int32, **FLOAT)
    yield node("zero", "Const", dtype=dtypes.int32, value=COUNTS["zero"])
    yield node("gradients/grad_ys_0", "ZerosLike", "loss", **FLOAT)
    yield node("gradients/loss_grad/Fill", "Mul", "gradients/grad_ys_0", "y", **FLOAT)
    yield from copies("gradients/copy", "gradients/loss_grad/Fill", count // 4)
    yield constant("rate")
    last = f"gradients/copy_{count // 4 - 1}/cast"
    yield node("update", "ApplyGradientDescent", "weights", "rate", last, **FLOAT)
    yield node("init", "NoOp", "^weights/Assign")
    yield node("train", "NoOp", "^update")


def copies(scope: str, last: str, count: int) -> Iterator[NodeDef]:
    """Yield a chain of identities and casts."""
    for i in range(count):
        yield node(f"{scope}_{i}/same", "Identity", last, **FLOAT)
        last = f"{scope}_{i}/cast"
        yield node(last, "Cast", f"{scope}_{i}/same", SrcT=dtypes.float32, DstT=dtypes.float32)


def groups(count: int) -> Iterator[NodeDef]:
    """Yield NoOps with control inputs, each before the NoOp of the control input: of an initializer, and of an update."""
    yield from variable("weights")
    yield node("update", "AssignAdd", "weights", "x", **FLOAT)
    for root, first in (("init", "weights/Assign"), ("train", "update")):
        names = [root, *(f"{root}_{i}" for i in range(count // 2)), first]
        yield from (node(name, "NoOp", f"^{waited}") for name, waited in itertools.pairwise(names))
    yield node("weights/read", "Identity", "weights", **FLOAT)
    yield node("y", "AddV2", "weights/read", "x", **FLOAT)


def chosen(count: int) -> Iterator[NodeDef]:
    """Yield noise behind all computed values, and selections of the first input, so that no selection reads the noise."""
    yield node("sizes", "Const", dtype=dtypes.int32, value=Tensor.from_numpy(np.array([4], np.int32)))
    yield node("noise", "RandomUniform", "sizes", dtype=dtypes.float32, T=dtypes.int32)
    yield node("start", "AddV2", "x", "noise", **FLOAT)
    yield node("always", "Const", dtype=dtypes.bool_, value=Tensor.from_numpy(np.array(True)))
    last = "start"
    for i in range(count // 2):
        yield node(f"tanh_{i}", "Tanh", last, **FLOAT)
        last = f"chosen_{i}"
        yield node(last, "SelectV2", "always", f"tanh_{i}", "noise", **FLOAT)
    yield node("y", "Identity", last, **FLOAT)


def added(count: int) -> Iterator[NodeDef]:
    """Yield a chain of sums of two or three values, by two kinds of nodes in turn."""
    yield constant("c", 4)
    last = "x"
    for i in range(count // 3):
        yield node(f"add_{i}", "AddV2", last, "c", **FLOAT)
        yield node(f"two_{i}", "AddN", f"add_{i}", "x", N=2, **FLOAT)
        last = f"three_{i}"
        yield node(last, "AddN", f"two_{i}", "x", "x", N=3, **FLOAT)
    yield node("y", "Identity", last, **FLOAT)


def asserted(count: int) -> Iterator[NodeDef]:
    """Yield a chain of values behind assertions about the values."""
    yield node("zero", "Const", dtype=dtypes.int32, value=COUNTS["zero"])
    yield constant("most")
    last = "x"
    for i in range(count // 4):
        yield node(f"less_{i}", "Less", last, "most", **FLOAT)
        yield node(f"all_{i}", "All", f"less_{i}", "zero", Tidx=dtypes.int32)
        yield node(f"assert_{i}", "Assert", f"all_{i}", last, T=[dtypes.float32])
        yield node(f"same_{i}", "Identity", last, f"^assert_{i}", **FLOAT)
        last = f"same_{i}"
    yield node("y", "Identity", last, **FLOAT)


def read_on_the_way(count: int) -> Iterator[NodeDef]:
    """A predicate and the handle of a variable, both handed on again and again and used each time."""
    yield from resource_variable("weights")
    yield node("wanted", "Const", dtype=dtypes.bool_, value=Tensor.from_numpy(np.array(True)))
    handle, wanted, last = "weights", "wanted", "x"
    for i in range(count // 8):
        yield node(f"handle_{i}", "Identity", handle, T=dtypes.resource)
        yield node(f"wanted_{i}", "Snapshot", wanted, T=dtypes.bool_)
        handle, wanted = f"handle_{i}", f"wanted_{i}"
        yield node(f"read_{i}", "ReadVariableOp", handle, dtype=dtypes.float32)
        yield node(f"switch_{i}", "Switch", last, wanted, **FLOAT)
        yield node(f"then_{i}", "Neg", f"switch_{i}:1", **FLOAT)
        yield node(f"else_{i}", "Tanh", f"switch_{i}", **FLOAT)
        yield node(f"merge_{i}", "Merge", f"else_{i}", f"then_{i}", N=2, **FLOAT)
        last = f"sum_{i}"
        yield node(last, "AddV2", f"merge_{i}", f"read_{i}", **FLOAT)
    yield node("y", "Identity", last, **FLOAT)


def racing(count: int) -> Iterator[NodeDef]:
    """Writes to a variable that nothing orders, and a read that waits for them all."""
    yield from resource_variable("weights")
    many = count // 2
    for i in range(many):
        yield node(f"tanh_{i}", "Tanh", "x", **FLOAT)
        yield node(f"write_{i}", "AssignAddVariableOp", "weights", f"tanh_{i}", dtype=dtypes.float32)
    yield node("read", "ReadVariableOp", "weights", *(f"^write_{i}" for i in range(many)), dtype=dtypes.float32)
    yield node("y", "AddV2", "read", "x", **FLOAT)


PLAIN_FORMS: Mapping[str, Callable[[int], Iterator[NodeDef]]] = {
    "chain": chain, "wide": wide, "functions": calls, "blocks": blocks,
}  # fmt: skip
"""Graphs of about this number of nodes from the placeholder `x` to `y`, in forms of real programs."""
FORMS: Mapping[str, Callable[[int], Iterator[NodeDef]]] = {
    **PLAIN_FORMS, "hub": hub, "waits": waits, "nested": nested, "variables": variables, "conditionals": conditionals,
    "loops": loops, "growing": growing, "handed_on": handed_on, "groups": groups,
    "chosen": chosen, "added": added, "asserted": asserted, "read_on_the_way": read_on_the_way,
    "racing": racing,
}  # fmt: skip
"""PLAIN_FORMS and forms that are hard for analyses."""
LIBRARIES: Mapping[str, Callable[[int], Iterator[FunctionDef]]] = {"functions": functions, "nested": nested_functions}

KEPT = ("y:0", "init", "train", "save/restore_all", "save/control_dependency")
"""The fetches, if a graph has them."""


def shape_of(form: str) -> Shape:
    """The shape of the placeholder `x`."""
    return Shape((2, 4, 4, 4) if form == "blocks" else (4,))


def write_graph(path: pathlib.Path, form: str, count: int, shape: Shape) -> None:
    with open(path, "wb") as file:
        file.write(GraphDef(node=[placeholder(shape)]).SerializeToString())
        for result in FORMS[form](count):
            file.write(GraphDef(node=[result]).SerializeToString())
        if form in LIBRARIES:
            file.write(GraphDef(library={"function": LIBRARIES[form](count)}).SerializeToString())
