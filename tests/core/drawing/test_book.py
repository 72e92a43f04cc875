"""The facts of a book about a graph, and the drawings of the pages."""

import dataclasses

import pytest

from tests.cli.running import SAMPLES
from tests.functions import define
from tests.pages import calling_graph
from tfg.core.building.builder import GraphBuilder
from tfg.core.drawing.picture_nodes import folded
from tfg.core.drawing.view_model import Branch, Figures, make_book
from tfg.core.explaining.model_view import model_view
from tfg.core.explaining.node_facts import Explainer
from tfg.core.inference.inference import infer
from tfg.formats import load
from tfg.formats.api.viewing import make_page

SMALL = load(b"""
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: 3 } } } } }
node { name: "two" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 2 } } } }
node { name: "a/mul" op: "Mul" input: "x" input: "two" attr { key: "T" value { type: DT_FLOAT } }
       attr { key: "_class" value { list { s: "loc:@x" } } } device: "/cpu:0" }
node { name: "a/b/neg" op: "Neg" input: "a/mul" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "a/b/sum" op: "Sum" input: "a/b/neg" input: "axis" attr { key: "keep_dims" value { b: true } }
       attr { key: "T" value { type: DT_FLOAT } } attr { key: "Tidx" value { type: DT_INT32 } } }
node { name: "axis" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
       attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 } } } }
node { name: "end" op: "NoOp" input: "^a/b/sum" }
""")


def signature_of(graph):
    return dataclasses.replace(graph.meta.signatures["serving_default"], name="other")


def book_of(graph, **figures):
    return make_book("g.pb", graph, Figures(**figures))


def members(branch):
    for part in branch.parts:
        if isinstance(part, Branch):
            yield from members(part)
        else:
            yield part


def test_what_an_entry_says():
    inference = infer(SMALL)
    book = book_of(SMALL, inferences={"": inference}, flops={SMALL["a/mul"]: "3"}, shares={SMALL["a/mul"]: 0.25})
    entries = {entry.name: entry for entry in book.entries}
    numbers = {entry.name: i for i, entry in enumerate(book.entries)}
    mul = entries["a/mul"]
    assert (mul.common.op, mul.common.kind, mul.device, mul.flops, mul.share) == ("Mul", "op", "/cpu:0", "3", 0.25)
    assert mul.inputs == ((numbers["x"], 0), (numbers["two"], 0)) and mul.constants == ("with 2",)
    assert mul.common.outputs == ("float (3)",), "inferred, not declared"
    assert mul.chain == ("x",) and book.groups[mul.group].members == (numbers["x"], numbers["a/mul"])
    assert entries["a/b/sum"].common.attributes == (("keep_dims", "true"),)
    assert entries["end"].controls == (numbers["a/b/sum"],) and entries["a/b/sum"].effect == "has run (Sum)"
    explained = Explainer(SMALL)
    for node in SMALL:
        facts = explained.explain(node.name)
        assert (entries[node.name].role, entries[node.name].stage) == (facts.role, facts.stage)


@pytest.mark.parametrize("sample", ["xor.pbtxt", "collatz.pbtxt", "scaler_saved_model", "all_constant.pbtxt"])
def test_each_node_is_drawn_once_or_held(sample):
    book = book_of(load(SAMPLES / sample))
    for page in book.pages:
        assert sorted(members(page.whole or page.brief.root)) == sorted(page.nodes)
        drawn = sorted(members(page.brief.root))
        assert len(set(drawn)) == len(drawn) and set(drawn) <= set(page.nodes)
        holders = dict(page.holders)
        assert set(holders).isdisjoint(drawn) and set(holders.values()) <= set(drawn)
        assert {node for link in page.brief.links for node in link[:2]} <= set(drawn)


def test_nodes_without_a_box():
    assert {node.name for node in folded(SMALL)} == {"two", "axis"}


def test_pages_of_functions_and_signatures():
    graph = load(SAMPLES / "scaler_saved_model")
    book = book_of(graph)
    kinds = {page.kind for page in book.pages}
    assert kinds == {"graph", "signature", "function"}
    function = next(page for page in book.pages if page.kind == "function" and page.callers)
    body = graph.functions[function.name].body
    assert [book.entries[node].name for node in function.nodes] == [node.name for node in body]
    assert {name for name, _, _ in function.inputs} == {arg.name for arg in graph.functions[function.name].args}
    signature = next(page for page in book.pages if page.name == "serving_default")
    assert {name: tensor for name, tensor, _ in signature.inputs} == graph.meta.signatures["serving_default"].fed
    assert set(signature.nodes) < set(book.pages[0].nodes)


def test_the_first_page_is_the_usual_signature():
    graph = load(SAMPLES / "scaler_saved_model")
    book = book_of(graph)
    assert book.pages[book.start].name == "serving_default"
    graph.meta = dataclasses.replace(
        graph.meta, chosen="other", signatures={"other": signature_of(graph), **graph.meta.signatures}
    )
    book = book_of(graph)
    assert book.pages[book.start].name == "other"
    assert book_of(SMALL).start == 0


def test_how_calls_pass_values(tmp_path):
    entries = {entry.name: entry.common for entry in book_of(load(calling_graph(tmp_path))).entries}
    assert (entries["chosen"].calls, entries["chosen"].passing) == (("double", "negate"), (1, 0))
    assert (entries["smoothed"].calls, entries["smoothed"].passing) == (("smooth",), (0, 0))
    assert (entries["grown"].calls, entries["grown"].passing) == (("below", "double"), (0, 1)), "results are the body's"
    assert (entries["x"].calls, entries["x"].passing) == ((), ())


def test_a_signature_of_nodes_that_are_not_there():
    graph = load(SAMPLES / "scaler_saved_model")
    signature = graph.meta.signatures["serving_default"]
    outputs = {key: dataclasses.replace(value, tensor="nowhere:0") for key, value in signature.outputs.items()}
    graph.meta.signatures["serving_default"] = dataclasses.replace(signature, outputs=outputs)
    page = next(page for page in book_of(graph).pages if page.name == "serving_default")
    assert page.nodes == () and {holds for _, _, holds in page.outputs} == {"not in the graph"}


def test_bodies_have_the_shapes_of_all_their_calls():
    g = GraphBuilder()
    define(g, "inner", ["float32"], lambda b, a: [b.Neg(a, name="neg")])
    define(g, "outer", ["float32"], lambda b, a: [b.PartitionedCall([a], f="inner", Tout=["float32"], name="call")[0]])
    define(g, "uncalled", ["float32"], lambda b, a: [b.PartitionedCall([a], f="inner", Tout=["float32"])[0]])
    define(g, "twice", ["float32"], lambda b, a: [b.Exp(a, name="exp")])
    x = g.Placeholder(dtype="float32", shape=(3, 4), name="x")
    g.PartitionedCall([x], f="outer", Tout=["float32"], name="first")
    g.PartitionedCall([x], f="twice", Tout=["float32"], name="narrow")
    g.PartitionedCall([g.Placeholder(dtype="float32", shape=(5, 4), name="y")], f="twice", Tout=["float32"], name="wide")
    outputs = {entry.name: entry.common.outputs for entry in make_page(model_view(g.graph, raw=True), "shapes", "").entries}
    assert outputs["neg"] == outputs["call"] == ("float (3,4)",)
    assert outputs["exp"] == ("float (?,4)",), "the two calls agree on the columns alone"
