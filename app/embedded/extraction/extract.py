"""Memories by rules: what users stated, one record a sentence, in their own words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from app.classify.meant import is_own
from app.classify.own_words import only_introduces, own_words
from app.core.capture.captured_message import CapturedMessage, TextPart
from app.embedded.extraction.rules import statement_in
from app.embedded.extraction.statements import Statement
from app.embedded.search.speakers import quoted_speaker
from app.embedded.storage.record_versions import ANY, Claim
from app.embedded.storage.records import Record, Source
from app.embedded.storage.sharing import keeper
from app.text.dates import day_of
from app.text.remember import told_to_remember
from app.text.sentences import ends_in_question, sentences

MAX_SENTENCE_CHARS = 400
"""Longer than that is prose, not a statement to remember."""
MAX_MEMORIES = 200
"""Most memories of one commit."""
MENTIONED = 0.8
"""Confidence of what no rule recognises, where it says that something known holds no more."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A record and where it belongs: ``file`` is relative to the memories of the user, or of ``peer``."""

    peer: str | None
    file: str
    title: str
    record: Record
    claim: Claim = ANY


@dataclass(frozen=True, slots=True)
class Mention:
    """A sentence that no rule recognises. It becomes a record where it takes the place of another."""

    peer: str | None
    """Who said it, for what is kept below a peer."""
    record: Record
    """Without a key: it gets that of the record that it replaces."""
    of_person: bool = False
    """See `CapturedMessage`."""


def mentions_in(messages: Sequence[CapturedMessage]) -> Iterator[Mention]:
    """What else users said, in order, at most `MAX_MEMORIES`."""
    said = ((sentence, message) for message in messages if message.role == "user" for sentence in _sentences(message))
    unknown = (one for one in said if statement_in(one[0], day_of(one[1].created_at)) is None)
    for sentence, message in islice(unknown, MAX_MEMORIES):
        yield Mention(message.peer_id, _record("", "", sentence, MENTIONED, message), message.of_person)


def memories_in(messages: Sequence[CapturedMessage]) -> Iterator[Memory]:
    """The memories in the users' messages, in order, at most `MAX_MEMORIES`."""
    count = 0
    for message in messages:
        if message.role != "user":
            continue
        for sentence in _sentences(message):
            found = statement_in(sentence, day_of(message.created_at))
            if found:
                yield _memory(*found, message)
                count += 1
            if count >= MAX_MEMORIES:
                return


def _sentences(message: CapturedMessage) -> Iterator[str]:
    """Statements in the text: no code, quotations, pasted texts, jokes or questions, nothing behind another speaker's
    name, no text to be translated or written."""
    for part in message.parts:
        if isinstance(part, TextPart):
            for line in own_words(part.text):
                yield from _statements_of_line(line)


def _statements_of_line(line: str) -> Iterator[str]:
    if not is_own(line) and not told_to_remember(line):
        return
    for said in sentences(line):
        sentence = said.removeprefix("- ").removeprefix("* ").strip()
        if ends_in_question(sentence) or not 4 <= len(sentence) <= MAX_SENTENCE_CHARS:
            continue
        if only_introduces(sentence):
            continue
        if quoted_speaker(sentence) and not told_to_remember(sentence):
            return
        if not sentence.lower().startswith(
            ("if ", "如果", "假如", "what ", "how ", "why ", "should ", "could ", "can ")
        ):
            yield sentence


def _memory(statement: Statement, said: str, message: CapturedMessage) -> Memory:
    return Memory(
        peer=keeper(statement.file, message.peer_id, of_person=message.of_person),
        file=statement.file,
        title=statement.title,
        record=_record(statement.type, statement.key, said, statement.confidence, message),
        claim=statement.claim,
    )


def _record(kind: str, key: str, said: str, confidence: float, message: CapturedMessage) -> Record:
    value = " ".join(said.split())
    return Record(
        type=kind,
        key=key,
        value=value,
        confidence=confidence,
        source=Source("chat_turn", message.source_id, message.created_at),
        sensitivity=sensitivity_of(value),
        last_confirmed_at=message.created_at,
    )


_HIGH = re.compile(
    r"\b(?:password|passcode|secret|ssn|credit card|diagnos|disease|salary|bank account)|密码|密碼|身份证|身份證"
    r"|银行卡|銀行卡|工资|工資|病",
    re.I,
)
_MEDIUM = re.compile(
    r"@|\b(?:phone|address|birthday|email|allergic|medication)\b|电话|電話|地址|生日|邮箱|郵箱|过敏|過敏", re.I
)


def sensitivity_of(value: str) -> str:
    """How private a statement is, by its words: ``low``, ``medium`` or ``high``."""
    return "high" if _HIGH.search(value) else "medium" if _MEDIUM.search(value) else "low"
