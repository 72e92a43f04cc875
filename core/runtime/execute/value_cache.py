"""Values cached between runs: sub-graphs that depend only on constants and on variables not written since.

A plan is rearranged so that every tree of pure steps becomes a single step, which caches its result and its inputs. Nobody
writes in place to a value that is held, so the same objects mean the same numbers: a variable's read returns another object
after every write. Feeds, stateful ops and random numbers are never in a tree.
"""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable, Iterable
from typing import Any, Final

from ...graph.graph import Graph
from ...graph.purity import impurity
from ...planning.plan import Loop, Plan, Step, on_own_slots, with_releases
from ...support import dataclasses

_MISSES: Final = 3
"""The number of misses in a row after which a value is no longer cached: its inputs change in every run."""


@dataclasses.dataclass(frozen=True, slots=True)
class CacheStats:
    """Counts of a value cache: hits, misses, steps saved, and bytes held."""

    hits: int
    misses: int
    saved_steps: int
    bytes: int
    limit: int


@dataclasses.dataclass(slots=True, eq=False)
class Cached(Step):
    """A tree of pure steps as a single step: `body` works on `slots` slots of its own, the inputs first.

    `node` is the root.
    """

    body: tuple[Step, ...] = ()
    slots: int = 0


class ValueCache:
    """The values that a session caches between runs, up to `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.hits = self.misses = self.saved_steps = self.bytes = 0
        self.lock = threading.Lock()

    @property
    def stats(self) -> CacheStats:
        """The counts so far."""
        with self.lock:
            return CacheStats(self.hits, self.misses, self.saved_steps, self.bytes, self.limit)

    def remembering(self, call: Callable[..., Any], step: Cached) -> Callable[..., Any]:
        """Return `call` with a cache: the same inputs as in the last call give the last result."""
        return _Remembered(self, call, len(step.body))


class _Remembered:
    """The last inputs and the last result of a tree, which change together."""

    __slots__ = ("cache", "call", "held", "last", "misses", "steps")

    def __init__(self, cache: ValueCache, call: Callable[..., Any], steps: int) -> None:
        self.cache = cache
        self.call = call
        self.steps = steps
        self.last: tuple[tuple[Any, ...], Any] | None = None
        self.held = 0
        self.misses = 0

    def __call__(self, *inputs: Any) -> Any:
        last = self.last
        if last is not None:
            # Inputs are compared by identity: comparing elements would take as long as many of the trees, and `Variable.read`
            # returns the same array until a write.
            for a, b in zip(last[0], inputs):
                if a is not b:
                    break
            else:
                with self.cache.lock:
                    self.misses = 0
                    self.cache.hits += 1
                    self.cache.saved_steps += self.steps
                return last[1]
        result = self.call(*inputs)
        self.keep(inputs, result)
        return result

    def keep(self, inputs: tuple[Any, ...], result: Any) -> None:
        """Keep a fresh result where there is room."""
        cache = self.cache
        with cache.lock:
            cache.misses += 1
            cache.bytes -= self.held
            self.last, self.held = None, 0
            self.misses += 1
            size = getattr(result, "nbytes", 0)
            # After some misses in a row the inputs evidently change in every run: keeping them would only hold memory.
            if self.misses <= _MISSES and cache.bytes + size <= cache.limit:
                self.last, self.held = (inputs, result), size
                cache.bytes += size


def with_cached_trees(plan: Plan, graph: Graph) -> Plan:
    """Return the plan with every tree of cacheable steps as a single step."""
    if plan.needs_dataflow:
        return plan
    pure = _pure_steps(plan, graph)
    readers = collections.Counter(slot for step in plan.steps for slot in {*step.inputs, *step.controls})
    lasting = {slot for slot in plan.fetches if slot is not None}
    for step in plan.steps:
        if not step.outputs or step.outputs[0] not in pure:
            # The values that an impure step reads must exist by themselves; so must values that are fetched or read twice.
            lasting |= set(step.inputs)
    roots = {out for out in pure if out in lasting or readers[out] != 1}
    steps: list[Step] = []
    for step in plan.steps:
        output = step.outputs[0] if step.outputs else -1
        if output in roots:
            steps.append(_tree(pure, roots, output))
        elif output not in pure:
            steps.append(step)
    return dataclasses.replace(plan, steps=with_releases(steps, {slot for slot in plan.fetches if slot is not None}))


def _pure_steps(plan: Plan, graph: Graph) -> dict[int, Step]:
    """Return the steps whose values follow from constants and variables, by the slot of their output."""
    cacheable: set[int] = set()
    pure: dict[int, Step] = {}
    for step in plan.steps:
        node = step.node
        if isinstance(step, Loop) or step.is_guarded or len(step.outputs) != 1 or step.tells_deadness:
            continue
        output = step.outputs[0]
        # Reads are no part of a tree: their results are its inputs, and tell by their identity whether a variable was written.
        is_read = node.is_variable_read or (node.is_identity and step.dereferenced == (0,))
        if is_read or (node.is_constant and not node.control_inputs):
            cacheable.add(output)
        elif step.inputs and not step.dereferenced and cacheable.issuperset(step.inputs) and impurity(graph, node) is None:
            cacheable.add(output)
            pure[output] = step
    return pure


def _tree(pure: dict[int, Step], roots: Iterable[int], root: int) -> Cached:
    """Return the steps that lead only to `root`, as a single step."""
    body: list[Step] = []
    pending = [root]
    while pending:
        step = pure[pending.pop()]
        body.append(step)
        # A step that reads one slot twice must not bring the step behind it into the body twice.
        pending += [slot for slot in dict.fromkeys(step.inputs) if slot in pure and slot not in roots]
    body.reverse()
    inputs, steps, local = on_own_slots(body)
    return Cached(pure[root].node, inputs, (root,), body=steps, slots=len(local))
