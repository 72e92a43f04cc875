"""Nodes and functions that take the handles of frozen variables, made to take the variables' values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph.call_kinds import CallKind, Form, call_kind
from ..graph.callers import gradient_name
from ..graph.frames import EXIT, MERGE, NEXT_ITERATION, hands_in
from ..graph.graph import Function, Graph, Node, Output
from ..graph.instantiation import OF_AN_INTERFACE, copied, function_called, instantiate
from ..graph.node_making import add_constant_beside, add_identity, become_constant
from ..graph.saved_gradients import Capture
from ..graph.traversal import topological_order
from ..registry.catalog import CATALOG, ArgDef
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.errors import FailedPreconditionError, InvalidArgumentError, TfgError
from ..support.hints import Blank, Hint, option
from ..support.tensor_names import free_name
from ..types import dtypes
from ..types.dtypes import DType
from ..types.shapes import UNKNOWN, Shape
from ..types.tensors import FuncRef, Tensor

_PASSING_ON: Final = ("IdentityN", *MERGE, *EXIT, *NEXT_ITERATION)
_OF_A_HANDLE: Final = ("_output_shapes", "_handle_dtypes", "_handle_shapes", "_resource_arg_unique_id")
_OF_THE_SIGNATURE: Final = ("_input_shapes", *OF_AN_INTERFACE)


@dataclasses.dataclass(frozen=True, slots=True)
class FrozenValue:
    """The value in place of a variable's handle.

    Messages name the variable; calls with different variables may share a copy.
    """

    variable: str = dataclasses.field(compare=False)
    dtype: DType
    shape: Shape


Values = dict[Output, FrozenValue]


def leave_it(*variables: str) -> Hint:
    """Return the hint of an error about variables that cannot be frozen."""
    output = option("to", Blank("OUTPUT"))
    what = "this node" if len(variables) == 1 else "these nodes"
    kept = [part for variable in variables for part in (" ", option("except", variable))]
    them = f", or keep the variable{'s' if variables[1:] else ''} with"
    return Hint(f"choose an output that does not need {what} with ", output, them, *kept)


def replace_handles(graph: Graph, values: Values) -> None:
    """Let every node that took a handle among `values` take the value instead: a read becomes an Identity, and so on.

    Nodes that hand handles to functions call new copies of the functions, which take values. FailedPreconditionError names
    a node that uses a handle for more than reads.
    """
    _Replacing(graph).replace(graph, values)


def takes_value(graph: Graph, node: Node) -> bool:
    """Return True for a node that reads a variable or hands its handle on, so that it can take the value instead."""
    is_read = node.op in _READS or has_fact(node.op, "initialization_test")
    return is_read or node.op in _PASSING_ON or hands_in(node) or call_kind(graph.functions, node) is not None


@dataclasses.dataclass(frozen=True, slots=True)
class _Copy:
    """A library function that takes values for handles, and the values among its results that were handles."""

    name: str
    results: Mapping[int, FrozenValue]


class _Replacing:
    """The copies of a library's functions, made once for each combination of arguments."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.functions = graph.functions
        self.copies: dict[tuple[FuncRef, tuple[tuple[int, FrozenValue], ...]], _Copy | None] = {}

    def replace(self, graph: Graph, values: Values) -> None:
        """Change the users of `values`, and add to `values` the outputs that handed handles on."""
        written: dict[str, tuple[Node, Mapping[int, FrozenValue]]] = {}
        # In order, since a node that hands a handle on adds its output to `values` for its readers.
        for node in topological_order(graph):
            taken = {i: values[value] for i, value in enumerate(node.inputs) if value in values}
            if not taken:
                continue
            if has_fact(node.op, "initialization_test"):
                become_initialized(graph, node)
            elif node.op in _READS:
                _READS[node.op](graph, node, taken[0])
            elif node.op in _PASSING_ON or hands_in(node):
                values |= _pass_on(node, taken)
            elif (kind := call_kind(self.functions, node)) is not None and _takes(kind, node, taken):
                values |= self.call(node, kind, taken)
            else:
                written.setdefault(next(iter(taken.values())).variable, (node, taken))
        # All at once: a model of Keras has a seed for each layer of random pictures.
        if written:
            raise _refusal(*next(iter(written.values())), "writes to the variable or passes on its handle", list(written)[1:])
        for node in graph:
            # The back edge of a loop is known only now: the Merge came before it in the order.
            if node.op == "Merge" and node.output() in values and any(value not in values for value in node.inputs):
                raise _refusal(node, {0: values[node.output()]}, "merges its handle with another value")

    def call(self, node: Node, kind: CallKind, taken: Mapping[int, FrozenValue]) -> Values:
        """Let a node call copies of its functions; return the outputs that were handles."""
        # By the places of the function's arguments: a call has other inputs before them, and a For counts in an argument.
        arguments = {i - kind.before + kind.counters: value for i, value in taken.items()}
        # A call by name: the op of the node is the function.
        if not kind.functions:
            copy = self.copy(node, FuncRef(node.op, node.attrs), arguments)
            node.change_op(copy.name)
            return {node.output(i): value for i, value in copy.results.items()}
        references = kind.references(node)
        copies = {reference: self.copy(node, reference, arguments) for reference in references}
        results = _results(node, kind, taken, [copies[reference] for reference in references])
        renamed = [FuncRef(copies[reference].name, reference.attrs) for reference in references]
        node.attrs = {**node.attrs, **kind.naming(node, renamed)}
        _retype_call(node, taken, results)
        return {node.output(i): value for i, value in results.items()}

    def copy(self, node: Node, reference: FuncRef, arguments: Mapping[int, FrozenValue]) -> _Copy:
        """Return the copy of a function that takes values for the given arguments, made on first use."""
        # Calls with variables of equal dtype and shape share a copy: names do not count in comparisons of values.
        key = reference, tuple(sorted(arguments.items()))
        if key not in self.copies:
            # None while the copy is made: a function that meets itself there is recursive.
            self.copies[key] = None
            function = function_called(self.functions, reference.name)
            if function is None or max(arguments) >= len(function.args):
                problem = f"the graph has no function '{reference.name}' with this number of arguments"
                raise InvalidArgumentError(problem, node=node.name, op=node.op)
            try:
                self.copies[key] = self.make_copy(instantiate(function, reference.attrs), arguments)
            except TfgError as error:
                message = f"function '{reference.name}': {error.message}"
                raise type(error)(message, node=error.node, op=error.op, hint=error.hint) from None
        copy = self.copies[key]
        if copy is None:
            raise _refusal(node, arguments, "passes its handle to a recursive function")
        return copy

    def make_copy(self, function: Function, arguments: Mapping[int, FrozenValue]) -> _Copy:
        """Add `function`, whose body is changed, to the library under a free name."""
        body, values = function.body, {function.args[i].output(): value for i, value in arguments.items()}
        body.functions = self.functions
        for arg, value in values.items():
            arg.node.attrs = _without(arg.node.attrs, _OF_A_HANDLE)
            arg.node.set_attr("T", value.dtype)
        self.replace(body, values)
        results = {i: values[result] for i, result in enumerate(function.results) if result in values}
        signature = function.signature
        name = free_name(f"{signature.name}_frozen", self.functions)
        self.copy_gradients(body, signature.name, name)
        self.functions[name] = dataclasses.replace(
            function,
            signature=dataclasses.replace(
                signature, name=name, inputs=_with_dtypes(signature.inputs, arguments),
                outputs=_with_dtypes(signature.outputs, results),
            ),
            attrs=_without(function.attrs, _OF_THE_SIGNATURE),
            arg_attrs={i: _without(at, _OF_A_HANDLE) if i in arguments else at for i, at in function.arg_attrs.items()},
            # The gradient of the function takes handles still, and the bytes of the file are of the other function.
            gradient=None,
            source=None,
        )  # fmt: skip
        return _Copy(name, results)

    def copy_gradients(self, body: Graph, original: str, copy: str) -> None:
        """Let the nodes of a function's copy have gradients of their own where these read tensors of the function."""
        gradients = self.graph.registered_gradients
        for node in body:
            registered = gradients.get(gradient_name(node))
            if registered is None or all(capture.function != original for capture in registered.captures or ()):
                continue
            function = self.functions.get(registered.function)
            if function is None:
                continue
            moved = [Capture(c.tensor, copy) if c.function == original else c for c in registered.captures or ()]
            # A file has the captures at the function of the gradient, so the copy needs another one.
            own = copied(function)
            name = free_name(f"{function.signature.name}_frozen", self.functions)
            self.functions[name] = dataclasses.replace(
                own, signature=dataclasses.replace(own.signature, name=name), source=None
            )
            named = free_name(f"{gradient_name(node)}_frozen", gradients)
            gradients = {**gradients, named: dataclasses.replace(registered, function=name, captures=tuple(moved))}
            node.set_attr("_gradient_op_type", named.encode())
        self.graph.registered_gradients = gradients


