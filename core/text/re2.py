"""Regular expressions in RE2's syntax over text, matched like RE2 in time linear in the text.

Syntax: https://github.com/google/re2/wiki/Syntax. Bytes that are not UTF-8 become lone surrogates (surrogateescape); as in
RE2 no class, dot or negation matches them. Python's `re` is fast, but tries the ways to match in turn: `re` is used where
the ways are few.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence

from ..parallel.interruption_points import pause
from .automaton import (
    Alternation,
    Assertion,
    Automaton,
    CaptureGroup,
    Char,
    Expression,
    ExpressionSequence,
    RegexProgram,
    RegexTooLargeError,
    Repetition,
    can_be_empty,
    captures,
    is_same_in_re,
    source,
    ways,
)

_SURROGATES = "\\udc80-\\udcff"
_PERL = {"d": "0-9", "s": "\\t\\n\\f\\r ", "w": "0-9A-Za-z_"}
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_CONTROL = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_MAX_REPEAT = 1000
"""The largest number of repetitions in braces that RE2 allows."""
_TIMES: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
MAX_WAYS = 1e6
"""The largest number of ways to match in a text for which `re` is used."""


class PatternError(ValueError):
    """The error of a pattern that RE2 does not accept."""


class Pattern:
    """A compiled pattern, for text decoded by `decode`; `groups` is how many parts are remembered."""

    def __init__(self, expression: Alternation, groups: int) -> None:
        self.groups = groups
        self._ways = _ways_by_length(expression)
        self._ways_searched = _ways_by_length(_without_last_repeat(expression))
        self._expression = expression
        self._may_be_empty = can_be_empty(expression)
        self._program = RegexProgram(expression)
        self.asserts = self._program.asserts
        self._forward = Automaton(self._program)
        self._backtracking = re.compile(source(expression)) if is_same_in_re(expression) else None

    def fullmatch(self, text: str) -> bool:
        """Return True where the whole text matches."""
        if self._backtracking is not None and self._ways(len(text)) < MAX_WAYS:
            return self._backtracking.fullmatch(text) is not None
        return self._whole.end(text, 0) is not None

    def fullmatches(self, texts: Sequence[str]) -> list[bool]:
        """Return for each text whether the whole text matches."""
        if self._backtracking is not None and self._ways(max(map(len, texts), default=0)) < MAX_WAYS:
            fullmatch = self._backtracking.fullmatch
            return [fullmatch(text) is not None for text in texts]
        return [self.fullmatch(text) for text in texts]

    def substitute(self, template: str, text: str, everywhere: bool, longest: int) -> str | None:
        """Replace all matches or the first by a template of `re`, where `re` is fast; None where `re` may be slow.

        None also where matches may be empty: whether RE2 counts an empty match depends on the match before. `longest`
        bounds the length of text that a match examines.
        """
        if self._backtracking is None or self._may_be_empty or self._ways_searched(longest) * longest >= MAX_WAYS:
            return None
        return self._backtracking.sub(template, text, 0 if everywhere else 1)

    def spans(self, text: str, everywhere: bool, groups: int) -> Iterator[Sequence[int | None]]:
        """Yield the first match, or all from left to right; no empty match directly after the previous match.

        Each match is alternating starts and ends: of the match and of the groups 1 to `groups`, None for an unused group.
        """
        matches = self._followed(text, groups)
        if self._backtracking is not None:
            few = self._ways_searched(len(text))
            matches = _tried(self._backtracking, text, groups) if few == 1 or few * len(text) < MAX_WAYS else matches
        return matches if everywhere else itertools.islice(matches, 1)

    def _followed(self, text: str, groups: int) -> Iterator[Sequence[int | None]]:
        """Yield all matches by automata: first the possible starts, then each end, then the groups."""
        position, last_end = 0, -1
        for start in reversed(list(self._backward.starts(text))):
            end = self._forward.end(text, start) if start >= position else None
            if end is None or start == end == last_end:
                continue
            yield captures(self._program, text, start, end, groups) if groups else (start, end)
            position = last_end = end

    @functools.cached_property
    def _whole(self) -> Automaton:
        return Automaton(RegexProgram(ExpressionSequence((self._expression, Assertion("\\Z")))))

    @functools.cached_property
    def _backward(self) -> Automaton:
        return Automaton(RegexProgram(self._expression, backwards=True), begins_anywhere=True)


def _tried(pattern: re.Pattern[str], text: str, groups: int) -> Iterator[Sequence[int | None]]:
    """Yield all matches by `re`."""
    position, last_end = 0, -1
    while position <= len(text):
        match = pattern.search(text, position)
        if match is None:
            return
        is_repeated = match.start() == match.end() == last_end
        if not is_repeated:
            yield [None if place < 0 else place for group in match.regs for place in group] if groups else match.span()
            last_end = match.end()
        position = match.end() + is_repeated


def _ways_by_length(expression: Expression) -> Callable[[int], float]:
    """Return `ways` of an expression as a cached function of the text's length; many texts have equal lengths."""
    return functools.lru_cache(1024)(functools.partial(ways, expression))


