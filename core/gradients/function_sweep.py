"""The sweep through the body of a function that is called."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from ..building.builder import GraphBuilder
from ..building.gradbuilder import GradientBuilder, Gradients
from ..control_flow.copies import source_of
from ..control_flow.deadness import ALWAYS, Deadness, is_choice, predicate_source
from ..control_flow.frames import ENTER, SWITCH, find_frames
from ..functions.call_kinds import Form
from ..functions.call_signatures import signature_of
from ..functions.instantiation import origin_of
from ..graph.graph import Function, Graph, Node, Output
from ..graph.traversal import reachable
from ..inference.inference import infer
from ..registry.op_facts import has_fact
from ..types.dtypes import DType, int32, resource, variant
from ..types.shapes import UNKNOWN, Shape, TensorSpec
from ..types.tensors import Tensor
from .function_parts import Differentiated, add_arg, copied_body, dtype_of
from .indexed_slices import parts as tensors_of
from .origins import origins
from .stack_lists import use_lists_for_stacks
from .sweep import Call, Sweep, is_differentiable
from .switch_branches import branches_of


def differentiate(
    sweep: Sweep,
    node: Node,
    function: Function,
    attrs: Mapping[str, Any],
    grad_dtypes: Sequence[DType | None],
    form: Form,
) -> Differentiated:
    """Return the body of a function that `node` calls, with the gradient nodes of the results.

    `grad_dtypes` are None where no gradient arrives. In loops the gradients become dense, as iterations add theirs up.
    """
    sweep.functions.begin(function, node)
    in_loop = form is Form.LOOP
    body, args, results = copied_body(sweep.graph, function, attrs)
    forward = set(body)
    builder = GraphBuilder(body)
    arriving = [dtype for dtype in grad_dtypes if dtype is not None]
    new_args = iter([add_arg(builder, dtype, len(args) + i) for i, dtype in enumerate(arriving)])
    grad_args = [None if dtype is None else next(new_args) for dtype in grad_dtypes]
    seeds = [None if arg is None else arg.output() for arg in grad_args]
    inputs = node.inputs[len(node.inputs) - len(args) :]
    known = dict(zip((arg.output() for arg in args), argument_specs(sweep, node, inputs, form)))
    call = Call(sweep, node, origin_of(function), args, known)
    grads = sweep.in_function(body, results, [arg.output() for arg in args], seeds, call)
    if in_loop:
        builder_for_dense = GradientBuilder(body)
        grads = [None if grad is None else builder_for_dense.densify(grad) for grad in grads]
    use_lists_for_stacks(body)
    forward = _with_loops(body, forward)
    inside = forward | {arg for arg in grad_args if arg is not None}
    _settle_shapes(sweep, body, [node for node in body if node not in inside], known)
    if in_loop:
        asked = _asked_forward(body, [node for node in body if node not in inside], forward, grads)
        forward, inside = forward | asked, inside | asked
    backward_nodes = [node for node in body if node not in inside]
    read = [value for value in _read_values(backward_nodes, grads) if value.node in forward]
    leaving, entering = carry_over(body, read, backward_nodes)
    forward.update(leaving)
    backward_nodes += entering
    direct = _taken_directly(form, forward, args, results)
    read = [value for value in _read_values(backward_nodes, grads) if value.node in forward and value not in direct]
    handed = {} if form is Form.CALL else _handed_on(read, body, args)
    captured = [value for value in read if value not in handed]
    return Differentiated(function, body, args, results, grad_args, grads, backward_nodes, captured, handed)


def _with_loops(body: Graph, forward: set[Node]) -> set[Node]:
    """Return the forward nodes with the counters and stacks that V1 loops among them were given: these run in the same
    frames.
    """
    forward = forward & set(body)  # without stacks that became lists
    if not any(node.op in ENTER for node in forward):
        return reachable(forward)
    frames = find_frames(body)
    own = {frames[node] for node in forward if node in frames}
    return reachable(forward | {node for node, frame in frames.items() if frame in own})


def _handed_on(read: Sequence[Output], body: Graph, args: Sequence[Node]) -> dict[Output, int]:
    """Map the handles among `read` that inner loops, branches and calls forward to the arguments behind them."""
    places = {arg.output(): i for i, arg in enumerate(args)}
    behind = {value: {*origins(value, body.functions, None)} for value in read if dtype_of(value) is resource}
    return {value: places[roots.pop()] for value, roots in behind.items() if len(roots) == 1 and roots <= places.keys()}


def _taken_directly(form: Form, forward: set[Node], args: Sequence[Node], results: Sequence[Output]) -> set[Output]:
    """Return the values that the forward part need not hand to the backward part: arguments, and constants, to be copied.

    A loop hands over arguments that change. A call hands over all values that carry gradients, and handles: as in
    TensorFlow, the gradient's inputs thereby depend on all arguments, so that second gradients are zeros, not None.
    """
    constants = {node.output() for node in forward if node.is_constant}
    if form is Form.LOOP:
        return constants | {arg.output() for arg, result in zip(args, results) if source_of(result).node is arg}
    values = constants | {arg.output() for arg in args}
    return {value for value in values if not is_differentiable(value)} if form is Form.CALL else values


def argument_specs(sweep: Sweep, node: Node, inputs: Sequence[Output], form: Form) -> list[TensorSpec]:
    """Return the specs of the arguments of a function that `node` calls with `given`; for a loop, specs that hold in all
    iterations.
    """
    if form is not Form.LOOP:
        return [sweep.spec(value) for value in inputs]
    specs = [sweep.spec(value) for value in node.outputs()]  # a list at entry has other contents than in later iterations
    shapes = node.attrs.get("output_shapes") or [UNKNOWN] * len(specs)
    return [TensorSpec(spec.dtype, shape, handle=spec.handle) for spec, shape in zip(specs, shapes)]


def known_of(sweep: Sweep, node: Node, inputs: Sequence[Output], form: Form) -> Hashable:
    """Return the key of a function's gradient besides the function: calls with equal keys share a differentiated function.

    A registered gradient reads values of an outer function by arguments that differ for each call, so the node is in the
    key.
    """
    carrying = tuple(map(sweep.carries_gradient, inputs))
    specs = signature_of(argument_specs(sweep, node, inputs, form))[0]
    return form, specs, carrying, node if sweep.graph.registered_gradients else None


def _settle_shapes(sweep: Sweep, body: Graph, backward_nodes: Sequence[Node], known: Mapping[Output, TensorSpec]) -> None:
    """Replace known shapes, and zeros of known shapes, by constants, so that no values are saved for them.

    As in TensorFlow the gradient of ResourceGatherNd, and zeros for a variable, still ask the variable and so depend on the
    handle.
    """
    asked = [node for node in backward_nodes if node.op in ("Shape", "ZerosLike") or _is_settled(node)]
    if asked and any(node.op in SWITCH for node in body):
        asked = _outside_control_flow(body, asked)
    specs = infer(body, known, answers=sweep.functions.answers).specs if asked else {}
    builder = GraphBuilder(body)
    for node in asked:
        spec = specs[node.output()]
        if node.op == "ZerosLike":
            _settle_zeros(builder, node, spec.shape)
        elif spec.value is not None and spec.value.dtype != object:
            tensor = Tensor.from_numpy(spec.value, node.output_dtypes[0])
            node.change_op("Const", {"value": tensor, "dtype": tensor.dtype})
            body.set_inputs(node, ())


def _outside_control_flow(body: Graph, nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes that run always and once, as constants do."""
    deadness, frames = Deadness(predicate=predicate_source), find_frames(body)
    return [node for node in nodes if node not in frames and deadness.of_node(node) == ALWAYS]


