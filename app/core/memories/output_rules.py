"""What a forgetting says of tool outputs that are older than it and come with a later prompt. Pure.

A host's prompt goes on having an output whose turn was forgotten, or that tells what was, and a guard that cuts it
keeps the original. No words are noted for that, only hashes of them: see `app.core.memories.withholding`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.core.memories.forget_selection import Forgetting
from app.core.memories.withholding import Withholding
from app.text.dates import moment_of
from app.text.sentences import sentences
from app.text.words import tokens


@dataclass(frozen=True, slots=True)
class OutputRule:
    """Of outputs up to ``at`` (epoch seconds), those of ``sessions`` (None: of any) from ``since`` to ``until`` are not
    kept; of others no sentence is that has the hashed ``words`` of one that was forgotten."""

    at: float
    sessions: frozenset[str] | None = frozenset()
    since: float | None = None
    until: float | None = None
    words: tuple[frozenset[str], ...] = ()

    def takes(self, session: str, said: float) -> bool:
        """Whether an output of that session and moment is not kept at all."""
        if said > self.at or (self.sessions is not None and session not in self.sessions):
            return False
        return (self.since is None or said >= self.since) and (self.until is None or said <= self.until)

    def to_json(self) -> dict[str, Any]:
        """The rule but for its moment."""
        return {
            "sessions": None if self.sessions is None else sorted(self.sessions),
            "since": self.since,
            "until": self.until,
            "words": [sorted(words) for words in self.words],
        }

    @classmethod
    def from_json(cls, at: float, fields: dict[str, Any]) -> "OutputRule":
        """The inverse of `to_json`."""
        sessions, words = fields["sessions"], fields["words"]
        told = None if sessions is None else frozenset(sessions)
        return cls(at, told, fields["since"], fields["until"], tuple(map(frozenset, words)))


def rule_of(forgetting: Forgetting, sessions: frozenset[str] | None, hashing: Withholding) -> OutputRule:
    """The rule of a forgetting; ``sessions`` are those of which turns go as a whole, None where that is not known."""
    at = _moment(forgetting.at) or 0.0
    if not forgetting.takes_turns:
        texts = (text for one in forgetting.statements for text in one.texts)
        hashed = (frozenset(words) for text in texts for one in _telling(text) for words in hashing.hashed(one))
        return OutputRule(at, words=tuple(dict.fromkeys(hashed)))
    if forgetting.session is not None:
        return OutputRule(at, frozenset({forgetting.session}))
    if forgetting.person is not None:
        return OutputRule(at, sessions)
    return OutputRule(at, None, _moment(forgetting.since), _moment(forgetting.until))


class OutputRules:
    """The rules of one tenant, whose words were hashed under ``secret``."""

    def __init__(self, rules: Sequence[OutputRule] = (), secret: bytes = b"") -> None:
        self._rules = rules
        self._withholding = Withholding(secret)
        for rule in rules:
            for words in rule.words:
                self._withholding.add(words, rule.at)

    def left_of(self, text: str, session: str, said: float) -> str | None:
        """What may be kept of an output; None for nothing."""
        if any(rule.takes(session, said) for rule in self._rules):
            return None
        return self._withholding.left_of_output(text, said) or None


def _telling(text: str) -> Iterator[str]:
    """The sentences of a text, but for those of one word within others ("Thanks.") that is no name, number or code."""
    said = list(sentences(text))
    return (one for one in said if len(said) == 1 or _tells(tokens(one)))


def _tells(words: Iterable[str]) -> bool:
    said = list(words)
    return len(said) > 1 or any(character.isdigit() for word in said for character in word)


def _moment(text: str | None) -> float | None:
    moment = moment_of(text) if text else None
    return moment.timestamp() if moment else None
