"""Functions with two calls of the next function: analyses take time by the number of functions, not of calls."""

from __future__ import annotations

import time

import numpy as np
import pytest

import tfg
from tests.functions import define
from tfg.core.flops import count_flops
from tfg.core.inference.inference import infer
from tfg.core.passes.pipeline import optimize
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import ResourceExhaustedError
from tfg.core.types.shapes import Shape

CALL = """attr {{ key: "f" value {{ func {{ name: "{f}" }} }} }}
  attr {{ key: "Tin" value {{ list {{ type: DT_FLOAT }} }} }} attr {{ key: "Tout" value {{ list {{ type: DT_FLOAT }} }} }}"""
FLOAT = 'attr { key: "T" value { type: DT_FLOAT } }'
SIGNATURE = """function {{ signature {{ name: "{name}" input_arg {{ name: "a" type: DT_FLOAT }}
  output_arg {{ name: "o" type: DT_FLOAT }} }} {nodes} ret {{ key: "o" value: "{result}" }} }}"""


def _call(name, function, source, by_name):
    op, attrs = (function, "") if by_name else ("PartitionedCall", CALL.format(f=function))
    return f'name: "{name}" op: "{op}" input: "{source}" {attrs}'


TANH = f'node_def {{ name: "t" op: "Tanh" input: "a" {FLOAT} }}'


def nested(tmp_path, depth, by_name=False, leaf=TANH, result="t:y:0", dims=""):
    """y = f_depth(x), where f_i(a) = f_(i-1)(f_(i-1)(a))."""
    port = "o" if by_name else "output"
    functions = [SIGNATURE.format(name="f_0", nodes=leaf, result=result)]
    for i in range(1, depth + 1):
        calls = [_call("c1", f"f_{i - 1}", "a", by_name), _call("c2", f"f_{i - 1}", f"c1:{port}:0", by_name)]
        nodes = " ".join(f"node_def {{ {call} }}" for call in calls)
        functions.append(SIGNATURE.format(name=f"f_{i}", nodes=nodes, result=f"c2:{port}:0"))
    shape = f'attr {{ key: "shape" value {{ shape {{ {dims or "dim { size: 2 }"} }} }} }}'
    text = f"""versions {{ producer: 1000 }}
      node {{ name: "x" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} {shape} }}
      node {{ {_call("y", f"f_{depth}", "x", by_name)} }} node {{ name: "z" op: "Identity" input: "y" {FLOAT} }}
      library {{ {" ".join(functions)} }}"""
    path = tmp_path / "nested.pbtxt"
    path.write_text(text)
    return tfg.load(path)


@pytest.fixture
def quick():
    """The test takes seconds, where a walk over all calls would take years."""
    start = time.process_time()
    yield
    assert time.process_time() - start < 60


@pytest.mark.parametrize("by_name", [True, False])
def test_shapes_of_results(tmp_path, quick, by_name):
    graph = nested(tmp_path, 40, by_name)
    assert infer(graph).shape(graph.output("z:0")) == Shape((2,))


@pytest.mark.parametrize("by_name", [True, False])
def test_flops_are_counted_in_huge_numbers(tmp_path, quick, by_name):
    report = count_flops(nested(tmp_path, 70, by_name), ["z:0"])
    assert report.total().transcendentals == 2 * 2**70
    assert {node.path: node.times for node in report.nodes if node.op == "Tanh"} == {"f_0/t": 2**70}
    assert report.coverage == 1


@pytest.mark.parametrize("depth", [3, 13])
def test_counts_agree_whether_calls_are_listed_or_not(tmp_path, depth):
    report = count_flops(nested(tmp_path, depth), ["z:0"])
    assert report.total().transcendentals == 2 * 2**depth
    assert report.total().bytes == 2 * 2 * 4 * 2**depth


def test_sizes_that_only_a_run_tells_differ_between_calls(tmp_path, quick):
    """Unique may leave fewer elements each time: no two results have the same length."""
    leaf = f"""node_def {{ name: "u" op: "Unique" input: "a" {FLOAT} }}"""
    graph = nested(tmp_path, 40, leaf=leaf, result="u:y:0", dims="dim { size: -1 }")
    specs = infer(graph).specs
    dims = specs[graph.output("y:0")].shape.dims + specs[graph.output("x:0")].shape.dims
    assert [dim.is_unknown for dim in dims] == [True, True]
    assert dims[0] != dims[1]


