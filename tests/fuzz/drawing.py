"""Random nodes: any op of the catalog with attributes, inputs and handles that mostly fit its interface, not always."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

from tests.fuzz.trials import Trial
from tfg.core.graph.call_kinds import CALL_KINDS, CallKind
from tfg.core.graph.graph import Function, Graph, Node, Output
from tfg.core.op_libraries.library_loading import load_op_library
from tfg.core.registry import kernel_types, registry
from tfg.core.registry.catalog import CATALOG, ArgDef, AttrDef, OpDef
from tfg.core.support.versions import Versions
from tfg.core.types import dtypes
from tfg.core.types.dtypes import DType
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import FuncRef, Tensor, as_bytes_array

SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5, 8)
INTEGERS = (0, 1, 1, 2, 2, 3, 4, 5, -1, -2, 7, 8, 16, 100, -(2**31), 2**31 - 1, 2**31, 2**40, 2**63 - 1, -(2**63))
FLOATS = (0.0, 1.0, 0.5, -1.0, 2.0, 1e-3, 0.999, 1e30, -1e30, 1e-30, float("nan"), float("inf"), float("-inf"))
STRINGS = (
    b"", b"a", b"NHWC", b"NCHW", b"SAME", b"VALID", b"EXPLICIT", b"ab,c", b"hex", b"UTF-8", b"UTF-16-BE", b"utf-32", b"12",
    b"-1.5", b"x y", b"\xff\xfe\x00", b"(a+)+$", b"[a-z]+", b"%s", b"{}", b"ij,jk->ik", b"...", b"1,2", b"\n", b"caf\xc3\xa9",
    b"a/b.txt", b"/etc/passwd", b"a\x00b", b"SUM", b"ADD", b"MIN_COMBINED", b"lstm", b"GZIP", b"ZLIB", b"float32", b"2x3",
    b"\x89PNG\r\n\x1a\n", b"GIF89a\x01\x00\x01\x00", b"\xff\xd8\xff\xe0", b"RIFF\x24\x00\x00\x00WAVEfmt ", b"BM",
    b"eyJhIjogMX0", b'{"a": [1, 2]}', b"\n\x05\n\x03abc", b"\x08\x01\x12\x08\x12\x02\x08\x02",
)  # fmt: skip
LIBRARY = str(pathlib.Path(__file__).resolve().parents[2] / "sample_graphs" / "skipgram_ops.py")
DTYPES = tuple(dtype for dtype in dtypes.ALL if dtype.number <= 23)


def chance(random: Random, probability: float) -> bool:
    return random.random() < probability


@functools.cache
def ops() -> tuple[str, ...]:
    """Every op that tfg has a kernel for, and those of a library, which some of the other parts load."""
    load_op_library(LIBRARY)
    return tuple(sorted(op for op in CATALOG if registry.has_kernel(op)))


@functools.cache
def known_ops() -> tuple[str, ...]:
    """Every op of the catalog that tfg has no kernel for."""
    with_kernel = set(ops())
    return tuple(sorted(set(CATALOG) - with_kernel))


def draw_trial(random: Random) -> Trial:
    """One node of a random op on drawn inputs, all of its outputs fetched."""
    return op_trial(random, random.choice(ops() if chance(random, 0.97) else known_ops()))


def draw_call(random: Random) -> Trial:
    """One node that calls functions, all of its outputs fetched."""
    return op_trial(random, random.choice(sorted(CALL_KINDS.keys() & set(ops()))))


def op_trial(random: Random, op: str) -> Trial:
    """One node of type `op` on drawn inputs, all of its outputs fetched."""
    drawing = Drawing(random)
    node = drawing.node(op, "op")
    outputs = tuple(f"op:{i}" for i in range(min(len(output_dtypes(node)), 20)))
    return Trial(drawing.graph, (outputs or ("op",),), drawing.feeds)


class Drawing:
    """A graph that grows: a node, the placeholders and constants it takes, the makers of handles and their initial values."""

    def __init__(self, random: Random, functions: dict[str, Function] | None = None) -> None:
        self.random = random
        self.graph = Graph()
        self.graph.versions = Versions(2474)
        self.is_body = functions is not None
        if functions is not None:
            self.graph.functions = functions
        self.feeds: dict[str, np.ndarray] = {}
        self.shapes: list[tuple[int, ...]] = []
        self.made: list[tuple[DType, Output]] = []

    def node(self, op: str, name: str, depth: int = 0, like: DType | None = None) -> Node:
        definition = CATALOG[op]
        attrs = draw_attrs(self.random, definition)
        if like is not None:
            attrs |= {key: like for key in ("dtype", "T") if key in definition.attrs}
        return self.node_with(op, name, attrs, depth)

    def node_with(self, op: str, name: str, attrs: dict[str, Any], depth: int = 0, first: Output | None = None) -> Node:
        """A node with these attributes, functions added for calls; `first` may be its first input."""
        types = input_dtypes(CATALOG[op], attrs)
        if op in CALL_KINDS:
            attrs |= self.references(CALL_KINDS[op], Node(name, op, attrs, home=self.graph), types, depth)
        inputs, controls = [], []
        for dtype in types:
            given = None if inputs else first
            value, control = (given, []) if given is not None else self.value(dtype, f"{name}_{len(inputs)}", depth)
            inputs.append(value)
            controls += control
        if chance(self.random, 0.01) and inputs:
            del inputs[-1]
        return self.graph.add_node(name, op, inputs, controls, attrs)

    def value(self, dtype: DType, name: str, depth: int) -> tuple[Output, list[Node]]:
        """An output of the dtype, and what must run before it can be used."""
        outputs = [output for type_, output in self.made if type_ is dtype]
        if outputs and chance(self.random, 0.6 if self.is_body else 0.1):
            return self.random.choice(outputs), []
        output, controls = self.new_value(dtype, name, depth)
        self.made.append((dtype, output))
        return output, controls

    def new_value(self, dtype: DType, name: str, depth: int) -> tuple[Output, list[Node]]:
        if dtype.is_ref:
            return self.reference(dtype, name, depth)
        if dtype in (dtypes.resource, dtypes.variant):
            return self.handle(dtype, name, depth)
        if depth < 2 and chance(self.random, 0.1):
            node = self.node(self.random.choice(producers(dtype)), name, depth + 1, like=dtype)
            types = output_dtypes(node)
            if dtype in types:
                return node.output(types.index(dtype)), []
            name += "_"
        value = draw_array(self.random, dtype, self.shape())
        if self.is_body or chance(self.random, 0.2):
            constant = self.graph.add_node(name, "Const", attrs={"dtype": dtype, "value": Tensor.from_numpy(value, dtype)})
            return constant.output(), []
        shape = self.random.choice((Shape(value.shape), Shape(), Shape([None] * value.ndim)))
        self.feeds[f"{name}:0"] = value
        return self.graph.add_node(name, "Placeholder", attrs={"dtype": dtype, "shape": shape}).output(), []

    def references(self, kind: CallKind, node: Node, types: Sequence[DType], depth: int) -> dict[str, Any]:
        """Functions that take and return what the node gives and wants, mostly."""
        arguments, expected = [dtypes.int32] * kind.counters + list(kind.arguments(types)), list(output_dtypes(node))
        by_name: dict[str, Any] = {}
        for name in kind.functions:
            results = [dtypes.bool_] if name == "cond" else expected
            count = self.random.randint(0, 3) if CATALOG[node.op].attrs[name].type == "list(func)" else 1
            made = [self.function(arguments, results, kind.is_loop, depth) for _ in range(count)]
            by_name[name] = made if CATALOG[node.op].attrs[name].type == "list(func)" else made[0]
        return by_name

    def function(self, arguments: Sequence[DType], results: Sequence[DType], is_loop: bool, depth: int) -> FuncRef:
        """A new function, or now and then one that is there already, or is not."""
        functions = self.graph.functions
        if chance(self.random, 0.03):
            return FuncRef(self.random.choice([*functions, "missing"]))
        if chance(self.random, 0.05):
            arguments, results = list(arguments), list(results)
            self.random.choice((arguments, results)).append(self.random.choice(DTYPES))
        name = f"f{len(functions)}"
        functions[name] = _drawn_function(Drawing(self.random, functions), name, arguments, results, is_loop, depth)
        return FuncRef(name)

    def shape(self) -> tuple[int, ...]:
        """Often that of an input before it, or what goes along with it."""
        if self.shapes and chance(self.random, 0.5):
            known = self.random.choice(self.shapes)
            return known if chance(self.random, 0.5) else known[self.random.randint(0, len(known)) :]
        shape = draw_shape(self.random)
        self.shapes.append(shape)
        return shape

    def reference(self, dtype: DType, name: str, depth: int) -> tuple[Output, list[Node]]:
        if dtype.base is dtypes.string and chance(self.random, 0.7) and depth < 2:
            return self.node(self.random.choice(makers("string_ref")), name, depth + 1).output(), []
        shape = self.shape()
        attrs = {"dtype": dtype.base, "shape": Shape(shape)}
        variable = self.graph.add_node(name, "VariableV2", attrs=attrs)
        if chance(self.random, 0.1) or dtype.base in (dtypes.resource, dtypes.variant):
            return variable.output(), []
        initial = self.constant(dtype.base, shape, f"{name}_initial")
        inputs = [variable.output(), initial.output()]
        return variable.output(), [self.graph.add_node(f"{name}_assign", "Assign", inputs, attrs={"T": dtype.base})]

    def handle(self, dtype: DType, name: str, depth: int) -> tuple[Output, list[Node]]:
        if depth > 1:
            self.feeds[f"{name}:0"] = np.array(None, object)
            return self.graph.add_node(name, "Placeholder", attrs={"dtype": dtype, "shape": Shape()}).output(), []
        if dtype is dtypes.resource and chance(self.random, 0.5):
            return self.variable(name)
        node = self.node(self.random.choice(makers(dtype.name)), name, depth + 1)
        position = [out.type_attr or out.dtype for out in CATALOG[node.op].outputs].index(dtype)
        return node.output(position), []

    def variable(self, name: str) -> tuple[Output, list[Node]]:
        dtype, shape = self.random.choice(DTYPES[:10]), self.shape()
        node = self.graph.add_node(
            name, "VarHandleOp", attrs={"dtype": dtype, "shape": Shape(shape), "shared_name": name.encode(), "container": b""}
        )
        if chance(self.random, 0.1):
            return node.output(), []
        initial = self.constant(dtype, shape, f"{name}_initial")
        inputs = [node.output(), initial.output()]
        return node.output(), [self.graph.add_node(f"{name}_assign", "AssignVariableOp", inputs, attrs={"dtype": dtype})]

    def constant(self, dtype: DType, shape: tuple[int, ...], name: str) -> Node:
        value = Tensor.from_numpy(draw_array(self.random, dtype, shape), dtype)
        return self.graph.add_node(name, "Const", attrs={"dtype": dtype, "value": value})


def _drawn_function(
    body: Drawing, name: str, arguments: Sequence[DType], results: Sequence[DType], is_loop: bool, depth: int
) -> Function:
    args = [body.graph.add_node(f"a{i}", "_Arg", attrs={"T": t, "index": i}) for i, t in enumerate(arguments)]
    body.made += [(dtype, arg.output()) for dtype, arg in zip(arguments, args)]
    made = [body.value(dtype, f"r{i}", depth + 1) for i, dtype in enumerate(results)]
    outputs, controls = [output for output, _ in made], [control for _, nodes in made for control in nodes]
    if is_loop and chance(body.random, 0.9):
        _let_it_end(body.graph, args, outputs, results)
    signature = OpDef(name, _arg_defs("a", arguments), _arg_defs("r", results), {}, frozenset())
    return Function(signature, body.graph, args, outputs, controls)


def _arg_defs(prefix: str, types: Sequence[DType]) -> tuple[ArgDef, ...]:
    return tuple(ArgDef(f"{prefix}{i}", dtype.base) for i, dtype in enumerate(types))


def _let_it_end(graph: Graph, args: Sequence[Node], outputs: list[Output], results: Sequence[DType]) -> None:
    """A loop's condition that looks at a counter, or is false; a loop's body that counts it up."""
    counter = next((arg for arg in args if arg.attrs["T"] in (dtypes.int32, dtypes.int64, dtypes.float32)), None)
    dtype = counter.attrs["T"] if counter is not None else dtypes.bool_
    number = 3 if list(results) == [dtypes.bool_] else 1
    constant = np.zeros((), bool) if counter is None else np.array(number, dtype.numpy)
    limit = graph.add_node("limit", "Const", attrs={"dtype": dtype, "value": Tensor.from_numpy(constant, dtype)}).output()
    if list(results) == [dtypes.bool_]:
        reached = (
            limit
            if counter is None
            else graph.add_node("less", "Less", [counter.output(), limit], attrs={"T": dtype}).output()
        )
        outputs[0] = reached
    elif counter is not None and len(outputs) == len(args):
        outputs[args.index(counter)] = graph.add_node("next", "AddV2", [counter.output(), limit], attrs={"T": dtype}).output()


@functools.cache
def producers(dtype: DType) -> tuple[str, ...]:
    """Ops with a kernel that may have an output of the dtype."""

    def may_be(arg: ArgDef, definition: OpDef) -> bool:
        if arg.type_attr is None:
            return arg.dtype is dtype and not arg.is_ref
        allowed = definition.attrs[arg.type_attr].allowed
        return arg.type_attr in ("T", "dtype") and not arg.is_ref and (allowed is None or dtype in allowed)

    return tuple(op for op in ops() if any(may_be(arg, CATALOG[op]) for arg in CATALOG[op].outputs))


@functools.cache
def makers(kind: str) -> tuple[str, ...]:
    """Ops with a kernel that make a handle (`resource`, `variant`, `string_ref`) of plain values."""
    expected = dtypes.from_name(kind)

    def dtype(arg: ArgDef) -> DType | None:
        return arg.dtype.ref if arg.is_ref and arg.dtype else arg.dtype

    def takes_handles(op: str) -> bool:
        return any(arg.is_ref or arg.dtype in (dtypes.resource, dtypes.variant) for arg in CATALOG[op].inputs)

    return tuple(op for op in ops() if not takes_handles(op) and expected in map(dtype, CATALOG[op].outputs))


def input_dtypes(definition: OpDef, attrs: dict[str, Any]) -> list[DType]:
    """The dtypes of the inputs as far as the attributes make sense; those that do not get a few inputs anyway."""
    results: list[DType] = []
    for arg in definition.inputs:
        if arg.type_list_attr is not None:
            types = attrs.get(arg.type_list_attr)
            results += [t for t in types if isinstance(t, DType)][:6] if isinstance(types, list) else []
            continue
        dtype = arg.dtype or attrs.get(str(arg.type_attr), _default(definition, str(arg.type_attr)))
        dtype = dtype if isinstance(dtype, DType) else dtypes.float32
        count = attrs.get(arg.number_attr, 1) if arg.number_attr else 1
        count = count if isinstance(count, int) and 0 <= count <= 6 else 2
        results += [dtype.ref if arg.is_ref else dtype] * count
    return results


def _default(definition: OpDef, name: str) -> Any:
    result = definition.attrs.get(name)
    return result.default if result is not None and result.has_default else None


def output_dtypes(node: Node) -> Sequence[DType]:
    """The dtypes of a node's outputs; none where its attributes make no sense."""
    try:
        return [dtype for dtype in node.output_dtypes if isinstance(dtype, DType)]
    except Exception:
        return []


