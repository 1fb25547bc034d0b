"""Chinese for the experience gate: who is asked to do what, and what is only talked about.

Chinese has neither spaces nor inflection, so the lists are searched as substrings and the mood is read from particles:
帮我/请/麻烦/把…/一下 ask, 了/已经/刚 tell, 吗/怎么/为什么 question. All lists are general vocabulary.
"""

import re
from collections.abc import Iterator

from app.core.gate.chinese_words import (
    ASKS,
    BA,
    CHANGED,
    CHAT,
    CJK,
    COUNTED,
    CUTS,
    DELEGATED,
    DONE,
    ENGLISH_WORD,
    EXECUTION,
    EXISTING,
    EXPERIENCE,
    FAILURE,
    FEELING,
    FINISHED,
    GENERIC_QUESTION,
    HANDOVER,
    HELD_BACK,
    INVESTIGATES,
    JUDGES,
    LEAD,
    MOVED,
    NARRATION,
    NO_ACT,
    NOMINAL,
    NOUN_FIRST,
    OBJECT,
    PAST_TALK,
    PAST_TIME,
    QUESTION,
    REMEMBER,
    REMIND,
    REWORDING,
    SAYING,
    SELF_TOLD,
    SIDE_EFFECT,
    SINGLE,
    SOFT_ACT,
    SPECIFIC,
    STATE,
    STORED_TEXT,
    STORY,
    THANKS,
    THING,
    TOWARDS,
    URGED,
    WISH,
)
from app.core.gate.english_words import ACTS
from app.core.gate.signs import Found, Sentence, Sign

_ABOUT = (
    (Sign.CHAT, CHAT),
    (Sign.PAST_TALK, PAST_TALK),
    (Sign.REMEMBER, REMEMBER),
    (Sign.NARRATION, NARRATION),
    (Sign.STORY, STORY),
    (Sign.FEELING, FEELING),
    (Sign.HELD_BACK, HELD_BACK),
)
"""What a sentence as a whole may be."""


def speaks_chinese(text: str) -> bool:
    """True when the text holds any Chinese character."""
    return CJK.search(text) is not None


def read(sentence: Sentence) -> Iterator[Found]:
    """The signs in the Chinese of one sentence."""
    text = sentence.text
    for sign, pattern in _ABOUT:
        if match := pattern.search(text):
            yield Found(sign, match[0])
    failing = FAILURE.search(text)
    question = QUESTION.search(text) or (sentence.asks and re.search(r".{1,12}$", text))
    if (match := DELEGATED.search(text)) or (failing and (match := HANDOVER.search(text))):
        yield Found(Sign.HANDOVER, match[0])
    elif question and failing and SPECIFIC.search(text) and not GENERIC_QUESTION.search(text):
        yield Found(Sign.HANDOVER, question[0])
    elif question and not (ASKS.search(text) and not GENERIC_QUESTION.search(text)):
        yield Found(Sign.KNOWLEDGE, question[0])
    elif match := SAYING.search(text):
        yield Found(Sign.KNOWLEDGE, match[0])
    telling = False
    for clause in _clauses(sentence):
        yield from _asked(clause, sentence.asks, telling)
        telling = telling or SELF_TOLD.match(clause) is not None


def objects(text: str) -> Iterator[Found]:
    """Things named anywhere: engineering objects, everyday objects, failures, experience. ``text`` is lower case."""
    for sign, pattern in (
        (Sign.OBJECT, OBJECT),
        (Sign.FAILURE, FAILURE),
        (Sign.EXPERIENCE, EXPERIENCE),
        (Sign.THING, THING),
    ):
        if match := pattern.search(text):
            yield Found(sign, match[0])


def _clauses(sentence: Sentence) -> Iterator[str]:
    """The clauses, cut once more at spaces between Chinese characters and before 然后/再/并."""
    for clause in sentence.clauses:
        yield from filter(None, CUTS.split(clause))


