"""The table of what holds no more: which words of which message a later statement stands in the place of.

Made of the records' histories. The turns that say it are found only by questions about the past.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from app.embedded.index.database import Database, marks, storable
from app.embedded.index.sqlite import Connection
from app.embedded.storage.records import Record
from app.text.sentences import without

SCHEMA = """
CREATE TABLE superseded(source TEXT, value TEXT, file_id INTEGER, PRIMARY KEY(source, value, file_id)) WITHOUT ROWID;
CREATE INDEX superseded_by_file ON superseded(file_id)
"""


def put(db: Connection, file_id: int, records: Iterable[Record]) -> None:
    """Have what these records superseded be all that a file says, and write only what differs."""
    rows = {(storable(ref), storable(value), file_id) for one in records for ref, value in superseded_by(one)}
    there = set(db.execute("SELECT source, value, file_id FROM superseded WHERE file_id = ?", (file_id,)))
    db.executemany("DELETE FROM superseded WHERE source = ? AND value = ? AND file_id = ?", sorted(there - rows))
    db.executemany("INSERT INTO superseded VALUES (?, ?, ?)", sorted(rows - there))


def superseded_by(record: Record) -> set[tuple[str, str]]:
    """The earlier values of a record, each with every message that the record was ever told in; and its own value where
    another record stands in its place."""
    values = {str(one.get("value")) for one in record.history if one.get("outcome") == "superseded"}
    values = {value for value in values if value != record.value} | ({record.value} if not record.holds else set())
    refs = {str(one.get("ref")) for one in record.history} | {one.ref for one in (*record.also, record.source)}
    return {(ref, value) for ref in refs if ref for value in values if value}


def forget(db: Connection, file_id: int) -> None:
    """Take out what a file says."""
    db.execute("DELETE FROM superseded WHERE file_id = ?", (file_id,))


class SupersededRows:
    """What of one user's turns holds no more."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, sources: Sequence[str]) -> dict[str, list[str]]:
        """The words that hold no more of each message that has any."""
        found: dict[str, list[str]] = defaultdict(list)
        query = f"SELECT source, value FROM superseded WHERE source IN ({marks(sources)})"  # noqa: S608 - marks only
        with self._database.reading() as db:
            for source, value in db.execute(query, list(sources)).fetchall():
                found[str(source)].append(str(value))
        return dict(found)


def left_of(text: str, values: Sequence[str]) -> str:
    """``text`` without the sentences that say one of the ``values``."""
    said = [" ".join(value.split()) for value in values]
    return without(text, lambda sentence: any(value in " ".join(sentence.split()) for value in said)).strip()
