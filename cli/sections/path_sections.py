"""The sections of `tfg path`."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.explaining.node_paths import NodePath, PathStep
from ..render import Section, Table, Text


def path_sections(path: NodePath, everything: bool) -> Iterator[Section]:
    """Yield the verdict and the path; with `everything` the nodes of all paths in place of a shortest."""
    yield Text(path.headline())
    if everything and path.reaches:
        yield Table(("node",), [(name,) for name in (path.start, *path.between, path.end)], "nodes")
    elif path.reaches:
        yield Table(("node", "op", "reads"), [(step.name, step.op, _read(step, path)) for step in path.steps], "path")


def _read(step: PathStep, path: NodePath) -> str:
    return step.reads or ("" if step is path.steps[0] else "(waits)")
