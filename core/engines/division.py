"""Division of a group that an engine cannot compile whole: the nodes in the way, and the groups of the rest."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..graph.graph import Node
from ..planning.plan import Plan, Step
from ..support import dataclasses
from ..support.errors import TfgError
from ..support.user_signals import pass_on
from .plan_division import Partition, partition
from .protocol import ENDING, Body, Cluster, Declined, Engine, Engined, EngineValue, UnsupportedNodes, results_of
from .reasons import Reason, of_engine, uncompiled
from .step_bodies import body_of, constants_by_slot, is_constant_step, is_held_together

_MOST_ATTEMPTS: Final = 32
"""The largest number of failed compilations of a group and of its parts before NumPy keeps the steps."""


def said(error: Exception) -> str:
    """Return the gist of an error on a single line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines)[:300] or type(error).__name__


@dataclasses.dataclass(frozen=True, slots=True)
class Blame:
    """The nodes of a group that do not compile, with reasons, and the number of attempts spent on the search."""

    refused: Mapping[Node, Reason]
    attempts: int


def blame(error: Exception, cluster: Cluster, values: Sequence[EngineValue], engine: Engine) -> Blame:
    """Return the nodes because of which `engine` failed to compile a group, none where the search takes too many attempts.

    The error names the nodes, or else a search finds them.
    """
    steps = [step for step in cluster.body.steps if not is_constant_step(step)]
    nodes = {node.name: step.node for step in steps for node in (step.node, *getattr(step, "leaves", ()))}
    reasons: Mapping[str, str] = {}
    if isinstance(error, UnsupportedNodes):
        reasons = error.reasons
    elif isinstance(error, TfgError) and error.node is not None:
        reasons = {error.node: uncompiled(error.message)}
    refused = {nodes[name]: of_engine(reason) for name, reason in reasons.items() if name in nodes}
    return Blame(refused, 1) if refused else _PrefixSearch(cluster, values, engine).blame(error)


def divided_again(cluster: Cluster, engine: Engine, blame: Blame) -> tuple[Body | None, Partition]:
    """Return the steps of a group divided again without the blamed nodes, and the partition; no body where no group is
    left.
    """
    body, parts = cluster.body, partition(_plan_of(cluster.body), cluster.graph, engine, blame.refused)
    attempts = body.attempts + blame.attempts
    if attempts >= _MOST_ATTEMPTS or not any(isinstance(step, Engined) for step in parts.plan.steps):
        return None, parts
    steps = tuple(_counting(step, attempts) for step in parts.plan.steps)
    return Body(steps, parts.plan.slots, body.inputs, body.outputs, fed=body.fed), parts


def _counting(step: Step, attempts: int) -> Step:
    if not isinstance(step, Engined):
        return step
    return dataclasses.replace(step, body=dataclasses.replace(step.body, attempts=attempts))


def _plan_of(body: Body) -> Plan:
    """Return the steps of a body as a plan of their own. Variables are not feeds, as the groups inside write to them."""
    feeds = tuple(slot for slot in range(body.inputs) if slot not in body.variables)
    return Plan(tuple(_with_constants_late(body.steps)), body.slots, feeds, body.outputs, (), body.fed)


def _with_constants_late(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield the steps with each constant just before the first reader, behind the steps that the constant waits for."""
    constants = {step.outputs[0]: step for step in steps if is_constant_step(step)}
    for step in steps:
        if not is_constant_step(step):
            yield from (constants.pop(slot) for slot in dict.fromkeys(step.inputs) if slot in constants)
            yield step


class _PrefixSearch:
    """A binary search for the shortest prefix of the group that does not compile."""

    def __init__(self, cluster: Cluster, values: Sequence[EngineValue], engine: Engine) -> None:
        self.cluster = cluster
        self.engine = engine
        self.plan = _plan_of(cluster.body)
        self.constants = constants_by_slot(self.plan)
        self.values = dict(zip(cluster.inputs, values))
        self.steps = [step for step in self.plan.steps if not is_constant_step(step)]

    def blame(self, error: Exception) -> Blame:
        """Return the step's node, with the reason in `error`, or in the error of the shortest prefix that fails."""
        least, most, attempts = 0, len(self.steps), 0
        if most.bit_length() + self.cluster.body.attempts > _MOST_ATTEMPTS:
            return Blame({}, 0)
        while most - least > 1:
            middle = (least + most) // 2
            failure = self.failure(middle)
            attempts += 1
            least, most, error = (middle, most, error) if failure is None else (least, middle, failure)
        return Blame({self.steps[most - 1].node: uncompiled(said(error))}, attempts)

    def failure(self, count: int) -> Exception | None:
        """Return the error of compiling the first `count` steps; None where they compile."""
        cluster, values = self.part(count)
        try:
            with contextlib.suppress(Declined):
                self.engine.compile(cluster, values)
        except ENDING:
            raise
        except Exception as error:
            pass_on(error)
            return error
        return None

    def part(self, count: int) -> tuple[Cluster, list[Any]]:
        """Return the first `count` steps, with all slots that later steps read as results, and the values of the inputs."""
        members = self.steps[:count]
        taken = {*self.cluster.body.outputs, *(slot for step in self.steps[count:] for slot in step.inputs)}
        inputs, body = body_of(members, self.constants, list(_tensors(members, taken)), frozenset(self.plan.feeds))
        fixed = {place: self.cluster.fixed[slot] for place, slot in enumerate(inputs) if slot in self.cluster.fixed}
        values = [self.values[slot] for place, slot in enumerate(inputs) if place not in fixed]
        return Cluster(self.cluster.graph, body, fixed), values


def _tensors(steps: Sequence[Step], taken: set[int]) -> Iterator[int]:
    """Yield the slots in `taken` that the steps fill, without lists and other values that stay in a group."""
    for step in steps:
        for slot, value in zip(step.outputs, results_of(step)):
            if slot in taken and not is_held_together(value):
                yield slot
