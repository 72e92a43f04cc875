"""Matching regular expressions in time linear in the text: an automaton without backtracking, built lazily during the
match.

The nodes of an expression become a program of a few instructions (R. Cox, "Regular Expression Matching: the Virtual Machine
Approach", 2009). A state of the automaton is the list of the program's places that a match may have reached, in order of
preference; the transition of a state by a character is computed once. The program of the reversed expression, run from the
end of the text, finds the possible starts of matches.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from ..parallel.interruption_points import pause

MAX_INSTRUCTIONS: Final = 100_000
"""The largest number of instructions of a program: an expression that needs more is refused."""
_MAX_MOVES: Final = 50_000
"""The number of cached transitions of an automaton; at the limit the cache is emptied."""


_MANY_TIMES: Final = 100
"""The number of repetitions, or the bits of the number of ways to match, beyond which the number counts as infinite."""


class RegexTooLargeError(ValueError):
    """The program of an expression would have more than `MAX_INSTRUCTIONS` instructions."""


@dataclasses.dataclass(frozen=True, slots=True)
class Char:
    """A single character that matches a pattern of `re`; the pattern matches exactly one character."""

    source: str


@dataclasses.dataclass(frozen=True, slots=True)
class Assertion:
    """Nothing, at a place between two characters: `\\A \\Z ^ $ \\b \\B` as in a text of many lines."""

    kind: str


@dataclasses.dataclass(frozen=True, slots=True)
class ExpressionSequence:
    """A concatenation of expressions."""

    parts: tuple[Expression, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Alternation:
    """A choice between expressions, the first preferred."""

    options: tuple[Expression, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Repetition:
    """A repetition from `low` to `high` times (None: any number); more are preferred, or fewer if `lazy`."""

    part: Expression
    low: int
    high: int | None
    lazy: bool


@dataclasses.dataclass(frozen=True, slots=True)
class CaptureGroup:
    """A capturing group; `index` counts from 1."""

    part: Expression
    index: int


Expression: TypeAlias = Char | Assertion | ExpressionSequence | Alternation | Repetition | CaptureGroup


def source(expression: Expression) -> str:
    """Return the expression as a pattern of `re`."""
    match expression:
        case Char():
            return expression.source
        case Assertion():
            return f"(?m:{expression.kind})" if expression.kind in "^$" else f"(?a:{expression.kind})"
        case ExpressionSequence():
            return "".join(map(source, expression.parts))
        case Alternation():
            return f"(?:{'|'.join(map(source, expression.options))})"
        case Repetition():
            times = f"{{{expression.low},{'' if expression.high is None else expression.high}}}"
            return f"(?:{source(expression.part)}){times}{'?' if expression.lazy else ''}"
        case CaptureGroup():
            return f"({source(expression.part)})"


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions inside an expression."""
    match expression:
        case ExpressionSequence():
            return expression.parts
        case Alternation():
            return expression.options
        case Repetition() | CaptureGroup():
            return (expression.part,)
        case _:
            return ()


def can_be_empty(expression: Expression) -> bool:
    """Return True where an expression may match no character at all."""
    match expression:
        case Char():
            return False
        case Alternation():
            return any(map(can_be_empty, expression.options))
        case Repetition(low=0):
            return True
        case _:
            return all(map(can_be_empty, parts_of(expression)))


def is_same_in_re(expression: Expression) -> bool:
    r"""Return True where `re` has the same semantics as RE2; repetitions of the empty match, and \B in an empty text,
    differ.
    """
    match expression:
        case Assertion():
            return expression.kind != "\\B"
        case Repetition() if can_be_empty(expression.part):
            return False
        case _:
            return all(map(is_same_in_re, parts_of(expression)))


def ways(expression: Expression, length: int) -> float:
    """Return a bound on the ways in which an expression can match at a place of a text; `re` may try all ways in turn."""
    match expression:
        case ExpressionSequence():
            return math.prod((ways(part, length) for part in expression.parts), start=1.0)
        case Alternation():
            return sum(ways(option, length) for option in expression.options)
        case Repetition():
            times = length if expression.high is None else expression.high
            if isinstance(expression.part, Char):
                return min(times, length) + 1
            return _geometric(ways(expression.part, length), times)
        case CaptureGroup():
            return ways(expression.part, length)
        case _:
            return 1


def _geometric(ratio: float, times: int) -> float:
    """Return 1 + ratio + ... + ratio^times, infinite above the limit `_MANY_TIMES`."""
    if times > _MANY_TIMES or times * math.log2(max(ratio, 1)) > _MANY_TIMES:
        return math.inf
    return sum(ratio**i for i in range(times + 1))


