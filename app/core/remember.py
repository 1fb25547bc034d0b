"""Does the user ask, in so many words, to remember something? Then the turn is committed soon, not at a threshold.

Short facts that were asked to be kept never reach the threshold by themselves. English and Chinese.
"""

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_INLINE_CODE = re.compile(r"`[^`\n]{1,500}`")
_ASKS = re.compile(
    r"(?:^|[.!?;:,，。！？；：、\n(\"]|\b(?:please|pls|also|and|then|but|must|should|to|always|just|can you|could you|"
    r"will you|would you|hey|ok|okay))[ \t]{0,4}"
    r"(?:"
    r"remember(?! (?:when|how|what|who|where|why|which|me\b))(?=[ \t,:：]|$)"
    r"|(?:do not|don't|dont|never) forget(?=[ \t,:：]|$)"
    r"|(?:keep|bear) in mind(?=[ \t,:：]|$)"
    r"|(?:make|take) (?:a |an )?(?:mental )?note(?=[ \t,:：.]|$)"
    r"|note (?:that|down)\b"
    r"|memori[sz]e (?:this|that|the|my)\b"
    r"|(?:save|store|add|commit|write) (?:this|that|it) (?:to|in|into) (?:your |the )?(?:long-term )?memory\b"
    r")",
    re.IGNORECASE,
)
_ASKS_CHINESE = re.compile(
    r"(?<![我没還还没不曾有])"
    r"(?:(?:请|請|帮我|幫我|给我|給我|要|务必|務必|一定|好好|必须)?(?:记住|記住|记下|記下|牢记|牢記|记好|記好|记一下|記一下)"
    r"(?!了[吗嗎没沒么])|(?:请|請|务必|務必|一定要?|要)(?:记得|記得)|(?:别|不要|莫|勿)忘(?:记|記|了)|下次不要再|以后不要再|以後不要再)"
)


def asks_to_remember(text: str) -> bool:
    """True when ``text`` asks to remember something, outside code and quotations. Linear in its length."""
    spoken = _without_code(text)
    return bool(_ASKS.search(spoken) or _ASKS_CHINESE.search(spoken))


def _without_code(text: str) -> str:
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
        elif not line.lstrip().startswith(">"):
            lines.append(_INLINE_CODE.sub(" ", line))
    return "\n".join(lines)
