"""`tfg checkpoint`: list, extract or compare the tensors of a checkpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from ..core.errors import InvalidArgumentError
from ..core.words import counted
from . import render
from .main import COMPARISON_FAILED, DONE
from .options import format_option, quiet_option

if TYPE_CHECKING:
    from .checkpoint_job import StateComparison, TensorRow


@click.command()
@click.argument("prefix")
@click.option("--name", default="", metavar="REGEX", help="Only tensors in whose name this is found.")
@click.option("--extract", "out", metavar="FILE", help="Write the tensors to an .npz file or a checkpoint.")
@click.option("--compare", "other", metavar="PREFIX", help="Compare with another checkpoint or state file.")
@click.option("--atol", type=float, default=0.0, show_default=True, help="Absolute difference that --compare allows.")
@click.option("--rtol", type=float, default=0.0, show_default=True, help="Relative difference that --compare allows.")
@format_option("table", "json", "csv")
@quiet_option
def command(
    prefix: str, name: str, out: str | None, other: str | None, atol: float, rtol: float, format_: str, quiet: bool
) -> int:
    """List the tensors of the checkpoint PREFIX (or of an .npz state file): names, dtypes, shapes, bytes.

    \b
    tfg checkpoint model.ckpt-1000
    tfg checkpoint model.ckpt-1000 --name kernel --extract kernels.npz
    tfg checkpoint model.ckpt-1000 --compare model.ckpt-2000
    """
    from .checkpoint_job import compare_states, extract, list_state

    if out is not None and other is not None:
        raise InvalidArgumentError("--extract and --compare are two different things: give one")
    if other is not None:
        compared = compare_states(prefix, other, name, atol, rtol)
        render.emit(compared, format_, lambda: _comparison(compared))
        return DONE if compared.equal else COMPARISON_FAILED
    if out is not None:
        render.note(f"wrote {counted(extract(prefix, out, name), 'tensor')} to {out}", quiet)
        return DONE
    rows = list_state(prefix, name)
    render.emit({"checkpoint": prefix, "tensors": rows}, format_, lambda: _listing(rows))
    return DONE


def _listing(rows: Sequence[TensorRow]) -> Iterator[render.Section]:
    yield render.Table(("name", "dtype", "shape", "bytes"), [(r.name, r.dtype, _shape(r.shape), r.bytes) for r in rows])
    yield render.Text(f"{counted(len(rows), 'tensor')}, {counted(sum(row.bytes for row in rows), 'byte')}")


def _comparison(result: StateComparison) -> Iterator[render.Section]:
    rows = [(row.name, row.status, row.largest_difference, row.detail) for row in result.tensors]
    yield render.Table(("name", "status", "largest difference", "detail"), rows)
    statuses = Counter(row.status for row in result.tensors)
    found = ", ".join(f"{count:,} {status}" for status, count in statuses.items())
    yield render.Text(f"{counted(len(rows), 'tensor')}: {found}" if rows else "no tensors")


def _shape(shape: tuple[int, ...]) -> str:
    return f"({','.join(map(str, shape))})"