def _without(attrs: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in attrs.items() if name not in names}


def _with_dtypes(args: Sequence[ArgDef], values: Mapping[int, FrozenValue]) -> tuple[ArgDef, ...]:
    """Return the arguments of a signature; arguments that were handles get the dtypes of the values."""
    return tuple(ArgDef(arg.name, values[i].dtype) if i in values else arg for i, arg in enumerate(args))


def _takes(kind: CallKind, node: Node, taken: Mapping[int, FrozenValue]) -> bool:
    """True if all of `taken` are among the arguments of the functions that run."""
    return kind.form is not Form.GRADIENT and taken.keys() <= set(kind.arguments(range(len(node.inputs))))


def _results(
    node: Node, kind: CallKind, taken: Mapping[int, FrozenValue], copies: Sequence[_Copy]
) -> Mapping[int, FrozenValue]:
    """Return the results of a call that were handles: the same in all branches, and in a loop also the same as its inputs."""
    by_branch: list[Mapping[int, FrozenValue]] = [copy.results for copy in copies]
    if kind.is_loop:
        by_branch = [copies[-1].results, {i - kind.before: value for i, value in taken.items()}]
    if any(results.keys() != by_branch[0].keys() for results in by_branch):
        raise _refusal(node, taken, "returns its handle or another value")
    return {i: _common(node, [results[i] for results in by_branch]) for i in by_branch[0]}


