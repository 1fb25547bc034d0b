"""Whether a question asks for what was: English and Chinese, and the plainest words of some other languages.

"Before" tells it at the end or behind a verb in the past; "before Friday" and 周五之前 set a date.
"""

import re

_PAST = re.compile(
    r"\b(?:used to|before(?=\W*$)|(?:did|was|were|had)\b(?=[^.!?\n]{0,80}\bbefore\b)"
    r"|previous(?:ly)?|former(?:ly)?|originally|at first|in the past|back then|history of|earlier"
    r"|(?:my|our|the) old|früher\w*|vorher\w*|ehemalig\w*|avant|auparavant|antes|anterior(?:es)?|prima|раньше"
    r"|прежн\w*)\b"
    r"|(?<![\d点號号日月年周天一二三四五六七八九十])(?:以前|之前)|原来|原來|原先|过去|過去|曾经|曾經|当初|當初|昔|예전|이전",
    re.IGNORECASE,
)


def asks_about_past(query: str) -> bool:
    """Whether what holds no more is an answer to ``query``. Linear in its length."""
    return _PAST.search(query) is not None
