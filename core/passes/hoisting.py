"""Loop passes: loop-invariant code motion, and the removal of loops that never run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence, Set
from typing import ClassVar

import numpy as np

from ..graph.call_kinds import CALL_KINDS, call_kind
from ..graph.deadness import LoopVariable, loop_variables
from ..graph.frames import ENTER, EXIT, MERGE, NEXT_ITERATION, SWITCH, Frame, find_frames, is_transparent
from ..graph.graph import Function, Graph, Node, Output
from ..graph.purity import CONTROL_FLOW, impurity, inline_blocker
from ..graph.references import written_variables
from ..graph.traversal import closure, descendants, topological_order, trail_end
from ..inference.inference import Inference, infer
from ..planning.reachability import needed_nodes
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.errors import TfgError
from ..types.dtypes import resource, variant
from ..types.shapes import Shape, TensorSpec
from .base.graph_pass import Draft, Pass, PassContext, become, copy_blocker, identity_of


class LoopHoisting(Pass):
    """Compute loop-invariant nodes before a loop, by V1 control flow or While.

    Only pure nodes move, and nodes that may fail only if the loop is known to run. A loop whose condition is false from
    the start is replaced by the entering values, and a While's variable that no iteration changes is read past the loop.
    """

    name: ClassVar[str] = "loops"
    summary: ClassVar[str] = "move loop-invariant nodes out of loops, drop loops that never run"
    follows: ClassVar[str] = "specialize"

    def run(self, graph: Graph, ctx: PassContext) -> None:
        if any(node.op in ENTER for node in graph):
            self._run_frames(graph, ctx)
        for node in ctx.order():
            kind = call_kind(graph.functions, node)
            if kind is None or not kind.is_loop:
                continue
            reason = inline_blocker(graph, node, kind)
            if reason is None:
                improve_while(graph, ctx, node)
            else:
                ctx.refuse("loop", node, reason)

    def _run_frames(self, graph: Graph, ctx: PassContext) -> None:
        """Process outer loops first: nested loops go together with an outer loop that never runs."""
        try:
            frames = list(dict.fromkeys(find_frames(graph).values()))
        except TfgError as error:
            ctx.refuse("loop", error.node or "", error.message)
            return
        for frame in sorted(frames, key=lambda frame: frame.depth):
            first = frame.nodes[0]
            # The frame may have gone with an outer loop.
            if graph.get(first.name) is first:
                self._improve(graph, ctx, frame, first)

    def _improve(self, graph: Graph, ctx: PassContext, frame: Frame, first: Node) -> None:
        if any(map(ctx.is_fed, (output for node in frame.nodes_within() for output in node.outputs()))):
            ctx.refuse("loop", first, f"a value in loop '{frame.name}' may be fed")
            return
        try:
            variables = loop_variables(frame)
            entered = _condition_at_entry(graph, ctx, frame, variables)
        except TfgError as error:
            ctx.refuse("loop", first, error.message)
            return
        if entered is not False or not _skip_loop(graph, ctx, frame, variables):
            FrameMotion(graph, ctx, frame, variables, entered).run()


# The entry of V1 while loops: a prediction of the first condition, and the removal of a loop that never runs.

_NEVER_RUNS = "never-runs"


def _truth(value: np.ndarray | None) -> bool | None:
    """Return the truth of a condition's value; None if unknown or no boolean scalar."""
    return bool(value) if value is not None and value.dtype == bool and value.ndim == 0 else None


def _entering_spec(ctx: PassContext, value: Output) -> TensorSpec:
    """Return the spec of a value that enters a loop, without values that a feed may replace."""
    spec = ctx.inference.specs[value]
    return dataclasses.replace(spec, dtype=spec.dtype.base, value=ctx.value(value))


