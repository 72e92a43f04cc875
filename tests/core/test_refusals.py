"""What an op is given that it cannot take: its run, its shape function and a fold refuse it with an error that names the node.

Inputs that TensorFlow's kernels refuse, or do not survive, and that recorded answers therefore lack.
"""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from tests.passes.rewriting import placeholder
from tfg import FileAccess, GraphBuilder, Session, count_flops, gradients, jacobian, optimize
from tfg.core import dtypes
from tfg.core.catalog import CATALOG
from tfg.core.datasets.batching import Unbatch
from tfg.core.datasets.sources import Generated
from tfg.core.errors import (
    DeadlineExceededError,
    InternalError,
    InvalidArgumentError,
    ResourceExhaustedError,
    TfgError,
    UnimplementedError,
)
from tfg.core.faults import faults_of
from tfg.core.graph import Output
from tfg.core.inference import infer
from tfg.core.numerics import png, sdca, wire
from tfg.core.numerics.sdca import LOSSES, _poisson_dual
from tfg.core.ops import _tensor_proto
from tfg.core.shapes import UNKNOWN

IMAGE, FILTER = np.ones((1, 4, 4, 2), np.float32), np.ones((1, 1, 2, 3), np.float32)
FUSED = {"strides": [1, 1, 1, 1], "padding": "SAME", "num_host_args": 0}
NORM = {"fused_ops": ["FusedBatchNorm"], "num_args": 4, "TArgs": ["float32"] * 4}
EMPTY, VECTOR = np.zeros(0, np.float32), np.ones(3, np.float32)
TEXT = np.array([b"NCHW"], object)

