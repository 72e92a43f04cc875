"""Graphs of forms that are hard on analyses: paths, scopes, colocation, control edges, state, nesting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from math import isqrt

import numpy as np

from tfg.core.types import dtypes
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import Tensor
from tfg.formats.protos.graph_pb2 import NodeDef

from .scale_graphs import COUNTS, FLOAT, INT, LOOP, constant, in_a_row, node, resource_variable, text, variable


def truth(name: str) -> NodeDef:
    return node(name, "Const", dtype=dtypes.bool_, value=Tensor.from_numpy(np.array(True)))


def counts() -> Iterator[NodeDef]:
    """The numbers that loops count with."""
    return (node(name, "Const", dtype=dtypes.int32, value=number) for name, number in COUNTS.items())


def one_after_another(names: list[str], op: str = "Tanh") -> Iterator[NodeDef]:
    """Return a chain of unary nodes from `x` to `y`."""
    for before, name in pairwise(["x", *names]):
        yield node(name, op, before, **FLOAT)
    yield node("y", "Identity", names[-1], **FLOAT)


def deep_scope(count: int) -> Iterator[NodeDef]:
    """Return a few nodes in deeply nested scopes."""
    scope = "/".join(f"s{i}" for i in range(count // 4))
    return one_after_another([f"{scope}/tanh_{i}" for i in range(4)])


def stairs(count: int) -> Iterator[NodeDef]:
    """Towers of scopes, with a node in each of their floors."""
    floors = isqrt(count) // 2 + 1
    places = ((tower, floor) for tower in range(count // floors) for floor in range(floors))
    scopes = ["/".join(f"t{tower}s{i}" for i in range(floor + 1)) for tower, floor in places]
    return one_after_another([f"{scope}/tanh" for scope in scopes])


def wide_scopes(count: int) -> Iterator[NodeDef]:
    """A scope for each node."""
    return one_after_another([f"scope_{i}/tanh" for i in range(count)])


def repeated_names(count: int) -> Iterator[NodeDef]:
    """Return nodes whose names differ only in the number."""
    return one_after_another(["tanh", *(f"tanh_{i}" for i in range(1, count))])


def long_names(count: int) -> Iterator[NodeDef]:
    """Names that take more bytes than the rest of the graph."""
    return one_after_another(["n" * count + str(i) for i in range(4)])


def many_devices(count: int) -> Iterator[NodeDef]:
    """A device for each node."""
    for i, made in enumerate(one_after_another([f"tanh_{i}" for i in range(count)])):
        made.device = f"/job:worker/task:{i}"
        yield made


def colocated(count: int, target: Callable[[int, int], int]) -> Iterator[NodeDef]:
    """Return nodes with colocation; `target` names the colocated node from the number of the node and the number of nodes."""
    names = [f"tanh_{i}" for i in range(count)]
    for i, made in enumerate(one_after_another(names)):
        if i < count:
            made.attr["_class"].list.s.append(f"loc:@{names[target(i, count)]}".encode())
        yield made


def colocation_ring(count: int) -> Iterator[NodeDef]:
    return colocated(count, lambda i, n: (i + 1) % n)


def colocation_chain(count: int) -> Iterator[NodeDef]:
    return colocated(count, lambda i, n: max(i - 1, 0))


def colocation_star(count: int) -> Iterator[NodeDef]:
    return colocated(count, lambda i, n: 0)


def colocation_list(count: int) -> Iterator[NodeDef]:
    """Return a node that is colocated with all other nodes."""
    names = [f"tanh_{i}" for i in range(count)]
    for made in one_after_another(names):
        if made.name == "y":
            made.attr["_class"].list.s.extend(f"loc:@{name}".encode() for name in names)
        yield made


def control_chain(count: int) -> Iterator[NodeDef]:
    """Return a chain of nodes with control inputs only."""
    yield node("wait_0", "NoOp", "^x")
    yield from (node(f"wait_{i}", "NoOp", f"^wait_{i - 1}") for i in range(1, count))
    yield node("y", "Tanh", "x", f"^wait_{count - 1}", **FLOAT)


def control_ladder(count: int) -> Iterator[NodeDef]:
    """Nodes that wait for the two before."""
    yield node("step_0", "Tanh", "x", **FLOAT)
    yield node("step_1", "Tanh", "x", "^step_0", **FLOAT)
    for i in range(2, count):
        yield node(f"step_{i}", "Tanh", "x", f"^step_{i - 1}", f"^step_{i - 2}", **FLOAT)
    yield node("y", "Identity", f"step_{count - 1}", **FLOAT)


def control_crossings(count: int) -> Iterator[NodeDef]:
    """Return two groups with control edges from each node of the first to each node of the second, `count` edges in all."""
    many = isqrt(count)
    yield from (node(f"first_{i}", "Tanh", "x", **FLOAT) for i in range(many))
    yield from (node(f"then_{k}", "Neg", "x", *(f"^first_{i}" for i in range(many)), **FLOAT) for k in range(many))
    yield node("y", "AddN", *(f"then_{k}" for k in range(many)), N=many, **FLOAT)


def diamonds(count: int) -> Iterator[NodeDef]:
    """Ways that part and meet again: there are 2 ** (count / 3) of them."""
    last = "x"
    for i in range(count // 3):
        yield node(f"left_{i}", "Tanh", last, **FLOAT)
        yield node(f"right_{i}", "Neg", last, **FLOAT)
        last = f"meet_{i}"
        yield node(last, "Mul", f"left_{i}", f"right_{i}", **FLOAT)
    yield node("y", "Identity", last, **FLOAT)


def fibonacci(count: int) -> Iterator[NodeDef]:
    """Sums of the two before: a term is written out as often as Fibonacci's numbers say."""
    before, last = "x", "x"
    for i in range(count):
        yield node(f"sum_{i}", "AddV2", last, before, **FLOAT)
        before, last = last, f"sum_{i}"
    yield node("y", "Identity", last, **FLOAT)


