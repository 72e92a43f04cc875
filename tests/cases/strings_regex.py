"""Cases of the strings_regex family."""

from tests.opcases import case
from tests.opcases import string_array as strings

TEXTS = strings(["abc", "aXbX", b"a\xffb", "é1 É", "baac", "a\nb\n", "", "a.b", "k2"])
PATTERNS = (
    "a*", "", ".", "(?s).", "$", "(?m)^", r"\b", "(a)|(b)", "[[:alpha:]]+", r"\w", r"\W", r"\pL", r"\p{Lu}", r"[^a]",
    "(?i)é", r"\Qa.b\E", "a(?i)B", "a??", "[b-x]", r"\x{61}", r"(?P<x>b)", r"[\d\s]", r"[^\D]", "(?:a|b)+?", "a{1,2}", "a{,3}",
)  # fmt: skip
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
    case("StaticRegexFullMatch", TEXTS, pattern="a.*"),
    case("StaticRegexFullMatch", TEXTS, pattern="("),
    case("StaticRegexReplace", TEXTS, pattern="[ab]", rewrite=r"\0\0"),
    case("StaticRegexReplace", TEXTS, pattern="b", rewrite=r"", replace_global=False),
]
