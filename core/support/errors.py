"""Errors, named as TensorFlow's status codes are; Python callers catch the base class, TfgError."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from .escaping import masked
from .hints import Hint
from .words import shortened

_NEAREST: Final = 3
"""The number of names that an error proposes."""


class TfgError(Exception):
    """An error with a next step for the user.

    `message` names the fault, `node` and `op` the place, `hint` the next step. `details` are lines of their own below the
    message: a message itself is a single line, with line feeds (in untrusted names, for instance) shown as escapes. All may
    be hints, whose steps the command line puts into its own words. Long values are cut: a value may be a whole file.
    Credentials in addresses are masked. The hint is a note of the exception too, so that a traceback shows the hint.
    """

    def __init__(
        self,
        message: str,
        *,
        node: str | None = None,
        op: str | None = None,
        hint: str | None = None,
        details: Sequence[str] = (),
    ) -> None:
        message = _brief(message)
        super().__init__(message)
        self.message = message
        self.node = node
        self.op = op
        self.hint = hint
        self.details = tuple(map(_brief, details))
        if hint:
            self.add_note(f"hint: {self.hint}")

    @property
    def hint(self) -> Hint | None:
        """Return the next step, in words for Python; the command line puts the steps of the hint into its own words."""
        return self._hint

    @hint.setter
    def hint(self, text: str | None) -> None:
        hint = Hint.of(text)
        self._hint = None if hint is None else hint.mapped(masked)

    @property
    def summary(self) -> str:
        """Return the message, with the node and the op before the text."""
        if self.node is None:
            return self.message
        where = f"node '{self.node}'" if self.op is None else f"node '{self.node}' ({self.op})"
        return Hint(f"{where}: ", self.message)

    def __str__(self) -> str:
        return "\n".join([self.summary, *(f"  {line}" for line in self.details)])


def _brief(line: str) -> str:
    """Return a line with long values cut and credentials masked; the steps of a hint stay."""
    return line.mapped(_brief_text) if isinstance(line, Hint) else _brief_text(line)


def _brief_text(text: str) -> str:
    # Masked first: the cut takes the middle out, and what is left of a signed address would no longer look like a part of one.
    return shortened(masked(text))


class CancelledError(TfgError):
    """The operation was cancelled, as by closing a queue."""


class InvalidArgumentError(TfgError):
    """An argument is wrong whatever the state: a bad shape, dtype, attribute or name."""


class ArgumentTypeError(InvalidArgumentError, TypeError):
    """A caller's argument is of a type that is not taken."""


class DeadlineExceededError(TfgError):
    """The time allowed ran out, or nothing can ever arrive."""


class NotFoundError(TfgError):
    """A file, tensor, resource or name does not exist."""


class AbsentInputError(InvalidArgumentError):
    """A node of a file takes an input from a node that the file lacks, `absent`."""

    absent: str = ""


class MissingKeyError(NotFoundError, KeyError):
    """A mapping has no value of a name; also a KeyError, so that `in` and `get` of the mapping work."""

    @classmethod
    def of(cls, kind: str, name: object, names: Iterable[str], owner: str | None = None) -> MissingKeyError:
        """Return the error for an unknown name, with the nearest of `names` as a hint."""
        problem = f"unknown {kind} '{name}'" if owner is None else f"{owner} has no {kind} '{name}'"
        return cls(problem, hint=nearest_names(str(name), list(names)))


def nearest_names(word: str, names: Collection[str]) -> str | None:
    """Return a hint with a few names: those with the word in them, the shortest first, then those that are spelled alike."""
    # Here, as most runs end without an error and its import takes milliseconds.
    from difflib import get_close_matches

    # Users remember a part of a name: `conv1` is spelled like no `model/block1/conv1/Conv2D`.
    holding = sorted((name for name in names if word and word.lower() in name.lower()), key=len)
    close = list(dict.fromkeys([*holding, *get_close_matches(word, names, _NEAREST)]))[:_NEAREST]
    return f"nearest names: {', '.join(close)}" if close else None


class AlreadyExistsError(TfgError):
    """A thing to be created exists."""


class PermissionDeniedError(TfgError):
    """A graph reached for a file that the user did not name."""


class ResourceExhaustedError(TfgError):
    """Memory or another bound would be exceeded."""


class FailedPreconditionError(TfgError):
    """The state is not ready, as with an uninitialized variable."""


class AbortedError(TfgError):
    """The operation was aborted."""


class OutOfRangeError(TfgError):
    """Past the valid range, as at the end of a queue or reader."""


class UnimplementedError(TfgError):
    """tfg cannot do this (yet)."""


class InternalError(TfgError):
    """A fault of tfg: a failure that no graph may cause. The cause is chained."""


class UnavailableError(TfgError):
    """A service is not there."""


class DataLossError(TfgError):
    """A file is damaged or truncated, or the values of variables are lost."""


class UnknownError(TfgError):
    """Any other failure."""
