"""Output: tables and text for people, JSON and CSV for programs. The only file that imports rich, and only at a terminal.

All names and texts of graphs pass through `core.support.escaping` in this module and nowhere else.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ..core.support.errors import InvalidArgumentError
from ..core.support.escaping import is_plain, printable, printable_json
from ..core.support.escaping import printable_line as escaped_line
from ..core.support.gc_control import rare_collection
from ..core.support.json_documents import json_document
from .layout import column_widths, continued, cut, drawable, fitting_columns, terminal_width, wrapped
from .next_steps import in_commands

_MAX_WIDTH = 60
_MAX_RICH_ROWS = 500  # rich lays a longer table out for seconds


def printable_line(text: str) -> str:
    """Return a text as a line, with the words of the command line for the steps of a hint."""
    return escaped_line(in_commands(text))


class OutputSettings:
    """Whether notes and progress are dropped, when output has colours (`auto`, `always`, `never`), and the table of CSV."""

    def __init__(self) -> None:
        self.reset()

    # Called when a command ends, as tests and notebooks run several in a process.
    def reset(self) -> None:
        """Return to the defaults."""
        self.quiet = False
        self.color = "auto"
        self.table: str | None = None

    @property
    def is_rich(self) -> bool:
        """True if standard output gets tables for a terminal."""
        return self.color == "always" or (self.color == "auto" and sys.stdout.isatty())


SETTINGS = OutputSettings()


class Quantity(NamedTuple):
    """A number and the text of a table for people; CSV has the number. A polynomial of sizes is its formula in CSV."""

    value: Any
    text: str


class Table(NamedTuple):
    """Rows under column names; columns that hold only numbers stand at the right.

    CSV leaves columns without a name out; `units` are the names in CSV of columns whose own names lack the unit.

    A narrow terminal leaves columns out: empty ones, then those of `minor` in their order, then the last ones. The first
    column always stays.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    name: str = ""
    minor: tuple[str, ...] = ()
    units: Mapping[str, str] = {}

    @property
    def key(self) -> str:
        """Return the name that --table takes: the name of the table, or the title without a remark."""
        return self.name or self.title.partition(" (")[0].replace(" ", "_") or "rows"


class Text(NamedTuple):
    """A text with line feeds, or a sequence of lines; line feeds within a line of the sequence are escaped.

    A terminal breaks prose between words, and commands at a backslash as in a shell; code keeps its lines.
    """

    text: str | Sequence[str]
    title: str = ""
    form: Literal["prose", "code", "commands"] = "prose"

    def lines(self) -> list[str]:
        """The lines as they are shown."""
        return (
            printable(in_commands(self.text)).split("\n")
            if isinstance(self.text, str)
            else list(map(printable_line, self.text))
        )

    def broken(self, width: int) -> list[str]:
        """The lines as a terminal of a width shows them."""
        if self.form == "code":
            return self.lines()
        if self.form == "commands":
            return [continued(line, width) for line in self.lines()]
        indent = 0 if isinstance(self.text, str) else 2
        return [wrapped(line, width, indent) for line in self.lines()]


Section = Table | Text


def emit(schema: str, result: Any, format_: str, sections: Callable[[], Iterable[Section]]) -> None:
    """Print `result` as JSON of a schema, its sections as tables and text, or its table as CSV.

    CSV holds a single table, with a single header; CSV without a table is empty. InvalidArgumentError if several tables
    exist and --table names none of them.
    """
    if format_ == "json":
        print_json(schema, result)
    elif format_ == "csv":
        # CSV has no place for a second header, so a text or another table beside it is dropped or refused.
        table = _chosen([section for section in sections() if isinstance(section, Table)])
        if table is not None:
            places = [place for place, name in enumerate(table.columns) if name]
            columns = [table.units.get(name, name) for name in table.columns if name]
            print_csv(columns, _parts(table.rows, places))
    else:
        print_sections(sections())


def require_table(name: str) -> None:
    """Raise InvalidArgumentError if --table names another table than the only table, `name`."""
    _chosen([Table((), (), name=name)])