def draw_attrs(random: Random, definition: OpDef) -> dict[str, Any]:
    """Values for the attributes: of the types of one kernel, near the defaults, and now and then nonsense."""
    rows = kernel_types.alternatives(definition.name)
    row = random.choice(rows) if rows and chance(random, 0.9) else {}
    attrs: dict[str, Any] = {}
    for name, attr in definition.attrs.items():
        if chance(random, 0.01):
            attrs[name] = draw_nonsense(random)
        elif name in row and attr.type == "type":
            attrs[name] = random.choice(sorted(row[name], key=lambda dtype: dtype.number))
        elif (not attr.has_default or chance(random, 0.4)) and chance(random, 0.99):
            attrs[name] = draw_attr(random, attr)
    return attrs


def draw_attr(random: Random, attr: AttrDef) -> Any:
    """A value of the attribute's type, within its bounds more often than not."""
    if attr.type.startswith("list("):
        low = attr.minimum or 0
        length = low + random.choice((0, 1, 2, 2, 3, 4)) if chance(random, 0.95) else 0
        if isinstance(attr.default, list) and chance(random, 0.4):
            length = len(attr.default)
        return [_draw_one(random, attr.type[5:-1], attr.allowed, None) for _ in range(length)]
    return _draw_one(random, attr.type, attr.allowed, attr.minimum)


