"""Stacks of V1 loops as lists, through which gradients flow.

A loop pushes values onto a stack and the gradient's loop pops them, but no edge leads from the push to the pop. A list that
is a variable of both loops has these edges, so that a gradient of the gradient depends on the pushed values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, TypeAlias

from ..building.builder import GraphBuilder
from ..graph.frames import ENTER, SWITCH, Frame, handed_in, source_of
from ..graph.graph import Graph, Node, Output
from ..graph.traversal import reachable
from ..registry.op_facts import has_fact, ops_with
from ..support import dataclasses
from ..support.errors import UnimplementedError
from ..types import dtypes
from .function_parts import dtype_of
from .swept_values import LoopState, branches_of, close_variable, enter_and_merge, has_gradient

PUSH: Final = ops_with("stack_push")
POP: Final = ops_with("stack_pop")

_Step: TypeAlias = "Node | tuple[Output, int]"
"""The Enter into a loop, or a predicate with the branch taken."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Use:
    """A node that takes the handle of a stack: the way there, outermost first, and the nodes that forward the handle."""

    node: Node
    handle: Output
    way: tuple[_Step, ...] = ()
    handing_on: tuple[Node, ...] = ()

    @property
    def is_saved(self) -> bool:
        """Return True if the handle itself is pushed: an outer loop saves the stack of an inner loop."""
        return self.node.op in PUSH and self.node.inputs[1] is self.handle

    @property
    def is_push(self) -> bool:
        return self.node.op in PUSH and not self.is_saved

    @property
    def is_pop(self) -> bool:
        return self.node.op in POP


def use_lists_for_stacks(graph: Graph) -> None:
    """Replace the stacks of differentiable values by lists.

    Each stack must be filled by a single push and emptied by a single pop, as gradients use stacks; otherwise all stay.
    """
    if not any(node.op in PUSH for node in graph):
        return
    stacks = _Stacks(LoopState(graph))
    # All stacks become lists or none: a list inside a stack, or a stack inside a list, could not be handed over.
    if not all(map(stacks.is_plain, stacks.differentiable)):
        return
    conversion = _StackConversion(graph, stacks)
    # An outer stack holds the inner ones, which have to be lists first.
    for stack in sorted(stacks.differentiable, key=stacks.depth, reverse=True):
        conversion.convert(stack)
    graph.remove_nodes(conversion.leftovers)


def refuse_other_stacks(reached: Collection[Node], ys: Sequence[Output]) -> None:
    """Raise UnimplementedError with the pop where ys depend, by a stack that is no list, on a node among `reached`."""
    pushes = [node for node in reached if node.op in PUSH and _is_reached(node.inputs[1], reached)]
    if not pushes:
        return
    filled = {handed_in(node.inputs[0]).node for node in pushes}
    for node in reachable((y.node for y in ys), by_control=False):
        if node.op in POP and has_gradient(dtype_of(node.output())) and handed_in(node.inputs[0]).node in filled:
            problem = "the result depends on a popped value, but no gradient flows through this stack to the pushed value"
            raise UnimplementedError(problem, node=node.name, op=node.op)


def _is_reached(value: Output, reached: Collection[Node]) -> bool:
    return value.node in reached and has_gradient(dtype_of(value))


