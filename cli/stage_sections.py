"""How `tfg dump --stages` shows recovered stages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..core.stages import RecoveredStage
from .render import Section, Table, Text


def stage_sections(stages: Sequence[RecoveredStage], format_: str) -> Iterator[Section]:
    """An overview, then the nodes of each stage with the evidence."""
    if format_ == "csv":
        rows = [(stage.name, node.name, node.op, node.evidence) for stage in stages for node in stage.nodes]
        yield Table(("stage", "name", "op", "evidence"), rows)
        return
    overview = [(number, stage.name, len(stage.nodes), stage.evidence) for number, stage in enumerate(stages, 1)]
    yield Table(("number", "stage", "nodes", "evidence"), overview)
    for number, stage in enumerate(stages, 1):
        title = f"stage {number}: {stage.name} ({len(stage.nodes)} nodes)"
        if format_ == "list":
            yield Text([f"{node.name} = {node.op}: {node.evidence}" for node in stage.nodes], title)
        else:
            yield Table(("name", "op", "evidence"), [(n.name, n.op, n.evidence) for n in stage.nodes], title)
