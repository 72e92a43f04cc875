"""Differences between the values of two models' variables."""

from __future__ import annotations

from collections.abc import Mapping

from ..types.tensors import Tensor
from .element_differences import compare
from .model_changes import VariableChange
from .node_changes import Renaming


def diff_variables(
    before: Mapping[str, Tensor], after: Mapping[str, Tensor], renaming: Renaming
) -> tuple[VariableChange, ...]:
    """Return the variables of which names, dtypes, shapes or values differ; values are read one variable at a time."""
    new_names = {name: renaming.tensor(name) for name in before}
    counterparts = set(new_names.values())
    changes = [VariableChange(name, "removed", _kind(before[name]), None) for name in before if new_names[name] not in after]
    changes += [VariableChange(name, "added", None, _kind(after[name])) for name in after if name not in counterparts]
    both = [(name, new) for name, new in new_names.items() if new in after]
    values = (_variable_change(name, new, before[name], after[new], renaming) for name, new in both)
    return (*changes, *(change for change in values if change is not None))


def _variable_change(name: str, new: str, a: Tensor, b: Tensor, renaming: Renaming) -> VariableChange | None:
    new_name = new if renaming.is_new_name(name, new) else None
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return VariableChange(name, "changed", _kind(a), _kind(b), None, new_name)
    a, b = (Tensor.from_numpy(tensor.read(), tensor.dtype) for tensor in (a, b))
    if a == b:
        return None if new_name is None else VariableChange(name, "changed", _kind(a), _kind(b), 0.0, new_name)
    return VariableChange(name, "changed", _kind(a), _kind(b), largest_difference(a, b), new_name)


def largest_difference(a: Tensor, b: Tensor) -> float | None:
    """Return the largest absolute difference of two tensors of one dtype and shape; None for texts.

    Two NaN are equal, and a NaN and a number differ by NaN.
    """
    if a.dtype.is_object:
        return None
    return compare("", 1, a.numpy(), b.numpy(), 0.0).largest_difference


def _kind(tensor: Tensor) -> str:
    return f"{tensor.dtype} ({','.join(map(str, tensor.shape))})"
