"""Bodies of steps taken out of a plan, on slots of their own with the constants that they read; and plans of functions.

Static inputs are the inputs that shapes and axes are computed from: their values are compiled in. Shapes are checked by
tfg's shape functions, because engines take shapes that TensorFlow refuses, and may return others. Iterations of loops are
bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, Final

import numpy as np

from ..graph.frames import MERGE, SWITCH, handed_in
from ..graph.graph import Function, Graph, Node, Output
from ..graph.instantiation import function_called
from ..graph.traversal import closure
from ..inference.binding import select_kernel
from ..inference.inference import Inference, infer
from ..inference.node_calls import apply_kernel
from ..planning.plan import Loop, Plan, Step, add_releases, on_own_slots
from ..planning.planner import plan_of_function
from ..registry.op_facts import has_fact
from ..registry.registry import has_kernel
from ..support.errors import InvalidArgumentError, TfgError, UnimplementedError
from ..types import dtypes
from ..types.shapes import Shape
from ..types.tensors import FuncRef
from . import reasons
from .protocol import Body, Cluster, Engine, EngineValue, UnfitShapes, inputs_of
from .reasons import Reason


def is_constant_step(step: Step) -> bool:
    """Return True for a constant, whose value exists before anything runs."""
    return type(step) is Step and step.node.is_constant and not step.is_guarded


def only_decides(step: Step) -> bool:
    """Return True for a step of a V1 conditional that decides the branch, or joins the branches."""
    return step.node.op in (*SWITCH, *MERGE) or (step.is_guarded and step.node.is_no_op)


def constants_by_slot(plan: Plan) -> dict[int, Step]:
    """Return the constants of a plan by their slots."""
    return {step.outputs[0]: step for step in plan.steps if is_constant_step(step)}


def body_of(
    members: Sequence[Step], constant_steps: Mapping[int, Step], outputs: Sequence[int], fed: Set[int]
) -> tuple[tuple[int, ...], Body]:
    """Return the slots that `members` read from the rest of the plan, and the members' body, with results in the slots
    `outputs`.

    Members are in order. `constant_steps` are the plan's constants, `fed` the slots that are fed.
    """
    made = {slot for step in members for slot in step.outputs}
    taken = dict.fromkeys(slot for step in members for slot in step.inputs if slot not in made)
    # A group has its own copy of each constant: compilers fold constants, and cannot fold an input.
    constants = [constant_steps[slot] for slot in taken if slot in constant_steps]
    inputs, body, local = on_own_slots([*constants, *members])
    results = tuple(local[slot] for slot in outputs)
    # A released slot is cleared after the last use. The slots of constants last, because a runner fills them once for all
    # runs.
    lasting = {*results, *(local[step.outputs[0]] for step in constants)}
    add_releases(body, lasting)
    variables = tuple(sorted(local[slot] for slot in _variables(members, set(inputs), fed)))
    return inputs, Body(body, len(local), len(inputs), results, variables)


def _variables(members: Sequence[Step], inputs: Set[int], fed: Set[int]) -> set[int]:
    """Return the inputs where handles arrive, or references that are not fed."""
    variables = set()
    for step in members:
        for slot, value in zip(step.inputs, inputs_of(step)):
            # A fed reference is a plain value: the run writes to no variable behind it.
            is_variable = value.dtype is dtypes.resource and not is_of_run(value)
            if slot in inputs and (is_variable or (value.is_reference and slot not in fed)):
                variables.add(slot)
    return variables


def is_of_run(handle: Output) -> bool:
    """Return True for a handle of an object made by a node with the fact `run_state`."""
    return has_fact(handed_in(handle).node.op, "run_state")


def is_held_together(value: Output) -> bool:
    """Return True for a list, and for the handle of an object that lives as long as the run."""
    return value.dtype is dtypes.variant or (value.dtype is dtypes.resource and is_of_run(value))


def called_plan(functions: Mapping[str, Function], reference: FuncRef) -> tuple[Function, Plan]:
    """Return the function that a call runs, and its plan; UnimplementedError for a missing function, or for any dtypes."""
    function = function_called(functions, reference.name)
    if function is None:
        raise UnimplementedError(f"function '{reference.name}' is not in the library")
    if function.signature.attrs:
        raise UnimplementedError(f"function '{function.name}' is instantiated for each call")
    return function, plan_of_function(function)


# Static inputs of a group, whose values are compiled in.

COUNTS: Final = (dtypes.int32, dtypes.int64)
"""The dtypes of sizes, counts and places."""


def fixed_inputs(body: Body, engine: Engine) -> list[int]:
    """Return the slots of the inputs that decide values the engine must know."""
    fixed = _fixed_slots(body.steps, engine)
    return [slot for slot in range(body.inputs) if slot in fixed]


def needing(body: Body, engine: Engine) -> list[Node]:
    """Return the nodes with a static input that follows from the values of variables."""
    tainted = set(body.variables)
    nodes = []
    for step in body.steps:
        # Metadata of a variable is known while compiling, so that its results are no longer values of variables.
        if any(step.inputs[place] in tainted for place in _fixed_places(step, engine)):
            nodes.append(step.node)
        elif not tainted.isdisjoint(step.inputs) and not has_fact(step.node.op, "metadata"):
            tainted.update(step.outputs)
    return nodes


def _fixed_slots(steps: Sequence[Step], engine: Engine) -> set[int]:
    """Return the slots whose values the engine must know to run the steps."""
    makers = {slot: step for step in steps for slot in step.outputs}
    computing = (step for step in steps if not step.node.is_constant)

    def sources(slot: int) -> Sequence[int]:
        maker = makers.get(slot)
        # Behind a shape the values do not matter: the shapes of all inputs are part of what a group is compiled for.
        return () if maker is None or has_fact(maker.node.op, "metadata") else maker.inputs

    return closure((step.inputs[place] for step in computing for place in _fixed_places(step, engine)), sources)


def _fixed_places(step: Step, engine: Engine) -> Sequence[int]:
    """Return the positions of a step's static inputs; of a loop only inputs that are the same in every iteration."""
    if only_decides(step):
        return ()
    if not isinstance(step, Loop):
        return engine.static_inputs(step.node)
    fixed = _fixed_slots((*step.head, *step.body, *step.tail), engine)
    # A carried value is known before the first iteration alone. Only a counter that decides how a list grows is followed
    # through the iterations.
    carried = {slot for _, slot in step.carried}
    counting = _counting_slots(step)
    static = [slot for slot in step.entries if slot in counting or (slot in fixed and slot not in carried)]
    return [place for place, slot in enumerate(step.entries) if slot in static]


