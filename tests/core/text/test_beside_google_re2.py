"""Drawn patterns on drawn texts match as in RE2 itself, by `re` and by the automaton."""

from __future__ import annotations

import random

import pytest

from tfg.core.text import re2

google = pytest.importorskip("re2", reason="the package google-re2 is not installed")


def words(text):
    return text.split()


LETTERS = ["a", "b", "A", "\u00e9", "\u00df", "\n", " ", "0", "_", "-", "K", "\u212a", "\u017f", "s", "\U0001f600", "\u03a3"]
LETTERS += ["\u03c2", "\u03c3", "\u0130", "i", "I", "\u0131", "\u00b5", "\x00", "\x0b"]
CLASSES = words(r"\d \D \w \W \s \S \pL \PL \p{Lu} \P{Lu} \p{^Lu} \pN \p{Greek} \p{^Latin} \p{Any} \pZ \p{Nd} \pM \pC")
CLASSES += ["[:alpha:]", "[:^space:]", "[:word:]", "[:upper:]", "[:punct:]"]
RANGES = ["a-c", "A-Z", "0-5", "\x00-\x20", "\u03b1-\u03c9", "a-\U0001f600", " -~", r"\x{D000}-\x{E001}", r"\x{D800}-\x{DFFF}"]
ESCAPES = words(r"\n \t \x41 \x{e9} \101 \0 \. \- \a \v \f \r \x7f \x{10FFFF} \_ \/ \07 \123 \x{D800}")
PLACES = ["^", "$", r"\b", r"\A", r"\z"]
ODD = r"{ } {2 {,3} {2,1} ] [ ( ) (? (?P<n>a) (?P<n \ \Q.a\E \Q \E \Z \G (?=a) (?!a) (?#x) | * + ? ** a** (?i) (?) (?U) (?x)"
ODD += r" (?i-s: (?: (?-:a) (?ii) (?i-) []a] [^]a] [a-] [-a] [a-\d] [\d-a] [b-a] [a\] [[:foo:]] [[:alpha:] [[.a.]] [[]"
ODD += r" [\Q]\E] (?P=n) (?P<>a) (?P<1>a) {1001} a{1000} a{0} (a{0,2}){0,3} x{2}{3} (?:a{3}){400} \p{Foo} \pq \p{ \p^ \p{^}"
ODD += (
    r" \p{Cn} \x{110000} \xg \u0041 \c \1 \8 (?i)k (?i)[^k] (?i)[a-z]+ (?i)\pLu (?i)[[:upper:]] (?i)\P{Lu} (?i)i [\b] [^\D\s]"
)
REPETITIONS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{2,}", "{0}", "{0,}"]
FLAGS = ["i", "s", "m", "U", "im", "i-s", "-i", "sU", "ms"]


def drawn_class(draw):
    """A bracket expression of one to three items."""
    items = [
        draw.choice([draw.choice(LETTERS[:4]), draw.choice(RANGES), draw.choice(CLASSES)]) for _ in range(draw.randint(1, 3))
    ]
    return f"[{'^' * (draw.random() < 0.4)}{''.join(items)}]"


def drawn_atom(draw):
    kind = draw.choices(["letter", ".", "class", "bracket", "place", "escape"], [5, 1, 1.5, 1.5, 0.7, 0.8])[0]
    if kind == "class":
        name = draw.choice(CLASSES)
        return f"[{name}]" if name.startswith("[:") else name
    choices = {"letter": LETTERS, ".": ["."], "bracket": [drawn_class(draw)], "place": PLACES, "escape": ESCAPES}
    return draw.choice(choices[kind])


def drawn_expression(draw, depth):
    """An expression that RE2 may refuse for a size or an empty repetition only."""
    if depth == 0 or draw.random() < 0.3:
        return drawn_atom(draw)
    inner = drawn_expression(draw, depth - 1)
    kind = draw.choices(["chain", "choice", "repeat", "group", "flags", "flag"], [3, 2, 3, 2, 1, 0.5])[0]
    if kind in ("chain", "choice"):
        return inner + ("|" if kind == "choice" else "") + drawn_expression(draw, depth - 1)
    if kind == "repeat":
        return f"({'?:' * (draw.random() < 0.6)}{inner}){draw.choice(REPETITIONS)}"
    return {"group": f"({inner})", "flags": f"(?{draw.choice(FLAGS)}:{inner})", "flag": f"(?{draw.choice('ismU')}){inner}"}[
        kind
    ]


def drawn_pattern(draw):
    """An expression; of seven one has an odd part inserted."""
    pattern = drawn_expression(draw, draw.randint(1, 4))
    if draw.random() > 0.14:
        return pattern
    place = draw.randint(0, len(pattern))
    return pattern[:place] + draw.choice(ODD.split()) + pattern[place:]


def drawn_text(draw):
    """Up to nine characters; of seven texts one has a byte that is not UTF-8."""
    text = "".join(draw.choice(LETTERS if draw.random() < 0.3 else LETTERS[:6]) for _ in range(draw.randint(0, 9))).encode()
    if draw.random() > 0.14:
        return text
    place = draw.randint(0, len(text))
    return text[:place] + draw.choice([b"\xff", b"\x80"]) + text[place:]


def google_pattern(pattern):
    """The pattern compiled by RE2; None for a refused pattern."""
    options = google.Options()
    options.log_errors = False
    options.encoding = google.Options.Encoding.UTF8
    try:
        return google.compile(pattern, options)
    except google.error:
        return None


def google_spans(pattern, text):
    """The matches as GlobalReplace goes through them: no empty match directly after another match."""
    spans, position, last_end = [], 0, -1
    while position <= len(text):
        match = pattern.search(text, position)
        if match is None:
            return spans
        if match.end() == match.start() == last_end:
            position += next((n for n in (1, 2, 3, 4) if is_text(text[position : position + n])), 1)
            continue
        spans.append([place for group in range(pattern.groups + 1) for place in match.span(group)])
        position = last_end = match.end()
    return spans


def is_text(data):
    try:
        return bool(data.decode())
    except UnicodeDecodeError:
        return False


def spans(pattern, text):
    """The matches of tfg as offsets of bytes."""
    decoded = re2.decode(text)
    offsets = [len(re2.encode(decoded[:i])) for i in range(len(decoded) + 1)]
    matches = pattern.spans(decoded, True, pattern.groups)
    return [[-1 if place is None else offsets[place] for place in match] for match in matches]


@pytest.mark.parametrize("way", ["re", "automaton"])
@pytest.mark.parametrize("seed", range(8))
def test_drawn_patterns(seed, way, monkeypatch):
    if way == "automaton":
        monkeypatch.setattr(re2, "is_same_in_re", lambda expression: False)
    draw = random.Random(seed)
    compiled = 0
    for _ in range(120):
        pattern = drawn_pattern(draw).encode()
        theirs = google_pattern(pattern)
        try:
            ours = re2.compile_pattern.__wrapped__(pattern)
        except re2.PatternError:
            ours = None
        assert (ours is None) == (theirs is None), pattern
        if ours is None or theirs is None:
            continue
        compiled += 1
        assert ours.groups == theirs.groups
        for text in (drawn_text(draw), drawn_text(draw)):
            assert ours.fullmatch(re2.decode(text)) == (theirs.fullmatch(text) is not None), (pattern, text)
            assert spans(ours, text) == google_spans(theirs, text), (pattern, text)
    assert compiled > 80
