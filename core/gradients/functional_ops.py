"""Gradients of function calls, If, Case and While, and the sweep through the body of a function.

A call is differentiated by two new functions. The *forward* function computes the original's results and also returns the
intermediate values that the backward pass needs; the call node is changed to call the forward function. The *backward*
function takes the original's arguments, the intermediates and the gradients of the results, and returns the gradients of
the arguments.
"""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from ..building.builder import GraphBuilder
from ..building.gradbuilder import Gradient, GradientBuilder, Gradients, IndexedSlices
from ..graph.call_kinds import BY_NAME, CALL_KINDS, Form, call_kind, call_op
from ..graph.call_signatures import signature_of
from ..graph.deadness import ALWAYS, Deadness, is_choice, predicate_source
from ..graph.frames import ENTER, SWITCH, find_frames, source_of
from ..graph.graph import Function, Graph, Node, Output
from ..graph.instantiation import origin_of
from ..graph.traversal import reachable
from ..inference.inference import infer
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.errors import UnimplementedError
from ..types import dtypes
from ..types.dtypes import DType, int32, resource, variant
from ..types.shapes import UNKNOWN, Shape, TensorSpec
from ..types.tensors import FuncRef, Tensor
from .function_parts import (
    Differentiated,
    add_arg,
    add_backward_function,
    add_forward_function,
    add_function,
    copied_body,
    copy_nodes,
    dtype_of,
    find_function,
    forward_body,
    mapped,
    require_few,
)
from .stack_lists import use_lists_for_stacks
from .sweep import Call, Sweep, is_differentiable
from .swept_values import alike, branches_of, gradient_dtype, origins, rebuilt, tensors_of, zeros_for

# The sweep through the body of a function that is called.


def differentiate(
    sweep: Sweep,
    node: Node,
    function: Function,
    attrs: Mapping[str, Any],
    grad_dtypes: Sequence[DType | None],
    form: Form,
) -> Differentiated:
    """Return the body of a function that `node` calls, with the gradient nodes of the results.

    `grad_dtypes` are None if no gradient arrives. In loops the gradients become dense, as iterations add theirs up.
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
    # The gradient nodes are built into a copy of the body and taken out again below: only the sweep tells which forward values
    # they read.
    grads = sweep.in_function(body, results, [arg.output() for arg in args], seeds, call)
    if in_loop:
        builder_for_dense = GradientBuilder(body)
        grads = [None if grad is None else builder_for_dense.densify(grad) for grad in grads]
    # Stacks become lists before the split: a stack would be filled in one function and emptied in the other, without an edge
    # between them.
    use_lists_for_stacks(body)
    forward = _with_loops(body, forward)
    inside = forward | {arg for arg in grad_args if arg is not None}
    # Shapes are settled before it is asked what the backward part reads: a known shape needs no saved value.
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
    """Return the specs of the arguments of a function that `node` calls with `inputs`; for a loop, specs that hold in all
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
        # The value itself is saved for another reader, so its shape costs nothing more.
        if node.inputs[0] in rest:
            continue
        # Equal questions share a node, as each node would save an element in each iteration.
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
            # The other branch needs some value for the Merge; nobody reads it there.
            other = self.g.Switch(self.g.FakeParam(dtype=dtype_of(value), shape=UNKNOWN), predicate)[1 - branch]
            value = self.g.Merge([value, other])[0]
        self.leaving += self.g.graph.since(before)
        return value


# The gradients of calls, If and Case.


def call_gradient(backward: Sweep, node: Node, grads: Gradients) -> Gradients:
    """Return the gradients of a node that runs a single function, once."""
    g = backward.builder
    kind = call_kind(backward.graph.functions, node) or BY_NAME
    reference = kind.references(node)[0]
    before, arguments = node.inputs[: kind.before], kind.arguments(node.inputs)
    nothing = [None] * kind.before
    function = find_function(backward.graph, node, reference)
    dense = _dense(g, node, grads, [function])
    if function.gradient is not None:
        return [*nothing, *_declared_gradient(g, node, arguments, function.gradient, dense)]
    grad_dtypes = tuple(_grad_dtype(grad) for grad in dense)
    # The key has shapes, too, because known shapes become constants in the gradient.
    key = (repr(reference), grad_dtypes, known_of(backward, node, arguments, Form.CALL))
    call = backward.functions.once(
        key, lambda: _differentiated(backward, node, [function], [reference], grad_dtypes, Form.CALL)
    )
    own = node.output_dtypes
    _retarget_call(node, FuncRef(call.forwards[0]), [*own, *call.saved])
    # No gradient arrives at any argument, but the call has been retargeted: other calls share the forward function.
    if not call.backwards:
        return [None] * len(node.inputs)
    inputs = call.inputs(node, len(own), arguments, dense)
    # The backward call has the op of the forward call: a stateful function has a stateful gradient, and a remote one the same
    # target.
    results = iter(g.apply(node.op, *before, inputs, f=FuncRef(call.backwards[0]), Tout=_dtypes(call.grads)))
    return [*nothing, *(rebuilt(grad, results) for grad in call.grads)]


