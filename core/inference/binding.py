"""From a node and a registered function to a call on flat values: arguments grouped, attributes bound once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from ..graph.foreign_ops import supply_hint
from ..graph.graph import Node, Output
from ..numerics.float_mode import as_outside
from ..registry import kernel_types, registry
from ..registry.catalog import ArgDef, OpDef
from ..support.errors import InvalidArgumentError, UnimplementedError
from ..support.words import counted
from ..types.dtypes import DType
from .input_pipelines import asks_service, stand_ins


def select_kernel(node: Node) -> registry.Kernel:
    """Return the first kernel that accepts the node's dtypes; UnimplementedError lists the registered dtypes.

    A kernel without declared dtypes is for TensorFlow's dtypes: other dtypes raise TensorFlow's InvalidArgumentError.
    """
    candidates = registry.kernels(node.op)
    attrs = _Attrs(node)
    for candidate in candidates:
        if candidate.accepts(attrs):
            # The function may compute with more dtypes than TensorFlow registered a kernel for.
            if not candidate.dtypes and not kernel_types.runs_in_tensorflow(node.op, attrs):
                message = f"TensorFlow has no kernel for op '{node.op}' with {_type_attrs(node)}"
                raise InvalidArgumentError(message, node=node.name, op=node.op)
            # Nobody vouches for a user's kernel on arguments that an attacker chose.
            if node.is_untrusted and not candidate.is_own:
                message = "the graph was loaded with untrusted=True, so no op library computes it"
                raise InvalidArgumentError(message, node=node.name, op=node.op)
            return candidate
    if not candidates:
        hint = stand_ins(node) or supply_hint(node.op)
        reason = ", which needs TensorFlow's data service" if asks_service(node.op) else ""
        raise UnimplementedError(f"tfg has no kernel for op '{node.op}'{reason}", node=node.name, op=node.op, hint=hint)
    types = ", ".join(f"{k}={v}" for k, v in node.attrs.items() if any(k in c.dtypes for c in candidates))
    raise UnimplementedError(f"tfg has no kernel for op '{node.op}' with {types}", node=node.name, op=node.op)


def _type_attrs(node: Node) -> str:
    return ", ".join(f"{name}={value}" for name, value in node.attrs.items() if isinstance(value, DType))


def bind_kernel(node: Node, kernel: registry.Kernel, ctx: Any) -> Callable[..., Any]:
    """Return a function of the node's flat inputs that returns the single output or a flat tuple of outputs."""
    definition = require_op_def(node)
    keywords = bind_attrs(node, kernel.function)
    call = functools.partial(kernel.function, ctx, **keywords) if kernel.is_stateful else kernel.function
    if keywords and not kernel.is_stateful:
        call = functools.partial(kernel.function, **keywords)
    # A run flushes subnormal floats, as TensorFlow does. Code of users keeps the float mode of its own thread.
    if not kernel.is_own:
        call = functools.partial(as_outside, call)
    call = group_inputs(definition, node, call, input_bundles(kernel.function, kernel.is_stateful))
    if any(arg.is_list for arg in definition.outputs):
        call = _flatten_outputs(call, definition.outputs, len(node.output_dtypes))
    return call


def named_inputs(node: Node) -> Iterator[tuple[str, Output]]:
    """Yield inputs with the names of the op's arguments; only for ops without list arguments."""
    definition = node.op_def
    if definition is not None and len(definition.inputs) == len(node.inputs):
        for arg, value in zip(definition.inputs, node.inputs):
            yield arg.name, value


def require_op_def(node: Node) -> OpDef:
    """Return the node's interface; InvalidArgumentError for an undeclared op."""
    definition = node.op_def
    if definition is None:
        raise InvalidArgumentError(f"op '{node.op}' is not declared", node=node.name, op=node.op, hint=supply_hint(node.op))
    return definition


def bind_attrs(node: Node, function: Callable[..., Any], outputs: Sequence[Any] = ()) -> dict[str, Any]:
    """Bind the keyword-only parameters of `function`: attributes of the node (strings as str) and bundles of attributes.

    A parameter that is called `outputs` gets `outputs`, the specs of the node's outputs.
    """
    definition = require_op_def(node)
    bound: dict[str, Any] = {}
    try:
        for name, bundle, fields in _keyword_plan(function, frozenset(definition.attrs)):
            if bundle is not None:
                bound[name] = bundle(**{field: _hashable(plain(definition.attr(node.attrs, field))) for field in fields})
            else:
                bound[name] = list(outputs) if name == "outputs" else plain(definition.attr(node.attrs, name))
    except InvalidArgumentError as error:
        # The interface, which misses the attribute, does not know the node.
        raise InvalidArgumentError(error.message, node=node.name, op=node.op) from None
    return bound


