"""Results of functions, as TensorFlow.js needs them.

At the end of a function TensorFlow.js disposes of all tensors but the function's arguments and results, also of those that the
function has put into a list (`_executeAsync` of tfjs-converter/src/executor/graph_executor.ts). Of a node that gives several
results it takes the last output for all of them (`mapFunction` of tfjs-converter/src/operations/operation_mapper.ts).
"""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Final

import numpy as np

from ..building.builder import GraphBuilder
from ..gradients.function_parts import add_arg, add_function, copied_body, dtype_of, find_function
from ..graph.call_kinds import CallKind, Form, call_kind
from ..graph.callers import calls_of, drop_uncalled
from ..graph.graph import Function, Graph, Node, Output
from ..graph.instantiation import copied
from ..graph.traversal import closure
from ..registry.op_facts import ops_with
from ..support.errors import UnimplementedError
from ..types.dtypes import DType
from ..types.tensors import FuncRef, Tensor

_PLACES: Final = {**dict.fromkeys(ops_with("list_push"), 1), **dict.fromkeys(ops_with("list_set"), 2)}
"""The place of the element among the inputs of an op that puts the element into a list."""


def fit_results(graph: Graph) -> None:
    """Let each function return the elements that it or a called function puts into lists, and a node give a single result."""
    for name, function in list(graph.functions.items()):  # copies of a graph share their functions
        graph.functions[name] = own = copied(function)
        own.body.functions = graph.functions
    for body in (graph, *(function.body for function in graph.functions.values())):
        _split_elements(body)
    _ElementReturns(graph).extend_calls(graph)
    drop_uncalled(graph)
    for function in graph.functions.values():
        _split_results(function)


def _split_elements(body: Graph) -> None:
    """Put an Identity before each written element of a node with several outputs."""
    builder = GraphBuilder(body)
    for node in list(body):
        element = node.inputs[_PLACES[node.op]] if node.op in _PLACES else None
        if element is not None and len(element.node.output_dtypes) > 1:
            body.set_input(node, _PLACES[node.op], builder.Identity(element))


def _split_results(function: Function) -> None:
    """Put an Identity behind each result of a node that gives several results."""
    counts = collections.Counter(value.node for value in dict.fromkeys(function.results))
    builder = GraphBuilder(function.body)
    function.results[:] = [builder.Identity(value) if counts[value.node] > 1 else value for value in function.results]


def _writing_functions(graph: Graph) -> set[str]:
    """Return the names of the functions that put elements into lists, and of those that call them."""
    callers = collections.defaultdict[str, list[str]](list)
    for name, function in graph.functions.items():
        for called in calls_of(function.body):
            callers[called].append(name)
    writing = [name for name, function in graph.functions.items() if any(node.op in _PLACES for node in function.body)]
    return closure(writing, lambda name: callers[name])


