"""Gradients that nodes name themselves: functions saved with the graph (tf.custom_gradient) or registered for a name."""

from __future__ import annotations

from ..building.gradbuilder import Gradients
from ..functions.call_kinds import call_op
from ..graph.graph import Node, Output
from ..graph.saved_gradients import Capture, RegisteredGradient
from ..graph.variable_nodes import variable
from ..support.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from ..types.tensors import FuncRef
from .function_parts import dtype_of, find_function
from .indexed_slices import zeros_for
from .sweep import Sweep


def registered_gradient(backward: Sweep, node: Node, grads: Gradients, registered: RegisteredGradient) -> Gradients:
    """Call the function that the library registers: zeros where no gradient arrives, then the captured values."""
    g = backward.builder
    if registered.captures is None or registered.returns is None:
        raise UnimplementedError(
            f"its gradient function '{registered.function}' reads tensors that only the SavedModel describes",
            node=node.name,
            op=node.op,
            hint="differentiate the original SavedModel",
        )
    function = find_function(backward.graph, node, FuncRef(registered.function))
    arriving = [
        zeros_for(g, node.output(i), dtype_of(node.output(i))) if grad is None else g.densify(grad)
        for i, grad in enumerate(grads)
    ]
    inputs = [*arriving, *(_captured(backward, node, capture) for capture in registered.captures)]
    if len(inputs) != len(function.args) or len(registered.returns) != len(node.inputs):
        raise InvalidArgumentError(
            f"its gradient '{registered.function}' takes {len(function.args)} values and returns "
            f"{len(registered.returns)}, but must take {len(inputs)} and return {len(node.inputs)}",
            node=node.name,
            op=node.op,
        )
    op = call_op(function.signature.is_stateful)
    results = iter(g.apply(op, inputs, f=FuncRef(registered.function), Tout=[dtype_of(v) for v in function.results]))
    return [next(results) if is_returned else None for is_returned in registered.returns]


def missing_gradient(node: Node, name: str) -> UnimplementedError:
    """Return the error of a node whose named gradient is missing; the derivative of the computation would be a different
    gradient.
    """
    return UnimplementedError(
        f"its gradient '{name}' is neither saved with the graph nor registered",
        node=node.name,
        op=node.op,
        hint=f'register it: `@tfg.core.registry.registry.gradient("{name}")` on a function (g, node, *grads) '
        "in an op library; "
        "TensorFlow saves custom gradients with SaveOptions(experimental_custom_gradients=True)",
    )


def _captured(backward: Sweep, node: Node, capture: Capture) -> Output:
    """Return the value that a gradient captured, as visible in the graph under differentiation."""
    if capture.function is None:
        return _handle(backward, capture.tensor)
    captured = _seen(backward, capture)
    if captured is None:
        raise NotFoundError(
            f"its gradient reads '{capture.tensor}' of function '{capture.function}', which is out of reach",
            node=node.name,
            op=node.op,
        )
    return captured


def _handle(backward: Sweep, name: str) -> Output:
    """Return a handle of a variable of the graph that is run."""
    root = backward
    while root.call is not None:
        root = root.call.backward
    owner = variable(root.graph, name)
    container = owner.node.attr("container", b"")
    g = backward.builder
    shared_name = owner.name.encode("utf-8", "surrogateescape")
    return g.VarHandleOp(dtype=owner.dtype, shape=owner.shape, container=container, shared_name=shared_name)


def _seen(backward: Sweep, capture: Capture) -> Output | None:
    """Return the tensor itself in its own function; in a called function, the argument that holds the tensor."""
    call = backward.call
    if call is None:
        return None
    if call.function == capture.function:
        return backward.graph.output(capture.tensor)
    outer = _seen(call.backward, capture)
    return None if outer is None else call.argument_of(outer)
