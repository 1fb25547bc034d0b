"""Words of a text in any language, for overlap and for the embedded backend's index.

Alphabetic scripts give lower-cased words. Chinese, Japanese and Korean give character bigrams: a match that knows only
``[a-z0-9]`` finds nothing there, and trigrams miss two-character words.
Scripts that put no space between words (Thai, Lao, Khmer, Burmese) are cut the same way.
"""

import re
import unicodedata

from app.text.scripts import MARKS, UNSPACED

_LETTER = f"(?:[^\\W_{UNSPACED}]|[{MARKS}])"
_TOKEN = re.compile(f"(?P<run>[{UNSPACED}]++)|{_LETTER}++(?:['’]{_LETTER}++)?+")

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


def folded(text: str) -> str:
    """``text`` in small letters, with one form for each character (NFKC): as words are compared."""
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).lower()


def tokens(text: str) -> list[str]:
    """The words of ``text`` in order, repeats and stop words included: what an index counts."""
    found: list[str] = []
    for token in _TOKEN.finditer(folded(text)):
        if token.lastgroup == "run":
            found.extend(_bigrams(token.group()))
        else:
            found.append(_stem(token.group()))
    return found


def token_set(text: str) -> frozenset[str]:
    """The different words of ``text`` that say something; all of them when only stop words are left."""
    found = frozenset(tokens(text))
    return found - STOP_WORDS or found


def _bigrams(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _stem(word: str) -> str:
    """Without an English possessive or plural ending, so that "Ana's flights" meets "flight"."""
    word = word.replace("’", "'").removesuffix("'s")
    if len(word) < 4 or not word.isascii() or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    return word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]


_NAME = re.compile(r"(?<![^\W_])(?:[A-Z]{2,}|(?=[^\W\d_]*\d)(?=\d*[^\W\d_])[A-Za-z0-9]{2,12})(?![^\W_])")


def names_something(text: str) -> bool:
    """Whether a few characters are the name of a thing: letters and digits in one ("k8s"), or capitals ("GHA")."""
    return _NAME.search(text[:40]) is not None