REFUSED = {
    "a norm of no channels": ("_FusedConv2D", [IMAGE, FILTER, [EMPTY] * 4, []], {**NORM, **FUSED}),
    "a norm by one of other channels": (
        "_FusedConv2D", [IMAGE, FILTER, [VECTOR, VECTOR[:2], VECTOR, VECTOR], []], {**NORM, **FUSED},
    ),
    "fewer arguments than fused ops": (
        "_FusedMatMul", [VECTOR[None].T, VECTOR[None], []], {"fused_ops": ["BiasAdd"], "num_args": 0},
    ),
    "paddings in a row": ("FusedPadConv2D", [IMAGE, np.int32([0]), FILTER], {"mode": "REFLECT", **FUSED}),
    "a scale that is no number": (
        "ScaleAndTranslate", [IMAGE, np.int32([2, 2]), np.float32([1, np.nan]), np.float32([0, 0])], {},
    ),
    "offsets beyond their dtype": (
        "ConcatOffset", [np.int32(1), [np.int32([2, 2**31 - 1]), np.int32([2, 4]), np.int32([2, 1])]], {},
    ),
    "rows without number": (
        "SparseTensorToCSRSparseMatrix", [np.int64([[0, 0, 0]]), np.ones(1), np.int64([2**63 - 1, 2, 3])], {},
    ),
    "windows that drop in a row": (
        "WindowDataset", ["RANGE", *[np.int64(1)] * 3, np.array([True, False])],
        {"output_types": ["variant"], "output_shapes": [[]]},
    ),
    "rows below zero": (
        "SparseFillEmptyRows", [np.zeros((0, 2), np.int64), np.zeros(0), np.int64([-1, 3]), np.float64(0)], {},
    ),
    "more copies than there are numbers": ("Tile", [np.zeros((2, 1)), np.int64([1, 2**63 - 1])], {}),
    "the beginning of a PNG file": ("DecodeImage", [np.array(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", object)], {}),
    "text as a shape": ("NonDeterministicInts", [TEXT], {}),
    "counts of more values than there are numbers": (
        "DenseCountSparseOutput", [np.zeros((2, 1), np.int64), EMPTY], {"maxlength": 2**63 - 1, "binary_output": True},
    ),
    "an empty tensor of sizes whose product no number holds": (
        "RandomStandardNormal", [np.int64([2, 2**63 - 1, 0])], {"dtype": "float32"},
    ),
    "splits whose differences wrap around": (
        "RaggedGather", [[np.int64([0, 2**63 - 1, -(2**63), 3])], np.ones(3), np.int64([0])],
        {"PARAMS_RAGGED_RANK": 1, "OUTPUT_RAGGED_RANK": 1},
    ),
    "gradients of one batch twice": (
        "UnbatchGrad", [np.ones(2), np.int64([[1, 0, 1], [1, 1, 2]]), np.ones(1), np.int64(1)], {},
    ),
    "a ratio that is no number": ("FractionalMaxPool", [IMAGE], {"pooling_ratio": [1.0, np.nan, 1.0, 1.0]}),
    "more reserved classes than a range has": (
        "FixedUnigramCandidateSampler", [np.int64([[0]])],
        {"num_true": 1, "num_sampled": 1, "unique": False, "range_max": 3, "unigrams": [1.0], "num_reserved_ids": 2**31 - 1},
    ),
    "a shard that is none": (
        "FixedUnigramCandidateSampler", [np.int64([[0]])],
        {"num_true": 1, "num_sampled": 1, "unique": False, "range_max": 4, "unigrams": [1.0], "num_reserved_ids": 5,
         "num_shards": 1, "shard": 1},
    ),
    "batch dimensions before the first": (
        "GatherV2", [VECTOR, np.int32([0]), np.int32(0)], {"batch_dims": -(2**63)},
    ),
    "text that is said to be numbers": (
        "_ListToArray", [[TEXT, TEXT]], {"Tin": ["string", "string"], "T": "float32", "N": 2},
    ),
    "sizes of pieces in no row": (
        "TensorListConcatV2", ["LIST", np.int32([-1]), np.int64(2)], {"element_dtype": "float32"},
    ),
    "arguments of a fused op that are no numbers of its dtype": (
        "_FusedConv2D", [IMAGE, FILTER, [np.array([b"a"] * 3, object)], []],
        {"fused_ops": ["BiasAdd"], "num_args": 1, "TArgs": ["string"], **FUSED},
    ),
    "fewer channels of sound than none": ("DecodeWav", [np.array(b"RIFF", object)], {"desired_channels": -2}),
    "counts of more places than there are numbers": (
        "DenseBincount", [np.zeros((3, 2), np.int64), np.int64(2**62), EMPTY], {},
    ),
    "a repetition of more digits than Python reads": (
        "RegexFullMatch", [np.array(b"a", object), np.array(b"a{%s}" % (b"1" * 5000), object)], {},
    ),
    "an integer of more digits than Python reads": ("StringToNumber", [np.array(b"1" * 5000, object)], {"out_type": "int64"}),
    "a clip of endlessly many samples a second": (
        "AudioSummaryV2", [np.array(b"a", object), np.ones((1, 2), np.float32), np.float32(np.inf)], {},
    ),
}  # fmt: skip


def _numbers(g, dtype="int64", end=3):
    zero, one = g.constant(np.int64(0)), g.constant(np.int64(1))
    return g.RangeDataset(zero, g.constant(np.int64(end)), one, output_types=[dtype], output_shapes=[[]])


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, is_known):
    op, inputs, attrs = REFUSED[case]
    g = GraphBuilder()
    feeds = {}

    def value(array):
        if isinstance(array, Output):
            return array
        if is_known:
            return g.constant(array)
        made = placeholder(g, f"x{len(feeds)}", None, array.dtype if array.dtype != object else "string")
        made.node.set_attr("shape", UNKNOWN)
        feeds[made.name] = array
        return made

    made = {"RANGE": lambda: _numbers(g), "LIST": lambda: g.TensorListReserve(np.int32([2]), 3, element_dtype="float32")}
    inputs = [made[item]() if isinstance(item, str) else item for item in inputs]
    given = [[value(one) for one in item] if isinstance(item, list) else value(item) for item in inputs]
    accepted = {name: attr for name, attr in attrs.items() if name in CATALOG[op].attrs}
    node = g.add(op, given, accepted, "op")
    infer(g.graph)
    optimize(g.graph, ["op:0"], list(feeds))
    with pytest.raises(InvalidArgumentError, match="'op'") as caught:
        Session(g.graph).run([node.output().name], feeds)
    assert not isinstance(caught.value, InternalError)


@pytest.mark.parametrize(
    ("op", "inputs", "attrs"),
    [
        ("GatherV2", [np.ones((1,) * 40), np.zeros((1,) * 40, np.int32), np.int32(0)], {}),
        ("Pack", [[np.ones((1,) * 64)] * 2], {}),
        ("StridedSlice", [np.ones((1,) * 60), *[np.zeros(31, np.int32)] * 2, np.ones(31, np.int32)], {"new_axis_mask": -1}),
        ("MatrixTriangularSolve", [np.ones((1,) * 40)] * 2, {}),
    ],
)
def test_more_dimensions_than_numpy_has(op, inputs, attrs):
    g = GraphBuilder()
    g.apply(op, *inputs, name="op", **attrs)
    with pytest.raises(UnimplementedError, match=r"'op'.*dimensions"):
        Session(g.graph).run("op:0")


@pytest.mark.parametrize("ksize", [[1, 2**40, 1, 1], [1, 2**31, 2**62, 1]])
@pytest.mark.parametrize("op", ["MaxPool", "AvgPool", "MaxPoolGrad", "AvgPoolGrad", "MaxPoolWithArgmax", "MaxPoolGradGrad"])
def test_a_window_larger_than_its_image_takes_no_longer(op, ksize):
    """As one that is just large enough to reach everything from everywhere."""
    image = np.random.default_rng(0).normal(size=(1, 4, 5, 2)).astype(np.float32)
    g = GraphBuilder()
    found = []
    for size in (ksize, [1, *(min(k, 12 + k % 2) for k in ksize[1:3]), 1]):
        attrs = {"ksize": size, "strides": [1, 2, 1, 1], "padding": "SAME"}
        pooled = g.MaxPool(image, **attrs)
        given = [np.int32(image.shape), pooled] if op == "AvgPoolGrad" else [image]
        given += [pooled, pooled] if op == "MaxPoolGrad" else [pooled, image] if op == "MaxPoolGradGrad" else []
        value = g.apply(op, *given, **attrs)
        found.append(Session(g.graph, max_memory=1 << 20).run((value[0] if isinstance(value, tuple) else value).name))
    np.testing.assert_allclose(*found, rtol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_centers_to_which_rounding_leaves_all_the_distance(seed):
    """Points that are centers already are drawn again and again, where others are no further than nothing from a center."""
    points = np.zeros((3, 257), np.float32)
    points[0] = np.random.default_rng(seed).normal(size=257) * 100
    g = GraphBuilder()
    g.KmeansPlusPlusInitialization(points, np.int64(3), np.int64(seed), np.int64(0), name="op")
    assert Session(g.graph, timeout=10).run("op:0").shape == (3, 257)


def test_a_class_without_weight_is_not_waited_for():
    g = GraphBuilder()
    attrs = {"num_true": 1, "num_sampled": 3, "unique": True, "range_max": 3, "unigrams": [1.0, 0.0, 1.0]}
    g.FixedUnigramCandidateSampler(np.int64([[0]]), name="op", **attrs)
    with pytest.raises(InvalidArgumentError, match=r"'op'.*2 classes"):
        Session(g.graph, timeout=10).run("op:0")


@pytest.mark.parametrize("colour", [1, 5, 255])
def test_a_colour_type_that_no_picture_has(colour):
    head = b"\0\0\0\1\0\0\0\1\x10%c\0\0\0" % colour
    g = GraphBuilder()
    g.DecodePng(np.array(png.SIGNATURE + b"\0\0\0\rIHDR" + head + b"\0" * 4, object), dtype="uint16", name="op")
    with pytest.raises(InvalidArgumentError, match="'op'") as caught:
        Session(g.graph).run("op:0")
    assert not isinstance(caught.value, InternalError)


@pytest.mark.parametrize("op", ["ScaleAndTranslate", "ScaleAndTranslateGrad"])
def test_an_image_made_smaller_than_any_number_says(op):
    """A scale of which the inverse is infinite leaves nothing."""
    g = GraphBuilder()
    scale = np.full(2, 1e-45, np.float32)
    given = [IMAGE, np.int32([4, 4])] if op == "ScaleAndTranslate" else [IMAGE, IMAGE]
    g.apply(op, *given, scale, np.zeros(2, np.float32), antialias=True, name="op")
    assert not Session(g.graph).run("op:0").any()


@pytest.mark.parametrize("spec", ["10 0,%s", "%s 0,2"])
def test_a_slice_of_more_digits_than_python_reads(spec, tmp_path):
    g = GraphBuilder()
    texts = [np.array([text.encode()], object) for text in ("a", spec % ("1" * 5000))]
    path = np.array(str(tmp_path / "a").encode(), object)
    g.SaveSlices(path, *texts, [g.constant(VECTOR)], name="op")
    with pytest.raises(InvalidArgumentError, match="'op'"):
        Session(g.graph, files=FileAccess.only(writable=[tmp_path])).run(["op"])


@pytest.mark.parametrize("op", ["BatchMatMulV2", "Einsum", "Cholesky", "MatrixInverse", "SelfAdjointEigV2", "Eig"])
def test_matrices_of_nothing_may_be_many(op):
    matrices = np.zeros((1 << 36, 0, 0))
    g = GraphBuilder()
    x = placeholder(g, "x", None, "float64")
    if op == "Einsum":
        g.Einsum([x, x], equation="bij,bjk->bik", name="op")
    else:
        g.apply(op, *[x] * (2 if op == "BatchMatMulV2" else 1), name="op", **({"Tout": "complex128"} if op == "Eig" else {}))
    assert not Session(g.graph, timeout=10).run("op:0", {"x:0": matrices}).size


@pytest.mark.parametrize("encoding", [b"undefined", b"idna", b"punycode", b"unicode_escape"])
def test_an_encoding_that_only_python_has(encoding):
    g = GraphBuilder()
    g.UnicodeTranscode(np.array(b"a\xff.\\x", object), input_encoding=encoding, output_encoding=b"UTF-8", name="op")
    with pytest.raises(InvalidArgumentError, match=r"'op'.*converter"):
        Session(g.graph).run("op:0")


def test_leading_zeros_of_an_integer():
    g = GraphBuilder()
    g.StringToNumber(np.array(b"-" + b"0" * 5000 + b"12", object), out_type="int32", name="op")
    assert Session(g.graph).run("op:0") == -12


def test_a_bad_index_of_no_dimension_is_no_bad_one():
    g = GraphBuilder()
    g.GatherNd(VECTOR, np.zeros((2, 0), np.int32), bad_indices_policy="IGNORE", name="op")
    np.testing.assert_array_equal(Session(g.graph).run("op:0"), [VECTOR, VECTOR])


def test_the_zero_of_a_number_of_four_bits_is_parsed():
    g = GraphBuilder()
    message = wire.varint_field(1, dtypes.as_dtype("int4").number) + wire.bytes_field(2, wire.bytes_field(2, b"\x08\x02"))
    g.ParseTensor(np.array(message, object), out_type="int4", name="op")
    assert Session(g.graph).run("op:0").astype(int).tolist() == [0, 0]


def test_lines_are_not_skipped_from_behind():
    g = GraphBuilder()
    g.TextLineReaderV2(skip_header_lines=-1, name="op")
    with pytest.raises(InvalidArgumentError, match="'op'"):
        Session(g.graph).run("op:0")


def test_empty_rows_are_padded_in_no_time():
    g = GraphBuilder()
    g.add("Batch", [[g.constant(np.ones((1, 0)))]], {
        "num_batch_threads": 1, "max_batch_size": 2**40, "allowed_batch_sizes": [2**40], "batch_timeout_micros": 0,
        "grad_timeout_micros": 0,
    }, "op")  # fmt: skip
    assert Session(g.graph).run("op:0").shape == (2**40, 0)


def test_a_size_below_zero_is_no_shape():
    g = GraphBuilder()
    op = g.KmeansPlusPlusInitialization(np.ones((8, 2), np.float32), np.int64(-3), np.int64(1), np.int64(1), name="op")
    found = infer(g.graph)
    assert found.shape(op).dims is None
    assert "-3" in found.reasons["op"]


def test_a_value_of_dimensions_beyond_its_dtype():
    g = GraphBuilder()
    size = g.Shape(placeholder(g, "x", [None]), out_type="int64")
    sizes = g.ConcatV2([size, g.constant(np.int64([2**62]))], np.int32(0))
    g.Mul(sizes, np.int64([0, 4]), name="op")
    assert "int64" in infer(g.graph).reasons["op"]


@pytest.mark.parametrize(
    ("keys", "values"), [([1, 1, 1, 1], [1, 2, 3, 4]), ([1, 2, 3, 4], [1, 2, 3]), ([1, 2, 3, 4], 0)]
)
def test_buckets_that_no_table_has(keys, values):
    g = GraphBuilder()
    empty, deleted = g.constant(np.int64(-1)), g.constant(np.int64(-2))
    table = g.MutableDenseHashTableV2(empty, deleted, value_dtype="int64", initial_num_buckets=4)
    g.LookupTableImportV2(table, np.int64(keys), np.int64(values), name="op")
    with pytest.raises(InvalidArgumentError, match="'op'") as caught:
        Session(g.graph).run(["op"])
    assert not isinstance(caught.value, InternalError)


def test_the_shapes_of_a_barrier_are_known():
    g = GraphBuilder()
    g.Barrier(component_types=["float32"], shapes=[], name="op")
    with pytest.raises(InvalidArgumentError, match=r"'op'.*specified"):
        Session(g.graph).run("op:0")


@pytest.mark.parametrize("maker", ["Stack", "TensorArray"])
@pytest.mark.parametrize("user", ["StackPop", "StackClose", "TensorArrayClose", "TensorArraySize"])
def test_a_name_that_leads_to_another_kind_of_resource(maker, user):
    """V1 handles are text: a container and a name, under which anything may be kept."""
    if user.startswith(maker):
        return
    g = GraphBuilder()
    handle = g.Stack(elem_type="float32") if maker == "Stack" else g.TensorArray(2, dtype="float32")
    attrs = {"elem_type": "float32"} if user == "StackPop" else {}
    node = g.add(user, [handle, *([0.0] if user == "TensorArraySize" else [])], attrs, "op")
    with pytest.raises(InvalidArgumentError, match=rf"'op'.*{maker}") as caught:
        Session(g.graph).run([node.name if user.endswith("Close") else "op:0"])
    assert not isinstance(caught.value, InternalError)


@pytest.mark.parametrize("op", ["Conv2DBackpropInput", "Conv2DBackpropFilter", "Conv2D"])
def test_an_image_without_channels(op):
    """Its gradient is empty, and that of a filter zero: there are no groups to divide filters among."""
    g = GraphBuilder()
    image, w, grad = np.ones((1, 4, 4, 0)), np.ones((1, 1, 2, 3)), np.ones((1, 2, 2, 3))
    given = {
        "Conv2DBackpropInput": (np.int32(image.shape), w, grad), "Conv2DBackpropFilter": (image, np.int32(w.shape), grad),
        "Conv2D": (image, w),
    }[op]  # fmt: skip
    value = g.apply(op, *given, strides=[1, 2, 2, 1], padding="VALID")
    assert not np.any(Session(g.graph).run([value.name])[0])


def test_the_gradient_of_a_filter_without_places_is_empty():
    g = GraphBuilder()
    image, sizes = np.ones((1, 4, 5, 6, 2)), np.int32([0, 1, 1, 2, 3])
    value = g.Conv3DBackpropFilterV2(image, sizes, np.ones((1, 5, 5, 6, 3)), strides=[1] * 5, padding="VALID")
    assert Session(g.graph).run([value.name])[0].shape == tuple(sizes)


def test_more_factors_than_an_equation_has_terms_have_no_gradient():
    g = GraphBuilder()
    x = placeholder(g, "x")
    y = g.Einsum([x, x, x], equation="i,i->", name="op")
    with pytest.raises(InvalidArgumentError, match=r"'op'.*2 inputs") as caught:
        gradients(g.graph, [y.name], [x.name])
    assert not isinstance(caught.value, InternalError)


def test_the_message_of_a_gradient_that_is_prevented_may_be_no_text():
    g = GraphBuilder()
    x = placeholder(g, "x")
    y = g.PreventGradient(x, message=b"\x89PNG")
    with pytest.raises(UnimplementedError, match="PNG"):
        gradients(g.graph, [y.name], [x.name])


@pytest.mark.parametrize("op", ["ZerosLike", "AddN"])
@pytest.mark.parametrize("where", ["alone", "in a list"])
def test_what_has_neither_sum_nor_zero(op, where):
    """A composite tensor in a variant has none in TensorFlow either; a list that holds one fails likewise."""
    g = GraphBuilder()
    value = g.CompositeTensorVariantFromComponents([g.constant(VECTOR)], metadata=b"")
    if where == "in a list":
        value = g.TensorListFromTensor(g.Pack([value]), g.constant(np.zeros(0, np.int32)), element_dtype="variant")
    found = g.ZerosLike(value, name="op") if op == "ZerosLike" else g.AddN([value, value], name="op")
    with pytest.raises(InvalidArgumentError, match=r"'op'.*CompositeTensor") as caught:
        Session(g.graph).run([found.name])
    assert not isinstance(caught.value, InternalError)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 1e30])
def test_an_image_moved_by_no_distance_is_empty(number):
    """TensorFlow's answer, zeros: no pixel of the input lies where that leads."""
    g = GraphBuilder()
    moved = g.ScaleAndTranslate(IMAGE, [3, 3], np.ones(2, np.float32), np.array([number, 0], np.float32))
    assert not np.any(Session(g.graph).run([moved.name])[0])


@pytest.mark.parametrize("dtype", ["int8", "uint64", "half", "bool", "string", "complex64"])
def test_numbers_of_a_dataset_are_cut_to_their_dtype(dtype):
    """As TensorFlow casts them; other dtypes than numbers are refused."""
    g = GraphBuilder()
    shifted = g.SkipDataset(_numbers(g, dtype, 2**40), g.constant(np.int64(258)), output_types=[dtype], output_shapes=[[]])
    first = g.TakeDataset(shifted, g.constant(np.int64(1)), output_types=[dtype], output_shapes=[[]])
    found = g.DatasetToSingleElement(first, output_types=[dtype], output_shapes=[[]])
    output = found[0] if isinstance(found, (list, tuple)) else found
    if dtype in ("bool", "string", "complex64"):
        with pytest.raises(InvalidArgumentError, match="Unsupported data type"):
            Session(g.graph).run([output.name])
        return
    assert Session(g.graph).run([output.name])[0] == np.array(258).astype(output.dtype.numpy)


def test_a_range_longer_than_64_bits():
    g = GraphBuilder()
    low, high = g.constant(np.int64(-(2**63))), g.constant(np.int64(2**63 - 1))
    numbers = g.RangeDataset(low, high, g.constant(np.int64(1)), output_types=["int64"], output_shapes=[[]])
    assert Session(g.graph).run([g.DatasetCardinality(numbers).name])[0] == -1


@pytest.mark.parametrize("op", ["FloorDiv", "FloorMod", "Mod", "TruncateMod", "Div", "TruncateDiv"])
def test_no_op_calls_a_division_by_zero_a_fault(op):
    g = GraphBuilder()
    node = g.apply(op, g.constant(np.int32([1, 2])), g.constant(np.int32([1, 0])))
    with pytest.raises(InvalidArgumentError, match="division by zero") as caught:
        Session(g.graph).run([node.name])
    assert not isinstance(caught.value, InternalError)


def test_a_histogram_of_an_endless_range():
    g = GraphBuilder()
    counts = g.HistogramFixedWidth(VECTOR, np.array([-np.inf, 1], np.float32), 3, name="op")
    assert Session(g.graph).run([counts.name])[0].sum() == 3


@pytest.mark.parametrize("state", [np.array([b"a/b.txt"] * 4, object), np.ones(4, np.float32)])
@pytest.mark.parametrize("op", ["StatefulStandardNormal", "StatefulStandardNormalV2"])
def test_a_generator_whose_state_is_no_number(op, state):
    g = GraphBuilder()
    dtype = "string" if state.dtype == object else "float32"
    variable = g.VarHandleOp(dtype=dtype, shape=[4], shared_name="state")
    assign = g.AssignVariableOp(variable, g.constant(state))
    shape = g.constant(np.int32([2]))
    with g.control_dependencies([assign]):
        made = g.apply(op, variable, *([g.constant(np.int64(1))] if op.endswith("V2") else []), shape)
    with pytest.raises(InvalidArgumentError, match="must be int64"):
        Session(g.graph).run([made.name])


@pytest.mark.parametrize("axis", [[], [0], [1], [[0]]])
def test_the_gradient_of_a_gather_along_no_axis(axis):
    """An axis that is no scalar leads to a refusal or a gradient, not to a fault."""
    g = GraphBuilder()
    x = placeholder(g, "x")
    axes = g.constant(np.array(axis, np.int32))
    attrs = {"Tparams": x.dtype, "Tindices": axes.dtype, "Taxis": axes.dtype}
    y = g.graph.add_node("op", "GatherV2", [x, g.constant(np.int32([0])), axes], (), attrs)
    with contextlib.suppress(InvalidArgumentError):
        gradients(g.graph, [y.output().name], [x.name])


def test_names_that_are_no_text():
    """Attributes hold bytes; what is named by them is found by them."""
    g = GraphBuilder()
    array = g.TensorArray(2, dtype="float32", tensor_array_name=b"\xff\xfe")
    size = g.TensorArraySize(array, 0.0)
    iterator = g.IteratorV2(shared_name=b"\xff", container=b"", output_types=["int64"], output_shapes=[[]])
    again = g.IteratorFromStringHandleV2(g.IteratorToStringHandle(iterator))
    start = g.MakeIterator(_numbers(g), again)
    text = g.PrintV2(g.constant(np.array(b"", object)), end=b"\xff", output_stream=b"stderr")
    session = Session(g.graph)
    assert session.run([size.name])[0] == 2
    session.run([start.name, text.name])


@pytest.mark.parametrize("options", [b"\x89PNG", b"\xff", b"\x08", b"\x08\x01", b"\x0a" + b"\xff" * 5, b"\x08" + b"\xff" * 11])
def test_options_that_are_no_message(options):
    """A number, or a refusal that names the node."""
    g = GraphBuilder()
    count = g.DatasetCardinality(_numbers(g), cardinality_options=options, name="op")
    try:
        assert Session(g.graph).run([count.name])[0] == 3
    except TfgError as error:
        assert not isinstance(error, InternalError)
        assert "'op'" in str(error)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_what_has_no_range_is_not_quantized(number):
    g = GraphBuilder()
    rhs = g.Bitcast(np.int8([[1]]), type="qint8")
    limits = {"rhs_quantization_min_val": -127, "rhs_quantization_max_val": 127}
    g.UniformQuantizedDotHybrid(np.float32([[number]]), rhs, np.float32(1), np.int32(0), Tout="float32", name="op", **limits)
    infer(g.graph)
    with pytest.raises(InvalidArgumentError, match=r"'op'.*finite") as caught:
        Session(g.graph).run(["op:0"])
    assert not isinstance(caught.value, InternalError)


def test_a_map_is_no_key():
    g = GraphBuilder()
    found = g.TensorMapHasKey(g.EmptyTensorMap(), g.EmptyTensorMap(), name="op")
    with pytest.raises(InvalidArgumentError, match=r"'op'.*key") as caught:
        Session(g.graph).run([found.name])
    assert not isinstance(caught.value, InternalError)


def test_a_sparse_tensor_of_more_places_than_there_are_numbers():
    g = GraphBuilder()
    g.SparseReshape(np.zeros((0, 2), np.int64), np.int64([2**62, 2**62]), np.int64([4, -1]), name="op")
    with pytest.raises(TfgError) as caught:
        infer(g.graph)
        Session(g.graph).run(["op:1"])
    assert not isinstance(caught.value, InternalError)


def test_a_temporary_variable_of_text_begins_empty():
    g = GraphBuilder()
    variable = g.TemporaryVariable(shape=[2], dtype="string")
    g.Identity(variable, name="read")
    assert Session(g.graph).run("read:0").tolist() == [b"", b""]


def test_an_element_without_components_is_not_divided():
    nothing = Generated((), lambda args: args, lambda args: (), lambda args: args)
    with pytest.raises(InvalidArgumentError, match="without components"):
        Unbatch((nothing,)).begin()()


def test_the_cost_of_what_has_text_for_a_shape():
    g = GraphBuilder()
    g.NonDeterministicInts(TEXT, dtype="int64", name="op")
    with contextlib.suppress(TfgError):
        count_flops(g.graph, ["op:0"])


@pytest.mark.parametrize("unit", ["in", "cm"])
def test_a_density_that_a_picture_cannot_hold_wraps_around(unit):
    """As in TensorFlow, whose header has 16 bits for it."""
    g = GraphBuilder()
    pixels = np.zeros((2, 2, 3), np.uint8)
    few, many = (g.EncodeJpeg(pixels, x_density=d, y_density=3, density_unit=unit) for d in (300, 300 + (5 << 16)))
    first, second = Session(g.graph).run([few.name, many.name])
    assert first == second


def test_a_loss_that_overflows_is_infinite():
    assert _poisson_dual(1.0, 0.5, 1e6, 1.0) != 0  # NaN or infinite, as C's
    assert LOSSES["poisson_loss"].primal_loss(1e6, 1.0) == np.inf


def test_text_has_no_jacobian():
    g = GraphBuilder()
    x = g.constant(np.array(b"x", object))
    y = g.StringJoin([x, x])
    with pytest.raises(InvalidArgumentError, match="no derivatives"):
        jacobian(g.graph, y.name, x.name)


@pytest.mark.parametrize(
    ("op", "inputs", "attrs"),
    [
        ("AsString", [np.float32(1.5)], {"precision": 2**31 - 1}),
        ("AsString", [np.int32(1)], {"width": 2**31 - 1}),
        ("Empty", [np.int32([2**31 - 1, 2**31 - 1, 2**31 - 1])], {"dtype": "float32"}),
        ("SparseBincount", [np.int64([[0, 0]]), np.int32([1]), np.int64([2**62, 2]), np.int32(4), EMPTY], {}),
        ("Empty", [np.int32([2**31 - 1, 2**31 - 1, 2**31 - 1, 0])], {"dtype": "float32"}),
    ],
)
def test_what_python_or_numpy_will_not_make_is_too_much(op, inputs, attrs):
    g = GraphBuilder()
    g.apply(op, *inputs, name="op", **attrs)
    with pytest.raises(ResourceExhaustedError, match="'op'"):
        Session(g.graph, max_memory=1 << 30).run("op:0")
    if op == "Empty":
        with pytest.raises(ResourceExhaustedError, match="'op'"):
            Session(g.graph).run("op:0")


@pytest.mark.parametrize("stride", [2**31 - 1, 2**63 - 1])
@pytest.mark.parametrize("channels", [1, 16])
@pytest.mark.parametrize("op", ["Conv2D", "DepthwiseConv2dNative", "Conv2DBackpropInput", "Conv2DBackpropFilter"])
def test_a_stride_beyond_the_image_leaves_one_window(op, channels, stride):
    """As one that ends with it does, in no more memory."""
    image, w = np.ones((2, 5, 6, channels), np.float32), np.ones((3, 3, channels, 2), np.float32)
    grad = np.ones((2, 1, 1, 2 * channels if op.startswith("Depthwise") else 2), np.float32)
    given = {"Conv2DBackpropInput": (np.int32(image.shape), w, grad), "Conv2DBackpropFilter": (image, np.int32(w.shape), grad)}
    found = []
    for step in (6, stride):
        g = GraphBuilder()
        value = g.apply(op, *given.get(op, (image, w)), strides=[1, step, step, 1], padding="VALID")
        found.append(Session(g.graph, max_memory=1 << 20).run(value.name))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("load", [1e-7, 1e-30])
def test_a_dense_table_takes_no_more_buckets_than_the_run_may(load):
    g = GraphBuilder()
    table = g.MutableDenseHashTableV2(
        g.constant(np.int64(-1)), g.constant(np.int64(-2)), value_dtype="int64", max_load_factor=load, name="table"
    )
    g.LookupTableInsertV2(table, np.int64([1, 2, 3]), np.int64([1, 2, 3]), name="op")
    with pytest.raises(ResourceExhaustedError, match="'op'"):
        Session(g.graph, max_memory=1 << 24 if load == 1e-7 else None).run(["op"])


def test_a_table_takes_only_elements_of_its_dtypes():
    g = GraphBuilder()
    pairs = g.TensorSliceDataset([TEXT, TEXT], output_shapes=[[], []])
    table = g.HashTableV2(key_dtype="string", value_dtype="float32")
    g.InitializeTableFromDataset(table, pairs, name="op")
    with pytest.raises(InvalidArgumentError, match=r"'op'.*cannot be filled"):
        Session(g.graph).run(["op"])


def test_a_number_of_elements_wraps_around():
    """As TensorFlow's, which has 64 bits for it."""
    g = GraphBuilder()
    attrs = {"output_types": ["int64"], "output_shapes": [[]]}
    many = g.RepeatDataset(_numbers(g, end=5), g.constant(np.int64(2**62)), **attrs)
    assert Session(g.graph).run(g.DatasetCardinality(many).name) == 2**62


@pytest.mark.parametrize("length", [255, 2**40])
@pytest.mark.parametrize("op", ["Fill", "Reshape", "RandomStandardNormal", "Transpose", "TensorListReserve", "SetSize"])
def test_a_vector_that_is_said_to_hold_more_dimensions_than_a_tensor_has(op, length):
    """No list of them is made to look at the graph."""
    g = GraphBuilder()
    vector = g.Placeholder(dtype="int32" if op != "SetSize" else "int64", shape=[length + (op == "SetSize")])
    unknown = g.Placeholder(dtype="float32")
    given = {
        "Fill": (vector, 1.0), "RandomStandardNormal": (vector,), "TensorListReserve": (vector, np.int32(2)),
        "SetSize": (vector, vector, vector),
    }.get(op, (unknown, vector))  # fmt: skip
    attrs = {"RandomStandardNormal": {"dtype": "float32"}, "TensorListReserve": {"element_dtype": "float32"}}
    value = g.apply(op, *given, **attrs.get(op, {}))
    assert infer(g.graph).spec(value).shape.rank is None


def test_a_loss_without_regularization_is_no_fault():
    with np.errstate(all="ignore"):
        for l1, want in ((0.0, np.nan), (1.0, 0.0)):
            found = sdca.Settings(LOSSES["squared_loss"], l1, np.float64(0), 1).shrink(VECTOR)
            np.testing.assert_array_equal(found, np.full(3, want))


@pytest.mark.parametrize("high", [1e20, 1e30])
def test_integers_of_a_range_that_no_other_can_hold_wrap_around(high):
    """As TensorFlow's fixed point of 64 bits."""
    g = GraphBuilder()
    q = g.Bitcast(np.int32([-5, 0, 7]), type="qint32")
    g.Requantize(q, -high, high, -1e-30, 1e-30, out_type="quint8", name="op")
    assert Session(g.graph).run("op:0").shape == (3,)


@pytest.mark.parametrize("serialize", [_tensor_proto.serialize, _tensor_proto.serialize_content])
def test_elements_of_another_dtype_are_not_written(serialize):
    with pytest.raises(InvalidArgumentError, match="int32 cannot be written as string"):
        serialize(np.int32([1]), dtypes.string)


def test_who_sleeps_looks_at_the_time():
    g = GraphBuilder()
    g.SleepIdentityOp(np.int32(10**9), 1.0, name="op")
    with pytest.raises(DeadlineExceededError, match="'op'"):
        Session(g.graph, timeout=0.3).run("op:0")


@pytest.mark.parametrize("ratio", [1e30, 1e-30, np.inf])
def test_a_crop_of_an_aspect_that_no_image_has_is_the_whole_image(ratio):
    g = GraphBuilder()
    box = np.float32([[[0, 0, 1, 1]]])
    g.SampleDistortedBoundingBoxV2(
        np.int32([64, 48, 3]), box, 0.1, aspect_ratio_range=[ratio, ratio], use_image_if_no_bounding_boxes=True, name="op"
    )
    begin, size = Session(g.graph).run(["op:0", "op:1"])
    assert (begin.tolist(), size.tolist()) == ([0, 0, 0], [64, 48, -1])


@pytest.mark.parametrize("values", [[np.nan] * 6, [np.inf, 1, 0, 0, 1, 0], [-np.inf] * 6])
def test_what_is_not_finite_has_no_least_squares(values):
    """It is the only one of its batch: TensorFlow, too, answers for the others."""
    g = GraphBuilder()
    matrices = np.stack([np.reshape(values, (3, 2)), np.eye(3, 2)])
    found = Session(g.graph).run(g.MatrixSolveLs(matrices, np.ones((2, 3, 1)), 0.0, fast=False))
    assert np.isnan(found[0]).all()
    np.testing.assert_allclose(found[1], np.ones((2, 1)))


def test_a_decomposition_that_fails_is_a_matter_of_the_matrix():
    def diverge(*_):
        raise np.linalg.LinAlgError("SVD did not converge")

    node = GraphBuilder().graph.add_node("x", "Svd")
    with pytest.raises(InvalidArgumentError, match="SVD did not converge") as caught, faults_of(node, "kernel"):
        diverge()
    assert caught.value.node == "x"


def _popped(g, taken):
    stack = g.StackV2(3, elem_type="string")
    with g.control_dependencies([g.StackPushV2(stack, TEXT)]):
        return g.StackPopV2(stack, elem_type=taken)


def _popped_by_name(g, taken):
    stack = g.Stack(elem_type="string")
    with g.control_dependencies([g.StackPush(stack, TEXT)]):
        return g.StackPop(stack, elem_type=taken)


def _received(g, taken):
    devices = {"tensor_name": "t", "send_device": "a", "recv_device": "b", "send_device_incarnation": 1}
    with g.control_dependencies([g._Send(TEXT, **devices)]):
        return g._Recv(tensor_type=taken, **devices)


@pytest.mark.parametrize("take", [_popped, _popped_by_name, _received])
def test_what_was_kept_is_taken_with_its_dtype(take):
    """Whoever asks for another is refused, in a run; inference tells no value of what would come."""
    g = GraphBuilder()
    assert Session(g.graph).run(take(g, "string")).tolist() == TEXT.tolist()
    g = GraphBuilder()
    other = take(g, "bfloat16")
    assert infer(g.graph).specs[g.graph.output(str(other))].value is None
    with pytest.raises(InvalidArgumentError, match=other.node.name):
        Session(g.graph).run(other)


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_the_last_of_very_many_rows_is_within_the_image(method):
    """In single precision its number rounds to that of one behind it."""
    image = np.zeros((1, 2**24 + 4, 1, 1), np.uint8)
    image[0, -1] = 7
    g = GraphBuilder()
    crop = g.CropAndResize(image, np.float32([[1, 0, 1, 0]]), np.int32([0]), np.int32([1, 1]), method=method)
    assert Session(g.graph).run(crop).item() == 7


def test_a_list_of_rows_without_elements_is_counted():
    g = GraphBuilder()
    rows = g.TensorListLength(g.TensorListFromTensor(np.zeros((2**26, 0), np.float32), np.int32([0])))
    with pytest.raises(ResourceExhaustedError, match="TensorListFromTensor"):
        Session(g.graph, max_memory=1 << 30).run(rows)


def _shuffled_for_long(g):
    return g.RandomIndexShuffle(np.int64(5), np.uint32([1, 2, 3]), np.int64(10**6), rounds=2**26)


def _far_in_a_sequence(g):
    return g.SobolSample(np.int32(1), np.int32(1), np.int32(2**31 - 1))


def _cropped_in_vain(g):
    return g.StatelessSampleDistortedBoundingBox(
        np.int32([9, 9, 3]), np.float32([[[0, 0, 1, 1]]]), np.float32(1), np.int32([1, 2]),
        aspect_ratio_range=[1, 1], area_range=[1e-9, 1e-9], max_attempts=2**31 - 1,
    )[0]  # fmt: skip


@pytest.mark.parametrize("make", [_shuffled_for_long, _far_in_a_sequence, _cropped_in_vain])
def test_what_takes_as_long_as_a_number_says_is_left_to_runs(make):
    """It looks at the time there; inference and folding would not end."""
    g = GraphBuilder()
    found = make(g)
    with pytest.raises(DeadlineExceededError):
        Session(g.graph, timeout=0.1).run(found)
    assert infer(g.graph).specs[g.graph.output(str(found))].value is None
    graph, _ = optimize(g.graph, [str(found)])
    assert found.node.name in graph