def _condition_at_entry(graph: Graph, ctx: PassContext, frame: Frame, variables: Sequence[LoopVariable]) -> bool | None:
    """Return the loop's condition at entry, None if the condition is unknown before a run.

    The condition's ancestors are inferred separately, with the entering values in the place of the loop's variables.
    """
    sources = {variable.merge.output(): variable.enter.inputs[0] for variable in variables}
    sources |= {enter.output(): enter.inputs[0] for enter in frame.invariants}
    starts = {value.node for value in sources}

    def inputs_of(node: Node) -> list[Node]:
        return [] if node in starts else [value.node for value in node.inputs]

    predicate = frame.condition.inputs[0]
    probe = graph.emptied()
    copies: dict[Node, Node] = {}
    specs = {}
    for node in topological_order(closure([predicate.node], inputs_of), inputs_of):
        if node in starts:
            value = node.output()
            copies[node] = probe.add_node(node.name, "Placeholder", attrs={"dtype": value.node.output_dtypes[0].base})
            specs[copies[node].output()] = _entering_spec(ctx, sources[value])
        # Only the run knows what an impure node returns.
        elif not node.is_constant and impurity(graph, node) is not None:
            return None
        else:
            inputs = [copies[value.node].output(value.index) for value in node.inputs]
            copies[node] = probe.add_node(node.name, node.op, inputs, (), node.attrs)
    spec = infer(probe, specs).specs.get(copies[predicate.node].output(predicate.index))
    return _truth(spec.value) if spec is not None else None


def _skip_loop(graph: Graph, ctx: PassContext, frame: Frame, variables: Sequence[LoopVariable]) -> bool:
    """Replace the loop's results by the entering values; False, with a refusal, if the loop has to stay."""
    # The nodes that hand the results out stay, as readers and fetches know their names.
    doomed = [node for node in frame.nodes_within() if node not in frame.with_op(EXIT)]
    reason = _blocker(graph, ctx, frame, variables, doomed)
    if reason is not None:
        ctx.refuse(_NEVER_RUNS, frame.condition, reason)
        return False
    enters = {variable.switch.output(0): variable.enter for variable in variables}
    exits = list(frame.with_op(EXIT))
    # As before, a value leaves the loop once the entering values are there that the run needs for it. A run that reads one
    # variable alone does not compute what enters as others.
    needed = {node: needed_nodes([node]) for node in exits}
    for node in exits:
        source = enters[node.inputs[0]].inputs[0]
        waits = [wait for enter in frame.with_op(ENTER) if enter in needed[node] for wait in _waits(ctx, enter)]
        become(graph, node, "Identity", [source], {"T": node.attrs["T"]}, (w for w in waits if w is not source.node))
        ctx.fire(
            _NEVER_RUNS, node, f"an Identity of {source.name}: the condition of loop '{frame.name}' is false from the start"
        )
    graph.remove_nodes(doomed)
    for node in doomed:
        ctx.fire(_NEVER_RUNS, node, f"removed: the condition of loop '{frame.name}' is false from the start")
    return True


def _waits(ctx: PassContext, enter: Node) -> list[Node]:
    """Return the nodes an Enter waits for, as far as they are conditional or have effects."""
    source = enter.inputs[0].node
    return ctx.anchors(enter) if ctx.is_inside(source) or ctx.has_effects(source) else list(enter.control_inputs)


def _blocker(
    graph: Graph, ctx: PassContext, frame: Frame, variables: Sequence[LoopVariable], doomed: Sequence[Node]
) -> str | None:
    """Return the reason why a loop whose condition is false from the start has to stay."""
    if any(ctx.is_preserved(node) for node in doomed):
        return "a node of the loop is fetched or kept"
    body = body_nodes(graph, frame)
    acting = next((node for node in doomed if node not in body and ctx.acts(node)), None)
    if acting is not None:
        return f"'{acting.name}' runs before the condition is computed"
    left = {variable.switch.output(0) for variable in variables}
    if any(node.op != "Exit" or node.inputs[0] not in left for node in frame.with_op(EXIT)):
        return "a value that leaves the loop is not a loop variable"
    return None


# Loop-invariant code motion for While and StatelessWhile; unchanged variables are read past the loop.

RULE = "invariant"
PARTS = ("cond", "body")


def improve_while(graph: Graph, ctx: PassContext, node: Node) -> None:
    """Replace a loop that never runs by the loop's inputs, otherwise read past the loop and move nodes out if possible."""
    cond, body = (graph.functions[node.attr(part).name] for part in PARTS)
    entered = _first_condition(graph, ctx, node, cond)
    if entered is False and _skip(graph, ctx, node, cond):
        return
    unchanged = [i for i, (arg, value) in enumerate(zip(body.args, body.results)) if passed_on(value) == arg.output()]
    for i in unchanged:
        _read_past(graph, ctx, node, i)
    _WhileMotion(graph, ctx, node, unchanged, entered).run()


