"""A plan: the ordered steps of a run, with the slots of their values and the places where slots are cleared."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ..graph.graph import Node, Output
from ..support import dataclasses


@dataclasses.dataclass(slots=True, eq=False)
class Step:
    """A node to run: the slots of its inputs and outputs, and the slots that nobody reads afterwards.

    `dereferenced` lists the positions of inputs at which a variable's reference arrives and the step needs the value;
    `references` lists positions at which the reference is passed on and must lead to an initialized variable; `shared`
    lists positions at which the variable's memory is passed on. The result of a step that `is_view` is the memory of its
    first input.

    A guarded step may meet dead values. Its `controls` are then slots that tell the deadness of its control inputs, and
    `tells_deadness` says that the last output slot tells the deadness of the step itself. `unused` lists outputs of a call,
    conditional or loop that nobody reads.
    """

    node: Node
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    dereferenced: tuple[int, ...] = ()
    is_guarded: bool = False
    controls: tuple[int, ...] = ()
    tells_deadness: bool = False
    released: tuple[int, ...] = ()
    unused: tuple[int, ...] = ()
    references: tuple[int, ...] = ()
    shared: tuple[int, ...] = ()
    is_view: bool = False

    @property
    def takes_values_alone(self) -> bool:
        """True if the inputs are values that cannot be dead: neither the order of other steps nor variables' memory
        matters.
        """
        if self.is_guarded or self.controls or self.dereferenced or self.references or self.shared:
            return False
        return not self.is_view

    def moved(self, inputs: tuple[int, ...], outputs: tuple[int, ...], controls: tuple[int, ...]) -> Step:
        """Return a copy on other slots, which clears none."""
        if type(self) is not Step:
            return dataclasses.replace(self, inputs=inputs, outputs=outputs, controls=controls, released=())
        copy = Step(*_fields_of_step(self))  # takes a third of the time of replace: large plans have many steps
        copy.inputs, copy.outputs, copy.controls, copy.released = inputs, outputs, controls, ()
        return copy


_fields_of_step: Final = operator.attrgetter(*[field.name for field in dataclasses.fields(Step)])


@dataclasses.dataclass(slots=True, eq=False)
class Loop(Step):
    """A well-formed V1 loop as a single step of the enclosing frame; `node` is the LoopCond.

    An iteration runs `head`, then `body` if the value in slot `condition` is true. `tail` runs once after the loop. The
    loop has a list of slots apart from the frame's slots. The loop writes `inputs` to the slots `entries` at the start. An
    iteration copies the slots of `carried`, pairs (from, to), for the next iteration. The slots `exits` hold the outputs.
    `enters` are the Enter nodes in the order of the inputs, `leaves` the Exit nodes in the order of the outputs.
    """

    enters: tuple[Node, ...] = ()
    head: tuple[Step, ...] = ()
    body: tuple[Step, ...] = ()
    tail: tuple[Step, ...] = ()
    slots: int = 0
    entries: tuple[int, ...] = ()
    condition: int = 0
    carried: tuple[tuple[int, int], ...] = ()
    exits: tuple[int, ...] = ()
    leaves: tuple[Node, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """Steps in order; `feeds` and `fetches` are slots, with None for an operation that is fetched.

    Where `needs_dataflow`, for the reason `why`, the loops are not of the form that tf.while_loop gives them, or their
    iterations race: the steps are in no order, and dataflow.py runs them as TensorFlow's executor does. `bypassed` are nodes
    that pass their input on and do not run. `ordered` is a plan in order nonetheless, for runs that know in which order the
    random ops of loops draw; `draws` has these ops by the conditions of their loops.
    """

    steps: tuple[Step, ...]
    slots: int
    feeds: tuple[int, ...]
    fetches: tuple[int | None, ...]
    targets: tuple[Output | Node, ...]
    fed: tuple[Output, ...] = ()
    needs_dataflow: bool = False
    bypassed: frozenset[Node] = frozenset()
    why: str = ""
    ordered: Plan | None = None
    draws: Mapping[Node, tuple[Node, ...]] = dataclasses.field(default_factory=dict)


def on_own_slots(steps: Sequence[Step], outer: Sequence[int] = ()) -> tuple[tuple[int, ...], tuple[Step, ...], dict[int, int]]:
    """Return (the slots that ordered steps read from outside, the steps on slots of their own, the new slot of each old
    slot).

    The inputs come first, and before all others the slots `outer`, whether read or not. Controls are dropped.
    """
    outputs = dict.fromkeys(slot for step in steps for slot in step.outputs)
    inputs = tuple(dict.fromkeys([*outer, *(slot for step in steps for slot in step.inputs if slot not in outputs)]))
    local = {slot: i for i, slot in enumerate(dict.fromkeys((*inputs, *outputs)))}
    body = [
        step.moved(tuple([local[slot] for slot in step.inputs]), tuple([local[slot] for slot in step.outputs]), ())
        for step in steps
    ]
    return inputs, tuple(body), local


def add_releases(steps: Sequence[Step], lasting: set[int]) -> None:
    """Let steps clear the slots that neither a later step nor a fetch reads."""
    kept = set(lasting)
    # Backwards, the first step that is met with a slot is the last that reads it, or writes what nobody reads.
    for step in reversed(steps):
        released = []
        for slot in (*step.outputs, *step.inputs, *step.controls):
            if slot not in kept:
                kept.add(slot)
                released.append(slot)
        step.released = tuple(released)


def with_releases(steps: Iterable[Step], lasting: set[int]) -> tuple[Step, ...]:
    """Return copies of a plan's steps that clear slots in this order; the plan stays unchanged."""
    copies = tuple([step.moved(step.inputs, step.outputs, step.controls) for step in steps])
    add_releases(copies, lasting)
    return copies


def add_loop_releases(parts: tuple[list[Step], list[Step], list[Step]], lasting: set[int], exits: Iterable[int]) -> None:
    """Let head and body clear slots, except for constants, `lasting` slots, and values of the head that are read after the
    loop.
    """
    head, body, tail = parts
    # A program puts constants into their slots before the run, so no iteration may clear them.
    constants = {slot for step in (*head, *body, *tail) if step.node.is_constant for slot in step.outputs}
    needed_after = {*exits, *(slot for step in tail for slot in (*step.inputs, *step.controls))}
    add_releases([*head, *body], lasting | constants)
    # After the last head comes the tail and not the body, so a head must not clear what the tail reads.
    for step in head:
        step.released = tuple(slot for slot in step.released if slot not in needed_after)
