"""What a memory is: one statement with what is known about it, and the changes that it can undergo. Pure data.

Times are ISO 8601 in UTC with milliseconds (`app.text.dates.iso`), so that their order as text is their order in time.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Literal

from app.text.dates import iso, moment_of

MAX_TEXT_CHARS = 20_000
"""Longest text of a memory."""
MAX_KEY_CHARS = 200
MAX_TTL_DAYS = 36_500
MAX_PAGE = 200
"""Most memories of a page."""

SourceKind = Literal["turn", "api", "import", "file"]


class MemoryState(StrEnum):
    """Whether a memory holds. Only live ones are recalled."""

    LIVE = "live"
    SUPERSEDED = "superseded"
    """Another memory took its place: the same key with another text."""
    EXPIRED = "expired"
    """Its time to live is over."""


class Sensitivity(StrEnum):
    """How private a memory is."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


def highest(*levels: str) -> Sensitivity:
    """The highest of these levels; what is none counts for nothing."""
    return [Sensitivity.LOW, *(level for level in Sensitivity if level in levels)][-1]


class Origin(StrEnum):
    """Whose a memory is: the user's own, a peer's, or taken from a resource."""

    SELF = "self"
    PEER = "peer"
    RESOURCE = "resource"


@dataclass(frozen=True, slots=True)
class MemorySource:
    """Where a statement came from, and when."""

    kind: SourceKind
    at: str
    session: str | None = None
    turn_id: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One statement. ``id`` is opaque, URL-safe and stable while the memory lives."""

    id: str
    uri: str
    category: str
    text: str
    created_at: str
    """When it was said."""
    updated_at: str
    """When it was last written here."""
    peer: str | None = None
    origin: Origin = Origin.SELF
    last_confirmed_at: str | None = None
    expires_at: str | None = None
    confidence: float | None = None
    sensitivity: Sensitivity = Sensitivity.LOW
    pinned: bool = False
    version: int = 1
    state: MemoryState = MemoryState.LIVE
    sources: tuple[MemorySource, ...] = ()
    key: str | None = None
    """What it is about, where its writer named it: another text under the same key takes its place."""


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """An earlier version of a memory: its text, until when it held, and why it does not any more."""

    version: int
    text: str
    at: str
    reason: str


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory with its earlier versions, oldest first: a line of the export."""

    memory: Memory
    history: tuple[MemoryVersion, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoredMemory:
    """A memory that a search found; ``score`` is between 0 and 1."""

    memory: Memory
    score: float


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory that is to be stored. ``id`` is its own from the beginning, so that storing it again does no harm.

    ``promised``: its id was given out before the backend had it, so that a memory with the same text yields to it.
    """

    id: str
    text: str
    created_at: str
    source: MemorySource
    category: str
    key: str | None = None
    confidence: float = 0.9
    ttl_days: float | None = None
    """Days after ``created_at``, or after it was last confirmed, for which it holds; None is for good."""
    sensitivity: Sensitivity = Sensitivity.LOW
    has_asked_sensitivity: bool = False
    """Whether its writer said how private it is; else the text suggested it."""
    pinned: bool = False
    peer: str | None = None
    """The peer it belongs to; None is the user."""
    promised: bool = False
    message_id: str = ""
    """The ``source_id`` of the message that says it; until its turn has an id, what follows that of the turn."""
    earlier: tuple[MemoryVersion, ...] = ()
    """What it was before it was changed while it waited for the backend, oldest first."""

    @property
    def version(self) -> int:
        """The version that it has when it is stored."""
        return self.earlier[-1].version + 1 if self.earlier else 1

    @property
    def confirmed_at(self) -> str:
        """When it was stored, or last changed: its time to live begins there."""
        return self.earlier[-1].at if self.earlier else self.created_at


@dataclass(frozen=True, slots=True)
class Reading:
    """What a statement says about itself."""

    category: str
    sensitivity: Sensitivity


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """What changes of a memory; None leaves a field as it is."""

    text: str | None = None
    category: str | None = None
    pinned: bool | None = None
    ttl_days: float | None = None
    ends_ttl: bool = False
    """It holds for good from now on."""
    sensitivity: Sensitivity | None = None


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which memories are asked for; None of a field asks for any."""

    category: str | None = None
    """Without one, what was said (raw turns) is left out of lists."""
    state: MemoryState | None = MemoryState.LIVE
    peer: str | None = None
    """Only this peer's."""
    visible_to: frozenset[str] | None = None
    """Besides the user's own only those of these peers; None: of all, as an operator may see."""
    since: str | None = None
    until: str | None = None
    pinned: bool | None = None
    session: str | None = None

    def admits(self, memory: Memory) -> bool:
        """Whether the memory is asked for."""
        if self.visible_to is not None and memory.peer is not None and memory.peer not in self.visible_to:
            return False
        wanted = (self.category, self.state, self.peer, self.pinned)
        is_ = (memory.category, memory.state, memory.peer, memory.pinned)
        if any(want is not None and want != has for want, has in zip(wanted, is_, strict=True)):
            return False
        if (self.since and memory.created_at < self.since) or (self.until and memory.created_at > self.until):
            return False
        return self.session is None or any(source.session == self.session for source in memory.sources)


def expiry(since: str, ttl_days: float | None) -> str | None:
    """When a time to live that began at ``since`` is over; None where it never is."""
    begun = moment_of(since)
    if begun is None or ttl_days is None:
        return None
    try:
        return iso(begun + timedelta(days=ttl_days))
    except (ValueError, OverflowError):
        return None


def state_at(now: str, expires_at: str | None, *, superseded: bool) -> MemoryState:
    """The state of a memory at a moment."""
    if superseded:
        return MemoryState.SUPERSEDED
    return MemoryState.EXPIRED if expires_at and expires_at <= now else MemoryState.LIVE


def said_the_same(text: str) -> str:
    """Equal for texts that say the same in the same words: case, spaces and a full stop at the end do not matter."""
    return " ".join(text.casefold().split()).rstrip(".!。！ ")
