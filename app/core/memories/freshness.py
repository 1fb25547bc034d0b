"""Whether what is remembered still holds, without a model: what is over, old, said twice, or said otherwise since.

`Check` reads memories one after the other, and keeps of each only what it needs to compare it with others.
"""

import hashlib
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain, islice, pairwise

from app.core.memories.memory import Memory, Sensitivity, said_the_same
from app.text.dates import iso, moment_of
from app.text.ends import ends_at

INFERRED = 0.9
"""What is less certain than that was inferred, not stored on purpose."""
LEAST_CONFIDENCE = 0.3
WEAKENING = 0.8
WEAKENED_AGAIN_DAYS = 30
HYSTERESIS = 0.15
"""A later statement may be this much less certain than the one that it contradicts; a weaker one is only reported."""
ZONES = timedelta(days=1)
"""After the end of a day in UTC it is over everywhere, whatever zone it was said in: that is not kept."""
MAX_FRAME = 20
MAX_PAIRS = 5_000
MAX_LISTED = 1_000
"""Memories of a list in the report."""
MAX_REVISIONS = 200
"""Memories that one check changes; the next one goes on."""
_FRAME_WORDS = 3
_FRAME_CHARS = 4

Judge = Callable[[str, str], bool]
"""Whether the later of two statements says that the earlier one holds no more."""


@dataclass(frozen=True, slots=True)
class FreshnessRules:
    """Days after which a memory is worth a look; ``ttl_days`` by category are those after which it is over."""

    stale_days: float = 180
    unconfirmed_days: float = 90
    ttl_days: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """A memory, or several, and why it is worth a look. No text."""

    ids: tuple[str, ...]
    reason: str


class RevisionKind(StrEnum):
    """What a check changes of a memory."""

    EXPIRE = "expired"
    MERGE = "merged"
    SUPERSEDE = "superseded"
    WEAKEN = "unconfirmed"


@dataclass(frozen=True, slots=True)
class Revision:
    """A change that a check makes; it stands in the memory's history.

    ``into``: the memory that takes the other's sources, or its place. ``at``: when it is over. ``version`` is what
    was looked at: one that was changed since is left alone. ``files``: where the memory stands, and ``into``.
    """

    id: str
    version: int
    kind: RevisionKind
    into: str | None = None
    at: str | None = None
    confidence: float | None = None
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FreshnessReport:
    """What a check found."""

    checked_at: str
    expired: tuple[Finding, ...] = ()
    stale: tuple[Finding, ...] = ()
    unconfirmed: tuple[Finding, ...] = ()
    duplicates: tuple[Finding, ...] = ()
    conflicts: tuple[Finding, ...] = ()


@dataclass(slots=True)
class _Seen:
    """What is kept of a memory to compare it with others; the text only where it may be compared."""

    id: str
    version: int
    created_at: str
    confidence: float
    pinned: bool
    file: str
    text: str = ""


