"""The rules that tell whether a sentence states something, in English and Chinese: patterns, and what each stands for
(`app.embedded.extraction.statements`). The first that matches counts."""

import re
from collections.abc import Callable
from dataclasses import replace

from app.embedded.extraction.profile import profile_statement
from app.embedded.extraction.statements import (
    Statement,
    event,
    fact,
    favourite,
    habit,
    like,
    prefer,
    slug,
)
from app.text.dates import names_a_day
from app.text.remember import told_to_remember
from app.text.scripts import HAN

_Rule = tuple[re.Pattern[str], Callable[[re.Match[str], str], Statement | None]]

TOLD = 0.95
"""Confidence of what a user asked to remember."""

_END = r"(?= (?:now|these days|nowadays|any ?more|again|instead|with|on|at|because|since|so|and|but)\b|[,.;!()]|$)"
_PLACE = (
    r"(?= (?:now|these days|nowadays|any ?more|again|instead|for|in|when|with|on|at|because"
    r"|since|so|and|but)\b|[,.;!()]|$)"
)


def statement_in(sentence: str, day: str) -> tuple[Statement, str] | None:
    """What ``sentence`` states, and the words that state it; ``day`` (``YYYY-MM-DD``) is when it was said.

    A sentence of at most some hundred characters is expected: the patterns look at it many times.
    """
    told = told_to_remember(sentence)
    said = told or sentence
    found = _first_match(said, day)
    if told:
        found = found or Statement("fact", f"note.{slug(said)}", "entities/notes.md", "Notes", TOLD)
        return replace(found, confidence=TOLD), said
    return (found, said) if found else None


def _first_match(said: str, day: str) -> Statement | None:
    profile = profile_statement(said)
    if profile:
        return profile
    for pattern, make in _RULES:
        match = pattern.search(said)
        statement = make(match, said) if match else None
        if statement:
            return statement
    if _DECISION.search(said):
        return event("decision", said, day, 0.85)
    if names_a_day(said) and _PERSONAL.search(said):
        return event("event", said, day, 0.6)
    return None


_PERSONAL = re.compile(r"\b(?:i|i'm|i'll|i've|we|we'll|we've|we're|my|our)\b|我|咱|我们|我們", re.IGNORECASE)
_DECISION = re.compile(
    r"\b(?:we|i|the team|team)(?:'ve| have|'ll| will)? (?:finally |just |all |both )?"
    r"(?:decided|agreed|chose|settled on|approved|opted)\b|\bdecision:"
    r"|\b(?:let's|we'll|we will|we're going to|we are going to) "
    r"(?:use|go with|switch to|adopt|stick with|migrate to|move to)\b"
    r"|\b(?:deployed|released|shipped|launched) (?:v?\d|the |our )"
    r"|(?:我们|我們|我|团队|團隊|大家|已经|已經|最终|最終)?(?:决定|決定|商定|约定|約定|敲定|选定|選定|同意)(?!不了)"
    r"|(?:改用|采用|採用|统一用|統一用|换成|換成)|发布了|發布了|上线了|上線了|部署了",
    re.IGNORECASE,
)
_ZH_STOP = r"(?=了?(?:[，,。；;！!（(]|$))"