def _chosen(tables: Sequence[Table]) -> Table | None:
    """Return the table that --table names, or the only table; None without tables."""
    keys = [table.key for table in tables]
    if SETTINGS.table is not None:
        if SETTINGS.table not in keys:
            known = f"the tables are {', '.join(keys)}" if keys else "the command prints no table"
            raise InvalidArgumentError(f"unknown table '{SETTINGS.table}'", hint=known)
        return tables[keys.index(SETTINGS.table)]
    if len(tables) > 1:
        problem = f"CSV holds a single table, but the command prints {len(tables)}: {', '.join(keys)}"
        raise InvalidArgumentError(problem, hint=f"choose a table, e.g. --table {keys[0]}, or print all with --format json")
    return next(iter(tables), None)


@contextlib.contextmanager
def beside(output: str | None) -> Iterator[None]:
    """Redirect standard output to standard error if `output` sends a graph to standard output."""
    with contextlib.redirect_stdout(sys.stderr) if output == "-" else contextlib.nullcontext():
        yield


def print_json(schema: str, result: Any) -> None:
    """Print a result, a dataclass or a mapping, as a JSON object; the first key is the name of the schema."""
    import json

    # JSON's escapes are right everywhere; where the stream knows Unicode, names stay readable.
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    document = json_document(schema, result, in_commands)
    sys.stdout.write(printable_json(json.dumps(document, indent=2, ensure_ascii=not is_unicode)) + "\n")


