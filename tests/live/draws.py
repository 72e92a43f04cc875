"""What the differential suite draws: for each op a strategy of (inputs, attributes), or of cases of several nodes.

Numbers are multiples of 1/4, mostly, so that sums do not depend on their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from tests.opcases import Case, graph_case
from tfg.core.building.builder import GraphBuilder
from tfg.core.types import dtypes

Draw = Callable[[Any], Any]
FLOATS = ("half", "bfloat16", "float", "double")
INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
COMPLEX = ("complex64", "complex128")
REALS = FLOATS + INTS
NUMBERS = REALS + COMPLEX
ANY = (*NUMBERS, "bool", "string")
SPECIAL = (0.0, -0.0, np.nan, np.inf, -np.inf, 1.0)


@st.composite
def shapes(draw: Draw, low: int = 0, high: int = 3, largest: int = 4) -> tuple[int, ...]:
    """Sizes, now and then one of zero."""
    sizes = draw(st.lists(st.integers(1, largest), min_size=low, max_size=high))
    if sizes and draw(st.integers(0, 9)) == 0:
        sizes[draw(st.integers(0, len(sizes) - 1))] = 0
    return tuple(sizes)


@st.composite
def arrays(draw: Draw, dtype: str, shape: Sequence[int], special: bool = False, low: int = -8, high: int = 8) -> np.ndarray:
    """An array of a dtype; `special`: with NaN, infinities and zeros among floating-point numbers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if dtype == "string":
        words = np.empty(shape, object)
        words.ravel()[:] = [bytes(rng.integers(97, 100, rng.integers(0, 3)).tolist()) for _ in range(words.size)]
        return words
    if dtype == "bool":
        return rng.integers(0, 2, shape) == 1
    kind = dtypes.from_name(dtype).numpy
    if dtype in INTS:
        return rng.integers(0 if dtype.startswith("u") else low, high + 1, shape).astype(kind)
    values = rng.integers(4 * low, 4 * high + 1, shape) / 4
    if special and draw(st.booleans()):
        values = np.where(rng.random(shape) < 0.3, rng.choice(SPECIAL, shape), values)
    if dtype in COMPLEX:
        return (values + 1j * rng.integers(-8, 9, shape) / 4).astype(kind)
    return np.asarray(values).astype(kind)


