"""Values that follow from the shapes of tensors, found by inference, or by computation where inference does not know them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...engines.protocol import ShapePrecompute
from ...inference.inference import infer
from ...support.keyed_cache import KeyedCache
from ..steps.variable_groups import variable_of

_MOST_KEPT: Final = 64
"""Of how many shapes of inputs the results are kept."""


class PrecomputedCall:
    """A step as a function of references, handles and other values; `in_numpy` runs its body."""

    def __init__(self, step: ShapePrecompute, in_numpy: Callable[..., Sequence[Any]]) -> None:
        self.cluster = step.cluster
        self.known = step.known
        self.in_numpy = in_numpy
        self.results: KeyedCache[Any, Any] = KeyedCache(_MOST_KEPT)

    def __call__(self, *values: Any) -> Any:
        """Return the value."""
        arrays = [self._array(slot, value) for slot, value in enumerate(values)]
        if any(array is None for array in arrays):
            return self.in_numpy(*values)[0]
        key = (*[a.shape for a in arrays], *[arrays[i].tobytes() for i in self.known])
        try:
            result = self.results[key]
        except KeyError:
            self.results[key] = result = self._inferred(arrays)
        return self.in_numpy(*values)[0] if result is None else result

    def _array(self, slot: int, value: Any) -> Any:
        """Return a value, read from its variable where the slot holds a variable; None before the variable's first write."""
        if slot not in self.cluster.body.variables:
            return np.asarray(value)
        variable = variable_of(value)
        return None if variable is None else variable.kept

    def _inferred(self, arrays: Sequence[Any]) -> Any:
        """Return the result by inference; None where inference knows only a part of the value."""
        cluster = dataclasses.replace(self.cluster, fixed={slot: arrays[slot] for slot in self.known})
        graph, _, (output,) = cluster.as_graph([arrays[slot] for slot in cluster.inputs])
        value = infer(graph).spec(output).value
        return None if value is None or value.dtype == object else value
