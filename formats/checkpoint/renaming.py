"""New names of tensors: pairs of an old and a new name, scope or regular expression."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from ...core.support.arguments import regular_expression
from ...core.support.errors import InvalidArgumentError, MissingKeyError
from ...core.support.hints import Hint, option
from ..codecs.source import read_text

_COMMENT = "#"


def read_names(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the pairs in a file: a line OLD=NEW each. Blank lines and lines that begin with # are no pairs.

    InvalidArgumentError names a line of another form, DataLossError a file that is no text.
    """
    text = read_text(path)
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    pairs = [_pair(line, f"'{os.fspath(path)}', line {number}: ") for number, line in lines if line and line[0] != _COMMENT]
    return _by_old(pairs)


def names_from_words(words: Iterable[str]) -> dict[str, str]:
    """Return the pairs of a command line: OLD=NEW, or @FILE for the pairs in a file."""
    return _by_old([pair for word in words for pair in (read_names(word[1:]).items() if word[:1] == "@" else [_pair(word)])])


def _pair(text: str, place: str = "") -> tuple[str, str]:
    # At the last =: a regular expression may have one, and a name has none.
    old, equals, new = text.rpartition("=")
    if not equals or not old:
        raise InvalidArgumentError(f"{place}'{text}' is not OLD=NEW", hint="write encoder/=bert/, or w=dense/kernel")
    return old, new


def _by_old(pairs: Collection[tuple[str, str]]) -> dict[str, str]:
    """Return the new names by old names; InvalidArgumentError for an old name with two new names."""
    known = dict(pairs)
    for old, new in pairs:
        if known[old] != new:
            raise InvalidArgumentError(f"'{old}' has two new names: '{new}' and '{known[old]}'")
    return known


def new_names(names: Collection[str], pairs: Mapping[str, str], owner: str) -> dict[str, str]:
    """Return the new name of each name.

    An old name that is a name, or a scope of names, stands for itself and what is below it; of several, the longest holds.
    Any other old name is a regular expression, of which each match in the remaining names is replaced, in the order of
    `pairs`. The new names exist at once, so two names may be exchanged.

    MissingKeyError for an old name without a match, InvalidArgumentError for two names that become one.
    """
    # Only an old name that no name or scope equals is an expression: "w.1" of a checkpoint with such a tensor names the
    # tensor.
    scopes = {scope for name in names for scope in _scopes(name)}
    patterns = {old: (regular_expression(old), new) for old, new in pairs.items() if old not in scopes}
    renamed, matched = {}, set()
    for name in names:
        scope = next((scope for scope in _scopes(name) if scope in pairs), None)
        if scope is not None:
            renamed[name] = pairs[scope] + name[len(scope) :]
            continue
        renamed[name] = name
        for old, (expression, new) in patterns.items():
            renamed[name], count = _replaced(expression, new, renamed[name])
            if count:
                matched.add(old)
    # An expression that matches nothing is mostly misspelt.
    for old in patterns:
        if old not in matched:
            raise MissingKeyError.of("tensor or scope", old, [scope for scope in scopes if scope[-1:] != "/"], owner)
    _check_distinct(renamed)
    return renamed


def _scopes(name: str) -> Iterator[str]:
    """Yield a name and its scopes, the longest first, with and without the slash at the end."""
    yield name
    end = name.rfind("/")
    while end >= 0:
        yield name[: end + 1]
        yield name[:end]
        end = name.rfind("/", 0, end)


def _replaced(expression: re.Pattern[str], new: str, name: str) -> tuple[str, int]:
    try:
        return expression.subn(new, name)
    except (re.error, IndexError) as error:
        raise InvalidArgumentError(f"'{new}' does not fit the expression '{expression.pattern}': {error}") from None


def _check_distinct(renamed: Mapping[str, str]) -> None:
    owners: dict[str, str] = {}
    for name, new in renamed.items():
        if not new:
            raise InvalidArgumentError(f"tensor '{name}' would have no name", hint="give it a new name")
        if owners.setdefault(new, name) != name:
            problem = f"tensors '{owners[new]}' and '{name}' would both be named '{new}'"
            raise InvalidArgumentError(problem, hint=Hint("leave one out with ", option("exclude")))
