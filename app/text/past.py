"""Whether a question asks for what was: English and Chinese, and the plainest words of some other languages."""

import re

_PAST = re.compile(
    r"\b(?:used to|before|previous(?:ly)?|former(?:ly)?|originally|at first|in the past|back then|history of|earlier"
    r"|(?:my|our|the) old|früher\w*|vorher\w*|ehemalig\w*|avant|auparavant|antes|anterior(?:es)?|prima|раньше"
    r"|прежн\w*)\b"
    r"|以前|之前|原来|原來|原先|过去|過去|曾经|曾經|当初|當初|昔|예전|이전",
    re.IGNORECASE,
)


def asks_about_past(query: str) -> bool:
    """Whether what holds no more is an answer to ``query``. Linear in its length."""
    return _PAST.search(query) is not None
