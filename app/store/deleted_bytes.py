"""Leaving nothing of what was deleted in the store's files."""

from pathlib import Path
from typing import Any

from sqlalchemy import Engine, Text, select

from app.atrest.residue import Needles, with_logs
from app.atrest.vault import Vault
from app.errors import StoreUnavailable
from app.store.engines import told_apart
from app.store.schema import metadata


def clean_file(engine: Engine, file: Path, needles: Needles, vault: Vault) -> str:
    """Leave nothing of what was deleted in an SQLite file, see `Database.clean`."""
    emptied = empty_log(engine)
    if needles and any(needles.are_in(path, vault.open_pages) for path in with_logs(file)):
        needles = needles.without(_found_in_rows(engine, needles))
    if needles and any(needles.are_in(path, vault.open_pages) for path in with_logs(file)):
        with told_apart():
            execute_alone(engine, "VACUUM")
        emptied = empty_log(engine)
        if any(needles.are_in(path, vault.open_pages) for path in with_logs(file)):
            return "its file still holds the text although no row does"
    return "" if emptied else "its log could not be emptied while others read it; forget it again"


def _found_in_rows(engine: Engine, needles: Needles) -> frozenset[str]:
    """Those of the texts that a row of any tenant has, so that the file may hold them."""
    found: frozenset[str] = frozenset()
    with told_apart(), engine.execution_options(begin="DEFERRED").begin() as connection:
        for table in metadata.sorted_tables:
            texts = [column for column in table.columns if isinstance(column.type, Text)]
            rows = connection.execution_options(yield_per=100).execute(select(*texts)) if texts else ()
            for row in rows:
                found = found.union(*(needles.found_in_text(value) for value in row if value))
    return found


def empty_log(engine: Engine) -> bool:
    """Bring all that was written to an SQLite file into the file itself, and empty the log; whether that worked."""
    with told_apart():
        return not execute_alone(engine, "PRAGMA wal_checkpoint(TRUNCATE)")


def execute_alone(engine: Engine, statement: str) -> Any:
    """Run a statement that SQLite takes outside of transactions only; the first column of its answer."""
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        row = cursor.execute(statement).fetchone()
        cursor.close()
        return row[0] if row else None
    except engine.dialect.loaded_dbapi.Error as error:
        raise StoreUnavailable(f"the turn store can not be cleaned: {error}") from error
    finally:
        connection.close()


def vacuum(engine: Engine) -> str:
    """Have PostgreSQL give up deleted rows; what can not be seen from here all the same."""
    from app.store.postgres import vacuum_tables  # its driver is an extra

    with told_apart():
        vacuum_tables(engine, [table.name for table in metadata.sorted_tables])
    return (
        "the rows are deleted and vacuumed; PostgreSQL overwrites the space that they had, its write-ahead log and its"
        " backups in its own time, and a byte can not be looked for there"
    )
