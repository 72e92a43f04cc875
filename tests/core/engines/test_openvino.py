"""The pitfalls of OpenVINO as an engine. Skipped without OpenVINO."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import numpy as np
import pytest

pytest.importorskip("openvino", reason="the extra tfg[openvino] is not installed")
pytestmark = pytest.mark.engine

from tests.cli.running import SAMPLES, process  # noqa: E402
from tests.core.engines.networks import assert_in_engine, network  # noqa: E402
from tests.core.engines.unsupported_cases import on_request, supported_lines  # noqa: E402
from tfg.core.building.builder import GraphBuilder  # noqa: E402
from tfg.core.engines.automatic import AutoRuntime  # noqa: E402
from tfg.core.engines.engine_registry import find_engine  # noqa: E402
from tfg.core.engines.engine_runtime import EngineRuntime  # noqa: E402
from tfg.core.engines.executables import EngineSettings  # noqa: E402
from tfg.core.engines.lowerable import UnsupportedOps  # noqa: E402
from tfg.core.numerics.work_division import undivided  # noqa: E402
from tfg.core.runtime.session.session import Session  # noqa: E402
from tfg.core.support.errors import InvalidArgumentError  # noqa: E402


def engine(precision=None):
    """OpenVINO, for groups of any size."""
    result = find_engine("openvino", precision)
    result.smallest = 1
    return result


def test_a_network_is_computed_in_single_precision():
    """OpenVINO's default is bfloat16 on processors with bfloat16."""
    graph, x = network()
    session = Session(graph, engine=engine())
    result, expected = session.run("logits:0", {"x:0": x}), Session(graph).run("logits:0", {"x:0": x})
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    assert_in_engine(session)
    assert "f32" in session.engine_report().note


def test_runs_side_by_side_have_the_results_of_runs_one_by_one():
    graph, x = network()
    session = Session(graph, engine=engine())
    expected = session.run("logits:0", {"x:0": x})
    with undivided(), ThreadPoolExecutor(4) as threads:
        runs = [threads.submit(copy_context().run, session.run, "logits:0", {"x:0": x}) for _ in range(8)]
        results = [run.result() for run in runs]
    for result in results:
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_half_precision_is_for_the_user_to_choose_and_said():
    graph, x = network()
    session = Session(graph, engine=engine("bf16"))
    result, expected = session.run("logits:0", {"x:0": x}), Session(graph).run("logits:0", {"x:0": x})
    np.testing.assert_allclose(result, expected, rtol=0, atol=5e-2 * np.abs(expected).max())
    assert "bf16" in session.engine_report().note
    with pytest.raises(InvalidArgumentError, match="f64"):
        engine("f64")


def test_fast_is_near_enough_and_said():
    graph, x = network()
    session = Session(graph, engine="openvino", precision="fast")
    result, expected = session.run("logits:0", {"x:0": x}), Session(graph).run("logits:0", {"x:0": x})
    np.testing.assert_allclose(result, expected, rtol=0, atol=1.01e-2 * np.abs(expected).max())
    types = {engine.precision for engine in find_engine("openvino").faster}
    assert types <= {"bf16", "f16"}
    (group,) = session.engine_report().groups
    assert group.rounded is None if not types else group.rounded.precision in types


def test_sums_in_a_row_compile_in_pieces():
    """The time that one group takes grows faster than the number of its steps."""
    b = GraphBuilder()
    value = b.Placeholder(dtype="float32", shape=[], name="x")
    for _ in range(1200):
        value = b.AddV2(value, b.constant(np.float32(1)))
    session = Session(b.graph, engine="openvino")
    assert session.run(value.name, {"x:0": 0}) == 1200
    assert [group.steps for group in session.engine_report().groups] == [1000, 200]


def test_auto_keeps_results_within_the_tolerances():
    graph, x = network()
    session, expected = Session(graph, engine=AutoRuntime(patience=0.0)), Session(graph).run("logits:0", {"x:0": x})
    for _ in range(30):
        result = session.run("logits:0", {"x:0": x})
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-4 * np.abs(expected).max())
    assert "OpenVINO" in session.engine_report().note


