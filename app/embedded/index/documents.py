"""What is searchable in a file: turns of a session file, lines of a record file, pieces of anything else."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import NamedTuple

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.embedded.index.chunks import chunk_markdown
from app.embedded.storage.layout import readable
from app.embedded.storage.records import NOTE_BEGIN, NOTE_END, holds_until, read_records
from app.text.dates import day_of

EXPERIENCES_REALM = "x"
OWN_REALM = ""


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

    @property
    def peer(self) -> str | None:
        """The peer it belongs to."""
        return self.realm[2:] if self.realm.startswith("p:") else None


def peer_realm(peer: str | None) -> str:
    """The realm of a peer's memories; the user's own without one."""
    return f"p:{peer}" if peer else OWN_REALM


def turn_documents(message: CapturedMessage, number: int, session: str, uri_root: str) -> Iterator[Document]:
    """What was said in a message, as an event. Tool calls and results are not: they are long, and seldom the answer."""
    said = "\n".join(part.text for part in message.parts if isinstance(part, TextPart)).strip()
    day = day_of(message.created_at)
    base = f"{_home(uri_root, message.peer_id)}/memories/events/{day.replace('-', '/')}/{session}/{number}"
    for part, text in enumerate(chunk_markdown(said)):
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
        )


def file_documents(path: str, text: str, modified: float, uri_root: str) -> Iterator[Document]:
    """What a Markdown file at ``path`` (relative to the user's directory) holds; ``modified`` is in epoch seconds."""
    parts = PurePosixPath(path).parts
    peer = readable(parts[1]) if parts[0] == "peers" else None
    category, realm = _category(parts[2:] if peer else parts, peer)
    uri = _home(uri_root, peer) + "/" + "/".join(readable(part) for part in (parts[2:] if peer else parts))
    changed = datetime.fromtimestamp(modified, UTC).isoformat()
    at = f"{readable(parts[-1]).removesuffix('.md')}T12:00:00+00:00" if parts[0] == "memory" else changed
    body, records = read_records(text)
    if category == "experiences":
        yield Document(0, 0, uri, category, realm, changed, "", body.strip()[:8000])
    elif records:
        known = {record.value: record for record in records}
        for number, line in enumerate(_lines(body)):
            record = known.get(line)
            when = record.source.observed_at if record else changed
            source = record.source.ref if record else ""
            until = holds_until(record) if record else None
            place = f"{uri}#{number}" if number else uri
            ends = until.isoformat() if until else ""
            yield Document(number, 0, place, category, realm, when, "", line, source, ends)
    else:
        written = _without_notes(body)
        for number, chunk in enumerate(chunk_markdown(written) if any(_lines(written)) else ()):
            yield Document(number, 0, f"{uri}#{number}" if number else uri, category, realm, at, "", chunk)


def _home(uri_root: str, peer: str | None) -> str:
    return f"{uri_root}/peers/{peer}" if peer else uri_root


def _category(parts: tuple[str, ...], peer: str | None) -> tuple[str, str]:
    if parts[0] != "memories" or len(parts) < 2:
        return "events", peer_realm(peer)
    category = parts[1].removesuffix(".md")
    return category, EXPERIENCES_REALM if category == "experiences" else peer_realm(peer)


def _lines(body: str) -> Iterator[str]:
    for line in body.split("\n"):
        text = line.strip()
        if text and not text.startswith("#"):
            yield text.removeprefix("- ").strip()


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