def _common(node: Node, values: Sequence[FrozenValue]) -> FrozenValue:
    """Return the common facts of several values as a single value."""
    first = values[0]
    if any(value.dtype is not first.dtype for value in values):
        raise _refusal(node, dict(enumerate(values)), "takes variables of different dtypes")
    return first if all(value.shape == first.shape for value in values) else dataclasses.replace(first, shape=UNKNOWN)


def _pass_on(node: Node, taken: Mapping[int, FrozenValue]) -> Values:
    """Let a node that hands handles on hand values on; returns the outputs that were handles."""
    before = node.output_dtypes
    node.attrs = _without(node.attrs, _OF_A_HANDLE)
    _retype(node, CATALOG[node.op].inputs, taken)
    changed = [i for i, (old, new) in enumerate(zip(before, node.output_dtypes)) if old is not new]
    if has_fact(node.op, "passes_each_on"):
        return {node.output(i): taken[i] for i in changed}
    return dict.fromkeys(map(node.output, changed), _common(node, list(taken.values())))


def _retype_call(node: Node, taken: Mapping[int, FrozenValue], results: Mapping[int, FrozenValue]) -> None:
    """Set a call's attributes for inputs and outputs that are values now."""
    definition = CATALOG[node.op]
    _retype(node, definition.inputs, taken)
    _retype(node, definition.outputs, results)
    # The recorded shapes of all outputs are of one attribute, which is wrong once one of them is no handle.
    if results:
        node.remove_attr("_output_shapes")
    if shapes := node.attr("output_shapes"):
        node.set_attr("output_shapes", [results[i].shape if i in results else shape for i, shape in enumerate(shapes)])
    # The places of resources by which TensorFlow's automatic control dependencies tell reads from writes.
    if "_read_only_resource_inputs" in node.attrs:
        left = [i for i in node.attrs["_read_only_resource_inputs"] if i not in taken]
        node.set_attr("_read_only_resource_inputs", left)


