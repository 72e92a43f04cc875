"""How `tfg ops` shows lists, details and counts of ops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...core.support.words import counted
from ..render import Section, Table, Text

if TYPE_CHECKING:
    from ...core.flops.formulas import Formula
    from ...core.op_libraries.op_listing import FamilyCoverage, Location, MissingFor, OpDetail, OpSummary


def list_sections(ops: Sequence[OpSummary]) -> Iterator[Section]:
    rows = [(op.name, op.family, op.kernel, ", ".join(op.inputs), ", ".join(op.outputs), ", ".join(op.flags)) for op in ops]
    yield Table(("op", "family", "kernel", "inputs", "outputs", "flags"), rows)
    yield Text(f"{counted(len(ops), 'op')}, {sum(op.kernel for op in ops)} with kernels")


def detail_tables(ops: Sequence[OpDetail]) -> Iterator[Table]:
    """Yield the tables of several ops, each with a column for the op."""
    tables = [(op, section) for op in ops for section in detail_sections(op) if isinstance(section, Table)]
    for name in dict.fromkeys(table.name for _, table in tables):
        alike = [(op, table) for op, table in tables if table.name == name]
        columns = ("op", *(column or "part" for column in alike[0][1].columns))
        yield Table(columns, [(op.name, *row) for op, table in alike for row in table.rows], name=name)


def detail_sections(op: OpDetail) -> Iterator[Section]:
    """Yield the interface, kernels and decisions of an op."""
    lines = [f"{op.name}({_joined(op.inputs)}) -> ({_joined(op.outputs)})", f"declared by {op.declared_by}"]
    if op.flags:
        lines.append(f"flags: {', '.join(op.flags)}")
    if op.doc:
        lines += ["", *op.doc.split("\n")]
    yield Text(lines)
    if op.attrs:
        rows = [(attr.name, attr.type, attr.default, _minimum(attr.minimum), ", ".join(attr.allowed)) for attr in op.attrs]
        yield Table(("attribute", "type", "default", "minimum", "allowed"), rows, name="attributes")
    if op.kernels:
        kernels = [(_dtypes(k.dtypes) or _any_dtype(op), k.engine, k.stateful, str(k.location)) for k in op.kernels]
        yield Table(("kernel for", "engine", "state", "function"), kernels, name="kernels")
    else:
        yield Text("no kernel: --op-library can supply one, --map-op can read the op as another")
    decisions = [("shape function", _decision(op.shape)), ("gradient", _decision(op.gradient)), ("FLOPs", _decision(op.flops))]
    decisions += [
        (world, "no separate lowering" if place is None else str(place))
        for world, place in (("XLA", op.xla), ("ONNX", op.onnx))
    ]
    yield Table(("", "function"), [*decisions, *((name, meaning) for name, meaning in op.facts.items())], name="facts")


def _minimum(minimum: int | None) -> str:
    return "" if minimum is None else f">= {minimum}"


def _joined(args: Sequence[object]) -> str:
    return ", ".join(f"{arg.name}: {arg.type}" for arg in args)  # type: ignore[attr-defined]


def _any_dtype(op: OpDetail) -> str:
    """Return the dtypes of a kernel without declared dtypes: the dtypes of TensorFlow's kernels."""
    return "; or ".join(map(_dtypes, op.tensorflow_dtypes)) or "any"


def _dtypes(allowed: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{name}: {', '.join(types)}" for name, types in allowed.items())


def _decision(decision: Location | str | None) -> str:
    return "missing" if decision is None else str(decision)


def coverage_sections(rows: Sequence[FamilyCoverage], total: FamilyCoverage) -> Iterator[Section]:
    columns = ("family", "ops", "kernels", "shapes", "gradients", "not differentiable", "flops")
    yield Table(columns, [_counts(row) for row in (*rows, total)])


def _counts(row: FamilyCoverage) -> tuple[str | int, ...]:
    return row.family, row.ops, row.kernels, row.shapes, row.gradients, row.not_differentiable, row.flops


def formula_sections(formulas: Sequence[Formula]) -> Iterator[Section]:
    """A row for the ops of a family that share a formula."""
    rows = [(", ".join(f.ops), f.flops, f.counted, f.family) for f in formulas]
    yield Table(("ops", "FLOPs", "counted operations", "family"), rows)


def missing_sections(missing: Sequence[MissingFor], format_: str) -> Iterator[Section]:
    if not missing and format_ != "csv":
        yield Text("tfg supports every op of this graph fully")
        return
    rows = [(row.op, row.count, ", ".join(row.missing), row.reason, row.nodes[0]) for row in missing]
    yield Table(("op", "nodes", "missing", "reason", "first node"), rows)
