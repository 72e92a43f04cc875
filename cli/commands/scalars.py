"""`tfg scalars`: show and extract the values of event files: scalars, histograms, pictures, sounds and texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ...core.support.file_formats import CSV, EVENT_VALUES, format_of
from ...core.support.words import counted
from .. import render
from ..main import DONE
from ..options import OutputFile, format_option, output_option, quiet_option
from ..requests import argument, command_of, option, request

if TYPE_CHECKING:
    from ...formats.recordings import EventLog, ScalarValue

_BARS: Final = "▁▂▃▄▅▆▇█"
_WIDTH: Final = 24
"""The number of characters of a curve."""


@request
class ScalarsOptions:
    """Show the scalars of the event file LOGS, or of all runs in the folder LOGS: a row and a curve for each tag.

    CSV and JSON have a row for each value. An output folder gets the histograms, pictures, sounds and texts, too. A file
    that is damaged or still being written is read up to the damage.

    \b
    tfg scalars logs/
    tfg scalars logs/ --tag loss --output losses.csv
    tfg scalars logs/ --output values/
    """

    logs: str = argument()
    tag: str = option(default="", metavar="REGEX", help="Only tags that match.")
    out: str | None = output_option(
        OutputFile(EVENT_VALUES, makes_folders=True), "Write the scalars to a .csv file, or all values to a folder."
    )
    format_: str = format_option("table", "json", "csv")
    quiet: bool = quiet_option()


def _run(options: ScalarsOptions) -> int:
    """Show or write the values of event files."""
    from ...formats.recordings import KINDS, read_events

    takes_all = options.out is not None and format_of(options.out, EVENT_VALUES) is not CSV
    log = read_events(options.logs, tag=options.tag, kinds=KINDS if takes_all else ("scalars",))
    # A run that is still training writes its file while it is read: no error.
    for tail in log.unread:
        render.note(f"'{tail.path}' is damaged or still being written after {counted(tail.events, 'event')}", options.quiet)
    if options.out is None:
        render.emit("tfg.scalars/1", log, options.format_, lambda: _sections(log, options.format_))
    else:
        log.save(options.out)
        render.note(f"wrote {log.headline()} to {options.out}", options.quiet)
    return DONE


def _sections(log: EventLog, format_: str) -> Iterator[render.Section]:
    from ...formats.recordings import SCALAR_COLUMNS, scalar_row

    if format_ == "csv":
        # A row for each value, as programs plot by themselves.
        yield render.Table(SCALAR_COLUMNS, [*map(scalar_row, log.scalars)])
        return
    tags: dict[tuple[str, str], list[ScalarValue]] = {}
    for scalar in log.scalars:
        tags.setdefault((scalar.run, scalar.tag), []).append(scalar)
    summaries = [_summary(*key, values) for key, values in tags.items()]
    columns = ("run", "tag", "count", "steps", "first", "last", "smallest", "largest", "curve")
    yield render.Table(columns, summaries, minor=("first", "smallest", "largest", "count"))
    yield render.Text(f"{counted(len(summaries), 'tag')}, {counted(len(log.scalars), 'value')}")


def _summary(run: str, tag: str, scalars: Sequence[ScalarValue]) -> tuple[object, ...]:
    import numpy as np

    # The extremes are of finite values: one NaN would hide them.
    values, steps = np.array([scalar.value for scalar in scalars]), [scalar.step for scalar in scalars]
    finite = values[np.isfinite(values)]
    extremes = (finite.min().item(), finite.max().item()) if len(finite) else (None, None)
    curve = sparkline(values.tolist())
    return run, tag, len(scalars), f"{min(steps)} to {max(steps)}", values[0].item(), values[-1].item(), *extremes, curve


def sparkline(values: Sequence[float]) -> str:
    """Return a curve of values in a few characters, each the mean of a part; a space where no value is finite."""
    import numpy as np

    scaled = np.array(values, np.float64) / (2 * len(values) or 1)  # so that no sum and no difference overflows
    parts = [part[np.isfinite(part)] for part in np.array_split(scaled, min(len(values), _WIDTH) or 1)]
    means = [part.mean().item() for part in parts if len(part)]
    low, high = min(means, default=0.0), max(means, default=0.0)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BARS[round((part.mean().item() - low) * scale)] if len(part) else " " for part in parts)


command = command_of(ScalarsOptions, _run)
