"""Reasons why NumPy runs nodes: each has a next step, in words that hold."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import click
import pytest

from tests.core.engines.fake_engine import FakeEngine
from tests.core.engines.test_plan_division import chain
from tests.functions import define
from tfg.cli.main import root
from tfg.core.building.builder import GraphBuilder
from tfg.core.engines import reasons
from tfg.core.engines.automatic import preview
from tfg.core.engines.lowerable import UnsupportedOps
from tfg.core.engines.protocol import UnsupportedNodes
from tfg.core.engines.reasons import Reason
from tfg.core.runtime.session.session import Session
from tfg.core.types import dtypes

ENGINES = Path(reasons.__file__).parent


def node_of(op, **attrs):
    b = GraphBuilder()
    return b.graph.add_node("n", op, (), (), attrs)


def taking_control_flow():
    engine = FakeEngine()
    engine.takes_control_flow = True
    return engine


SAMPLES = {
    "str": "text of four words", "object": "text", "int": 16, "float": 1.5, "DType | None": dtypes.complex64,
    "Node": node_of("Placeholder", dtype=dtypes.float32),
}  # fmt: skip
"""An argument for each annotation of a function that makes reasons."""


def every_reason():
    """Return the constants, the results of the functions for samples, and the lines of the tables of unsupported ops."""
    by_name = {name: value for name, value in vars(reasons).items() if isinstance(value, Reason)}
    for name, made in inspect.getmembers(reasons, inspect.isfunction):
        if made.__module__ == reasons.__name__:
            by_name[name] = made(*(SAMPLES[p.annotation] for p in inspect.signature(made).parameters.values()))
    for engine in ("openvino", "xla"):
        by_name |= {f"{engine} {line.op} {sorted(line.values)}": line.reason for line in UnsupportedOps.of(engine).lines}
    return by_name


def test_every_reason_has_a_step():
    for name, reason in every_reason().items():
        assert isinstance(reason, Reason), name
        assert len(reason.step.split()) > 2, name
        assert reason.within("in the loop").step == reason.step, name


@pytest.mark.slow
def test_reasons_are_made_in_one_module():
    """So that the test above meets all of them; the type checker refuses a text in the place of a Reason."""
    for path in ENGINES.rglob("*.py"):
        calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        names = {call.id if isinstance(call, ast.Name) else getattr(call, "attr", "") for call in calls}
        assert "Reason" not in names or path.name == "reasons.py", path.name


def test_steps_name_commands_and_options_that_there_are():
    context = click.Context(root)
    commands = {name: root.get_command(context, name) for name in root.list_commands(context)}
    options = {option for command in commands.values() for p in command.params for option in (*p.opts, *p.secondary_opts)}
    for name, reason in every_reason().items():
        for command in re.findall(r"`tfg ([a-z]+)", reason.step):
            assert command in commands, name
        assert options.issuperset(re.findall(r"--[a-z-]+", reason.step)), name


def test_a_conditional_says_what_to_do():
    """An earlier message said only that Switch nodes are told apart by name, without a next step."""
    b = GraphBuilder()
    x, takes = (b.Placeholder(dtype=dtype, shape=[], name=dtype) for dtype in ("float32", "bool"))
    sides = b.Switch(x, takes)
    b.Merge([b.Neg(sides[0]), b.Exp(sides[1])], name="y")
    refused = {refusal.op: refusal for refusal in preview(b.graph, [b.graph.output("y:0")], taking_control_flow()).refused}
    assert "is V1 control flow" in refused["Switch"].reason
    assert {refused[op].next_step for op in ("Switch", "Neg", "Exp")} == {reasons.ON_BRANCH.step}


def test_the_report_shows_the_step_of_an_engine_that_gives_none():
    session = Session(chain(), engine=FakeEngine(refused=["second"]))
    session.run("y:0", {"x:0": [1, 2]})
    (refusal,) = session.engine_report().refused
    assert (refusal.reason, refusal.next_step) == ("it is told to", "leave the node to NumPy, which computes the right result")


def test_a_function_with_state_says_what_to_do():
    b = GraphBuilder()
    define(b, "drawn", ["int32"], lambda f, a: [f.RandomUniform(a, dtype="float32")], stateful=True)
    b.StatefulPartitionedCall([b.constant([2])], Tin=["int32"], Tout=["float32"], f="drawn", name="y")
    refused = preview(b.graph, [b.graph.output("y:0")], taking_control_flow()).refused
    steps = {refusal.op: refusal.next_step for refusal in refused}
    assert "tfg.inline_functions" in steps["StatefulPartitionedCall"]
    assert "NumPy draws random numbers" in steps["RandomUniform"]


def test_a_reason_that_quotes_the_reason_of_a_node_repeats_nothing():
    nodes = UnsupportedNodes({"n": reasons.uncompiled("no such shape")})
    assert reasons.uncompiled(str(nodes)) == "it does not compile: node 'n': no such shape"
