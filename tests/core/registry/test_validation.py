"""Every entry point compares every node with the catalog, and later errors name the node."""

from __future__ import annotations

import numpy as np
import pytest

from tfg import GraphBuilder, Session, count_flops, gradients, optimize
from tfg.core.graph.graph import Graph
from tfg.core.inference.inference import infer
from tfg.core.passes import pipeline
from tfg.core.registry import registry
from tfg.core.registry.catalog import CATALOG
from tfg.core.support.errors import InternalError, InvalidArgumentError, TfgError
from tfg.core.types import dtypes
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import FuncRef, Placeholder, Tensor
from tfg.formats import load, save, to_bytes, write_checkpoint

ONE_OF_EACH = {
    "int": 7,
    "float": 0.5,
    "bool": True,
    "string": b"text",
    "type": dtypes.float32,
    "shape": Shape([2, None]),
    "tensor": Tensor.from_numpy(np.float32(1)),
    "func": FuncRef("f"),
}


def good_graph():
    g = GraphBuilder()
    x = g.Placeholder(dtype=dtypes.float32, shape=[1, 4, 4, 2], name="x")
    g.Conv2D(x, np.ones((2, 2, 2, 3), np.float32), strides=[1, 1, 1, 1], padding="SAME", name="conv")
    g.Split(g.constant(np.int32(3), name="axis"), x, num_split=2, name="split")
    g.AddN([x, x], name="sum")
    return g.graph


DOORS = {
    "check": lambda g: g.check(),
    "Session": Session,
    "infer": infer,
    "optimize": lambda g: optimize(g, ["sum"]),
    "count_flops": lambda g: count_flops(g, ["sum:0"]),
    "gradients": lambda g: gradients(g, ["sum:0"], ["x:0"]),
}
DAMAGES = [
    ("conv", lambda g: g["conv"].set_attr("strides", 1), "'strides' must be list"),
    ("conv", lambda g: g["conv"].set_attr("strides", [1, 0.5, 1, 1]), "'strides' must be list"),
    ("conv", lambda g: g["conv"].set_attr("padding", b"OTHER"), "'padding' is OTHER, not one of"),
    ("conv", lambda g: g["conv"].set_attr("padding", None), "'padding' must be string, not empty"),
    ("conv", lambda g: g["conv"].set_attr("T", dtypes.string), "'T' is string, not one of"),
    ("conv", lambda g: g["conv"].set_attr("use_cudnn_on_gpu", 1), "'use_cudnn_on_gpu' must be bool"),
    ("conv", lambda g: g["conv"].remove_attr("strides"), "needs attribute 'strides'"),
    ("conv", lambda g: g.set_inputs(g["conv"], g["conv"].inputs[:1]), "it has 1 input, but its op takes 2"),
    ("split", lambda g: g["split"].set_attr("num_split", 0), "'num_split' is 0, which is less than 1"),
    ("sum", lambda g: g["sum"].set_attr("N", 0), "'N' is 0"),
    ("sum", lambda g: g["sum"].set_attr("N", 1 << 40), "it has 2 inputs, but its op takes 1099511627776"),
    ("sum", lambda g: g["sum"].set_attr("N", True), "'N' must be int"),
    ("sum", lambda g: g["sum"].set_attr("T", dtypes.int32), "input 0, 'x:0', has dtype float, not int32"),
    ("sum", lambda g: g["sum"].set_attr("_class", 4), "'_class' must be list"),
    ("sum", lambda g: g["sum"].set_attr("_class", [4]), "'_class' must be list"),
    ("sum", lambda g: g.set_input(g["sum"], 0, g["conv"].output(3)), "'conv:3', does not exist"),
    ("sum", lambda g: g["sum"].change_op("No op!"), "'No op!' is not a valid op type"),
    ("a b", lambda g: g.rename_node(g["split"], "a b"), "'a b' is not a valid node name"),
    ("x", lambda g: g["x"].set_attr("shape", Shape([2**31, 2**32])), "more elements than 64 bits can count"),
    ("x", lambda g: g["x"].set_attr("dtype", dtypes.float32.ref), "reference type"),
    ("axis", lambda g: g["axis"].set_attr("value", Tensor.from_numpy(np.uint32(1))), "is a tensor of uint32, .* is int32"),
]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("node", "damage", "message"), DAMAGES, ids=[message for _, _, message in DAMAGES])
def test_every_door_checks_every_node(door, node, damage, message):
    graph = good_graph()
    DOORS[door](graph)
    damage(graph)
    with pytest.raises(InvalidArgumentError, match=message) as raised:
        DOORS[door](graph)
    assert raised.value.node == node


