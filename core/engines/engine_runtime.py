"""An engine at work in a session: groups compiled as shapes turn up, NumPy wherever that fails, and what became of it all."""

from __future__ import annotations

import collections
import dataclasses
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ..graph.graph import Graph, Node
from ..planning.plan import Plan
from ..support.errors import InvalidArgumentError
from ..support.log import tell
from ..support.user_signals import pass_on
from ..types.arrays import Held
from ..types.shapes import Shape
from . import reasons
from .division import Blame, blame, divided_again, said
from .engine_report import Difference, EngineReport, GroupReport, Refusal
from .plan_division import partition
from .protocol import ENDING, Body, Cluster, Compiled, Declined, Engine, Given, Unable, UnfitShapes
from .reasons import Reason
from .shape_checks import result_shapes
from .static_inputs import fixed_inputs, needing
from .verify_engine import difference

_MAX_COMPILED: Final = 16
"""How many times a group is compiled, for other shapes each time; what comes after these runs in NumPy."""
_NAMED: Final = 3
_Call: TypeAlias = Callable[..., Sequence[Any]]
"""What takes the inputs of a group, and gives the tuple of its outputs."""
_Form: TypeAlias = tuple[np.dtype[Any], tuple[int, ...] | None]
"""The dtype of a result, and its shape where that is known."""


class Engagement:
    """What a session, and all that share its state, know of an engine. `verify`: run every group in NumPy too, and compare."""

    def __init__(self, engine: Engine, verify: bool = False) -> None:
        self.engine = engine
        self.verify = verify
        self.lock = threading.RLock()
        self.groups: list[Group] = []
        self.refusals: dict[Node, Reason] = {}
        self.too_small = 0
        self.seconds = 0.0
        self.differences: dict[str, Difference] = {}

    def divided(self, plan: Plan, graph: Graph) -> Plan:
        """The plan with what the engine takes in groups."""
        found = partition(plan, graph, self.engine)
        with self.lock:
            self.refusals.update(found.refusals)
            self.too_small += found.too_small
        return found.plan

    def group(self, graph: Graph, body: Body, in_numpy: _Call, assemble: Callable[[Body], _Call] | None = None) -> Group:
        """The group of steps in a body as a function; `in_numpy` runs it, and `assemble` makes the same of another body.

        Without `assemble` the group is not divided further.
        """
        made = Group(self, Cluster(graph, body), in_numpy, assemble)
        with self.lock:
            self.groups.append(made)
        return made

    def divided_again(self, cluster: Cluster, found: Blame) -> Body | None:
        """The steps of a group with what the engine takes of them in groups, None where that is nothing."""
        body, parts = divided_again(cluster, self.engine, found)
        if body is not None:
            with self.lock:
                self.refusals.update(parts.refusals)
                self.too_small += parts.too_small
        return body

    def timed(self, run: Callable[..., Any], *args: Any) -> Any:
        """The result of a run, whose time is counted."""
        start = time.perf_counter()
        try:
            return run(*args)
        finally:
            with self.lock:
                self.seconds += time.perf_counter() - start

    def report(self) -> EngineReport:
        """What has become of everything so far."""
        with self.lock:
            groups = tuple(group.report(self.seconds) for group in self.groups if group.runs or not group.instead)
            found: dict[tuple[str, Reason], list[str]] = collections.defaultdict(list)
            for node, reason in self.refusals.items():
                found[node.op, reason].append(node.name)
            refused = [
                Refusal(op, reason, reason.step, len(names), tuple(names[:_NAMED])) for (op, reason), names in found.items()
            ]
            refused.sort(key=lambda item: (-item.count, item.op, item.reason))
            differences = tuple(self.differences.values())
            return EngineReport(self.engine.name, self.engine.note, groups, tuple(refused), self.too_small, differences)

    def compare(self, made: Sequence[tuple[str, str]], found: Sequence[Given], expected: Sequence[Any]) -> None:
        """Note the first of a group's results that is not what NumPy computed; `made` has their names and ops."""
        for (name, op), a, b in zip(made, found, expected, strict=True):
            by = difference(np.asarray(a), np.asarray(b))
            if by is not None:
                with self.lock:
                    self.differences.setdefault(name, Difference(name, op, by))
                return