def _first_condition(graph: Graph, ctx: PassContext, node: Node, cond: Function) -> bool | None:
    """Return the condition for the entering values, None if the condition is unknown before a run."""
    arguments = {arg.output(): _entering_spec(ctx, value) for arg, value in zip(cond.args, node.inputs)}
    spec = infer(cond.body, arguments, graph.functions, answers=ctx.shared.answers).specs.get(cond.results[0])
    return _truth(spec.value) if spec is not None else None


def _skip(graph: Graph, ctx: PassContext, node: Node, cond: Function) -> bool:
    """Replace the loop's outputs by the inputs; False, with a refusal, if the condition has effects."""
    acting = next((inner for inner in cond.body if ctx.acts(inner)), None)
    if acting is not None:
        ctx.refuse(_NEVER_RUNS, node, f"'{acting.name}' in its condition has effects")
        return False
    types = [dtype.base for dtype in node.output_dtypes]
    # An identity keeps the name for whoever waits for the loop or fetches it.
    node.change_op(*identity_of(types))
    for i in range(len(types)):
        _read_past(graph, ctx, node, i)
    ctx.fire(_NEVER_RUNS, node, "replaced by its inputs: its condition is false from the start")
    return True


def _read_past(graph: Graph, ctx: PassContext, node: Node, index: int) -> None:
    """Let consumers of an unchanged output read the input; if the loop has effects, they still wait for the loop."""
    output, value = node.output(index), node.inputs[index]
    # A reader that takes the input would run before the loop's effects, or in a branch that is not taken.
    waits = ctx.has_effects(node) or ctx.is_inside(node)
    for user in [] if ctx.is_fed(output) else graph.consumers(output):
        if waits and user.op in CONTROL_FLOW:
            ctx.refuse("unchanged", user, f"it must wait for '{node.name}', but control flow has no control edges")
            continue
        graph.set_inputs(user, (value if taken == output else taken for taken in user.inputs))
        if waits:
            graph.add_control_input(user, node)
        ctx.fire("unchanged", user)


