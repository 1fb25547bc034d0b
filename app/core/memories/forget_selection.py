"""What is to be forgotten, and what is left of a text, a message or a memory without it. Pure functions.

Two kinds of things are forgotten. A *statement* (a memory) goes wherever it is said: sentence by sentence, so that what
was said beside it stays. A *selection of turns* (a session, a person, a period, everything) takes turns as a whole,
with what was learnt from them alone.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from app.core.capture.captured_message import CapturedMessage, Part, TextPart
from app.core.identity import safe_peer_id
from app.core.memories.memory import Memory, said_the_same
from app.core.memories.memory_outcomes import Kept, Selected
from app.core.memories.withholding import Words, echoes, says, words_of
from app.text.dates import iso, moment_of
from app.text.sentences import sentences, without

LEAST_WORDS = 2
"""A sentence of fewer words ("Thanks.") that stands in a longer text is no statement to look for elsewhere."""
LEAST_CHARS = 8
"""A shorter text stands within other words, too: it is not looked for byte by byte."""
_TELLING_CHARS = 4
_MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Statement:
    """A memory that is to be forgotten. ``texts`` are those that it has and ever had, ``turns`` tell where it was said.

    ``said_in`` are the messages that it was taken from (by their ``source_id``); ``messages`` say it in words of their
    own and go as a whole. ``is_message``: it is what was said itself, so that nothing but that message is meant.
    """

    id: str
    uri: str
    category: str
    texts: tuple[str, ...]
    turns: tuple[str, ...] = ()
    said_in: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    is_message: bool = False


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What is to be forgotten of one tenant: statements, or the turns that one of the other fields selects.

    All of it counts for what was said or stored up to ``at`` (ISO 8601 in UTC): who says it again, means it. ``since``
    and ``until`` are such moments, too. ``turns`` are ids of turns that are known to be selected, ``sessions`` those
    that are known to lose turns.

    ``resumed``: it was begun before, so that something may have been said since. Only then the times of messages are
    compared with ``at``, for a host's clock may be ahead.
    """

    at: str
    statements: tuple[Statement, ...] = ()
    session: str | None = None
    person: str | None = None
    since: str | None = None
    until: str | None = None
    everything: bool = False
    turns: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    resumed: bool = False

    @property
    def takes_turns(self) -> bool:
        """Whether it selects turns as a whole."""
        return self.everything or any((self.session, self.person, self.since, self.until))

    def came_before(self, said_at: str) -> bool:
        """Whether something of this time is not from after the forgetting was asked for."""
        return not self.resumed or utc(said_at) <= self.at

    def is_in_time(self, at: str) -> bool:
        """Whether a moment is within the period, where there is one."""
        return (self.since is None or at >= self.since) and (self.until is None or at <= self.until)

    def names(self, *people: str | None) -> bool:
        """Whether one of the people (peers, senders) is the one who is meant."""
        meant = {self.person, safe_peer_id(self.person)} if self.person else set()
        return any(person in meant for person in people if person)

    def selects(self, message: CapturedMessage, session: str) -> bool:
        """Whether a message is one of those that its turn goes for."""
        if turn_of(message.source_id) in self.turns:
            return True
        if not self.came_before(message.created_at):
            return False
        if self.everything:
            return True
        if self.session is not None:
            return session == self.session
        if self.person is not None:
            return self.names(message.peer_id, message.sender)
        return self.takes_turns and self.is_in_time(utc(message.created_at))


@dataclass(frozen=True, slots=True)
class Erased:
    """What a store of memories has erased, or would: ``turns`` by their ids.

    ``summaries`` are those that stand now in the place of others, by session. ``keeps_sessions``: what was said stays
    where it is, so that ``sessions`` are not all in which it was.
    """

    selected: tuple[Selected, ...] = ()
    memories: int = 0
    turns: frozenset[str] = frozenset()
    archives: int = 0
    notes: int = 0
    summaries: dict[str, str] = field(default_factory=dict)
    sessions: frozenset[str] = frozenset()
    keeps_sessions: bool = False
    removed: tuple[str, ...] = ()
    """Texts that must stand nowhere any more."""
    kept: tuple[Kept, ...] = ()


def turn_of(source_id: str) -> str:
    """The id of the turn that a message belongs to; its own where it stands alone."""
    return source_id.rpartition(".")[0] or source_id


def utc(text: str) -> str:
    """A moment in the form in which moments are compared; what is none is the first of all."""
    moment = moment_of(text)
    return iso(moment) if moment else ""