def identities(count: int) -> Iterator[NodeDef]:
    return one_after_another([f"same_{i}" for i in range(count)], "Identity")


def switch_ladder(count: int) -> Iterator[NodeDef]:
    """Return nested conditionals: each Switch feeds the next Switch, and the Merges follow in reverse order."""
    depth = count // 4
    last = "x"
    for i in range(depth):
        yield truth(f"is_{i}")
        yield node(f"switch_{i}", "Switch", last, f"is_{i}", **FLOAT)
        yield node(f"else_{i}", "Neg", f"switch_{i}", **FLOAT)
        last = f"switch_{i}:1"
    for i in reversed(range(depth)):
        yield node(f"merge_{i}", "Merge", f"else_{i}", last, N=2, **FLOAT)
        last = f"merge_{i}"
    yield node("y", "Identity", last, **FLOAT)


def loops_in_loops(count: int) -> Iterator[NodeDef]:
    """Return nested V1 loops of a single iteration; `names` are the names of the frames."""
    yield from counts()
    last = "x"
    depth = count // LOOP
    entered = {name: name for name in COUNTS}
    for i in range(depth):
        scope, frame = f"loop_{i}", f"loop_{i}".encode()
        for name in COUNTS:
            yield node(f"{scope}/{name}", "Enter", entered[name], frame_name=frame, is_constant=True, **INT)
            entered[name] = f"{scope}/{name}"
        yield node(f"{scope}/Less", "Less", f"{scope}/Merge", f"{scope}/one", **INT)
        yield node(f"{scope}/LoopCond", "LoopCond", f"{scope}/Less")
        yield node(f"{scope}/count", "AddV2", f"{scope}/Switch:1", f"{scope}/one", **INT)
        yield node(f"{scope}/begin", "ZerosLike", f"{scope}/Switch:1", **INT)
        step = f"loop_{i + 1}/Exit_1" if i + 1 < depth else f"{scope}/Switch_1:1"
        zero = f"loop_{i - 1}/begin" if i else "zero"
        for suffix, first, kind, then in (("", zero, INT, f"{scope}/count"), ("_1", last, FLOAT, step)):
            yield node(f"{scope}/Enter{suffix}", "Enter", first, frame_name=frame, **kind)
            yield node(f"{scope}/Merge{suffix}", "Merge", f"{scope}/Enter{suffix}", f"{scope}/Next{suffix}", N=2, **kind)
            yield node(f"{scope}/Switch{suffix}", "Switch", f"{scope}/Merge{suffix}", f"{scope}/LoopCond", **kind)
            yield node(f"{scope}/Next{suffix}", "NextIteration", then, **kind)
            yield node(f"{scope}/Exit{suffix}", "Exit", f"{scope}/Switch{suffix}", **kind)
        last = f"{scope}/Switch_1:1"
    yield node("y", "Identity", "loop_0/Exit_1", **FLOAT)


