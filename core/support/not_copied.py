"""Objects of a single process, which `pickle` and `copy` refuse with the reason."""

from __future__ import annotations

from typing import ClassVar, NoReturn, SupportsIndex

from .errors import ArgumentTypeError


class NotCopied:
    """An object with locks, open files or compiled programs: a copy would share them by accident."""

    __slots__ = ()

    holds: ClassVar[str] = "locks and compiled programs"
    """The reason, as the object of "holds"."""
    instead: ClassVar[str]
    """A hint on what to pickle or copy instead."""

    def __reduce_ex__(self, _: SupportsIndex) -> NoReturn:
        name = type(self).__name__
        raise ArgumentTypeError(f"this {name} holds {self.holds}, so it cannot be pickled or copied", hint=self.instead)
