"""The table of memories in the index: one row a statement, listed and looked up without opening the files."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.memories.memory import (
    Memory,
    MemoryFilter,
    MemorySource,
    MemoryState,
    MemoryVersion,
    Origin,
    Sensitivity,
    said_the_same,
    state_at,
)
from app.core.memories.paging import Place
from app.embedded.index.database import Database, marks, storable
from app.embedded.index.documents import Entry, turn_id
from app.embedded.index.sqlite import Connection
from app.embedded.storage.record_memories import history_of, utc

SCHEMA = """
CREATE TABLE memories(id TEXT PRIMARY KEY, file_id INTEGER, is_turn INTEGER, created_at TEXT, category TEXT, peer TEXT,
                      pinned INTEGER, superseded INTEGER, until TEXT, sessions TEXT, uri TEXT, name TEXT, said BLOB,
                      fields TEXT, history TEXT) WITHOUT ROWID;
CREATE INDEX memories_by_date ON memories(is_turn, created_at, id);
CREATE INDEX memories_by_category ON memories(category, created_at, id);
CREATE INDEX memories_by_file ON memories(file_id);
CREATE INDEX memories_by_uri ON memories(uri);
CREATE INDEX memories_by_name ON memories(name) WHERE name IS NOT NULL;
CREATE INDEX memories_by_text ON memories(said) WHERE said IS NOT NULL
"""
_Row = tuple[Any, ...]
_INSERT = f"INSERT OR REPLACE INTO memories VALUES ({marks(range(15))})"  # noqa: S608 - no value in it


class Found(NamedTuple):
    """A memory, and the file (relative to the user's directory) that it stands in."""

    memory: Memory
    path: str


def put(db: Connection, file_id: int, entries: Iterable[Entry]) -> None:
    """Have these be the memories of a file, and write only the rows that differ from those that are there."""
    rows: dict[str, _Row] = {}
    for entry in entries:
        history = history_of(entry.record) if entry.record else ()
        rows[entry.memory.id] = _row(file_id, entry.memory, history, is_turn=False)
    there = {row[0]: row for row in db.execute("SELECT * FROM memories WHERE file_id = ?", (file_id,))}
    gone = [(memory_id,) for memory_id in there.keys() - rows.keys()]
    db.executemany("DELETE FROM memories WHERE id = ?", gone)
    db.executemany(_INSERT, [row for memory_id, row in rows.items() if there.get(memory_id) != row])


def add_turn(db: Connection, file_id: int, session: str, number: int, message: CapturedMessage, uri: str) -> None:
    """Add what was said in message ``number`` of a session."""
    said = "\n".join(part.text for part in message.parts if isinstance(part, TextPart)).strip()
    if not said:
        return
    at = utc(message.created_at)
    memory = Memory(
        id=turn_id(session, number),
        uri=uri,
        category="events",
        text=said,
        created_at=at,
        updated_at=at,
        peer=message.peer_id,
        origin=Origin.PEER if message.peer_id else Origin.SELF,
        sources=(MemorySource("turn", at, session, message.source_id.rpartition(".")[0] or None),),
    )
    db.execute(_INSERT, _row(file_id, memory, is_turn=True))


def _row(file_id: int, memory: Memory, history: Sequence[MemoryVersion] = (), *, is_turn: bool) -> _Row:
    """The row of a memory."""
    sessions = dict.fromkeys(source.session for source in memory.sources if source.session)
    return (
        memory.id,
        file_id,
        int(is_turn),
        memory.created_at,
        storable(memory.category),
        storable(memory.peer) if memory.peer else None,
        int(memory.pinned),
        int(memory.state is MemoryState.SUPERSEDED),
        memory.expires_at or "",
        storable("\n".join(["", *sessions, ""])) if sessions else "",
        storable(memory.uri),
        storable(memory.key) if memory.key else None,
        None if is_turn else said_hash(memory.text),
        json.dumps(_fields(memory) | {"sources": [_fields(source) for source in memory.sources]}),
        json.dumps([_fields(one) for one in history]) if history else "",
    )


def _fields(one: Memory | MemorySource | MemoryVersion) -> dict[str, Any]:
    """The fields by their names; unlike `asdict` it copies nothing, which is most of what a row would cost."""
    return {name: getattr(one, name) for name in one.__dataclass_fields__}


def forget(db: Connection, file_id: int) -> None:
    """Take out the memories of a file."""
    db.execute("DELETE FROM memories WHERE file_id = ?", (file_id,))


def said_hash(text: str) -> bytes:
    """Equal for texts that say the same."""
    return hashlib.sha256(said_the_same(text).encode("utf-8", "surrogatepass")).digest()[:16]


class MemoryRows:
    """The memories of one user, as the index knows them. ``now`` is ISO 8601: it decides whose time is over."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(
        self, wanted: MemoryFilter, after: Place | None, limit: int, now: str, *, turns: bool = False
    ) -> list[Memory]:
        """At most ``limit`` of those wanted, newest first, from behind ``after`` on; ``turns``: and what was said."""
        where, values = _conditions(wanted, now)
        if not turns:
            where.append("is_turn = 0")
        if after:
            where.append("(created_at, id) < (?, ?)")
            values += [after.created_at, after.id]
        query = f"SELECT fields FROM memories WHERE {' AND '.join(where or ['1'])}"  # noqa: S608 - constants
        query += " ORDER BY created_at DESC, id DESC LIMIT ?"
        with self._database.reading() as db:
            rows = db.execute(query, [*values, limit]).fetchall()
        return [_memory(row[0], now) for row in rows]

    def histories(self, ids: Sequence[str]) -> dict[str, tuple[MemoryVersion, ...]]:
        """The earlier versions of these memories, of those that have any."""
        query = f"SELECT id, history FROM memories WHERE history != '' AND id IN ({marks(ids)})"  # noqa: S608
        with self._database.reading() as db:
            rows = db.execute(query, list(map(storable, ids))).fetchall()
        return {str(row[0]): tuple(MemoryVersion(**one) for one in json.loads(row[1])) for row in rows}

    def one(self, memory_id: str, now: str) -> Found | None:
        """The memory of this id."""
        return next(iter(self._found("memories.id = ?", [storable(memory_id)], now)), None)

    def at(self, uris: Sequence[str], now: str) -> dict[str, Memory]:
        """The memories at these URIs."""
        found = self._found(f"uri IN ({marks(uris)})", list(map(storable, uris)), now)
        return {one.memory.uri: one.memory for one in found}

    def saying(self, text: str, peer: str | None, now: str) -> list[Found]:
        """The live memories of the peer (or the user) that say the same."""
        found = self._found("said = ?", [said_hash(text)], now)
        return [one for one in found if one.memory.peer == peer and one.memory.state is not MemoryState.SUPERSEDED]

    def named(self, key: str, peer: str | None, now: str) -> list[Found]:
        """The memories of the peer (or the user) that hold under this key."""
        found = self._found("name = ? AND superseded = 0", [storable(key)], now)
        return [one for one in found if one.memory.peer == peer]

    def known(self, ids: Sequence[str]) -> set[str]:
        """Those of the ids that are there."""
        with self._database.reading() as db:
            rows = db.execute(f"SELECT id FROM memories WHERE id IN ({marks(ids)})", list(ids)).fetchall()  # noqa: S608
        return {str(row[0]) for row in rows}

    def paths(self, ids: Sequence[str]) -> dict[str, str]:
        """The files that these memories stand in."""
        query = "SELECT memories.id, path FROM memories JOIN files ON files.id = file_id"
        query += f" WHERE memories.id IN ({marks(ids)})"
        with self._database.reading() as db:
            return {str(row[0]): str(row[1]) for row in db.execute(query, list(ids)).fetchall()}

    def realms(self) -> list[str]:
        """Whose documents there are."""
        with self._database.reading() as db:
            return [str(row[0]) for row in db.execute("SELECT DISTINCT realm FROM chunks").fetchall()]

    def _found(self, where: str, values: Sequence[Any], now: str) -> list[Found]:
        query = f"SELECT fields, path FROM memories JOIN files ON files.id = file_id WHERE {where}"  # noqa: S608
        with self._database.reading() as db:
            rows = db.execute(query, list(values)).fetchall()
        return [Found(_memory(row[0], now), str(row[1])) for row in rows]


def _conditions(wanted: MemoryFilter, now: str) -> tuple[list[str], list[Any]]:
    conditions: list[tuple[str, list[Any]]] = []
    match wanted.state:
        case MemoryState.LIVE:
            conditions.append(("superseded = 0 AND (until = '' OR until > ?)", [now]))
        case MemoryState.EXPIRED:
            conditions.append(("superseded = 0 AND until != '' AND until <= ?", [now]))
        case MemoryState.SUPERSEDED:
            conditions.append(("superseded = 1", []))
    for column, value in (("category", wanted.category), ("peer", wanted.peer)):
        if value is not None:
            conditions.append((f"{column} = ?", [storable(value)]))
    if wanted.visible_to is not None:
        conditions.append((f"(peer IS NULL OR peer IN ({marks(list(wanted.visible_to))}))", [*wanted.visible_to]))
    if wanted.pinned is not None:
        conditions.append(("pinned = ?", [int(wanted.pinned)]))
    if wanted.since is not None:
        conditions.append(("created_at >= ?", [wanted.since]))
    if wanted.until is not None:
        conditions.append(("created_at <= ?", [wanted.until]))
    if wanted.session is not None:
        conditions.append(("instr(sessions, ?) > 0", [storable(f"\n{wanted.session}\n")]))
    return [sql for sql, _ in conditions], [value for _, values in conditions for value in values]


def _memory(stored: str, now: str) -> Memory:
    fields = json.loads(stored)
    superseded = fields["state"] == MemoryState.SUPERSEDED
    fields["state"] = state_at(now, fields["expires_at"], superseded=superseded)
    fields["origin"], fields["sensitivity"] = Origin(fields["origin"]), Sensitivity(fields["sensitivity"])
    fields["sources"] = tuple(MemorySource(**source) for source in fields["sources"])
    return Memory(**fields)
