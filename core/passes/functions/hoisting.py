"""Loop passes: loop-invariant code motion, and the removal of loops that never run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ...functions.call_kinds import call_kind
from ...functions.purity import CONTROL_FLOW, impurity, inline_blocker
from ...graph.deadness import LoopVariable, loop_variables
from ...graph.frames import ENTER, EXIT, SWITCH, Frame, find_frames
from ...graph.graph import Function, Graph, Node, Output
from ...graph.traversal import closure, descendants, topological_order
from ...inference.inference import Inference, infer
from ...support import dataclasses
from ...support.errors import TfgError
from ...types.shapes import Shape, TensorSpec
from ..base.graph_pass import Draft, Pass, PassContext, become, copy_blocker, identity_of
from .frame_hoisting import FrameMotion, body_nodes
from .invariance import Invariants, bound_to_loop, may_fail, passed_on


@dataclasses.dataclass(frozen=True)
class LoopHoisting(Pass):
    """Compute loop-invariant nodes before a loop, by V1 control flow or While.

    Only pure nodes move, and nodes that may fail only where the loop is known to run. A loop whose condition is false from
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
    """Return the loop's condition at entry, None where the condition is unknown before a run.

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
    """Replace the loop's results by the entering values; False, with a refusal, where the loop has to stay."""
    doomed = [node for node in frame.nodes_within() if node not in frame.with_op(EXIT)]
    reason = _blocker(graph, ctx, frame, variables, doomed)
    if reason is not None:
        ctx.refuse(_NEVER_RUNS, frame.condition, reason)
        return False
    enters = {variable.switch.output(0): variable.enter for variable in variables}
    # As before, no value leaves the loop until all entering values are there.
    waits = [wait for enter in frame.with_op(ENTER) for wait in _waits(ctx, enter)]
    for node in frame.with_op(EXIT):
        source = enters[node.inputs[0]].inputs[0]
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
    """Replace a loop that never runs by the loop's inputs, otherwise read past the loop and move nodes out where possible."""
    cond, body = (graph.functions[node.attr(part).name] for part in PARTS)
    entered = _first_condition(graph, ctx, node, cond)
    if entered is False and _skip(graph, ctx, node, cond):
        return
    unchanged = [i for i, (arg, value) in enumerate(zip(body.args, body.results)) if passed_on(value) == arg.output()]
    for i in unchanged:
        _read_past(graph, ctx, node, i)
    _WhileMotion(graph, ctx, node, unchanged, entered).run()


def _first_condition(graph: Graph, ctx: PassContext, node: Node, cond: Function) -> bool | None:
    """Return the condition for the entering values, None where the condition is unknown before a run."""
    arguments = {arg.output(): _entering_spec(ctx, value) for arg, value in zip(cond.args, node.inputs)}
    spec = infer(cond.body, arguments, graph.functions, answers=ctx.shared.answers).specs.get(cond.results[0])
    return _truth(spec.value) if spec is not None else None


def _skip(graph: Graph, ctx: PassContext, node: Node, cond: Function) -> bool:
    """Replace the loop's outputs by the inputs; False, with a refusal, where the condition has effects."""
    acting = next((inner for inner in cond.body if ctx.acts(inner)), None)
    if acting is not None:
        ctx.refuse(_NEVER_RUNS, node, f"'{acting.name}' in its condition has effects")
        return False
    types = [dtype.base for dtype in node.output_dtypes]
    node.change_op(*identity_of(types))
    for i in range(len(types)):
        _read_past(graph, ctx, node, i)
    ctx.fire(_NEVER_RUNS, node, "replaced by its inputs: its condition is false from the start")
    return True


def _read_past(graph: Graph, ctx: PassContext, node: Node, index: int) -> None:
    """Let consumers of an unchanged output read the input; where the loop has effects, they still wait for the loop."""
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
        self.is_certain = {"cond": not ctx.is_inside(node), "body": bool(entered) and not ctx.is_inside(node)}
        """True for each part that is known to run at least once."""
        self.inference = {part: self._infer(function) for part, function in self.functions.items()}
        self.invariants = {part: self._invariants(part, unchanged) for part in PARTS}
        self.moved = {part: invariants.worthwhile() for part, invariants in self.invariants.items()}
        self.made: dict[Node, Node] = {}
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
            if value.node not in self.made:
                self._put_before(part, value.node, controls)
            inputs.append(self.made[value.node].output(value.index))
        name = self.graph.unique_name(f"{self.node.name}/{node.name}")
        # `_class` asks for the device of nodes of the function, which are not in the graph around the loop.
        attrs = {key: value for key, value in node.attrs.items() if key != "_class"}
        self.made[node] = self.graph.add_node(name, node.op, inputs, controls, attrs, node.device or self.node.device)

    def _take_out(self, part: str, node: Node, waits: Sequence[Node]) -> None:
        """Replace each output of a moved node by a new loop variable; consumers wait for the nodes that the moved node
        waited for.
        """
        draft = self.drafts[part]
        inside = draft.body.node(node.name)
        leaving = {other.name for other in self.moved[part]}
        staying = [user for user in inside.uses if user.name not in leaving]
        for value, output in zip(node.outputs(), inside.outputs()):
            if output in draft.results or any(output in user.inputs for user in staying):
                shape = self.inference[part].specs[value].shape
                draft.replace(output, self._add_variable(part, self.made[node].output(output.index), shape))
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
