"""``openviking-sidecar rekey``: a data directory from one key to another, to a key, or to none; offline.

Each file and database is replaced by itself, and the marker says meanwhile that this was begun: who was killed begins
again, and passes over what is done. The former copy is deleted; what a disk keeps of deleted files is out of reach.
"""

import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from app.atrest import durable
from app.atrest.cipher import OtherKey, key_id_in
from app.atrest.data_directory import HEAD_BYTES, Marker, can_open, in_use, named, state_of, vault_of, write_marker
from app.atrest.keys import Keys
from app.atrest.places import Places
from app.atrest.vault import PLAIN, Vault
from app.errors import CanNotStart

_COPY_BYTES = 1024 * 1024


@dataclass(slots=True)
class Rekeyed:
    """How many files and databases were changed, and how many were as they should be."""

    changed: int = 0
    kept: int = 0

    def count(self, *, changed: bool) -> None:
        """One more."""
        self.changed += changed
        self.kept += not changed


def rekey(places: Places, old: Keys | None, new: Keys | None) -> Rekeyed:
    """Bring everything from the key ``old`` to ``new``; None is no encryption. Safe to repeat after a crash.

    Raises `CanNotStart`, and has changed nothing then; `OSError` for what can not be read or written on the way.
    """
    source, target = vault_of(old), vault_of(new)
    with in_use(places.directory, alone=True):
        _check(places, old, new)
        write_marker(places.directory, Marker(target.cipher.key_id, before=source.cipher.key_id))
        places.sweep()
        done = Rekeyed()
        for path in places.files():
            done.count(changed=_bring_file(path, source, target))
        for path, page_bytes in places.databases():
            done.count(changed=_bring_database(path, page_bytes, source, target))
        write_marker(places.directory, Marker(target.cipher.key_id))
        return done


def _check(places: Places, old_keys: Keys | None, new_keys: Keys | None) -> None:
    """Raise `CanNotStart` where the keys are not those of the directory."""
    directory, marker = places.directory, state_of(places, [old_keys, new_keys])
    old, new = (keys.id if keys else "" for keys in (old_keys, new_keys))
    if marker.before is not None:
        if (marker.before, marker.key) != (old, new):
            raise CanNotStart(
                f"a change from {named(marker.before)} to {named(marker.key)} was begun in {directory} and has to be "
                f"ended first; this one is from {named(old)} to {named(new)}"
            )
    elif marker.key not in (old, new):
        raise CanNotStart(
            f"the data directory {directory} has {named(marker.key)}, and SIDECAR_ENCRYPTION__OLD_KEY is {named(old)}"
        )


def _bring_file(path: Path, source: Vault, target: Vault) -> bool:
    """Whether it had to be changed. Its time stays: it says when a person wrote it."""
    with path.open("rb") as file:
        key_id = key_id_in(file.read(HEAD_BYTES))
    if key_id == target.cipher.key_id:
        return False
    if key_id not in ("", source.cipher.key_id):
        raise OtherKey(
            f"{path} is encrypted with {named(key_id)}, and the keys are {named(source.cipher.key_id)} and "
            f"{named(target.cipher.key_id)}"
        )
    with target.replacing(path, mtime_ns=path.stat().st_mtime_ns) as out, source.open(path) as content:
        shutil.copyfileobj(content, out, _COPY_BYTES)
    return True


def _bring_database(path: Path, page_bytes: int, source: Vault, target: Vault) -> bool:
    """Whether it had to be changed."""
    if not path.stat().st_size or can_open(path, page_bytes, target):
        return False
    if not (is_plain := can_open(path, page_bytes, PLAIN)) and not can_open(path, page_bytes, source):
        raise OtherKey(
            f"{path} can not be opened with {named(source.cipher.key_id)}; an index may be deleted, it is made again"
        )
    driver = (source if target is PLAIN else target).cipher.sqlite
    temporary = path.with_name(f"{durable.TEMPORARY}{path.name}")
    try:
        with closing(driver.connect(str(path), isolation_level=None)) as connection:
            if not is_plain:
                source.cipher.unlock(connection, page_bytes)
            _export(connection, temporary, page_bytes, target)
    except driver.Error as error:
        temporary.unlink(missing_ok=True)
        raise OSError(f"{path}: {error}") from error
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    temporary.replace(path)
    durable.sync_dir(path.parent)
    return True


def _export(connection: sqlite3.Connection, file: Path, page_bytes: int, target: Vault) -> None:
    """Copy the database into a new file under the target's key, on disk, with nothing left in a log of its own."""
    for pragma in ("wal_checkpoint(TRUNCATE)", "journal_mode = DELETE", "temp_store = MEMORY"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    [version] = connection.execute("PRAGMA user_version").fetchone()
    file.unlink(missing_ok=True)
    durable.put(file, b"", os.O_EXCL)
    target.cipher.attach(connection, file, "target", page_bytes)
    connection.execute("SELECT sqlcipher_export('target')").fetchall()
    connection.execute(f"PRAGMA target.user_version = {int(version)}").close()
    connection.execute("DETACH DATABASE target").close()
    durable.put(file, b"", os.O_APPEND)  # syncs it
