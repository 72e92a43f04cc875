"""Calls of an op's registered functions for a node: shape function, kernel, FLOPs function."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ..graph.graph import Node
from ..numerics.float_mode import flushed
from ..registry import registry
from ..registry.catalog import OpDef
from ..registry.input_ranks import check_input_ranks
from ..support.errors import InternalError, InvalidArgumentError, TfgError
from ..support.user_signals import pass_on
from ..support.words import counted
from ..types.dims import not_negative
from ..types.dtypes import from_numpy, resource
from ..types.shapes import Shape, TensorSpec
from . import binding
from .error_context import raise_located

_FEW = 1024
"""The largest number of elements of an input whose values a shape function gets."""


def call_shape_function(node: Node, function: Any, inputs: Sequence[TensorSpec]) -> list[Any]:
    """Return the shape function's result for each output, list outputs expanded: Shapes or TensorSpecs."""
    definition = binding.require_op_def(node)
    keywords = binding.bind_attrs(node, function)
    lengths = binding.arg_lengths(definition.inputs, definition, node.attrs)
    grouped = binding.regroup(inputs, lengths)
    try:
        results = _flat_results(definition, function(*binding.inputs_read(function, grouped), **keywords))
    except Exception as error:
        _raise_from_function(error, node, definition, grouped, "shape function")
    if len(results) != len(node.output_dtypes):
        message = f"its attributes ask for {counted(len(results), 'output')}, but its interface has {len(node.output_dtypes)}"
        raise InvalidArgumentError(message, node=node.name, op=node.op)
    for result in results:
        shape = result if result.__class__ is Shape else result.shape
        # Arithmetic on sizes goes below zero where a window is larger than its image; TensorFlow refuses such a node.
        if shape.dims and any(d.__class__ is int and d < 0 for d in shape.dims):
            raise InvalidArgumentError(f"it asks for a result of shape {shape}", node=node.name, op=node.op)
    return results


def _flat_results(definition: OpDef, result: Any) -> list[Any]:
    if isinstance(result, (Shape, TensorSpec)):
        return [result]
    if len(definition.outputs) == 1:
        return list(result or ())
    flat: list[Any] = []
    for arg, item in zip(definition.outputs, result or ()):
        flat += item if arg.is_list else [item]
    return flat


def call_flops_function(
    node: Node, function: Any, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]
) -> registry.Cost:
    """Return the cost of running `node` once, from the specs of its inputs and outputs: 0 for empty results.

    A formula may count an operation less than the elements of each sum, so on empty sums it may end below zero.
    """
    cost = formula_cost(node, function, inputs, outputs)
    if outputs and all(spec.shape.num_elements == 0 for spec in outputs):
        return registry.ZERO
    return registry.Cost(*map(not_negative, (cost.flops, cost.macs, cost.transcendentals)))


def formula_cost(node: Node, function: Any, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> registry.Cost:
    """Return the cost by an op's formula alone: also what the op prepares for results that are empty, as a limit asks."""
    definition = binding.require_op_def(node)
    if function is registry.zero_cost:
        return registry.ZERO
    keywords = binding.bind_attrs(node, function, outputs)
    lengths = binding.arg_lengths(definition.inputs, definition, node.attrs)
    grouped = binding.regroup(inputs, lengths)
    try:
        cost: registry.Cost = function(*binding.inputs_read(function, grouped), **keywords)
    except Exception as error:
        _raise_from_function(error, node, definition, grouped, "FLOPs function")
    return cost


def _raise_from_function(error: Exception, node: Node, definition: OpDef, inputs: Sequence[Any], role: str) -> NoReturn:
    """Raise the error of a node's function, named by `role`; an input of a rank that the op refuses is an error of the
    graph.
    """
    try:
        if not isinstance(error, TfgError):
            pass_on(error)
            # A function may fail in any way on a rank that it was not written for: TensorFlow's refusal says more.
            check_input_ranks(definition, inputs)
    except Exception as refusal:
        raise_located(refusal, node, role)
    raise_located(error, node, role)


def apply_kernel(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """Apply a node's stateless kernel to values as a run does; return a value for each output."""
    call = binding.bind_kernel(node, binding.select_kernel(node), None)
    try:
        # As in a run: infinities and NaN come without a warning, and subnormal floats are zero. A folded constant must not
        # differ from a computed one.
        with np.errstate(all="ignore"):
            result = flushed(call, *inputs)
    except Exception as error:
        raise_from_kernel(error, node, inputs)
    return (result,) if len(node.output_dtypes) == 1 and not isinstance(result, tuple) else result or ()


def raise_from_kernel(error: Exception, node: Node, inputs: Sequence[Any]) -> NoReturn:
    """Raise the error of a node's kernel; where the shape function refuses the inputs, raise the shape function's error.

    So kernels need not repeat the shape function's checks, and a successful run makes no check twice.
    """
    if not isinstance(error, (TfgError, MemoryError, RecursionError)):
        pass_on(error)
        _raise_refusal(error, node, inputs)
    raise_located(error, node)


def _raise_refusal(error: Exception, node: Node, inputs: Sequence[Any]) -> None:
    """Raise InvalidArgumentError where an op refuses inputs of these shapes."""
    function = registry.shape_function(node.op)
    if function is not None and len(inputs) == len(node.inputs):
        specs = [spec_of(value) for value in inputs]
        try:
            call_shape_function(node, function, specs)
            check_ranks(node, specs)
        except InternalError:
            pass  # the kernel's own error says more
        except TfgError as refusal:
            raise_located(refusal, node)
    # Elementwise kernels are NumPy's own functions, whose messages name the mismatch.
    is_elementwise = any(isinstance(inspect.unwrap(kernel.function), np.ufunc) for kernel in registry.kernels(node.op))
    if is_elementwise and isinstance(error, ValueError):
        raise InvalidArgumentError(f"Incompatible shapes: {error}", node=node.name, op=node.op)


def check_ranks(node: Node, specs: Sequence[TensorSpec]) -> None:
    """Refuse inputs of ranks for which TensorFlow builds no node."""
    definition = binding.require_op_def(node)
    lengths = binding.arg_lengths(definition.inputs, definition, node.attrs)
    check_input_ranks(definition, binding.regroup(specs, lengths))


def spec_of(value: Any) -> TensorSpec:
    """Return the spec of a value on an edge, for a shape function."""
    if not isinstance(value, (np.ndarray, np.generic)):
        return TensorSpec(resource)
    # Shape functions ask for sizes, axes and flags only, never for floats.
    is_small = value.dtype.kind in "iub" and value.size <= _FEW
    dtype = resource if value.dtype == object else from_numpy(value.dtype)
    return TensorSpec(dtype, Shape(value.shape), np.asarray(value) if is_small else None)