class _WhileMotion:
    """A loop with invariant nodes that are moved before the loop; each result becomes an additional loop variable."""

    def __init__(self, graph: Graph, ctx: PassContext, node: Node, unchanged: Sequence[int], entered: bool | None) -> None:
        self.graph = graph
        self.ctx = ctx
        self.node = node
        self.functions = {part: graph.functions[node.attr(part).name] for part in PARTS}
        # The condition runs once at least wherever the loop does, the body only if it is true at entry.
        self.is_certain = {"cond": not ctx.is_inside(node), "body": bool(entered) and not ctx.is_inside(node)}
        """True for each part that is known to run at least once."""
        self.inference = {part: self._infer(function) for part, function in self.functions.items()}
        self.invariants = {part: self._invariants(part, unchanged) for part in PARTS}
        self.moved = {part: invariants.worthwhile() for part, invariants in self.invariants.items()}
        self.copies: dict[Node, Node] = {}
        """The replacement, before the loop, of each node of the functions."""

    def run(self) -> None:
        """Move worthwhile nodes."""
        if not any(self.moved.values()):
            return
        for function in self.functions.values():
            if (reason := copy_blocker(self.ctx, function)) is not None:
                self.ctx.refuse(RULE, self.node, reason)
                return
        controls = self.ctx.anchors(self.node) if self.ctx.is_inside(self.node) else []
        self.drafts = {part: Draft(self.graph, self.node.attr(part)) for part in PARTS}
        # Copies of both functions exist before either changes: each new loop variable is an argument of both.
        for part, moved in self.moved.items():
            for node in moved:
                self._put_before(part, node, controls)
            for node, waits in moved.items():
                self._take_out(part, node, waits)
        for part, draft in self.drafts.items():
            draft.body.remove_nodes([draft.body.node(node.name) for node in self.moved[part]])
            self.node.set_attr(part, draft.add())

    def _infer(self, function: Function) -> Inference:
        """Infer the specs within a function that hold in all iterations."""
        specs = self.ctx.inference.specs
        arguments = {
            arg.output(): specs.get(value, TensorSpec(arg.output_dtypes[0]))
            for arg, value in zip(function.args, self.node.outputs())
        }
        return infer(function.body, arguments, self.graph.functions, answers=self.ctx.shared.answers)

    def _invariants(self, part: str, unchanged: Sequence[int]) -> Invariants:
        function = self.functions[part]
        branches = descendants(node for node in function.body if node.op in (*ENTER, *SWITCH))

        def blocker(node: Node) -> str | None:
            if node in branches:
                return "it lies on a branch or in an inner loop"
            if node in function.control_results:
                return "it is a control output of the function"
            reason = bound_to_loop(self.graph, node)
            if reason is not None or self.is_certain[part]:
                return reason
            reason = may_fail(node, self.inference[part])
            return None if reason is None else f"{reason}, and the loop may never run"

        def refuse(node: Node, reason: str) -> None:
            self.ctx.refuse(RULE, f"{function.name}: {node.name}", reason)

        invariants = Invariants(blocker, refuse)
        for i in unchanged:
            invariants.add(function.args[i].output())
        for node in topological_order(function.body):
            if node.op not in CONTROL_FLOW:
                invariants.consider(node)
        return invariants

    def _put_before(self, part: str, node: Node, controls: Sequence[Node]) -> None:
        """Copy a node, and the node's constant inputs, into the graph around the loop."""
        args = self.functions[part].args
        inputs = []
        for value in self.invariants[part].sources(node):
            if value.node in args:
                inputs.append(self.node.inputs[args.index(value.node)])
                continue
            if value.node not in self.copies:
                self._put_before(part, value.node, controls)
            inputs.append(self.copies[value.node].output(value.index))
        name = self.graph.unique_name(f"{self.node.name}/{node.name}")
        # `_class` asks for the device of nodes of the function, which are not in the graph around the loop.
        attrs = {key: value for key, value in node.attrs.items() if key != "_class"}
        self.copies[node] = self.graph.add_node(name, node.op, inputs, controls, attrs, node.device or self.node.device)

    def _take_out(self, part: str, node: Node, waits: Sequence[Node]) -> None:
        """Replace each output of a moved node by a new loop variable; consumers wait for what the moved node waited for."""
        draft = self.drafts[part]
        inside = draft.body.node(node.name)
        leaving = {other.name for other in self.moved[part]}
        staying = [user for user in inside.uses if user.name not in leaving]
        for value, output in zip(node.outputs(), inside.outputs()):
            if output in draft.results or any(output in user.inputs for user in staying):
                shape = self.inference[part].specs[value].shape
                draft.replace(output, self._add_variable(part, self.copies[node].output(output.index), shape))
        for user in staying:
            draft.body.remove_control_input(user, inside)
            for wait in waits:
                draft.body.add_control_input(user, draft.body.node(wait.name))
        fate = f"moved before '{self.node.name}': it is the same in every iteration"
        self.ctx.fire(RULE, f"{self.functions[part].name}: {node.name}", fate)

    def _add_variable(self, part: str, value: Output, shape: Shape) -> Output:
        """Add a variable to the loop; return the variable's value within `part`."""
        assert value.dtype is not None
        node, dtype = self.node, value.dtype.base
        self.graph.set_inputs(node, (*node.inputs, value))
        node.set_attr("T", [*node.attrs["T"], dtype])
        node.remove_attr("_output_shapes")  # a list of the outputs of before
        if node.attr("output_shapes"):
            node.set_attr("output_shapes", [*node.attrs["output_shapes"], shape])
        return {one: self.drafts[one].add_variable(dtype, RULE, is_result=one == "body") for one in PARTS}[part]


# Loop-invariant code motion for V1 while loops.


def body_nodes(graph: Graph, frame: Frame) -> set[Node]:
    """Return the nodes that run only if the loop's condition is true."""
    predicate = frame.condition.output()
    switches = [switch for switch in frame.with_op(SWITCH) if switch.inputs[1] == predicate]
    return _after(frame, (user for switch in switches for user in graph.consumers(switch.output(1))))


def _branch_nodes(graph: Graph, frame: Frame) -> set[Node]:
    """Return the nodes on branches within an iteration with descendants, and those that run after the last iteration only."""
    predicate = frame.condition.output()
    starts: list[Node] = []
    for switch in frame.with_op(SWITCH):
        users = graph.consumers(switch.output(0)) if switch.inputs[1] == predicate else list(switch.uses)
        starts += [user for user in users if user.op not in EXIT]
    return _after(frame, starts)


