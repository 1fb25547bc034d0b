"""What is in a file: turns of a session file, statements of a record file, pieces of anything else."""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import NamedTuple

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.memories.memory import Memory, MemorySource, Origin, said_the_same
from app.embedded.index.chunks import pieces
from app.embedded.storage.layout import readable
from app.embedded.storage.record_lines import NOTE_BEGIN, NOTE_END, read_records, sources_of_experience
from app.embedded.storage.record_memories import memory_of, source_of, utc
from app.embedded.storage.records import Record, Source, derived_id, identified
from app.embedded.storage.workspace import PAGES
from app.text.dates import day_of
from app.text.items import statements

EXPERIENCES = "experiences"
EXPERIENCES_REALM = "x"
OWN_REALM = ""
MAX_EXPERIENCE_CHARS = 8_000
"""Of an experience that is a whole file so much is found."""


class Document(NamedTuple):
    """One thing that a search can return."""

    ordinal: int
    """Place in its file; of a message, its number in the session, so that neighbours differ by one."""
    part: int
    """Number of the piece when the text was cut."""
    uri: str
    category: str
    realm: str
    """Who may see it: ``""`` is the user's own, ``p:<peer>`` one peer's, ``x`` the experiences."""
    at: str
    """ISO 8601: when it was said, or last changed."""
    speaker: str
    """Of a turn; empty for everything else."""
    text: str
    source: str = ""
    """The ``source_id`` of the message that it was said in, or taken from."""
    until: str = ""
    """ISO 8601 with its zone: from then on it is not recalled any more; empty for a thing that holds for good."""
    parts: int = 1
    """How many pieces the text was cut into."""
    length: int = 0
    """Characters of the whole text that this is a piece of."""
    replaces: str = ""
    """The ``source_id`` of each message whose statement this one took the place of, a line each."""

    @property
    def is_note(self) -> bool:
        """Whether it stands in a daily note."""
        return "/memory/" in self.uri and not self.speaker and self.category == "events"

    @property
    def peer(self) -> str | None:
        """The peer it belongs to."""
        return self.realm[2:] if self.realm.startswith("p:") else None


def peer_realm(peer: str | None) -> str:
    """The realm of a peer's memories; the user's own without one."""
    return f"p:{peer}" if peer else OWN_REALM


def turn_uri(message: CapturedMessage, number: int, session: str, uri_root: str) -> str:
    """The URI of what was said in message ``number`` of a session."""
    day = day_of(message.created_at).replace("-", "/")
    return f"{_home(uri_root, message.peer_id)}/memories/events/{day}/{session}/{number}"


def turn_documents(message: CapturedMessage, number: int, session: str, uri_root: str) -> Iterator[Document]:
    """What was said in a message, as an event. Tool calls and results are not: they are long, and seldom the answer."""
    said = "\n".join(part.text for part in message.parts if isinstance(part, TextPart)).strip()
    base = turn_uri(message, number, session, uri_root)
    cut = pieces(said)
    for part, text in enumerate(cut):
        yield Document(
            ordinal=number,
            part=part,
            uri=f"{base}#{part}" if part else base,
            category="events",
            realm=peer_realm(message.peer_id),
            at=message.created_at,
            speaker=message.role,
            text=text,
            source=message.source_id,
            parts=len(cut),
            length=len(said),
        )


class Entry(NamedTuple):
    """A statement in a file: what a search can return of it, and the memory that it is."""

    document: Document | None
    """None for one that nothing is to find any more."""
    memory: Memory
    record: Record | None = None
    """What the file knows of it."""


def file_entries(path: str, text: str, modified: float, uri_root: str) -> Iterator[Entry]:
    """What a Markdown file at ``path`` (relative to the user's directory) holds; ``modified`` is in epoch seconds."""
    if path in PAGES:
        return
    file = _file(path, modified, uri_root)
    body, records = read_records(text)
    records = identified(records, path)
    if records:
        yield from _recorded(file, list(statements(body)), records)
    elif file.category == EXPERIENCES:
        yield _experience(file, body.strip(), sources_of_experience(text)[0])
    else:
        written = _without_notes(body)
        for number, chunk in enumerate(pieces(written) if any(statements(written)) else ()):
            place = f"{file.uri}#{number}" if number else file.uri
            yield _unrecorded(file, number, place, chunk, derived_id(path, chunk))


def turn_id(session: str, number: int) -> str:
    """The id of what was said in message ``number`` of a session."""
    return derived_id("turn", session, number)


class _File(NamedTuple):
    path: str
    uri: str
    category: str
    peer: str | None
    at: str
    changed: str


