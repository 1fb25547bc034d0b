"""What became of memories that were stored, changed, forgotten or imported."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from app.core.capture.policy_line import PolicyLine
from app.core.memories.memory import Memory


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of a `NewMemory`. ``created`` False: its text was known, and is confirmed."""

    memory: Memory
    created: bool
    policy: tuple[PolicyLine, ...] = ()
    """What the rules took out of its text."""
    superseded: tuple[str, ...] = ()
    """Ids of the memories that it stands in the place of now."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A memory after a change, and what the rules took out of its new text."""

    memory: Memory
    policy: tuple[PolicyLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Selected:
    """A memory that a forgetting is about."""

    id: str
    uri: str
    category: str


@dataclass(frozen=True, slots=True)
class Kept:
    """What a forgetting could not reach, and why."""

    what: str
    why: str


def kept_memory(memory_id: str) -> Kept:
    """A memory that has a forgotten text within its own."""
    return Kept(f"memory {memory_id}", "it says so in a statement of its own; forget it by its id")


def kept_session(session: str) -> Kept:
    """A session in which a forgotten text is said by what is not forgotten."""
    return Kept(f"session {session}", "another message says so in the same words; forget that one, or the session")


def kept_resource(path: str) -> Kept:
    """A document that has a forgotten text within its own."""
    return Kept(f"resource viking://~/{path}", "a document says so; delete it, or import it without that")


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was forgotten.

    ``removed`` counts ``memories``, ``turns``, ``archives``, ``notes``, ``traces`` and ``outbox``.
    """

    receipt_id: str
    at: str
    selected: tuple[Selected, ...] = ()
    removed: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    kept: tuple[Kept, ...] = ()
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of an import: ``rejected`` holds (line from 1, what is wrong with it)."""

    imported: int
    skipped: int
    rejected: tuple[tuple[int, str], ...] = ()
