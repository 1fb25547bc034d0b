"""A memory as the ledger keeps it, and what it says as a memory.

An entry carries what is still to be done on the server to have the files say the same (`Step`): it is *settled* when
nothing is. Until then, and wherever OpenViking can not be asked, the ledger is what counts.
"""

import hashlib
import re
from base64 import b32encode
from dataclasses import dataclass

from app.core.identity import safe_peer_id
from app.core.memories.memory import (
    Memory,
    MemoryRecord,
    MemorySource,
    MemoryVersion,
    Origin,
    Sensitivity,
    said_the_same,
    state_at,
)
from app.core.recall.hits import MACHINE_RECORDS
from app.openviking.remote_files import PERSONA, home_of
from app.ports import LedgerEntry

LIVE, SUPERSEDED = "live", "superseded"
FORGOTTEN = "forgotten"
"""Only its id is kept, so that it does not come back, and what tells its text."""
GONE = "gone"
"""OpenViking does not have it any more; it is a memory again when it comes back."""
HIDDEN = "hidden"
"""It says what was changed or forgotten elsewhere."""
SHOWN = LIVE, SUPERSEDED
UPDATED = "updated"
"""Reason of a version that left the text as it was."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")
"""What can stand in a path on any system, and means nothing there."""


@dataclass(frozen=True, slots=True)
class Step:
    """Something to be done to a file: have it hold ``text`` (None: delete it), or where ``was`` is a hash, have the
    statement of that hash replaced by ``text`` (None: taken out)."""

    uri: str
    text: str | None
    was: str = ""


def hash_of(text: str) -> str:
    """Equal for texts that say the same in the same words."""
    return hashlib.sha256(said_the_same(text).encode("utf-8", "surrogatepass")).hexdigest()


def file_of(memory_id: str, category: str, peer: str | None) -> str:
    """The file of a memory that was stored on purpose, whatever an import calls it.

    Categories that recall leaves out, and those that are no name of a folder, have none of theirs.
    """
    own_folder = _NAME.fullmatch(category) and category not in MACHINE_RECORDS | PERSONA
    digest = hashlib.sha256(memory_id.encode("utf-8", "surrogatepass")).hexdigest()
    name = memory_id if _NAME.fullmatch(memory_id) else f"m_{digest[:32]}"
    home = home_of(safe_peer_id(peer) if peer else None)
    return f"{home}/{category if own_folder else 'notes'}/{name}.md"


def id_of(uri: str, text: str, number: int = 0) -> str:
    """The id of a statement that OpenViking has written: the same for every process that sees it."""
    digest = hashlib.sha256(f"{uri}\n{number}\n{hash_of(text)}".encode()).digest()
    return f"m_{b32encode(digest[:16]).decode().rstrip('=').lower()}"


def id_after(memory_id: str) -> str:
    """The id of a memory that is stored again after it was forgotten under another one."""
    return id_of("again", memory_id)


# reading


def memory_of(entry: LedgerEntry, now: str) -> Memory:
    """The memory that an entry keeps."""
    fields = entry.fields
    peer, until = fields.get("peer"), fields.get("expires_at")
    return Memory(
        id=entry.memory_id,
        uri=f"{entry.uri}#{entry.memory_id}" if fields.get("piece") else entry.uri,
        category=fields["category"],
        text=text_of(entry),
        created_at=entry.created_at,
        updated_at=fields["updated_at"],
        peer=peer,
        origin=Origin.PEER if peer else Origin.SELF,
        last_confirmed_at=fields.get("last_confirmed_at"),
        expires_at=until,
        confidence=fields.get("confidence"),
        sensitivity=Sensitivity(fields.get("sensitivity", "low")),
        pinned=bool(fields.get("pinned")),
        version=entry.version,
        state=state_at(now, until, superseded=entry.state == SUPERSEDED),
        sources=_sources_of(entry),
        key=entry.key,
    )


def _sources_of(entry: LedgerEntry) -> tuple[MemorySource, ...]:
    """Where it was said. Earlier versions of the sidecar noted a source for a change of anything else, too."""
    updated = {one["at"] for one in entry.history if one["reason"] == UPDATED}
    sources = (MemorySource(**one) for one in entry.fields.get("sources", ()))
    return tuple(one for one in sources if one.kind != "api" or one.session or one.at not in updated)


def record_of(entry: LedgerEntry, now: str) -> MemoryRecord:
    """The memory with its history."""
    return MemoryRecord(memory_of(entry, now), tuple(MemoryVersion(**one) for one in entry.history))


def text_of(entry: LedgerEntry) -> str:
    """Its text, empty when it was forgotten."""
    text: str = entry.fields.get("text", "")
    return text


def is_own(entry: LedgerEntry) -> bool:
    """Whether its file is the sidecar's: it holds this memory and nothing else."""
    return bool(entry.fields.get("own"))


def is_live(entry: LedgerEntry, now: str) -> bool:
    """Whether it holds."""
    until = entry.fields.get("expires_at")
    return entry.state == LIVE and not (until and until <= now)


def steps_of(entry: LedgerEntry) -> list[Step]:
    """What is still to be done on the server, in order."""
    return [Step(**one) for one in entry.fields.get("steps", ())]


def old_hashes(entry: LedgerEntry) -> frozenset[str]:
    """What tells the texts that it had before."""
    return frozenset(hash_of(one["text"]) for one in entry.history) - {entry.text_hash}
