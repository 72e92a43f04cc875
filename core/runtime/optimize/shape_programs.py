"""Programs specialized for frequent shapes, as long as the shapes come.

A program is valid for the shapes of its feeds and of the variables at the time of its making. Feeds are compared in every
run, variables only where any variable got another shape since.

`benchmarks/__main__.py` shows the worth of the thresholds here: MobileNetV2, LSTM train step.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np

from ...functions.callers import reached_functions
from ...graph.graph import Function, Node, Output
from ...graph.traversal import closure, topological_order
from ...inference.inference import Inference, infer_again
from ...planning.plan import Plan, Step, with_releases
from ...planning.reachability import needed_nodes
from ...registry.op_facts import has_fact
from ...support import dataclasses
from ...support.keyed_cache import KeyedCache
from ...support.user_signals import pass_on
from ...types.dtypes import resource, variant
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec
from ..state.resources import Variable
from ..state.run_context import Run
from ..state.tensor_lists import ANY, NOTHING_SET, TensorList
from ..steps.constant_steps import only_computes
from ..steps.variable_groups import variable_of
from .specializing import certain, every_step, is_worth_specializing, specialized, steps_left
from .tiers import RUNS_OF_SHAPES, Tier

MOST_PROGRAMS: Final = 16
"""The largest number of programs of a plan: each has its own instructions and layouts."""
_MOST_KEPT: Final = 64
"""The largest number of combinations of shapes whose runs are counted."""
_LEAST_GAIN: Final = 0.02
"""The part of the steps that a specialized program must leave out to be worth its planning."""


class Runnable(Protocol):
    """A program that runs a plan."""

    plan: Plan

    @property
    def tier(self) -> Tier:
        """The tier of the latest run."""
        ...

    def run(self, feeds: Sequence[Any], run: Run | None = None) -> list[Any]:
        """Return the values of the plan's fetches."""


@dataclasses.dataclass(slots=True)
class _Special:
    """A program and its validity: the shapes of the feeds, of objects behind fed handles, and of variables."""

    program: Runnable
    shapes: list[tuple[int, ...]]
    lists: tuple[tuple[int, tuple[int, ...]], ...]
    handles: tuple[tuple[int, Variable], ...]
    variables: tuple[tuple[Variable, tuple[int, ...]], ...]
    stamp: int

    def holds(self, feeds: Sequence[Any]) -> bool:
        """True where the program is good for feeds of the right shapes."""
        for place, dims in self.lists:
            held = feeds[place].item()
            if type(held) is not TensorList or held.item_shape != dims:
                return False
        for place, variable in self.handles:
            if feeds[place].item() is not variable:
                return False
        return self.stamp == Variable.reshapes or self._holds_still()

    def _holds_still(self) -> bool:
        stamp = Variable.reshapes
        if any(_shape_of(variable) != shape for variable, shape in self.variables):
            return False
        self.stamp = stamp
        return True