# Instructions: (kind, operand, next); a fork prefers next, and continues at the operand where next fails.
_CHAR, _ASSERT, _SAVE, _FORK, _JUMP, _MATCH = range(6)
_Instruction: TypeAlias = tuple[int, "int | str", int]


class RegexProgram:
    """The instructions of an expression; backwards they match the reversed text."""

    def __init__(self, expression: Expression, backwards: bool = False) -> None:
        self.backwards = backwards
        self.code: list[_Instruction] = []
        self._chars: dict[tuple[str, str], bool] = {}
        self._steps = 0
        self._add(expression)
        self.code.append((_MATCH, 0, 0))
        self.asserts = any(kind == _ASSERT for kind, _, _ in self.code)

    def accepts(self, pattern: str, char: str) -> bool:
        """Return True where a Char's pattern matches a character."""
        key = (pattern, char)
        is_match = self._chars.get(key)
        if is_match is None:
            is_match = self._chars[key] = _compiled(pattern).match(char) is not None
        return is_match

    def _emit(self, kind: int, operand: int | str = 0) -> int:
        if len(self.code) >= MAX_INSTRUCTIONS:
            raise RegexTooLargeError
        self.code.append((kind, operand, len(self.code) + 1))
        return len(self.code) - 1

    def _add(self, expression: Expression) -> None:
        self._steps += 1
        if self._steps > MAX_INSTRUCTIONS:
            raise RegexTooLargeError
        match expression:
            case Char():
                self._emit(_CHAR, expression.source)
            case Assertion():
                self._emit(_ASSERT, expression.kind)
            case ExpressionSequence():
                for part in reversed(expression.parts) if self.backwards else expression.parts:
                    self._add(part)
            case Alternation():
                self._add_choice(expression.options)
            case Repetition():
                self._add_repeat(expression)
            case CaptureGroup():
                self._emit(_SAVE, 2 * expression.index + self.backwards)
                self._add(expression.part)
                self._emit(_SAVE, 2 * expression.index + 1 - self.backwards)

    def _add_choice(self, options: Sequence[Expression]) -> None:
        ends = []
        for option in options[:-1]:
            fork = self._emit(_FORK)
            self._add(option)
            ends.append(self._emit(_JUMP))
            self._fork(fork, lazy=False)
        self._add(options[-1])
        for end in ends:
            self.code[end] = (_JUMP, 0, len(self.code))

    def _add_repeat(self, repeat: Repetition) -> None:
        """Add a repetition like RE2, with a difference where the part matches the empty string: x* is then (x+)?."""
        for _ in range(repeat.low - (repeat.high is None)):
            self._add(repeat.part)
        if repeat.high is None:
            skip = None if repeat.low else self._emit(_FORK)
            start = len(self.code)
            self._add(repeat.part)
            again = self._emit(_FORK)
            ways_on = (again + 1, start) if not repeat.lazy else (start, again + 1)
            self.code[again] = (_FORK, *ways_on)
            if skip is not None:
                self._fork(skip, repeat.lazy)
            return
        forks = []
        for _ in range(repeat.high - repeat.low):
            forks.append(self._emit(_FORK))
            self._add(repeat.part)
        for fork in forks:
            self._fork(fork, repeat.lazy)

    def _fork(self, place: int, lazy: bool) -> None:
        """Make a fork lead to the following instruction or to the end of the code, the end first if `lazy`."""
        after, end = place + 1, len(self.code)
        self.code[place] = (_FORK, after, end) if lazy else (_FORK, end, after)


