"""Kinds of function calls: the only table of ops that call functions of the library."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from ..graph.graph import Node
from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from ..types.tensors import FuncRef

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
        """True where the results of the last function are its arguments in the next call."""
        return self.form is Form.LOOP

    @property
    def is_partly_read(self) -> bool:
        """True where the functions run only as far as somebody reads their results."""
        return self.is_inlined or (self.form is Form.BRANCH and self.may_be_lowered)

    @property
    def is_plain(self) -> bool:
        """True where the inputs behind the first few are the arguments, by a single list of types, with nothing in between."""
        return self.form in (Form.CALL, Form.BRANCH, Form.LOOP) and not self.after and not self.counters and len(self.args) < 2

    def arguments(self, values: Sequence[_Value]) -> Sequence[_Value]:
        """Return the values, among values in the order of a node's inputs, that the node's functions take."""
        return values[self.before : len(values) - self.after]

    def references(self, node: Node) -> list[FuncRef]:
        """Return the functions that a node calls, in the order of the attributes."""
        if not self.functions:
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


def call_kind(functions: Mapping[str, Any], node: Node) -> CallKind | None:
    """Return the kind of a node's call of library functions, None for a node that calls none."""
    return CALL_KINDS.get(node.op) or (BY_NAME if node.op in functions else None)
