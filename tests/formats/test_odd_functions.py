"""Functions as no TensorFlow writes them: an answer or a refusal, in time that follows the graph's size."""

from __future__ import annotations

import time

import numpy as np
import pytest
from google.protobuf import text_format

from tfg import GraphBuilder, Session, count_flops, gradients, optimize
from tfg.core.explaining.graph_facts import explain_graph
from tfg.core.explaining.pipeline_words import pipelines
from tfg.core.flops.growth import summed
from tfg.core.inference.inference import infer
from tfg.core.support.errors import InternalError, TfgError
from tfg.core.types.dims import Dim, floor_div
from tfg.formats import load
from tfg.formats.protos.graph_pb2 import GraphDef

FLOAT = 'attr { key: "T" value { type: DT_FLOAT } }'
FLOATS = 'attr { key: "T" value { list { type: DT_FLOAT } } }'
TYPES = 'attr { key: "Tin" value { list { type: DT_FLOAT } } } attr { key: "Tout" value { list { type: DT_FLOAT } } }'
X = 'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } } '
CYCLE = "".join(
    f'node_def {{ name: "{name}" op: "Identity" input: "{other}:output:0" {FLOAT} }}' for name, other in ("ab", "ba")
)
LESS = f'node_def {{ name: "l" op: "Less" input: "x" input: "x" {FLOAT} }}'


def _function(name, nodes, returned, *, dtype="DT_FLOAT", more=""):
    inputs = 'input_arg { name: "x" type: DT_FLOAT }'
    signature = f'signature {{ name: "{name}" {inputs} output_arg {{ name: "y" type: {dtype} }} }}'
    return f'function {{ {signature} {nodes} ret {{ key: "y" value: "{returned}" }} {more} }}'


def _identity(returned, more=""):
    return _function("f", f'node_def {{ name: "a" op: "Identity" input: "x" {FLOAT} }}', returned, more=more)


def _named(key, function):
    return f'attr {{ key: "{key}" value {{ func {{ name: "{function}" }} }} }}'


def _calling(*functions):
    node = f'node {{ name: "y" op: "PartitionedCall" input: "x" {TYPES} {_named("f", "f")} }}'
    return f"{X} {node} library {{ {''.join(functions)} }}"


def _looping(*functions):
    parts = _named("cond", "c") + _named("body", "f")
    return f'{X} node {{ name: "y" op: "While" input: "x" {FLOATS} {parts} }} library {{ {"".join(functions)} }}'


def _choosing(dtype, value):
    tensor = f"tensor {{ dtype: {dtype} tensor_shape {{ }} {value} }}"
    constant = f'attr {{ key: "dtype" value {{ type: {dtype} }} }} attr {{ key: "value" value {{ {tensor} }} }}'
    branches = _named("then_branch", "f") + _named("else_branch", "f")
    chosen = f'attr {{ key: "Tcond" value {{ type: {dtype} }} }}'
    node = f'node {{ name: "y" op: "If" input: "p" input: "x" {chosen} {TYPES} {branches} }}'
    return f'{X} node {{ name: "p" op: "Const" {constant} }} {node} library {{ {_identity("a:output:0")} }}'


def _noting(key, value):
    return _calling(_identity("a:output:0", f'attr {{ key: "{key}" value {{ {value} }} }}'))


ODD = {
    "a body that waits for itself": _looping(
        _function("c", LESS, "l:z:0", dtype="DT_BOOL"), _function("f", CYCLE, "a:output:0")
    ),
    "a condition that waits for itself": _looping(
        _function("c", CYCLE.replace("DT_FLOAT", "DT_BOOL"), "a:output:0", dtype="DT_BOOL"), _identity("a:output:0")
    ),
    "an interface that is a list": _noting("api_implements", 'list { s: "q" }'),
    "an origin that is a number": _noting("_derived_from", "i: 3"),
    "a resource as a condition": _choosing("DT_RESOURCE", 'resource_handle_val { name: "q" }'),
    "a variant as a condition": _choosing("DT_VARIANT", 'variant_val { type_name: "q" }'),
    "a result that there is not": _calling(_identity("a:output:7")),
    "a result before the first": _calling(_identity("a:output:-1")),
    "a result of very many digits": _calling(_identity("a:output:" + "9" * 5000)),
    "an argument's output of very many digits": _calling(_identity("x:" + "9" * 5000)),
}


