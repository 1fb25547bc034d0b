"""Words of a text in any language, for overlap and for the embedded engine's index.

Alphabetic scripts give lower-cased words. Chinese, Japanese and Korean give character bigrams: a match that knows only
``[a-z0-9]`` finds nothing there, and trigrams miss two-character words.
Scripts that put no space between words (Thai, Lao, Khmer, Burmese) are cut the same way.
"""

import re
import unicodedata

_CJK_RANGES = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u309d-\u30fa\u30fc-\u318f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
)
_UNSPACED_RANGES = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"
_MARK_RANGES = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
"""Marks that belong to a word although ``\\w`` does not know them: accents, vowel points, Indic vowel signs."""

CJK = re.compile(f"[{_CJK_RANGES}]")
"""One Chinese, Japanese or Korean character."""

_UNSPACED = f"{_CJK_RANGES}{_UNSPACED_RANGES}"
_LETTER = f"(?:[^\\W_{_UNSPACED}]|[{_MARK_RANGES}])"
_TOKEN = re.compile(f"(?P<run>[{_UNSPACED}]++)|{_LETTER}++(?:['’]{_LETTER}++)?+")

STOP_WORDS = frozenset(
    """
    a about am an and any are as at be been but by can could did do does for from had has have he her him his how
    i if in into is it its just let like me my no not of on or our please she should so some than that the their them
    then there these they this those to too us was we were what when where which who whom whose why will with would
    you your
    我们 你们 他们 她们 咱们 什么 怎么 怎样 为什 哪里 哪个 哪些 哪儿 是谁 这个 那个 这些 那些 一个 一下 一些 可以 可不
    是不 不是 有没 没有 的话 就是 还是 或者 以及 因为 所以 但是 如果 请问 告诉 我的 你的 他的 她的 的是 了吗 是什 么是
    么样 多少 几个
    我 你 他 她 它 的 了 吗 呢 吧 啊 呀 哦 嗯 是 在 有 和 与 就 都 也 还 很 请 把 被 让 给 对 这 那 哪 谁 几
    """.split()  # noqa: SIM905 (a list of quoted words would hide the words)
)
"""Words that say nothing about what a text is about; English, and Chinese as bigrams and single characters."""


def tokens(text: str) -> list[str]:
    """The words of ``text`` in order, repeats and stop words included: what an index counts."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    found: list[str] = []
    for token in _TOKEN.finditer(text.lower()):
        if token.lastgroup == "run":
            found.extend(_bigrams(token.group()))
        else:
            found.append(_stem(token.group()))
    return found


def token_set(text: str) -> frozenset[str]:
    """The different words of ``text`` that say something; all of them when only stop words are left."""
    found = frozenset(tokens(text))
    return found - STOP_WORDS or found


def overlap(query: frozenset[str], text: str) -> float:
    """The share (0 to 1) of the query's words (`token_set`) that ``text`` has; 0 for an empty query."""
    return len(query.intersection(tokens(text))) / len(query) if query else 0.0


def _bigrams(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _stem(word: str) -> str:
    """Without an English possessive or plural ending, so that "Ana's flights" meets "flight"."""
    word = word.replace("’", "'").removesuffix("'s")
    if len(word) < 4 or not word.isascii() or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    return word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]
