"""Whether a text asks, in so many words, to remember something: English and Chinese."""

import re
from collections.abc import Iterable

from app.text.markdown import own_lines, without_inline_code

_BEGINNING = (
    r"(?:^|[.!?;:,，。！？；：、\n(\"]|\b(?:please|pls|also|and|then|but|must|should|to|always|just|can you|could you|"
    r"will you|would you|hey|ok|okay))[ \t]{0,4}"
)
_POLITE = r"(?:(?:please|pls|also|and|ok|okay|hey|so|but|just|can you|could you)[ ,]+){0,3}"
_VERBS = (
    r"(?:(?:do not|don['’]?t|never) forget|(?:keep|bear) in mind|(?:make|take) (?:an? )?(?:mental )?note|memori[sz]e)"
)
_ASKS = re.compile(
    rf"{_BEGINNING}(?:remember(?! (?:when|how|what|who|where|why|which|me\b))(?=[ \t,:：]|$)|{_VERBS}(?=[ \t,:：.]|$)"
    r"|note (?:that|down)\b"
    r"|(?:save|store|add|commit|write) (?:this|that|it) (?:to|in|into) (?:your |the )?(?:long-term )?memory\b)",
    re.IGNORECASE,
)
_VERBS_CHINESE = "(?:记住|記住|记下|記下|牢记|牢記|记好|記好|记一下|記一下)"
_NOT_FORGET_CHINESE = "(?:别|不要|莫|勿)忘(?:记|記|了)"
_ASKS_CHINESE = re.compile(
    r"(?<![我没還还没不曾有])"
    rf"(?:(?:请|請|帮我|幫我|给我|給我|要|务必|務必|一定|好好|必须)?{_VERBS_CHINESE}(?!了[吗嗎没沒么])"
    rf"|(?:请|請|务必|務必|一定要?|要)(?:记得|記得)|{_NOT_FORGET_CHINESE}|下次不要再|以后不要再|以後不要再)"
)
_NEEDED = ("remember", "forget", "mind", "note", "memor", "记", "記", "忘", "不要再")
"""One of these is in every request: most texts have none, and are done with in a hundredth of the time."""
_TOLD = re.compile(
    rf"{_POLITE}(?:remember|note|{_VERBS})(?:[ ,:]+(?:that|this|down|the following))?[ ,:]+(?P<what>\S.{{3,}})"
    rf"|(?:请|請|帮我|幫我|你要|务必|一定要)?(?:{_VERBS_CHINESE}|记得|記得|{_NOT_FORGET_CHINESE})(?:一下)?[：:，,、 ]*"
    r"(?P<zh>\S.{2,})",
    re.IGNORECASE,
)


def asks_to_remember(text: str) -> bool:
    """True when ``text`` asks to remember something, outside code and quotations. Linear in its length."""
    spoken = _spoken(text, _NEEDED)
    return bool(_ASKS.search(spoken) or _ASKS_CHINESE.search(spoken))


_ASKING = ("ask", "prompt", "remind", "bother", "pester", "suggest", "offer", *"问問询詢提确確")
_NOT_ASKED = re.compile(
    r"\b(?:(?:do not|don['’]?t|never|no need to|you need not|please stop) (?:ever )?"
    r"(?:ask|prompt|remind|bother|pester|suggest|offer)(?:ing)?\b[^.!?\n]{0,80}?"
    r"\b(?:again|any ?more|every time|each time)"
    r"|stop asking (?:me )?[^.!?\n]{0,80})"
    r"|(?:别|別|不要|不用|不必|甭|勿)(?:再|每次都?)(?:来)?(?:问|問|询问|詢問|提醒|让我确认|讓我確認|跟我确认|提这|提這)"
    r"|(?:以后|以後|下次|今后|今後)(?:都)?(?:别|別|不要|不用|不必)(?:再)?(?:问|問|询问|詢問|提醒|让我确认|讓我確認)",
    re.IGNORECASE,
)


def is_not_to_be_asked(text: str) -> bool:
    """True when ``text`` asks not to be asked, or reminded, again. Linear in its length."""
    return bool(_NOT_ASKED.search(_spoken(text, _ASKING)))


def told_to_remember(sentence: str) -> str:
    """What is to be remembered, where ``sentence`` begins by asking for it; empty where it does not."""
    told = _TOLD.match(sentence)
    return (told["what"] or told["zh"]).strip() if told else ""


def _spoken(text: str, needed: Iterable[str]) -> str:
    """The text outside code and quotations; empty where none of the ``needed`` words is in it."""
    folded = text.lower()
    if not any(word in folded for word in needed):
        return ""
    return "\n".join(map(without_inline_code, own_lines(text)))
