"""Graphs that are hard for analyses of functions: nested calls, conditionals, loops and datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tfg.core.types import dtypes
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import FuncRef
from tfg.formats.protos.graph_pb2 import FunctionDef, NodeDef

from .hard_graphs import counts, truth
from .scale_graphs import CALL, COUNTS, FLOAT, INT, node

LEVEL = 10
"""The approximate number of nodes per level of nested functions."""
DOUBLED = 4
"""The nodes per level if each level calls the next level twice: fifty nodes exceed any budget."""


def function(
    name: str, inputs: dict[str, dtypes.DType], outputs: dict[str, tuple[dtypes.DType, str]], *nodes: NodeDef
) -> FunctionDef:
    """Return a FunctionDef from the types of the arguments, and the types and sources of the results."""
    made = FunctionDef(ret={result: source for result, (_, source) in outputs.items()})
    made.signature.name = name
    for argument, dtype in inputs.items():
        made.signature.input_arg.add(name=argument, type=dtype.number)
    for result, (dtype, _) in outputs.items():
        made.signature.output_arg.add(name=result, type=dtype.number)
    made.node_def.extend(nodes)
    return made


def unary(name: str, *nodes: NodeDef) -> FunctionDef:
    """Return a function of a float with the last node as the result."""
    return function(name, {"a": dtypes.float32}, {"r": (dtypes.float32, output(nodes[-1]))}, *nodes)


def output(made: NodeDef) -> str:
    """Return the name of a node's first output inside functions."""
    return f"{made.name}:{'y' if made.op == 'Tanh' else 'output'}:0"


def called(name: str, function: str, source: str) -> NodeDef:
    return node(name, "PartitionedCall", source, f=FuncRef(function), **CALL)


def tanh(name: str, source: str) -> NodeDef:
    return node(name, "Tanh", source, **FLOAT)


def first(count: int) -> Iterator[NodeDef]:
    """A call of the first function."""
    yield called("y", "f_0", "x")


def last_function(depth: int) -> FunctionDef:
    return unary(f"f_{depth}", tanh("t", "a"))


def twice(count: int) -> Iterator[FunctionDef]:
    """Return functions that call the next function twice: 2 ** (count / DOUBLED) calls in all."""
    depth = count // DOUBLED
    for i in range(depth):
        left = called("left", f"f_{i + 1}", "a")
        yield unary(f"f_{i}", left, called("right", f"f_{i + 1}", output(left)))
    yield last_function(depth)


def deep_calls(count: int) -> Iterator[FunctionDef]:
    """Return functions that call the next function, with a node before and a node after the call."""
    depth = count // LEVEL
    for i in range(depth):
        call = called("call", f"f_{i + 1}", "before:y:0")
        yield unary(f"f_{i}", tanh("before", "a"), call, tanh("behind", output(call)))
    yield last_function(depth)


def one_function(count: int) -> Iterator[NodeDef]:
    """Return a chain of calls of the same function."""
    last = "x"
    for i in range(count):
        yield called(f"call_{i}", "f_0", last)
        last = f"call_{i}"
    yield node("y", "Identity", last, **FLOAT)


def one_body(count: int) -> Iterator[FunctionDef]:
    yield unary("f_0", tanh("t", "a"), tanh("u", "t:y:0"))