def _draw_one(random: Random, type_: str, allowed: Sequence[Any] | None, minimum: int | None) -> Any:
    if allowed and chance(random, 0.97):
        return random.choice(allowed)
    if type_ == "int":
        if chance(random, 0.9):
            return random.randint(minimum if minimum is not None else -1, max(minimum or 0, 0) + 4)
        return random.choice(INTEGERS)
    return _DRAWS[type_](random)


def draw_nonsense(random: Random) -> Any:
    """An attribute value of any kind."""
    kind = random.choice(tuple(_DRAWS))
    value = _DRAWS[kind](random)
    return [value] * random.randint(0, 3) if chance(random, 0.3) else value


def _draw_shape_attr(random: Random) -> Shape:
    if chance(random, 0.15):
        return Shape()
    if chance(random, 0.03):
        return Shape([2**31, 2**31])
    return Shape(None if chance(random, 0.15) else size for size in draw_shape(random))


_DRAWS: dict[str, Any] = {
    "int": lambda random: random.choice(INTEGERS),
    "float": lambda random: random.choice(FLOATS),
    "bool": lambda random: chance(random, 0.5),
    "string": lambda random: random.choice(STRINGS),
    "type": lambda random: random.choice(DTYPES),
    "shape": _draw_shape_attr,
    "func": lambda random: FuncRef("missing"),
    "tensor": lambda random: _draw_tensor(random),
}


