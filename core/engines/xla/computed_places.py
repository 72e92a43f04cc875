"""Places in tensors that a program computes, as far as a slice's size is the same for all of them: `x[i]`, `x[i : i + 3]`.

A place is a traced integer; what it is made of is noted: a vector's elements, and the sum of another place and a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph.graph import Node
from ...registry.op_facts import has_fact
from .library import jax, jnp


class ComputedPlaces:
    """The places of a program by the arrays that hold them. The arrays are kept, so that identities stay theirs."""

    def __init__(self) -> None:
        self._vectors: dict[int, tuple[Any, Sequence[Any]]] = {}
        self._sums: dict[int, tuple[Any, Any, int]] = {}

    def note_vector(self, vector: Any, elements: Sequence[Any]) -> None:
        """Note the scalars that a vector is made of."""
        if isinstance(vector, jax.Array) and vector.ndim == 1 and _is_integer(vector):
            self._vectors[id(vector)] = vector, list(elements)

    def note_sum(self, node: Node, values: Sequence[Any], total: Any) -> None:
        """Note the result of a node if it is a place plus or minus a constant."""
        sign = 1 if has_fact(node.op, "addition") else -1 if has_fact(node.op, "subtraction") else 0
        if not sign or not isinstance(total, jax.Array) or total.size != 1 or not _is_integer(total):
            return
        (base, offset), (other, more) = map(self.parts, values)
        if base is None and sign == 1:
            base, other = other, base
        if base is not None and other is None:
            self._sums[id(total)] = total, base, offset + sign * more

    def parts(self, place: Any) -> tuple[Any, int]:
        """Return an integer as the sum of a traced integer, None for none, and a constant."""
        if not isinstance(place, jax.Array):
            return None, int(np.asarray(place).item())
        _, base, offset = self._sums.get(id(place), (place, place, 0))
        return base, offset

    def elements(self, vector: Any) -> list[Any]:
        """Return the elements of a vector: numbers where they are known."""
        if not isinstance(vector, jax.Array):
            return [int(element) for element in np.ravel(vector)]
        noted = self._vectors.get(id(vector))
        elements = [vector[i] for i in range(vector.shape[0])] if noted is None else noted[1]
        return [element if isinstance(element, jax.Array) else int(np.asarray(element).item()) for element in elements]

    def distance(self, start: Any, stop: Any) -> int | None:
        """Return the difference of two places, None where it may be another in another run."""
        (base, offset), (other, more) = self.parts(start), self.parts(stop)
        return more - offset if base is other else None


def window(xla: Any, x: Any, axis: int, start: Any, size: int) -> Any:
    """Return `size` rows of an axis from a traced place on; a run with rows that do not exist is left to NumPy."""
    xla.require((start >= 0) & (start <= x.shape[axis] - size))
    return jax.lax.dynamic_slice_in_dim(jnp.asarray(x), start, size, axis)


def row(xla: Any, x: Any, axis: int, place: Any) -> Any:
    """Return the row of an axis, of size 1, at a traced place; from the end where the place is negative."""
    size = x.shape[axis]
    xla.require((place >= -size) & (place < size))
    return jax.lax.dynamic_slice_in_dim(jnp.asarray(x), jnp.where(place < 0, place + size, place), 1, axis)


def _is_integer(array: Any) -> bool:
    return bool(jnp.issubdtype(array.dtype, jnp.integer))