class Redactor:
    """Takes what is to be forgotten out of texts, messages and memories. ``removed`` collects the sentences it took."""

    def __init__(self, forgetting: Forgetting) -> None:
        self.forgetting = forgetting
        self.removed: set[str] = set()
        said = [one for one in forgetting.statements if not one.is_message]
        self._texts = tuple(dict.fromkeys(text for one in said for text in one.texts if text.strip()))
        self._same = {said_the_same(text) for text in self._texts}
        self._ids = {one.id for one in forgetting.statements}
        self._turns = {turn for one in said for turn in one.turns if turn}
        self._said_in = {message for one in said for message in one.said_in if message}
        self._messages = {message for one in forgetting.statements for message in one.messages if message}
        self._sayings = list({words for text in self._texts for words in _sayings(text)})
        self._telling = frozenset(word for words in self._sayings for word in words if _is_telling(word))
        self._literals = [_literal(text) for text in self._texts if len(words_of(text)) >= LEAST_WORDS]
        self._spoken = {
            (turn, text) for one in forgetting.statements if one.is_message for text in one.texts for turn in one.turns
        }
        self._spoken_sentences = {sentence for _, text in self._spoken for sentence in sentences(text)}

    def needles(self) -> tuple[str, ...]:
        """The texts that must stand nowhere afterwards."""
        telling = (text for text in sorted(self.removed) if len(words_of(text)) > LEAST_WORDS)
        return tuple(dict.fromkeys(text for text in (*self._texts, *telling) if len(text) >= LEAST_CHARS))

    def text(self, text: str, *, near: bool = False) -> str:
        """``text`` without the sentences that say a statement. ``near``: it stands in a turn that says so."""
        if not self._sayings or not text:
            return text
        words = words_of(text)
        if not any(saying <= words or (near and echoes(saying, words)) for saying in self._sayings) and not (
            near and self._telling & words
        ):
            return text
        left = without(text, lambda sentence: self._takes_out(sentence, near=near))
        for literal in self._literals:
            left = literal.sub("", left)
        return text if left == text else left.strip()

    def _takes_out(self, sentence: str, *, near: bool) -> bool:
        said = words_of(sentence)
        if not any(says(saying, said) for saying in self._sayings) and not (near and self._is_taken_up(said)):
            return False
        self.removed.add(sentence)
        return True

    def meet(self, messages: Iterable[CapturedMessage]) -> None:
        """Learn which turns say a statement, whether it was taken from them or not: their answers take it up."""
        if self._sayings:
            said = (one for one in messages if one.role == "user" and self.message(one) != one)
            self._turns |= {turn_of(one.source_id) for one in said if one.source_id}

    def _is_taken_up(self, said: Words) -> bool:
        """Whether a sentence near by takes a statement up, and says nothing else that has a name or number."""
        if self._telling & said:
            return not any(_is_telling(word) for word in said - self._telling)
        named = {word for word in said if _is_telling(word)}
        return any(echoes(saying, said) and named <= saying for saying in self._sayings)

    def derived(self, text: str) -> str:
        """What is left of a text that was made of what was said: an opening, a summary, an error, a query."""
        left = self.text(text, near=True)
        for sentence in self._spoken_sentences:
            left = left.replace(sentence, "")
        return left if left == text else left.strip()

    def takes(self, message: CapturedMessage, *, selected: bool = False) -> bool:
        """Whether a message goes as a whole; ``selected``: its turn does."""
        if selected or message.source_id in self._messages:
            return True
        return bool(self._spoken) and (turn_of(message.source_id), said_in(message)) in self._spoken

    def message(self, message: CapturedMessage, *, selected: bool = False) -> CapturedMessage:
        """What is left of a message: without parts where nothing is. Its place, ids and times stay.

        An emptied message is known again when it is delivered late, and the numbers of the others stay as they are.
        """
        if not selected and not self.forgetting.came_before(message.created_at):
            return message
        if self.takes(message, selected=selected):
            self.take_note_of((message,))
            return replace(message, parts=(), sender=None) if message.parts or message.sender else message
        answers = message.role == "assistant" and turn_of(message.source_id) in self._turns
        near = answers or message.source_id in self._said_in
        parts = tuple(p for one in message.parts if (p := with_texts(one, lambda text: self.text(text, near=near))))
        return message if parts == message.parts else replace(message, parts=parts)

    def take_note_of(self, messages: Iterable[CapturedMessage]) -> None:
        """Have these messages among what was removed."""
        self.removed.update(sentence for one in messages for sentence in sentences(said_in(one)))

    def drops(self, memory: Memory, turns: Iterable[str] = ()) -> bool:
        """Whether a memory is to be forgotten. ``turns`` are those that are selected, of any session."""
        asked = self.forgetting
        if memory.id not in self._ids and not asked.came_before(memory.created_at):
            return False
        if asked.everything or memory.id in self._ids or said_the_same(memory.text) in self._same:
            return True
        if asked.person is not None and asked.names(memory.peer):
            return True
        if (asked.since or asked.until) and asked.is_in_time(memory.created_at):
            return True
        selected = set(turns)
        return bool(memory.sources) and all(
            (asked.session is not None and one.session == asked.session) or one.turn_id in selected
            for one in memory.sources
        )

    def drops_text(self, text: str) -> bool:
        """Whether an earlier text of another memory is to be forgotten."""
        return said_the_same(text) in self._same or any(saying == words_of(text) for saying in self._sayings)

    def holds(self, text: str) -> bool:
        """Whether a text has one of those that are to be forgotten within it, word for word."""
        return any(literal.search(text) for literal in self._literals)


def with_texts(part: Part, change: Callable[[str], str]) -> Part | None:
    """A part of a message with each of its texts changed; None where it said nothing else."""
    if isinstance(part, TextPart):
        left = change(part.text)
        return part if left == part.text else TextPart(left) if left else None
    return replace(part, input=mapped(part.input, change), output=part.output and change(part.output))


def said_in(message: CapturedMessage) -> str:
    """The words of a message, without its tool calls."""
    return "\n".join(part.text for part in message.parts if isinstance(part, TextPart)).strip()


def mapped(value: Any, change: Callable[[str], str], depth: int = 0) -> Any:
    """A JSON value with each string in it changed; what is nested without end is left out."""
    if isinstance(value, str):
        return change(value)
    if depth >= _MAX_DEPTH:
        return None
    if isinstance(value, list):
        return [mapped(one, change, depth + 1) for one in value]
    if isinstance(value, dict):
        return {name: mapped(one, change, depth + 1) for name, one in value.items()}
    return value


def _sayings(text: str) -> Iterator[Words]:
    said = [words_of(sentence) for sentence in sentences(text)]
    return (words for words in said if words and (len(said) == 1 or len(words) >= LEAST_WORDS))


def _is_telling(word: str) -> bool:
    """Whether a word is a name, a number or a code that says of itself what it is about."""
    return len(word) >= _TELLING_CHARS and any(character.isdigit() for character in word)


def _literal(text: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, text.split())), re.IGNORECASE)