def _draw_tensor(random: Random) -> Tensor:
    dtype = random.choice([d for d in DTYPES if d not in (dtypes.resource, dtypes.variant)])
    return Tensor.from_numpy(draw_array(random, dtype, draw_shape(random)), dtype)


def draw_shape(random: Random) -> tuple[int, ...]:
    rank = random.choice((0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6))
    return tuple(random.choice(SIZES if rank < 5 else SIZES[:6]) for _ in range(rank))


def extreme(random: Random, dtype: DType) -> Any:
    """One element of the dtype, of those that are often forgotten."""
    if dtype is dtypes.string:
        return random.choice(STRINGS)
    values = INTEGERS if dtype.is_integer or dtype.is_quantized else FLOATS
    with np.errstate(all="ignore"):
        return np.array([random.choice(values)]).astype(np.int64 if values is INTEGERS else float).astype(dtype.numpy)[0]


def draw_array(random: Random, dtype: DType, shape: tuple[int, ...]) -> np.ndarray:
    """Small values of the dtype, sometimes with extreme ones among them."""
    rng = np.random.default_rng(random.getrandbits(32))
    size = int(np.prod(shape))
    if dtype is dtypes.string:
        return as_bytes_array([random.choice(STRINGS) for _ in range(size)]).reshape(shape)
    if dtype.name == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    is_extreme = chance(random, 0.15)
    if dtype.is_integer or dtype.is_quantized:
        values = np.asarray(rng.integers(*random.choice(((0, 2), (0, 4), (-2, 4), (1, 5))), shape))
        if is_extreme and size:
            values = np.where(rng.random(shape) < 0.3, rng.choice(np.array(INTEGERS, np.int64), shape), values)
        if dtype.is_unsigned:
            values = np.abs(values)
        return values.astype(dtype.numpy)
    values = np.asarray(rng.standard_normal(shape) if chance(random, 0.7) else rng.integers(-3, 4, shape)).astype(float)
    if is_extreme and size:
        values = np.where(rng.random(shape) < 0.3, rng.choice(np.array(FLOATS), shape), values)
    with np.errstate(all="ignore"):
        return values.astype(dtype.numpy)