@pytest.mark.slow
def test_shapes_that_grow_with_each_call_end_in_unknown(tmp_path, quick):
    """Two more elements a call: 2**30 ways to call a function are not all looked into."""
    pads = """node_def { name: "p" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value {
      tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } dim { size: 2 } } int_val: 1 } } } }"""
    leaf = f'{pads} node_def {{ name: "t" op: "Pad" input: "a" input: "p:output:0" {FLOAT} }}'
    small = nested(tmp_path, 5, leaf=leaf, result="t:output:0")
    assert infer(small).shape(small.output("z:0")) == Shape((2 + 2 * 2**5,))
    graph = nested(tmp_path, 30, leaf=leaf, result="t:output:0")
    assert not infer(graph).shape(graph.output("z:0")).is_known
    assert count_flops(graph, ["z:0"]).unknown()


@pytest.mark.slow
def test_optimized_graph_is_not_much_larger(tmp_path, quick):
    result, _ = optimize(nested(tmp_path, 40), ["z:0"])
    assert len(result) + sum(len(function.body) for function in result.functions.values()) < 5000


def test_optimized_graph_computes_the_same(tmp_path):
    graph = nested(tmp_path, 7)
    result, _ = optimize(graph, ["z:0"])
    value = np.array([0.5, -2], np.float32)
    np.testing.assert_array_equal(Session(result).run("z:0", {"x:0": value}), Session(graph).run("z:0", {"x:0": value}))


def test_gradient_of_calls_shares_functions(tmp_path):
    graph = nested(tmp_path, 6)
    before = len(graph.functions)
    graph, (grad,) = tfg.gradients(graph, ["z:0"], ["x:0"])
    assert len(graph.functions) == before + 2 * 7
    value = np.array([0.5, -0.25], np.float32)
    slope, x = np.ones(2), value.astype(np.float64)
    for _ in range(2**6):
        x = np.tanh(x)
        slope *= 1 - x**2
    np.testing.assert_allclose(Session(graph).run(grad, {"x:0": value}), slope, rtol=1e-5)


@pytest.mark.slow
def test_gradient_that_would_save_too_much_is_refused(tmp_path, quick):
    with pytest.raises(ResourceExhaustedError, match="would save"):
        tfg.gradients(nested(tmp_path, 40), ["z:0"], ["x:0"])


@pytest.mark.slow
def test_unknown_shapes_are_explained_in_linear_time(quick):
    g = tfg.GraphBuilder()
    value = g.Placeholder(dtype="float32", name="x")
    for _ in range(5000):
        value = g.Tanh(value)
    assert all("`shapes={'x': SIZES}`" in node.reason for node in count_flops(g.graph, [str(value)]).unknown())


@pytest.mark.slow
def test_functions_deeper_than_the_stack_are_an_error_of_the_graph(tmp_path):
    graph = nested(tmp_path, 3000)
    feeds = {"x:0": np.ones(2, np.float32)}
    for act in (
        lambda: count_flops(graph, ["z:0"]), lambda: optimize(graph, "z:0", ["x:0"]), lambda: Session(graph).run("z:0", feeds),
    ):  # fmt: skip
        with pytest.raises(ResourceExhaustedError, match="deep"):
            act()


@pytest.mark.slow
def test_loops_in_loops_are_counted_in_linear_time(quick):
    """Each body holds two loops of the level below, so that a walk would take 4^20 looks, and the count 2^20 terms."""
    g = tfg.GraphBuilder()
    define(g, "f0", ["float32"], lambda b, x: [b.Sqrt(x)])
    define(g, "goes on", ["float32"], lambda b, x: [b.Less(x, b.constant(np.float32(0)))])

    def loop(b, x, body):
        return b.StatelessWhile([x], cond="goes on", body=body)[0]

    for i in range(20):
        define(g, f"f{i + 1}", ["float32"], lambda b, x, below=f"f{i}": [loop(b, loop(b, x, below), below)])
    report = count_flops(g.graph, [str(loop(g, g.constant(np.float32(1)), "f20"))])
    assert report.unknown()
    assert all("iterations" in node.reason for node in report.unknown())