def print_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows as CSV with a header."""
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    # Names as those of JSON, so that a program can use both.
    writer.writerow([column.lower().replace(" ", "_") for column in columns])
    writer.writerows([cell(value.value if isinstance(value, Quantity) else value) for value in row] for row in rows)


@rare_collection()
def print_sections(sections: Iterable[Section]) -> None:
    """Print tables and text: with rich at a terminal, plainly aligned elsewhere."""
    if SETTINGS.is_rich:
        _print_rich(sections)
    else:
        sys.stdout.writelines(f"{line}\n" for line in plain_text(sections))


def plain_text(sections: Iterable[Section]) -> Iterator[str]:
    """Yield the lines of sections without colours or boxes, with an empty line between sections."""
    for number, section in enumerate(sections):
        if number:
            yield ""
        yield from _plain_lines(section)


def print_text(text: str) -> None:
    """Print text of several lines, ending in a newline."""
    sys.stdout.write(printable(text if not text or text.endswith("\n") else f"{text}\n"))


def place(path: str | None) -> str:
    """Where a command writes to, in words."""
    return "standard output" if path in (None, "-") else str(path)


def note(message: str, quiet: bool = False) -> None:
    """A remark on standard error."""
    if not (quiet or SETTINGS.quiet):
        print(wrapped(printable_line(message), terminal_width(sys.stderr)), file=sys.stderr)


def noting(quiet: bool) -> Callable[[str], None]:
    """Return the function that prints a remark, or with `quiet` none."""
    return functools.partial(note, quiet=quiet)


def print_drawing(text: str) -> None:
    """Print a picture of lines and boxes: in ASCII where standard output cannot write these."""
    print_lines(drawable(text, sys.stdout).splitlines())


def plot(values: Sequence[float], width: int = 60, height: int = 8) -> str:
    """A line of numbers as rows of blocks, the largest at the top; not-finite numbers leave a gap.

    The blocks are those that standard output can write.
    """
    import math

    columns = [values[i * len(values) // width] for i in range(width)] if len(values) > width else list(values)
    finite = [value for value in columns if math.isfinite(value)]
    # A flat line, or none, gets the scale 0 instead of a division by 0.
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    scale = height / (high - low) if high > low else 0.0
    levels = [(value - low) * scale if math.isfinite(value) else -1 for value in columns]
    rows = ["".join("\u2588" if level >= row else " " for level in levels) for row in range(height)]
    labels = [f"{high:.4g}", *[""] * (height - 2), f"{low:.4g}"]
    margin = max(map(len, labels))
    chart = "\n".join(f"{label:>{margin}} {row}".rstrip() for label, row in zip(labels, reversed(rows)))
    return drawable(chart, sys.stdout)


class ProgressBar:
    """A bar on standard error, at a terminal and once the work has taken over a second."""

    def __init__(self, label: str, total: int, quiet: bool = False) -> None:
        self._label = label
        self._total = total
        # A log of a pipeline would get a line for each redraw.
        self._hidden = quiet or SETTINGS.quiet or total < 2 or not sys.stderr.isatty()
        self._started = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, done: int, remark: str = "") -> None:
        """Show that `done` of all parts are done."""
        if self._hidden:
            return
        if self._bar is None and time.monotonic() - self._started > 1:
            self._bar = _progress_bar()
            self._task = self._bar.add_task(self._label, total=self._total)
        if self._bar is not None:
            self._bar.update(self._task, completed=done, description=f"{self._label} {done}/{self._total} {remark}")
            self._bar.start()  # once there is something to show


class Working:
    """A progress line for long work: on standard error, at a terminal, after a second."""

    def __init__(self, label: str, quiet: bool = False) -> None:
        self._label = label
        self._hidden = quiet or SETTINGS.quiet or not sys.stderr.isatty()
        self._shown: Any = None
        self._task: Any = None
        self._is_over = False
        # The timer may show the line at the very moment at which the work ends. Under the lock it either sees that the work
        # is over, or has shown the line by the time `__exit__` looks.
        self._showing = threading.Lock()

    def __enter__(self) -> Working:
        if not self._hidden:
            self._timer = threading.Timer(1, self._show)
            # Otherwise an error on the way out of the block would make the process wait for the timer.
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._hidden:
            return
        self._timer.cancel()
        with self._showing:
            self._is_over = True
            if self._shown is not None:
                self._shown.stop()

    def update(self, remark: str) -> None:
        """Show a remark in the progress line."""
        if self._shown is not None:
            self._shown.update(self._task, description=f"{self._label}: {printable_line(remark)}")

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as RichProgress
        from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
        with self._showing:
            if self._is_over:
                return
            shown = RichProgress(*columns, console=Console(stderr=True), transient=True)
            self._task = shown.add_task(printable_line(self._label), total=None)
            shown.start()
            self._shown = shown


def _progress_bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn()
    return RichProgress(*columns, console=Console(stderr=True), transient=True)


def _plain_lines(section: Section) -> list[str]:
    head = [printable_line(section.title)] if section.title else []
    if isinstance(section, Text):
        return head + section.lines()
    values = [[row[place] for row in section.rows] for place in range(len(section.columns))]
    columns, right = list(map(_cells, values)), list(map(_is_numeric, values))
    widths = [min(max(map(len, (name, *cells))), _MAX_WIDTH) for name, cells in zip(section.columns, columns)]
    pattern = _pattern(widths, right)
    lines = [(pattern % tuple(section.columns)).rstrip(), "  ".join("-" * width for width in widths)]
    joined = [pattern % cells for cells in zip(*columns)]
    return head + lines + (joined if right and right[-1] else list(map(str.rstrip, joined)))


def _cells(values: Sequence[Any]) -> Sequence[str]:
    """Return the cells of a column or a row; of plain names, as most are, all are looked at in one piece."""
    kinds = set(map(type, values))
    if kinds == {str} and is_plain("".join(values)):
        return values
    if kinds == {int}:
        return list(map(str, values))
    return list(map(cell, values))


def print_rows(columns: Sequence[str], rows: Iterator[Sequence[Any]]) -> None:
    """Print the rows of a long table as they come; the first rows set the widths of columns.

    A terminal shows the columns for which it has room, and cuts longer lines.
    """
    # The rows may be millions and come from a file that is being read: the widths of the first ones have to do.
    first = list(itertools.islice(rows, _MAX_RICH_ROWS))
    cells: list[Sequence[str]] = [[cell(value) for value in row] for row in first]
    width = terminal_width(sys.stdout)
    if width is not None:
        shown = fitting_columns([list(column) for column in zip(columns, *cells, strict=True)], (), width)
        (columns,), first, cells = _parts([columns], shown), list(_parts(first, shown)), list(_parts(cells, shown))
        rows = _parts(rows, shown)
    head = Table(tuple(columns), first)
    print_lines(cut(_plain_lines(head), width, sys.stdout))
    widths = [min(max(map(len, column)), _MAX_WIDTH) for column in zip(columns, *cells)]
    pattern = _pattern(widths, _numeric_columns(head))
    print_lines(cut(((pattern % tuple(_cells(row))).rstrip() for row in rows), width, sys.stdout))


def _parts(rows: Iterable[Sequence[Any]], places: Sequence[int]) -> Iterator[Sequence[Any]]:
    return ([row[place] for place in places] for row in rows)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines; line feeds within a line are escaped."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def _pattern(widths: Sequence[int], right: Sequence[bool]) -> str:
    """Return the `%` pattern of cells side by side; a cell wider than its column shifts the rest of the line."""
    return "  ".join(f"%{width}s" if is_right else f"%-{width}s" for width, is_right in zip(widths, right))


def _numeric_columns(table: Table) -> list[bool]:
    return list(map(_is_numeric, zip(*table.rows))) or [False] * len(table.columns)


def _is_numeric(values: Sequence[Any]) -> bool:
    return bool(values) and set(map(type, values)) <= {int, float}


def cell(value: Any) -> str:
    """Return the text of a value in a table."""
    # Most cells are texts and integers. An integer is asked for by its class, since a bool is an int too.
    if isinstance(value, str):
        return printable_line(value)
    if type(value) is int:
        return str(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Quantity):
        return value.text
    if isinstance(value, (tuple, list)):
        return ", ".join(map(cell, value))
    return printable_line(str(value))


def _print_rich(sections: Iterable[Section]) -> None:
    console = rich_console()
    for number, section in enumerate(sections):
        if number:
            console.print()
        if section.title:
            console.print(wrapped(printable_line(section.title), console.width), style="bold", markup=False)
        if isinstance(section, Text):
            console.print("\n".join(section.broken(console.width)), markup=False, soft_wrap=True)
        else:
            _print_table(console, section)


def _print_table(console: Any, table: Table) -> None:
    """Print a table without the columns for which the terminal has no room, and the names of these."""
    columns = [list(column) for column in zip(table.columns, *(map(cell, row) for row in table.rows), strict=True)]
    shown = fitting_columns(columns, [table.columns.index(name) for name in table.minor], console.width)
    if len(table.rows) > _MAX_RICH_ROWS:
        part = Table(tuple(table.columns[place] for place in shown), list(_parts(table.rows, shown)))
        print_lines(cut(_plain_lines(part), console.width, sys.stdout))
    else:
        are_numbers = _numeric_columns(table)
        console.print(_rich_table([columns[place] for place in shown], [are_numbers[place] for place in shown], console.width))
    left_out = [column[0] for place, column in enumerate(columns) if place not in shown and column[0] and any(column[1:])]
    if left_out:
        remark = f"left out at {console.width} columns: {', '.join(left_out)}; a wider terminal shows all"
        console.print(wrapped(remark, console.width), markup=False, soft_wrap=True)


def rich_console(**options: Any) -> Any:
    """A rich console on standard output."""
    from rich.console import Console

    # rich looks at the stream and at NO_COLOR by itself; `always` overrules both.
    forced = {"force_terminal": True, "no_color": False} if SETTINGS.color == "always" else {}
    return Console(**{"highlight": False, **forced, **options})


def _rich_table(columns: Sequence[Sequence[str]], are_numbers: Sequence[bool], width: int) -> Any:
    """Return a table of rich; each column is a sequence of the name and the cells."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text as RichText

    shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for (name, *_), is_right, room in zip(columns, are_numbers, column_widths(columns, width), strict=True):
        # Folded and not cut: a name that ends in an ellipsis cannot be copied.
        shown.add_column(name, justify="right" if is_right else "left", overflow="fold", width=room)
    for row in zip(*(cells[1:] for cells in columns), strict=True):
        shown.add_row(*map(RichText, row))
    return shown