def library(count: int) -> Iterator[FunctionDef]:
    """Functions that nothing calls."""
    yield unary("f_0", tanh("t", "a"))
    yield from (unary(f"unread_{i}", tanh("t", "a")) for i in range(count // 2))


def big_function(count: int) -> Iterator[FunctionDef]:
    """A function of very many nodes."""
    sources = ["a", *(f"t_{i}:y:0" for i in range(count))]
    yield unary("f_0", *(tanh(f"t_{i}", sources[i]) for i in range(count)))


def conditional(name: str, source: str, then: str, otherwise: str, op: str = "If") -> NodeDef:
    branches = {"then_branch": FuncRef(then), "else_branch": FuncRef(otherwise)}
    return node(name, op, "p:output:0", source, Tcond=dtypes.bool_, output_shapes=[Shape()], **branches, **CALL)


def predicate() -> NodeDef:
    return truth("p")


def deep_conditionals(count: int) -> Iterator[FunctionDef]:
    """Return nested conditionals: each branch contains the next conditional."""
    depth = count // LEVEL
    for i in range(depth):
        yield unary(f"f_{i}", predicate(), conditional("if", "a", f"f_{i + 1}", f"g_{i}"))
        yield unary(f"g_{i}", tanh("t", "a"))
    yield last_function(depth)


def forked_conditionals(count: int) -> Iterator[FunctionDef]:
    """Return conditionals with the next conditional as both branches."""
    depth = count // DOUBLED
    for i in range(depth):
        yield unary(f"f_{i}", predicate(), conditional("if", "a", f"f_{i + 1}", f"f_{i + 1}"))
    yield last_function(depth)


def mutual(count: int) -> Iterator[FunctionDef]:
    """Return functions that call the next function in a branch of a conditional; the last function calls the first."""
    depth = count // LEVEL
    for i in range(depth):
        yield unary(f"f_{i}", predicate(), conditional("if", "a", "end", f"f_{(i + 1) % depth}"))
    yield unary("end", tanh("t", "a"))


def cases(count: int) -> Iterator[NodeDef]:
    """A Case of very many branches."""
    yield from counts()
    branches = [FuncRef(f"f_{i}") for i in range(count // 2)]
    yield node("y", "Case", "two", "x", branches=branches, output_shapes=[Shape()], **CALL)


def branches(count: int) -> Iterator[FunctionDef]:
    return (unary(f"f_{i}", tanh("t", "a")) for i in range(count // 2))


PAIR = {"i": dtypes.int32, "a": dtypes.float32}


def while_node(name: str, i: str, a: str, body: str) -> NodeDef:
    kinds = {"T": [dtypes.int32, dtypes.float32], "output_shapes": [Shape(), Shape()]}
    return node(name, "While", i, a, cond=FuncRef("again"), body=FuncRef(body), **kinds)


def whiles(count: int) -> Iterator[NodeDef]:
    """Return a chain of While loops of two iterations, each with a separate body."""
    yield from counts()
    last = "x"
    for i in range(count // LEVEL):
        yield while_node(f"while_{i}", "zero", last, f"body_{i}")
        last = f"while_{i}:1"
    yield node("y", "Identity", last, **FLOAT)


def again() -> FunctionDef:
    two = node("two", "Const", dtype=dtypes.int32, value=COUNTS["one"])
    return function("again", PAIR, {"r": (dtypes.bool_, "less:z:0")}, two, node("less", "Less", "i", "two:output:0", **INT))


def bodies(count: int) -> Iterator[FunctionDef]:
    yield again()
    for i in range(count // LEVEL):
        yield body(f"body_{i}", tanh("t", "a"), "t:y:0")


def body(name: str, made: NodeDef, result: str, *more: NodeDef) -> FunctionDef:
    one = node("one", "Const", dtype=dtypes.int32, value=COUNTS["one"])
    results = {"i_out": (dtypes.int32, "next:z:0"), "a_out": (dtypes.float32, result)}
    return function(name, PAIR, results, one, node("next", "AddV2", "i", "one:output:0", **INT), *more, made)


def while_in_while(count: int) -> Iterator[NodeDef]:
    """Return nested While loops of a single iteration."""
    yield from counts()
    yield while_node("while", "zero", "x", "body_0")
    yield node("y", "Identity", "while:1", **FLOAT)


def nested_bodies(count: int) -> Iterator[FunctionDef]:
    yield again()
    depth = count // LEVEL
    for i in range(depth):
        zero = node("zero", "Const", dtype=dtypes.int32, value=COUNTS["zero"])
        yield body(f"body_{i}", while_node("while", "zero:output:0", "a", f"body_{i + 1}"), "while:output:1", zero)
    yield body(f"body_{depth}", tanh("t", "a"), "t:y:0")


def datasets(count: int) -> Iterator[NodeDef]:
    """Return a dataset with a chain of maps, and a reduction of the dataset."""
    kinds = {"output_types": [dtypes.float32], "output_shapes": [Shape((4,))]}
    yield node("dataset", "TensorDataset", "x", Toutput_types=[dtypes.float32], output_shapes=[Shape((4,))])
    last = "dataset"
    for i in range(count // 2):
        yield node(f"map_{i}", "MapDataset", last, f=FuncRef("f_0"), Targuments=[], **kinds)
        last = f"map_{i}"
    yield node("y", "DatasetToSingleElement", last, **kinds)


def many_arguments(count: int) -> Iterator[NodeDef]:
    """A call of very many arguments and results."""
    many = count // 2
    kinds = {"Tin": [dtypes.float32] * many, "Tout": [dtypes.float32] * many}
    yield node("call", "PartitionedCall", *["x"] * many, f=FuncRef("f_0"), **kinds)
    yield node("y", "AddN", *(f"call:{i}" for i in range(many)), N=many, **FLOAT)


def wide_function(count: int) -> Iterator[FunctionDef]:
    many = range(count // 2)
    results = {f"r_{i}": (dtypes.float32, f"t_{i}:y:0") for i in many}
    yield function("f_0", {f"a_{i}": dtypes.float32 for i in many}, results, *(tanh(f"t_{i}", f"a_{i}") for i in many))


def layers(count: int) -> Iterator[NodeDef]:
    """Calls in a chain, each of a function for GPUs."""
    for i in range(count // 3):
        yield called(f"y{i}", f"f_{i}", f"y{i - 1}" if i else "x")


def implementations(count: int) -> Iterator[FunctionDef]:
    """Functions in pairs, for GPUs and for CPUs, each pair with an interface of its own."""
    for i in range(count // 3):
        for name, device in ((f"f_{i}", b"GPU"), (f"f_{i}_for_cpu", b"CPU")):
            made = unary(name, tanh("t", "a"))
            made.attr["api_implements"].s = b"layer_%d" % i
            made.attr["api_preferred_device"].s = device
            yield made


FORMS: Mapping[str, tuple[Callable[[int], Iterator[NodeDef]], Callable[[int], Iterator[FunctionDef]]]] = {
    "twice": (first, twice),
    "deep_calls": (first, deep_calls),
    "one_function": (one_function, one_body),
    "library": (first, library),
    "big_function": (first, big_function),
    "deep_conditionals": (first, deep_conditionals),
    "forked_conditionals": (first, forked_conditionals),
    "mutual": (first, mutual),
    "cases": (cases, branches),
    "whiles": (whiles, bodies),
    "while_in_while": (while_in_while, nested_bodies),
    "datasets": (datasets, one_body),
    "many_arguments": (many_arguments, wide_function),
    "implementations": (layers, implementations),
}
"""Graphs of about this number of nodes, with the nodes of functions counted, and the functions."""