def _answers(graph):
    yield lambda: graph.check()
    yield lambda: infer(graph)
    yield lambda: Session(graph, timeout=100).run("y:0", {"x:0": np.float32(1)})
    yield lambda: optimize(graph, ["y"], ["x:0"])
    yield lambda: count_flops(graph, ["y"], ["x:0"])
    yield lambda: gradients(graph, ["y:0"], ["x:0"])
    yield lambda: explain_graph(graph)


@pytest.mark.parametrize("case", ODD)
def test_an_odd_function_is_taken_or_refused(case):
    graph = load(text_format.Parse(ODD[case], GraphDef()).SerializeToString())
    for answer in _answers(graph):
        try:
            answer()
        except TfgError as error:
            assert not isinstance(error, InternalError)


def test_an_input_of_very_many_digits_is_refused():
    text = f'{X} node {{ name: "y" op: "Identity" input: "x:{"9" * 5000}" {FLOAT} }}'
    with pytest.raises(TfgError, match="does not exist"):
        load(text_format.Parse(text, GraphDef()).SerializeToString()).check()


INTERFACE = 'attr {{ key: "api_implements" value {{ s: "q" }} }} attr {{ key: "api_preferred_device" value {{ s: "{}" }} }}'


@pytest.mark.parametrize("passes", [None, "set_device{device=/cpu:7}", "rename{op=Neg:Abs}", "remove_attribute{attribute=_q}"])
def test_functions_of_the_graph_that_is_optimized_stay(passes):
    note = 'attr { key: "_q" value { i: 1 } }'
    body = f'node_def {{ name: "n" op: "Neg" input: "x" {FLOAT} {note} }}'
    inner = f'node_def {{ name: "c" op: "PartitionedCall" input: "n:y:0" {TYPES} {_named("f", "gpu")} }}'
    case = 'node_def { name: "d" op: "Case" input: "i:output:0" input: "c:output:0" ' + TYPES
    case += ' attr { key: "branches" value { list { func { name: "gpu" } } } } }'
    index = 'node_def { name: "i" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value { '
    index += "tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 } } } }"
    functions = [_function("f", body + inner + case + index, "d:output:0")]
    functions += [
        _identity("a:output:0", INTERFACE.format(device.upper())).replace('"f"', f'"{device}"', 1) for device in ("gpu", "cpu")
    ]
    graph = load(text_format.Parse(_calling(*functions), GraphDef()).SerializeToString())
    before = [(node.op, node.device, dict(node.attrs)) for node in graph.functions["f"].body]
    changed, _ = optimize(graph, ["y"], ["x:0"], passes, disable=["inline"])
    assert [(node.op, node.device, dict(node.attrs)) for node in graph.functions["f"].body] == before
    if passes is None:
        assert "gpu" not in changed.functions


def _and(number):
    before = f"a{number - 1}:z:0" if number else "l:z:0"
    return f'node_def {{ name: "a{number}" op: "LogicalAnd" input: "{before}" input: "{before}" }}'


def test_conditions_are_counted_in_time_by_their_nodes():
    condition = _function("c", LESS + "".join(map(_and, range(60))), "a59:z:0", dtype="DT_BOOL")
    graph = load(text_format.Parse(_looping(condition, _identity("a:output:0")), GraphDef()).SerializeToString())
    began = time.process_time()
    count_flops(graph, ["y"], ["x:0"])
    assert time.process_time() - began < 5


def test_costs_of_very_many_iterations_are_not_added_one_by_one():
    half = floor_div(Dim.symbol("i"), 2)
    assert summed(half, "i", 5) == 0 + 0 + 1 + 1 + 2
    assert summed(half, "i", 10**12) is None


@pytest.mark.slow
def test_datasets_are_told_and_counted_in_time_by_their_nodes():
    b = GraphBuilder()
    element = {"output_types": ["int64"], "output_shapes": [[]]}
    dataset = b.RangeDataset(np.int64(0), np.int64(1), np.int64(1), **element)
    for _ in range(1200):
        halves = [b.SkipDataset(dataset, np.int64(n), **element) for n in (0, 1)]
        dataset = b.ConcatenateDataset(*halves, **element)
    iterator = b.IteratorV2(shared_name="i", container="", **element)
    b.MakeIterator(dataset, iterator)
    made = b.IteratorGetNext(iterator, **element)[0]
    began = time.process_time()
    assert len(pipelines(b.graph)[0].stages) > 1200
    count_flops(b.graph, [made.name])
    assert time.process_time() - began < 10