def wide_loop(count: int) -> Iterator[NodeDef]:
    """Return a V1 loop of many values that rotates the values."""
    yield from counts()
    many = count // 7
    for name in COUNTS:
        yield node(f"while/{name}", "Enter", name, frame_name=b"while", is_constant=True, **INT)
    yield node("while/Less", "Less", "while/Merge", "while/two", **INT)
    yield node("while/LoopCond", "LoopCond", "while/Less")
    yield node("while/count", "AddV2", "while/Switch:1", "while/one", **INT)
    steps = [("", "zero", INT, "while/count")]
    steps += [(f"_{i}", "x", FLOAT, f"while/Switch_{i % many + 1}:1") for i in range(1, many + 1)]
    for suffix, first, kind, then in steps:
        yield node(f"while/Enter{suffix}", "Enter", first, frame_name=b"while", **kind)
        yield node(f"while/Merge{suffix}", "Merge", f"while/Enter{suffix}", f"while/Next{suffix}", N=2, **kind)
        yield node(f"while/Switch{suffix}", "Switch", f"while/Merge{suffix}", "while/LoopCond", **kind)
        yield node(f"while/Next{suffix}", "NextIteration", then, **kind)
        yield node(f"while/Exit{suffix}", "Exit", f"while/Switch{suffix}", **kind)
    yield node("y", "AddN", *(f"while/Exit_{i}" for i in range(1, many + 1)), N=many, **FLOAT)


