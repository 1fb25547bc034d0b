"""What is to be forgotten, and what is left of a text, a message or a memory without it. Pure functions.

Two kinds of things are forgotten. A *statement* (a memory) goes wherever it is said: sentence by sentence, so that what
was said beside it stays. A *selection of turns* (a session, a person, a period, everything) takes turns as a whole,
with what was learnt from them alone.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from app.core.capture.captured_message import CapturedMessage, Part, TextPart
from app.core.identity import safe_peer_id
from app.core.memories.memory import Memory, said_the_same
from app.core.memories.memory_outcomes import Kept, Selected
from app.core.memories.said_texts import LEAST_WORDS, Near, SaidTexts
from app.core.memories.sayings import is_long, words_of
from app.text.dates import iso, moment_of
from app.text.sentences import sentences

_MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Statement:
    """A memory that is to be forgotten. ``texts`` are those that it has and ever had, ``turns`` tell where it was said.

    ``said_in`` are the messages that it was taken from (by their ``source_id``) and that may say it in other words;
    ``messages`` do, and go as a whole. ``is_message``: it is what was said itself, so that only that message is meant,
    and what was learnt from it alone.
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
        spoken = [one for one in forgetting.statements if one.is_message]
        self._texts = tuple(dict.fromkeys(text for one in said for text in one.texts if text.strip()))
        self._same = {said_the_same(text) for text in self._texts}
        self._ids = {one.id for one in forgetting.statements}
        self._turns = {turn for one in said for turn in one.turns if turn}
        self._met: set[str] = set()
        self._said_in = {message for one in said for message in one.said_in if message}
        self._messages = {message for one in forgetting.statements for message in one.messages if message}
        self._spoken_messages = {message for one in spoken for message in (*one.said_in, *one.messages)}
        self._spoken = {(turn, text) for one in spoken for text in one.texts for turn in one.turns}
        self._spoken_sentences = {sentence for _, text in self._spoken for sentence in sentences(text)}
        self._said = SaidTexts(self._texts, (text for _, text in self._spoken))

    def needles(self) -> tuple[str, ...]:
        """The texts that must stand nowhere afterwards, each line of them for itself, too."""
        removed = self.removed | self._said.removed
        telling = (text for text in sorted(removed) if len(words_of(text)) > LEAST_WORDS)
        lines = (line.strip() for text in self._texts for line in text.split("\n"))
        return tuple(one for one in dict.fromkeys((*self._texts, *lines, *telling)) if is_long(one))

    def whole_texts(self) -> tuple[str, ...]:
        """The texts that are forgotten, but for those that stand within others by chance."""
        texts = dict.fromkeys((*self._texts, *(text for _, text in self._spoken)))
        return tuple(text for text in texts if is_long(text))

    def text(self, text: str, *, near: Near = Near.ELSEWHERE) -> str:
        """``text`` without the sentences that say a statement, and without its words within others."""
        return self._said.left_of(text, near)

    def left_of_memory(self, text: str) -> str:
        """What is left of a text that is a memory of its own: all but the same statements."""
        return self._said.left_of_memory(text)

    def meet(self, messages: Iterable[CapturedMessage]) -> None:
        """Learn which turns say a statement, whether it was taken from them or not: their answers take it up."""
        if self._said:
            said = (one for one in messages if one.role == "user" and self.message(one) != one)
            self._met |= {turn_of(one.source_id) for one in said if one.source_id}

    def derived(self, text: str, *, near: Near = Near.ANSWER) -> str:
        """What is left of a text that was made of what was said: an opening, a summary, an error, a query."""
        left = self.text(text, near=near)
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
        near = self._nearness(message)
        parts = tuple(p for one in message.parts if (p := with_texts(one, lambda text: self.text(text, near=near))))
        return message if parts == message.parts else replace(message, parts=parts)

    def _nearness(self, message: CapturedMessage) -> Near:
        """How near a message is to the statements: whether it may say them in words of its own."""
        turn = turn_of(message.source_id)
        if message.source_id in self._said_in or (message.role == "assistant" and turn in self._turns | self._met):
            return Near.ANSWER
        return Near.TURN if turn in self._turns else Near.ELSEWHERE

    def take_note_of(self, messages: Iterable[CapturedMessage]) -> None:
        """Have these messages among what was removed."""
        self.removed.update(sentence for one in messages for sentence in sentences(said_in(one)))

    def drops(self, memory: Memory, turns: Iterable[str] = ()) -> bool:
        """Whether a memory is to be forgotten. ``turns`` are those that are selected, of any session."""
        asked = self.forgetting
        if memory.id not in self._ids and not asked.came_before(memory.created_at):
            return False
        if asked.everything or memory.id in self._ids or self._is_same(memory.text):
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
        """Whether an earlier text of another memory is to be forgotten: it says one of them, if with others."""
        return self._is_same(text) or self._said.are_whole_in(text)

    def was_learnt_from(self, refs: Collection[str]) -> bool:
        """Whether what has these sources was learnt from messages alone that are forgotten themselves."""
        return bool(refs) and self._spoken_messages.issuperset(refs)

    @property
    def looks_for_texts(self) -> bool:
        """Whether texts are to be forgotten wherever they stand, and not turns alone."""
        return self._said.are_looked_for

    def holds(self, text: str) -> bool:
        """Whether a text has one of those that are to be forgotten within it, word for word."""
        return self._said.are_in(text)

    def is_held_by(self, message: CapturedMessage) -> bool:
        """The same of a message that is no later than the forgetting."""
        if not self.forgetting.came_before(message.created_at):
            return False
        return any(map(self.holds, texts_of(message)))

    def _is_same(self, text: str) -> bool:
        return said_the_same(text) in self._same or self._said.is_one(text)


def with_texts(part: Part, change: Callable[[str], str]) -> Part | None:
    """A part of a message with each of its texts changed; None where it said nothing else."""
    if isinstance(part, TextPart):
        left = change(part.text)
        return part if left == part.text else TextPart(left) if left else None
    return replace(part, input=mapped(part.input, change), output=part.output and change(part.output))


def said_in(message: CapturedMessage) -> str:
    """The words of a message, without its tool calls."""
    return "\n".join(part.text for part in message.parts if isinstance(part, TextPart)).strip()


def texts_of(message: CapturedMessage) -> list[str]:
    """Every text in a message, those of tool calls included."""
    found: list[str] = []

    def take(text: str) -> str:
        found.append(text)
        return text

    for part in message.parts:
        with_texts(part, take)
    return found


def mapped(value: Any, change: Callable[[str], str], depth: int = 0) -> Any:
    """A JSON value with each string in it changed, names too; what is nested without end is left out."""
    if isinstance(value, str):
        return change(value)
    if depth >= _MAX_DEPTH:
        return None
    if isinstance(value, list):
        return [mapped(one, change, depth + 1) for one in value]
    if isinstance(value, dict):
        return {change(name): mapped(one, change, depth + 1) for name, one in value.items()}
    return value
