"""The variables of a session on a cluster, read by nodes that are added to the session's graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...core.building.builder import GraphBuilder
from ...core.graph.graph import Graph
from ...core.graph.variable_nodes import VariableNodes, find_variables
from ...core.runtime.session.session_like import SessionLike
from ...core.support.errors import FailedPreconditionError
from ...core.types.dtypes import DType
from ...core.types.tensors import Tensor

_AT_ONCE: Final = 2**28
"""The bytes of variables to read in a step: a message holds at most 2 GiB."""


@dataclasses.dataclass(frozen=True, slots=True)
class ClusterVariable:
    """A variable of the cluster at the moment of reading."""

    name: str
    dtype: DType
    is_initialized: bool
    value: Any = None

    def read(self) -> Any:
        """Return the variable's value; FailedPreconditionError for an uninitialized variable."""
        if not self.is_initialized:
            raise FailedPreconditionError(f"the variable '{self.name}' is not initialized")
        return self.value

    def constant(self) -> Tensor:
        """Return the variable's value as a constant; errors as `read`."""
        return Tensor.from_numpy(np.asarray(self.read()), self.dtype)


class VariableReader:
    """A reader of all variables of a session's graph."""

    def __init__(self, session: SessionLike) -> None:
        self._variables = find_variables(session.graph)
        graph, self._checks, self._values = _with_readers(session.graph, self._variables)
        self._session = session.on_graph(graph)

    def read(self) -> list[ClusterVariable]:
        """Return the variables with their values."""
        variables, session = self._variables, self._session
        flags = dict(zip(variables, session.run([self._checks[name] for name in variables])))
        held: dict[str, Any] = {}
        for names in _groups([variable for name, variable in variables.items() if flags[name]]):
            held |= zip(names, session.run([self._values[name] for name in names]))
        return [ClusterVariable(v.name, v.dtype, bool(flags[name]), held.get(name)) for name, v in variables.items()]


def _with_readers(graph: Graph, variables: Mapping[str, VariableNodes]) -> tuple[Graph, dict[str, str], dict[str, str]]:
    """Return a copy of the graph, and by variable the tensors that check initialization and read the value."""
    g = GraphBuilder(graph.copy())
    checks, values = {}, {}
    for name, variable in variables.items():
        handle = g.graph.node(variable.node.name).output()
        if variable.is_resource:
            checks[name] = g.VarIsInitializedOp(handle, name="tfg_state/is_initialized").name
            values[name] = g.ReadVariableOp(handle, dtype=variable.dtype, name="tfg_state/value").name
        else:
            checks[name] = g.IsVariableInitialized(handle, name="tfg_state/is_initialized").name
            values[name] = handle.name
    return g.graph, checks, values


def _groups(variables: Sequence[VariableNodes]) -> Iterator[list[str]]:
    """Yield the names of variables that are read together; a variable of unknown size is read alone."""
    names: list[str] = []
    total = 0
    for variable in variables:
        size = variable.shape.num_elements if variable.shape.is_known else None
        taken = size * variable.dtype.size if isinstance(size, int) and not variable.dtype.is_object else _AT_ONCE
        if names and total + taken > _AT_ONCE:
            yield names
            names, total = [], 0
        names.append(variable.name)
        total += taken
    if names:
        yield names
