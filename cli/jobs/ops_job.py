"""Implementation of `tfg ops`: lists, details and counts of ops, and wrappers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from ...core.support.words import counted
from .. import render
from ..commands.ops import OpsOptions
from ..render import Section, Table, Text

if TYPE_CHECKING:
    from ...core.flops.formulas import Formula
    from ...core.op_libraries.op_listing import FamilyCoverage, Location, MissingFor, OpDetail, OpSummary


def run(options: OpsOptions) -> None:
    """List or describe ops, or write wrappers for them."""
    from ...core.op_libraries.op_listing import missing_parts, op_coverage

    names, format_ = options.names, options.format_
    if options.missing is not None and names:
        raise click.UsageError("--missing lists the ops of GRAPH: leave out NAME")
    if options.missing is not None:
        missing = missing_parts(options.reader.load(options.missing))
        render.emit("tfg.ops.missing/1", {"missing": missing}, format_, lambda: missing_sections(missing, format_))
        return
    # Before any list, which has the ops of libraries too; --missing loads them with its graph.
    options.reader.load_libraries()
    if options.wrap and not (names or options.family or options.custom or options.missing_kernel):
        raise click.UsageError("--wrap writes a wrapper for each chosen op: name ops, or give --family or --custom")
    if options.coverage and names:
        raise click.UsageError("--coverage counts all ops by family: leave out NAME")
    if options.coverage:
        coverage = op_coverage()
        render.emit("tfg.ops.coverage/1", coverage, format_, lambda: coverage_sections(coverage.families, coverage.total))
    elif options.flops:
        from ...core.flops.formulas import flops_formulas

        formulas = flops_formulas([op.name for op in _selected(options)])
        render.emit("tfg.ops.formulas/1", {"formulas": formulas}, format_, lambda: formula_sections(formulas))
    elif options.wrap:
        _wrap(_selected(options), options.output, options.quiet)
    else:
        _list(options)


def _list(options: OpsOptions) -> None:
    """Print details of ops that are named, or a list of the ops that the expressions and filters choose."""
    from ...core.op_libraries.op_listing import OpDetail, OpSummary, is_declared, ops

    names, format_ = options.names, options.format_
    if names and all(map(is_declared, names)):
        listed = ops(*names)
    else:
        listed = ops(*names, family=options.family, missing_kernel=options.missing_kernel, custom=options.custom)
    details = [op for op in listed if isinstance(op, OpDetail)]
    summaries = [op for op in listed if isinstance(op, OpSummary)]
    if not details:
        render.emit("tfg.ops/1", {"ops": summaries}, format_, lambda: list_sections(summaries))
        return
    if format_ == "csv":
        sections: Iterator[render.Section] = detail_tables(details)
    else:
        sections = (section for detail in details for section in detail_sections(detail))
    render.emit("tfg.ops.details/1", {"ops": details}, format_, lambda: sections)


def _selected(options: OpsOptions) -> Any:
    """Return the ops that match the names or expressions and the filters; NotFoundError for a name without a match."""
    from ...core.op_libraries.op_listing import select_ops

    return select_ops(options.names, options.family, options.missing_kernel, options.custom)


def _wrap(ops: Sequence[Any], target: str, quiet: bool) -> None:
    from ...core.op_libraries.wrappers import write_wrappers
    from ...formats.codecs.source import write_file

    text = write_wrappers([op.name for op in ops])
    if target == "-":
        render.print_text(text)
    else:
        write_file(target, [text.encode()])
        render.note(f"wrote wrappers of {counted(len(ops), 'op')} to {target}", quiet)


def list_sections(ops: Sequence[OpSummary]) -> Iterator[Section]:
    rows = [(op.name, op.family, op.kernel, ", ".join(op.inputs), ", ".join(op.outputs), ", ".join(op.flags)) for op in ops]
    yield Table(("op", "family", "kernel", "inputs", "outputs", "flags"), rows)
    yield Text(f"{counted(len(ops), 'op')}, {sum(op.kernel for op in ops)} with kernels")


def detail_tables(ops: Sequence[OpDetail]) -> Iterator[Table]:
    """Yield the tables of several ops, each with a column for the op."""
    tables = [(op, section) for op in ops for section in detail_sections(op) if isinstance(section, Table)]
    for name in dict.fromkeys(table.name for _, table in tables):
        # CSV has one table: the attributes of all ops in one, the kernels in another.
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
        # A kernel without declared dtypes takes those of TensorFlow's kernels.
        others = "; or ".join(map(_dtypes, op.tensorflow_dtypes)) or "any"
        kernels = [(_dtypes(k.dtypes) or others, k.engine, k.stateful, str(k.location)) for k in op.kernels]
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


def _dtypes(allowed: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{name}: {', '.join(types)}" for name, types in allowed.items())


def _decision(decision: Location | str | None) -> str:
    return "missing" if decision is None else str(decision)


def coverage_sections(rows: Sequence[FamilyCoverage], total: FamilyCoverage) -> Iterator[Section]:
    parts = ("family", "ops", "kernels", "shapes", "gradients", "not_differentiable", "flops")
    counts = [tuple(getattr(row, part) for part in parts) for row in (*rows, total)]
    yield Table(tuple(part.replace("_", " ") for part in parts), counts)


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