def loop_constants(count: int) -> Iterator[NodeDef]:
    """Return a V1 loop with many loop-invariant values."""
    yield from counts()
    yield from in_a_row("while", 1, _loop_of_sums(count // 2))


def _loop_of_sums(many: int) -> Callable[[str, str], Iterator[NodeDef]]:
    def part(scope: str, last: str) -> Iterator[NodeDef]:
        frame = scope.encode()
        for name in COUNTS:
            yield node(f"{scope}/{name}", "Enter", name, frame_name=frame, is_constant=True, **INT)
        yield node(f"{scope}/Less", "Less", f"{scope}/Merge", f"{scope}/two", **INT)
        yield node(f"{scope}/LoopCond", "LoopCond", f"{scope}/Less")
        yield node(f"{scope}/count", "AddV2", f"{scope}/Switch:1", f"{scope}/one", **INT)
        value = f"{scope}/Switch_1:1"
        for i in range(many):
            yield node(f"{scope}/c_{i}", "Enter", last, frame_name=frame, is_constant=True, **FLOAT)
            yield node(f"{scope}/add_{i}", "AddV2", value, f"{scope}/c_{i}", **FLOAT)
            value = f"{scope}/add_{i}"
        for suffix, first, kind, then in (("", "zero", INT, f"{scope}/count"), ("_1", last, FLOAT, value)):
            yield node(f"{scope}/Enter{suffix}", "Enter", first, frame_name=frame, **kind)
            yield node(f"{scope}/Merge{suffix}", "Merge", f"{scope}/Enter{suffix}", f"{scope}/Next{suffix}", N=2, **kind)
            yield node(f"{scope}/Switch{suffix}", "Switch", f"{scope}/Merge{suffix}", f"{scope}/LoopCond", **kind)
            yield node(f"{scope}/Next{suffix}", "NextIteration", then, **kind)
            yield node(f"{scope}/Exit{suffix}", "Exit", f"{scope}/Switch{suffix}", **kind)

    return part


def racing_reads(count: int) -> Iterator[NodeDef]:
    """Return equally many unordered reads and writes of a variable."""
    yield from resource_variable("weights")
    many = count // 3
    for i in range(many):
        yield node(f"tanh_{i}", "Tanh", "x", **FLOAT)
        yield node(f"write_{i}", "AssignAddVariableOp", "weights", f"tanh_{i}", dtype=dtypes.float32)
        yield node(f"read_{i}", "ReadVariableOp", "weights", dtype=dtypes.float32)
    yield node("y", "AddN", *(f"read_{i}" for i in range(many)), *(f"^write_{i}" for i in range(many)), N=many, **FLOAT)


def handles(count: int) -> Iterator[NodeDef]:
    """Variables by handles, each with an initializer, a read and a write."""
    names = [f"layer_{i}/kernel" for i in range(count // 6)]
    yield constant("initial", 4)
    last = "x"
    for name in names:
        yield node(name, "VarHandleOp", dtype=dtypes.float32, shape=Shape((4,)), shared_name=name.encode())
        yield node(f"{name}/Assign", "AssignVariableOp", name, "initial", dtype=dtypes.float32)
        yield node(f"{name}/Read", "ReadVariableOp", name, dtype=dtypes.float32)
        yield node(f"{name}/mul", "Mul", last, f"{name}/Read", **FLOAT)
        yield node(f"{name}/step", "AssignSubVariableOp", name, f"{name}/mul", dtype=dtypes.float32)
        last = f"{name}/mul"
    yield node("init", "NoOp", *(f"^{name}/Assign" for name in names))
    yield node("train", "NoOp", *(f"^{name}/step" for name in names))
    yield node("y", "Identity", last, **FLOAT)


def parts_of_variables(count: int) -> Iterator[NodeDef]:
    """Return a variable in many partitions, with a read of each and a concatenation."""
    names = [f"table/part_{i}" for i in range(count // 4)]
    for name in names:
        yield from variable(name)
        yield node(f"{name}/read", "Identity", name, **FLOAT)
    yield node("init", "NoOp", *(f"^{name}/Assign" for name in names))
    yield node("axis", "Const", dtype=dtypes.int32, value=COUNTS["zero"])
    yield node("table", "ConcatV2", *(f"{name}/read" for name in names), "axis", N=len(names), Tidx=dtypes.int32, **FLOAT)
    yield node("lookup", "Gather", "table", "axis", Tparams=dtypes.float32, Tindices=dtypes.int32)
    yield node("y", "Mul", "lookup", "x", **FLOAT)


def tensor_array(count: int) -> Iterator[NodeDef]:
    """A TensorArray that is written element by element and read as a whole."""
    many = count // 2
    yield node("size", "Const", dtype=dtypes.int32, value=Tensor.from_numpy(np.array(many, np.int32)))
    yield node("array", "TensorArrayV3", "size", dtype=dtypes.float32)
    flow = "array:1"
    for i in range(many):
        yield node(f"at_{i}", "Const", dtype=dtypes.int32, value=Tensor.from_numpy(np.array(i, np.int32)))
        yield node(f"write_{i}", "TensorArrayWriteV3", "array", f"at_{i}", "x", flow, **FLOAT)
        flow = f"write_{i}"
    yield node("all", "Const", dtype=dtypes.int32, value=Tensor.from_numpy(np.arange(many, dtype=np.int32)))
    yield node("gather", "TensorArrayGatherV3", "array", "all", flow, dtype=dtypes.float32)
    yield node("y", "Tanh", "gather", **FLOAT)


def tensor_list(count: int) -> Iterator[NodeDef]:
    """Return a list with an appending node per element."""
    yield node("shape", "Const", dtype=dtypes.int32, value=Tensor.from_numpy(np.array([4], np.int32)))
    yield node("most", "Const", dtype=dtypes.int32, value=Tensor.from_numpy(np.array(-1, np.int32)))
    kinds = {"element_dtype": dtypes.float32}
    yield node("list", "EmptyTensorList", "shape", "most", shape_type=dtypes.int32, **kinds)
    last = "list"
    for i in range(count):
        yield node(f"push_{i}", "TensorListPushBack", last, "x", **kinds)
        last = f"push_{i}"
    yield node("y", "TensorListStack", last, "shape", num_elements=-1, **kinds)


def draws(count: int) -> Iterator[NodeDef]:
    """Random numbers, drawn again and again."""
    yield node("sizes", "Const", dtype=dtypes.int32, value=Tensor.from_numpy(np.array([4], np.int32)))
    last = "x"
    for i in range(count // 2):
        yield node(f"noise_{i}", "RandomUniform", "sizes", dtype=dtypes.float32, T=dtypes.int32, seed=i, seed2=1)
        yield node(f"add_{i}", "AddV2", last, f"noise_{i}", **FLOAT)
        last = f"add_{i}"
    yield node("y", "Identity", last, **FLOAT)


def folded(count: int) -> Iterator[NodeDef]:
    """Return constants and sums of constants that need no feed."""
    last = "c_0"
    yield constant("c_0", 4)
    for i in range(1, count // 2):
        yield constant(f"c_{i}", 4)
        yield node(f"sum_{i}", "AddV2", last, f"c_{i}", **FLOAT)
        last = f"sum_{i}"
    yield node("y", "Mul", "x", last, **FLOAT)


def long_values(count: int) -> Iterator[NodeDef]:
    """Constants of very many numbers and strings, and a string that is as long."""
    yield node("numbers", "Const", dtype=dtypes.float32, value=Tensor.from_numpy(np.arange(16 * count, dtype=np.float32)))
    yield text("words", np.array([b"word %d" % i for i in range(count)], object))
    yield text("book", np.array(b"a b " * count, object))
    yield node("y", "Tanh", "x", **FLOAT)


def long_lists(count: int) -> Iterator[NodeDef]:
    """Attributes that are lists of very many numbers, strings, shapes and types."""
    made = node("y", "Tanh", "x", **FLOAT)
    made.attr["_numbers"].list.i.extend(range(count))
    made.attr["_words"].list.s.extend(b"word %d" % i for i in range(count))
    made.attr["_output_shapes"].list.shape.add().dim.add().size = 4
    made.attr["_types"].list.type.extend([dtypes.float32.number] * count)
    yield made


def many_attributes(count: int) -> Iterator[NodeDef]:
    """Nodes that have ten attributes that their op does not."""
    for made in one_after_another([f"tanh_{i}" for i in range(count // 10)]):
        for i in range(10):
            made.attr[f"_note_{i}"].i = i
        yield made


def shape_arithmetic(count: int) -> Iterator[NodeDef]:
    """Return a chain of reshapes to shapes computed from earlier shapes."""
    yield from counts()
    last = "x"
    for i in range(count // 4):
        yield node(f"shape_{i}", "Shape", last, out_type=dtypes.int32, **FLOAT)
        yield node(f"size_{i}", "Prod", f"shape_{i}", "zero", Tidx=dtypes.int32, keep_dims=True, **INT)
        yield node(f"reshape_{i}", "Reshape", last, f"size_{i}", Tshape=dtypes.int32, **FLOAT)
        yield node(f"tanh_{i}", "Tanh", f"reshape_{i}", **FLOAT)
        last = f"tanh_{i}"
    yield node("y", "Identity", last, **FLOAT)


def towers(count: int) -> Iterator[NodeDef]:
    """Values that are packed and unpacked again and again."""
    values = ["x", "x", "x", "x"]
    for i in range(count // 2):
        yield node(f"pack_{i}", "Pack", *values, N=4, axis=0, **FLOAT)
        yield node(f"unpack_{i}", "Unpack", f"pack_{i}", num=4, axis=0, **FLOAT)
        values = [f"unpack_{i}:{k}" for k in range(4)]
    yield node("y", "AddN", *values, N=4, **FLOAT)


def many_ends(count: int) -> Iterator[NodeDef]:
    """Return placeholders and equally many outputs."""
    yield from (node(f"in_{i}", "Placeholder", dtype=dtypes.float32, shape=Shape((4,))) for i in range(count // 2))
    yield from (node(f"out_{i}", "Tanh", f"in_{i}", **FLOAT) for i in range(count // 2))
    yield node("y", "Tanh", "x", **FLOAT)


_FACTORS = np.float32([0.5, 1.5, 2.5, 1])
_TEN = np.full(4, 10, np.float32)


def _number(name: str, values: np.ndarray) -> NodeDef:
    return node(name, "Const", dtype=dtypes.float32, value=Tensor.from_numpy(values))


def _with_constants(count: int, ops: tuple[str, ...], values: np.ndarray = _FACTORS, reads: bool = False) -> Iterator[NodeDef]:
    """Return a chain of binary ops, in turn, with a constant each, behind an Identity where the chain `reads`."""
    last = "x"
    for i in range(count // (3 if reads else 2)):
        operand = f"c_{i}"
        yield _number(operand, values)
        if reads:
            yield node(f"read_{i}", "Identity", operand, **FLOAT)
            operand = f"read_{i}"
        yield node(f"op_{i}", ops[i % len(ops)], last, operand, **FLOAT)
        last = f"op_{i}"
    yield node("y", "Identity", last, **FLOAT)


def products(count: int) -> Iterator[NodeDef]:
    """Return a chain of products by constants that stay apart, since their product might underflow."""
    return _with_constants(count, ("Mul",))


def overflowing_products(count: int) -> Iterator[NodeDef]:
    """Return a chain of products by constants; a few at a time have a finite product."""
    return _with_constants(count, ("Mul",), _TEN)


def products_of_reads(count: int) -> Iterator[NodeDef]:
    """Return a chain of products by constants behind Identity nodes."""
    return _with_constants(count, ("Mul",), reads=True)


def quotients(count: int) -> Iterator[NodeDef]:
    """Return a chain of products and quotients by constants."""
    return _with_constants(count, ("Mul", "RealDiv"), _TEN)


def sums_and_products(count: int) -> Iterator[NodeDef]:
    """Return a chain of sums, differences and products with constants."""
    return _with_constants(count, ("AddV2", "Mul", "Sub", "Sub", "AddV2"))


def mixed_products(count: int) -> Iterator[NodeDef]:
    """Return a chain of products by constants and by computed values in turn, which may not be regrouped."""
    yield node("t", "Tanh", "x", **FLOAT)
    last = "x"
    for i in range(count // 3):
        yield _number(f"c_{i}", _FACTORS)
        yield node(f"computed_{i}", "Mul", last, "t", **FLOAT)
        yield node(f"op_{i}", "Mul", f"computed_{i}", f"c_{i}", **FLOAT)
        last = f"op_{i}"
    yield node("y", "Identity", last, **FLOAT)


FORMS: Mapping[str, Callable[[int], Iterator[NodeDef]]] = {
    form.__name__: form
    for form in (
        deep_scope, stairs, wide_scopes, repeated_names, long_names, many_devices, colocation_ring, colocation_chain,
        colocation_star, colocation_list, control_chain, control_ladder, control_crossings, diamonds, fibonacci, identities,
        switch_ladder, loops_in_loops, wide_loop, loop_constants, racing_reads, handles, parts_of_variables, tensor_array,
        tensor_list, draws, folded, long_values, long_lists, many_attributes, shape_arithmetic, towers, many_ends, products,
        overflowing_products, products_of_reads, quotients, sums_and_products, mixed_products,
    )
}  # fmt: skip
