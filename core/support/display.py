"""The base classes of objects that show themselves in notebooks, and of reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from .errors import InvalidArgumentError

_Row = TypeVar("_Row")


class Display(Protocol):
    """Objects as HTML; the package provides the implementation."""

    def html(self, value: Any) -> str | None:
        """Return a fragment of HTML without scripts, or None if the plain text says all."""
        ...

    def svg(self, value: Any) -> str | None:
        """Return a picture, or None for a graph too large for a glance and if no layout program is installed."""
        ...

    def page(self, graph: Any, fetches: Sequence[str] | str, flops: bool, height: int) -> Displayed:
        """Return a page that a notebook shows in a frame."""
        ...


# A list of one at most, since core knows no HTML and the rooms that do are above it.
_loaders: list[Callable[[], Display]] = []


def provide_display(load: Callable[[], Display]) -> None:
    """Set the function that loads the display; the package calls it at the first display in a notebook."""
    _loaders[:] = [load]


class Displayed:
    """An object with a table in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return _loaders[0]().html(self) if _loaders else None


class Pictured(Displayed):
    """A graph: a table in a notebook, a picture if the graph is small, and a page to look through."""

    __slots__ = ()

    def view(self, fetches: Sequence[str] | str = (), *, flops: bool = True, height: int = 600) -> Displayed:
        """Return the page of `tfg.view`, which a notebook shows in a frame of `height` pixels."""
        return _loaders[0]().page(self, fetches, flops, height)

    def _repr_svg_(self) -> str | None:
        return _loaders[0]().svg(self) if _loaders else None


class Report(Displayed):
    """A result as a frozen dataclass: a short `repr`, a table in a notebook, and records for data frames.

    A field with a tuple of dataclasses is a table.
    """

    __slots__ = ()

    main_table: ClassVar[str]
    """The field that `to_records` returns by default."""

    def __init_subclass__(cls, main_table: str = "") -> None:
        # A class with slots is made a second time, without its arguments and with its attributes.
        if main_table:
            cls.main_table = main_table

    def headline(self) -> str:
        """Return the result in a few words."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.headline()}>"

    def to_records(self, table: str | None = None) -> list[dict[str, Any]]:
        """Return the rows of a table as dictionaries of plain values, for `pandas.DataFrame` and `polars.DataFrame`.

        `table` names a field of the report with a tuple of dataclasses. The fields of a nested dataclass are
        columns too, called `field_inner` if the row has a field `inner`. Shapes, dtypes and symbolic numbers are text.
        InvalidArgumentError for a name without a table.
        """
        name = self.main_table if table is None else table
        rows = getattr(self, name, None) if isinstance(name, str) else None
        # A name may be that of a method, or of a field that is a number.
        if not isinstance(rows, tuple):
            tables = ", ".join(field for field in self.__dataclass_fields__ if isinstance(getattr(self, field), tuple))
            raise InvalidArgumentError(f"{type(self).__name__} has no table '{name}'", hint=f"the tables are {tables}")
        return [record(row) for row in rows]

    __dataclass_fields__: ClassVar[dict[str, Any]]


class Rows(tuple[_Row, ...], Displayed):
    """A tuple of dataclasses: a table in a notebook, and records for data frames."""

    __slots__ = ()

    def to_records(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries of plain values, as `Report.to_records` does."""
        return [record(row) for row in self]


def record(row: Any) -> dict[str, Any]:
    """Return a dataclass, or a single value, as a dictionary of plain values."""
    if not hasattr(row, "__dataclass_fields__"):
        return {"value": _plain(row)}
    columns: dict[str, Any] = {}
    for name in row.__dataclass_fields__:
        value = getattr(row, name)
        if hasattr(value, "__dataclass_fields__") and not _is_text(value):
            fields = row.__dataclass_fields__
            columns |= {f"{name}_{inner}" if inner in fields else inner: item for inner, item in record(value).items()}
        else:
            columns[name] = _plain(value)
    return columns


def _is_text(value: Any) -> bool:
    """Return True for a dataclass with a custom text, such as a shape."""
    plain: object = object.__str__
    return type(value).__str__ is not plain


def _plain(value: Any) -> Any:
    """Return a number, text, truth value or None as it is, a list or mapping of such values, and other values as text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "__dataclass_fields__") and not _is_text(value):
        return record(value)
    return str(value)
