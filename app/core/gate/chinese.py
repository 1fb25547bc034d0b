"""Chinese for the experience gate: who is asked to do what, and what is only talked about.

Chinese has neither spaces nor inflection, so the lists are searched as substrings and the mood is read from particles:
帮我/请/麻烦/把…/一下 ask, 了/已经/刚 tell, 吗/怎么/为什么 question. All lists are general vocabulary.
"""

import re
from collections.abc import Iterator, Mapping

from app.core.gate.chinese_words import (
    AGAIN,
    ASKS,
    BA,
    CHANGED,
    CHAT,
    COUNTED,
    COUNTED_VERBS,
    CUTS,
    DELEGATED,
    DESCRIBING,
    DONE,
    ENGLISH_WORD,
    EXECUTION,
    EXISTING,
    EXPERIENCE,
    FAILURE,
    FEELING,
    FINISHED,
    FINISHED_CHARS,
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
    NOT_LEAD,
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
    SPECIFIC,
    SPOKEN_OF,
    STATE,
    STORED_TEXT,
    STORY,
    THANKS,
    THING,
    TOWARDS,
    TOWARDS_CHARS,
    URGED,
    VERBS,
    WISH,
)
from app.core.gate.english_words import ACTS
from app.core.gate.signs import Found, Sentence, Sign
from app.core.gate.vocabulary import Hit, Index, Listing, hits, word_at, word_scanner

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
_SEEN = (
    (Sign.OBJECT, OBJECT),
    (Sign.FAILURE, FAILURE),
    (Sign.EXPERIENCE, EXPERIENCE),
    (Sign.THING, THING),
)
"""What is named anywhere: engineering objects, failures, experience, everyday objects."""

_in_sentence = word_scanner(
    *(listing for _, listing in _ABOUT),
    FAILURE,
    QUESTION,
    GENERIC_QUESTION,
    ASKS,
    SAYING,
    DELEGATED,
    HANDOVER,
    SPECIFIC,
)
_in_clause = word_scanner(
    REMIND, PAST_TALK, THANKS, ASKS, REWORDING, EXISTING, STORED_TEXT, SAYING, QUESTION, GENERIC_QUESTION, NARRATION
)
_objects = word_scanner(*(listing for _, listing in _SEEN))
_things = word_scanner(THING)

_Marks = Mapping[Listing, Hit]
"""What a clause or sentence has of each list."""


def read(sentence: Sentence) -> Iterator[Found]:
    """The signs in the Chinese of one sentence."""
    text = sentence.text
    marks = _in_sentence(text)
    for sign, listing in _ABOUT:
        if listing in marks:
            yield Found(sign, marks[listing].words)
    yield from _question(marks, text[-12:] if sentence.asks else None)
    telling = False
    for clause in _clauses(sentence):
        yield from _asked(clause, sentence.asks, telling)
        telling = telling or SELF_TOLD.match(clause) is not None


def _question(marks: _Marks, asked: str | None) -> Iterator[Found]:
    """Whether a sentence hands over a problem or asks for knowledge; ``asked`` ends one with a question mark."""
    question = marks[QUESTION].words if QUESTION in marks else asked
    handed = marks.get(DELEGATED) or (marks.get(HANDOVER) if FAILURE in marks else None)
    generic = GENERIC_QUESTION in marks
    if handed:
        yield Found(Sign.HANDOVER, handed.words)
    elif question and FAILURE in marks and SPECIFIC in marks and not generic:
        yield Found(Sign.HANDOVER, question)
    elif question and (ASKS not in marks or generic):
        yield Found(Sign.KNOWLEDGE, question)
    elif SAYING in marks:
        yield Found(Sign.KNOWLEDGE, marks[SAYING].words)


def objects(text: str) -> Iterator[Found]:
    """Things named anywhere: engineering objects, everyday objects, failures, experience. ``text`` is lower case."""
    marks = _objects(text)
    for sign, listing in _SEEN:
        if listing in marks:
            yield Found(sign, marks[listing].words)


def _clauses(sentence: Sentence) -> Iterator[str]:
    """The clauses, cut once more at spaces between Chinese characters and before 然后/再/并."""
    for clause in sentence.clauses:
        yield from filter(None, CUTS.split(clause))


def _asked(clause: str, asks: bool, telling: bool) -> Iterator[Found]:
    """The act that this clause asks for; after "I just did…" (``telling``) a bare verb goes on telling."""
    marks = _in_clause(clause)
    if REMIND in marks and PAST_TALK not in marks:
        yield Found(Sign.SIDE_EFFECT, clause)
        yield Found(Sign.REQUEST, clause)
        return
    asked = None if THANKS in marks else marks.get(ASKS)
    body = _body(clause)
    looking = _starts_by_looking(body, marks)
    if asked:
        body = clause[asked.end :] or clause
    if body and REWORDING in marks:
        given = EXISTING in marks or STORED_TEXT not in marks
        yield Found(Sign.GIVEN_TEXT if given else Sign.EXECUTION, marks[REWORDING].words)
        if given:
            return
    if not body or SAYING in marks:
        return
    if asked is None and not looking and (asks or QUESTION in marks or _told(clause, body, marks)):
        return
    if asked is None and telling and not (BA.search(clause) or AGAIN.search(clause) or WISH.search(clause)):
        return
    acts = list(_act(clause, body, bool(asked)))
    if asked and acts:
        yield Found(Sign.ADDRESSED, asked.words)
    yield from acts