def i32(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


@st.composite
def unary(draw: Draw, names: Sequence[str] = FLOATS, special: bool = True) -> Any:
    return [draw(arrays(draw(st.sampled_from(names)), draw(shapes()), special))], {}


@st.composite
def binary(draw: Draw, names: Sequence[str] = REALS, special: bool = True) -> Any:
    """Two arrays whose shapes broadcast, most of the time."""
    dtype, shape = draw(st.sampled_from(names)), draw(shapes())
    other = tuple(1 if draw(st.integers(0, 4)) == 0 else n for n in shape)[draw(st.integers(0, len(shape))) :]
    if draw(st.integers(0, 19)) == 0:
        other = draw(shapes())
    pair = [shape, other] if draw(st.booleans()) else [other, shape]
    return [draw(arrays(dtype, s, special)) for s in pair], {}


@st.composite
def reduction(draw: Draw, names: Sequence[str] = NUMBERS) -> Any:
    """A reduction over some axes, negative ones and empty lists among them; small numbers, so that products stay exact."""
    shape = draw(shapes())
    rank = max(len(shape), 1)
    axes = draw(st.lists(st.integers(-len(shape), len(shape) - 1), unique_by=lambda a: a % rank)) if shape else []
    expected = np.array(axes, draw(st.sampled_from((np.int32, np.int64))))
    return [draw(arrays(draw(st.sampled_from(names)), shape, low=-2, high=2)), expected], {"keep_dims": draw(st.booleans())}


@st.composite
def arg_reduction(draw: Draw) -> Any:
    shape = draw(shapes(1))
    axis = draw(st.integers(-len(shape) - 1, len(shape)))
    attrs = {"output_type": draw(st.sampled_from(("int32", "int64")))}
    return [draw(arrays(draw(st.sampled_from(REALS)), shape)), np.int32(axis)], attrs


@st.composite
def scan(draw: Draw) -> Any:
    shape = draw(shapes(1))
    attrs = {"exclusive": draw(st.booleans()), "reverse": draw(st.booleans())}
    x = draw(arrays(draw(st.sampled_from(NUMBERS)), shape, low=-2, high=2))
    return [x, np.int32(draw(st.integers(-len(shape), len(shape) - 1)))], attrs


@st.composite
def along_axes(draw: Draw) -> Any:
    """An array and a permutation of its axes, some negative."""
    shape = draw(shapes())
    axes = draw(st.permutations(range(len(shape))))
    return [draw(arrays(draw(st.sampled_from(ANY)), shape)), np.array(axes, np.int32)], {}


@st.composite
def reverse(draw: Draw) -> Any:
    shape = draw(shapes())
    axes = draw(st.lists(st.integers(-len(shape), len(shape) - 1), unique=True)) if shape else []
    return [draw(arrays(draw(st.sampled_from(ANY)), shape)), np.array(axes, np.int32)], {}


@st.composite
def reshape(draw: Draw) -> Any:
    shape = draw(shapes())
    target = [int(np.prod(shape)), *draw(st.lists(st.just(1), max_size=2))]
    target[0] = draw(st.sampled_from((target[0], -1, target[0] + 1)))
    return [draw(arrays(draw(st.sampled_from(ANY)), shape)), np.array(draw(st.permutations(target)), np.int32)], {}


@st.composite
def expand(draw: Draw) -> Any:
    shape = draw(shapes())
    axis = draw(st.integers(-len(shape) - 2, len(shape) + 1))
    return [draw(arrays(draw(st.sampled_from(ANY)), shape)), np.int32(axis)], {}


@st.composite
def squeeze(draw: Draw) -> Any:
    shape = tuple(draw(st.lists(st.sampled_from((1, 1, 2)), max_size=4)))
    axes = draw(st.lists(st.integers(-len(shape), len(shape) - 1), max_size=2)) if shape else []
    return [draw(arrays(draw(st.sampled_from(ANY)), shape))], {"squeeze_dims": axes}


@st.composite
def pads(draw: Draw, value: bool = False) -> Any:
    shape, dtype = draw(shapes()), draw(st.sampled_from(NUMBERS))
    margins = draw(arrays("int32", (len(shape), 2), low=0, high=2))
    return [draw(arrays(dtype, shape)), margins, *([draw(arrays(dtype, ()))] if value else [])], {}


@st.composite
def mirror(draw: Draw) -> Any:
    shape = draw(shapes(1))
    margins = draw(arrays("int32", (len(shape), 2), low=0, high=2))
    attrs = {"mode": draw(st.sampled_from(("REFLECT", "SYMMETRIC")))}
    return [draw(arrays(draw(st.sampled_from(REALS)), shape)), margins], attrs


@st.composite
def tiles(draw: Draw) -> Any:
    shape = draw(shapes(1))
    return [draw(arrays(draw(st.sampled_from(NUMBERS)), shape)), draw(arrays("int32", (len(shape),), low=0, high=3))], {}


@st.composite
def roll(draw: Draw) -> Any:
    shape = draw(shapes(1))
    count = draw(st.integers(1, 3))
    axes = np.array([draw(st.integers(-len(shape), len(shape) - 1)) for _ in range(count)], np.int32)
    return [draw(arrays(draw(st.sampled_from(NUMBERS)), shape)), draw(arrays("int32", (count,))), axes], {}


@st.composite
def concat(draw: Draw) -> Any:
    shape, dtype = draw(shapes(1)), draw(st.sampled_from(ANY))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    sizes = [[*shape] for _ in range(draw(st.integers(2, 3)))]
    for size in sizes:
        size[axis] = draw(st.integers(0, 3))
    return [[draw(arrays(dtype, size)) for size in sizes], np.int32(axis)], {}


@st.composite
def pack(draw: Draw) -> Any:
    shape, dtype = draw(shapes()), draw(st.sampled_from(ANY))
    axis = draw(st.integers(-len(shape) - 2, len(shape) + 1))
    return [[draw(arrays(dtype, shape)) for _ in range(draw(st.integers(1, 3)))]], {"axis": axis}


@st.composite
def split(draw: Draw) -> Any:
    shape = draw(shapes(1))
    count = draw(st.integers(1, 4))
    axis = np.int32(draw(st.integers(-len(shape), len(shape) - 1)))
    return [axis, draw(arrays(draw(st.sampled_from(ANY)), shape))], {"num_split": count}


@st.composite
def slices(draw: Draw) -> Any:
    shape = draw(shapes())
    begin = [draw(st.integers(0, n)) for n in shape]
    size = [draw(st.integers(-1, n - b)) for n, b in zip(shape, begin)]
    return [draw(arrays(draw(st.sampled_from(ANY)), shape)), np.array(begin, np.int32), np.array(size, np.int32)], {}


@st.composite
def strided(draw: Draw) -> Any:
    shape = draw(shapes(1))
    count = draw(st.integers(0, len(shape)))
    begin, end = draw(arrays("int32", (count,), low=-5, high=5)), draw(arrays("int32", (count,), low=-5, high=5))
    strides = np.array([draw(st.sampled_from((1, 2, -1, -2))) for _ in range(count)], np.int32)
    masks = {name: draw(st.integers(0, 2**count - 1)) for name in ("begin_mask", "end_mask", "new_axis_mask")}
    masks["ellipsis_mask"] = 1 << draw(st.integers(0, count - 1)) if count and draw(st.integers(0, 3)) == 0 else 0
    masks["shrink_axis_mask"] = draw(st.integers(0, 2**count - 1)) if draw(st.integers(0, 2)) == 0 else 0
    return [draw(arrays(draw(st.sampled_from(ANY)), shape)), begin, end, strides], masks


@st.composite
def gather(draw: Draw) -> Any:
    shape = draw(shapes(1))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    places = draw(arrays("int32", draw(shapes(high=2)), low=0, high=max(shape[axis] - 1, 0)))
    return [draw(arrays(draw(st.sampled_from(ANY)), shape)), places, np.int32(axis)], {}


@st.composite
def gather_nd(draw: Draw) -> Any:
    shape = draw(shapes(1))
    indices = draw(arrays("int32", (*draw(shapes(high=2)), draw(st.integers(0, len(shape)))), low=0, high=2))
    return [draw(arrays(draw(st.sampled_from(ANY)), shape)), indices], {}


@st.composite
def scatter(draw: Draw, names: Sequence[str] = NUMBERS, into: bool = True) -> Any:
    """Indices and updates that go into an array, or (first indices, last the shape) into a new one; the places differ."""
    shape, dtype = draw(shapes(1, 2)), draw(st.sampled_from(names))
    places = draw(st.permutations(range(shape[0])))[: draw(st.integers(0, shape[0]))]
    indices = np.array(places, np.int32).reshape(-1, 1)
    updates = draw(arrays(dtype, (len(places), *shape[1:])))
    return ([draw(arrays(dtype, shape)), indices, updates] if into else [indices, updates, np.array(shape, np.int32)]), {}


@st.composite
def one_hot(draw: Draw) -> Any:
    dtype, shape = draw(st.sampled_from(REALS)), draw(shapes(high=2))
    indices = draw(arrays(draw(st.sampled_from(("int32", "int64", "uint8"))), shape, low=-1, high=4))
    inputs = [indices, np.int32(draw(st.integers(0, 4))), draw(arrays(dtype, ())), draw(arrays(dtype, ()))]
    return inputs, {"axis": draw(st.integers(-1, len(shape)))}


@st.composite
def top_k(draw: Draw) -> Any:
    shape = draw(shapes(1))
    return [draw(arrays(draw(st.sampled_from(REALS)), shape)), np.int32(draw(st.integers(0, shape[-1])))], {}


@st.composite
def segments(draw: Draw, sorted_: bool = True, names: Sequence[str] = REALS) -> Any:
    shape = draw(shapes(1))
    ids = draw(arrays(draw(st.sampled_from(("int32", "int64"))), (shape[0],), low=0 if sorted_ else -1, high=3))
    data = draw(arrays(draw(st.sampled_from(names)), shape, low=-2, high=2))
    return ([data, np.sort(ids)] if sorted_ else [data, ids, np.int32(4)]), {}


@st.composite
def windows(draw: Draw, op: str) -> Any:
    """Images and what slides over them; the window fits."""
    dtype = draw(st.sampled_from(("float", "double", "half")))
    batch, rows, columns, depth = (draw(st.integers(1, n)) for n in (2, 6, 6, 3))
    height, width = draw(st.integers(1, rows)), draw(st.integers(1, columns))
    step = draw(st.integers(1, 3))
    attrs: dict[str, Any] = {"strides": [1, step, step, 1], "padding": draw(st.sampled_from(("SAME", "VALID")))}
    images = draw(arrays(dtype, (batch, rows, columns, depth), low=-2, high=2))
    if op in ("MaxPool", "AvgPool"):
        return [images], {**attrs, "ksize": [1, height, width, 1]}
    return [images, draw(arrays(dtype, (height, width, depth, draw(st.integers(1, 3))), low=-2, high=2))], attrs


@st.composite
def products(draw: Draw, adjoint: bool = False) -> Any:
    m, k, n = (draw(st.integers(0, 4)) for _ in range(3))
    first, second = draw(st.booleans()), draw(st.booleans())
    batch = draw(shapes(high=2)) if adjoint else ()
    a, b = (k, m) if first else (m, k), (n, k) if second else (k, n)
    dtype = draw(st.sampled_from(("half", "bfloat16", "float", "double", "int32", "int64", "complex64", "complex128")))
    names = ("adj_x", "adj_y") if adjoint else ("transpose_a", "transpose_b")
    pair = [(*batch, *a), (*batch[draw(st.integers(0, len(batch))) :], *b)]
    return [draw(arrays(dtype, shape, low=-3, high=3)) for shape in pair], dict(zip(names, (first, second)))


@st.composite
def regular_matrix(draw: Draw, definite: bool = False, rhs: bool = False) -> Any:
    """Matrices far from singular."""
    dtype = draw(st.sampled_from(("float", "double", "complex64", "complex128")))
    batch, n = draw(shapes(high=1)), draw(st.integers(1, 4))
    matrix = draw(arrays(dtype, (*batch, n, n), low=-1, high=1))
    if definite:
        matrix = matrix + np.conj(np.swapaxes(matrix, -1, -2))
    matrix = (matrix + 12 * np.eye(n)).astype(matrix.dtype)
    return [matrix, *([draw(arrays(dtype, (*batch, n, 2)))] if rhs else [])], {}


@st.composite
def rows(draw: Draw) -> Any:
    """No bfloat16: TensorFlow rounds after every step of a softmax, tfg once."""
    return [draw(arrays(draw(st.sampled_from(("half", "float", "double"))), draw(shapes(1))))], {}


@st.composite
def casts(draw: Draw) -> Any:
    """Between numbers that both dtypes hold."""
    source, target = draw(st.sampled_from((*NUMBERS, "bool"))), draw(st.sampled_from((*NUMBERS, "bool")))
    return [draw(arrays(source, draw(shapes()), low=0, high=8))], {"DstT": target, "Truncate": draw(st.booleans())}


@st.composite
def select(draw: Draw) -> Any:
    (a, b), _ = draw(binary(ANY))
    return [draw(arrays("bool", draw(st.sampled_from((a.shape, b.shape, ()))))), a, b], {}


@st.composite
def clip(draw: Draw) -> Any:
    dtype = draw(st.sampled_from(REALS))
    return [draw(arrays(dtype, draw(shapes()))), draw(arrays(dtype, (), high=0)), draw(arrays(dtype, (), low=0))], {}


@st.composite
def add_n(draw: Draw) -> Any:
    shape, dtype = draw(shapes()), draw(st.sampled_from(NUMBERS))
    return [[draw(arrays(dtype, shape)) for _ in range(draw(st.integers(1, 4)))]], {}


@st.composite
def bias(draw: Draw) -> Any:
    shape, dtype = draw(shapes(2)), draw(st.sampled_from(NUMBERS))
    return [draw(arrays(dtype, shape)), draw(arrays(dtype, (shape[-1],)))], {}


@st.composite
def broadcast_to(draw: Draw) -> Any:
    (a, b), _ = draw(binary(ANY))
    return [a, np.array(b.shape, np.int32)], {}


@st.composite
def band(draw: Draw) -> Any:
    shape = draw(shapes(2))
    lower, upper = (np.int64(draw(st.integers(-1, n))) for n in shape[-2:])
    return [draw(arrays(draw(st.sampled_from(NUMBERS)), shape)), lower, upper], {}


@st.composite
def einsum(draw: Draw) -> Any:
    sizes = {label: draw(st.integers(1, 3)) for label in "abcd"}
    dtype = draw(st.sampled_from(("float", "double", "complex64")))
    left, right = (draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True)) for _ in range(2))
    result = draw(st.permutations(sorted({*left, *right})))[: draw(st.integers(0, 4))]
    equation = f"{''.join(left)},{''.join(right)}->{''.join(result)}"
    operands = [draw(arrays(dtype, [sizes[label] for label in labels], low=-3, high=3)) for labels in (left, right)]
    return [operands], {"equation": equation}


