"""English for the experience gate: who is asked to do what, and what is only talked about.

A verb counts where somebody is asked to do it: at the start of a clause (imperative), after a polite form ("could
you", "I need you to", "would you mind"), or as something that is due ("needs to be renamed"). Elsewhere it is part
of a story or of a question.
"""

import re
from collections.abc import Iterator

from app.core.gate import english_moods as moods
from app.core.gate.english_reports import begins_report
from app.core.gate.english_words import (
    ACTS,
    AUX,
    DETERMINERS,
    EFFECTIVE_REWORDING,
    EXECUTION,
    LEAD,
    LOOKUP,
    OBJECT_MARKS,
    OBJECT_WORDS,
    PARTICLES,
    PHRASAL,
    PLEADING,
    RELATIVE,
    RETELLING,
    REWORDING,
    SAYING,
    SIDE_EFFECT,
    THING_WORDS,
    VERBS,
    base,
    may_be_verb,
)
from app.core.gate.signs import EVIDENCE_CHARS, Found, Sentence, Sign, speaks_chinese
from app.core.gate.vocabulary import Hit, after_phrases, phrase_at, phrase_hits, phrase_scanner

_ABOUT = (
    (Sign.CHAT, moods.CHAT),
    (Sign.PAST_TALK, moods.PAST_TALK),
    (Sign.REMEMBER, moods.IN_PASSING),
    (Sign.STORY, moods.STORY),
    (Sign.FEELING, moods.FEELING),
    (Sign.HELD_BACK, moods.HELD_BACK),
    (Sign.HANDOVER, moods.HANDOVER),
)
"""What a sentence as a whole may be."""
_in_sentence = phrase_scanner(*(listing for _, listing in _ABOUT), moods.OPINION, moods.FAILURE, moods.MEANING)
_objects = phrase_scanner(moods.FAILURE, moods.EXPERIENCE)
_in_clause = phrase_scanner(moods.PAST_TALK)
_in_rest = phrase_scanner(moods.STORED_TEXT, moods.RECAP)
_NO_TERSE = {Sign.SIDE_EFFECT, Sign.EXECUTION, Sign.KNOWLEDGE, Sign.GIVEN_TEXT, Sign.CHAT, Sign.PAST_TALK}


def read(sentence: Sentence) -> Iterator[Found]:
    """The signs in the English of one sentence."""
    if not moods.LATIN.search(sentence.text):
        return
    text = sentence.text
    asks = sentence.asks and sentence.clauses[-1] not in moods.TAGS
    clauses = filter(moods.LATIN.search, sentence.clauses)
    found = [*_about(text, asks), *(item for clause in clauses for item in _asked(clause, asks))]
    yield from found
    if any(map(moods.PLEASE.search, sentence.clauses)) and not any(item.sign in _NO_TERSE for item in found):
        yield from _terse(text)


def objects(text: str) -> Iterator[Found]:
    """Things named anywhere: engineering objects, everyday objects, failures, experience. ``text`` is lower case."""
    words = moods.WORD.findall(text)
    for sign, shown in ((Sign.OBJECT, _named(words, OBJECT_WORDS)), (Sign.THING, _named(words, THING_WORDS))):
        if shown:
            yield Found(sign, shown)
    named = (match for match in moods.EXTENSION.finditer(text) if match[1] in moods.FILES)
    if match := next(named, None) or moods.CODE_SHAPE.search(text):
        yield Found(Sign.OBJECT, _word_around(text, match))
    marks = _objects(text)
    for sign, listing in ((Sign.FAILURE, moods.FAILURE), (Sign.EXPERIENCE, moods.EXPERIENCE)):
        if listing in marks:
            yield Found(sign, marks[listing].words)


def _word_around(text: str, match: re.Match[str]) -> str:
    """What stands between the spaces before and behind a match; not more than an explanation shows."""
    before = text[max(0, match.start() - EVIDENCE_CHARS) : match.start()]
    behind = text[match.end() : match.end() + EVIDENCE_CHARS]
    return f"{before[-1:].strip() and before.split()[-1]}{match[0]}{behind[:1].strip() and behind.split()[0]}"


def _named(words: list[str], names: frozenset[str]) -> str | None:
    """The first of ``words`` that is one of ``names``, in the singular or with an s."""
    return next((word for word in words if word in names or (word[-1] == "s" and word[:-1] in names)), None)


