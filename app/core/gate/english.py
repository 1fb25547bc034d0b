"""English for the experience gate: who is asked to do what, and what is only talked about.

A verb counts where somebody is asked to do it: at the start of a clause (imperative), after a polite form ("could
you", "I need you to", "would you mind"), or as something that is due ("needs to be renamed"). Elsewhere it is part
of a story or of a question.
"""

from collections.abc import Iterator

from app.core.gate.english_moods import (
    ABILITY,
    ASKING,
    CHAT,
    CJK,
    CODE_SHAPE,
    CONVERSATION,
    DUE,
    EXPERIENCE,
    FAILURE,
    FEELING,
    GIVEN_OBJECT,
    HANDOVER,
    HELD_BACK,
    LATIN,
    LET_KNOW,
    MEANING,
    NARRATION,
    OPINION,
    OTHERS,
    OUGHT,
    PAST_TALK,
    PLEASE,
    POINTING,
    POLITE,
    RECAP,
    REMEMBER,
    REMIND,
    SPECIFIC_WHY,
    STORED_TEXT,
    STORY,
    TAGS,
    TELLING,
    WANTED,
    WORD,
    YOU,
)
from app.core.gate.english_words import (
    AUX,
    DETERMINERS,
    EFFECTIVE_REWORDING,
    EXECUTION,
    LEAD,
    LOOKUP,
    OBJECT_WORDS,
    PHRASAL,
    RELATIVE,
    RETELLING,
    REWORDING,
    SAYING,
    SIDE_EFFECT,
    THING_WORDS,
    VERBS,
    base,
)
from app.core.gate.signs import EVIDENCE_CHARS, Found, Sentence, Sign

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
_NO_TERSE = {Sign.SIDE_EFFECT, Sign.EXECUTION, Sign.KNOWLEDGE, Sign.GIVEN_TEXT, Sign.CHAT, Sign.PAST_TALK}


def read(sentence: Sentence) -> Iterator[Found]:
    """The signs in the English of one sentence."""
    if not LATIN.search(sentence.text):
        return
    text = sentence.text
    asks = sentence.asks and sentence.clauses[-1] not in TAGS
    found = [*_about(text, asks), *(item for clause in sentence.clauses for item in _asked(clause, asks))]
    yield from found
    if any(map(PLEASE.search, sentence.clauses)) and not any(item.sign in _NO_TERSE for item in found):
        yield from _terse(text)


def objects(text: str) -> Iterator[Found]:
    """Things named anywhere: engineering objects, everyday objects, failures, experience. ``text`` is lower case."""
    words = WORD.findall(text)
    for sign, shown in ((Sign.OBJECT, _named(words, OBJECT_WORDS)), (Sign.THING, _named(words, THING_WORDS))):
        if shown:
            yield Found(sign, shown)
    for sign, pattern in ((Sign.OBJECT, CODE_SHAPE), (Sign.FAILURE, FAILURE), (Sign.EXPERIENCE, EXPERIENCE)):
        if match := pattern.search(text):
            yield Found(sign, match[0].strip())


def _named(words: list[str], names: frozenset[str]) -> str | None:
    """The first of ``words`` that is one of ``names``, in the singular or with an s."""
    return next((word for word in words if word in names or (word[-1] == "s" and word[:-1] in names)), None)


def _about(text: str, asks: bool) -> Iterator[Found]:
    """What the sentence as a whole is: talk, question, story, reminder, feeling."""
    for sign, pattern in _ABOUT:
        if match := pattern.search(text):
            yield Found(sign, match[0])
    if match := HANDOVER.search(text):
        yield Found(Sign.HANDOVER, match[0])
    about = MEANING.search(text)
    polite = POLITE.search(text)
    question = (None if polite and polite.start() < 16 else ASKING.search(text)) or OPINION.search(text)
    if question and FAILURE.search(text) and SPECIFIC_WHY.search(text) and not (about or ABILITY.search(text)):
        yield Found(Sign.HANDOVER, question[0])
    elif question or (asks and not polite):
        yield Found(Sign.KNOWLEDGE, question[0] if question else text[-20:])


def _asked(clause: str, asks: bool) -> Iterator[Found]:
    """The acts that this clause asks for."""
    if REMIND.search(clause) and not PAST_TALK.search(clause):
        yield Found(Sign.SIDE_EFFECT, clause)
    yield from _politely(clause)
    if not CJK.search(clause):
        yield from _imperatives(clause.split(), asks, polite=bool(POLITE.search(clause)))
    if not asks:
        yield from _due(clause)