@st.composite
def blocks(draw: Draw) -> Any:
    size = draw(st.integers(2, 3))
    n, h, w, c = (draw(st.integers(1, 2)) for _ in range(4))
    return [draw(arrays(draw(st.sampled_from(NUMBERS)), (n, h * size, w * size, c * size * size)))], {"block_size": size}


@st.composite
def inplace(draw: Draw) -> Any:
    """Rows of an array and what they get; rows repeat, and some are outside."""
    shape, dtype = draw(shapes(1, 3)), draw(st.sampled_from(ANY))
    places = draw(st.lists(st.integers(-2, shape[0] + 1), max_size=4))
    return [draw(arrays(dtype, shape)), np.array(places, np.int32), draw(arrays(dtype, (len(places), *shape[1:])))], {}


@st.composite
def ragged_count(draw: Draw) -> Any:
    """Ragged rows of numbers to count, now and then with weights, none at all, or splits that do not fit."""
    sizes = draw(st.lists(st.integers(0, 3), max_size=4))
    splits = np.cumsum([0, *sizes], dtype=np.int64)
    if draw(st.integers(0, 9)) == 0:
        splits = splits[: draw(st.integers(0, len(splits)))] + draw(st.integers(0, 1))
    count = sum(sizes)
    values = draw(arrays(draw(st.sampled_from(("int32", "int64"))), (count,), low=-1 if draw(st.integers(0, 9)) == 0 else 0))
    weights = draw(arrays(draw(st.sampled_from(("int32", "int64", "float", "double"))), (draw(st.sampled_from((0, count))),)))
    low, high = draw(st.integers(-1, 4)), draw(st.integers(-1, 6))
    return [splits, values, weights], {"minlength": low, "maxlength": high, "binary_output": draw(st.booleans())}