_RULES: tuple[_Rule, ...] = (
    # preferences
    (
        re.compile(
            r"\bI(?:'d| would| do| really| much| strongly| generally| usually| still| now)* (?:prefer|favor|favour)"
            r"(?:red)? (?:to use |using |to )?(?P<a>[^,.;!]{1,60}?)(?: (?:over|to|rather than|instead of) "
            rf"(?P<b>[^,.;!]{{1,60}}?))?(?: (?:for|when|in) (?P<ctx>[^,.;!]{{1,60}}?))?{_END}",
            re.IGNORECASE,
        ),
        prefer,
    ),
    (
        re.compile(
            r"\bmy (?:all-time |absolute )?favou?rite (?P<topic>[^,.;!]{1,40}?) (?:(?:has )?changed to"
            r"|(?:is|are)(?:(?:n't| not| no longer) [^,.;!?]{2,40}?(?:,| but"
            r"| any ?more,?)(?: but)?(?: it's)?)?)(?: now| actually| really| still)*\b",
            re.IGNORECASE,
        ),
        favourite,
    ),
    (re.compile(r"我最(?:喜欢|喜歡|爱|愛)的(?P<topic>.{1,12}?)(?:是|就是)"), favourite),
    (
        re.compile(
            r"\bI(?: really| absolutely| just| also| do| still| no longer| now)* (?:like|love|enjoy"
            r"|adore|hate|dislike|detest|"
            rf"can't stand|cannot stand|don't like|do not like)(?: to"
            rf"| using)? (?P<a>[^,.;!]{{2,60}}?){_PLACE}",
            re.IGNORECASE,
        ),
        like,
    ),
    (
        re.compile(
            r"\bI (?:always|usually|normally|never|only) (?:use|write|work|want|run|drink|eat|take)\b(?P<a>.{2,60})",
            re.I,
        ),
        habit,
    ),
    (
        re.compile(
            r"^(?:please |from now on,? |in (?:the )?future,? )+"
            r"(?:always|never|don't|do not|use|answer|reply|write|keep)\b(?P<a>.{2,80})",
            re.IGNORECASE,
        ),
        habit,
    ),
    (
        re.compile(
            r"我(?:更|比较|比較|还是|還是|一般|平时|平時|一直|现在|現在)*(?:喜欢|喜歡|偏好|偏爱|偏愛|倾向于|傾向於|倾向|宁愿|寧願|习惯|習慣)"
            rf"(?:于|於)?(?:使用|用)?(?P<a>[^，,。；;！!]{{1,40}}?)(?:(?:而不是|胜过|勝過|多过|多過)(?P<b>[^，,。；;！!]{{1,20}}))?{_ZH_STOP}"
        ),
        prefer,
    ),
    (
        re.compile(
            r"我(?:很|特别|特別|非常|超|真的|最|不太|也|都)*(?:爱|愛|讨厌|討厭|不喜欢|不喜歡|受不了|不爱|不愛|不吃|不喝)(?:用)?"
            rf"(?P<a>[^，,。；;！!]{{1,30}}?){_ZH_STOP}"
        ),
        like,
    ),
    (
        re.compile(
            r"(?:^|[，,])(?:以后|以後|今后|今後|从现在起|從現在起)(?:都|请|請|要|回答|写|寫)*(?P<a>.{2,60})"
            r"|我(?:总是|總是|一般|通常|从不|從不|一直)(?:都)?(?:用|写|寫|喝|吃)(?P<b>.{1,40})"
        ),
        habit,
    ),
    # people and projects
    (
        re.compile(
            r"(?:^|[,;] )(?P<name>(?:(?:The|the|Our|our|Project|project) )?[A-Z][\w.-]{1,30}"
            r"(?: (?:[A-Z][\w.-]{0,30}|service|repo|project|team|server|database|API|app|cluster|pipeline)){0,3}) "
            r"(?P<verb>is an|is a|is our|is the|is my|works at|works on|works for|works as|lives in|leads|owns"
            r"|maintains|manages|uses|runs on|runs in|runs at|depends on|is owned by|is written in|is hosted on"
            r"|is hosted at|is deployed on|is built with|is due|listens on|was moved to|moved to) (?P<a>[^;!]{2,200})"
        ),
        fact,
    ),
    (
        re.compile(
            rf"(?:^|[，,])(?P<name>[A-Za-z][\w.-]{{1,30}}(?:项目|項目|服务|服務|系统|系統)?|[{HAN}]{{2,8}}?(?:项目|項目|服务|服務|系统|系統|团队|團隊|平台)|"
            rf"[老小][{HAN}]|[{HAN}]{{2,3}}?)(?P<verb>是我们的|是我們的|是我的|是一个|是一个|是一位|是一名|是个|负责|負責|使用|运行在|運行在|部署在|依赖|依賴|"
            r"住在|用的是|的负责人是|的負責人是|的端口是|的截止日期是)(?P<a>[^，,。；;！!]{1,60})"
        ),
        fact,
    ),
)