def growing_steps(loop: Loop) -> list[Step]:
    """Return the steps of a loop that set elements of lists; a list grows where the element does not exist."""
    return [step for step in loop.body if step.node.attr("resize_if_index_out_of_bounds", False) and not step.is_guarded]


def _counting_slots(loop: Loop) -> set[int]:
    """Return the entries that decide a growing loop's iterations and the indices set; none where an entry is no integer."""
    # TensorListSetItem with `resize_if_index_out_of_bounds` makes a list longer. An array of XLA cannot grow, so that its
    # final length must follow from counters that are known.
    growing = growing_steps(loop)
    if not growing:
        return set()
    makers = {slot: step for step in (*loop.head, *loop.body) for slot in step.outputs}
    before = {target: source for source, target in loop.carried}

    def sources(slot: int) -> list[int]:
        return [*(makers[slot].inputs if slot in makers else ()), *([before[slot]] if slot in before else ())]

    deciding = closure([loop.condition, *(step.inputs[1] for step in growing)], sources)
    entering = {slot: value.dtype for slot, value in zip(loop.entries, inputs_of(loop)) if slot in deciding}
    return set(entering) if all(dtype in COUNTS for dtype in entering.values()) else set()


# Checks of a group by tfg's shape functions.


def without_kernel(node: Node) -> Reason | None:
    """Return the reason why TensorFlow and NumPy refuse a node's dtypes, though an engine may take them; None without a
    refusal.
    """
    try:
        if has_kernel(node.op):
            select_kernel(node)
    except TfgError as error:
        return reasons.REFUSED_BY_TENSORFLOW.of(error.message)
    return None