def test_a_model_lives_longer_than_its_graph():
    graph, x = network(seed=1)
    session = Session(graph, engine=engine())
    expected = session.run("logits:0", {"x:0": x})
    for _ in range(20):
        del graph
        graph, _ = network(seed=2)
        Session(graph, engine=engine()).run("logits:0", {"x:0": x})
    np.testing.assert_array_equal(session.run("logits:0", {"x:0": x}), expected)


def test_the_way_into_the_frontend_leaves_no_file_behind(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("os.access", lambda *arguments: False)
    graph, x = network()
    session = Session(graph, engine=engine())
    session.run("logits:0", {"x:0": x})
    assert_in_engine(session)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("op", ["Relu", "Relu6", "Maximum", "Minimum", "ClipByValue", "UnsortedSegmentMax", "ArgMin"])
def test_nan_among_inputs_and_weights_stays_as_in_numpy(op):
    """OpenVINO's operators make numbers of NaN; later inputs without NaN run in OpenVINO again."""
    others = {
        "Maximum": [np.float32(1)], "Minimum": [np.float32(1)], "ClipByValue": [np.float32(0), np.float32(2)],
        "UnsortedSegmentMax": [np.int32([0, 0, 1]), np.int32(2)], "ArgMin": [np.int32(0)],
    }  # fmt: skip
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3], name="x")
    rest = [b.constant(value) for value in others.get(op, ())]
    getattr(b, op)(x, *rest, name="fed")
    getattr(b, op)(b.Mul(b.Sub(x, x), b.constant(np.float32([np.nan, 1, 2]))), *rest, name="held")
    session, expected = Session(b.graph, engine=engine()), Session(b.graph)
    for name in ("fed:0", "held:0"):
        for values in ([np.nan, 1, 2], [3, 1, 2]):
            feeds = {"x:0": np.float32(values)}
            np.testing.assert_array_equal(session.run(name, feeds), expected.run(name, feeds))
    assert op == "ArgMin" or any(group.runs for group in session.engine_report().groups)
    assert "NaN" in str([group.reason for group in session.engine_report().groups])


def elementwise(shape=None):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=shape, name="x")
    b.AddV2(b.Mul(x, x), b.constant(np.float32(1)), name="y")
    return b.graph


@pytest.mark.parametrize("value", [3.0, [3.0], [[1, 2], [3, 4]], np.zeros((0, 3)), np.zeros((2, 0))])
def test_shapes_stay_as_they_are(value):
    """Scalars must not become vectors, and empty tensors are tensors."""
    session = Session(elementwise(), engine=engine())
    value = np.asarray(value, "f")
    result = session.run("y:0", {"x:0": value})
    assert result.shape == value.shape
    np.testing.assert_array_equal(result, value * value + 1)


@pytest.mark.parametrize("make", [np.asfortranarray, lambda a: a[::2], lambda a: a[::-1], np.flip])
def test_feeds_in_any_layout_and_read_only(make):
    session = Session(elementwise(), engine=engine())
    value = make(np.arange(24, dtype="f").reshape(4, 6))
    np.testing.assert_array_equal(session.run("y:0", {"x:0": value}), value * value + 1)
    value = np.ascontiguousarray(value)
    value.flags.writeable = False
    np.testing.assert_array_equal(session.run("y:0", {"x:0": value}), value * value + 1)
    assert_in_engine(session)


def test_results_are_not_overwritten_by_the_next_run():
    session = Session(elementwise(), engine=engine())
    first = session.run("y:0", {"x:0": [1, 2]})
    session.run("y:0", {"x:0": [3, 4]})
    np.testing.assert_array_equal(first, [2, 5])