@pytest.mark.parametrize("type_", [*ONE_OF_EACH, *(f"list({kind})" for kind in ONE_OF_EACH)])
def test_an_attribute_takes_values_of_its_kind_only(type_):
    spec = f"KindOf{type_.title().replace('(', '').replace(')', '')}() -> () {{value: {type_}}}"
    definition = CATALOG.register(spec)
    try:
        for kind, value in ONE_OF_EACH.items():
            for given, name in ((value, kind), ([value], f"list({kind})")):
                graph = Graph()
                graph.add_node("n", definition.name, attrs={"value": given})
                if name == type_:
                    graph.check()
                else:
                    with pytest.raises(InvalidArgumentError, match="'value' must be"):
                        graph.check()
        graph = Graph()
        graph.add_node("n", definition.name, attrs={"value": Placeholder("T")})
        graph.check({"T"})
        with pytest.raises(InvalidArgumentError, match="attribute 'T' needs a value from a caller"):
            graph.check()
    finally:
        CATALOG.unregister(definition.name)


def test_a_node_is_checked_before_those_that_read_it():
    graph = good_graph()
    graph["x"].set_attr("dtype", Shape([2]))
    graph.reorder(list(graph)[::-1])
    with pytest.raises(InvalidArgumentError, match="'dtype' must be type") as raised:
        graph.check()
    assert raised.value.node == "x"


def test_a_change_after_a_check_is_seen():
    graph = good_graph()
    graph.check()
    assert graph.copy().check() is None
    graph["sum"].attrs = {**graph["sum"].attrs, "N": 3}
    with pytest.raises(InvalidArgumentError, match="takes 3"):
        graph.check()


def test_damaged_files_are_refused_by_a_session():
    graph = good_graph()
    graph["sum"].set_attr("_class", 4)
    with pytest.raises(InvalidArgumentError, match="_class"):
        Session(load(to_bytes(graph)))


@pytest.fixture
def faulty_op():
    """Register an op with functions that fail with unexpected exceptions."""
    definition = CATALOG.register("Faulty(x: float) -> (y: float)")

    def fail(*_, **__):
        return [][0]

    with registry.op_library():
        registry.kernel("Faulty")(fail)
        registry.shape("Faulty")(fail)
        registry.gradient("Faulty")(fail)
        registry.flops("Faulty")(fail)
        yield
        for take_back in reversed(registry._library.undo):
            take_back()
    CATALOG.unregister(definition.name)


def faulty_graph():
    g = GraphBuilder()
    x = g.Placeholder(dtype=dtypes.float32, shape=[2], name="x")
    g.Faulty(x, name="bad")
    return g.graph


def test_a_fault_of_an_op_names_its_node_and_keeps_its_cause(faulty_op):
    for action in (
        lambda: Session(faulty_graph()).run("bad:0", {"x:0": np.ones(2, np.float32)}),
        lambda: gradients(faulty_graph(), ["bad:0"], ["x:0"]),
    ):
        with pytest.raises(InternalError, match=r"its (kernel|gradient function) failed: IndexError") as raised:
            action()
        assert (raised.value.node, raised.value.op) == ("bad", "Faulty")
        assert isinstance(raised.value.__cause__, IndexError)


def test_a_fault_of_a_shape_or_flops_function_is_the_reason_why_nothing_is_known(faulty_op, monkeypatch):
    graph = faulty_graph()
    assert "its shape function failed" in infer(graph).reasons["bad"]
    monkeypatch.setitem(registry._SHAPES, "Faulty", lambda x: x.shape)
    assert "its FLOPs function failed" in count_flops(graph, ["bad:0"]).nodes[-1].reason