@functools.cache
def _keyword_plan(
    function: Callable[..., Any], attrs: frozenset[str]
) -> tuple[tuple[str, type[Any] | None, tuple[str, ...]], ...]:
    """Return (parameter, its bundle or None, the fields to fill): a field that is no attribute of the op keeps its default."""
    bundles = attr_bundles(function)
    plan: list[tuple[str, type[Any] | None, tuple[str, ...]]] = []
    for name in keyword_names(function, attrs):
        bundle: Any = bundles.get(name)
        fields = () if bundle is None else bundle._fields
        plan.append((name, bundle, tuple(f for f in fields if f in attrs or f not in bundle._field_defaults)))
    return tuple(plan)


def _hashable(value: Any) -> Any:
    # Kernels keep what they derive from a bundle under the bundle itself.
    return tuple(value) if isinstance(value, list) else value


@functools.cache
def keyword_names(function: Callable[..., Any], attrs: frozenset[str]) -> tuple[str, ...]:
    """Return the keyword-only parameters to bind: parameters without a default, and parameters named as attributes of the
    op.

    NumPy's ufuncs have none.
    """
    parameters = _parameters(function).values()
    return tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY and (p.default is p.empty or p.name in attrs))


@functools.cache
def attr_bundles(function: Callable[..., Any]) -> dict[str, type[Any]]:
    """Find the keyword-only parameters whose annotation is a NamedTuple with attributes of the op as fields."""
    bundles = {p.name: _bundle(function, p) for p in _parameters(function).values() if p.kind is p.KEYWORD_ONLY}
    return {name: bundle for name, bundle in bundles.items() if bundle is not None}


Bundles = tuple[type[Any] | None, ...]
"""The annotation of each positional parameter, if a NamedTuple, otherwise None, up to the last bundle."""


