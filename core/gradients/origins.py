"""Origins of values: through calls, loops and branches, and from a function's arguments to the inputs of the call.

The origin tells the variable of a handle, and the elements of a list, which decide whether the list has a gradient.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..control_flow.copies import source_of
from ..functions.call_kinds import CallKind, call_kind
from ..graph.graph import Function, Node, Output
from ..support import dataclasses
from ..types.dtypes import DType


@dataclasses.dataclass(frozen=True, slots=True)
class CallScope:
    """The values of a body's arguments in the surrounding call, which may lie in another body."""

    arguments: Mapping[Node, Output]
    outer: CallScope | None


def origins(value: Output, functions: Mapping[str, Function], scope: CallScope | None) -> list[Output]:
    """Return the values that `value` may be, a value for each branch, past all forwarding nodes."""
    tracer = _Tracer(functions)
    values = tracer.sources(value)
    while scope is not None:
        arguments = scope.arguments
        traced = (tracer.sources(arguments[source.node]) if source.node in arguments else [source] for source in values)
        values, scope = list(dict.fromkeys(source for sources in traced for source in sources)), scope.outer
    return values


class _Tracer:
    """Where values come from in the bodies of a library, each result of a function looked into once."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = functions
        self._results: dict[tuple[str, int], list[Output]] = {}

    def sources(self, value: Output) -> list[Output]:
        """Return the values behind `value`, here or in a called function, or the arguments of this body that may be the
        value.
        """
        sources_seen: dict[Output, None] = {}
        pending, seen = [value], set[Output]()
        for passed_on in pending:
            source = source_of(passed_on)
            if source in seen:
                continue
            seen.add(source)
            kind = call_kind(self._functions, source.node)
            if kind is None:
                sources_seen[source] = None
                continue
            for inner, arguments in self._returned(source, kind):
                if inner.node in arguments:
                    pending.append(arguments[inner.node])
                else:
                    sources_seen[inner] = None
        return list(sources_seen)

    def _returned(self, result: Output, kind: CallKind) -> Iterator[tuple[Output, Mapping[Node, Output]]]:
        """Yield the values that a result of a call may be in each called function, with the values of the arguments there."""
        for name in (reference.name for reference in kind.references(result.node)):
            called = self._functions.get(name)
            if called is not None and result.index < len(called.results):
                arguments = dict(zip(called.args, kind.arguments(result.node.inputs)))
                yield from ((source, arguments) for source in self._inside(called, result.index))

    def _inside(self, function: Function, index: int) -> list[Output]:
        key = (function.name, index)
        if key not in self._results:
            self._results[key] = []  # of a function that calls itself
            self._results[key] = self.sources(function.results[index])
        return self._results[key]


def element_dtype(value: Output, functions: Mapping[str, Function], scope: CallScope | None) -> DType | None:
    """Return the dtype of the elements of a list; None where the graph does not tell, or for a variant of another kind."""
    element_dtypes = (source.node.attr("element_dtype") for source in origins(value, functions, scope) if source.index == 0)
    return next((dtype for dtype in element_dtypes if dtype is not None), None)