@dataclass(slots=True)
class Check:
    """One check of one tenant's memories. ``now`` is the moment in UTC."""

    rules: FreshnessRules
    now: datetime
    judge: Judge
    _wanted: dict[tuple[bool, str], list[Revision]] = field(default_factory=lambda: defaultdict(list))
    """Changes by whether they can wait, and by file."""
    _findings: dict[str, list[Finding]] = field(default_factory=lambda: defaultdict(list))
    _said: dict[bytes, list[_Seen]] = field(default_factory=dict)
    _frames: dict[bytes, list[_Seen]] = field(default_factory=dict)

    def add(self, memory: Memory) -> None:
        """Look at a live memory."""
        confirmed = moment_of(memory.last_confirmed_at or memory.created_at) or self.now
        age = (self.now - confirmed).total_seconds() / 86_400
        if (over := self._over(memory)) is not None:
            self._find("expired", over[1], memory.id)
            if not memory.pinned:
                files = (_file_of(memory),)
                self._revise(Revision(memory.id, memory.version, RevisionKind.EXPIRE, at=iso(over[0]), files=files))
            return
        if age > self.rules.stale_days and not memory.pinned:
            self._find("stale", f"not confirmed for {int(age)} days", memory.id)
        if age > self.rules.unconfirmed_days:
            self._unconfirmed(memory)
        certain = INFERRED if memory.confidence is None else memory.confidence
        file = _file_of(memory)
        seen = _Seen(memory.id, memory.version, memory.created_at, certain, memory.pinned, file, memory.text)
        self._said.setdefault(_key(memory.peer, said_the_same(memory.text)), []).append(seen)
        if frame := _frame_of(memory.text):
            self._frames.setdefault(_key(memory.peer, frame), []).append(seen)

    def finish(self) -> Iterator[None]:
        """Compare the memories that look alike; a step at a time, so that others may go on between."""
        gone: set[str] = set()
        for same in self._said.values():
            if len(same) > 1:
                self._merge(same, gone)
                yield
        pairs = 0
        for frame in self._frames.values():
            if 1 < len(frame) <= MAX_FRAME and pairs < MAX_PAIRS:
                left = sorted((one for one in frame if one.id not in gone), key=lambda one: (one.created_at, one.id))
                for earlier, later in pairwise(left):
                    pairs += 1
                    if said_the_same(earlier.text) != said_the_same(later.text) and self.judge(
                        earlier.text, later.text
                    ):
                        self._conflict(earlier, later)
                    yield

    @property
    def revisions(self) -> list[Revision]:
        """What is to be changed now, at most `MAX_REVISIONS`. What can not wait comes first, and of both first what
        stands in the files with the most of it: a file is written once for all that changes there."""
        by_need = sorted(self._wanted, key=lambda place: (place[0], -len(self._wanted[place])))
        return list(islice(chain.from_iterable(self._wanted[place] for place in by_need), MAX_REVISIONS))

    def report(self) -> FreshnessReport:
        """What was found so far."""
        lists = {name: tuple(found[:MAX_LISTED]) for name, found in self._findings.items()}
        return FreshnessReport(iso(self.now), **lists)

    def _over(self, memory: Memory) -> tuple[datetime, str] | None:
        """Since when it is over, and why; None where it is not."""
        said_at = moment_of(memory.last_confirmed_at or memory.created_at)
        if said_at is None or memory.expires_at is not None:
            return None
        ttl = self.rules.ttl_days.get(memory.category)
        if ttl is not None and self.now - said_at > timedelta(days=ttl):
            return said_at + timedelta(days=ttl), f"the time of its category ({ttl:g} days) is over"
        end = ends_at(memory.text, said_at)
        if end is not None and end + ZONES < self.now:
            return end, f"by its own words it was over on {end.date().isoformat()}"
        return None

    def _unconfirmed(self, memory: Memory) -> None:
        if memory.sensitivity is Sensitivity.HIGH:
            self._find("unconfirmed", "money, health or access: confirm that it still holds", memory.id)
        inferred = memory.confidence is not None and memory.confidence < INFERRED
        if not inferred or len(memory.sources) > 1 or memory.pinned:
            return
        self._find("unconfirmed", "inferred, and said once", memory.id)
        written = moment_of(memory.updated_at) or self.now
        confidence = round(max(LEAST_CONFIDENCE, (memory.confidence or 0) * WEAKENING), 3)
        if self.now - written > timedelta(days=WEAKENED_AGAIN_DAYS) and confidence != memory.confidence:
            files = (_file_of(memory),)
            self._revise(Revision(memory.id, memory.version, RevisionKind.WEAKEN, confidence=confidence, files=files))

    def _merge(self, same: list[_Seen], gone: set[str]) -> None:
        """The oldest takes the sources of the others, unless one is pinned: then that one does."""
        first = min(same, key=lambda one: (not one.pinned, one.created_at, one.id))
        others = [one for one in same if one is not first]
        self._find("duplicates", "they say the same; merged into the first", first.id, *(one.id for one in others))
        for one in others:
            gone.add(one.id)
            self._revise(Revision(one.id, one.version, RevisionKind.MERGE, into=first.id, files=(one.file, first.file)))

    def _conflict(self, earlier: _Seen, later: _Seen) -> None:
        if earlier.pinned or later.confidence < earlier.confidence - HYSTERESIS:
            self._find("conflicts", "the later one contradicts, but is less certain", earlier.id, later.id)
            return
        self._find("conflicts", "the later one holds", earlier.id, later.id)
        kind, files = RevisionKind.SUPERSEDE, (earlier.file, later.file)
        self._revise(Revision(earlier.id, earlier.version, kind, into=later.id, files=files))

    def _find(self, name: str, reason: str, *ids: str) -> None:
        self._findings[name].append(Finding(ids, reason))

    def _revise(self, revision: Revision) -> None:
        self._wanted[revision.kind is RevisionKind.WEAKEN, revision.files[0]].append(revision)


def _file_of(memory: Memory) -> str:
    """The URI of the file that a memory stands in, which it may share with others."""
    return sys.intern(memory.uri.partition("#")[0])  # one text for all that stand there


def _frame_of(text: str) -> str:
    """How a statement begins, before it says what: equal for those that may contradict each other."""
    words = text[:200].casefold().split()
    if len(words) > _FRAME_WORDS:
        return " ".join(words[:_FRAME_WORDS])
    return "" if text.isascii() else text[:_FRAME_CHARS]


def _key(peer: str | None, text: str) -> bytes:
    return hashlib.blake2b(f"{peer or ''}\n{text}".encode("utf-8", "surrogatepass"), digest_size=12).digest()