def test_outputs_are_told_apart_by_name():
    """OpenVINO puts them in an order of its own and makes one of those that are equal."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[4], name="x")
    names = []
    for number in (3, 1, 2):
        names.append(b.Mul(x, b.constant(np.float32(number)), name=f"times{number}").name)
    top = b.TopKV2(x, b.constant(np.int32(2)), name="top")
    twice = b.Mul(x, b.constant(np.float32(3)), name="again")
    names += [top[1].name, top[0].name, twice.name, b.Identity(twice, name="copy").name]
    feeds = {"x:0": np.float32([1, 5, 3, 4])}
    session = Session(b.graph, engine=engine())
    for result, expected in zip(session.run(names, feeds), Session(b.graph).run(names, feeds)):
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result, expected)


def test_fused_nodes_are_refused_with_a_reason():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 3], name="x")
    bias = b.constant(np.ones(4, "f"))
    b.graph.add_node(
        "y", "_FusedMatMul", [x, b.constant(np.ones((3, 4), "f")), bias], (),
        {"T": x.dtype, "num_args": 1, "fused_ops": [b"BiasAdd", b"Relu"]},
    )  # fmt: skip
    session = Session(b.graph, engine=engine())
    np.testing.assert_array_equal(session.run("y:0", {"x:0": np.ones((2, 3))}), np.full((2, 4), 4))
    assert ("_FusedMatMul", "OpenVINO does not translate it") in [(r.op, r.reason) for r in session.engine_report().refused]


def boxes_chosen(rows):
    """Return arithmetic on boxes, a value-dependent number of selected boxes, and arithmetic on the selection."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 4], name="x")
    moved = b.Identity(b.AddV2(b.Mul(x, x), x), name="moved")
    limits = [b.constant(np.float32(value)) for value in (0.5, 0.1, 0)]
    scores = b.Sigmoid(b.Sum(moved, b.constant(np.int32(1))))
    chosen = b.NonMaxSuppressionV5(moved, scores, b.constant(np.int32(10)), *limits, name="nms")
    b.Neg(b.Exp(b.Sqrt(chosen[1])), name="y")
    return b.graph, np.random.default_rng(0).random((rows, 4), dtype="f")


def test_a_shape_that_follows_from_values_costs_one_node():
    graph, x = boxes_chosen(20)
    session = Session(graph, engine=engine())
    np.testing.assert_allclose(session.run("y:0", {"x:0": x}), Session(graph).run("y:0", {"x:0": x}), rtol=1e-4)
    assert_in_engine(session, 2)
    assert [(r.op, r.reason) for r in session.engine_report().refused] == [
        ("NonMaxSuppressionV5", "its output shape depends on values")
    ]