class _Stacks:
    """The stacks of a graph, and the users of their handles: where stacks are made, and where an outer stack pops them."""

    def __init__(self, loops: LoopState) -> None:
        self.loops = loops
        self.uses: dict[Output, list[_Use]] = {}
        self.handles: dict[Node, list[Output]] = {}
        """The handles of each stack, the maker's own handle first."""
        filled = dict.fromkeys(handed_in(node.inputs[0]).node for node in loops.graph if node.op in PUSH)
        # Another maker, such as an argument, hides the other users of the stack.
        stacks = [node for node in filled if has_fact(node.op, "run_state")]
        for stack in stacks:
            self.note(stack, stack.output())
        self.filled = {use.node: stack for stack in stacks for use in self.uses[stack.output()] if use.is_push}
        # Stacks of nested loops are pushed onto outer stacks, and what is popped there is again a handle with users, to any
        # depth.
        while pairs := [(stack, popped) for stack in stacks for popped in self.given_back(stack) if popped not in self.uses]:
            for stack, popped in pairs:
                self.note(stack, popped)
        self.differentiable = {stack for push, stack in self.filled.items() if has_gradient(dtype_of(push.inputs[1]))}
        while outer := {holder for stack in self.differentiable for holder in self.holders(stack)} - self.differentiable:
            self.differentiable |= outer

    def note(self, stack: Node, handle: Output) -> None:
        """Record a handle of a stack and the users of the handle."""
        self.handles.setdefault(stack, []).append(handle)
        self.uses[handle] = _uses(self.loops, handle)

    def all_uses(self, stack: Node) -> list[_Use]:
        """Return the users of all handles of a stack."""
        return [use for handle in self.handles[stack] for use in self.uses[handle]]

    def holders(self, stack: Node) -> list[Node]:
        """Return the outer stacks that hold a stack."""
        return [self.filled[use.node] for use in self.all_uses(stack) if use.is_saved and use.node in self.filled]

    def given_back(self, stack: Node) -> list[Output]:
        """Return the handles of a stack that are popped from outer stacks."""
        return [use.node.output() for holder in self.holders(stack) for use in self.all_uses(holder) if use.is_pop]

    def depth(self, stack: Node) -> int:
        """Return the number of loops around the node that makes a stack."""
        frame = self.loops.frame_of(stack)
        return 0 if frame is None else 1 + frame.depth

    def is_plain(self, stack: Node) -> bool:
        """Return True for a single push and at most a single pop, with handles saved only where they are made or popped."""
        uses = self.all_uses(stack)
        enters = [step for use in uses for step in use.way if isinstance(step, Node)]
        return (
            sum(use.is_push for use in uses) == 1
            and sum(use.is_pop for use in uses) <= 1
            and all(enter.attr("is_constant") for enter in enters)
            and all(use.is_push or use.is_pop or (use.is_saved and not use.way) for use in uses)
        )


def _uses(loops: LoopState, handle: Output) -> list[_Use]:
    """Return the users of a handle, past the nodes that let the handle into loops and onto branches."""
    uses = []
    pending = [_Use(user, handle) for user in handle.node.uses if handle in user.inputs]
    for use in pending:
        passed_on = list(_passed_on(loops, use))
        pending += [
            dataclasses.replace(use, node=user, handle=value, way=way, handing_on=(*use.handing_on, use.node))
            for value, way in passed_on
            for user in value.node.uses
            if value in user.inputs
        ]
        if not passed_on:
            uses.append(use)
    return uses


def _passed_on(loops: LoopState, use: _Use) -> Iterator[tuple[Output, tuple[_Step, ...]]]:
    """Yield the handle behind an Enter or a Switch, with the way there; nothing for a node of another kind."""
    node = use.node
    if node.op in ENTER:
        loop = loops.frame_of(node)
        assert loop is not None
        # The loop may run on a branch only, though the handle comes from outside.
        yield node.output(), (*use.way, *_branches(loops, use, loop.condition.output(), loop.enclosing), node)
    elif node.op in SWITCH and node.inputs[0] is use.handle:
        predicate = node.inputs[1]
        way = (*use.way, *_branches(loops, use, predicate, loops.frame_of(node)))
        for branch in (0, 1):
            yield node.output(branch), (*way, (predicate, branch))


def _branches(loops: LoopState, use: _Use, value: Output, frame: Frame | None) -> list[tuple[Output, int]]:
    """Return the branches in an iteration of a loop that a value is on and the way to a use has not taken yet."""
    passed = {(source_of(step[0]), step[1]) for step in use.way if isinstance(step, tuple)}
    around = [taken for taken in branches_of(value, loops.deadness) if loops.frame_of_value(taken[0]) is frame]
    return [taken for taken in around if taken not in passed]


