"""Programs specialized for frequent shapes, as long as the shapes come.

A program is valid for the shapes of its feeds and of the variables at the time of its making. Feeds are compared in every
run, variables only where any variable got another shape since.

`benchmarks/__main__.py` shows the worth of the thresholds here: MobileNetV2, LSTM train step.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from ...engines.protocol import inner_steps
from ...graph.callers import reached_functions
from ...graph.graph import Function, Node, Output
from ...graph.traversal import closure, nodes_of_kind, topological_order
from ...planning.plan import Loop, Plan, Step, add_loop_releases, with_releases
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
from .constant_steps import only_computes
from .tiers import RUNS_OF_SHAPES, Tier
from .variable_groups import variable_of

if TYPE_CHECKING:
    from ...inference.inference import Inference

# Plans specialized for known shapes of the feeds. Values that follow from shapes are computed before the run.
# Inference finds tensors with the same value in every run with these shapes. Inference also finds steps that return the first
# input unchanged, because the input already has the requested shape.
# `benchmarks/__main__.py` shows the worth of the thresholds here: MobileNetV2, LSTM train step.

Specs = Mapping[Output, TensorSpec]

_LEAST_LOOKING: Final = 0.01
"""The share of shape-reading steps that makes inference worthwhile; inference takes about the time of planning."""


@dataclasses.dataclass(slots=True, eq=False)
class Known(Step):
    """A step that need not run: its outputs have the constant `values`."""

    values: tuple[Any, ...] = ()


def certain(nodes: Sequence[Node], specs: Specs, premises: Specs) -> Specs:
    """Return the specs that hold in every run in which the specs `premises` hold.

    Inference takes for granted that the elements of a list are alike, in functions too. Specs that follow from nodes of
    which that is not known are left out.
    """
    from ...inference.containers import container_of  # lazy: a single run has no shapes that came before
    from ...inference.inference import Specs as KnownSpecs

    pool = set(nodes)

    def after(node: Node) -> set[Node]:
        container = container_of(node)
        return pool.intersection(node.uses if container is None else (*node.uses, container))

    assuming = closure([node for node in nodes if _takes_for_granted(node, specs, premises)], after)
    return KnownSpecs({output: spec for output, spec in specs.items() if output.node not in assuming})


def _takes_for_granted(node: Node, specs: Specs, premises: Specs) -> bool:
    inputs, results = ([specs[value] for value in values] for values in (node.inputs, node.outputs()))
    if node.op_def is None or node.op_def.takes_functions:
        return True
    if all(spec.dtype is variant for spec in results):
        return False
    if any(spec.dtype is variant for spec in inputs):
        content = premises.get(list_behind(node.inputs[0]))
        return not has_fact(node.op, "list_read") or content is None or not content.handle
    partial = any(spec.value is not None and spec.value.dtype == object for spec in inputs)
    if not partial or has_fact(node.op, "shape_arithmetic"):
        return False
    return any(spec.value is not None and spec.value.dtype != object for spec in results)


def list_behind(handle: Output) -> Output:
    """Return the list that a node passes on, perhaps behind other nodes."""
    while handle.node.is_identity:
        handle = handle.node.inputs[0]
    return handle


def is_worth_specializing(plan: Plan) -> bool:
    """True if enough steps read shapes for specialization to be worth an inference."""
    nodes = [step.node for step in every_step(plan.steps)]
    looking = len(nodes_of_kind(nodes, lambda kind: has_fact(kind.op, "metadata")))
    return bool(looking) and looking >= _LEAST_LOOKING * len(nodes)


def specialized(plan: Plan, specs: Specs) -> Plan:
    """Return the plan without the steps made superfluous by `specs`, the facts about all tensors in runs of certain shapes."""
    reducing = _Reducing(specs)
    steps = reducing.reduced(plan.steps)
    fetches = tuple(None if slot is None else reducing.slot(slot) for slot in plan.fetches)
    fetched = {slot for slot in fetches if slot is not None}
    return dataclasses.replace(plan, steps=with_releases(steps, fetched), fetches=fetches)


def steps_left(plan: Plan) -> int:
    """Return the number of steps of a plan and its loops that run."""
    return sum(type(step) is not Known for step in every_step(plan.steps))


class _Reducing:
    """The steps of a frame, and the slots with the same value as other slots."""

    def __init__(self, specs: Specs) -> None:
        self.specs = specs
        self.same: dict[int, int] = {}

    def slot(self, slot: int) -> int:
        return self.same.get(slot, slot)

    def reduced(self, steps: Sequence[Step]) -> list[Step]:
        """Return copies of the remaining steps."""
        remaining: list[Step] = []
        for step in steps:
            step = dataclasses.replace(step, inputs=tuple(map(self.slot, step.inputs)))
            if isinstance(step, Loop):
                remaining.append(self._loop(step))
            elif (values := self._values(step)) is not None:
                remaining.append(Known(step.node, (), step.outputs, values=values))
            elif (source := self._handed_on(step)) is not None:
                self.same[step.outputs[0]] = step.inputs[source]
            else:
                remaining.append(step)
        return remaining

    def _loop(self, loop: Loop) -> Loop:
        inner = _Reducing(self.specs)
        head, body, tail = (inner.reduced(part) for part in (loop.head, loop.body, loop.tail))
        # A variable that an iteration hands on unchanged stays in its slot, and must not be cleared there.
        carried = tuple((inner.slot(a), b) for a, b in loop.carried if inner.slot(a) != b)
        condition, exits = inner.slot(loop.condition), tuple(map(inner.slot, loop.exits))
        staying = set(loop.entries) - {b for _, b in carried}
        add_loop_releases((head, body, tail), {*staying, *(a for a, _ in carried), condition}, exits)
        return dataclasses.replace(
            loop,
            head=tuple(head),
            body=tuple(body),
            tail=tuple(tail),
            carried=carried,
            condition=condition,
            exits=exits,
        )

    def _values(self, step: Step) -> tuple[Any, ...] | None:
        """Return the outputs of a step that are the same in every run; None if they are unknown."""
        if not step.inputs or not step.outputs or has_fact(step.node.op, "control_flow") or not only_computes(step):
            return None
        values = tuple([self.specs[output].value for output in step.node.outputs()])
        # Objects are symbolic sizes: the value is known in part.
        return values if all(value is not None and value.dtype != object for value in values) else None

    def _handed_on(self, step: Step) -> int | None:
        """Return the index of the input that a step returns unchanged; None for a step that does more."""
        op = step.node.op
        if len(step.outputs) != 1 or not step.inputs or not only_computes(step):
            return None
        operand, result = self.specs[step.node.inputs[0]], self.specs[step.node.output()]
        if operand.dtype is not result.dtype or not operand.shape.is_known or operand.shape.dims != result.shape.dims:
            return None
        if has_fact(op, "same_shape_same_value"):
            return 0
        if has_fact(op, "nothing_without_axes"):
            axes = self.specs[step.node.inputs[1]].shape.num_elements
            return 0 if isinstance(axes, int) and not axes else None
        return None


def every_step(steps: Sequence[Step]) -> list[Step]:
    """Return the steps, and in place of each loop the steps inside."""
    return [step for step in inner_steps(steps) if not isinstance(step, Loop)]


# The programs of a plan by shapes.

# A program for shapes takes this part of the CPU time of a run without: LSTM step 0.74 to 0.78, word2vec 0.76, A2C 0.84, XLNet
# 0.87, transformer 0.91.
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
        """True if the program is good for feeds of the right shapes."""
        for place, dims in self.lists:
            held = feeds[place].item()
            if type(held) is not TensorList or held.item_shape != dims:
                return False
        for place, variable in self.handles:
            if feeds[place].item() is not variable:
                return False
        # A comparison of two numbers covers all variables: after the first steps of a training, hardly any is reshaped.
        return self.stamp == Variable.reshapes or self._holds_still()

    def _holds_still(self) -> bool:
        stamp = Variable.reshapes
        # The shapes are compared after the stamp is read: a reshape by another thread meanwhile makes the stamp old, and is
        # seen in the next run.
        if any(variable.value_shape != shape for variable, shape in self.variables):
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
        """Return the program for the feeds; None if no program fits their shapes."""
        last = self.latest
        if last is None and not self._is_open:
            return None
        shapes = [getattr(value, "shape", None) for value in feeds]
        # Most runs have the shapes of the run before.
        if last is not None and shapes == last.shapes and last.holds(feeds):
            return last.program
        return self._other(shapes, feeds)

    def _other(self, shapes: Any, feeds: Sequence[Any]) -> Runnable | None:
        for special in self.programs:
            if special.shapes == shapes and special.holds(feeds):
                self.latest = special
                return special.program
        # A feed without a shape is a stand-in, such as a reference.
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
        # A plan that gains too little for one combination of shapes is not tried for others: a try costs an inference.
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
        # An assignment within the run would change a shape after the program was chosen by it.
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
        from ...inference.inference import Inference, infer_again

        return infer_again(nodes, Inference(dict(specs), {}), specs, self._functions)

    def _keeps_variables(self, nodes: Sequence[Node], inference: Inference) -> bool:
        """True if no step of a run changes the shape of a variable."""
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
            # Only a list whose elements all have one shape says anything about the next.
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
                # The kernel of a variable only finds the variable: nothing is run.
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
        shape = variable.value_shape
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


def _keeps_shape(node: Node, inference: Inference | None) -> bool:
    """True for an assignment that keeps its variable's shape.

    Without inference, only an assignment that validates the shape counts.
    """
    if node.attr("validate_shape") and node.inputs[0].is_reference:
        return True
    if inference is None:
        return False
    handle = inference.spec(node.inputs[0])
    content = handle.handle[0].shape if handle.handle else handle.shape
    assigned = inference.spec(node.inputs[1]).shape
    return assigned.is_known and assigned.dims == content.dims


# Removal of dead steps, whose results nobody reads: TF1's optimizers wait for the gradients of all inputs, and so compute the
# gradient of the data.
#
# A step that could fail must run for the failure alone. Where shapes decide the failure, a single call on zeros of the plan's
# shapes tells the result for all runs.


# This saves 9 % of a training step of LeNet. TensorFlow prunes such steps as well.
def without_unread(plan: Plan, specs: Mapping[Output, TensorSpec], call_of: Callable[[Node], Callable[..., Any]]) -> Plan:
    """Return the plan without dead steps that cannot fail on the values that `specs` describe.

    A dead step is read by no remaining step and by no fetch.
    """
    fetched = {slot for slot in plan.fetches if slot is not None}
    read = set(fetched)
    steps: list[Step] = []
    # The steps are walked from the end, because a step that only dead steps read is dead, too.
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
