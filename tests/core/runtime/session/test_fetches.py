"""The forms of fetches, and the forms of results."""

import collections

import numpy as np
import pytest

import tfg
from tfg.core.graph.metagraph import MetaGraph, Signature, SignatureTensor
from tfg.core.support.errors import InvalidArgumentError, NotFoundError, TfgError

Pair = collections.namedtuple("Pair", "first second")


@pytest.fixture
def made():
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float", name="x")
    return g, x, g.Neg(x, name="y"), tfg.Session(g.graph)


def test_outputs_and_nodes(made):
    g, x, y, session = made
    assert session.run(y, {x: 2.0}) == -2
    assert session.run(g.graph["y"], {"x:0": 2.0}) is None
    assert session.run([y, "x:0", g.graph["y"]], {x: 2.0}) == [-2, 2, None]


def test_what_is_fetched_gives_the_form(made):
    _, x, y, session = made
    result = session.run({"a": [y, (x, {"b": y})], "c": Pair(y, [])}, {x: 1.0})
    assert result == {"a": [-1, (1, {"b": -1})], "c": Pair(-1, [])}
    assert isinstance(result["c"], Pair) and isinstance(result["a"][1], tuple)
    assert isinstance(session.run((y, x), {x: 1.0}), tuple)
    assert [session.run(nothing, {x: 1.0}) for nothing in ([], (), {})] == [[], (), {}]


@pytest.mark.parametrize("wrong", [None, 3, b"y:0", [None], {"a": object()}, np.zeros(2)])
def test_nothing_else_is_taken(made, wrong):
    with pytest.raises(TfgError) as raised:
        made[3].run(wrong, {"x:0": 1.0})
    assert isinstance(raised.value, TypeError)


def test_a_node_of_another_graph(made):
    other = tfg.GraphBuilder()
    strange = other.Placeholder(dtype="float", name="x")
    with pytest.raises(InvalidArgumentError, match="another graph"):
        made[3].run(strange)
    with pytest.raises(InvalidArgumentError, match="another graph"):
        made[3].run("y:0", {strange: 1.0})


def test_callables_give_what_runs_give(made):
    g, x, y, session = made
    call = session.make_callable({"y": y, "both": ["x:0", g.graph["y"]]}, [x])
    for value in (1.0, 2.0):
        assert call(value) == session.run({"y": y, "both": ["x:0", g.graph["y"]]}, {x: value})
    assert session.make_callable("y:0", ("x:0",))(3.0) == -3
    assert session.make_callable(g.constant(np.float32(4)))() == 4


def test_callables_refuse_what_runs_refuse(made):
    _, x, _, session = made
    call = session.make_callable("y:0", [x])
    for values in ((), (1.0, 2.0)):
        with pytest.raises(TfgError, match=rf"takes 1 value \(x:0\), not {len(values)}"):
            call(*values)
    for feeds, message in (
        (["x:0", x], "fed twice"),
        ("x:0", "must be"),
        (["none:0"], "none"),
        ([3], "3 is not a tensor of the graph"),
    ):
        with pytest.raises(TfgError, match=message):
            session.make_callable("y:0", feeds)
    with pytest.raises(TfgError, match="nothing"):
        session.make_callable("nothing:0", [x])


@pytest.mark.parametrize("fed", [["a", "b"], [b"a", b"b"], ["a", b"b"], np.array([b"a", "b"], object), np.array([b"a", b"b"])])
def test_strings_are_fed_as_bytes_of_their_own(fed):
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="string", name="x")
    result = tfg.Session(g.graph).run(x, {x: fed})
    assert [(type(item), item) for item in result.tolist()] == [(bytes, b"a"), (bytes, b"b")]
    assert not isinstance(fed, np.ndarray) or not np.shares_memory(result, fed)


@pytest.fixture
def signed():
    """The signatures `serving_default` (y = -a) and `other` (z = b b); a node has the name of the output `shown`."""
    g = tfg.GraphBuilder()
    a, b = g.Placeholder(dtype="float", name="a_in"), g.Placeholder(dtype="float", name="b_in")
    y, z = g.Neg(a, name="Neg"), g.Square(b, name="Square")
    g.Exp(b, name="shown")
    first = Signature("serving_default", tensors(value=a), tensors(y=y, shown=y))
    g.graph.meta = MetaGraph(
        signatures={"other": Signature("other", tensors(value=b), tensors(z=z)), "serving_default": first}
    )
    return tfg.Session(g.graph)


def tensors(**outputs):
    return {name: SignatureTensor(output.name) for name, output in outputs.items()}


def test_names_of_a_signature_stand_for_its_tensors(signed):
    """`value` is an input of both signatures: the output decides, or else the usual signature."""
    assert signed.run("y", {"value": 3.0}) == -3
    assert signed.run({"z": "z"}, {"value": 3.0}) == {"z": 9}
    assert signed.run(["Neg:0", "y"], {"value": 3.0}) == [-3, -3]
    assert signed.make_callable("z", ["value"])(4.0) == 16
    assert signed.tier("y", ["value"])


def test_the_name_of_a_node_stands_for_the_node(signed):
    assert signed.run("shown:0", {"b_in:0": 0.0}) == 1
    assert signed.run("shown", {"b_in": 0.0}) is None


@pytest.mark.parametrize(
    ("fetch", "feed", "problem"),
    [
        ("w", "value", "no node 'w', and no signature has this output"),
        ("y", "vlaue", "no node 'vlaue', and no signature has this input"),
        (["y", "z"], "value", "no signature has all these names: y, z, value"),
    ],
)
def test_an_unknown_name_is_refused_with_the_names_of_the_signatures(signed, fetch, feed, problem):
    with pytest.raises(NotFoundError, match=problem) as caught:
        signed.run(fetch, {feed: 1.0})
    assert "inputs of signature 'serving_default': value; outputs: y, shown" in caught.value.hint


def test_a_name_of_two_signatures_is_refused_where_neither_is_usual(signed):
    outputs = {"one": "Square:0", "two": "Neg:0"}
    both = {
        name: Signature(name, {"value": SignatureTensor("b_in:0")}, {"z": SignatureTensor(z)}) for name, z in outputs.items()
    }
    signed.graph.meta = MetaGraph(signatures=both)
    with pytest.raises(InvalidArgumentError, match="z, value: several signatures have the names: one, two") as caught:
        signed.run("z", {"value": 1.0})
    assert "signature='" in caught.value.hint