def _is_settled(node: Node) -> bool:
    return node.op == "VariableShape" and not any(user.op in ("Fill", "ScatterNd") for user in node.uses)


def _settle_zeros(builder: GraphBuilder, node: Node, shape: Shape) -> None:
    """Make a Fill of zeros that are like a value of a known shape."""
    dtype = dtype_of(node.output())
    if shape.is_known and dtype is not variant:
        dims, zero = builder.constant(shape.known(), int32), builder.constant(0, dtype)
        node.change_op("Fill", {"T": dtype, "index_type": int32})
        builder.graph.set_inputs(node, (dims, zero))


def _asked_forward(body: Graph, backward_nodes: Sequence[Node], forward: set[Node], grads: Gradients) -> set[Node]:
    """Return the nodes that ask for shapes and lengths of values that the backward part reads for nothing else.

    As in TensorFlow the nodes go into the forward part, and the answers are saved; equal questions are asked once.
    """
    asking = [node for node in backward_nodes if has_fact(node.op, "metadata") and _asks_for_number(node, forward)]
    rest = set(_read_values([node for node in backward_nodes if node not in set(asking)], grads))
    nodes: dict[tuple[Any, ...], Node] = {}
    for node in asking:
        if node.inputs[0] in rest:
            continue
        same = nodes.setdefault((node.op, node.inputs[0], *node.output_dtypes), node)
        if same is not node:
            body.replace_all_uses(node.output(), same.output())
            body.remove_node(node)
    return set(nodes.values())


