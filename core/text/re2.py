r"""Regular expressions in RE2's syntax over text, matched like RE2 in time linear in the text.

Syntax: https://github.com/google/re2/wiki/Syntax. Bytes that are not UTF-8 become lone surrogates (surrogateescape); as in
RE2 no class, dot or negation matches them. Python's `re` is fast, but tries the ways to match in turn: `re` is used where
the ways are few.

Three things differ from RE2, which matches bytes: `\B` holds between characters only, RE2's also between the bytes of one;
`\C`, a single byte, is refused; and no range matches bytes that encode a surrogate or that are longer than they need be.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

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
    parts_of,
    source,
    ways,
)
from .re2_classes import NOTHING, PERL, POSIX, SURROGATES, code_range, literal, named_class

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


class _RepetitionOperator(NamedTuple):
    """A repetition as written, with the least and the largest number; None for no limit."""

    text: str
    low: int
    high: int | None

    @property
    def most(self) -> int:
        """The number that is bounded: the largest, or the least where there is no limit."""
        return self.low if self.high is None else self.high

    def check(self, times: int = 1) -> None:
        """Raise PatternError for more repetitions than RE2 allows, of an atom that repeats its parts `times` times."""
        if self.low > self.most or self.most * times > _MAX_REPEAT:
            raise PatternError(f"invalid repetition size: {self.text}")


class _PatternParser:
    """A recursive descent over the pattern."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
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
            raise PatternError("trailing \\")
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
            atom = parts.pop() if parts and self._at_repetition() else self._atom(flags)
            if isinstance(atom, ExpressionSequence):  # quoted text: only the last character is repeated
                parts += atom.parts[:-1]
                atom = atom.parts[-1]
            if atom is not None:
                parts.append(self._repeated(atom, flags))
        return Alternation((*options, ExpressionSequence(tuple(parts))))

    def _flag_group(self, flags: _Flags) -> _Flags | None:
        match = re.compile(r"\(\?([imsU]*(?:-[imsU]+)?)\)").match(self.pattern, self.position)
        if match is None:
            return None
        self.position = match.end()
        return _with_flags(flags, match[1])

    def _at_repetition(self) -> bool:
        """Return True where a repetition comes next: behind flags and empty quotations it repeats the part before them."""
        start = self.position
        is_repetition = self._repetition() is not None
        self.position = start
        return is_repetition

    def _repeated(self, atom: Expression, flags: _Flags) -> Expression:
        """Return the atom with the repetitions that follow the atom."""
        repetition = self._repetition()
        if repetition is None:
            return atom
        repetition.check(_repetitions(atom) if repetition.most > 1 else 1)
        second = self._repetition()
        if second is not None:
            raise PatternError(f"bad repetition operator: {repetition.text}{second.text}")
        return Repetition(atom, repetition.low, repetition.high, repetition.text.endswith("?", 1) != flags.ungreedy)

    def _repetition(self) -> _RepetitionOperator | None:
        """Read how often the atom before is repeated."""
        match = re.compile(r"([*+?]|\{(\d+)(,(\d*))?\})\??").match(self.pattern, self.position)
        if match is None:
            return None
        self.position = match.end()
        if match[1] in _TIMES:
            return _RepetitionOperator(match[0], *_TIMES[match[1]])
        low = _times(match[2])
        return _RepetitionOperator(match[0], low, None if match[3] == "," else _times(match[4]) if match[4] else low)

    def _atom(self, flags: _Flags) -> Expression | None:
        pause()
        repetition = self._repetition()
        if repetition is not None:
            repetition.check()
            raise PatternError(f"no argument for repetition operator: {repetition.text}")
        char = self._next()
        if char == "(":
            return self._group(flags)
        if char == "[":
            return _cased(self._class(), flags)
        if char == ".":
            return Char(f"[^{'' if flags.dot_all else chr(92) + 'n'}{SURROGATES}]")
        if char == "^":
            return Assertion("^" if flags.multi_line else "\\A")
        if char == "$":
            return Assertion("$" if flags.multi_line else "\\Z")
        if char == "\\":
            return self._escape(flags)
        return _cased(re.escape(char), flags)

    def _group(self, flags: _Flags) -> Expression:
        index = 0
        if self._peek("?P<"):
            self._group_name()
            self.groups = index = self.groups + 1
        elif self._peek("?"):
            flags = self._group_flags(flags)
        else:
            self.groups = index = self.groups + 1
        inner = self._alternatives(flags)
        if not self._take(")"):
            raise PatternError(f"missing ): {self.pattern}")
        return CaptureGroup(inner, index) if index else inner

    def _group_name(self) -> None:
        """Read the name of a group, `?P<name>`."""
        start = self.position - 1
        end = self.pattern.find(">", start) + 1 or len(self.pattern)
        if re.fullmatch(r"\(\?P<\w+>", self.pattern[start:end]) is None:
            raise PatternError(f"invalid named capture group: {self.pattern[start:end]}")
        self.position = end

    def _group_flags(self, flags: _Flags) -> _Flags:
        """Return the flags inside a group without a number, `?i-s:`."""
        start = self.position - 1
        match = re.compile(r"\?([imsU]*(?:-[imsU]+)?):").match(self.pattern, self.position)
        if match is None:
            read = re.compile(r"\?[imsU]*(?:-[imsU]*)?.?", re.DOTALL).match(self.pattern, self.position)
            raise PatternError(f"invalid perl operator: {self.pattern[start : read.end() if read else start]}")
        self.position = match.end()
        return _with_flags(flags, match[1])

    def _escape(self, flags: _Flags) -> Expression | None:
        if self._take("Q"):
            end = self.pattern.find("\\E", self.position)
            end = len(self.pattern) if end < 0 else end
            quoted = self.pattern[self.position : end]
            self.position = min(end + 2, len(self.pattern))
            return ExpressionSequence(tuple(_cased(re.escape(c), flags) for c in quoted)) if quoted else None
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
            positive = f"[{inside}]" if inside else NOTHING
            return _cased(f"[^{inside}{SURROGATES}]" if negated else positive, flags)
        return _cased(literal(self._literal_escape(char)), flags)

    def _class_escape(self, char: str) -> tuple[str, bool] | None:
        r"""Parse \d, \pN and similar escapes: return the class as written between brackets, and whether the class is
        negated.
        """
        if char.lower() in PERL:
            return PERL[char.lower()], char.isupper()
        if char not in "pP":
            return None
        start = self.position - 2
        match = re.compile(r"\\[pP](?:\{([^}]*)\}|([^{]))", re.DOTALL).match(self.pattern, start)
        self.position = match.end() if match else len(self.pattern)
        name = (match[1] or match[2] or "") if match else ""
        inside = named_class(name.removeprefix("^"))
        if inside is None:
            raise PatternError(f"invalid character class range: {self.pattern[start : self.position]}")
        return inside, (char == "P") != name.startswith("^")

    def _literal_escape(self, char: str) -> int:
        """Return the code point of an escaped character."""
        start = self.position - 2
        if char in _CONTROL:
            return _CONTROL[char]
        if char == "x":
            return self._hexadecimal()
        octal = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}").match(self.pattern, self.position - 1)
        if octal:
            self.position = octal.end()
            return int(octal[0], 8)
        if char.isascii() and not char.isalnum():
            return ord(char)
        raise PatternError(f"invalid escape sequence: {self.pattern[start : self.position]}")

    def _hexadecimal(self) -> int:
        r"""Read the digits of \x41 or \x{41}; the error of others shows what was read."""
        start = self.position
        match = re.compile(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})").match(self.pattern, start)
        code = int(match[1] or match[2], 16) if match else sys.maxunicode + 1
        if match is None or code > sys.maxunicode:
            read = re.compile(r"\\x(?:\{0*(?:10[0-9A-Fa-f]{4}|[0-9A-Fa-f]{0,5}).?|.{0,2})", re.DOTALL).match(
                self.pattern, start - 2
            )
            raise PatternError(f"invalid escape sequence: {read[0] if read else ''}")
        self.position = match.end()
        return code

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
        others = [f"[^{item}{SURROGATES}]" for item in excluded]
        if not negated:
            return f"(?:{'|'.join([f'[{inside}]' if inside else NOTHING, *others])})"
        return "".join(f"(?!{other})" for other in others) + f"[^{inside}{SURROGATES}]"

    def _class_item(self, parts: list[str], excluded: list[str]) -> None:
        posix = re.compile(r"\[:(\^?)(.*?):\]", re.DOTALL).match(self.pattern, self.position)
        if posix:
            if posix[2] not in POSIX:
                raise PatternError(f"invalid character class range: {posix[0]}")
            self.position = posix.end()
            (excluded if posix[1] else parts).append(POSIX[posix[2]])
            return
        start = self.position
        low = self._class_char()
        if isinstance(low, tuple):
            (excluded if low[1] else parts).append(low[0])
            return
        high = low
        if self._peek("-") and not self._peek("-]") and self.position + 1 < len(self.pattern):
            self.position += 1
            char = self._next()
            high = self._literal_escape(self._next()) if char == "\\" else ord(char)
            if high < low:
                raise PatternError(f"invalid character class range: {self.pattern[start : self.position]}")
        parts.append(code_range(low, high))

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


def _repetitions(expression: Expression) -> int:
    """Return the largest product of the numbers of nested repetitions."""
    times = max(expression.high or expression.low, 1) if isinstance(expression, Repetition) else 1
    return times * max(map(_repetitions, parts_of(expression)), default=1)


def _cased(char: str, flags: _Flags) -> Char:
    return Char(_folded(char) if flags.ignore_case else char)


@functools.lru_cache(1024)
def _folded(char: str) -> str:
    """Return a pattern of one character regardless of case; unlike in `re` an `i` is neither `\u0130` nor `\u0131`."""
    folded = f"(?i:{char})"
    if not any(re.fullmatch(folded, letter) for letter in "\u0130\u0131"):
        return folded
    alone = "[iI]" if re.fullmatch(f"{char}", "i") or re.fullmatch(f"{char}", "I") else NOTHING
    return f"(?:(?i:(?![i\u0130\u0131]){char})|{char}|{alone})"