def branch_gradient(backward: Sweep, node: Node, grads: Gradients) -> Gradients:
    """Return the gradient of If or Case: an If or Case of the gradients of the branches."""
    g = backward.builder
    kind = CALL_KINDS[node.op]
    references = kind.references(node)
    functions = [find_function(backward.graph, node, reference) for reference in references]
    dense = _dense(g, node, grads, functions)
    grad_dtypes = tuple(_grad_dtype(grad) for grad in dense)
    key = (tuple(map(repr, references)), grad_dtypes, known_of(backward, node, kind.arguments(node.inputs), Form.BRANCH))
    branches = backward.functions.once(
        key, lambda: _differentiated(backward, node, functions, references, grad_dtypes, Form.BRANCH)
    )
    own = node.output_dtypes
    called = kind.naming(node, map(FuncRef, branches.forwards))
    for name, value in {**called, "Tout": [*own, *branches.saved], "output_shapes": []}.items():
        node.set_attr(name, value)
    if not branches.backwards:
        return [None] * len(node.inputs)
    inputs = branches.inputs(node, len(own), node.inputs[1:], dense)
    names = kind.naming(node, map(FuncRef, branches.backwards))
    results = iter(g.apply(node.op, node.inputs[0], inputs, Tout=_dtypes(branches.grads), **names))
    return [None, *(rebuilt(grad, results) for grad in branches.grads)]


@dataclasses.dataclass(frozen=True, slots=True)
class _Branches:
    """The differentiated functions of branches, or of a call, reduced to the facts needed later, since a graph may have very
    many calls.

    The names of the forward functions, and of the backward functions, if any argument has a gradient; the arguments that they
    read, the dtypes that they save, and the gradients that each returns.
    """

    forwards: list[str]
    backwards: list[str]
    read: list[int]
    saved: list[DType]
    grads: list[Gradient]

    def inputs(self, node: Node, own: int, arguments: Sequence[Output], grads: Sequence[Output | None]) -> list[Output]:
        """Return what a backward function takes; the saved values come behind a number of the node's own results."""
        saved = [node.output(own + i) for i in range(len(self.saved))]
        return [*(arguments[i] for i in self.read), *saved, *(grad for grad in grads if grad is not None)]


def _differentiated(
    backward: Sweep,
    node: Node,
    functions: Sequence[Function],
    references: Sequence[FuncRef],
    grad_dtypes: Sequence[DType | None],
    form: Form,
) -> _Branches:
    """Differentiate all branches and equalize the signatures: each returns placeholders for values that only the others
    save.
    """
    all_parts = [
        differentiate(backward, node, function, reference.attrs, grad_dtypes, form)
        for function, reference in zip(functions, references)
    ]
    require_few(node, all_parts)
    _agree(all_parts)
    saved_dtypes = [[dtype_of(v) for v in parts.captured] for parts in all_parts]
    forwards, backwards, grads = [], [], all_parts[0].grads
    has_gradients = any(grad is not None for grad in grads)
    read = sorted({i for parts in all_parts for i in (*parts.read_args(), *parts.handed.values())})
    for i, parts in enumerate(all_parts):
        # All branches have one signature, so each returns placeholders in the places of the others' values.
        before = [dtype for branch_dtypes in saved_dtypes[:i] for dtype in branch_dtypes]
        after = [dtype for branch_dtypes in saved_dtypes[i + 1 :] for dtype in branch_dtypes]
        forwards.append(add_forward_function(backward.graph, parts, before, after))
        if has_gradients:
            backwards.append(add_backward_function(backward.graph, parts, read, before, after))
    saved = [dtype for branch_dtypes in saved_dtypes for dtype in branch_dtypes]
    # As results of a backward function: gradients beside the forward nodes would keep all nodes alive.
    results = iter(backward.graph.functions[backwards[0]].results if backwards else ())
    return _Branches(forwards, backwards, read, saved, [rebuilt(grad, results) for grad in grads])