def _body(clause: str) -> str:
    """The clause without what may stand before its verb; empty when nothing else is there."""
    start = 0
    while start < len(clause) and not word_at(NOT_LEAD, clause, start):
        if not (lead := clause[start] if clause[start].isspace() else word_at(LEAD, clause, start)):
            break
        start += len(lead)
    if towards := word_at(TOWARDS, clause, start):
        after = start + len(towards)
        verb = next(hits(VERBS, clause, after + 1, after + TOWARDS_CHARS), None)
        if verb and "," not in clause[after : verb.start]:
            return clause[verb.start :]
    return clause[start:]


def _told(clause: str, body: str, marks: _Marks) -> bool:
    """Whether the clause tells of something done, or of what somebody else does."""
    if NARRATION in marks or THANKS in marks or PAST_TIME.search(clause):
        return True
    if ba := BA.search(body):
        if clause.endswith(("完了", "好了", "成了", "过了")):
            return True
        return ba.start() > 0 and clause.rstrip("吧啊呀!~").endswith(("了", "过")) and not body.startswith("你")
    return bool(DONE.search(body) or JUDGES.search(body)) or (clause[:1] in "我他她" and not WISH.search(clause))


def _starts_by_looking(body: str, marks: _Marks) -> bool:
    """An order to find something out may hold a question: 查一下为什么…"""
    looks = word_at(INVESTIGATES, body, 0)
    if len(looks) > 1 or (looks and GENERIC_QUESTION not in marks):
        return True
    soft = AGAIN.search(body)
    return (
        bool(soft and QUESTION in marks and soft[0] in body.partition(marks[QUESTION].words)[0]) and SAYING not in marks
    )


def _closing_act(clause: str) -> str | None:
    """An act with its object in front: 这段代码优化一下, 数据导一份, 旧日志删掉, 数据先备份."""
    if match := AGAIN.search(clause) or CHANGED.search(clause):
        return match[0]
    if words := _with_tail(clause, COUNTED_VERBS, COUNTED, 0) or _with_tail(
        clause, VERBS, FINISHED, max(0, len(clause) - FINISHED_CHARS)
    ):
        return words
    return next((match[0] for match in URGED.finditer(clause) if word_at(VERBS, clause, match.end())), None)


def _with_tail(text: str, verbs: Index, tail: re.Pattern[str], start: int) -> str | None:
    """The first verb from ``start`` that ``tail`` follows, with that tail."""
    for hit in hits(verbs, text, start):
        if text.startswith("继续", hit.start - 1):
            continue
        for end in (hit.end, hit.start + 1):
            if match := tail.match(text, end):
                return text[hit.start : match.end()]
    return None


def _verb(verbs: Index, scope: str, body: str, *, anywhere: bool) -> Hit | None:
    """The first hit that is a verb and no noun: anywhere in ``scope``, else at the start of ``body``."""
    text = scope if anywhere else body
    return next(
        (hit for hit in hits(verbs, text, 0, None if anywhere else 1) if not NOMINAL.match(text, hit.end)), None
    )


def _describes(body: str) -> bool:
    """Whether the verb in front only describes somebody or something: 订的酒店, 修电脑的说, 写代码写到半夜."""
    verb = word_at(VERBS, body, 0)
    return bool(verb and DESCRIBING.match(body, len(verb))) or SPOKEN_OF.match(body) is not None


def _act(clause: str, body: str, asked: bool) -> Iterator[Found]:
    ba = BA.search(clause)
    wish = WISH.search(clause)
    scope = body if asked else ba[1] if ba else clause[wish.end() :] if wish else body
    body = body.lstrip(" ,:请再也都就先")
    if not ba and _describes(body):
        return
    for sign, verbs in ((Sign.SIDE_EFFECT, SIDE_EFFECT), (Sign.EXECUTION, EXECUTION)):
        if hit := _verb(verbs, scope, body, anywhere=bool(asked or ba or wish)):
            yield Found(sign, clause)
            yield Found(Sign.REQUEST, hit.words)
            return
    if (body[:1] in SINGLE and not NO_ACT.match(body)) or (ba and any(c in SINGLE for c in ba[1])):
        yield Found(Sign.EXECUTION, clause)
        yield Found(Sign.REQUEST, clause)
    elif match := next((word for word in ENGLISH_WORD.finditer(scope) if word[0] in ACTS), None):
        if asked or ba or wish or AGAIN.search(clause) or (match.start() == 0 and not STATE.search(clause)):
            yield Found(Sign.SIDE_EFFECT, clause)
            yield Found(Sign.REQUEST, match[0])
    elif words := _closing_act(clause):
        yield Found(Sign.EXECUTION, clause)
        yield Found(Sign.REQUEST, words)
    elif ba and ba.start() <= 6 and not MOVED.match(ba[1]):
        yield Found(Sign.EXECUTION, clause)
        yield Found(Sign.REQUEST, clause)
    elif (asked or wish) and (hit := _things(scope).get(THING)):
        yield Found(Sign.LOOKUP, clause)
        yield Found(Sign.REQUEST, clause)
        yield Found(Sign.THING, hit.words)