@functools.cache
def input_bundles(function: Callable[..., Any], has_context: bool = False) -> Bundles:
    """Find the positional parameters whose annotation is a NamedTuple: each takes an input for each field.

    With `has_context` the first parameter is no input.
    """
    positional = [p for p in _parameters(function).values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    bundles = [_bundle(function, p) for p in positional[has_context:]]
    while bundles and bundles[-1] is None:
        bundles.pop()
    return tuple(bundles)


def inputs_read(function: Callable[..., Any], inputs: Sequence[Any]) -> Sequence[Any]:
    """Return the inputs as a shape or FLOPs function takes them: it may leave out the last inputs of its op."""
    return bundled(inputs, input_bundles(function))[: _most_inputs(function)]


@functools.cache
def _most_inputs(function: Callable[..., Any]) -> int | None:
    """Return the number of positional parameters, None for any number."""
    kinds = [parameter.kind.name for parameter in _parameters(function).values()]
    return None if "VAR_POSITIONAL" in kinds else sum(kind.startswith("POSITIONAL") for kind in kinds)


@functools.cache
def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    # A ufunc takes keywords of NumPy, and none of them is an attribute of an op.
    return {} if isinstance(inspect.unwrap(function), np.ufunc) else inspect.signature(function).parameters


def _bundle(function: Callable[..., Any], parameter: inspect.Parameter) -> type[Any] | None:
    """Return the NamedTuple of a parameter's annotation, `Bundle` or `Bundle[Array]`; None for another annotation."""
    annotation = parameter.annotation
    # With `from __future__ import annotations` an annotation is a text: its class is looked up where the function was
    # written, below decorators and partials.
    if isinstance(annotation, str):
        inner = inspect.unwrap(function)
        while isinstance(inner, functools.partial):
            inner = inspect.unwrap(inner.func)
        annotation = getattr(inner, "__globals__", {}).get(annotation.partition("[")[0])
    return annotation if isinstance(annotation, type) and hasattr(annotation, "_field_defaults") else None


def plain(value: Any) -> Any:
    """Convert an attribute value for kernels: bytes decoded to str, in lists too."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, list) and value and isinstance(value[0], bytes):
        return [item.decode("utf-8", "surrogateescape") for item in value]
    return value


def arg_lengths(args: Sequence[ArgDef], definition: OpDef, attrs: Mapping[str, Any]) -> list[int | None]:
    """Return the number of values of each list argument, None for an argument that is not a list."""
    return [len(definition.arg_dtypes(arg, attrs)) if arg.is_list else None for arg in args]


def group_inputs(definition: OpDef, node: Node, call: Callable[..., Any], bundles: Bundles = ()) -> Callable[..., Any]:
    """Return `call` on flat inputs: values of a list argument are grouped into a list, values of a bundle into a tuple."""
    lengths = arg_lengths(definition.inputs, definition, node.attrs)
    if all(length is None for length in lengths):
        return _bundle_inputs(call, bundles, len(lengths)) if bundles else call
    # Every run of the node makes this call, so the usual forms of list arguments have one without a loop.
    if bundles:
        return lambda *values: call(*bundled(regroup(values, lengths), bundles))
    if len(lengths) == 1:
        return lambda *values: call(list(values))
    if len(lengths) == 2 and lengths[1] is None:

        def with_last(*values: Any) -> Any:
            *listed, last = values
            return call(listed, last)

        return with_last
    if len(lengths) == 2 and lengths[0] is None:
        return lambda first, *rest: call(first, list(rest))
    return lambda *values: call(*regroup(values, lengths))


def _bundle_inputs(call: Callable[..., Any], bundles: Bundles, count: int) -> Callable[..., Any]:
    """Return `call` on `count` inputs without list arguments; a bundle of the last inputs takes the least time."""
    others, last = [*bundles[:-1]], cast("type[Any]", bundles[-1])
    size = len(last._fields)
    fill = functools.partial(tuple.__new__, last)  # a NamedTuple's __new__ does the same by another call
    if not others and count == size:
        return lambda *values: call(fill(values))
    if others == [None] and count == size + 1:
        return lambda first, *values: call(first, fill(values))
    return lambda *values: call(*bundled(values, bundles))


def bundled(values: Sequence[Any], bundles: Bundles) -> Sequence[Any]:
    """Group values, a value for each argument of the op, into the tuples of the bundles."""
    if not bundles:
        return values
    grouped: list[Any] = []
    start = 0
    for bundle in bundles:
        stop = start + (1 if bundle is None else len(bundle._fields))
        grouped += values[start:stop] if bundle is None else [bundle(*values[start:stop])]
        start = stop
    return [*grouped, *values[start:]]


def regroup(values: Sequence[Any], lengths: Sequence[int | None]) -> list[Any]:
    """Group flat values into an item for each argument."""
    grouped: list[Any] = []
    start = 0
    for length in lengths:
        if length is None:
            grouped.append(values[start])
            start += 1
        else:
            grouped.append(list(values[start : start + length]))
            start += length
    return grouped


def _flatten_outputs(call: Callable[..., Any], outputs: Sequence[ArgDef], count: int) -> Callable[..., Any]:
    """Return `call` with list outputs flattened; a single output is returned without a tuple."""
    # As for inputs, the usual forms have calls without a loop over the arguments.
    if len(outputs) == 1 and count > 1:
        return lambda *values: _of_length(call(*values), count)
    if len(outputs) == 1 and count == 1 and outputs[0].is_list:
        return lambda *values: _of_length(call(*values), 1)[0]

    are_lists = [arg.is_list for arg in outputs]

    def flattened(*values: Any) -> Any:
        results = call(*values)
        flat: list[Any] = []
        for is_list, result in zip(are_lists, (results,) if len(outputs) == 1 else results):
            if is_list:
                flat += result
            else:
                flat.append(result)
        return _of_length(flat, count)[0] if count == 1 else _of_length(flat, count)

    return flattened


def _of_length(results: Sequence[Any], count: int) -> Sequence[Any]:
    if len(results) != count:
        raise InvalidArgumentError(f"its attributes ask for {counted(len(results), 'output')}, but its interface has {count}")
    return results


class _Attrs(Mapping[str, Any]):
    """A node's attributes with the op's defaults behind them."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def __getitem__(self, name: str) -> Any:
        return self._node.attr(name)

    def __iter__(self) -> Any:
        return iter(self._node.attrs)

    def __len__(self) -> int:
        return len(self._node.attrs)
