"""What somebody asks to remember, in so many words: it holds from the next turn on, in any session."""

from collections.abc import Iterator, Sequence

from app.classify.own_words import own_words
from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.memories.memory import MemorySource, NewMemory, Reading
from app.text.remember import asks_to_remember, is_not_to_be_asked, told_to_remember
from app.text.sentences import sentences

MAX_STATEMENT_CHARS = 400
"""Longer than that is prose, not a statement to remember."""
MAX_TOLD = 20
"""Most statements of one turn."""
TOLD = 0.95
"""Confidence of what a user asked to remember."""


def told(text: str) -> Iterator[str]:
    """The statements in ``text`` that it asks to remember, in its author's own words.

    "Remember that I am vegan" states what it asks for; "Never ask me that again" only makes sense with what was said
    before it in the same message.
    """
    if not (asks_to_remember(text) or is_not_to_be_asked(text)):
        return
    before = ""
    for line in own_words(text):
        for said in sentences(line):
            sentence = said.removeprefix("- ").removeprefix("* ").strip()
            if statement := _statement(sentence, before):
                yield statement
            before = sentence


def _statement(sentence: str, before: str) -> str:
    if len(sentence) > MAX_STATEMENT_CHARS:
        return ""
    if is_not_to_be_asked(sentence):
        return f"{before} {sentence}".strip() if len(before) <= MAX_STATEMENT_CHARS else sentence
    if not asks_to_remember(sentence):
        return ""
    what = told_to_remember(sentence)
    return "" if what.lower().startswith(_POINTING) else what


_POINTING = ("this", "it ", "it.", "for later", "to ", "这", "這", "一下")
"""What only points at something that was said elsewhere, or asks for a deed: no statement by itself."""


def told_in(messages: Sequence[CapturedMessage]) -> Iterator[tuple[int, str]]:
    """The number of the message and the statement, of what the users' messages ask to remember."""
    count = 0
    for number, message in enumerate(messages):
        if message.role != "user":
            continue
        for part in message.parts:
            for statement in told(part.text) if isinstance(part, TextPart) else ():
                yield number, statement
                count += 1
                if count >= MAX_TOLD:
                    return


def memory_told(
    memory_id: str,
    statement: str,
    message: CapturedMessage,
    number: int,
    *,
    reading: Reading,
    peer: str | None,
    session: str,
) -> NewMemory:
    """What a message asks to remember, as a memory of its own."""
    return NewMemory(
        id=memory_id,
        text=statement,
        created_at=message.created_at,
        source=MemorySource("turn", message.created_at, session),
        category=reading.category,
        confidence=TOLD,
        sensitivity=reading.sensitivity,
        peer=peer,
        message_id=f".{number}",
    )