class Group:
    """A group of steps as one function of the values that come in."""

    def __init__(
        self, engagement: Engagement, cluster: Cluster, in_numpy: _Call, assemble: Callable[[Body], _Call] | None
    ) -> None:
        self.engagement = engagement
        self.engine = engagement.engine
        self.cluster = cluster
        self.in_numpy = in_numpy
        self.assemble = assemble
        tensors = [(output.name, output.node.op) for output in cluster.results]
        self.made = [*tensors, *((node.name, node.op) for node in cluster.updates)]
        self.makers = [*(output.node.name for output in cluster.results), *(node.name for node in cluster.updates)]
        self.dtypes = tuple(result.node.output_dtypes[result.index].numpy for result in cluster.results)
        self.written = cluster.body.written
        self.fixed = fixed_inputs(cluster.body, self.engine)
        self.variables = frozenset(cluster.body.variables)
        self.given = [slot for slot in range(cluster.body.inputs) if slot not in self.fixed]
        self.blame = Blame({}, 0)
        """The nodes that do not compile, whatever the shapes."""
        self.parts: dict[frozenset[Node], _Call | None] = {}
        """What runs the group without nodes that do not compile, which NumPy computes; None where no engine is left in it."""
        self.instead: dict[Any, _Call] = {}
        self.compiled: dict[Any, Compiled | None] = {}
        self.forms: dict[Any, list[_Form]] = {}
        self.reason: Reason | None = None
        self.lock = threading.Lock()
        self.compile_seconds = self.seconds = 0.0
        self.runs = 0

    def __call__(self, *values: Any) -> Any:
        """The outputs of the group: one alone where there is one, else a tuple."""
        found = self.attempt(values)
        if isinstance(found, tuple) and self.engagement.verify:
            self.compare(found, self.in_numpy(*values))
        results = found if isinstance(found, tuple) else found(*values)
        return results[0] if len(results) == 1 else results

    def attempt(self, values: Sequence[Any]) -> tuple[Given, ...] | _Call:
        """What the engine makes of the inputs, in the place of variables their values; else what has to run in its place."""
        if not self.variables.isdisjoint(self.fixed):
            return self._without_variables()
        arrays: list[Any] = [value if type(value) is Held else np.asarray(value) for value in values]
        key = (*[a.shape for a in arrays], *[arrays[i].tobytes() for i in self.fixed])
        compiled = self.compiled[key] if key in self.compiled else self._compile(key, arrays)
        found = None if compiled is None else self._in_engine(key, compiled, arrays)
        return self.instead.get(key, self.in_numpy) if found is None else found

    def on(self, body: Body) -> Group:
        """The group for the same steps in another body."""
        return self.engagement.group(self.cluster.graph, body, self.in_numpy)  # whose order must stay, so it is not divided

    def decline(self, reason: Reason) -> None:
        """Note why a run was NumPy's, where that is not known of another."""
        self.reason = self.reason or reason

    def compare(self, found: Sequence[Given], expected: Sequence[Any]) -> None:
        """Note the first of the results that is not what NumPy computed."""
        self.engagement.compare(self.made, found, expected)

    def _compile(self, key: Any, arrays: Sequence[Any]) -> Compiled | None:
        with self.lock:
            if key in self.compiled:
                return self.compiled[key]
            if len(self.compiled) >= _MAX_COMPILED:
                self.decline(reasons.too_many_shapes(_MAX_COMPILED))
                return None
            start = time.perf_counter()
            compiled = self._made(key, arrays)
            seconds = time.perf_counter() - start
            self.compile_seconds += seconds
            self._tell_compiled(seconds)
            self.compiled[key] = compiled
            return compiled

    def _made(self, key: Any, arrays: Sequence[Any]) -> Compiled | None:
        """The group compiled for such inputs; None where it is divided, or NumPy runs it."""
        cluster = dataclasses.replace(self.cluster, fixed={slot: arrays[slot] for slot in self.fixed})
        values = [arrays[slot] for slot in self.given]
        try:
            self.forms[key] = self._forms(cluster, values, arrays)
            if not self.blame.refused:
                return self.engine.compile(cluster, values)
            self._divide(key, self.blame, reasons.NOT_ONE_NODE)
        except ENDING:
            raise
        except UnfitShapes as error:  # not for other inputs
            found = blame(error, cluster, values, self.engine)
            self._divide(key, Blame({**self.blame.refused, **found.refused}, found.attempts), reasons.uncompiled(said(error)))
        except Exception as error:
            pass_on(error)
            self._refuse(key, error, reasons.uncompiled(said(error)), cluster, values)
        return None

    def _forms(self, cluster: Cluster, values: Sequence[Any], arrays: Sequence[Any]) -> list[_Form]:
        """The dtypes and shapes that results must be of for such inputs."""
        shapes = result_shapes(cluster, values, self.engine.needs_elements)
        known = (shape.known() if shape.is_known else None for shape in shapes)
        return list(zip((*self.dtypes, *(arrays[slot].dtype for slot in self.written)), known, strict=True))

    def _refuse(self, key: Any, error: Exception, why: Reason, cluster: Cluster, values: Sequence[Any]) -> None:
        """Divide the group, for all inputs, without the nodes that fail; not where a value is at fault: NumPy says so."""
        if self.assemble is not None and not isinstance(error, (Declined, InvalidArgumentError)):
            found = blame(error, cluster, values, self.engine)
            self.blame = Blame({**self.blame.refused, **found.refused}, self.blame.attempts + found.attempts)
        self._divide(key, self.blame, why)

    def _divide(self, key: Any, found: Blame, why: Reason) -> None:
        """For such inputs, run the group without the nodes blamed, which go to NumPy; all of it where nothing else is left."""
        nodes = frozenset(found.refused)
        if nodes and self.assemble is not None and nodes not in self.parts:
            body = self.engagement.divided_again(self.cluster, found)
            self.parts[nodes] = None if body is None else self.assemble(body)
        run = self.parts.get(nodes)
        if run is None:
            self.reason = why
        else:
            self.instead[key] = run

    def _without_variables(self) -> _Call:
        """What runs the group where shapes follow from the values of variables, which are not known when it is compiled."""
        with self.lock:
            if None not in self.compiled:
                self.compiled[None] = None
                reason = reasons.SHAPE_OF_VARIABLE
                self._divide(None, Blame(dict.fromkeys(needing(self.cluster.body, self.engine), reason), 1), reason)
        return self.instead.get(None, self.in_numpy)

    def _tell_compiled(self, seconds: float) -> None:
        last, why = self.cluster.body.steps[-1].node.name, f": {self.reason}" if self.reason else ""
        tell("engine %s took %.3f s to compile the group up to %s%s", self.engine.name, seconds, last, why)

    def _in_engine(self, key: Any, compiled: Compiled, arrays: Sequence[Any]) -> tuple[Given, ...] | None:
        """What the engine computes; None, and never again for such shapes, where it fails."""
        start = time.perf_counter()
        try:
            results = tuple(compiled([arrays[slot] for slot in self.given]))
            self._require_forms(results, self.forms[key])
        except ENDING:
            raise
        except Declined as error:
            self.decline(reasons.declined(said(error)))
            return None
        except Unable as error:
            with self.lock:
                self.compiled[key] = None
                self._refuse(key, error, reasons.failing(said(error)), self.cluster, ())
            return None
        except Exception as error:
            pass_on(error)
            with self.lock:
                self.reason, self.compiled[key] = reasons.failing(said(error)), None
            return None
        self.seconds += time.perf_counter() - start
        self.runs += 1
        return results

    def _require_forms(self, results: Sequence[Given], forms: Sequence[_Form]) -> None:
        """Raise Unable for the node of a result that is not of the dtype and shape that it must be of."""
        for (name, _), maker, array, (dtype, dims) in zip(self.made, self.makers, results, forms, strict=True):
            if array.dtype != dtype:
                raise Unable({maker: reasons.unlike(f"dtype: {name} is {array.dtype}")})
            if dims is not None and array.shape != dims:
                raise Unable({maker: reasons.unlike(f"shape: {name} is {Shape(array.shape)}, not {Shape(dims)}")})

    def report(self, total: float) -> GroupReport:
        """What became of the group, in runs that took `total` seconds."""
        body = self.cluster.body
        steps = sum(not step.node.is_constant for step in body.steps)
        compiled = sum(found is not None for found in self.compiled.values())
        share = self.seconds / total if total else None
        return GroupReport(
            body.steps[-1].node.name, steps, body.inputs, len(body.outputs), compiled, self.compile_seconds, self.runs,
            self.seconds, share, self.reason, None if self.reason is None else self.reason.step,
        )  # fmt: skip