def result_shapes(cluster: Cluster, values: Sequence[EngineValue], needs_elements: bool) -> list[Shape]:
    """Return the shapes of a cluster's results for inputs shaped as `values`, and of the variables written.

    Raises InvalidArgumentError where a node refuses its inputs, UnfitShapes where `needs_elements` and a tensor has none.
    """
    # tfg's own shape functions check what the engine might accept: errors must be those of NumPy, and an engine that clips or
    # broadcasts would return numbers in the place of an error.
    graph, _, outputs = cluster.as_graph(values)
    inference = infer(graph)
    for name, reason in inference.reasons.items():
        raise InvalidArgumentError(reason, node=name, op=graph.node(name).op)
    if needs_elements:
        _require_elements(graph, inference, outputs)
    return [*(inference.shape(output) for output in outputs), *_written_shapes(cluster, graph, inference, values)]


def _written_shapes(cluster: Cluster, graph: Graph, inference: Inference, values: Sequence[EngineValue]) -> list[Shape]:
    """Return the shapes of the variables at the end: only an assignment changes a shape."""
    shapes = {slot: Shape(value.shape) for slot, value in zip(cluster.inputs, values)}
    leads = cluster.body.leads
    for step in cluster.body.steps:
        if has_fact(step.node.op, "assignment"):
            shapes[leads[step.inputs[0]]] = inference.shape(graph.node(step.node.name).inputs[1])
    return [shapes[slot] for slot in cluster.body.written]


def _require_elements(graph: Graph, inference: Inference, outputs: Sequence[Output]) -> None:
    """Raise UnfitShapes for nodes with a tensor without elements, and for nodes whose values decide a shape."""
    read = [value for node in graph for value in node.inputs if not value.node.is_constant]
    used = dict.fromkeys((*read, *outputs))
    unknown = {value for value in used if not inference.shape(value).is_known}
    empty = {value for value in used if value not in unknown and 0 in inference.shape(value).known()}
    refused: dict[str, Reason] = {}
    for node in graph:
        own = [value for value in node.outputs() if value in used]
        if not empty.isdisjoint((*own, *node.inputs)):
            refused[node.name] = reasons.NO_ELEMENTS
        elif not unknown.isdisjoint(own) and unknown.isdisjoint(node.inputs):
            refused[node.name] = reasons.SHAPE_OF_VALUES
    if refused:
        raise UnfitShapes(refused)


# Bounds of a loop's iterations: the steps behind the condition are run, as far as their values are known.
# XLA gives arrays of a fixed size to the lists of a loop and needs a bound, which may be too large. `flops/trip_counts`
# derives the exact count as a formula from a counter and a limit instead.

_MOST: Final = 1 << 13
_FEW: Final = 64
"""The largest number of elements of a value that is followed through the iterations."""
UNKNOWN: Final = object()
"""Stands for a value that is computed when the loop runs."""


def trip_bound(
    condition: Callable[[Sequence[Any]], Any],
    may_follow: Callable[[Sequence[Any]], bool],
    advance: Callable[[Sequence[Any]], Sequence[Any]],
    values: Sequence[Any],
) -> int | None:
    """Return the iterations after which `condition` is surely false, None for never. Unknown values are UNKNOWN.

    `may_follow` returns whether the condition is known for some of the values that could stand for the known ones.
    """
    for count in range(_MOST):
        again = condition(values)
        if again is not UNKNOWN and not np.any(again):
            return count
        after = advance(values)
        # Whatever the counter is, `counter < limit` stays unknown with the limit, and thousands of iterations show no more.
        is_more_known = any(old is UNKNOWN and new is not UNKNOWN for new, old in zip(after, values))
        if again is UNKNOWN and not is_more_known and not may_follow(values):
            return None
        # Nothing known changes any more, so that the condition stays as it is, for ever.
        if all(new is UNKNOWN or new is old for new, old in zip(after, values)):
            return None
        values = after
    return None


