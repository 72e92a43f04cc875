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
from ..support.errors import DataLossError, DeadlineExceededError, UnavailableError
from ..support.log import tell
from ..support.user_signals import pass_on
from ..types.arrays import Held
from ..types.shapes import Shape
from .engine_report import Difference, EngineReport, GroupReport, Refusal
from .plan_division import partition
from .protocol import Body, Cluster, Compiled, Declined, Engine, Given
from .shape_checks import result_shapes
from .static_inputs import fixed_inputs
from .verify_engine import difference

_MAX_COMPILED: Final = 16
"""How many times a group is compiled, for other shapes each time; what comes after these runs in NumPy."""
_NAMED: Final = 3
_Form: TypeAlias = tuple[np.dtype[Any], tuple[int, ...] | None]
"""The dtype of a result, and its shape where that is known."""
_ENDING: Final = (DataLossError, DeadlineExceededError, UnavailableError)
"""Errors after which NumPy must not take over: time is up, values are lost, or other processes with which it computes."""


class Engagement:
    """What a session, and all that share its state, know of an engine. `verify`: run every group in NumPy too, and compare."""

    def __init__(self, engine: Engine, verify: bool = False) -> None:
        self.engine = engine
        self.verify = verify
        self.lock = threading.RLock()
        self.groups: list[Group] = []
        self.refusals: dict[Node, str] = {}
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

    def group(self, graph: Graph, body: Body, in_numpy: Callable[..., Sequence[Any]]) -> Group:
        """The group of steps in a body as a function; `in_numpy` runs it."""
        made = Group(self, Cluster(graph, body), in_numpy)
        with self.lock:
            self.groups.append(made)
        return made

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
            groups = tuple(group.report(self.seconds) for group in self.groups)
            found: dict[tuple[str, str], list[str]] = collections.defaultdict(list)
            for node, reason in self.refusals.items():
                found[node.op, reason].append(node.name)
            refused = [Refusal(op, reason, len(names), tuple(names[:_NAMED])) for (op, reason), names in found.items()]
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

    def __init__(self, engagement: Engagement, cluster: Cluster, in_numpy: Callable[..., Sequence[Any]]) -> None:
        self.engagement = engagement
        self.engine = engagement.engine
        self.cluster = cluster
        self.in_numpy = in_numpy
        tensors = [(output.name, output.node.op) for output in cluster.results]
        self.made = [*tensors, *((node.name, node.op) for node in cluster.updates)]
        self.dtypes = tuple(result.node.output_dtypes[result.index].numpy for result in cluster.results)
        self.written = cluster.body.written
        self.fixed = fixed_inputs(cluster.body, self.engine)
        self.variables = frozenset(cluster.body.variables)
        self.given = [slot for slot in range(cluster.body.inputs) if slot not in self.fixed]
        self.compiled: dict[Any, Compiled | None] = {}
        self.forms: dict[Any, list[_Form]] = {}
        self.reason: str | None = None
        self.lock = threading.Lock()
        self.compile_seconds = self.seconds = 0.0
        self.runs = 0

    def __call__(self, *values: Any) -> Any:
        """The outputs of the group: one alone where there is one, else a tuple."""
        found = self.attempt(values)
        if found is not None and self.engagement.verify:
            self.compare(found, self.in_numpy(*values))
        results = self.in_numpy(*values) if found is None else found
        return results[0] if len(results) == 1 else results

    def attempt(self, values: Sequence[Any]) -> tuple[Given, ...] | None:
        """What the engine makes of the inputs, in the place of variables their values; None where NumPy has to run."""
        if not self.variables.isdisjoint(self.fixed):
            self.decline("a shape follows from the value of a variable")
            return None
        arrays: list[Any] = [value if type(value) is Held else np.asarray(value) for value in values]
        key = (*[a.shape for a in arrays], *[arrays[i].tobytes() for i in self.fixed])
        compiled = self.compiled[key] if key in self.compiled else self._compile(key, arrays)
        return None if compiled is None else self._in_engine(key, compiled, arrays)

    def on(self, body: Body) -> Group:
        """The group for the same steps in another body."""
        return self.engagement.group(self.cluster.graph, body, self.in_numpy)

    def decline(self, reason: str) -> None:
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
                self.decline(f"it was given inputs of more than {_MAX_COMPILED} shapes")
                return None
            start = time.perf_counter()
            compiled = None
            try:
                cluster = dataclasses.replace(self.cluster, fixed={slot: arrays[slot] for slot in self.fixed})
                given = [arrays[slot] for slot in self.given]
                shapes = result_shapes(cluster, given, self.engine.needs_elements)
                found = (*self.dtypes, *(arrays[slot].dtype for slot in self.written))
                known = (shape.known() if shape.is_known else None for shape in shapes)
                self.forms[key] = list(zip(found, known, strict=True))
                compiled = self.engine.compile(cluster, given)
            except _ENDING:
                raise
            except Exception as error:
                pass_on(error)
                self.reason = f"it does not compile: {_said(error)}"
            seconds = time.perf_counter() - start
            self.compile_seconds += seconds
            self._tell_compiled(seconds)
            self.compiled[key] = compiled
            return compiled

    def _tell_compiled(self, seconds: float) -> None:
        last, why = self.cluster.body.steps[-1].node.name, f": {self.reason}" if self.reason else ""
        tell("engine %s took %.3f s to compile the group up to %s%s", self.engine.name, seconds, last, why)

    def _in_engine(self, key: Any, compiled: Compiled, arrays: Sequence[Any]) -> tuple[Given, ...] | None:
        """What the engine computes; None, and never again for such shapes, where it fails."""
        start = time.perf_counter()
        try:
            results = tuple(compiled([arrays[slot] for slot in self.given]))
            reason = self._unlike(results, self.forms[key])
        except _ENDING:
            raise
        except Declined as error:
            self.decline(_said(error))
            return None
        except Exception as error:
            pass_on(error)
            reason = f"it fails: {_said(error)}"
        if reason is not None:
            with self.lock:
                self.reason, self.compiled[key] = reason, None
            return None
        self.seconds += time.perf_counter() - start
        self.runs += 1
        return results

    def _unlike(self, results: Sequence[Given], forms: Sequence[_Form]) -> str | None:
        """How results are not of the dtypes and shapes that they must be of."""
        for i, (array, (dtype, dims)) in enumerate(zip(results, forms, strict=True)):
            if array.dtype != dtype:
                return f"it gives another dtype: {self.made[i][0]} is {array.dtype}"
            if dims is not None and array.shape != dims:
                return f"it gives another shape: {self.made[i][0]} is {Shape(array.shape)}, not {Shape(dims)}"
        return None

    def report(self, total: float) -> GroupReport:
        """What became of the group, in runs that took `total` seconds."""
        body = self.cluster.body
        steps = sum(not step.node.is_constant for step in body.steps)
        compiled = sum(found is not None for found in self.compiled.values())
        share = self.seconds / total if total else None
        return GroupReport(
            body.steps[-1].node.name, steps, body.inputs, len(body.outputs), compiled, self.compile_seconds, self.runs,
            self.seconds, share, self.reason,
        )  # fmt: skip


def _said(error: Exception) -> str:
    """The gist of an error on one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines)[:300] or type(error).__name__