def _retype(node: Node, args: Sequence[ArgDef], values: Mapping[int, FrozenValue]) -> None:
    """Set the type attributes of the arguments at the flat places of `values`."""
    start = 0
    for arg in args:
        count = len(CATALOG[node.op].arg_dtypes(arg, node.attrs))
        here = {i - start: value.dtype for i, value in values.items() if start <= i < start + count}
        start += count
        if here and arg.type_list_attr:
            types = node.attr(arg.type_list_attr)
            node.set_attr(arg.type_list_attr, [here.get(i, dtype) for i, dtype in enumerate(types)])
        elif here and arg.type_attr:
            node.set_attr(arg.type_attr, here[min(here)])


def _become(node: Node, op: str, attrs: Mapping[str, Any]) -> None:
    """Change a node to another op, with its private attributes kept."""
    node.change_op(op, {**{name: value for name, value in node.attrs.items() if name.startswith("_")}, **attrs})


def _read(graph: Graph, node: Node, value: FrozenValue) -> None:
    _become(node, "Identity", {"T": value.dtype})


def _gather(graph: Graph, node: Node, value: FrozenValue) -> None:
    batch_dims = node.attr("batch_dims")
    # ResourceGather always gathers behind its batch dimensions; GatherV2 has an input for the axis.
    number = Tensor.from_numpy(np.int32(batch_dims))
    axis = add_constant_beside(graph, f"{node.name}/axis", number, node, node.inputs[0].node)
    types = {"Tparams": value.dtype, "Tindices": node.inputs[1].dtype, "Taxis": dtypes.int32}
    _become(node, "GatherV2", {**types, "batch_dims": batch_dims})
    graph.set_inputs(node, (*node.inputs, axis.output()))


def _gather_nd(graph: Graph, node: Node, value: FrozenValue) -> None:
    _become(node, "GatherNd", {"Tparams": value.dtype, "Tindices": node.inputs[1].dtype})


def _shape_of(graph: Graph, node: Node, value: FrozenValue) -> None:
    _become(node, "Shape", {"T": value.dtype, "out_type": node.attr("out_type")})


_READS: Final[dict[str, Callable[[Graph, Node, FrozenValue], None]]] = {
    "ReadVariableOp": _read, "ResourceGather": _gather, "ResourceGatherNd": _gather_nd, "VariableShape": _shape_of,
}  # fmt: skip


def become_initialized(graph: Graph, node: Node) -> None:
    """Turn the question whether a frozen variable has a value into the answer, in the frame and branch of the question.

    A Switch has run on both branches: the answer waits for a copy of the output, which is dead on the other branch.
    """
    value = node.inputs[0]
    source = value.node
    if len(source.output_dtypes) > 1:
        source = add_identity(graph, f"{node.name}/branch", value, value.base_dtype, (), source.device)
    controls = node.control_inputs if source.is_constant else (*node.control_inputs, source)
    graph.set_inputs(node, (), controls)
    become_constant(graph, node, Tensor.from_numpy(np.array(True)))


def _refusal(node: Node, taken: Mapping[int, FrozenValue], why: str, others: Sequence[str] = ()) -> FailedPreconditionError:
    """Return the error for a node that uses a frozen handle; `why` completes the sentence, `others` share the fate."""
    variable = next(iter(taken.values())).variable
    more = f", nor can {', '.join(map(repr, others))}" if others else ""
    message = f"variable '{variable}' cannot be frozen: the node {why}{more}"
    return FailedPreconditionError(message, node=node.name, op=node.op, hint=leave_it(variable, *others))