@functools.lru_cache(1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


class _AutomatonState:
    __slots__ = ("behind", "moves", "places")

    def __init__(self, places: tuple[int, ...], behind: str) -> None:
        self.places = places
        self.behind = behind
        """The kind, in terms of `_kind`, of the character behind."""
        self.moves: dict[str, tuple[_AutomatonState | None, bool]] = {}


class Automaton:
    """A running program. With `begins_anywhere` a match may begin at each character, and no start is preferred."""

    def __init__(self, program: RegexProgram, begins_anywhere: bool = False) -> None:
        self._program = program
        self._begins_anywhere = begins_anywhere
        self._states: dict[tuple[tuple[int, ...], str], _AutomatonState] = {}
        self._moves = 0

    def end(self, text: str, start: int) -> int | None:
        """Return the end of the preferred match that begins at `start`; None without a match."""
        state: _AutomatonState | None = self._state((0,), _kind(text[start - 1]) if start else "")
        last = None
        for position in range(start, len(text)):
            assert state is not None
            char = text[position]
            state, is_match = state.moves.get(char) or self._move(state, char)
            if is_match:
                last = position
            if state is None:
                return last
        assert state is not None
        return len(text) if self._move(state, "")[1] else last

    def starts(self, text: str) -> Iterator[int]:
        """Yield every place of the text where a match of the reversed program ends, the last first."""
        state: _AutomatonState | None = self._state((), "")
        for position in range(len(text), -1, -1):
            assert state is not None
            char = text[position - 1] if position else ""
            state, is_match = state.moves.get(char) or self._move(state, char)
            if is_match:
                yield position

    def _state(self, places: tuple[int, ...], behind: str) -> _AutomatonState:
        key = (places, behind)
        if key not in self._states:
            self._states[key] = _AutomatonState(places, behind)
        return self._states[key]

    def _move(self, state: _AutomatonState, char: str) -> tuple[_AutomatonState | None, bool]:
        """Return the state after reading a character, and whether a match ended before the character; "" is the end of the
        text.
        """
        pause()
        consuming, is_match = self._followed(state, char)
        code = self._program.code
        reached = dict.fromkeys(code[p][2] for p in consuming if char and self._program.accepts(str(code[p][1]), char))
        goes_on = reached or self._begins_anywhere
        if self._moves >= _MAX_MOVES:
            self._states, self._moves = {}, 0
        self._moves += 1
        following = self._state(tuple(reached), _kind(char)) if goes_on else None
        move = state.moves[char] = following, is_match
        return move

    def _followed(self, state: _AutomatonState, char: str) -> tuple[list[int], bool]:
        """Return the places that read a character, the preferred first, and whether a match comes before the rest of them."""
        before, after = (_kind(char), state.behind) if self._program.backwards else (state.behind, _kind(char))
        pending = [*((0,) if self._begins_anywhere else ()), *reversed(state.places)]
        seen: set[int] = set()
        consuming: list[int] = []
        is_match = False
        while pending:
            place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            kind, operand, following = self._program.code[place]
            if kind == _CHAR:
                consuming.append(place)
            elif kind == _MATCH:
                is_match = True
                if not self._begins_anywhere:
                    break
            elif kind == _FORK:
                pending += (int(operand), following)
            elif kind != _ASSERT or _holds(str(operand), before, after):
                pending.append(following)
        return consuming, is_match


def captures(program: RegexProgram, text: str, start: int, end: int, groups: int) -> list[int | None]:
    """Return the starts and ends of the groups 0 to `groups` in the preferred match from `start` to `end`."""
    best: tuple[int | None, ...] = ()
    threads: list[tuple[int, tuple[int | None, ...]]] = [(0, (start, None) + (None, None) * groups)]
    for position in range(start, end + 1):
        pause()
        before = _kind(text[position - 1]) if position else ""
        char = text[position] if position < len(text) else ""
        reading, match = _followed_threads(program, threads, position, before, _kind(char))
        best = match or best
        threads = [(program.code[p][2], saved) for p, saved in reading if program.accepts(str(program.code[p][1]), char)]
    return [best[0], end, *best[2:]]


def _followed_threads(
    program: RegexProgram, threads: Sequence[tuple[int, tuple[int | None, ...]]], position: int, before: str, after: str
) -> tuple[list[tuple[int, tuple[int | None, ...]]], tuple[int | None, ...] | None]:
    """Return the threads that read a character, up to the first thread that has matched, and that thread's captures."""
    pending = list(reversed(threads))
    seen: set[int] = set()
    reading = []
    while pending:
        place, saved = pending.pop()
        if place in seen:
            continue
        seen.add(place)
        kind, operand, following = program.code[place]
        if kind == _CHAR:
            reading.append((place, saved))
        elif kind == _MATCH:
            return reading, saved
        elif kind == _FORK:
            pending += ((int(operand), saved), (following, saved))
        elif kind == _SAVE:
            slot = int(operand)
            pending.append((following, (*saved[:slot], position, *saved[slot + 1 :])))
        elif kind != _ASSERT or _holds(str(operand), before, after):
            pending.append((following, saved))
    return reading, None


def _kind(char: str) -> str:
    """Return a character's kind for assertions: "" for none, a line's end, `w` for a word character in ASCII, `.` for
    others.
    """
    if char in ("", "\n"):
        return char
    return "w" if char.isascii() and (char.isalnum() or char == "_") else "."


def _holds(assertion: str, before: str, after: str) -> bool:
    if assertion in ("\\b", "\\B"):
        return ((before == "w") != (after == "w")) == (assertion == "\\b")
    if assertion in ("\\A", "^"):
        return before == "" or (assertion == "^" and before == "\n")
    return after == "" or (assertion == "$" and after == "\n")