def _agree(branches: Sequence[Differentiated]) -> None:
    """Give every branch a gradient, of the same kind, for each argument that has a gradient in any branch."""
    with contextlib.ExitStack() as stack:
        builders = [stack.enter_context(parts.adding()) for parts in branches]
        for i in range(len(branches[0].grads)):
            present = [grad for parts in branches if (grad := parts.grads[i]) is not None]
            if not present:
                continue
            dtype = gradient_dtype(present[0])
            all_grads = [
                zeros_for(g, parts.args[i].output(), dtype) if (grad := parts.grads[i]) is None else grad
                for g, parts in zip(builders, branches)
            ]
            for parts, grad in zip(branches, alike(builders, all_grads)):
                parts.grads[i] = grad


def _dense(g: GradientBuilder, node: Node, grads: Gradients, functions: Sequence[Function]) -> list[Output | None]:
    """Return the gradients as tensors, with zeros for the results that have none, as in TensorFlow; saved values need none."""
    library = g.graph.functions
    own = min(len(library.get(origin_of(function), function).results) for function in functions)
    filled = list(grads)
    for i in range(own):
        if filled[i] is None and _is_number(node.output(i)):
            filled[i] = g.zeros_like(node.output(i))
    return [None if grad is None else g.densify(grad) for grad in filled]


def _is_number(value: Output) -> bool:
    return dtype_of(value).is_floating or dtype_of(value).is_complex


def _retarget_call(node: Node, reference: FuncRef, output_dtypes: Sequence[DType]) -> None:
    """Let a call node call another function with more results."""
    if node.op not in CALL_KINDS:
        node.op = call_op(is_stateful=True)
        node.attrs = {"Tin": [dtype_of(value) for value in node.inputs]}
    node.set_attr("f", reference)
    node.set_attr("Tout", list(output_dtypes))


def _declared_gradient(
    g: GradientBuilder, node: Node, arguments: Sequence[Output], gradient: str, grads: Sequence[Output | None]
) -> Gradients:
    """Call the gradient function that the library declares for a function: (inputs, gradients) -> gradients."""
    filled = [g.zeros_like(node.output(i)) if grad is None else grad for i, grad in enumerate(grads)]
    results = g.PartitionedCall([*arguments, *filled], f=FuncRef(gradient), Tout=[dtype_of(v) for v in arguments])
    return list(results)


def _dtypes(grads: Gradients) -> list[DType]:
    return [dtype_of(tensor) for grad in grads for tensor in tensors_of(grad)]


def _grad_dtype(grad: Output | None) -> DType | None:
    return None if grad is None else dtype_of(grad)


# The gradient of While: the forward loop counts and collects, a second loop goes back.


def while_gradient(backward: Sweep, node: Node, grads: Gradients) -> Gradients:
    """Return the gradient of While: a While that runs the body's gradient once for each iteration, last iteration first.

    The forward loop counts iterations and pushes the values that the backward pass needs onto tensor lists. Loop variables
    hand their gradients from iteration to iteration; a handle hands on the gradient of the variable behind.
    """
    g = backward.builder
    grad_dtypes = tuple(_initial_dtype(backward, value) for value in node.inputs)
    grads = [grad if dtype or _is_handle(value) else None for grad, dtype, value in zip(grads, grad_dtypes, node.inputs)]
    functions = repr(node.attr("cond")), repr(node.attr("body"))
    key = (functions, grad_dtypes, known_of(backward, node, node.inputs, Form.LOOP))
    loop = backward.functions.once(key, lambda: _differentiated_loop(backward, node, grad_dtypes))
    parts = loop.parts
    carried = {i: dtype for i, group in enumerate(zip(grad_dtypes, parts.grads, grads)) if (dtype := _dtype_among(*group))}
    _check_handles(node, parts, [i for i in carried if grad_dtypes[i] is None])
    read = parts.read_args()
    saved = _extend_while(backward.graph, g, node, loop)
    dense = [_arriving(g, node, i, dtype, grads[i]) for i, dtype in carried.items()]
    names = backward.functions.once(
        (key, tuple(carried.items())), lambda: _backward_while_functions(backward.graph, parts, carried, read)
    )
    handles = [node.inputs[i] for i in parts.handed.values()]
    inputs = [saved.count, *dense, *(node.output(i) for i in read), *handles, *saved.lists]
    # 10 is the default of TensorFlow's while_loop.
    results = g.apply(node.op, inputs, cond=FuncRef(names[0]), body=FuncRef(names[1]), parallel_iterations=10)
    gradients = {i: results[1 + k] for k, i in enumerate(carried)}
    return [gradients.get(i) for i in range(len(parts.args))]