def test_a_fault_of_a_pass_names_the_pass(monkeypatch):
    def fail(self, graph, ctx):
        raise KeyError("lost")

    monkeypatch.setattr(pipeline.Prune, "run", fail)
    with pytest.raises(InternalError, match="pass prune failed: KeyError") as raised:
        optimize(good_graph(), ["sum"])
    assert isinstance(raised.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x", [[1], [2, 3]]),
        ("x", "abc"),
        ("x", object()),
        ("x", {}),
        ("i", 2**40),
        ("i", float("nan")),
        ("s", 3),
        ("s", [1.5]),
    ],
)
def test_a_feed_that_is_no_array_of_its_dtype(name, value):
    g = GraphBuilder()
    for placeholder, dtype in (("x", "float"), ("i", "int32"), ("s", "string")):
        g.Identity(g.Placeholder(dtype=dtype, name=placeholder), name=f"y_{placeholder}")
    message = "is not a string" if name == "s" else f"is not an array of {g.graph[name].attrs['dtype']}: "
    with pytest.raises(InvalidArgumentError, match=message):
        Session(g.graph).run(f"y_{name}:0", {f"{name}:0": value})
    with pytest.raises(InvalidArgumentError, match=message):
        g.constant(value, g.graph[name].attrs["dtype"])


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.run(None), lambda s: s.run(3), lambda s: s.run([None]), lambda s: s.run("sum:0", ["x:0"]),
        lambda s: s.run("sum:0", {3: 1.0}), lambda s: load(3), lambda s: Session(3), lambda s: optimize(s.graph, [3]),
        lambda s: count_flops(s.graph, [3]), lambda s: Session(s.graph, timeout="1"), lambda s: Session(s.graph, seed="a"),
        lambda s: Session(s.graph, max_memory="1M"), lambda s: GraphBuilder().NoOp(name=3),
    ],
)  # fmt: skip
def test_an_argument_of_the_wrong_type_is_a_type_error(call):
    with pytest.raises(TypeError):
        call(Session(good_graph()))


@pytest.mark.parametrize("name", ["a\0b.pb", "\ud800.pb", "a/\ud800/b.pb"])
def test_a_name_that_no_file_can_have(name):
    with pytest.raises(InvalidArgumentError, match="not a file name"):
        load(name)
    with pytest.raises(InvalidArgumentError, match="not a file name"):
        save(good_graph(), name)


def test_a_limit_that_is_no_number():
    with pytest.raises(InvalidArgumentError, match="must be a number"):
        Session(good_graph(), timeout=float("nan"))


@pytest.mark.parametrize("name", [None, 3, "\ud800"])
def test_a_name_that_no_tensor_can_have(name, tmp_path):
    with pytest.raises(InvalidArgumentError, match="is not a tensor name"):
        write_checkpoint(tmp_path / "saved", {name: np.float32(1)})
    assert list(tmp_path.iterdir()) == []


def test_a_kernel_need_not_repeat_what_its_shape_function_refuses():
    """A kernel of NumPy's that trips over a rank answers with the shape function's refusal."""
    g = GraphBuilder()
    x = g.Placeholder(dtype=dtypes.float32, name="x")
    g.SoftmaxCrossEntropyWithLogits(x, x, name="loss")
    with pytest.raises(TfgError) as raised:
        Session(g.graph).run("loss:0", {"x:0": np.float32(1)})
    assert not isinstance(raised.value, InternalError)
    assert raised.value.node == "loss"


def test_what_holds_for_a_node_does_not_hold_for_one_that_is_nearly_alike():
    """Nodes of the same op with the same attributes are checked once, and only these nodes."""
    g = GraphBuilder()
    x = g.constant(np.ones(2, np.float32))
    nodes = [g.AddN([x, x], name=f"sum_{i}").node for i in range(3)]
    g.graph.check()
    nodes[1].set_attr("N", 3)
    with pytest.raises(InvalidArgumentError, match=r"sum_1.*it has 2 inputs, but its op takes 3"):
        g.graph.check()
    nodes[1].set_attr("N", 2)
    nodes[2].set_attr("T", dtypes.int32)
    with pytest.raises(InvalidArgumentError, match=r"sum_2.*has dtype float, not int32"):
        g.graph.check()