class _StackConversion:
    """The conversion of a graph's stacks to lists."""

    def __init__(self, graph: Graph, stacks: _Stacks) -> None:
        self.graph = graph
        self.loops = stacks.loops
        self.uses = stacks.uses
        self.g = GraphBuilder(graph)
        self.elements: dict[Output, Output] = {}
        """The element of a list, by the value popped from the stack."""
        self.leftovers: dict[Node, None] = {}

    def convert(self, stack: Node) -> None:
        """Let a list stand for a stack."""
        push = next(use for use in self.uses[stack.output()] if use.is_push)
        with self.g.name_scope(f"{stack.name}_list"):
            size = stack.inputs[0]
            with self.g.control_dependencies([size]):
                unknown = self.g.constant(-1, dtypes.int32)
            empty = self.g.EmptyTensorList(unknown, size, element_dtype=dtype_of(push.node.inputs[1]))
            self.hand_over(stack.output(), self.along(push, push.way, empty, self.pushed))
        self.leftovers[stack] = None

    def hand_over(self, handle: Output, elements: Output) -> None:
        """Give a list to the nodes that pop from a stack, and to the nodes that save the stack."""
        for use in self.uses[handle]:
            if use.is_saved:
                self.graph.set_inputs(use.node, [use.node.inputs[0], elements])
                use.node.set_attr("T", dtypes.variant)
            elif use.is_pop:
                self.along(use, use.way, elements, self.popped)

    def along(self, use: _Use, way: Sequence[_Step], items: Output, change: Callable[[_Use, Output], Output]) -> Output:
        """Lead a list on the way to a use, where the list is changed, and back, as a variable of each loop on the way."""
        if not way:
            self.leftovers |= dict.fromkeys([use.node, *use.handing_on])
            return change(use, items)
        step, rest = way[0], way[1:]
        if isinstance(step, tuple):
            predicate, branch = step
            branches = self.g.Switch(items, self.elements.get(predicate, predicate))
            merged = self.g.Merge([branches[1 - branch], self.along(use, rest, branches[branch], change)])[0]
            return merged
        frame = self.loops.frame_of(step)
        assert frame is not None
        merge = enter_and_merge(self.g, items, frame.name, step.attr("parallel_iterations"))
        switch = self.g.Switch(merge, frame.condition.output())[0].node
        return close_variable(self.g, switch, self.along(use, rest, switch.output(1), change))

    def pushed(self, use: _Use, items: Output) -> Output:
        """Return the list with the element that a node pushes."""
        push, value = use.node, use.node.inputs[1]
        # The push waited for the counter of iterations; the list operation has to wait as well.
        with self.g.control_dependencies(push.control_inputs):
            longer = self.g.TensorListPushBack(items, value, element_dtype=dtype_of(value))
        self.graph.replace_control_uses(push, longer.node)
        # A push returns its value, and readers took it from there.
        self.graph.replace_all_uses(push.output(), value)
        return longer

    def popped(self, use: _Use, items: Output) -> Output:
        """Return the list without the last element, which replaces the popped value."""
        pop = use.node
        # A constant in a loop needs an input from its iteration; otherwise it would stand in the root frame.
        with self.g.control_dependencies([self.g.Identity(items)]):
            unknown = self.g.constant(-1, dtypes.int32)
        gives_stack = pop.output() in self.uses
        dtype = dtypes.variant if gives_stack else pop.attr("elem_type")
        with self.g.control_dependencies(pop.control_inputs):
            rest: Output
            rest, element = self.g.TensorListPopBack(items, unknown, element_dtype=dtype)
        self.graph.replace_control_uses(pop, element.node)
        if gives_stack:
            self.hand_over(pop.output(), element)
        else:
            self.graph.replace_all_uses(pop.output(), element)
            self.elements[pop.output()] = element
        return rest
