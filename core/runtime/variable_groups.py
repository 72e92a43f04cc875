"""Groups of an engine that read and write variables: new values are computed of old ones, and then stored all at once.

A group has its variables to itself from the first read to the last write. Until the engine has given all results, they hold
what they held, wherever that is: so a group that fails has done nothing, and its steps can run in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engines.protocol import Body
from .resources import Variable, exclusively

if TYPE_CHECKING:
    from ..engines.engagement import Group


class VariableGroup:
    """A group as a function of references, handles and other values."""

    def __init__(self, group: Group, body: Body, in_numpy: Callable[..., Sequence[Any]]) -> None:
        self.group = group
        self.in_numpy = in_numpy
        self.variables = body.variables
        self.written = body.written
        leads = body.leads
        self.leads = [leads.get(slot) for slot in body.outputs]

    def __call__(self, *values: Any) -> Any:
        """The outputs of the group: one alone where there is one, else a tuple."""
        results = self._in_engine(values)
        found = self.in_numpy(*values) if results is None else self._outputs(values, results)
        return found[0] if len(found) == 1 else found

    def _in_engine(self, values: Sequence[Any]) -> Sequence[Any] | None:
        """The tensors that the engine gives, the variables written; None where it gave nothing and nothing was written."""
        variables = {slot: variable for slot in self.variables if (variable := _variable(values[slot])) is not None}
        distinct = {id(variable): variable for variable in variables.values()}
        if len(distinct) < len(self.variables):
            self.group.decline("two references lead to the same variable, or one to none")
            return None
        return exclusively([distinct[key] for key in sorted(distinct)], self._stepped, (values, variables))

    def _stepped(self, values: Sequence[Any], variables: Mapping[int, Variable]) -> Sequence[Any] | None:
        given = list(values)
        lent = () if self.group.engagement.verify else self.written
        for slot, variable in variables.items():
            given[slot] = variable.lend() if slot in lent else variable.kept
            if given[slot] is None or given[slot].dtype != variable.dtype.numpy:
                self.group.decline(f"variable '{variable.name}' is not initialized")
                return None
        results = self.group.attempt(given)
        if results is None:
            return None
        written = [variables[slot] for slot in self.written]
        if self.group.engagement.verify:
            self._verify(values, results, written)
        tensors = len(results) - len(written)
        for variable, value in zip(written, results[tensors:]):
            variable.assign(value)
        return results[:tensors]

    def _verify(self, values: Sequence[Any], results: Sequence[Any], written: Sequence[Variable]) -> None:
        """Compare with what NumPy makes of the same values, which it writes to the variables first."""
        found = self.in_numpy(*values)
        tensors = [value for value, lead in zip(found, self.leads) if lead is None]
        self.group.compare(results, [*tensors, *(variable.read() for variable in written)])

    def _outputs(self, values: Sequence[Any], tensors: Sequence[Any]) -> tuple[Any, ...]:
        """Tensors and references in the order of the outputs."""
        given = iter(tensors)
        return tuple([next(given) if lead is None else values[lead] for lead in self.leads])


def _variable(value: Any) -> Variable | None:
    """The variable that a reference or a handle leads to."""
    if type(value) is Variable:
        return value
    if isinstance(value, np.ndarray) and value.dtype == object and value.size == 1:
        value = value.item()
    return value if type(value) is Variable else None