def _after(frame: Frame, starts: Iterable[Node]) -> set[Node]:
    """Return the starts, and their descendants in the same iteration."""
    within, last = set(frame.nodes_within()), set(frame.with_op(NEXT_ITERATION))
    return closure(starts, lambda node: () if node in last else within.intersection(node.uses))


class FrameMotion:
    """A loop with invariant nodes that are moved before the loop.

    A value that entered as a constant, or as a variable that the body does not change, has the same value before the loop.
    A node that depends on nothing else moves there, and a new constant Enter brings in the node's result. The consumers
    wait for the nodes that the moved node waited for, so that the consumers are alive in the same iterations as before.
    """

    def __init__(
        self, graph: Graph, ctx: PassContext, frame: Frame, variables: Sequence[LoopVariable], entered: bool | None
    ) -> None:
        self.graph = graph
        self.ctx = ctx
        self.frame = frame
        self.enters: dict[Output, Node] = {}
        """The Enter of each value that is the same in every iteration."""
        self.constants: dict[Node, Node] = {}
        """The replacement, before the loop, of each constant of the loop."""
        self.witnesses: dict[Node, Node] = {}
        """A node, for each moved node, that still runs in every iteration."""
        self.body = body_nodes(graph, frame)
        self.branches = _branch_nodes(graph, frame)
        sources = [enter.inputs[0].node for enter in frame.with_op(ENTER)]
        self.is_reached = frame.enclosing is None and not any(map(ctx.is_inside, sources))
        """True if the loop lies in no other loop and on no branch: a run that needs the loop starts the loop."""
        self.entered = entered
        """True if the started loop surely has a first iteration, None if that is unknown."""
        self.writes_references = any(written_variables(node) for node in frame.nodes_within())
        self.invariants = Invariants(self._blocker, functools.partial(ctx.refuse, RULE))
        self.unchanged = [v for v in variables if passed_on(v.body_output) == v.body_input]
        self._seed()

    def run(self) -> None:
        """Move worthwhile nodes, and read unchanged variables past the loop."""
        for variable in self.unchanged:
            self._read_past(variable)
        for node in topological_order(self.frame.nodes):
            if node.op not in CONTROL_FLOW:
                self.invariants.consider(node)
        moved = self.invariants.worthwhile()
        for node, waits in moved.items():
            self._move(node, waits, moved.keys())

    def _seed(self) -> None:
        """Seed the invariants: constants that enter, and variables that no iteration changes."""
        for enter in self.frame.invariants:
            self._add(enter.output(), enter)
        for variable in self.unchanged:
            self._add(variable.merge.output(), variable.enter)
            for user in self.graph.consumers(variable.body_input):
                if is_transparent(user):
                    self._add(user.output(), variable.enter, [user])

    def _read_past(self, variable: LoopVariable) -> None:
        """Let consumers after the loop read the entering value of a variable, unless they may have to wait for the loop."""
        graph, ctx, exit_node, source = self.graph, self.ctx, variable.exit, variable.enter.inputs[0]
        users = [] if exit_node is None else graph.consumers(exit_node.output())
        if exit_node is None or not users or source.is_reference:
            return
        enters = self.frame.with_op(ENTER)
        # A consumer of the Exit runs after the loop. Past the loop it would run before the loop's effects.
        if not self.is_reached or any(map(ctx.has_effects, enters)) or any(map(ctx.acts, self.frame.nodes_within())):
            ctx.refuse("unchanged", exit_node, "its consumer may have to wait for the loop")
            return
        graph.replace_all_uses(exit_node.output(), source)
        for user in users:
            ctx.fire("unchanged", user)

    def _add(self, value: Output, enter: Node, waits: Iterable[Node] = ()) -> None:
        source = passed_on(enter.inputs[0])
        # A constant Enter of a reference shows in each iteration what the iterations before have written.
        if enter.op == "Enter" and not (self.writes_references and _reads_reference(source)):
            self.enters[value] = enter
            self.invariants.add(value, waits)

    def _blocker(self, node: Node) -> str | None:
        """Return the reason why a node with invariant inputs stays in the loop."""
        reason = bound_to_loop(self.graph, node)
        if reason is not None:
            return reason
        if self.ctx.is_preserved(node):
            return "its name is needed in the loop"
        if node in self.branches:
            return "it lies on a branch within the loop"
        if any(user.op in (*MERGE, *EXIT, "LoopCond") for user in node.uses):
            return "a Merge, an Exit or the loop's condition reads it directly"
        if self.is_reached and (self.entered or node not in self.body):
            return None
        reason = may_fail(node, self.ctx.inference)
        return None if reason is None else f"{reason}, and the loop may never run"

    def _move(self, node: Node, waits: Sequence[Node], moved: Set[Node]) -> None:
        """Put a node before the loop, after the moved inputs, and let consumers in the loop read the entering result."""
        graph = self.graph
        staying = [user for user in node.uses if user not in moved]
        sources = self.invariants.sources(node)
        inside = next(value.node for value in sources if not value.node.is_constant)
        # Once moved, the node runs before the loop, so a control edge from it no longer says that the iteration has begun.
        self.witnesses[node] = self.witnesses.get(inside, inside)
        controls = [c for value in sources if value in self.enters for c in self.enters[value].control_inputs]
        graph.set_inputs(node, [self._before(value, moved) for value in sources], controls)
        for output in node.outputs():
            self._bring_in(output, [user for user in staying if output in user.inputs])
        for user in staying:
            if node in user.control_inputs:
                graph.remove_control_input(user, node)
                graph.add_control_input(user, self.witnesses[node])
            for wait in waits:
                graph.add_control_input(user, wait)
        self.ctx.fire(RULE, node, f"moved before loop '{self.frame.name}': it is the same in every iteration")

    def _before(self, value: Output, moved: Set[Node]) -> Output:
        """Return the value before the loop of an invariant value."""
        if value in self.enters:
            return self.enters[value].inputs[0]
        return self._constant(value.node, moved).output() if value.node.is_constant else value

    def _constant(self, constant: Node, moved: Set[Node]) -> Node:
        """Return the constant, or a copy if the loop has other readers of the constant."""
        if constant not in self.constants:
            # In an outer loop the constant waits for a value that enters this loop: with neither inputs nor controls the
            # constant would lie in no loop.
            around = [self.frame.with_op(ENTER)[0].inputs[0].node] if self.frame.enclosing is not None else []
            if self.ctx.is_preserved(constant) or any(user not in moved for user in constant.uses):
                name = self.graph.unique_name(f"{constant.name}/before")
                copy = self.graph.add_node(name, "Const", (), around, constant.attrs, constant.device)
            else:
                copy = constant
                self.graph.set_inputs(copy, (), around)
            self.constants[constant] = copy
        return self.constants[constant]

    def _bring_in(self, value: Output, users: Sequence[Node]) -> None:
        if not users:
            return
        assert value.dtype is not None
        # TensorFlow knows a frame by the name, and refuses Enters of one frame with other numbers of parallel iterations.
        like = self.frame.with_op(ENTER)[0]
        attrs = {
            "T": value.dtype.base, "frame_name": like.attrs["frame_name"], "is_constant": True,
            "parallel_iterations": like.attr("parallel_iterations"),
        }  # fmt: skip
        name = self.graph.unique_name(f"{value.node.name}/Enter")
        enter = self.graph.add_node(name, "Enter", [value], (), attrs, value.node.device)
        for user in users:
            self.graph.set_inputs(user, (enter.output() if taken == value else taken for taken in user.inputs))