def changing(advance: Callable[[Sequence[Any]], Sequence[Any]], values: Sequence[Any]) -> list[int]:
    """Return the places of known values that are surely others after an iteration."""
    pairs = enumerate(zip(values, advance(values)))
    return [i for i, (old, new) in pairs if old is not UNKNOWN and new is not UNKNOWN and not np.array_equal(old, new)]


def iterations(
    condition: Callable[[Sequence[Any]], Any], advance: Callable[[Sequence[Any]], Sequence[Any]], values: Sequence[Any]
) -> list[Sequence[Any]] | None:
    """Return the values at the start of each iteration; None where the number of iterations is unknown."""
    starts: list[Sequence[Any]] = []
    while len(starts) < _MOST:
        again = condition(values)
        if again is UNKNOWN:
            return None
        if not np.any(again):
            return starts
        starts.append(values)
        values = advance(values)
    return None


def known_results(steps: Sequence[Step], slots: list[Any], fetches: Sequence[int]) -> list[Any]:
    """Return the values of the slots `fetches` as far as they follow from the values in `slots`; UNKNOWN and None are
    unknown.

    Inference finds values that hold in every iteration; this function follows the values of a single iteration. Of an
    unknown predicate both truth values are tried.
    """
    makers = {slot: step for step in steps for slot in step.outputs}
    needed = closure(fetches, lambda slot: makers[slot].inputs if slot in makers else ())
    for step in steps:
        if not needed.isdisjoint(step.outputs):
            for slot, value in zip(step.outputs, _results(step, [slots[i] for i in step.inputs])):
                slots[slot] = value
    return [UNKNOWN if slots[slot] is None else slots[slot] for slot in fetches]


def known_may_follow(steps: Sequence[Step], slots: Sequence[Any], fetches: Sequence[int]) -> bool:
    """Return whether `known_results` has the slots `fetches` for some of the values that could be in the known slots."""
    known = {slot for slot, value in enumerate(slots) if _is_known(value)}
    for step in steps:
        missing = [i for i, slot in enumerate(step.inputs) if slot not in known]
        if step.node.is_constant or (_is_followed(step) and (not missing or _is_one_truth_value(step, missing))):
            known.update(step.outputs)
    return known.issuperset(fetches)


def _is_known(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def _is_followed(step: Step) -> bool:
    if isinstance(step, Loop) or only_decides(step):
        return False
    definition = step.node.op_def
    return definition is not None and not definition.is_stateful


def _is_one_truth_value(step: Step, missing: Sequence[int]) -> bool:
    dtype = step.node.inputs[missing[0]].dtype
    return len(missing) == 1 and dtype is not None and dtype.name == "bool"


def _results(step: Step, inputs: Sequence[Any]) -> Sequence[Any]:
    """Return the results of a step; of an unknown truth value both are tried."""
    nothing = [UNKNOWN] * len(step.outputs)
    if step.node.is_constant:
        return [step.node.constant_value()]
    if not _is_followed(step):
        return nothing
    missing = [i for i, value in enumerate(inputs) if not _is_known(value)]
    try:
        if not missing:
            results = apply_kernel(step.node, inputs)
            return results if all(np.size(value) <= _FEW for value in results) else nothing
        # An unknown truth value often does not matter, as in `counter < limit and not finished`, where the limit bounds the
        # loop.
        if not _is_one_truth_value(step, missing):
            return nothing
        guesses = [[np.bool_(guess) if i == missing[0] else v for i, v in enumerate(inputs)] for guess in (False, True)]
        first, second = (apply_kernel(step.node, values) for values in guesses)
    except TfgError:
        return nothing
    return [a if np.array_equal(a, b) else UNKNOWN for a, b in zip(first, second)]