@st.composite
def formatted(draw: Draw) -> Any:
    """Arrays of any dtype, special values among them, in a template with as many places or not."""
    values = [draw(arrays(draw(st.sampled_from(ANY)), draw(shapes()), True)) for _ in range(draw(st.integers(0, 3)))]
    places = len(values) if draw(st.integers(0, 9)) else 1
    attrs = {"template": " ".join(["%s"] * places), "placeholder": "%s", "summarize": draw(st.integers(-1, 3))}
    return [values], attrs


@st.composite
def ctc(draw: Draw) -> Any:
    """Logits and labels, some of them longer than their sequences, repeated, or to be collapsed."""
    time, batch, classes = draw(st.integers(1, 6)), draw(st.integers(1, 3)), draw(st.integers(2, 5))
    labels = draw(st.lists(st.lists(st.integers(0, classes - 2), max_size=4), min_size=batch, max_size=batch))
    places = [(row, column) for row, result in enumerate(labels) for column in range(len(result))]
    lengths = draw(st.lists(st.integers(1, time), min_size=batch, max_size=batch))
    names = ("preprocess_collapse_repeated", "ctc_merge_repeated", "ignore_longer_outputs_than_inputs")
    indices, values = np.array(places, np.int64).reshape(-1, 2), i32(*(label for result in labels for label in result))
    attrs = {name: draw(st.booleans()) for name in names}
    return [draw(arrays("float", (time, batch, classes))), indices, values, i32(*lengths)], attrs


