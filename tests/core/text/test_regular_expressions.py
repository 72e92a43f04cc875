"""RE2's syntax and meaning, in time linear in the text. The expected values are TensorFlow's answers."""

from __future__ import annotations

import time

import pytest

from tfg.core.text import re2
from tfg.core.text.re2_rewrites import replace, replace_all

GLOBAL = [
    (r"(b*)+", r"<\0|\1>", "b aa", "<b|b> <|>a<|>a<|>"),
    (r"(a|ab)*?\B", r"<\0>", "", "<>"),
    (r"a+?b??", r"<\0>", "aab", "<a><a>b"),
    (r"(a|ab)(c|bcd)(d*)", r"<\1,\2,\3>", "abcd", "<a,bcd,>"),
    (r"(?i)STRASSE|x", r"<\0>", "a Strasse X", "a <Strasse> <X>"),
    (r"(?m:^)\w|\b", r"<\0>", "ab\ncd", "<a>b<>\n<c>d<>"),
    (r"\Qa.\E+", r"<\0>", "a..b", "<a..>b"),
    (r"[^\d\s]+", r"<\0>", "ab 12 \u00e9", "<ab> 12 <\u00e9>"),
]


@pytest.mark.parametrize("few", [1e6, -1], ids=["re", "automaton"])
@pytest.mark.parametrize(("pattern", "rewrite", "text", "expected"), GLOBAL)
def test_replacement(monkeypatch, few, pattern, rewrite, text, expected):
    monkeypatch.setattr(re2, "MAX_WAYS", few)
    compiled = re2.compile_pattern(pattern.encode())
    monkeypatch.setattr(compiled, "_backtracking", compiled._backtracking if few > 0 else None)
    assert replace(compiled, rewrite, text, everywhere=True) == expected


TEXTS = [b"", b"ab a..b", b"\xc3", b"\xa9 a\\b", "\u00e9a".encode(), b"abcd", b"aab\nab"]
REWRITES = [r"<\0>", r"\\n\0", "", r"\1.\2", "\udcff"]
ALL_AT_ONCE = [r"a+?b??", r"(a|ab)(c|bcd)(d*)", r"[^a]", r"(?s).+", r"\w$", r"^a", r"\Aa", r"a*", r"(a+)+$", r"a\b"]


@pytest.mark.parametrize("pattern", ALL_AT_ONCE)
@pytest.mark.parametrize("texts", [TEXTS, [*TEXTS, b"a\xff"], []])
def test_texts_are_replaced_at_once_as_one_by_one(pattern, texts):
    compiled = re2.compile_pattern(pattern.encode())
    for rewrite in REWRITES:
        result = replace_all(compiled, rewrite, texts)
        one_by_one = [re2.encode(replace(compiled, rewrite, re2.decode(text), everywhere=True)) for text in texts]
        assert result is None or result == one_by_one
    assert (replace_all(compiled, "x", TEXTS) is None) == (compiled.asserts or pattern == "a*")


BOMBS = [r"(a+)+$", r"^(a|aa)+$", r"(a*)*b", r"(.*)(.*)(.*)(.*)(.*)b", r"(a?){60}a{60}b", r"([a-z]+)*=", r"(a|a)*b"]


@pytest.mark.parametrize("pattern", BOMBS)
def test_no_text_takes_long(pattern):
    text = "a" * 20_000 + "!"
    start = time.monotonic()
    compiled = re2.compile_pattern(pattern.encode())
    assert not compiled.fullmatch(text)
    assert replace(compiled, "-", text, everywhere=False) in (text, "-" + text)
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (b"((((a{100}){100}){100}){100})", r"invalid repetition size: \{100\}"),
        (b"((()()){1000}){1000}", r"invalid repetition size: \{1000\}"),
        (b"(a{1000})" * 200, "pattern too large"),
        (b"(" * 5000 + b")" * 5000, "expression nests too deeply"),
    ],
)
def test_patterns_that_are_refused(pattern, reason):
    with pytest.raises(re2.PatternError, match=reason):
        re2.compile_pattern(pattern)


def test_huge_text_is_matched_character_by_character():
    compiled = re2.compile_pattern(rb"<[^>]+>")
    assert replace(compiled, "-", "<b>" * 50_000 + "<" * 50_000, everywhere=True) == "-" * 50_000 + "<" * 50_000


REFUSED = {
    "\\E": "invalid escape sequence: \\E",
    "[[:uppe r:]]": "invalid character class range: [:uppe r:]",
    "\\p^": "invalid character class range: \\p^",
    "\\p{^}": "invalid character class range: \\p{^}",
    "\\pq": "invalid character class range: \\pq",
    "\\p{": "invalid character class range: \\p{",
    "\\p{Cn}": "invalid character class range: \\p{Cn}",
    "(?:a{3}){400}": "invalid repetition size: {400}",
    "a\\": "trailing \\",
    "(?P<n": "invalid named capture group: (?P<n",
    "(?P<>a)": "invalid named capture group: (?P<>",
    "(?P=n)": "invalid perl operator: (?P",
    "(?<m>b)": "invalid perl operator: (?<",
    "(?i-)": "invalid perl operator: (?i-)",
    "(?s[": "invalid perl operator: (?s[",
    "(?i": "invalid perl operator: (?i",
    "\\x{110000}": "invalid escape sequence: \\x{110000",
    "\\xg": "invalid escape sequence: \\xg",
    "[a-\\d]": "invalid escape sequence: \\d",
    "[b-a]": "invalid character class range: b-a",
    "x{2}{3}?": "bad repetition operator: {2}{3}?",
    "\\8": "invalid escape sequence: \\8",
}


@pytest.mark.parametrize("pattern", REFUSED)
def test_reasons_of_refusals(pattern):
    with pytest.raises(re2.PatternError) as refused:
        re2.compile_pattern(pattern.encode())
    assert str(refused.value) == REFUSED[pattern]


TAKEN = {
    "\\_": "ab\u00e9<_>aaa b",
    "a(?i)*": "<a>b<>\u00e9<>_<aaa> <>b<>",
    "(?)a": "<a>b\u00e9_<a><a><a> b",
    "(?P<n>a)(?P<n>b)": "<ab>\u00e9_aaa b",
    "(?P<\u00e9>a)": "<a>b\u00e9_<a><a><a> b",
    "ab\\Q\\E*": "<ab>\u00e9_<a><a><a> b",
    "\\p{Greek}": "ab\u00e9_aaa b",
}


@pytest.mark.parametrize("pattern", TAKEN)
def test_odd_patterns(pattern):
    text = "ab\u00e9_aaa b"
    assert replace(re2.compile_pattern(pattern.encode()), r"<\0>", text, everywhere=True) == TAKEN[pattern]
