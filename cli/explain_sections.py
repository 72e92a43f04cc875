"""How `tfg explain` shows what it found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..core.explaining.graphs import GraphFacts, MissingOp, facts_without_detail
from ..core.explaining.nodes import NodeFacts
from ..core.metagraph import Signature
from .render import Section, Table, Text

if TYPE_CHECKING:
    from ..core.explaining.race_report import RunRaces
    from ..core.passes.outcomes import NodeFate

_MAX_ROWS = 30


def graph_sections(facts: GraphFacts) -> Iterator[Section]:
    """The whole graph, from numbers to the next commands."""
    shown = {name: value for name, value in facts_without_detail(facts).items() if value not in ("", None)}
    yield Table(("fact", "value"), [(name, str(value)) for name, value in shown.items()])
    for title, tensors in (("inputs", facts.inputs), ("outputs", facts.outputs)):
        if tensors:
            yield _cut(("name", "op", "dtype", "shape"), [(t.name, t.op, t.dtype, t.shape) for t in tensors], title)
    if facts.variables:
        columns = ("name", "kind", "dtype", "shape", "initializer", "slot of")
        rows = [(v.name, v.kind, v.dtype, v.shape, v.initializer, v.slot_of) for v in facts.variables]
        yield _cut(columns, rows, "variables")
    for signature in facts.signatures:
        yield _signature_table(signature)
    if facts.functions:
        called = [(f.name, f.nodes, ", ".join(f.callers[:3])) for f in facts.functions]
        yield _cut(("function", "nodes", "called by"), called, "functions")
    yield _cut(("op", "count", "kernel"), [(op.op, op.count, op.kernel) for op in facts.ops], "ops")
    if facts.missing:
        names = ", ".join(f"{op.op} ({op.count})" for op in facts.missing)
        yield Text((names, "--missing says what they are"), "ops without a kernel")
    if facts.conflicts:
        yield Text(facts.conflicts, "colocated nodes on different devices")
    yield Text(facts.next_commands, "next")


def _cut(columns: tuple[str, ...], rows: Sequence[tuple[object, ...]], title: str) -> Table:
    """At most 30 rows; the title tells how many there are."""
    if len(rows) > _MAX_ROWS:
        title = f"{title} (the first {_MAX_ROWS} of {len(rows)}; --format json has all)"
    return Table(columns, rows[:_MAX_ROWS], title)


def _signature_table(signature: Signature) -> Table:
    rows = [("input", key, info.tensor, info.dtype, info.shape) for key, info in signature.inputs.items()]
    rows += [("output", key, info.tensor, info.dtype, info.shape) for key, info in signature.outputs.items()]
    return Table(("kind", "argument", "tensor", "dtype", "shape"), rows, f"signature {signature.name}")


def race_sections(runs: Sequence[RunRaces]) -> Iterator[Section]:
    """The races of each run that has any."""
    for run in runs:
        if run.races:
            lines = [f"in function '{race.function}': {race.words}" if race.function else race.words for race in run.races]
            yield Text("\n".join(lines), f"races of {', '.join(run.fetches)}")
    if not any(run.races for run in runs):
        names = [name for run in runs for name in run.fetches]
        more = f" and {len(names) - _MAX_ROWS} more" if len(names) > _MAX_ROWS else ""
        yield Text(f"no races in {', '.join(names[:_MAX_ROWS])}{more}" if names else "no races: nothing writes or draws")


def fate_sections(fates: Sequence[NodeFate]) -> Iterator[Section]:
    """What became of nodes."""
    yield Table(("node", "op", "op after", "what became of it"), [(f.name, f.op, f.op_after or "", f.fate) for f in fates])
    refused = [(fate.name, reason) for fate in fates for reason in fate.refused]
    if refused:
        yield Table(("node", "not done, and why"), refused)


def missing_sections(missing: Sequence[MissingOp], graph: str) -> Iterator[Section]:
    """Ops that cannot run, and how to read them as others."""
    if not missing:
        yield Text("every op of the graph has a kernel")
        return
    rows = [(op.op, op.count, op.known, op.reason, op.nodes[0]) for op in missing]
    yield Table(("op", "count", "in TensorFlow", "what it is", "first node"), rows, "ops without a kernel")
    maps = [f"--map-op {op.op}={op.map_to}" for op in missing if op.map_to]
    if maps:
        yield Text(f"tfg explain {graph} {' '.join(maps)}", "read them as ops that tfg knows, in this and every other command")


def node_sections(nodes: Sequence[NodeFacts]) -> Iterator[Section]:
    """Each node: a paragraph, then what it waits for, where it lives, who takes its values."""
    for facts in nodes:
        yield Text(list(_node_lines(facts)), f"{facts.node.name} ({facts.node.op})")


def _node_lines(facts: NodeFacts) -> Iterator[str]:
    yield f"  {facts.role}"
    yield f"  stage: {facts.stage} ({facts.evidence})"
    if facts.function is not None:
        yield f"  in function {facts.function}, called by {', '.join(facts.callers) or 'nobody'}"
    if facts.node.outputs:
        yield f"  outputs: {', '.join(map(str, facts.node.outputs))}"
    if facts.node.inputs:
        yield f"  inputs: {', '.join(facts.node.inputs)}"
    for control in facts.control_inputs:
        yield f"  ^{control.name}: {control.meaning}"
    yield from _placement_lines(facts)
    yield f"  consumers: {_consumers(facts)}"
    if facts.fetch is not None:
        why = " -> ".join(facts.fetch.path) if facts.fetch.runs else "it does not run"
        yield f"  fetch {facts.fetch.fetch}: {why}"


def _placement_lines(facts: NodeFacts) -> Iterator[str]:
    if facts.loc_chain:
        yield f"  colocated: loc:@{' -> loc:@'.join(facts.loc_chain)}"
    group = facts.colocation
    if group is not None:
        where = group.device or "no device asked for, so any one will do"
        yield f"  colocation group of {len(group.members)} ({', '.join(group.members[:5])}): {where}"
        for conflict in group.conflicts:
            yield f"  conflict: {conflict}"
        for name in group.missing:
            yield f"  loc:@{name} names a node that the graph does not have"
    elif facts.node.device:
        yield f"  device: {facts.node.device}"


def _consumers(facts: NodeFacts) -> str:
    shown = [c.name if c.tensor is not None else f"{c.name} (waits for it)" for c in facts.consumers[:8]]
    more = len(facts.consumers) - len(shown)
    return (", ".join(shown) or "none") + (f" and {more} more" if more > 0 else "")
