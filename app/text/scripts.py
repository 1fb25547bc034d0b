"""Which script a character is of. The constants stand inside the brackets of a regular expression: ``f"[{HAN}]"``."""

import re

HAN = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese characters, in whatever language."""
KANA = "\u3031-\u3035\u3041-\u3096\u309d-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_BOPOMOFO = "\u3100-\u312f\u31a0-\u31bf"
HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc"
CJK = HAN + KANA + _BOPOMOFO + HANGUL
"""Chinese, Japanese and Korean: a character says as much as a short word."""
UNSPACED = f"{CJK}\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Those, and Thai, Lao, Burmese and Khmer, which put no space between words either."""
MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
"""Marks that belong to a word although ``\\w`` does not know them: accents, vowel points, Indic vowel signs."""

_CJK_CHARACTER = re.compile(f"[{CJK}]")
_HAN_CHARACTER = re.compile(f"[{HAN}]")
_LATIN_LETTER = re.compile("[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff]")


def is_cjk(character: str) -> bool:
    """Whether the first character is a Chinese, Japanese or Korean one."""
    return _CJK_CHARACTER.match(character) is not None


def han_count(text: str) -> int:
    """How many Chinese characters are in ``text``."""
    return 0 if text.isascii() else len(_HAN_CHARACTER.findall(text))


def weight(text: str) -> int:
    """The length of ``text`` in characters, trimmed; a Chinese, Japanese or Korean one is 3: it says as much."""
    text = text.strip()
    return len(text) if text.isascii() else len(text) + 2 * len(_CJK_CHARACTER.findall(text))


def alphabet(text: str) -> str:
    """``latin``, ``cjk`` or ``other``: that of most letters, where a Chinese, Japanese or Korean one counts as 3; empty
    for a text without letters."""
    if text.isascii():
        return "latin" if any(map(str.isalpha, text)) else ""
    letters = sum(map(str.isalpha, text))
    if not letters:
        return ""
    cjk, latin = len(_CJK_CHARACTER.findall(text)), len(_LATIN_LETTER.findall(text))
    counts = {"latin": latin, "cjk": 3 * cjk, "other": letters - cjk - latin}
    return max(counts, key=counts.__getitem__)
