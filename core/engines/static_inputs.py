"""Static inputs of a group: inputs that shapes and axes are computed from, whose values are compiled in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..graph.graph import Node
from ..graph.traversal import closure
from ..planning.plan import Loop, Step
from ..registry.op_facts import has_fact
from ..types import dtypes
from .protocol import Body, Engine, inputs_of
from .step_bodies import only_decides

_COUNTS: Final = (dtypes.int32, dtypes.int64)


def fixed_inputs(body: Body, engine: Engine) -> list[int]:
    """Return the slots of the inputs that decide values the engine must know."""
    fixed = _fixed_slots(body.steps, engine)
    return [slot for slot in range(body.inputs) if slot in fixed]


def needing(body: Body, engine: Engine) -> list[Node]:
    """Return the nodes with a static input that follows from the values of variables."""
    tainted = set(body.variables)
    nodes = []
    for step in body.steps:
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
        return () if maker is None or has_fact(maker.node.op, "metadata") else maker.inputs

    return closure((step.inputs[place] for step in computing for place in _fixed_places(step, engine)), sources)


def _fixed_places(step: Step, engine: Engine) -> Sequence[int]:
    """Return the positions of a step's static inputs; of a loop only inputs that are the same in every iteration."""
    if only_decides(step):
        return ()
    if not isinstance(step, Loop):
        return engine.static_inputs(step.node)
    fixed = _fixed_slots((*step.head, *step.body, *step.tail), engine)
    carried = {slot for _, slot in step.carried}
    counting = _counting_slots(step)
    static = [slot for slot in step.entries if slot in counting or (slot in fixed and slot not in carried)]
    return [place for place, slot in enumerate(step.entries) if slot in static]


def growing_steps(loop: Loop) -> list[Step]:
    """Return the steps of a loop that set elements of lists; a list grows where the element does not exist."""
    return [step for step in loop.body if step.node.attr("resize_if_index_out_of_bounds", False) and not step.is_guarded]


def _counting_slots(loop: Loop) -> set[int]:
    """Return the entries that decide a growing loop's iterations and the indices set; none where an entry is no integer."""
    growing = growing_steps(loop)
    if not growing:
        return set()
    makers = {slot: step for step in (*loop.head, *loop.body) for slot in step.outputs}
    before = {target: source for source, target in loop.carried}

    def sources(slot: int) -> list[int]:
        return [*(makers[slot].inputs if slot in makers else ()), *([before[slot]] if slot in before else ())]

    deciding = closure([loop.condition, *(step.inputs[1] for step in growing)], sources)
    entering = {slot: value.dtype for slot, value in zip(loop.entries, inputs_of(loop)) if slot in deciding}
    return set(entering) if all(dtype in _COUNTS for dtype in entering.values()) else set()