def test_a_tensor_without_elements_costs_the_nodes_that_touch_it():
    """For inputs of other shapes the group stays whole."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 4], name="x")
    before = b.Neg(b.Exp(b.Neg(x)), name="before")
    begin, end, step = (b.constant(np.int32(value)) for value in ([2, 0], [9, 4], [1, 1]))
    rest = b.StridedSlice(before, begin, end, step, name="rest")
    total = b.Sum(rest, b.constant(np.int32(0)), name="total")
    b.Neg(b.Sqrt(b.Abs(b.AddV2(b.Mul(before, before), total))), name="y")
    session = Session(b.graph, engine=engine())
    for rows, groups in ((2, 2), (5, 3)):
        feeds = {"x:0": np.random.default_rng(rows).random((rows, 4), dtype="f")}
        np.testing.assert_allclose(session.run("y:0", feeds), Session(b.graph).run("y:0", feeds), rtol=1e-5)
        assert_in_engine(session, groups)
    reasons = {r.nodes[0]: r.reason for r in session.engine_report().refused}
    assert reasons == dict.fromkeys(["rest", "total"], "an input or output has no elements")


def test_a_node_that_is_not_translated_for_these_shapes_costs_one_node(monkeypatch):
    result = engine()
    monkeypatch.setattr(result, "_untranslated", lambda nodes: {})
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 3], name="x")
    before = b.Neg(b.Exp(x), name="before")
    attrs = {"T": x.dtype, "num_args": 1, "fused_ops": [b"BiasAdd", b"Relu"]}
    given = [before, b.constant(np.ones((3, 4), "f")), b.constant(np.ones(4, "f"))]
    fused = b.graph.add_node("fused", "_FusedMatMul", given, (), attrs)
    b.Neg(b.Exp(fused.output()), name="y")
    session = Session(b.graph, engine=result)
    feeds = {"x:0": np.ones((2, 3))}
    np.testing.assert_allclose(session.run("y:0", feeds), Session(b.graph).run("y:0", feeds), rtol=1e-5)
    assert_in_engine(session, 2)
    assert [r.nodes for r in session.engine_report().refused] == [("fused",)]


@on_request
def test_the_engine_still_needs_every_line_of_its_table():
    """A line with only correct cases must go; the line of computed indices, with the test of computed indices."""
    assert supported_lines("openvino", "computed") == {}


def test_sizes_that_are_fed_are_no_crash():
    """Data-dependent shapes can make tensors empty, and OpenVINO crashes on empty tensors."""
    b = GraphBuilder()
    sizes = b.Placeholder(dtype="int32", shape=[2], name="sizes")
    b.Neg(b.Mul(b.Fill(sizes, b.constant(np.float32(2))), b.constant(np.float32(3))), name="y")
    session = Session(b.graph, engine=engine())
    for shape in ((2, 3), (0, 3), (2, 0)):
        np.testing.assert_array_equal(session.run("y:0", {"sizes:0": shape}), np.full(shape, -6))
    group = session.engine_report().groups[0]
    assert (group.compiled, group.runs) == (1, 1)
    assert "has no elements" in group.reason


def test_constants_without_elements_are_no_crash():
    """Conversion folds constants, and crashes on empty constants."""
    b = GraphBuilder()
    images = b.constant(np.zeros((0, 4, 4, 2), "f"))
    numbers = [b.constant(np.ones(2, "f")), b.constant(np.zeros(2, "f")), *(b.constant(np.zeros(0, "f")) for _ in range(2))]
    y = b.FusedBatchNormV3(b.Relu(images), *numbers, is_training=True)[0]
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    b.AddV2(b.Sum(y, b.constant([0, 1, 2])), x, name="y")
    session = Session(b.graph, engine=engine())
    np.testing.assert_array_equal(session.run("y:0", {"x:0": [1, 2]}), [1, 2])


@pytest.mark.parametrize("op, indices", [("Gather", [0, 5]), ("GatherV2", [0, 5]), ("GatherV2", [-1, 0]), ("GatherNd", [[9]])])
def test_computed_indices_out_of_range_are_an_error(op, indices):
    b = GraphBuilder()
    rows = b.constant(np.arange(6, dtype="f").reshape(3, 2))
    place = b.Placeholder(dtype="int32", shape=np.shape(indices), name="i")
    axis = [b.constant(np.int32(0))] if op == "GatherV2" else []
    b.Neg(b.add(op, [rows, place, *axis], {}, "taken").output(), name="y")
    with pytest.raises(InvalidArgumentError, match=op):
        Session(b.graph, engine=engine()).run("y:0", {"i:0": indices})
    unrestricted = engine()
    unrestricted.unsupported = UnsupportedOps(())
    Session(b.graph, engine=unrestricted).run("y:0", {"i:0": indices})


def extreme(op, value):
    """The Max or Min of infinities."""
    b = GraphBuilder()
    getattr(b, op)(b.Placeholder(dtype="float32", shape=[2], name="x"), b.constant([0]), name="y")
    return b.graph, {"x:0": np.full(2, value, "f")}


def averaged():
    """Return a quotient of depthwise convolutions with the same computed filter, as in structural similarity."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[1, 16, 16, 1], name="x")
    weights = b.Softmax(b.Placeholder(dtype="float32", shape=[1, 121], name="w"))
    window = b.Reshape(weights, b.constant(np.int32([11, 11, 1, 1])))
    one, two, least = (b.constant(np.float32(n)) for n in (1, 2, 9e-4))

    def mean(value):
        return b.DepthwiseConv2dNative(value, window, strides=[1, 1, 1, 1], padding="VALID")

    other = b.Sub(one, x)
    first, second = mean(x), mean(other)
    product = b.Mul(b.Mul(first, second), two)
    above = b.AddV2(b.Sub(b.Mul(mean(b.Mul(x, other)), two), product), least)
    squares = mean(b.AddV2(b.Square(x), b.Square(other)))
    b.RealDiv(above, b.AddV2(b.Sub(squares, b.AddV2(b.Square(first), b.Square(second))), least), name="y")
    draws = np.random.default_rng(0)
    return b.graph, {"x:0": draws.random((1, 16, 16, 1)), "w:0": draws.standard_normal((1, 121))}


