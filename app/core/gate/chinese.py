"""Chinese for the experience gate: who is asked to do what, and what is only talked about.

Chinese has neither spaces nor inflection, so the lists are searched as substrings and the mood is read from particles:
帮我/请/麻烦/把…/一下 ask, 了/已经/刚 tell, 吗/怎么/为什么 question. All lists are general vocabulary.
"""

import re
from collections.abc import Iterator, Mapping

from app.core.gate import chinese_moods as moods
from app.core.gate import chinese_words as zh
from app.core.gate.english_words import ACTS
from app.core.gate.signs import Found, Sentence, Sign, speaks_chinese
from app.core.gate.vocabulary import Hit, Index, Listing, after_words, hits, word_at, word_scanner

_ABOUT = (
    (Sign.CHAT, moods.CHAT),
    (Sign.PAST_TALK, moods.PAST_TALK),
    (Sign.REMEMBER, moods.REMEMBER),
    (Sign.NARRATION, moods.NARRATION),
    (Sign.STORY, moods.STORY),
    (Sign.FEELING, moods.FEELING),
    (Sign.HELD_BACK, moods.HELD_BACK),
)
"""What a sentence as a whole may be."""
_SEEN = (
    (Sign.OBJECT, zh.OBJECT),
    (Sign.FAILURE, zh.FAILURE),
    (Sign.EXPERIENCE, zh.EXPERIENCE),
    (Sign.THING, zh.THING),
)
"""What is named anywhere: engineering objects, failures, experience, everyday objects."""

_in_sentence = word_scanner(
    *(listing for _, listing in _ABOUT),
    zh.FAILURE,
    moods.QUESTION,
    moods.GENERIC_QUESTION,
    moods.ASKS,
    moods.SAYING,
    moods.DELEGATED,
    moods.HANDOVER,
    moods.SPECIFIC,
)
_in_clause = word_scanner(
    moods.REMIND,
    moods.PAST_TALK,
    moods.THANKS,
    moods.ASKS,
    moods.REWORDING,
    moods.EXISTING,
    zh.STORED_TEXT,
    moods.SAYING,
    moods.QUESTION,
    moods.GENERIC_QUESTION,
    moods.NARRATION,
    moods.IMAGINED,
    moods.URGING,
    moods.HELD_BACK,
)
_objects = word_scanner(*(listing for _, listing in _SEEN))
_things = word_scanner(zh.THING, zh.OBJECT)

_Marks = Mapping[Listing, Hit]
"""What a clause or sentence has of each list."""


def read(sentence: Sentence) -> Iterator[Found]:
    """The signs in the Chinese of one sentence."""
    text = sentence.text
    marks = _in_sentence(text)
    acts: list[Found] = []
    telling = False
    for clause in filter(speaks_chinese, _clauses(sentence)):
        acts += _asked(clause, sentence.asks, telling)
        telling = telling or moods.SELF_TOLD.match(clause) is not None
    if told := _tells(text):
        yield Found(Sign.NARRATION, told)
    for sign, listing in _ABOUT:
        if listing in marks and not (sign is Sign.HELD_BACK and acts):
            yield Found(sign, marks[listing].words)
    yield from acts
    yield from _question(marks, text[-12:] if sentence.asks else None)


def _question(marks: _Marks, asked: str | None) -> Iterator[Found]:
    """Whether a sentence hands over a problem or asks for knowledge; ``asked`` ends one with a question mark."""
    question = marks[moods.QUESTION].words if moods.QUESTION in marks else asked
    handed = marks.get(moods.DELEGATED) or (marks.get(moods.HANDOVER) if zh.FAILURE in marks else None)
    generic = moods.GENERIC_QUESTION in marks
    if handed:
        yield Found(Sign.HANDOVER, handed.words)
    elif question and zh.FAILURE in marks and moods.SPECIFIC in marks and not generic:
        yield Found(Sign.HANDOVER, question)
    elif question and (moods.ASKS not in marks or generic):
        yield Found(Sign.KNOWLEDGE, question)
    elif moods.SAYING in marks:
        yield Found(Sign.KNOWLEDGE, marks[moods.SAYING].words)


def objects(text: str) -> Iterator[Found]:
    """Things named anywhere: engineering objects, everyday objects, failures, experience. ``text`` is lower case."""
    marks = _objects(text)
    for sign, listing in _SEEN:
        if listing in marks:
            yield Found(sign, marks[listing].words)


def _clauses(sentence: Sentence) -> Iterator[str]:
    """The clauses, cut once more at spaces between Chinese characters and before 然后/再/并."""
    for clause in sentence.clauses:
        yield from filter(None, moods.CUTS.split(clause))