def _politely(clause: str) -> Iterator[Found]:
    """Acts after "could you", "I need you to", "would you mind"; not after "how could you"."""
    for match in POLITE.finditer(clause):
        if clause[: match.start()].rstrip().endswith(("how", "why", "what", "which", "where", "when", "who")):
            continue
        rest = clause[match.end() :]
        acts = list(_act(rest.split(), polite=True))
        if match[0].startswith(YOU) and (acts or not rest.isascii()):
            yield Found(Sign.ADDRESSED, match[0])
        yield from acts


def _imperatives(words: list[str], asks: bool, *, polite: bool) -> Iterator[Found]:
    """Acts whose verb begins the clause, or a part of it after "and"; a question only asks to look into things."""
    if not words:
        return
    start = _lead(words)
    if _is_noun(words, start):
        return
    if not asks or words[start] in EXECUTION:
        yield from _act(words[start:], polite=False)
    if (asks and not polite) or words[start] in SAYING or "between" in words:
        return
    for index, word in enumerate(words[1:-1], start=1):
        if word in {"and", "then", "&", "or", "but"}:
            after = _lead(words[index:]) + index
            if not _is_noun(words, after):
                yield from _act(words[after:], polite=False)


def _due(clause: str) -> Iterator[Found]:
    """What ought to be done, or be otherwise, or is wanted."""
    if match := OUGHT.search(clause):
        yield Found(Sign.EXECUTION, match[0])
    for match in DUE.finditer(clause):
        if verb := base(next(group for group in match.groups() if group)):
            yield from _act([verb], polite=True)
            if verb in LOOKUP:
                yield Found(Sign.EXECUTION, match[0])
    if match := WANTED.search(clause):
        yield Found(Sign.LOOKUP, match[0])
        yield Found(Sign.REQUEST, match[0])


def _terse(clause: str) -> Iterator[Found]:
    """A request without a verb: "logo bigger on mobile, please"."""
    if thing := _named(WORD.findall(clause), THING_WORDS | OBJECT_WORDS):
        yield Found(Sign.LOOKUP, clause)
        yield Found(Sign.THING, thing)
    yield Found(Sign.ADDRESSED, clause[-EVIDENCE_CHARS:])


def _act(words: list[str], *, polite: bool) -> Iterator[Found]:
    """The act whose verb stands first in ``words``; after a polite form the verb may be inflected."""
    if words[:2] == ["for", "you"]:
        words = words[2:]
    if not words:
        return
    verb = words[0].strip("*_:;.()[]“”\"'")
    if polite and verb not in VERBS:
        verb = base(verb) or verb
    sign = _kind(verb, " ".join(words[1:]))
    if sign is None:
        return
    evidence = " ".join(words)
    yield Found(sign, evidence)
    if sign not in {Sign.GIVEN_TEXT, Sign.KNOWLEDGE}:
        yield Found(Sign.REQUEST, evidence)


def _kind(verb: str, rest: str) -> Sign | None:
    """What kind of act ``verb`` is, given the words behind it; None when it is none."""
    if rest.startswith("yourself"):
        return None
    if (verb == "let" and LET_KNOW.match(rest)) or (verb in {"tell", "ask"} and OTHERS.match(rest)):
        return Sign.SIDE_EFFECT
    if GIVEN_OBJECT.match(rest) or (verb in RETELLING and CONVERSATION.search(rest)):
        return Sign.GIVEN_TEXT
    if verb in REWORDING:
        stored = STORED_TEXT.search(rest) and not POINTING.match(rest)
        return Sign.EXECUTION if stored or verb in EFFECTIVE_REWORDING else Sign.GIVEN_TEXT
    if any(rest.startswith(particle) or f" {particle}" in rest[:40] for particle in PHRASAL.get(verb, ())):
        return Sign.SIDE_EFFECT if verb in SIDE_EFFECT else Sign.EXECUTION
    if verb in SIDE_EFFECT:
        return Sign.SIDE_EFFECT
    if verb in EXECUTION:
        return Sign.EXECUTION
    if verb in LOOKUP and RECAP.search(rest):
        return Sign.GIVEN_TEXT
    if verb in LOOKUP and not TELLING.match(rest):
        return Sign.LOOKUP
    return Sign.KNOWLEDGE if verb in SAYING or verb in LOOKUP else None


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