def _reads_reference(value: Output) -> bool:
    """Return True for a value read from a variable by reference: a write changes the value even after the read."""
    node = value.node
    references = [value, *(node.inputs if is_transparent(node) else ())]
    return any(value.is_reference for value in references)


# Invariance of a loop's nodes in all iterations, and their safety where they would not have run.


class Invariants:
    """The invariant values of a loop, and the pure nodes that compute them.

    `blocker` returns the reason why a node with invariant inputs has to stay, or None; `refuse` is called with the reason.
    """

    def __init__(self, blocker: Callable[[Node], str | None], refuse: Callable[[Node, str], None]) -> None:
        self._blocker = blocker
        self._refuse = refuse
        self._waits: dict[Output, tuple[Node, ...]] = {}
        self._copies: dict[Output, Output] = {}
        self.nodes: dict[Node, tuple[Node, ...]] = {}
        """The nodes that may leave the loop, in topological order, and the loop's nodes that each waits for."""

    def add(self, value: Output, waits: Iterable[Node] = ()) -> None:
        """Add an invariant value, and the loop's nodes that the value waits for."""
        self._waits[value] = tuple(waits)

    def consider(self, node: Node) -> None:
        """Add the node if all inputs are invariant and nothing blocks it; constant inputs alone leave it to folding."""
        if node.is_constant:
            self.add(node.output(), self._controls(node))
            return
        if any(value not in self._waits for value in node.inputs) or all(v.node.is_constant for v in node.inputs):
            return
        waits = dict.fromkeys([*self._controls(node), *(w for value in node.inputs for w in self._waits[value])])
        if is_transparent(node):
            self._copies[node.output()] = self.original(node.inputs[0])
        elif (reason := self._blocker(node)) is not None:
            self._refuse(node, reason)
            return
        else:
            self.nodes[node] = tuple(waits)
        for output in node.outputs():
            self.add(output, waits)

    def original(self, value: Output) -> Output:
        """Return the invariant value that `value` is a copy of."""
        return self._copies.get(value, value)

    def sources(self, node: Node) -> list[Output]:
        """Return the originals of a node's inputs."""
        return [self.original(value) for value in node.inputs]

    def worthwhile(self) -> dict[Node, tuple[Node, ...]]:
        """Return the nodes to move: nodes that compute, their inputs, and nodes that only pass their results on."""
        chosen: set[Node] = set()
        for node in self.nodes:
            # A view alone is free in each iteration, and moving it out costs another loop variable or Enter.
            if not is_idle(node) or any(value.node in chosen for value in self.sources(node)):
                chosen.add(node)
        # Backwards, so that a chosen node brings its sources along, and they theirs.
        for node in reversed(self.nodes):
            if node in chosen:
                chosen |= {value.node for value in self.sources(node)}
        return {node: waits for node, waits in self.nodes.items() if node in chosen}

    def _controls(self, node: Node) -> list[Node]:
        """Return a node's control inputs; an invariant control input is replaced by the nodes that the input waits for."""
        return [wait for control in node.control_inputs for wait in self.nodes.get(control, (control,))]