def _asked(clause: str, asks: bool, telling: bool) -> Iterator[Found]:
    """The act that this clause asks for; after "I just did…" (``telling``) a bare verb goes on telling."""
    marks = _in_clause(clause)
    if moods.HELD_BACK in marks:
        return
    if moods.REMIND in marks and moods.PAST_TALK not in marks:
        yield Found(Sign.SIDE_EFFECT, clause)
        yield Found(Sign.REQUEST, clause)
        return
    asked = None if moods.THANKS in marks else marks.get(moods.ASKS)
    body = _body(clause)
    looking = _starts_by_looking(body, marks)
    if asked:
        body = clause[asked.end :] or clause
    if body and moods.REWORDING in marks:
        given = moods.EXISTING in marks or zh.STORED_TEXT not in marks
        yield Found(Sign.GIVEN_TEXT if given else Sign.EXECUTION, marks[moods.REWORDING].words)
        if given:
            return
    saying = moods.SAYING in marks and "写" not in clause[: marks[moods.SAYING].start]
    if not body or saying or (asks and moods.IMAGINED in marks):
        return
    wondering = moods.QUESTION in marks and (moods.GENERIC_QUESTION in marks or not moods.BA.match(body))
    if asked is None and not looking and (asks or wondering or _told(clause, body, marks)):
        return
    if (
        asked is None
        and telling
        and not (moods.BA.search(clause) or moods.AGAIN.search(clause) or moods.WISH.search(clause))
    ):
        return
    acts = list(_act(clause, body, asked, marks))
    if asked and acts:
        yield Found(Sign.ADDRESSED, asked.words)
    yield from acts


def _body(clause: str) -> str:
    """The clause without what may stand before its verb; empty when nothing else is there."""
    start = after_words(moods.LEAD, clause, moods.NOT_LEAD)
    if (towards := word_at(moods.TOWARDS, clause, start)) and not word_at(moods.NOT_TOWARDS, clause, start):
        after = start + len(towards)
        verb = next(hits(zh.VERBS, clause, after + 1, after + moods.TOWARDS_CHARS), None)
        if verb and "," not in clause[after : verb.start]:
            return clause[verb.start :]
    return clause[start:]


def _tells(text: str) -> str:
    """The head of a text in which somebody tells what was done (昨晚我们把系统迁完了), or the empty string."""
    start = after_words(moods.OPENINGS, text)
    teller = word_at(moods.TELLERS, text, start)
    match = moods.TOLD.match(text, start + len(teller)) if teller else None
    return text[: match.end()] if match else ""


def _told(clause: str, body: str, marks: _Marks) -> bool:
    """Whether the clause tells of something done, or of what somebody else does."""
    if (
        moods.PLANNED.match(clause)
        or moods.NARRATION in marks
        or moods.THANKS in marks
        or _tells(clause)
        or moods.PAST_TIME.search(clause)
        or moods.UNDERGONE.search(clause)
    ):
        return True
    if ba := moods.BA.search(body):
        if moods.JUST.search(clause[: clause.index(ba[0])]):
            return True
        if clause.endswith(("完了", "好了", "成了", "过了")):
            return True
        return ba.start() > 0 and clause.rstrip("吧啊呀!~").endswith(("了", "过")) and not body.startswith("你")
    verb = word_at(zh.VERBS, body, 0)
    if verb and body.endswith("了") and len(body) > len(verb) + 2:
        return True
    return bool(moods.DONE.search(body) or moods.JUDGES.search(body)) or (
        clause[:1] in "我他她" and not moods.WISH.search(clause)
    )


def _starts_by_looking(body: str, marks: _Marks) -> bool:
    """An order to find something out may hold a question: 查一下为什么…"""
    looks = word_at(zh.INVESTIGATES, body, 0)
    if len(looks) > 1 or (looks and moods.GENERIC_QUESTION not in marks):
        return True
    soft = moods.AGAIN.search(body)
    return (
        bool(soft and moods.QUESTION in marks and soft[0] in body.partition(marks[moods.QUESTION].words)[0])
        and moods.SAYING not in marks
    )


def _closing_act(clause: str, body: str) -> str | None:
    """An act with its object in front: 这段代码优化一下, 数据导一份, 旧日志删掉, 数据先备份, 没有就加."""
    if match := moods.AGAIN.search(clause):
        return match[0]
    for hit in hits(zh.CHANGES, clause):
        if not clause.startswith(zh.NO_CHANGE, hit.end) and "了" not in clause[hit.end :]:
            return clause[hit.start :]
    if (made := word_at(zh.MADE, body, 1)) and body[0] not in zh.NOT_MADE:
        return body[0] + made
    if words := _with_tail(clause, zh.COUNTED_VERBS, moods.COUNTED, 0):
        return words
    if words := _with_tail(clause, zh.VERBS, moods.FINISHED, max(0, len(clause) - moods.FINISHED_CHARS)):
        return words
    for hit in hits(moods.URGED, clause):
        if verb := next(hits(zh.VERBS, clause, hit.end, hit.end + moods.URGED_CHARS), None):
            return clause[hit.start : verb.end]
    for hit in hits(zh.VERBS, clause, max(1, len(clause) - moods.IF_SO_CHARS)):
        if clause[hit.start - 1] == "就":
            return hit.words
    return next((hit.words for hit in hits(zh.DEGREES, clause) if clause[hit.end : hit.end + 1] not in "了的"), None)