@pytest.mark.parametrize(
    "made", [extreme("Max", -np.inf), extreme("Min", np.inf), averaged()], ids=["Max", "Min", "DepthwiseConv2dNative"]
)
def test_what_is_denied_for_its_values(made):
    """If the refused values become correct, the line must go."""
    graph, feeds = made
    unrestricted = engine()
    unrestricted.unsupported = UnsupportedOps(())
    expected = Session(graph).run("y:0", feeds)
    np.testing.assert_allclose(Session(graph, engine=engine()).run("y:0", feeds), expected, rtol=1e-4)
    result = Session(graph, engine=unrestricted).run("y:0", feeds)
    assert not np.allclose(result, expected, rtol=1e-3)


def test_a_copy_of_a_constant_is_a_constant():
    """In a network frozen by TensorFlow, each variable is a constant and each read is a copy of the constant."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[1, 8, 8, 2], name="x")
    draws = np.random.default_rng(0)
    window = b.Identity(b.constant(draws.standard_normal((3, 3, 2, 1)).astype("f")))
    b.Neg(b.DepthwiseConv2dNative(x, window, strides=[1, 1, 1, 1], padding="SAME"), name="y")
    feeds = {"x:0": draws.standard_normal((1, 8, 8, 2))}
    session = Session(b.graph, engine=engine())
    np.testing.assert_allclose(session.run("y:0", feeds), Session(b.graph).run("y:0", feeds), atol=1e-5)
    assert_in_engine(session)
    assert session.engine_report().refused == ()


def test_strings_and_complex_numbers_are_refused():
    b = GraphBuilder()
    x = b.Placeholder(dtype="complex64", shape=[2], name="x")
    b.Neg(x, name="y")
    session = Session(b.graph, engine=engine())
    session.run("y:0", {"x:0": [1j, 2]})
    assert session.engine_report().refused[0].reason == "OpenVINO does not compute in complex64"


def test_threads_may_share_a_session():
    import threading

    session = Session(elementwise(), engine=engine())
    wrong = []

    def work(number):
        for i in range(50):
            value = np.full(number + 1, number + i, "f")
            if not np.array_equal(session.run("y:0", {"x:0": value}), value * value + 1):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number % 3,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


BLOCKED = """
import socket, sys
def refuse(*args, **kwargs):
    raise SystemExit("network: " + repr(args))
socket.socket.connect = socket.socket.connect_ex = socket.create_connection = socket.getaddrinfo = refuse
import threading
threading.excepthook = lambda args: sys.exit(str(args))
"""


def test_no_network_is_used(tmp_path):
    """OpenVINO's package imports a package that sends telemetry."""
    (tmp_path / "sitecustomize.py").write_text(BLOCKED)
    path = ":".join((str(tmp_path), *sys.path))
    arguments = ("run", SAMPLES / "xor.pbtxt", "--init", "--fetch", "logits", "--feed", "x=[[0,1]]", "--engine", "openvino")
    done = process(*arguments, "--engine-report", PYTHONPATH=path)
    assert done.code == 0, done.err
    assert "9 steps in 2 groups" in done.err
    assert "network" not in done.err


def test_verification_finds_nothing_in_a_network():
    graph, x = network()
    session = Session(graph, engine=EngineRuntime(engine(), EngineSettings(verify=True)))
    session.run("logits:0", {"x:0": x})
    assert session.engine_report().differences == ()
    assert_in_engine(session)


def test_groups_of_one_step_stay_in_numpy():
    result = find_engine("openvino")
    session = Session(elementwise(), engine=result)
    session.run("y:0", {"x:0": [1]})
    assert session.engine_report().groups == ()
    assert session.engine_report().in_small_groups == 2
