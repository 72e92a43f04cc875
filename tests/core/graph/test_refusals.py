"""Invalid inputs of ops: the run, the shape function and a fold raise an error that names the node.

TensorFlow's kernels refuse or do not survive these inputs, so recorded answers are missing.
"""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from tests.core.passes.rewriting import placeholder
from tests.pipelines import numbers
from tfg import FileAccess, GraphBuilder, Session, gradients, optimize
from tfg.core.codecs import png, wire
from tfg.core.datasets.batches import Unbatch
from tfg.core.datasets.sources import Generated
from tfg.core.graph.graph import Output
from tfg.core.inference.error_context import faults_of
from tfg.core.inference.inference import infer
from tfg.core.registry.catalog import CATALOG
from tfg.core.support.errors import InternalError, InvalidArgumentError, TfgError, UnimplementedError
from tfg.core.types import dtypes
from tfg.core.types.shapes import UNKNOWN

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
    "an integer of more digits than Python reads": ("StringToNumber", [np.array(b"1" * 5000, object)], {"out_type": "int64"}),
    "a clip of endlessly many samples a second": (
        "AudioSummaryV2", [np.array(b"a", object), np.ones((1, 2), np.float32), np.float32(np.inf)], {},
    ),
}  # fmt: skip


@pytest.mark.sampled(6)
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

    made = {"RANGE": lambda: numbers(g, 3), "LIST": lambda: g.TensorListReserve(np.int32([2]), 3, element_dtype="float32")}
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


@pytest.mark.parametrize(("shape", "message"), [((2, 16, 3), "Dimension 0"), ((1, 16, 4), "Dimension 2"), ((1, 8), "Ranks")])
def test_what_differs_where_tensors_are_joined_is_named(shape, message):
    g = GraphBuilder()
    parts = [placeholder(g, name, None) for name in "ab"]
    joined = g.ConcatV2(parts, np.int32(1), name="op")
    with pytest.raises(InvalidArgumentError, match=f"'op'.*{message}"):
        Session(g.graph).run(joined, {"a:0": np.ones((1, 8, 3)), "b:0": np.ones(shape)})


@pytest.mark.sampled(3)
@pytest.mark.parametrize("colour", [1, 5, 255])
def test_a_colour_type_that_no_picture_has(colour):
    head = b"\0\0\0\1\0\0\0\1\x10%c\0\0\0" % colour
    g = GraphBuilder()
    g.DecodePng(np.array(png.SIGNATURE + b"\0\0\0\rIHDR" + head + b"\0" * 4, object), dtype="uint16", name="op")
    with pytest.raises(InvalidArgumentError, match="'op'") as caught:
        Session(g.graph).run("op:0")
    assert not isinstance(caught.value, InternalError)


@pytest.mark.parametrize("spec", ["10 0,%s", "%s 0,2"])
def test_a_slice_of_more_digits_than_python_reads(spec, tmp_path):
    g = GraphBuilder()
    texts = [np.array([text.encode()], object) for text in ("a", spec % ("1" * 5000))]
    path = np.array(str(tmp_path / "a").encode(), object)
    g.SaveSlices(path, *texts, [g.constant(VECTOR)], name="op")
    with pytest.raises(InvalidArgumentError, match="'op'"):
        Session(g.graph, files=FileAccess.only(writable=[tmp_path])).run(["op"])


@pytest.mark.parametrize("encoding", [b"undefined", b"idna", b"punycode", b"unicode_escape"])
def test_an_encoding_that_only_python_has(encoding):
    g = GraphBuilder()
    g.UnicodeTranscode(np.array(b"a\xff.\\x", object), input_encoding=encoding, output_encoding=b"UTF-8", name="op")
    with pytest.raises(InvalidArgumentError, match=r"'op'.*converter"):
        Session(g.graph).run("op:0")


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


def test_a_size_below_zero_is_no_shape():
    g = GraphBuilder()
    op = g.KmeansPlusPlusInitialization(np.ones((8, 2), np.float32), np.int64(-3), np.int64(1), np.int64(1), name="op")
    specs = infer(g.graph)
    assert specs.shape(op).dims is None
    assert "-3" in specs.reasons["op"]


@pytest.mark.parametrize(("keys", "values"), [([1, 1, 1, 1], [1, 2, 3, 4]), ([1, 2, 3, 4], [1, 2, 3]), ([1, 2, 3, 4], 0)])
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


@pytest.mark.parametrize("op", ["Conv2DBackpropInput", "Conv2DBackpropFilter", "Conv2D"])
def test_an_image_without_channels(op):
    """The gradient is empty, and the gradient of a filter is zero: there are no groups to divide filters among."""
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


@pytest.mark.parametrize("op", ["FloorDiv", "FloorMod", "Mod", "TruncateMod", "Div", "TruncateDiv"])
def test_no_op_calls_a_division_by_zero_a_fault(op):
    g = GraphBuilder()
    node = g.apply(op, g.constant(np.int32([1, 2])), g.constant(np.int32([1, 0])))
    with pytest.raises(InvalidArgumentError, match="division by zero") as caught:
        Session(g.graph).run([node.name])
    assert not isinstance(caught.value, InternalError)


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
    """Attributes hold bytes, and functions are found by bytes."""
    g = GraphBuilder()
    array = g.TensorArray(2, dtype="float32", tensor_array_name=b"\xff\xfe")
    size = g.TensorArraySize(array, 0.0)
    iterator = g.IteratorV2(shared_name=b"\xff", container=b"", output_types=["int64"], output_shapes=[[]])
    again = g.IteratorFromStringHandleV2(g.IteratorToStringHandle(iterator))
    start = g.MakeIterator(numbers(g, 3), again)
    text = g.PrintV2(g.constant(np.array(b"", object)), end=b"\xff", output_stream=b"stderr")
    session = Session(g.graph)
    assert session.run([size.name])[0] == 2
    session.run([start.name, text.name])


@pytest.mark.parametrize("options", [b"\x89PNG", b"\xff", b"\x08", b"\x08\x01", b"\x0a" + b"\xff" * 5, b"\x08" + b"\xff" * 11])
def test_options_that_are_no_message(options):
    """A number, or a refusal that names the node."""
    g = GraphBuilder()
    count = g.DatasetCardinality(numbers(g, 3), cardinality_options=options, name="op")
    try:
        assert Session(g.graph).run([count.name])[0] == 3
    except TfgError as error:
        assert not isinstance(error, InternalError)
        assert "'op'" in str(error)


def test_an_element_without_components_is_not_divided():
    nothing = Generated((), lambda args: args, lambda args: (), lambda args: args)
    with pytest.raises(InvalidArgumentError, match="without components"):
        Unbatch((nothing,)).begin()()


def test_a_decomposition_that_fails_is_a_matter_of_the_matrix():
    def diverge(*_):
        raise np.linalg.LinAlgError("SVD did not converge")

    node = GraphBuilder().graph.add_node("x", "Svd")
    with pytest.raises(InvalidArgumentError, match="SVD did not converge") as caught, faults_of(node, "kernel"):
        diverge()
    assert caught.value.node == "x"