def _asks_for_number(node: Node, forward: set[Node]) -> bool:
    return len(node.inputs) == 1 and node.inputs[0].node in forward and dtype_of(node.inputs[0]) is not resource


def _read_values(backward_nodes: Sequence[Node], grads: Gradients) -> list[Output]:
    """Return the values that gradient nodes, or the gradients themselves, read."""
    read = [value for node in backward_nodes for value in node.inputs]
    read += [tensor for grad in grads for tensor in tensors_of(grad)]
    return list(dict.fromkeys(read))


# Values on branches of a function's body, as the function hands them to its gradient.


def carry_over(body: Graph, read: Iterable[Output], readers: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """Let `readers` read values on branches through Merges and Switches.

    Returns the nodes that were added for values to leave branches, and the nodes that let them enter branches again.
    """
    if not any(is_choice(node) for node in body):
        return [], []
    carrier = _Carrier(body)
    taken = {value: carrier.entering(value) for value in read}
    for node in readers:
        body.set_inputs(node, [taken.get(value, value) for value in node.inputs])
    leaving = set(carrier.leaving)
    return carrier.leaving, [node for node in body.since(carrier.count) if node not in leaving]


class _Carrier:
    """A carrier of the values of a body out of branches and in again."""

    def __init__(self, body: Graph) -> None:
        self.g = GraphBuilder(body)
        self.count = len(body)
        self.deadness = Deadness(predicate=predicate_source)
        self.leaving: list[Node] = []
        self._entering: dict[Output, Output] = {}

    def entering(self, value: Output) -> Output:
        """Return the value as seen on its branch; a value on no branch is returned unchanged."""
        if value not in self._entering:
            branches = branches_of(value, self.deadness)
            entered = self.outside(value, branches) if branches else value
            for predicate, branch in branches:
                entered = self.g.Switch(entered, self.entering(predicate))[branch]
            self._entering[value] = entered
        return self._entering[value]

    def outside(self, value: Output, branches: Sequence[tuple[Output, int]]) -> Output:
        """Return a value that is always alive and equals the value on the branches where they are taken."""
        before = len(self.g.graph)
        for predicate, branch in reversed(branches):
            other = self.g.Switch(self.g.FakeParam(dtype=dtype_of(value), shape=UNKNOWN), predicate)[1 - branch]
            value = self.g.Merge([value, other])[0]
        self.leaving += self.g.graph.since(before)
        return value