@dataclasses.dataclass(frozen=True, slots=True)
class _DifferentiatedLoop:
    """A differentiated body, and the names of the condition and the body of the loop that counts and collects."""

    parts: Differentiated
    condition: str
    body: str


def _differentiated_loop(backward: Sweep, node: Node, grad_dtypes: Sequence[DType | None]) -> _DifferentiatedLoop:
    """Return the functions for loops of the same condition and body that hand on gradients of the same variables."""
    condition, body = node.attr("cond"), node.attr("body")
    parts = differentiate(backward, node, find_function(backward.graph, node, body), body.attrs, grad_dtypes, Form.LOOP)
    require_few(node, [parts])
    extra = [dtypes.int32, *[dtypes.variant] * len(parts.captured)]
    counted = _with_ignored_args(backward.graph, find_function(backward.graph, node, condition), condition.attrs, extra)
    return _DifferentiatedLoop(parts, counted, _collecting_body(backward.graph, parts))


def _dtype_among(grad_dtype: DType | None, *grads: Gradient) -> DType | None:
    """Return the dtype of a loop variable's gradient, None for a variable without a gradient."""
    return next((gradient_dtype(grad) for grad in grads if grad is not None), None) if grad_dtype is None else grad_dtype


def _initial_dtype(sweep: Sweep, value: Output) -> DType | None:
    """Return the dtype of a loop variable's initial gradient; None if there is no gradient, or a handle's dtype is
    unknown.

    As in TensorFlow the gradient of a variable that a loop takes and does not read is zeros, not None.
    """
    if not _is_handle(value):
        return dtype_of(value) if sweep.carries_gradient(value) else None
    variable = sweep.variable_behind(value) if sweep.is_wanted(value) else None
    dtype: DType | None = variable.attr("dtype") if variable is not None else None
    return dtype if dtype is not None and (dtype.is_floating or dtype.is_complex) else None


def _arriving(g: GradientBuilder, node: Node, index: int, dtype: DType, grad: Gradient) -> Output:
    """Return the initial gradient of a loop variable."""
    if grad is not None:
        return g.densify(grad)
    return zeros_for(g, node.output(index), dtype)


def _is_handle(value: Output) -> bool:
    return dtype_of(value) is dtypes.resource


def _check_handles(node: Node, parts: Differentiated, indices: Sequence[int]) -> None:
    for i in indices:
        if source_of(parts.results[i]).node is not parts.args[i]:
            raise UnimplementedError(
                f"loop variable {i} is a handle that changes from one iteration to the next, so its gradient cannot be summed",
                node=node.name,
                op=node.op,
            )


@dataclasses.dataclass(slots=True)
class _Saved:
    """The results of a forward While for the backward While: the number of iterations, and the values of each iteration."""

    count: Output
    lists: list[Output]


def _extend_while(graph: Graph, g: GradientBuilder, node: Node, loop: _DifferentiatedLoop) -> _Saved:
    """Let the While count iterations and collect the captured values, by new loop variables behind the old."""
    first = len(node.inputs)
    element_dtypes = [dtype_of(value) for value in loop.parts.captured]
    with g.name_scope(f"{node.name}_saved/"):
        zero = g.constant(0, dtypes.int32)
        # The values are kept in lists, not in stacks: a list is a value, so that a gradient of the gradient flows through it.
        any_size = g.constant(-1, dtypes.int32)
        empty = [g.EmptyTensorList(any_size, any_size, element_dtype=dtype) for dtype in element_dtypes]
    graph.set_inputs(node, (*node.inputs, zero, *empty))
    node.set_attr("T", [dtype_of(value) for value in node.inputs])
    # The attribute lists a shape for each output, and the outputs are more now.
    node.set_attr("output_shapes", [])
    node.set_attr("cond", FuncRef(loop.condition))
    node.set_attr("body", FuncRef(loop.body))
    return _Saved(node.output(first), [node.output(first + 1 + i) for i in range(len(empty))])


