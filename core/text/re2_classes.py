"""The character classes of RE2's patterns as ranges between the brackets of `re`.

A class holds no surrogates: in the text of `re2.decode` a surrogate is a byte that is not UTF-8.
"""

from __future__ import annotations

import functools
import sys
import unicodedata
from collections.abc import Iterable, Iterator

SURROGATES = "\\udc80-\\udcff"
"""The surrogates of `surrogateescape`, which no class, dot or negation matches."""
NOTHING = "[^\\x00-\\U0010ffff]"
"""A pattern of one character that no character matches."""
PERL = {"d": "0-9", "s": "\\t\\n\\f\\r ", "w": "0-9A-Za-z_"}
POSIX = {
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
_SCRIPTS = """
    Adlam 167 Ahom 161 Anatolian_Hieroglyphs 156 Arabic 2 Armenian 3 Avestan 117 Balinese 62 Bamum 130 Bassa_Vah 134 Batak 63
    Bengali 4 Bhaiksuki 168 Bopomofo 5 Brahmi 65 Braille 46 Buginese 55 Buhid 44 Canadian_Aboriginal 40 Carian 104
    Caucasian_Albanian 159 Chakma 118 Cham 66 Cherokee 6 Chorasmian 189 Common 0 Coptic 7 Cuneiform 101 Cypriot 47 Cyrillic 8
    Deseret 9 Devanagari 10 Dives_Akuru 190 Dogra 178 Duployan 135 Egyptian_Hieroglyphs 71 Elbasan 136 Elymaic 185
    Ethiopic 11 Georgian 12 Glagolitic 56 Gothic 13 Grantha 137 Greek 14 Gujarati 15 Gunjala_Gondi 179 Gurmukhi 16 Han 17
    Hangul 18 Hanifi_Rohingya 182 Hanunoo 43 Hatran 162 Hebrew 19 Hiragana 20 Imperial_Aramaic 116 Inherited 1
    Inscriptional_Pahlavi 122 Inscriptional_Parthian 125 Javanese 78 Kaithi 120 Kannada 21 Katakana 22 Kayah_Li 79
    Kharoshthi 57 Khitan_Small_Script 191 Khmer 23 Khojki 157 Khudawadi 145 Lao 24 Latin 25 Lepcha 82 Limbu 48 Linear_A 83
    Linear_B 49 Lisu 131 Lycian 107 Lydian 108 Mahajani 160 Makasar 180 Malayalam 26 Mandaic 84 Manichaean 121 Marchen 169
    Masaram_Gondi 175 Medefaidrin 181 Meetei_Mayek 115 Mende_Kikakui 140 Meroitic_Cursive 141 Meroitic_Hieroglyphs 86 Miao 92
    Modi 163 Mongolian 27 Mro 149 Multani 164 Myanmar 28 Nabataean 143 Nandinagari 187 New_Tai_Lue 59 Newa 170 Nko 87
    Nushu 150 Nyiakeng_Puachue_Hmong 186 Ogham 29 Ol_Chiki 109 Old_Hungarian 76 Old_Italic 30 Old_North_Arabian 142
    Old_Permic 89 Old_Persian 61 Old_Sogdian 184 Old_South_Arabian 133 Old_Turkic 88 Oriya 31 Osage 171 Osmanya 50
    Pahawh_Hmong 75 Palmyrene 144 Pau_Cin_Hau 165 Phags_Pa 90 Phoenician 91 Psalter_Pahlavi 123 Rejang 110 Runic 32
    Samaritan 126 Saurashtra 111 Sharada 151 Shavian 51 Siddham 166 SignWriting 112 Sinhala 33 Sogdian 183 Sora_Sompeng 152
    Soyombo 176 Sundanese 113 Syloti_Nagri 58 Syriac 34 Tagalog 42 Tagbanwa 45 Tai_Le 52 Tai_Tham 106 Tai_Viet 127 Takri 153
    Tamil 35 Tangut 154 Telugu 36 Thaana 37 Thai 38 Tibetan 39 Tifinagh 60 Tirhuta 158 Ugaritic 53 Vai 99 Wancho 188
    Warang_Citi 146 Yezidi 192 Zanabazar_Square 177
"""
"""The scripts of RE2, each with ICU's number (UScriptCode), as in unicode_scripts.txt."""


def code_range(low: int, high: int) -> str:
    """Return a range of code points without surrogates; nothing where all are surrogates."""
    if low > 0xDFFF or high < 0xD800:
        return _code(low) if low == high else f"{_code(low)}-{_code(high)}"
    below = code_range(low, 0xD7FF) if low < 0xD800 else ""
    return below + (code_range(0xE000, high) if high > 0xDFFF else "")


def literal(code: int) -> str:
    """Return a pattern of one code point."""
    return code_range(code, code) or NOTHING


def _code(code: int) -> str:
    return f"\\U{code:08x}"


@functools.cache
def named_class(name: str) -> str | None:
    r"""Return the ranges of `\p{name}`, a general category (L, Lu) or a script (Greek); None for another name."""
    if name == "Any":
        return code_range(0, sys.maxunicode)
    if name in _script_numbers():
        return _of_script(_script_numbers()[name])
    if len(name) > 2:
        return None
    if name == "Cs":
        return ""
    category = unicodedata.category
    codes = (
        code for code in range(sys.maxunicode + 1) if category(chr(code)).startswith(name) and category(chr(code)) != "Cn"
    )
    return "".join(code_range(low, high) for low, high in _runs(codes)) or None if name else None


@functools.cache
def _script_numbers() -> dict[str, int]:
    words = _SCRIPTS.split()
    return dict(zip(words[::2], map(int, words[1::2])))


def _of_script(number: int) -> str:
    from .unicode import script_ranges

    return "".join(code_range(low, high) for low, high in script_ranges(number))


def _runs(codes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each run of consecutive code points."""
    first = last = None
    for code in codes:
        if last is None or code != last + 1:
            if first is not None and last is not None:
                yield first, last
            first = code
        last = code
    if first is not None and last is not None:
        yield first, last
