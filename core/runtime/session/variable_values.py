"""The values of a session's variables as a mapping."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from typing import Any, Final

import numpy as np

from ...graph.graph import Graph
from ...graph.variable_nodes import VariableNodes, find_variables
from ...support.errors import InvalidArgumentError, MissingKeyError
from ...support.grouping import grouped
from ...support.words import counted, some
from ...types.arrays import Array
from ...types.dtypes import string
from .restored_variables import read_instead
from .runner import Runner
from .session_like import HeldVariable, SessionLike

_NUMBER: Final = re.compile(r"_\d+$")


class VariableValues(Mapping[str, Array]):
    """The values of the model's variables in a session by name: variables without a value yet are left out, and so are the
    copies of a SavedModel's variables that nothing uses.

    A value is read when it is asked for, as an array that belongs to the caller. An assignment writes to the variable; an
    array must have the variable's dtype, and numbers and lists are converted to it. InvalidArgumentError for another dtype
    or shape; NotFoundError, also a KeyError, names the nearest variables for an unknown name.
    """

    def __init__(self, session: SessionLike) -> None:
        self.session = session
        self._unused: tuple[int, Container[str]] | None = None
        self._writer: tuple[int, Runner] | None = None

    def __getitem__(self, name: str) -> Array:
        held = self._held()
        if name not in held:
            raise MissingKeyError.of("initialized variable", name, held)
        # The array is copied, because the variable's own array changes with the next step.
        return np.array(held[name].constant().numpy())

    def __setitem__(self, name: str, value: Any) -> None:
        variables = find_variables(self.session.graph)
        if name not in variables:
            raise MissingKeyError.of("variable", name, variables)
        array = _converted(variables[name], value)
        self.session.start()
        self._runner().assign(name, lambda _: array)

    def set(self, name: str, value: Any) -> None:
        """Write a value to a variable, as `variables[name] = value` does."""
        self[name] = value

    def update(self, values: Mapping[str, Any]) -> None:
        """Write the values to the variables of their names."""
        for name, value in values.items():
            self[name] = value

    def __iter__(self) -> Iterator[str]:
        return iter(self._held())

    def __len__(self) -> int:
        return len(self._held())

    def __contains__(self, name: object) -> bool:
        return name in self._held()

    def __repr__(self) -> str:
        names = list(self)
        return f"<{counted(len(names), 'initialized variable')}{': ' if names else ''}{some(names)}>"

    def _held(self) -> dict[str, HeldVariable]:
        self.session.start()
        count = len(self.session.graph)
        if self._unused is None or self._unused[0] != count:
            self._unused = count, unused_variables(self.session.graph)
        held = (variable for variable in self.session.held_variables() if variable.name not in self._unused[1])
        return {variable.name: variable for variable in held if _has_elements(variable)}

    def _runner(self) -> Runner:
        """Return the writer of the graph as it is now."""
        count = len(self.session.graph)
        if self._writer is None or self._writer[0] != count:
            self._writer = count, Runner(self.session)
        return self._writer[1]


def unused_variables(graph: Graph) -> frozenset[str]:
    """Return the names of the variables that a graph has beside those of the model."""
    return frozenset(find_variables(graph).keys() - graph.variables.keys())


def variables_in_use(graph: Graph) -> dict[str, str]:
    """Map each variable that a model does not use to the variable that it uses in its place, where there is one.

    Keras 3 exports three variables for a weight: one that only functions loaded by Python read, one that the signatures read,
    and a handle without a value, whose name the second has with a number: `dense/bias` and `dense/bias_1`.
    """
    numbered = grouped((_NUMBER.sub("", name), name) for name in graph.variables)
    kinds = {name: (variable.dtype, variable.shape) for name, variable in find_variables(graph).items()}
    handles = ((name, numbered.get(name, ())) for name in unused_variables(graph))
    alike = {name: [other for other in others if kinds[other] == kinds[name]] for name, others in handles}
    return {name: others[0] for name, others in alike.items() if len(others) == 1} | read_instead(graph)


def _has_elements(variable: HeldVariable) -> bool:
    return variable.is_initialized and (variable.dtype is string or not variable.dtype.is_object)


def _converted(variable: VariableNodes, value: Any) -> Array:
    """Return a value as an array of the variable's dtype."""
    expected = np.dtype(variable.dtype.numpy)
    if not hasattr(value, "dtype"):
        return np.asarray(value, expected)
    array = np.asarray(value)
    # An array has its dtype on purpose, while Python's numbers have no dtype.
    if array.dtype != expected and not (variable.dtype.is_object and array.dtype.kind in "OSU"):
        raise InvalidArgumentError(
            f"a value of dtype {array.dtype} cannot be assigned to a variable of dtype {variable.dtype}",
            node=variable.node.name, op=variable.node.op, hint=f"convert the value first: value.astype('{expected}')",
        )  # fmt: skip
    return array