def _with_ignored_args(graph: Graph, function: Function, attrs: Mapping[str, Any], extra: Sequence[DType]) -> str:
    """Return the name of a copy of `function` with additional arguments that are ignored."""
    body, args, results = copied_body(graph, function, attrs)
    builder = GraphBuilder(body)
    args += [add_arg(builder, dtype, len(args) + i) for i, dtype in enumerate(extra)]
    return add_function(graph, f"{function.name}_counted", body, args, results, function)


def _collecting_body(graph: Graph, parts: Differentiated) -> str:
    """Return the name of the forward body that also counts iterations and pushes each captured value onto a list."""
    body, mapping = forward_body(parts)
    builder = GraphBuilder(body)
    args = [mapping[arg] for arg in parts.args]
    count = add_arg(builder, dtypes.int32, len(args))
    lists = [add_arg(builder, dtypes.variant, len(args) + 1 + i) for i in range(len(parts.captured))]
    results = [Output(mapping[value.node], value.index) for value in parts.results]
    results.append(builder.AddV2(count, builder.constant(1, dtypes.int32)))
    for handle, value in zip(lists, parts.captured):
        pushed = Output(mapping[value.node], value.index)
        results.append(builder.TensorListPushBack(handle, pushed, element_dtype=dtype_of(value)))
    args += [count, *lists]
    return add_function(graph, f"{parts.function.name}_collecting", body, args, results, parts.function, extends=True)


def _backward_while_functions(
    graph: Graph, parts: Differentiated, carried: Mapping[int, DType], read: Sequence[int]
) -> tuple[str, str]:
    """Return the names of the condition (iterations left) and the body (an iteration back) of the backward While.

    Loop variables: the iterations left, the gradients carried, the forward loop's variables that are read, the handles that
    inner loops forward, the lists.
    """
    body = graph.emptied()
    builder = GradientBuilder(body)
    taken_inputs = [*(parts.args[i].output() for i in read), *parts.handed]
    input_dtypes = [dtype_of(value) for value in taken_inputs]
    loop_dtypes = [dtypes.int32, *carried.values(), *input_dtypes, *[dtypes.variant] * len(parts.captured)]
    args = [add_arg(builder, dtype, i) for i, dtype in enumerate(loop_dtypes)]
    first_input = 1 + len(carried)
    first_list = first_input + len(input_dtypes)
    mapping: dict[Output, Output] = {}
    for value, taken in zip(taken_inputs, args[first_input:]):
        mapping[value] = taken.output()
    for i, taken in zip(carried, args[1:]):
        grad_arg = parts.grad_args[i]
        if grad_arg is not None:
            mapping[grad_arg.output()] = taken.output()
    lists = []
    # One for all lists: a loop in a loop saves the lists of the inner loop, so that their number may double at each level.
    any_shape = builder.constant(-1, dtypes.int32)
    for value, handle in zip(parts.captured, args[first_list:]):
        rest, popped = builder.TensorListPopBack(handle, any_shape, element_dtype=dtype_of(value))
        mapping[value] = popped
        lists.append(rest)
    copied = copy_nodes(body, parts.backward_nodes, mapping)
    grads = [_one_back(builder, parts, i, taken.output(), copied) for i, taken in zip(carried, args[1:])]
    left = builder.Sub(args[0], builder.constant(1, dtypes.int32))
    results = [left, *grads, *(a.output() for a in args[first_input:first_list]), *lists]
    body_name = add_function(graph, f"{parts.function.name}_gradient", body, args, results, parts.function)
    return _count_down_condition(graph, parts.function, loop_dtypes), body_name


def _one_back(g: GradientBuilder, parts: Differentiated, index: int, arriving: Output, copied: dict[Output, Output]) -> Output:
    """Return the gradient of a loop variable at the start of an iteration, from the gradient at the end."""
    grad = parts.grads[index]
    assert not isinstance(grad, IndexedSlices), "made dense for loops"
    # A handle has no gradient argument: what each iteration reads through it adds up.
    if parts.grad_args[index] is not None:
        return g.zeros_like(arriving) if grad is None else mapped(g.graph, grad, copied)
    return arriving if grad is None else g.AddV2(arriving, mapped(g.graph, grad, copied))


def _count_down_condition(graph: Graph, function: Function, loop_dtypes: Sequence[DType]) -> str:
    builder = GraphBuilder(graph.emptied())
    args = [add_arg(builder, dtype, i) for i, dtype in enumerate(loop_dtypes)]
    more = builder.Greater(args[0], builder.constant(0, dtypes.int32))
    return add_function(graph, f"{function.name}_gradient_cond", builder.graph, args, [more], function)
