"""What a query is after, as far as ranking needs to know."""

import re

_TIME = re.compile(
    r"\b(?:when|what (?:time|date|day|month|year)|which (?:date|day|week|month|year)|how long|yesterday|today|tomorrow"
    r"|tonight|ago|recent(?:ly)?|latest|(?:last|next|this|past) (?:night|week|weekend|month|year|spring|summer"
    r"|autumn|fall|winter|time|\w+day)|since|until|date|schedule[ds]?|deadline|birthday|anniversary)\b"
    r"|\b(?:19|20)\d\d\b"
    r"|什么时候|什么时间|何时|哪天|哪一天|哪年|哪一年|几号|几月|几点|多久|昨天|今天|明天|前天|后天|昨晚|今晚"
    r"|[上下本这]个?(?:周|星期|礼拜|月)|去年|今年|明年|前年|最近|之前|以前|上次|日期|生日|[0-9]{1,2}月|[0-9]{4}年",
    re.IGNORECASE,
)


def asks_when(query: str) -> bool:
    """Whether ``query`` is about a time, in English or Chinese, by its words alone. Linear in its length."""
    return _TIME.search(query) is not None
