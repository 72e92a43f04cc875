"""Every op with a FLOPs formula is held against numbers in its cases or a definition here, or listed with the reason why not.

Cases hold a formula by `flops=...`, two numbers at least. A test file says which ops it holds: HELD exactly against a
definition, ALSO_HELD exactly by a test of their own, WITHIN_A_FACTOR roughly.
"""

from __future__ import annotations

import collections
import importlib
import pathlib

from tests import opcases
from tests.recorded_answers import answers
from tfg.core.registry import registry

NOT_HELD = {
    "how many elements there are, only a run knows; a lower bound": ("SparseMatrixMatMul", "SparseMatrixSparseMatMul"),
    "the trees, only a run knows": ("BoostedTreesPredict", "BoostedTreesExampleDebugOutputs"),
    "TensorFlow has no kernel; tests/core/ops/test_boosted_trees.py counts": ("BoostedTreesBucketize",),
}  # fmt: skip
"""Reason -> ops."""


def with_formula() -> set[str]:
    registry.load_all_families()
    ops = (op for op in registry.registered_ops() if registry.family(op))
    free = (None, registry.zero_cost, registry.uncounted_call, registry.uncounted_program)
    return {op for op in ops if registry.flops_function(op) not in free}


def held_by_tables() -> collections.Counter[str]:
    """How many of the files beside this one name each op in a table."""
    names = sorted(path.stem for path in pathlib.Path(__file__).parent.glob("test_*.py"))
    modules = [importlib.import_module(f".{name}", __package__) for name in names if name != pathlib.Path(__file__).stem]
    tables = ("HELD", "ALSO_HELD", "WITHIN_A_FACTOR")
    return collections.Counter(
        op for module in modules for op in {op for table in tables for op in getattr(module, table, ())}
    )


def held_by_cases() -> set[str]:
    """Ops of which two cases at least expect different numbers of FLOPs."""
    numbers = collections.defaultdict(set)
    for family in opcases.families():
        for case in opcases.load_cases(family):
            if case.flops is not None and not answers(family).steps(case.key)[0]["error"]:
                numbers[case.op].add(case.flops)
    return {op for op, result in numbers.items() if len(result) > 1}


def test_every_formula_is_held_or_excused():
    excused = {op for ops in NOT_HELD.values() for op in ops}
    assert with_formula() - held_by_cases() - held_by_tables().keys() == excused


def test_one_file_holds_a_formula():
    """What an op's own program shows needs no definition beside it."""
    assert [op for op, files in held_by_tables().items() if files > 1] == []


def test_what_is_held_has_a_formula():
    assert held_by_cases() | held_by_tables().keys() <= with_formula()