def _without_last_repeat(expression: Alternation) -> Expression:
    """Return a sequence without a final repetition of a single character; a final repetition never has to backtrack."""
    options = expression.options
    if len(options) > 1 or not isinstance(options[0], ExpressionSequence) or not options[0].parts:
        return expression
    *before, last = options[0].parts
    return ExpressionSequence(tuple(before)) if isinstance(last, Repetition) and isinstance(last.part, Char) else expression


@functools.lru_cache(256)
def compile_pattern(pattern: bytes) -> Pattern:
    """Compile the pattern for text decoded by `decode`; PatternError with RE2's reason."""
    try:
        text = pattern.decode()
    except UnicodeDecodeError:
        raise PatternError("invalid UTF-8") from None
    reader = _PatternParser(text)
    try:
        return Pattern(reader.read(), reader.groups)
    except RecursionError:
        raise PatternError("expression nests too deeply") from None
    except RegexTooLargeError:
        raise PatternError("pattern too large - compile failed") from None
    except (re.error, OverflowError) as error:
        raise PatternError(str(error)) from error


def decode(text: bytes) -> str:
    """Decode bytes to the text that patterns match; invalid bytes become lone surrogates."""
    return text.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Encode text from `decode` back to the same bytes."""
    return text.encode("utf-8", "surrogateescape")


@dataclasses.dataclass(frozen=True)
class _Flags:
    ignore_case: bool = False
    multi_line: bool = False
    dot_all: bool = False
    ungreedy: bool = False


def _times(digits: str) -> int:
    """Return a number of repetitions; a too large number is cut to leading digits that are too large as well."""
    return int(digits.lstrip("0")[: len(str(_MAX_REPEAT)) + 1] or "0")


class _PatternParser:
    """A recursive descent over the pattern."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.names: set[str] = set()
        self.groups = 0

    def read(self) -> Alternation:
        """Parse the expression; PatternError for a malformed pattern."""
        result = self._alternatives(_Flags())
        if self.position < len(self.pattern):
            raise PatternError(f"unexpected ): {self.pattern}")
        return result

    def _peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.position)

    def _take(self, text: str) -> bool:
        if self._peek(text):
            self.position += len(text)
            return True
        return False

    def _next(self) -> str:
        if self.position >= len(self.pattern):
            raise PatternError(f"trailing \\ at end of expression: {self.pattern}")
        self.position += 1
        return self.pattern[self.position - 1]

    def _alternatives(self, flags: _Flags) -> Alternation:
        """Parse alternatives up to the closing parenthesis or the end; flags set inside hold until there."""
        options: list[Expression] = []
        parts: list[Expression] = []
        while self.position < len(self.pattern) and not self._peek(")"):
            if self._take("|"):
                options.append(ExpressionSequence(tuple(parts)))
                parts = []
                continue
            changed = self._flag_group(flags)
            if changed is not None:
                flags = changed
                continue
            atom = self._atom(flags)
            if isinstance(atom, ExpressionSequence):  # quoted text: only the last character is repeated
                parts += atom.parts[:-1]
                atom = atom.parts[-1]
            if atom is not None:
                parts.append(self._repeated(atom, flags))
        return Alternation((*options, ExpressionSequence(tuple(parts))))

    def _flag_group(self, flags: _Flags) -> _Flags | None:
        match = re.compile(r"\(\?([imsU]*(?:-[imsU]+)?)\)").match(self.pattern, self.position)
        if match is None or not match[1]:
            return None
        self.position = match.end()
        return _with_flags(flags, match[1])

    def _repeated(self, atom: Expression, flags: _Flags) -> Expression:
        """Return the atom with the repetitions that follow the atom."""
        start = self.position
        repetition = self._repetition()
        if repetition is None:
            return atom
        text = self.pattern[start : self.position]
        lazy = self._take("?") != flags.ungreedy
        start = self.position
        if self._repetition() is not None:
            raise PatternError(f"bad repetition operator: {text}{self.pattern[start : self.position]}")
        return Repetition(atom, *repetition, lazy)

    def _repetition(self) -> tuple[int, int | None] | None:
        """Parse a repetition of the atom before: the least and the largest count, None for no limit."""
        for sign, times in _TIMES.items():
            if self._take(sign):
                return times
        match = re.compile(r"\{(\d+)(,(\d*))?\}").match(self.pattern, self.position)
        if match is None:
            return None
        self.position = match.end()
        low = _times(match[1])
        high = _times(match[3]) if match[3] else low
        if max(low, high) > _MAX_REPEAT or high < low:
            raise PatternError(f"invalid repetition size: {match[0]}")
        return low, None if match[2] == "," else high

    def _atom(self, flags: _Flags) -> Expression | None:
        pause()
        start = self.position
        if self._repetition() is not None:
            raise PatternError(f"no argument for repetition operator: {self.pattern[start : self.position]}")
        char = self._next()
        if char == "(":
            return self._group(flags)
        if char == "[":
            return _cased(self._class(), flags)
        if char == ".":
            return Char(f"[^{'' if flags.dot_all else chr(92) + 'n'}{_SURROGATES}]")
        if char == "^":
            return Assertion("^" if flags.multi_line else "\\A")
        if char == "$":
            return Assertion("$" if flags.multi_line else "\\Z")
        if char == "\\":
            return self._escape(flags)
        return _cased(re.escape(char), flags)

    def _group(self, flags: _Flags) -> Expression:
        start = self.position - 1
        index = 0
        if self._take("?"):
            named = re.compile(r"P?<(\w+)>").match(self.pattern, self.position)
            flagged = re.compile(r"([imsU]*(?:-[imsU]+)?):").match(self.pattern, self.position)
            if named and named[1] not in self.names:
                self.names.add(named[1])
                self.position = named.end()
                self.groups = index = self.groups + 1
            elif flagged:
                flags = _with_flags(flags, flagged[1])
                self.position = flagged.end()
            else:
                raise PatternError(f"invalid perl operator: {self.pattern[start : start + 3]}")
        else:
            self.groups = index = self.groups + 1
        inner = self._alternatives(flags)
        if not self._take(")"):
            raise PatternError(f"missing ): {self.pattern}")
        return CaptureGroup(inner, index) if index else inner

    def _escape(self, flags: _Flags) -> Expression | None:
        if self._take("Q"):
            end = self.pattern.find("\\E", self.position)
            end = len(self.pattern) if end < 0 else end
            literal = self.pattern[self.position : end]
            self.position = min(end + 2, len(self.pattern))
            return ExpressionSequence(tuple(_cased(re.escape(c), flags) for c in literal)) if literal else None
        if self._take("E"):
            return None
        char = self._next()
        if char in "bB":
            return Assertion(f"\\{char}")
        if char in "Az":
            return Assertion("\\A" if char == "A" else "\\Z")
        if char == "C":
            raise PatternError("\\C (one byte) is not supported by tfg")
        escape = self._class_escape(char)
        if escape is not None:
            inside, negated = escape
            return _cased(f"[^{inside}{_SURROGATES}]" if negated else f"[{inside}]", flags)
        return _cased(_code(self._literal_escape(char)), flags)

    def _class_escape(self, char: str) -> tuple[str, bool] | None:
        r"""Parse \d, \pN and similar escapes: return the class as written between brackets, and whether the class is
        negated.
        """
        if char.lower() in _PERL:
            return _PERL[char.lower()], char.isupper()
        if char not in "pP":
            return None
        name = self._next()
        if name == "{":
            end = self.pattern.find("}", self.position)
            if end < 0:
                raise PatternError(f"invalid character class range: \\{char}{{")
            name = self.pattern[self.position : end]
            self.position = end + 1
        negated = name.startswith("^")
        return _category(name.removeprefix("^")), (char == "P") != negated

    def _literal_escape(self, char: str) -> int:
        """Return the code point of an escaped character."""
        if char in _CONTROL:
            return _CONTROL[char]
        if char == "x":
            match = re.compile(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})").match(self.pattern, self.position)
            code = int(match[1] or match[2], 16) if match else sys.maxunicode + 1
            if match is None or code > sys.maxunicode:
                raise PatternError(f"invalid escape sequence: \\{char}")
            self.position = match.end()
            return code
        octal = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}").match(self.pattern, self.position - 1)
        if octal:
            self.position = octal.end()
            return int(octal[0], 8)
        if char.isascii() and not (char.isalnum() or char == "_"):
            return ord(char)
        raise PatternError(f"invalid escape sequence: \\{char}")

    def _class(self) -> str:
        """Parse a bracket expression after the [."""
        start = self.position
        negated = self._take("^")
        parts: list[str] = []
        excluded: list[str] = []
        first = True
        while first or not self._peek("]"):
            first = False
            if self.position >= len(self.pattern):
                raise PatternError(f"missing ]: {self.pattern[start - 1 :]}")
            self._class_item(parts, excluded)
        self.position += 1
        inside = "".join(parts)
        # A negated class inside a bracket, as in [a\D], becomes a separate alternative.
        others = [f"[^{item}{_SURROGATES}]" for item in excluded]
        if not negated:
            return f"(?:{'|'.join([*([f'[{inside}]'] if inside else []), *others])})"
        return "".join(f"(?!{other})" for other in others) + f"[^{inside}{_SURROGATES}]"

    def _class_item(self, parts: list[str], excluded: list[str]) -> None:
        posix = re.compile(r"\[:(\^?)(\w+):\]").match(self.pattern, self.position)
        if posix:
            if posix[2] not in _POSIX:
                raise PatternError(f"invalid character class range: {posix[0]}")
            self.position = posix.end()
            (excluded if posix[1] else parts).append(_POSIX[posix[2]])
            return
        low = self._class_char()
        if isinstance(low, tuple):
            (excluded if low[1] else parts).append(low[0])
            return
        high = low
        if self._peek("-") and not self._peek("-]") and self.position + 1 < len(self.pattern):
            self.position += 1
            code = self._class_char()
            if isinstance(code, tuple) or code < low:
                raise PatternError("invalid character class range")
            high = code
        parts.append(_code(low) if low == high else f"{_code(low)}-{_code(high)}")

    def _class_char(self) -> int | tuple[str, bool]:
        char = self._next()
        if char != "\\":
            return ord(char)
        escaped = self._next()
        return self._class_escape(escaped) or self._literal_escape(escaped)


def _with_flags(flags: _Flags, letters: str) -> _Flags:
    names = {"i": "ignore_case", "m": "multi_line", "s": "dot_all", "U": "ungreedy"}
    on, _, off = letters.partition("-")
    return dataclasses.replace(flags, **{names[c]: True for c in on}, **{names[c]: False for c in off})


def _cased(char: str, flags: _Flags) -> Char:
    return Char(f"(?i:{char})" if flags.ignore_case else char)


def _code(code: int) -> str:
    return f"\\U{code:08x}"


@functools.cache
def _category(name: str) -> str:
    """Return the ranges of a Unicode general category, for example L or Lu."""
    if name == "Any":
        return "\\x00-\\ud7ff\\ue000-\\U0010ffff"
    starts: list[list[int]] = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)).startswith(name) and not 0xD800 <= code < 0xE000:
            if starts and starts[-1][1] == code - 1:
                starts[-1][1] = code
            else:
                starts.append([code, code])
    if not starts or len(name) > 2:
        raise PatternError(f"invalid character class range: \\p{{{name}}}")
    return "".join(f"{_code(low)}-{_code(high)}" for low, high in starts)
