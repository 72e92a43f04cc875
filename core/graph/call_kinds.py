"""Kinds of function calls: the only table of ops that call functions of the library. Call sites, and the check of calls."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from ..registry.catalog import ArgDef
from ..registry.op_facts import NodeKinds
from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from ..types.dtypes import DType
from ..types.tensors import FuncRef
from .graph import Function, Graph, Node, Output
from .traversal import nodes_of_kind

_Value = TypeVar("_Value")


class Form(enum.Enum):
    """The use that an op makes of its functions."""

    CALL = "runs its function once"
    BRANCH = "runs the function that its first input selects"
    LOOP = "runs its last function repeatedly, each time on the previous results"
    MAP = "runs its function for each element of its arguments"
    GRADIENT = "runs the gradient of its function"


@dataclasses.dataclass(frozen=True, slots=True)
class CallKind:
    """How an op calls functions.

    `functions` are the attributes that name them; where there are none, the op itself is the function's name. The arguments
    stand `before` inputs behind the first and `after` before the last; the attributes `args` and `results` list their types.
    `counters` arguments of the last function come from the op and stand before the others.
    """

    form: Form
    functions: tuple[str, ...]
    args: tuple[str, ...] = ("Tin",)
    results: str = "Tout"
    before: int = 0
    after: int = 0
    counters: int = 0
    is_inlined: bool = False
    """TensorFlow puts the body into the graph around the node."""
    may_be_lowered: bool = False
    """TensorFlow does so where the node has `_lower_using_switch_merge`."""
    may_be_pure: bool = False
    """Whether the op is declared stateful only because its functions may be."""
    is_batched: bool = False
    """The function runs on the rows of several calls, or on rows repeated up to an allowed number."""

    @property
    def is_loop(self) -> bool:
        """True if the results of the last function are its arguments in the next call."""
        return self.form is Form.LOOP

    @property
    def is_partly_read(self) -> bool:
        """True if the functions run only as far as somebody reads their results."""
        return self.is_inlined or (self.form is Form.BRANCH and self.may_be_lowered)

    @property
    def is_plain(self) -> bool:
        """True if the inputs behind the first few are the arguments, by a single list of types, with nothing in between."""
        return self.form in (Form.CALL, Form.BRANCH, Form.LOOP) and not self.after and not self.counters and len(self.args) < 2

    def arguments(self, values: Sequence[_Value]) -> Sequence[_Value]:
        """Return the values, among values in the order of a node's inputs, that the node's functions take."""
        return values[self.before : len(values) - self.after]

    def references(self, node: Node) -> list[FuncRef]:
        """Return the functions that a node calls, in the order of the attributes."""
        if not self.functions:
            # A call by name passes the attributes of the function as its own.
            return [FuncRef(node.op, node.attrs)]
        values = [node.attr(name) for name in self.functions]
        references = [reference for value in values for reference in (value if isinstance(value, list) else [value])]
        if not all(isinstance(reference, FuncRef) for reference in references):
            raise InvalidArgumentError("it does not name the called function", node=node.name, op=node.op)
        return references

    def naming(self, node: Node, references: Iterable[FuncRef]) -> dict[str, Any]:
        """Return the attributes by which a node calls other functions, in the order of `references`."""
        left = iter(references)
        values = {name: node.attr(name) for name in self.functions}
        return {name: [next(left) for _ in v] if isinstance(v, list) else next(left) for name, v in values.items()}

    def labels(self, node: Node) -> tuple[str, ...]:
        """Return the labels of a node's branches: `then` and `else`, or their numbers."""
        if len(self.functions) > 1:
            return tuple(name.removesuffix("_branch") for name in self.functions)
        return tuple(map(str, range(len(self.references(node)))))


BY_NAME: Final = CallKind(Form.CALL, (), (), "")
"""The call of the function that a node's op names."""

_CALL: Final = CallKind(Form.CALL, ("f",), is_inlined=True, may_be_pure=True)
_IF: Final = CallKind(Form.BRANCH, ("then_branch", "else_branch"), before=1, may_be_lowered=True, may_be_pure=True)
_CASE: Final = dataclasses.replace(_IF, functions=("branches",))
_WHILE: Final = CallKind(Form.LOOP, ("cond", "body"), ("T",), "T", may_be_lowered=True, may_be_pure=True)

CALL_KINDS: Final[Mapping[str, CallKind]] = {
    "PartitionedCall": _CALL,
    "StatefulPartitionedCall": _CALL,
    "TPUPartitionedCall": CallKind(Form.CALL, ("f",), after=1),
    "RemoteCall": CallKind(Form.CALL, ("f",), before=1),
    "BatchFunction": CallKind(Form.CALL, ("f",), ("Tin", "Tcaptured"), is_batched=True),
    "If": _IF,
    "StatelessIf": _IF,
    "_If": dataclasses.replace(_IF, may_be_lowered=False),
    "Case": _CASE,
    "StatelessCase": _CASE,
    "While": _WHILE,
    "StatelessWhile": _WHILE,
    "_While": dataclasses.replace(_WHILE, may_be_lowered=False),
    "For": CallKind(Form.LOOP, ("body",), ("T",), "T", before=3, counters=1),
    "MapDefun": CallKind(Form.MAP, ("f",), ("Targuments", "Tcaptured"), "output_types"),
    "SymbolicGradient": CallKind(Form.GRADIENT, ("f",)),
}
"""The ops that run functions of the library in place. Datasets and XLA's ops name functions too, but only keep them."""

