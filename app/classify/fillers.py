"""Which messages are no query: nothing could usefully be looked up for "hi", "好的", "continue" or a bare "/new".

A message is no query when it is made of filler phrases *only*; one word that names something makes it a query. So
the text is covered from left to right with phrases of ``weights/fillers.json``, and what can not be covered decides.
Linear: only texts of at most 160 characters can be filler, and each position tries phrases of bounded length.
"""

import json
import re
import unicodedata
from functools import cache, lru_cache
from importlib.resources import files

from app.text.scripts import HAN, KANA, MARKS
from app.text.words import folded

MAX_FILLER_CHARS = 160
"""A longer text is never filler (a host's retry wrapper excepted)."""

_LONGEST = 8
"""Words of the longest phrase that is tried."""
_LONGEST_RUN = 12
"""Characters of the longest Chinese or Japanese phrase that is tried."""
_UNSPACED = re.compile(f"[{HAN}{KANA}]")
"""Characters of scripts that put no spaces between words."""
_NAMING = re.compile(rf"[{HAN}{KANA}]+|(?:[^\W_{HAN}{KANA}]|[{MARKS}'#@+./-])+")
"""Words of a text in small letters: a run of Chinese or Japanese characters, or of any other letters and digits."""

_COMMAND = re.compile(r"/[A-Za-z][\w:-]{0,40}(?:@\w{1,40})?")
_CONTROL = re.compile(
    r"/(?:new|reset|stop|clear|compact|status|help|exit|quit|undo|redo|retry|continue|resume|restart|abort|think|"
    r"thinking|verbose|reasoning|model|models|queue|usage|mode|fast|elevated|activation|send|tools|skills|context|"
    r"session|sessions|history|login|logout|config|settings|approve|deny|whoami|version|cost|init|mute|unmute|start|"
    r"menu|lang|language|debug|trace|t|v)"
    r"(?: [\w./:-]{1,40}){0,2}", re.IGNORECASE)  # fmt: skip
_WRAPPER = re.compile(
    r"\[?(?:continue where you left off|(?:the )?(?:previous|last) (?:model )?(?:attempt|request|run|response|turn|"
    r"reply) (?:failed|timed out|was (?:interrupted|aborted|cut off|empty|incomplete))|"
    r"openclaw heartbeat|heartbeat(?:_ok| poll| check)?\b|no_reply\b|read heartbeat\.md|your (?:previous|last) "
    r"(?:response|reply|message|turn) (?:was|got|had|did|contained|only)|"
    r"(?:system(?: message| note)?: ?)?(?:\[)?(?:auto[- ]?retry|automatic retry|retry(?:ing)?(?: after| attempt| \d| "
    r"\(|:|\b.{0,20}error))|please (?:retry|try again|continue) (?:after|because|since|from)|(?:the )?(?:connection|"
    r"stream|request) (?:was )?(?:lost|interrupted|aborted|timed out|dropped|reset)\b.{0,40}(?:continue|retry|again)|"
    r"(?:resume|continue|retry)\b.{0,30}(?:interrupted|failed|aborted|previous|last) (?:attempt|turn|request|"
    r"response|run|task|reply|generation)|\[?request interrupted|上一次(?:请求|尝试|回复|调用|模型).{0,12}(?:失败|"
    r"超时|中断)|请从(?:上次|"
    r"刚才)?(?:中断|断开|停下)的地方继续|(?:自动)?重试[:：(（\[]|系统(?:消息|提示)[:：].{0,20}(?:重试|继续|中断))",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)
def no_query_reason(text: str) -> str | None:
    """Why nothing can be looked up: ``empty``, ``symbols``, ``command``, ``wrapper``, ``filler``; None for a query.

    Kept for the latest texts: one request asks several times.
    """
    head = text[: 4 * MAX_FILLER_CHARS].strip()
    if not head:
        return "empty" if not text.strip() else None
    if len(text) <= 4 * MAX_FILLER_CHARS and _WRAPPER.match(head) and len(text.split("\n")) <= 6:
        return "wrapper"
    if len(text.strip()) > MAX_FILLER_CHARS:
        return None
    if _COMMAND.fullmatch(head) or _CONTROL.fullmatch(head):
        return "command"
    words = [word for word in _NAMING.findall(_plain(head)) if word.isalnum() or any(map(str.isalnum, word))]
    if not words:
        return "symbols"
    return "filler" if _is_filler(words) else None


def is_no_query(text: str) -> bool:
    """True when nothing could usefully be looked up for ``text``; false for a short text that names something."""
    return no_query_reason(text) is not None


def _plain(text: str) -> str:
    plain = folded(text).replace("’", "'").replace("‘", "'")
    signs = {ord(sign): None for sign in set(plain) - _USUAL if _is_mere_sign(sign)}
    return plain.translate(signs) if signs else plain


def _is_mere_sign(sign: str) -> bool:
    """Whether it is an emoji, or a mark that nobody sees."""
    if sign.isalnum():
        return False
    return unicodedata.category(sign) in {"So", "Sk", "Cf", "Cn"} or "\ufe00" <= sign <= "\ufe0f"


_USUAL = frozenset(sign for sign in map(chr, range(128)) if not _is_mere_sign(sign))


@cache
def _phrases(kind: str) -> frozenset[str]:
    """The phrases of all languages: ``fillers``, or ``softeners``, which only stand around a filler."""
    languages = json.loads((files("app.classify") / "weights" / "fillers.json").read_text(encoding="utf-8"))
    return frozenset(phrase for language in languages.values() for phrase in language[kind])


def _is_filler(words: list[str]) -> bool:
    """Whether the words can be covered by fillers and softeners, with at least one filler."""
    known, softeners = _phrases("fillers"), _phrases("softeners")
    index, fillers = 0, 0
    while index < len(words):
        if _UNSPACED.match(words[index]):
            covered = _covers_run(words[index])
            if covered is None:
                return False
            fillers, index = fillers + covered, index + 1
            continue
        for size in range(min(_LONGEST, len(words) - index), 0, -1):
            phrase = " ".join(words[index : index + size]).strip(".-'")
            stretched = size == 1 and _is_stretched(phrase)
            if phrase in known or phrase in softeners or not phrase or stretched:
                fillers += phrase in known or stretched
                index += size
                break
        else:
            return False
    return fillers > 0


_STRETCHED = re.compile(
    r"(?:(?:ha)+h?|(?:he)+h?|l+o+l+|h+m+|m+h*m+|a+h+|o+h+|u+h+|y+a+y+|w+o+w+|y+e+s+|n+o+|so+|h+i+|h+e+y+|o+k+|t+h+x+|"
    r"a+w+|x+d+|z+|6+|2?3{2,}|8{2,3}|7{3})"
)


def _is_stretched(word: str) -> bool:
    return len(word) <= 24 and _STRETCHED.fullmatch(word) is not None


def _covers_run(run: str) -> int | None:
    """How many fillers cover this run without spaces whole (as many as possible); None if they do not."""
    fillers, softeners = _phrases("fillers"), _phrases("softeners")
    best: list[int | None] = [0] + [None] * len(run)
    for start in range(len(run)):
        reached = best[start]
        if reached is None:
            continue
        for end in range(start + 1, min(len(run), start + _LONGEST_RUN) + 1):
            piece = run[start:end]
            if (
                piece in fillers
                or piece in softeners
                or (piece == run[start] * (end - start) and piece[0] in "哈嗯哦啊呵嘿嘻呜好对是行")
            ):
                best[end] = max(best[end] or 0, reached + (piece in fillers))
    return best[-1]