def _with_tail(text: str, verbs: Index, tail: re.Pattern[str], start: int) -> str | None:
    """The first verb from ``start`` that ``tail`` follows, with that tail."""
    for hit in hits(verbs, text, start):
        if text.startswith("继续", hit.start - 1):
            continue
        for end in (hit.end, hit.start + 1) if text[hit.start] in zh.SINGLE else (hit.end,):
            if match := tail.match(text, end):
                return text[hit.start : match.end()]
    return None


def _verb(verbs: Index, scope: str, body: str, *, anywhere: bool) -> Hit | None:
    """The first hit that is a verb and no noun: anywhere in ``scope``, else at the start of ``body``."""
    text = scope if anywhere else body
    return next(
        (hit for hit in hits(verbs, text, 0, None if anywhere else 1) if not zh.NOMINAL.match(text, hit.end)), None
    )


def _describes(body: str) -> bool:
    """Whether the verb in front only describes somebody or something: 订的酒店, 修电脑的说, 写代码写到半夜."""
    verb = word_at(zh.VERBS, body, 0)
    return bool(verb and zh.DESCRIBING.match(body, len(verb))) or zh.SPOKEN_OF.match(body) is not None


def _act(clause: str, body: str, asked: Hit | None, marks: _Marks) -> Iterator[Found]:
    """The act in a clause that may ask for one; ``body`` is what stands behind the words that ask, or behind a lead."""
    ba = moods.BA.search(clause)
    wish = moods.WISH.search(clause) or next(_due(clause), None)
    scope = body if asked else ba[1] if ba else clause[wish.end() :] if wish else body
    body = body.lstrip(" ,:请再也都就先")
    if not ba and _describes(body):
        return
    sign, shown = _verb_of(clause, scope, body, anywhere=bool(asked or ba or wish), ba=ba) or (None, "")
    if sign is None and (words := _closing_act(clause, body)):
        sign, shown = Sign.EXECUTION, words
    if sign is None and wish and clause[0] not in "我他她" and moods.BROUGHT_ABOUT.match(clause, wish.end()):
        sign, shown = Sign.EXECUTION, clause
    if sign is None and ((ba and ba.start() <= 6 and not word_at(zh.MOVED, ba[1], 0)) or _begged(clause, asked, marks)):
        sign, shown = Sign.EXECUTION, clause
    if sign is None and (asked or wish) and _things(clause if wish else scope):
        sign, shown = Sign.LOOKUP, clause
    if sign:
        yield Found(sign, clause)
        yield Found(Sign.REQUEST, shown)


def _due(clause: str) -> Iterator[re.Match[str]]:
    """Where a thing is said to need a verb done to it: 注册要加校验."""
    return (match for match in moods.DUE.finditer(clause) if word_at(zh.VERBS, clause, match.end()))


def _verb_of(
    clause: str, scope: str, body: str, *, anywhere: bool, ba: re.Match[str] | None
) -> tuple[Sign, str] | None:
    """What the verb of a clause asks for, and the words that show it: a Chinese verb, a single one, an English one."""
    for sign, verbs in ((Sign.SIDE_EFFECT, zh.SIDE_EFFECT), (Sign.EXECUTION, zh.EXECUTION)):
        if hit := _verb(verbs, scope, body, anywhere=anywhere):
            return sign, hit.words
    single = body[:1] in zh.SINGLE and not word_at(zh.NO_ACT, body, 0) and not zh.NOMINAL.match(body, 1)
    if single or (ba and any(character in zh.SINGLE for character in ba[1])):
        return Sign.EXECUTION, clause
    match = next((word for word in zh.ENGLISH_WORD.finditer(scope) if word[0] in ACTS), None)
    if match and (anywhere or moods.AGAIN.search(clause) or (match.start() == 0 and not moods.STATE.search(clause))):
        return Sign.SIDE_EFFECT, match[0]
    return None


def _begged(clause: str, asked: Hit | None, marks: _Marks) -> bool:
    """Whether the clause asks so plainly that whatever follows is an act: 帮我…, 麻烦…, 想办法…"""
    if asked and asked.words.startswith(moods.BEGGED):
        return bool(clause[asked.end :].strip())
    return moods.URGING in marks
