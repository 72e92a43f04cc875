"""`tfg cache`: list or remove the choices of engines and the compiled programs that later runs use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.support.words import counted
from .. import render
from ..main import DONE
from ..options import format_option
from ..requests import command_of, option, request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...core.engines.remembered_choices import CacheReport


@request
class CacheOptions:
    """List the choices of --engine auto, and the size of the programs that XLA compiled.

    A later run of the same graph goes to the fastest way at once. The environment variable TFG_CACHE names the folder;
    TFG_CACHE=none caches nothing.

    \b
    tfg cache
    tfg cache --clear
    """

    # No single choice can be removed, as the cache fills again by itself.
    clear: bool = option(help="Remove the listed choices and programs.")
    format_: str = format_option("table", "json", "csv")


def _run(options: CacheOptions) -> int:
    """List the cache, and empty it if the options ask for that."""
    # --help and the Tab key import this file, and do without the engines.
    from ...core.engines.remembered_choices import describe_cache

    report = describe_cache(clear=options.clear)
    render.emit("tfg.cache/1", report, options.format_, lambda: list(_sections(report)))
    return DONE


def _sections(report: CacheReport) -> Iterator[render.Section]:
    # Each choice has tried the engines that were installed at its time.
    ways = list(dict.fromkeys(way for choice in report.choices for way in choice.seconds))
    columns = ("fetches", "shapes of feeds", "kept", *(f"{way} ms" for way in ways), "untried")
    rows = [
        (c.fetches, c.shapes, c.kept, *(_milliseconds(c.seconds.get(way)) for way in ways), ", ".join(c.untried))
        for c in report.choices
    ]
    if rows:
        yield render.Table(columns, rows, "choices of --engine auto")
    yield render.Text(_summary(report))


def _milliseconds(seconds: float | None) -> render.Quantity:
    return render.Quantity(None, "") if seconds is None else render.Quantity(1e3 * seconds, f"{1e3 * seconds:.3f}")


def _summary(report: CacheReport) -> str:
    if report.folder is None:
        return "nothing is cached"
    parts = [counted(len(report.choices), "choice")]
    parts += [counted(report.damaged, "damaged choice")] * bool(report.damaged)
    parts.append(f"{counted(report.programs, 'file')} of XLA of {report.program_bytes / 2**20:.1f} MiB")
    return f"{'removed ' if report.is_cleared else ''}{', '.join(parts)} in {report.folder}"


command = command_of(CacheOptions, _run)