@st.composite
def back_through_windows(draw: Draw, by_filter: bool) -> Any:
    """What a convolution's gradient by its filter or its input is made of, now and then none that fits.

    Nothing is empty: there TensorFlow answers with what its memory held before.
    """
    batch, rows, columns, depth, count, height, width = (draw(st.integers(1, 3)) for _ in range(7))
    step = draw(st.integers(1, 2))
    padding = draw(st.sampled_from(("SAME", "VALID")))
    out = [n if padding == "SAME" else n - k + 1 for n, k in ((rows, height), (columns, width))]
    grad = [batch, *(max(-(-n // step), 0) for n in out), depth * count]
    if draw(st.integers(0, 4)) == 0:
        grad[draw(st.integers(0, 3))] += 1
    sizes = ((batch, rows, columns, depth), (height, width, depth, count))
    assume(0 not in grad)
    dtype = draw(st.sampled_from(("float", "double", "half")))
    given = draw(arrays(dtype, sizes[0 if by_filter else 1], low=-2, high=2))
    asked = i32(*sizes[1 if by_filter else 0])
    inputs = [given, asked] if by_filter else [asked, given]
    return [*inputs, draw(arrays(dtype, grad, low=-2, high=2))], {"strides": [1, step, step, 1], "padding": padding}


@st.composite
def unbatched(draw: Draw) -> Any:
    """One gradient that is the whole batch; the batch, its index or both may be empty.

    Of other indices, and of a scalar gradient, TensorFlow dies.
    """
    number = draw(st.integers(0, 3))
    index = np.array(draw(st.sampled_from(([[number, 0, 2]], [], np.zeros((0, 3))))), np.int64)
    dtype = draw(st.sampled_from(("float", "int32", "string", "bool")))
    batch, grad = (draw(arrays(dtype, draw(shapes(low, 2)))) for low in (0, 1))
    return [batch, index, grad, np.array(number, np.int64)], {}


@st.composite
def written_rows(draw: Draw, op: str) -> Case:
    """A variable and what is written into some of its rows, which may repeat or lie outside."""
    dtype, shape, by_coordinates = draw(st.sampled_from(ANY)), draw(shapes(1, 3)), "Nd" in op
    places = draw(st.lists(st.integers(-1 if draw(st.integers(0, 4)) == 0 else 0, max(shape[0] - 1, 0)), max_size=4))
    indices = np.array(places, np.int32).reshape((-1, 1) if by_coordinates else (-1,))
    start, updates = draw(arrays(dtype, shape)), draw(arrays(dtype, (len(places), *shape[1:])))

    def build(g: GraphBuilder) -> list[list[str]]:
        feeds = (("start", start), ("indices", indices), ("updates", updates))
        given, at, expected = (g.Placeholder(dtype=dtypes.from_numpy(v.dtype), shape=v.shape, name=name) for name, v in feeds)
        if op.startswith("Resource"):
            target = g.VarHandleOp(dtype=given.dtype, shape=shape)
            ready = g.AssignVariableOp(target, given, dtype=given.dtype)
        else:
            target = g.VariableV2(dtype=given.dtype, shape=shape)
            ready = g.Assign(target, given).node
        with g.control_dependencies([ready]):
            written = g.add(op, [target, at, expected], {"dtype": given.dtype} if op.startswith("ResourceScatter") else {})
        with g.control_dependencies([written]):
            read = g.ReadVariableOp(target, dtype=given.dtype) if op.startswith("Resource") else g.Identity(target)
        return [[read.name]]

    return graph_case(op, op, build, start=start, indices=indices, updates=updates)


@st.composite
def maps(draw: Draw) -> Case:
    """Entries put into a map and taken out, and one that is looked up; keys and values are of one dtype, most of the time."""
    shape = draw(st.sampled_from(((), (2,))))
    key_dtype, value_dtype = draw(st.sampled_from(("int32", "int64", "float", "string", "bool"))), draw(st.sampled_from(ANY))
    count = draw(st.integers(0, 4))
    keys = [draw(arrays(key_dtype, shape, low=0, high=2)) for _ in range(count + 1)]
    values = [draw(arrays(value_dtype, draw(shapes(high=1)))) for _ in range(count)]
    erased = [draw(st.integers(0, 3)) == 0 for _ in range(count)]
    is_looked_up = draw(st.booleans())
    asked = draw(st.sampled_from((value_dtype, value_dtype, value_dtype, "float")))

    def build(g: GraphBuilder) -> list[list[str]]:
        held = g.EmptyTensorMap()
        *entered, expected = (g.constant(key, key_dtype) for key in keys)
        for key, value, is_erased in zip(entered, values, erased):
            held = g.TensorMapInsert(held, key, g.constant(value, value_dtype))
            if is_erased:
                held = g.TensorMapErase(held, key, value_dtype=value_dtype)
        has_key = g.TensorMapHasKey(held, expected)
        nodes = [g.TensorMapSize(held), has_key]
        if is_looked_up:
            nodes.append(g.TensorMapLookup(held, expected, value_dtype=asked))
        return [[value.name for value in nodes]]

    return graph_case("TensorMap", "TensorMapLookup", build)


def rows_of(names: str, strategy: Any) -> dict[str, Any]:
    return dict.fromkeys(names.split(), strategy)


SCATTERS = """ScatterUpdate ScatterAdd ScatterMin ScatterNdUpdate ScatterNdAdd ResourceScatterUpdate ResourceScatterAdd
ResourceScatterSub ResourceScatterMul ResourceScatterDiv ResourceScatterMin ResourceScatterMax ResourceScatterNdUpdate
ResourceScatterNdAdd ResourceScatterNdSub ResourceScatterNdMax"""

OPS: dict[str, Any] = {
    **rows_of("Sqrt Rsqrt Exp Expm1 Log Log1p Sigmoid", unary(FLOATS + COMPLEX, False)),
    **rows_of("Sin Cos Tan Tanh Sinh Cosh Asinh Acosh Atanh", unary(FLOATS + COMPLEX, False)),
    **rows_of("Erf", unary(special=False)),
    **rows_of("Softplus Softsign Elu Selu Erfc Lgamma Floor Ceil Rint Asin Acos Atan IsNan IsInf IsFinite", unary()),
    **rows_of("Relu Relu6", unary(REALS)),
    **rows_of("Abs", unary(REALS)),
    **rows_of("Neg Square Sign Reciprocal", unary(NUMBERS, False)),
    **rows_of("Round", unary(REALS, False)),
    **rows_of("Invert", unary(INTS)),
    **rows_of("Conj Real Imag Angle", unary(("complex64",), False)),
    **rows_of("LogicalNot", unary(("bool",))),
    **rows_of("Add AddV2 Sub Mul SquaredDifference Equal NotEqual DivNoNan MulNoNan", binary(NUMBERS, False)),
    **rows_of("Maximum Minimum Less LessEqual Greater GreaterEqual FloorDiv FloorMod", binary()),
    **rows_of("TruncateDiv TruncateMod Mod", binary(REALS, False)),
    **rows_of("RealDiv Div Xdivy Xlogy Xlog1py", binary(FLOATS + COMPLEX, False)),
    **rows_of("Pow Atan2 NextAfter", binary(FLOATS)),
    **rows_of("LogicalAnd LogicalOr", binary(("bool",))),
    **rows_of("BitwiseAnd BitwiseOr BitwiseXor", binary(INTS)),
    **rows_of("Sum Prod Mean EuclideanNorm", reduction()),
    **rows_of("Max Min", reduction(REALS)),
    **rows_of("All Any", reduction(("bool",))),
    **rows_of("ArgMax ArgMin", arg_reduction()),
    **rows_of("Cumsum Cumprod", scan()),
    **rows_of("Softmax LogSoftmax", rows()),
    **rows_of("Shape Size Rank ZerosLike OnesLike Identity", unary(ANY)),
    **rows_of("SpaceToDepth DepthToSpace", blocks()),
    **rows_of("SegmentSum SegmentMean SegmentProd SegmentMin SegmentMax", segments()),
    **rows_of("UnsortedSegmentSum UnsortedSegmentProd UnsortedSegmentMin UnsortedSegmentMax", segments(False)),
    **rows_of("TensorScatterUpdate TensorScatterAdd TensorScatterSub", scatter()),
    **rows_of("TensorScatterMin TensorScatterMax", scatter(REALS)),
    **rows_of("InplaceAdd InplaceSub InplaceUpdate", inplace()),
    **{op: written_rows(op) for op in SCATTERS.split()},
    **rows_of("DepthwiseConv2dNativeBackpropFilter", back_through_windows(True)),
    **rows_of("DepthwiseConv2dNativeBackpropInput", back_through_windows(False)),
    "UnbatchGrad": unbatched(), "TensorMapInsert": maps(),
    "RaggedCountSparseOutput": ragged_count(), "StringFormat": formatted(), "CTCLoss": ctc(),
    **{op: windows(op) for op in ("Conv2D", "DepthwiseConv2dNative", "MaxPool", "AvgPool")},
    **rows_of("MatrixInverse MatrixDeterminant LogMatrixDeterminant", regular_matrix()),
    "Cholesky": regular_matrix(definite=True), "MatrixSolve": regular_matrix(rhs=True), "MatMul": products(),
    "BatchMatMulV2": products(adjoint=True), "Einsum": einsum(), "MatrixBandPart": band(), "Transpose": along_axes(),
    "ReverseV2": reverse(), "Reshape": reshape(), "ExpandDims": expand(), "Squeeze": squeeze(), "Pad": pads(),
    "PadV2": pads(True),
    "MirrorPad": mirror(), "Tile": tiles(), "Roll": roll(), "ConcatV2": concat(), "Pack": pack(), "Split": split(),
    "Slice": slices(), "StridedSlice": strided(), "GatherV2": gather(), "GatherNd": gather_nd(),
    "ScatterNd": scatter(into=False), "OneHot": one_hot(), "TopKV2": top_k(), "Cast": casts(), "SelectV2": select(),
    "ClipByValue": clip(), "AddN": add_n(), "BiasAdd": bias(), "BroadcastTo": broadcast_to(),
}  # fmt: skip