def _file(path: str, modified: float, uri_root: str) -> _File:
    parts = PurePosixPath(path).parts
    peer = readable(parts[1]) if parts[0] == "peers" else None
    below = parts[2:] if peer else parts
    uri = _home(uri_root, peer) + "/" + "/".join(readable(part) for part in below)
    changed = datetime.fromtimestamp(modified, UTC).isoformat()
    at = f"{readable(parts[-1]).removesuffix('.md')}T12:00:00+00:00" if parts[0] == "memory" else changed
    return _File(path, uri, _category(below), peer, at, changed)


def _recorded(file: _File, said: list[str], records: list[Record]) -> Iterator[Entry]:
    """Of lines that say the same each is a record's; one more of them, a copy that a person made, is no memory more."""
    known: defaultdict[str, deque[Record]] = defaultdict(deque)
    replaced: defaultdict[str, list[Record]] = defaultdict(list)
    for one in records:
        if one.holds:
            known[one.value].append(one)
        elif one.source.ref:
            replaced[one.key].append(one)
    for number, text in enumerate(said):
        if text in known and not known[text]:
            continue
        record = known[text].popleft() if known[text] else None
        memory_id = record.id if record else derived_id(file.path, text)
        place = file.uri if len(said) == 1 else f"{file.uri}#{memory_id}"
        if record is None:
            yield _unrecorded(file._replace(at=file.changed), number, place, text, memory_id)
            continue
        memory = memory_of(record, place, record.category or file.category, file.peer)
        realm = _realm(memory.category, file.peer)
        until = memory.expires_at or ""
        when, ref = record.source.observed_at, record.source.ref
        document = Document(number, 0, place, memory.category, realm, when, "", text, ref, until)
        yield Entry(
            document._replace(replaces="\n".join(_replaced_by(record, replaced.get(record.key, [])))), memory, record
        )
    for record in records:
        if not record.holds:
            place = f"{file.uri}#{record.id}"
            yield Entry(None, memory_of(record, place, record.category or file.category, file.peer), record)


def _replaced_by(record: Record, same_key: list[Record]) -> list[str]:
    """The sources of the statements that the record took the place of: those of its history, and those of outdated
    records of the ``same_key``; one that said the same is none."""
    earlier = [str(old.get("ref")) for old in record.history if old.get("outcome") == "superseded" and old.get("ref")]
    others = [one.source.ref for one in same_key if said_the_same(one.value) != said_the_same(record.value)]
    return [ref for ref in dict.fromkeys([*earlier, *others]) if ref != record.source.ref]


def _unrecorded(file: _File, number: int, place: str, text: str, memory_id: str) -> Entry:
    """A statement that nothing more is known of: a person wrote it."""
    realm = _realm(file.category, file.peer)
    found = text[:MAX_EXPERIENCE_CHARS] if file.category == EXPERIENCES else text
    written = utc(file.at)
    memory = Memory(
        id=memory_id,
        uri=place,
        category=file.category,
        text=text,
        created_at=written,
        updated_at=utc(file.changed),
        peer=file.peer,
        origin=Origin.PEER if file.peer else Origin.SELF,
        sources=(MemorySource("file", written),),
    )
    return Entry(Document(number, 0, place, file.category, realm, file.at, "", found), memory)


def _experience(file: _File, text: str, sources: Sequence[Source]) -> Entry:
    """A lesson, from when the last of what it was learnt from was said."""
    told = [replace(one, observed_at=one.observed_at or file.at) for one in sources]
    at = told[-1].observed_at if told else file.at
    entry = _unrecorded(file._replace(at=at), 0, file.uri, text, derived_id(file.path))
    return entry._replace(memory=replace(entry.memory, sources=tuple(map(source_of, told)))) if told else entry


def _home(uri_root: str, peer: str | None) -> str:
    return f"{uri_root}/peers/{peer}" if peer else uri_root


def _category(parts: tuple[str, ...]) -> str:
    if parts[0] != "memories" or len(parts) < 2:
        return "events"
    return readable(parts[1].removesuffix(".md"))


def _realm(category: str, peer: str | None) -> str:
    return EXPERIENCES_REALM if category == EXPERIENCES else peer_realm(peer)


def _without_notes(body: str) -> str:
    """A daily note without the sections that commits wrote: every line of those is a turn that is indexed itself."""
    kept: list[str] = []
    inside = False
    for line in body.split("\n"):
        if line.startswith(NOTE_BEGIN):
            inside = True
        elif line.startswith(NOTE_END):
            inside = False
        elif not inside:
            kept.append(line)
    return "\n".join(kept)