def _about(text: str, asks: bool) -> Iterator[Found]:
    """What the sentence as a whole is: talk, question, story, reminder, feeling."""
    marks = _in_sentence(text)
    for sign, listing in _ABOUT:
        if listing in marks:
            yield Found(sign, marks[listing].words)
    start = after_phrases(moods.OPENING, text)
    if begins_report(text[start:].split(maxsplit=10)):
        yield Found(Sign.NARRATION, text[start:])
    told = after_phrases(moods.TO_REMEMBER, text)
    if (fact := phrase_at(moods.REMEMBER, text, told)) and not text.startswith(" to ", told + len(fact)):
        yield Found(Sign.REMEMBER, fact)
    polite = next(_polite_forms(text, asks), None)
    question = "" if polite and polite.start < 16 else phrase_at(moods.ASKING, text, start)
    if not question and moods.OPINION in marks:
        question = marks[moods.OPINION].words
    failing = moods.FAILURE in marks and moods.MEANING not in marks
    if question and failing and moods.SPECIFIC_WHY.search(text) and not moods.ABILITY.search(text):
        yield Found(Sign.HANDOVER, question)
    elif question or (asks and not polite):
        yield Found(Sign.KNOWLEDGE, question or text[-20:])


def _asked(clause: str, asks: bool) -> Iterator[Found]:
    """The acts that this clause asks for."""
    if moods.REMIND.search(clause) and moods.PAST_TALK not in _in_clause(clause):
        yield Found(Sign.SIDE_EFFECT, clause)
    forms = list(_polite_forms(clause, asks))
    yield from _politely(clause, forms)
    if not speaks_chinese(clause):
        yield from _imperatives(clause.split(), asks, polite=bool(forms))
    if not asks:
        yield from _due(clause)
    elif (match := moods.CAN_BE.match(clause)) and (verb := base(match[1])):
        yield from _act([verb], polite=True)


def _polite_forms(text: str, asks: bool) -> Iterator[Hit]:
    """Where polite forms stand, with the softeners behind; not "how could you", nor "is it time to" in a question."""
    for hit in phrase_hits(moods.POLITE, text):
        end = after_phrases(moods.SOFTENERS, text, hit.end + 1) if text[hit.end : hit.end + 1] == " " else hit.end
        following = text[end:].partition(" ")[0]
        unfit = (
            text[: hit.start].rstrip().endswith(moods.HOW)
            or (hit.words in moods.BEFORE_ING and not following.endswith("ing"))
            or (hit.words in moods.BEFORE_GET and following not in {"get", "have"})
            or (asks and hit.words in moods.NOT_IN_QUESTIONS)
        )
        if not unfit:
            yield Hit(hit.start, end, hit.words)


def _politely(clause: str, forms: list[Hit]) -> Iterator[Found]:
    """Acts after "could you", "I need you to", "would you mind"."""
    for hit in forms:
        rest = clause[hit.end :]
        to_you = f"{hit.words} ".startswith(moods.TO_YOU)
        acts = list(_act(rest.split(), polite=True, anything=to_you))
        if to_you and (acts or not rest.isascii()):
            yield Found(Sign.ADDRESSED, hit.words)
        yield from acts


def _imperatives(words: list[str], asks: bool, *, polite: bool) -> Iterator[Found]:
    """Acts whose verb begins the clause, or a part of it after "and"; a question only asks to look into things."""
    if not words:
        return
    start = _lead(words)
    if _is_noun(words, start):
        return
    if not asks or _kind(words[start], " ".join(words[start + 1 :])) is Sign.EXECUTION:
        pleased = not PLEADING.isdisjoint(words[:start])
        yield from _act(words[start:], polite=False, anything=pleased or _has_object(words[start:], OBJECT_MARKS))
    if (asks and not polite) or words[start] in SAYING or "between" in words:
        return
    for index, word in enumerate(words[1:-1], start=1):
        if word in {"and", "then", "&", "or", "but"}:
            after = _lead(words[index:]) + index
            if not _is_noun(words, after):
                yield from _act(words[after:], polite=False)


_OURS = (["the"], ["every"], ["each"], ["all"], ["our"], ["this"], ["these"])
"""What a wish to have something behave begins with: "i'd like the menu to collapse"."""


def _due(clause: str) -> Iterator[Found]:
    """What ought to be done, or be otherwise, or is wanted."""
    if match := moods.OUGHT.search(clause):
        yield Found(Sign.EXECUTION, match[0])
    for match in moods.DUE.finditer(clause):
        if verb := base(next(group for group in match.groups() if group)):
            if verb in LOOKUP or verb in REWORDING:
                yield Found(Sign.EXECUTION, match[0])
            else:
                yield from _act([verb], polite=True)
    wanted = next(phrase_hits(moods.WANTED, clause), None)
    if wanted and not clause.startswith((" to", " you"), wanted.end):
        behind = clause[wanted.end :].split()
        work = EXECUTION.intersection(behind[:4]) or (behind[:1] in _OURS and "to" in behind[2:8])
        yield Found(Sign.EXECUTION if work else Sign.LOOKUP, wanted.words)
        yield Found(Sign.REQUEST, wanted.words)
    elif clause.partition(" ")[0] in moods.WANTING:
        yield Found(Sign.LOOKUP, clause)
        yield Found(Sign.REQUEST, clause)