class ShapePrograms:
    """The programs of a plan by shapes. `call_of` returns the kernel of a node, `make` a program of a plan."""

    def __init__(
        self,
        plan: Plan,
        functions: Mapping[str, Function],
        call_of: Callable[[Node], Callable[..., Any]],
        make: Callable[[Plan], Runnable],
        is_forced: bool = False,
    ) -> None:
        self._plan = plan
        self._functions = functions
        self._call_of = call_of
        self._make = make
        self.latest: _Special | None = None
        self.programs: list[_Special] = []
        self._runs: KeyedCache[tuple[tuple[int, ...], ...], int] = KeyedCache(_MOST_KEPT)
        self._lock = threading.Lock()
        self._runs_before, self._least_gain = (0, 0.0) if is_forced else (RUNS_OF_SHAPES, _LEAST_GAIN)
        self._is_open = is_forced or is_worth_specializing(plan)

    def find(self, feeds: Sequence[Any]) -> Runnable | None:
        """Return the program for the feeds; None where no program fits their shapes."""
        last = self.latest
        if last is None and not self._is_open:
            return None
        shapes = [getattr(value, "shape", None) for value in feeds]
        if last is not None and shapes == last.shapes and last.holds(feeds):
            return last.program
        return self._other(shapes, feeds)

    def _other(self, shapes: Any, feeds: Sequence[Any]) -> Runnable | None:
        for special in self.programs:
            if special.shapes == shapes and special.holds(feeds):
                self.latest = special
                return special.program
        if not self._is_open or not all(type(shape) is tuple for shape in shapes):
            return None
        with self._lock:
            return self._noted(shapes, feeds)

    def _noted(self, shapes: Any, feeds: Sequence[Any]) -> Runnable | None:
        """Count the shapes, and make a program where they come often enough."""
        key = tuple(shapes)
        self._runs[key] = self._runs.get(key, 0) + 1
        if self._runs[key] <= self._runs_before or not self._is_open:  # a run may have closed it before this one got the lock
            return None
        made = self._specialized(shapes, feeds)
        if made is None:
            self._is_open = False
            return None
        self.programs.append(made)
        self._is_open = len(self.programs) < MOST_PROGRAMS
        self.latest = made
        return made.program

    def _specialized(self, shapes: Any, feeds: Sequence[Any]) -> _Special | None:
        # Before the shapes are read: a variable that another run reshapes meanwhile makes the stamp old, and `holds` compares
        # the shapes. A stamp of after the reading would vouch for shapes that it never saw.
        stamp = Variable.reshapes
        nodes = topological_order(needed_nodes(self._plan.targets, self._plan.fed))
        facts = _FeedFacts(self._plan.fed, feeds)
        facts.take_variables([step.node for step in every_step(self._plan.steps) if not step.is_guarded], self._call_of)
        inference = self._inferred(nodes, facts.specs)
        if not self._keeps_variables(nodes, inference):
            facts.forget_variables()
            inference = self._inferred(nodes, facts.specs)
        specs = certain(nodes, inference.specs, facts.specs)
        plan = without_unread(specialized(self._plan, specs), specs, self._call_of)
        before = steps_left(self._plan)
        if before - steps_left(plan) < self._least_gain * before:
            return None
        variables = tuple(facts.variables.items())
        return _Special(self._make(plan), shapes, tuple(facts.lists), tuple(facts.handles), variables, stamp)

    def _inferred(self, nodes: Sequence[Node], specs: Mapping[Output, TensorSpec]) -> Inference:
        return infer_again(nodes, Inference(dict(specs), {}), specs, self._functions)

    def _keeps_variables(self, nodes: Sequence[Node], inference: Inference) -> bool:
        """True where no step of a run changes the shape of a variable."""
        inner = (node for name in reached_functions(self._functions, nodes) for node in self._functions[name].body)
        keeping = (_keeps_shape(node, inference) for node in nodes if has_fact(node.op, "assignment"))
        return all(keeping) and all(_keeps_shape(node, None) for node in inner if has_fact(node.op, "assignment"))


class _FeedFacts:
    """The known facts about the feeds of a run."""

    def __init__(self, fed: Sequence[Output], feeds: Sequence[Any]) -> None:
        self.specs: dict[Output, TensorSpec] = {}
        self.lists: list[tuple[int, tuple[int, ...]]] = []
        self.handles: list[tuple[int, Variable]] = []
        self.variables: dict[Variable, tuple[int, ...]] = {}
        self._of_variables: dict[Output, TensorSpec] = {}
        for place, (output, value) in enumerate(zip(fed, feeds)):
            self.specs[output] = self._fed(place, output, value)

    def _fed(self, place: int, output: Output, value: Any) -> TensorSpec:
        shape = Shape(value.shape)
        if output.dtype is variant and _is_read(output) and type(held := _single(value)) is TensorList:
            self.lists.append((place, held.item_shape))
            if held.item_shape not in (ANY, NOTHING_SET):
                return TensorSpec(variant, shape, handle=(TensorSpec(held.dtype, Shape(held.item_shape)),))
        if output.dtype is resource and isinstance(variable := _single(value), Variable):
            self.handles.append((place, variable))
            return self._handle(output, variable)
        return TensorSpec(output.dtype or resource, shape)

    def take_variables(self, nodes: Sequence[Node], call_of: Callable[[Node], Callable[..., Any]]) -> None:
        """Note the current shapes of the variables of nodes that ran."""
        for node in nodes:
            if has_fact(node.op, "variable") and not node.inputs and node.output() not in self.specs:
                variable = variable_of(call_of(node)())
                if variable is not None:
                    output = node.output()
                    self.specs[output] = (
                        self._handle(output, variable) if output.dtype is resource else self._content(output, variable)
                    )

    def forget_variables(self) -> None:
        """Forget the shapes of all variables, since runs may change them."""
        self.variables.clear()
        self.specs |= self._of_variables

    def _handle(self, output: Output, variable: Variable) -> TensorSpec:
        self._of_variables[output] = TensorSpec(resource, SCALAR, handle=(TensorSpec(variable.dtype),))
        return TensorSpec(resource, SCALAR, handle=(TensorSpec(variable.dtype, self._noted(variable)),))

    def _content(self, output: Output, variable: Variable) -> TensorSpec:
        self._of_variables[output] = TensorSpec(variable.dtype)
        return TensorSpec(variable.dtype, self._noted(variable))

    def _noted(self, variable: Variable) -> Shape:
        """Return the current shape of a variable, and note the shape as a condition of the program.

        The shape is unknown before the first write.
        """
        shape = _shape_of(variable)
        if shape is None:
            return UNKNOWN
        self.variables[variable] = shape
        return Shape(shape)


