"""The function library of a graph: functions are decoded at first use; unused functions are written back unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..core.graph.graph import Function
from ..core.registry.catalog import OpDef
from ..core.support.errors import InvalidArgumentError
from .codecs.scan import NodeReader
from .function_def import ReadFunctions, decode_function, decode_signature, encode_function
from .protos.graph_pb2 import FunctionDef, FunctionDefLibrary


class FunctionLibrary(ReadFunctions):
    """Functions by name, in the library's order, each decoded at first use.

    With `checks`, InvalidArgumentError names the first node of a decoded function that does not fit the node's op.
    """

    def __init__(self, library: FunctionDefLibrary, checks: bool = True) -> None:
        self.checks = checks
        self._entries: dict[str, Function | FunctionDef] = {}
        self._signatures: dict[str, OpDef] = {}
        self.reader = NodeReader()
        self._gradients = {gradient.function_name: gradient.gradient_func for gradient in library.gradient}
        for proto in library.function:
            name = proto.signature.name
            if self._entries.setdefault(name, proto) != proto:
                raise InvalidArgumentError(f"the library has two functions named '{name}'")

    def __getitem__(self, name: str) -> Function:
        function = self._entries[name] = self._decoded(name)
        if self.is_untrusted:
            function.body.is_untrusted = True
        return function

    def _decoded(self, name: str) -> Function:
        entry = self._entries[name]
        if isinstance(entry, FunctionDef):
            return decode_function(entry, self, self._gradients.get(name), self.checks)
        return entry

    def one_by_one(self) -> Iterator[Function]:
        """Yield all functions; functions decoded only for this iteration are not cached."""
        return map(self._decoded, self._entries)

    def __setitem__(self, name: str, function: Function) -> None:
        self._entries[name] = function
        self._signatures.pop(name, None)

    def __delitem__(self, name: str) -> None:
        del self._entries[name]
        self._signatures.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __copy__(self) -> FunctionLibrary:
        result = FunctionLibrary(FunctionDefLibrary(), self.checks)
        result._entries = dict(self._entries)
        result._gradients = dict(self._gradients)
        result.reader, result.is_untrusted = self.reader, self.is_untrusted
        return result

    def signature(self, name: str) -> OpDef | None:
        entry = self._entries.get(name)
        if entry is None:
            return None
        if not isinstance(entry, FunctionDef):
            return entry.signature
        if name not in self._signatures:
            self._signatures[name] = decode_signature(entry.signature)
        return self._signatures[name]

    def undecoded(self, name: str) -> FunctionDef | None:
        """Return the message of a function that is not decoded yet."""
        entry = self._entries.get(name)
        return entry if isinstance(entry, FunctionDef) else None


def encode_library(functions: Mapping[str, Function], library: FunctionDefLibrary) -> None:
    """Bring the message of a graph's functions up to date; unchanged functions keep their loaded messages."""
    removed = {function.signature.name for function in library.function}.difference(functions)
    order = [gradient.function_name for gradient in library.gradient]
    gradients = {g.function_name: g.gradient_func for g in library.gradient if g.function_name not in removed}
    messages = []
    for name in functions:
        untouched = functions.undecoded(name) if isinstance(functions, FunctionLibrary) else None
        if untouched is not None:
            messages.append(untouched)
            continue
        function = functions[name]
        messages.append(encode_function(function, functions))
        gradients.pop(name, None)
        if function.gradient is not None:
            gradients[name] = function.gradient
    del library.function[:], library.gradient[:]
    library.function.extend(messages)
    for name in sorted(gradients, key=lambda name: order.index(name) if name in order else len(order)):
        library.gradient.add(function_name=name, gradient_func=gradients[name])