def is_idle(node: Node) -> bool:
    """Return True for a node that only passes the input on, whole or as a shape."""
    return has_fact(node.op, "forwarding") or has_fact(node.op, "view")


def passed_on(value: Output) -> Output:
    """Return the original of `value`, past nodes that only pass the value on."""
    return trail_end(value, _before)


def _before(value: Output) -> Output | None:
    node = value.node
    return node.inputs[0] if is_transparent(node) and not node.inputs[0].is_reference else None


def bound_to_loop(graph: Graph, node: Node) -> str | None:
    """Return the reason why a node with invariant inputs may vary between iterations, or may not move."""
    # The object behind a handle may change although the handle does not.
    if any(dtype.base in (resource, variant) for dtype in node.output_dtypes):
        return "its output is a handle"
    return impurity(graph, node)


def may_fail(node: Node, inference: Inference) -> str | None:
    """Return the reason why a node may fail on valid inputs, or None for a total node, which may run speculatively."""
    if node.op in CALL_KINDS:
        return "the called function may fail"
    if node.name in inference.reasons or not (has_fact(node.op, "total") or _is_safe_elementwise(node)):
        return "it may fail"
    inputs = [_shape(inference, value) for value in node.inputs]
    tensors = {shape for shape in inputs if shape.rank != 0}
    is_elementwise = has_fact(node.op, "elementwise")
    # Equal shapes fit whatever their unknown sizes are. Scalars fit everything.
    if is_elementwise and (len(inputs) == 1 or (len(tensors) <= 1 and all(shape.dims is not None for shape in tensors))):
        return None
    is_known = all(shape.is_known for shape in (*inputs, *(_shape(inference, value) for value in node.outputs())))
    return None if is_known else "the shapes of its inputs may not match"


def _is_safe_elementwise(node: Node) -> bool:
    """Return True for elementwise ops on numbers, except on integers, where a division may fail."""
    dtypes = [*node.output_dtypes, *(value.dtype for value in node.inputs)]
    is_numeric = all(dtype is not None and not dtype.is_object for dtype in dtypes)
    is_elementwise = has_fact(node.op, "elementwise") and not has_fact(node.op, "forwarding")
    return is_numeric and is_elementwise and not any(dtype.is_integer for dtype in node.output_dtypes)


def _shape(inference: Inference, value: Output) -> Shape:
    return inference.specs[value].shape if value in inference.specs else Shape()