def _asked(clause: str, asks: bool, telling: bool) -> Iterator[Found]:
    """The act that this clause asks for; after "I just did…" (``telling``) a bare verb goes on telling."""
    if REMIND.search(clause) and not PAST_TALK.search(clause):
        yield Found(Sign.SIDE_EFFECT, clause)
        yield Found(Sign.REQUEST, clause)
        return
    asked = None if THANKS.search(clause) else ASKS.search(clause)
    body = _body(clause)
    looking = _starts_by_looking(body)
    if asked:
        body = clause[asked.end() :] or clause
    if body and (match := REWORDING.search(clause)):
        given = EXISTING.search(clause) or not STORED_TEXT.search(clause)
        yield Found(Sign.GIVEN_TEXT if given else Sign.EXECUTION, match[0])
        if given:
            return
    if not body or SAYING.search(clause):
        return
    if asked is None and not looking and (asks or QUESTION.search(clause) or _told(clause, body)):
        return
    if asked is None and telling and not (BA.search(clause) or SOFT_ACT.search(clause) or WISH.search(clause)):
        return
    acts = list(_act(clause, body, bool(asked)))
    if asked and acts:
        yield Found(Sign.ADDRESSED, asked[0])
    yield from acts


def _body(clause: str) -> str:
    """The clause without what may stand before its verb; empty when nothing else is there."""
    lead = LEAD.match(clause)
    body = clause[lead.end() :] if lead else clause
    towards = TOWARDS.match(body)
    return body[towards.end() :] if towards else body


def _told(clause: str, body: str) -> bool:
    """Whether the clause tells of something done, or of what somebody else does."""
    if NARRATION.search(clause) or PAST_TIME.search(clause) or THANKS.search(clause):
        return True
    if ba := BA.search(body):
        if clause.endswith(("完了", "好了", "成了", "过了")):
            return True
        return ba.start() > 0 and clause.rstrip("吧啊呀!~").endswith(("了", "过")) and not body.startswith("你")
    return bool(DONE.search(body) or JUDGES.search(body)) or (clause[:1] in "我他她" and not WISH.search(clause))


def _starts_by_looking(body: str) -> bool:
    """An order to find something out may hold a question: 查一下为什么…"""
    match = INVESTIGATES.match(body)
    if match is not None and (len(match[0]) > 1 or not GENERIC_QUESTION.search(body)):
        return True
    soft, question = SOFT_ACT.search(body), QUESTION.search(body)
    return bool(soft and question and soft.start() < question.start() and not SAYING.search(body))


def _closing_act(clause: str) -> re.Match[str] | None:
    """An act with its object in front: 这段代码优化一下, 数据导一份, 旧日志删掉, 数据先备份."""
    return (
        SOFT_ACT.search(clause)
        or COUNTED.search(clause)
        or CHANGED.search(clause)
        or FINISHED.search(clause[-12:])
        or URGED.search(clause)
    )


def _verb(pattern: re.Pattern[str], scope: str, body: str, *, anywhere: bool) -> re.Match[str] | None:
    """The first match that is a verb and no noun: anywhere in ``scope``, else at the start of ``body``."""
    for match in pattern.finditer(scope if anywhere else body):
        if not anywhere and match.start() > 0:
            return None
        if not NOMINAL.match(match.string, match.end()):
            return match
    return None


def _act(clause: str, body: str, asked: bool) -> Iterator[Found]:
    ba = BA.search(clause)
    wish = WISH.search(clause)
    scope = body if asked else ba[1] if ba else clause[wish.end() :] if wish else body
    body = body.lstrip(" ,:请再也都就先")
    if not ba and NOUN_FIRST.match(body):
        return
    for sign, pattern in ((Sign.SIDE_EFFECT, SIDE_EFFECT), (Sign.EXECUTION, EXECUTION)):
        if match := _verb(pattern, scope, body, anywhere=bool(asked or ba or wish)):
            yield Found(sign, clause)
            yield Found(Sign.REQUEST, match[0])
            return
    if (body[:1] in SINGLE and not NO_ACT.match(body)) or (ba and any(c in SINGLE for c in ba[1])):
        yield Found(Sign.EXECUTION, clause)
        yield Found(Sign.REQUEST, clause)
    elif match := next((word for word in ENGLISH_WORD.finditer(scope) if word[0] in ACTS), None):
        if asked or ba or wish or SOFT_ACT.search(clause) or (match.start() == 0 and not STATE.search(clause)):
            yield Found(Sign.SIDE_EFFECT, clause)
            yield Found(Sign.REQUEST, match[0])
    elif match := _closing_act(clause):
        yield Found(Sign.EXECUTION, clause)
        yield Found(Sign.REQUEST, match[0])
    elif ba and ba.start() <= 6 and not MOVED.match(ba[1]):
        yield Found(Sign.EXECUTION, clause)
        yield Found(Sign.REQUEST, clause)
    elif (asked or wish) and (match := THING.search(scope)):
        yield Found(Sign.LOOKUP, clause)
        yield Found(Sign.REQUEST, clause)
        yield Found(Sign.THING, match[0])