def _terse(clause: str) -> Iterator[Found]:
    """A request without a verb: "logo bigger on mobile, please"."""
    if thing := _named(moods.WORD.findall(clause), THING_WORDS | OBJECT_WORDS):
        yield Found(Sign.LOOKUP, clause)
        yield Found(Sign.THING, thing)
    yield Found(Sign.ADDRESSED, clause[-EVIDENCE_CHARS:])


def _act(words: list[str], *, polite: bool, anything: bool = False) -> Iterator[Found]:
    """The act whose verb stands first in ``words``; after a polite form the verb may be inflected.

    With ``anything``, where the form itself shows an order, a verb that no list has counts when something follows it
    that it can act on.
    """
    if words[:2] == ["for", "you"]:
        words = words[2:]
    if not words:
        return
    verb = words[0].strip("*_:;.()[]“”\"'")
    if polite and verb not in VERBS:
        verb = base(verb) or verb
    sign = _kind(verb, " ".join(words[1:])) or _caused(verb, words)
    if sign is None and anything and may_be_verb(verb) and _has_object(words, DETERMINERS):
        sign = Sign.GIVEN_TEXT if moods.CONVERSATION.search(" ".join(words)) else Sign.EXECUTION
    if sign is None:
        return
    evidence = " ".join(words)
    yield Found(sign, evidence)
    if sign not in {Sign.GIVEN_TEXT, Sign.KNOWLEDGE}:
        yield Found(Sign.REQUEST, evidence)


def _has_object(words: list[str], marks: frozenset[str]) -> bool:
    """Whether the word behind the first (or behind its particle) begins a thing."""
    after = 2 if words[1:2] and words[1] in PARTICLES else 1
    return bool(words[after : after + 1]) and words[after] in marks


def _caused(verb: str, words: list[str]) -> Sign | None:
    """An act that another is to do: "have the bot post it", "let the service log it"."""
    if verb in {"have", "let", "get", "make"} and words[1:2] and words[1] in OBJECT_MARKS:
        return next((_kind(word, "") for word in words[3:6] if word in ACTS), None)
    return None


def _kind(verb: str, rest: str) -> Sign | None:
    """What kind of act ``verb`` is, given the words behind it; None when it is none."""
    if rest.startswith("yourself"):
        return None
    if (verb == "let" and moods.LET_KNOW.match(rest)) or (verb in {"tell", "ask"} and moods.OTHERS.match(rest)):
        return Sign.SIDE_EFFECT
    if (
        moods.GIVEN_OBJECT.match(rest)
        or _into_language(rest)
        or (verb in RETELLING and moods.CONVERSATION.search(rest))
    ):
        return Sign.GIVEN_TEXT
    if verb in REWORDING:
        stored = moods.STORED_TEXT in _in_rest(rest) and not moods.POINTING.match(rest)
        return Sign.EXECUTION if stored or verb in EFFECTIVE_REWORDING else Sign.GIVEN_TEXT
    if any(rest.startswith(particle) or f" {particle}" in rest[:40] for particle in PHRASAL.get(verb, ())):
        return Sign.SIDE_EFFECT if verb in SIDE_EFFECT else Sign.EXECUTION
    if verb in SIDE_EFFECT:
        return Sign.SIDE_EFFECT
    if verb in EXECUTION:
        return Sign.EXECUTION
    if verb == "let" and rest.startswith(("me ", "us ")):
        return None
    if verb in LOOKUP and moods.RECAP in _in_rest(rest):
        return Sign.GIVEN_TEXT
    if verb in LOOKUP and not moods.TELLING.match(rest):
        return Sign.LOOKUP
    return Sign.KNOWLEDGE if verb in SAYING or verb in LOOKUP else None


def _into_language(rest: str) -> bool:
    """Whether what stands behind a verb is text for translation: "this into dutch"."""
    words = set(rest.split()[:4])
    return moods.POINTING.match(rest) is not None and not words.isdisjoint(moods.LANGUAGES)


def _lead(words: list[str]) -> int:
    """Where the clause really starts, after "ok, now please"."""
    index = 0
    while index < len(words) - 1 and (words[index].strip(",.!:") in LEAD or words[index].startswith("@")):
        index += 1
    return index


def _is_noun(words: list[str], start: int) -> bool:
    """True when the first word is the subject of a statement: "test coverage is down", "build failed"."""
    if words[start + 1 : start + 2] and words[start + 1] in DETERMINERS:
        return False
    for word in words[start + 1 : start + 5]:
        if word in RELATIVE:
            return False
        if word in AUX:
            return True
    return False
