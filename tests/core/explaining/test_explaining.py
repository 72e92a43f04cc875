"""Explanations of control flow, of the contents of a graph and of the memory of a run."""

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tfg.core.explaining.footprint import peak_memory
from tfg.core.explaining.graph_facts import graph_ends
from tfg.core.explaining.node_facts import Explainer
from tfg.core.inference.inference import infer
from tfg.core.types.dtypes import float32
from tfg.formats import load

LOOP = load(b"""
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape { } } } }
node { name: "limit" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { } } } }
node { name: "enter" op: "Enter" input: "x" attr { key: "T" value { type: DT_FLOAT } }
       attr { key: "frame_name" value { s: "rnn" } } }
node { name: "fixed" op: "Enter" input: "limit" attr { key: "T" value { type: DT_FLOAT } }
       attr { key: "frame_name" value { s: "rnn" } } attr { key: "is_constant" value { b: true } } }
node { name: "merge" op: "Merge" input: "enter" input: "next" attr { key: "T" value { type: DT_FLOAT } }
       attr { key: "N" value { i: 2 } } }
node { name: "less" op: "Less" input: "merge" input: "fixed" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "goes_on" op: "LoopCond" input: "less" }
node { name: "switch" op: "Switch" input: "merge" input: "goes_on" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "body" op: "Exp" input: "switch:1" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "next" op: "NextIteration" input: "body" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "exit" op: "Exit" input: "switch" attr { key: "T" value { type: DT_FLOAT } } }
""")


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ("enter", "Passes 'x:0' into loop 'rnn', as the initial value"),
        ("fixed", "every iteration sees the same value"),
        ("merge", "'enter:0' in the first iteration, 'next:0' in later iterations"),
        ("goes_on", "while 'less:0' is true"),
        ("switch", "Keeps 'merge:0' in the loop (output 1) while 'goes_on:0' is true"),
        ("next", "Passes 'body:0' to the next iteration"),
        ("exit", "'switch:0' out of the loop"),
    ],
)
def test_a_v1_loop_in_words(node, said):
    assert said in Explainer(LOOP).explain(node).role


FUNCTIONAL = load(b"""
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "shape" value { shape { } } } }
node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_BOOL } } attr { key: "shape" value { shape { } } } }
node { name: "loop" op: "StatelessWhile" input: "x" attr { key: "T" value { list { type: DT_INT32 } } }
       attr { key: "cond" value { func { name: "less" } } } attr { key: "body" value { func { name: "more" } } } }
node { name: "if" op: "If" input: "p" input: "x" attr { key: "Tcond" value { type: DT_BOOL } }
       attr { key: "Tin" value { list { type: DT_INT32 } } } attr { key: "Tout" value { list { type: DT_INT32 } } }
       attr { key: "then_branch" value { func { name: "more" } } }
       attr { key: "else_branch" value { func { name: "same" } } } }
node { name: "case" op: "Case" input: "x" input: "x" attr { key: "Tin" value { list { type: DT_INT32 } } }
       attr { key: "Tout" value { list { type: DT_INT32 } } }
       attr { key: "branches" value { list { func { name: "more" } func { name: "same" } } } } }
""")


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ("loop", "runs function more on its 1 value as long as less returns true"),
        ("if", "calls more if 'p:0' is true, otherwise same"),
        ("case", "calls the function with index 'x:0' among more, same, or the last function"),
    ],
)
def test_functional_control_flow_in_words(node, said):
    assert said in Explainer(FUNCTIONAL).explain(node).role


def test_shapes_follow_from_inputs():
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype=float32, shape=[3, 4], name="x")
    g.Sum(x, g.constant(np.array([0, 1], np.int32)), name="total")
    (total,) = tfg.explain(g.graph, "total")
    assert str(total.node.outputs[0].shape) == "()"
    assert [str(output.shape) for output in tfg.explain(g.graph).outputs] == ["()"]


def test_what_variables_and_constants_hold():
    """Layers of (2, 8), 8, (8, 1) and 1; Adam keeps two of each, and two powers."""
    facts = tfg.explain(load(SAMPLES / "xor.pbtxt"))
    held = {holding.purpose: (holding.tensors, holding.elements, holding.bytes) for holding in facts.holdings}
    assert held["trainable"] == (4, 33, 132) and held["slots"] == (10, 68, 272) and held["other"] == (1, 1, 8)
    assert facts.peak_memory.fetches == ("train",) and facts.peak_memory.bytes > 0


def test_peak_memory_of_a_chain():
    """x (not counted twice), a, then b beside a, then c beside b: two values of 400 bytes at most."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype=float32, shape=[None, 100], name="x")
    a = g.Exp(x, name="a")
    b = g.Exp(a, name="b")
    g.Exp(b, name="c")
    result = peak_memory(g.graph, ["c:0"], infer(g.graph))
    assert (result.bytes, result.unknown) == (800, 0)
    h = tfg.GraphBuilder()
    x = h.Placeholder(dtype=float32, name="x")
    h.Exp(x, name="a")
    assert peak_memory(h.graph, ["a:0"], infer(h.graph)).unknown > 0


@pytest.mark.parametrize("name", ["linear_regression.pbtxt", "skipgram.pbtxt", "weight_decay.pbtxt", "countdown.pbtxt"])
def test_the_ends_of_a_graph_are_among_its_facts(name):
    graph = load(SAMPLES / name)
    facts, ends = tfg.explain(graph), graph_ends(graph)
    assert ends.outputs == tuple(tensor.name for tensor in facts.outputs)
    assert (ends.losses, ends.train_ops) == (facts.losses, facts.train_ops)
    assert any(ends)