def _is_read(handle: Output) -> bool:
    """True for a list from which a node takes elements."""
    copies = closure([handle], lambda value: [user.output() for user in value.node.uses if user.is_identity])
    return any(has_fact(user.op, "list_read") and user.inputs[0] == value for value in copies for user in value.node.uses)


def _single(value: Any) -> Any:
    return value.item() if value.dtype == object and value.size == 1 else None


def _shape_of(variable: Variable) -> tuple[int, ...] | None:
    return variable.value_shape


def _keeps_shape(node: Node, inference: Inference | None) -> bool:
    """True for an assignment that keeps its variable's shape.

    Without inference, only an assignment that validates the shape counts.
    """
    if node.attr("validate_shape") and _is_reference(node.inputs[0]):
        return True
    if inference is None:
        return False
    handle = inference.spec(node.inputs[0])
    content = handle.handle[0].shape if handle.handle else handle.shape
    assigned = inference.spec(node.inputs[1]).shape
    return assigned.is_known and assigned.dims == content.dims


def _is_reference(value: Output) -> bool:
    return value.dtype is not None and value.dtype.is_ref


# Removal of dead steps, whose results nobody reads: TF1's optimizers wait for the gradients of all inputs, and so compute the
# gradient of the data.
#
# A step that could fail must run for the failure alone. Where shapes decide the failure, a single call on zeros of the plan's
# shapes tells the result for all runs.


def without_unread(plan: Plan, specs: Mapping[Output, TensorSpec], call_of: Callable[[Node], Callable[..., Any]]) -> Plan:
    """Return the plan without dead steps that cannot fail on the values that `specs` describe.

    A dead step is read by no remaining step and by no fetch.
    """
    fetched = {slot for slot in plan.fetches if slot is not None}
    read = set(fetched)
    steps: list[Step] = []
    for step in reversed(plan.steps):
        if read.isdisjoint(step.outputs) and _never_fails(step, specs, call_of):
            continue
        read.update(step.inputs, step.controls)
        steps.append(step)
    return dataclasses.replace(plan, steps=with_releases(reversed(steps), fetched)) if len(steps) < len(plan.steps) else plan


def _never_fails(step: Step, specs: Mapping[Output, TensorSpec], call_of: Callable[[Node], Callable[..., Any]]) -> bool:
    """True for a step that only computes, with known shapes and a kernel that accepts zeros of the shapes."""
    node = step.node
    if not step.inputs or not only_computes(step):
        return False
    if not (has_fact(node.op, "settled_by_shapes") or has_fact(node.op, "total")):
        return False
    inputs = [specs[value] for value in node.inputs]
    results = [specs[value] for value in node.outputs()]
    if not all(spec.shape.is_known and not spec.dtype.is_object for spec in (*inputs, *results)):
        return False
    try:
        call_of(node)(*map(_zeros, inputs))
    except Exception as error:  # of any kind: the step stays, and its runs name the node
        pass_on(error)
        return False
    return True


def _zeros(spec: TensorSpec) -> Any:
    is_known = spec.value is not None and spec.value.dtype != object
    return spec.value if is_known else np.zeros(spec.shape.known(), spec.dtype.numpy)
