"""Every op with a FLOPs formula is held against a definition by a test file here, or listed with the reason why not.

A test file says which ops it holds: HELD exactly, ALSO_HELD exactly by a test of their own, WITHIN_A_FACTOR roughly.
"""

from __future__ import annotations

import importlib
import pathlib

from tfg.core import registry

NOT_HELD = {
    "a look-up in a hash table counts as one operation, of which arrays do nothing": (
        "Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2", "DenseToDenseSetOperation",
        "DenseToSparseSetOperation", "SparseToSparseSetOperation", "SetSize",
    ),
    "how many elements there are, only a run knows; a lower bound": ("SparseMatrixMatMul", "SparseMatrixSparseMatMul"),
}  # fmt: skip
"""Reason -> ops."""


def with_formula() -> set[str]:
    registry.load_all_families()
    ops = (op for op in registry.registered_ops() if registry.family(op))
    free = (None, registry.zero_cost, registry.uncounted_call)
    return {op for op in ops if registry.flops_function(op) not in free}


def held() -> set[str]:
    """What the tables of the files beside this one name."""
    names = sorted(path.stem for path in pathlib.Path(__file__).parent.glob("test_*.py"))
    modules = [importlib.import_module(f".{name}", __package__) for name in names if name != pathlib.Path(__file__).stem]
    tables = ("HELD", "ALSO_HELD", "WITHIN_A_FACTOR")
    return {op for module in modules for table in tables for op in getattr(module, table, ())}


def test_every_formula_is_held_or_excused():
    excused = {op for ops in NOT_HELD.values() for op in ops}
    assert with_formula() - held() == excused


def test_what_is_held_has_a_formula():
    assert held() <= with_formula()