INLINED: Final = frozenset(op for op, kind in CALL_KINDS.items() if kind.is_inlined)
PARTLY_READ: Final = frozenset(op for op, kind in CALL_KINDS.items() if kind.is_partly_read)


def call_op(is_stateful: bool) -> str:
    """Return the op that calls a single function `f`, stateful or not."""
    return "StatefulPartitionedCall" if is_stateful else "PartitionedCall"


def call_kind(functions: Mapping[str, Any], node: NodeKinds) -> CallKind | None:
    """Return the kind of a node's call of library functions, None for a node that calls none."""
    return CALL_KINDS.get(node.op) or (BY_NAME if node.op in functions else None)


# Call sites: a node's call of a function, and the part of the function that the call runs.


@dataclasses.dataclass(frozen=True, slots=True)
class CallSite:
    """The nodes that a call leaves out: unread results, and in an inlined call effects that lead to no result.

    TensorFlow inlines the bodies of calls, and the bodies of conditionals and loops whose node has
    `_lower_using_switch_merge`. After inlining, a node that leads to neither a result nor a control output never runs. A
    call of a body with neither is left as a call.
    """

    unused: tuple[int, ...] = ()
    is_inlined: bool = False
    is_lowered: bool = False

    def runs_effects(self, function: Function) -> bool:
        """True if nodes with effects run although they lead to no result."""
        return not (self.is_lowered or (self.is_inlined and (function.results or function.control_results)))


PLAIN_CALL: Final = CallSite()


def call_site(node: Node, unused: tuple[int, ...] = ()) -> CallSite:
    """Return the call site of a node. A loop needs all results of its body, read or not."""
    kind = CALL_KINDS.get(node.op, BY_NAME)
    is_lowered = kind.may_be_lowered and bool(node.attrs.get("_lower_using_switch_merge"))
    return CallSite(() if kind.is_loop else unused, kind.is_inlined, is_lowered)


def is_partly_read(node: Node) -> bool:
    """True for a node with functions that run only as far as their results are read."""
    return node.op in PARTLY_READ or (node.op in CALL_KINDS and call_site(node).is_lowered)


def function_inputs(function: Function) -> list[Output]:
    """Return the values in the body that a call passes in."""
    return [arg.output() for arg in function.args]


def function_targets(function: Function, site: CallSite = PLAIN_CALL) -> list[Output | Node]:
    """Return the targets of a call of a function: the results, the control results, and nodes with effects."""
    # The results come first: `passes/base/race_settling` takes all targets behind them for effects.
    targets: list[Output | Node] = [value for i, value in enumerate(function.results) if i not in site.unused]
    targets += function.control_results
    if site.runs_effects(function):
        functions = function.body.functions
        targets += [node for node in function.body if node not in function.args and _has_effects(node, functions)]
    return targets


def _has_effects(node: Node, functions: Mapping[str, Function]) -> bool:
    if node.op_def is not None:
        return node.op_def.is_stateful
    return node.op in functions and functions[node.op].signature.is_stateful


# The check of calls against the signatures of their functions.


def check_calls(graph: Graph) -> None:
    """Raise InvalidArgumentError for the first node whose inputs or outputs differ from the signatures of the node's
    functions.

    Passes that take calls apart check calls first. A run reports only the calls executed, and inference leaves the
    outputs of a wrong call unknown. Nodes of functions must fit their ops. Functions that leave attributes to callers are
    not checked, nor are ops whose functions get other arguments than the op's inputs.
    """
    check_own_calls(graph)
    for function in dict.fromkeys(function.pattern for function in graph.functions.values()):
        if function.signature.attrs:
            function.check(function.signature.attrs)
        else:
            function.check_changes()
            _check_nodes(function.body, graph.functions)


def check_own_calls(graph: Graph) -> None:
    """Check the calls of the graph's own nodes; for a graph with a checked library."""
    _check_nodes(graph, graph.functions)


def _check_nodes(graph: Graph, functions: Mapping[str, Function]) -> None:
    for node in nodes_of_kind(graph, lambda node: call_kind(functions, node) is not None):
        kind = call_kind(functions, node)
        if kind is None or not kind.is_plain:
            continue
        references = kind.references(node)
        for reference in references:
            function = functions.get(reference.name)
            # A function that leaves attributes to its callers has no dtypes to compare.
            if function is None or function.signature.attrs:
                continue
            is_condition = kind.is_loop and reference is not references[-1]
            reason = _mismatch(node, function, kind.before, is_condition)
            if reason is not None:
                raise InvalidArgumentError(f"function '{function.name}' {reason}", node=node.name, op=node.op)


def _mismatch(node: Node, function: Function, before: int, is_condition: bool) -> str | None:
    """Return the mismatch of a function's call with the inputs behind the first `before`; None for a call that fits."""
    dtypes = [value.dtype for value in node.inputs[before:]]
    reason = _difference("takes", function.signature.inputs, dtypes)
    # A call by name has no attributes with types of results.
    if reason is not None or node.op_def is None:
        return reason
    if is_condition:
        return None if len(function.results) == 1 else f"returns {len(function.results)} values instead of one"
    return _difference("returns", function.signature.outputs, node.output_dtypes)


def _difference(does: str, declared: Sequence[ArgDef], expected: Sequence[DType | None]) -> str | None:
    if len(declared) != len(expected):
        return f"{does} {len(declared)} values, not {len(expected)}"
    for arg, dtype in zip(declared, expected):
        if arg.dtype is not None and dtype is not None and arg.dtype.base is not dtype.base:
            return f"{does} {arg.dtype} as '{arg.name}', not {dtype}"
    return None
