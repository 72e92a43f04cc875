"""Cases of the strings_regex family."""

from tests.opcases import case
from tests.opcases import string_array as strings

TEXTS = strings(["abc", "aXbX", b"a\xffb", "é1 É", "baac", "a\nb\n", "", "a.b", "k2"])
PATTERNS = (
    "a*", "", ".", "(?s).", "$", "(?m)^", r"\b", "(a)|(b)", "[[:alpha:]]+", r"\w", r"\W", r"\pL", r"\p{Lu}", r"[^a]",
    "(?i)é", r"\Qa.b\E", "a(?i)B", "a??", "[b-x]", r"\x{61}", r"(?P<x>b)", r"[\d\s]", r"[^\D]", "(?:a|b)+?", "a{1,2}", "a{,3}",
)  # fmt: skip
ODD_TEXTS = strings(
    ["b aa", "a..b", "abcd aab", "ab\ncd", "é語 🙂k\u212a", b"a\xff\x80b\xc3", "i\u0130\u0131", b"\xed\xa0\x80a\xf4\x90"]
)
ODD = (
    "(b*)+", r"(a|ab)*?\B", "a+?b??", "(a|ab)(c|bcd)(d*)", r"(?m:^)\w|\b", r"\Qa.\E+", r"[^\d\s]+", "(?i)k|i", r"\C",
    r"\C\C|a*", "(?s).", r"[\x{D000}-\x{E001}]", "a(?i)*", "(?)a", "(?P<é>a)", r"ab\Q\E*",
    r"\p{Greek}", r"\p{^Latin}", r"(a)|(b)|\b", "(?U)a+|",
)  # fmt: skip
"""Empty matches after matches, inside characters and between bytes that are none; classes, flags and quotations."""
MANY = "a{" + "1" * 5000 + "}"
"""A repetition of more digits than RE2 reads stands for its characters."""
BAD = ("(", "a**", "a++", "(?=a)", r"(a)\1", "a{1001}", r"\Za", "*a", "[", r"\p{Nope}", ")")

CASES = [
    *[case("RegexFullMatch", TEXTS, strings(p), key=f"full {p}") for p in PATTERNS],
    *[case("RegexReplace", TEXTS, strings(p), strings(r"[\0]"), key=f"replace {p}") for p in PATTERNS],
    *[case("RegexFullMatch", TEXTS, strings(p), key=f"bad {p}") for p in BAD],
    *[
        case("RegexReplace", TEXTS, strings("(b)"), strings(w), replace_global=everywhere, key=f"rewrite {w} {everywhere}")
        for w in (r"<\1\1>", r"\2", r"x\y", "x\\", r"\\")
        for everywhere in (True, False)
    ],
    case("RegexReplace", TEXTS, strings(["a"]), strings("b")),
    *[
        case("RegexReplace", ODD_TEXTS, strings(p), strings(r"<\0\1>"), replace_global=everywhere, key=f"odd {p} {everywhere}")
        for p in ODD
        for everywhere in (True, False)
    ],
    *[case("RegexFullMatch", ODD_TEXTS, strings(p), key=f"full odd {p}") for p in ODD],
    *[
        case("StaticRegexReplace", ODD_TEXTS, pattern="(a)", rewrite=w, replace_global=every, key=f"static {w} {every}")
        for w in (r"\1\\", r"\2", r"x\y", "x\\", r"\\1", "\\\n", r"\é")
        for every in (True, False)
    ],
    case("RegexFullMatch", strings(["a", MANY]), strings(MANY), key="full digits"),
    case("StaticRegexFullMatch", TEXTS, pattern="a.*"),
    case("StaticRegexFullMatch", TEXTS, pattern="("),
    case("StaticRegexReplace", TEXTS, pattern="[ab]", rewrite=r"\0\0"),
    case("StaticRegexReplace", TEXTS, pattern="b", rewrite=r"", replace_global=False),
]