class _ElementReturns:
    """The functions of a graph with copies that return elements."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.writing = _writing_functions(graph)
        self.calls: list[str] = []
        """The functions around the body that is being extended."""

    def extend_calls(self, body: Graph) -> list[Output]:
        """Extend the calls in a body; return the elements that the body puts into lists, and those that calls return."""
        elements = [node.inputs[_PLACES[node.op]] for node in body if node.op in _PLACES]
        for node in list(body):
            kind = call_kind(self.graph.functions, node)
            if kind is not None and kind.form in _EXTENSIONS and self.is_writing(node, kind):
                elements += _EXTENSIONS[kind.form](self, body, node, kind)
        return elements

    def is_writing(self, node: Node, kind: CallKind) -> bool:
        """Return True for a call of a function that puts elements into lists, or calls one that does."""
        names = {find_function(self.graph, node, reference).name for reference in kind.references(node)}
        return not self.writing.isdisjoint(names)

    def extend_loop(self, body: Graph, node: Node, kind: CallKind) -> list[Output]:
        """Let a While return the elements of its body, as loop variables that begin with zeros."""
        condition, step = kind.references(node)
        copy = _ReturningCopy(self, node, step)
        if not copy.elements:
            return []
        copy.add_args(copy.dtypes)
        other = _ReturningCopy(self, node, condition)
        # The condition of a While takes all loop variables, also those that it does not read.
        other.add_args(copy.dtypes)
        node.set_attr("cond", FuncRef(other.add([])))
        node.set_attr("body", FuncRef(copy.add(copy.elements)))
        # The elements become loop variables: their first values are the further inputs.
        first = len(node.inputs)
        zeros = [_zero(body, dtype) for dtype in copy.dtypes]
        body.set_inputs(node, (*node.inputs, *zeros))
        node.set_attr("T", [dtype_of(value) for value in node.inputs])
        node.set_attr("output_shapes", [])
        return [node.output(first + i) for i in range(len(zeros))]

    def extend_branches(self, body: Graph, node: Node, kind: CallKind) -> list[Output]:
        """Let a conditional return the elements of all branches, and zeros for the elements of the other branches."""
        references = kind.references(node)
        copies = [_ReturningCopy(self, node, reference) for reference in references]
        if not any(copy.elements for copy in copies):
            return []
        names = []
        for copy in copies:
            parts = [other.elements if other is copy else copy.zeros(other.dtypes) for other in copies]
            names.append(FuncRef(copy.add([value for part in parts for value in part])))
        for attribute, name in zip(kind.functions, names):
            node.set_attr(attribute, names if isinstance(node.attr(attribute), list) else name)
        return _with_results(node, kind, [dtype for copy in copies for dtype in copy.dtypes])

    def extend_call(self, body: Graph, node: Node, kind: CallKind) -> list[Output]:
        """Let a call return the elements of its function."""
        copy = _ReturningCopy(self, node, kind.references(node)[0])
        if not copy.elements:
            return []
        node.set_attr(kind.functions[0], FuncRef(copy.add(copy.elements)))
        return _with_results(node, kind, copy.dtypes)


_EXTENSIONS: Final = {
    Form.LOOP: _ElementReturns.extend_loop,
    Form.BRANCH: _ElementReturns.extend_branches,
    Form.CALL: _ElementReturns.extend_call,
}


class _ReturningCopy:
    """A copy of a function, its calls extended, with the elements that the function does not return yet."""

    def __init__(self, owner: _ElementReturns, node: Node, reference: FuncRef) -> None:
        self.graph = owner.graph
        self.function = find_function(self.graph, node, reference)
        if self.function.name in owner.calls:  # how many elements it puts into lists, only a run knows
            problem = f"function '{self.function.name}' calls itself and puts elements into lists"
            raise UnimplementedError(problem, node=node.name, op=node.op, hint="write the recursion as a loop")
        self.body, self.args, self.results = copied_body(self.graph, self.function, reference.attrs)
        known = {*self.results, *(arg.output() for arg in self.args)}
        owner.calls.append(self.function.name)
        written = dict.fromkeys(owner.extend_calls(self.body))
        owner.calls.pop()
        self.elements = [value for value in written if value not in known and not value.node.is_constant]
        self.dtypes = [dtype_of(value) for value in self.elements]

    def add_args(self, extra: Sequence[DType]) -> None:
        builder = GraphBuilder(self.body)
        self.args += [add_arg(builder, dtype, len(self.args) + i) for i, dtype in enumerate(extra)]

    def zeros(self, extra: Sequence[DType]) -> list[Output]:
        return [_zero(self.body, dtype) for dtype in extra]

    def add(self, more: Sequence[Output]) -> str:
        """Put the copy with more results into the library, and return its name."""
        name = f"{self.function.name}_elements"
        controls = [self.body.node(control.name) for control in self.function.control_results]
        return add_function(self.graph, name, self.body, self.args, [*self.results, *more], self.function, controls)


def _zero(body: Graph, dtype: DType) -> Output:
    builder = GraphBuilder(body)
    value = np.array(b"", object) if dtype.is_object else np.zeros((), dtype.numpy)
    return builder.constant(Tensor.from_numpy(value, dtype), name="no_element")


def _with_results(node: Node, kind: CallKind, extra: Sequence[DType]) -> list[Output]:
    """Give a call more results, and return them."""
    known = list(node.attr(kind.results))
    node.set_attr(kind.results, [*known, *extra])
    if "output_shapes" in node.attrs:
        node.set_attr("output_shapes", [])
    return [node.output(len(known) + i) for i in range(len(extra))]
