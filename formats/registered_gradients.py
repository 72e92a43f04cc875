"""The gradients that a library registers for nodes, and the captures that a SavedModel's objects list for gradients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..core.graph.saved_gradients import Capture, RegisteredGradient
from .protos.graph_pb2 import FunctionDef, FunctionDefLibrary
from .protos.meta_graph_pb2 import SavedConcreteFunction, SavedObject, SavedObjectGraph, StructuredValue

_CAPTURES, _RETURNS = "_captured_tensors", "_returned_gradients"
"""Attributes of a gradient function's first argument. TensorFlow refuses a function that has an unknown attribute."""


def decode_registered_gradients(
    library: FunctionDefLibrary, objects: SavedObjectGraph | None
) -> Mapping[str, RegisteredGradient]:
    """Return the registered gradients by the names that nodes use for the gradients."""
    functions = {function.signature.name: function for function in library.function}
    return {
        g.registered_op_type: _noted(functions[g.gradient_func])
        if g.gradient_func in functions and _RETURNS in functions[g.gradient_func].arg_attr[0].attr
        else _decode(g.gradient_func, objects)
        for g in library.registered_gradients
    }


def note_captures(gradients: Mapping[str, RegisteredGradient], library: FunctionDefLibrary) -> None:
    """Write the captures that only a SavedModel's objects list into attributes of the gradient functions' first arguments."""
    functions = {function.signature.name: function for function in library.function}
    for registered in gradients.values():
        function = functions.get(registered.function)
        if function is not None and registered.captures is not None and registered.returns is not None:
            texts = [" ".join(filter(None, (c.function, c.tensor))) for c in registered.captures]
            attrs = function.arg_attr[0].attr
            attrs[_CAPTURES].list.s[:] = [text.encode("utf-8", "surrogateescape") for text in texts]
            attrs[_RETURNS].list.b[:] = registered.returns


def _noted(function: FunctionDef) -> RegisteredGradient:
    attrs = function.arg_attr[0].attr
    texts = [text.decode("utf-8", "surrogateescape") for text in attrs[_CAPTURES].list.s]
    captures = [Capture(tensor, owner or None) for owner, _, tensor in (text.rpartition(" ") for text in texts)]
    return RegisteredGradient(function.signature.name, tuple(captures), tuple(attrs[_RETURNS].list.b))


def _decode(function: str, objects: SavedObjectGraph | None) -> RegisteredGradient:
    if objects is None or function not in objects.concrete_functions:
        return RegisteredGradient(function)
    concrete: SavedConcreteFunction = objects.concrete_functions[function]
    bound = [objects.nodes[i] for i in concrete.bound_inputs if 0 <= i < len(objects.nodes)]
    captures = [_capture(node) for node in bound]
    complete = None if None in captures or len(bound) < len(concrete.bound_inputs) else captures
    returns = tuple(leaf.WhichOneof("kind") != "none_value" for leaf in _leaves(concrete.output_signature))
    return RegisteredGradient(function, None if complete is None else tuple(c for c in complete if c is not None), returns)


def _capture(node: SavedObject) -> Capture | None:
    """Return a function's captured input: a tensor of another function or a variable; None for anything else."""
    if node.WhichOneof("kind") == "captured_tensor":
        return Capture(node.captured_tensor.name, node.captured_tensor.concrete_function)
    return Capture(node.variable.name) if node.WhichOneof("kind") == "variable" else None


def _leaves(value: StructuredValue) -> Iterator[StructuredValue]:
    """Yield the leaf values of a structure, in TensorFlow's order."""
    kind = value.WhichOneof("kind")
    if kind in ("list_value", "tuple_value"):
        for item in getattr(value, kind).values:
            yield from _leaves(item)
    elif kind == "dict_value":
        for key in sorted(value.dict_value.fields):
            yield from _leaves(value.dict_value.fields[key])
    else:
        yield value
