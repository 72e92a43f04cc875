"""A suggestion of the engine that would take most of a run, without the packages of engines."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

from ..graph.graph import Graph, Node, Output
from ..planning.plan import Loop
from ..planning.planner import compile_plan
from ..planning.reachability import needed_nodes
from ..support.errors import NotFoundError
from ..support.hints import extra_hint
from .automatic import AutoRuntime, preferred
from .engine_registry import install_hint, installed_engines
from .lowerable import refusals
from .protocol import inner_steps
from .step_bodies import is_constant_step
from .unsupported import UnsupportedOps

_MOST: Final = 0.5
"""The part of the nodes that an engine must take to be worth a word."""


@dataclasses.dataclass(frozen=True, slots=True)
class Suggestion:
    """An engine, the part of the nodes that the engine would take, and how to install a missing package."""

    engine: str
    share: float
    install: str | None


def first_engine(graph: Graph, targets: Sequence[Output | Node]) -> str:
    """Return the engine that `auto` tries first for a run of `targets`; NotFoundError where none is installed."""
    auto = AutoRuntime()
    names = auto.names(graph, list(needed_nodes(targets)))
    if not names:
        raise NotFoundError("no engine is installed", hint=install_hint())
    return names[0]


def suggested_engine(graph: Graph, targets: Sequence[Output | Node]) -> Suggestion | None:
    """Return the engine that would take most of a run of `targets`, None where no engine would.

    The answer rests on the tables of unsupported ops and on the lowerings; only OpenVINO itself knows the ops it translates
    beyond them.
    """
    plan = compile_plan(graph, targets)
    if plan.needs_dataflow:
        return None
    steps = [step for step in inner_steps(plan.steps) if not (isinstance(step, Loop) or is_constant_step(step))]
    nodes = [step.node for step in steps]
    has_loops = any(isinstance(step, Loop) for step in plan.steps)
    for name in preferred(graph, nodes):
        if name == "openvino" and has_loops:
            continue
        share = 1 - len(refusals(nodes, UnsupportedOps.of(name), graph)) / len(nodes) if nodes else 0.0
        if share >= _MOST:
            return Suggestion(name, share, None if name in installed_engines() else extra_hint(name))
    return None
