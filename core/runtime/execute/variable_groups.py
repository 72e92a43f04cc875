"""Engine groups that read and write variables: the engine computes new values from the old, then all are stored at once.

A group locks its variables from the first read to the last write. The variables keep their old values, on whatever device,
until the engine has returned all results. A group that fails has therefore changed nothing, and its steps can run in NumPy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...engines import reasons
from ...engines.executables import neighbours
from ...engines.protocol import Body
from ...types.arrays import EngineArray
from ..state.resources import Variable, exclusively

if TYPE_CHECKING:
    from ...engines.engine_runtime import Group
    from ...engines.executables import Executable

_NOTHING: Final = np.float32(0)
"""The placeholder for an input that nothing reads."""


class VariableGroup:
    """A group as a function of references, handles and other values."""

    def __init__(self, group: Group, body: Body, in_numpy: Callable[..., Sequence[Any]]) -> None:
        self.group = group
        self.body = body
        self.in_numpy = in_numpy
        self.slots = body.variables
        self.written = [body.variables.index(slot) for slot in body.written]
        self.lent = [slot in body.written for slot in body.variables]
        leads = body.leads
        self.leads = [leads.get(slot) for slot in body.outputs]
        self._met: tuple[list[Any], list[Variable]] = ([], [])
        """The variables of the last run, in the order of `slots` and in the order of their locks."""
        self._of_shared: dict[tuple[int, ...], VariableGroup] = {}

    def __call__(self, *values: Any) -> Any:
        """Return the outputs of the group: a single output alone, several as a tuple."""
        results = self._in_engine(values)
        outputs = self._outputs(values, results) if isinstance(results, tuple) else results(*values)
        return outputs[0] if len(outputs) == 1 else outputs

    def _in_engine(self, values: Sequence[Any]) -> tuple[Any, ...] | Callable[..., Sequence[Any]]:
        """Return the engine's tensors after the variables are written.

        Where nothing was written, return a fallback to call.
        """
        variables = [variable_of(values[slot]) for slot in self.slots]
        met, order = self._met
        if variables != met:
            # Locks are taken in the order of identities, as kernels do (`executor`), so that two threads never wait for each
            # other.
            order = sorted({variable for variable in variables if variable is not None}, key=id)
            if None in variables:
                self.group.decline(reasons.NO_VARIABLE)
                return self.in_numpy
            self._met = variables, order
        # If two references lead to one variable, the group would lose one of the two writes.
        if len(order) < len(variables):
            return self._merged(variables)._in_engine(values)
        results: tuple[Any, ...] | Callable[..., Sequence[Any]] = exclusively(order, self._stepped, (values, variables))
        return results

    def _merged(self, variables: Sequence[Any]) -> VariableGroup:
        """Return the group for runs in which several references lead to the same variable, as in `variables`."""
        first = tuple(self.slots[variables.index(variable)] for variable in variables)
        with self.group.lock:
            if first not in self._of_shared:
                body = self.body.merged(dict(zip(self.slots, first)))
                self._of_shared[first] = VariableGroup(self.group.on(body), body, self.in_numpy)
            return self._of_shared[first]

    def _stepped(self, values: Sequence[Any], variables: Sequence[Variable]) -> tuple[Any, ...] | Callable[..., Sequence[Any]]:
        inputs = list(values)
        for slot in self.body.unused:
            inputs[slot] = _NOTHING
        for slot, variable in zip(self.slots, variables):
            inputs[slot] = variable.kept
            # NumPy's kernel has the right error for a variable without a value, and names the node.
            if inputs[slot] is None or inputs[slot].dtype != variable.dtype.numpy:
                self.group.decline(reasons.UNINITIALIZED.of(variable.name))
                return self.in_numpy
        inputs = self.group.arrays(inputs)
        executable = self.group.executable(inputs)
        if callable(executable):
            return executable
        compares = self.group.compares(executable)
        # A comparison runs the same step in NumPy from the same old values, so they must survive the engine's run.
        self._lend(inputs, variables, is_lent=not compares)
        results = self.group.run(executable, inputs)
        if not isinstance(results, tuple):
            return results
        written = [variables[place] for place in self.written]
        tensors = len(results) - len(written)
        instead = self._instead(executable, values, inputs, variables, results) if compares else None
        if instead is not None:
            return tuple(instead[:tensors])
        # All results are there before the first variable is written: an engine that fails has changed nothing.
        for variable, value in zip(written, results[tensors:]):
            variable.assign(value)
        return results[:tensors]

    def _instead(
        self,
        executable: Executable,
        values: Sequence[Any],
        inputs: Sequence[Any],
        variables: Sequence[Variable],
        results: Sequence[Any],
    ) -> Sequence[Any] | None:
        """Compute the group in NumPy, too, and write the variables; return NumPy's results where the engine's are wrong."""
        written = [variables[place] for place in self.written]
        before = [np.array(inputs[slot]) for slot in self.slots] if self.group.compares_values(executable) else []
        # NumPy's kernels write the variables themselves, so `before` keeps copies: the run on neighbouring floats needs the
        # old values.
        expected = self._in_numpy(executable, values, written)
        moved = functools.partial(self._of_neighbours, values, variables, before, written)
        return None if expected is None or self.group.accepts(executable, results, expected, moved) else expected

    def _lend(self, inputs: list[Any], variables: Sequence[Variable], is_lent: bool) -> None:
        """Let the engine overwrite the arrays that it holds of the variables to write.

        Neither `inputs` nor anybody else may hold the arrays.
        """
        for slot, variable, is_written in zip(self.slots, variables, self.lent):
            if is_written and is_lent:
                # The list's own reference would count: `lend` allows the engine to overwrite only what nobody else holds.
                inputs[slot] = None
                inputs[slot] = variable.lend()
            elif type(inputs[slot]) is EngineArray:
                inputs[slot].is_lent = False

    def _in_numpy(self, executable: Executable, values: Sequence[Any], written: Sequence[Variable]) -> Sequence[Any] | None:
        """Compute the group in NumPy on the same values, in the order of the engine's results, and write the variables."""
        results = self.group.timed_in_numpy(executable, values)
        return None if results is None else self._in_order(results, written)

    def _in_order(self, results: Sequence[Any], written: Sequence[Variable]) -> Sequence[Any]:
        """Return NumPy's results in the order of the engine's: the tensors, then the new values of variables."""
        tensors = [value for value, lead in zip(results, self.leads) if lead is None]
        return [*tensors, *(variable.read() for variable in written)]

    def _of_neighbours(
        self, values: Sequence[Any], variables: Sequence[Variable], before: Sequence[Any], written: Sequence[Variable]
    ) -> Sequence[Any]:
        """Compute the group in NumPy on neighbouring floats of the values and of the variables `before` the run.

        All variables have their present values again afterwards.
        """
        present = [variable.kept for variable in variables]
        for variable, value in zip(variables, before):
            variable.assign(neighbours(value))
        try:
            others = [value if slot in self.slots else neighbours(value) for slot, value in enumerate(values)]
            return self._in_order(self.in_numpy(*others), written)
        finally:
            for variable, value in zip(variables, present):
                variable.assign(value)

    def _outputs(self, values: Sequence[Any], tensors: Sequence[Any]) -> tuple[Any, ...]:
        """Return tensors and references in the order of the outputs."""
        remaining = iter(tensors)
        return tuple([next(remaining) if lead is None else values[lead] for lead in self.leads])


def variable_of(value: Any) -> Variable | None:
    """Return the variable behind a reference or a handle; None if the value leads to none."""
    if type(value) is Variable:
        return value
    if isinstance(value, np.ndarray) and value.dtype == object and value.size == 1:
        value = value.item()
    return value if type(value) is Variable else None
