"""Which vault the data directory is opened with, and whether it may be: what is encrypted, and with which key."""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from app.atrest.cipher import key_id_in
from app.atrest.durable import make_private_dir, sync_dir
from app.atrest.keys import Keys
from app.atrest.places import STORE_PAGE_BYTES, Places
from app.atrest.vault import PLAIN, Vault
from app.errors import CanNotStart

MARKER = "encryption.json"
IN_USE = ".in-use"
COMMAND = "openviking-sidecar rekey"
HEAD_BYTES = 64
"""Of a file so much tells which key it has."""
UNKNOWN = "unknown"
"""In the place of the id of a key that nothing tells."""
_PLAIN_DATABASE = b"SQLite format 3\0"
LOOKED_AT = 20
"""Files that are looked at where the marker is lost; some of them a person may have put there in plain."""


@dataclass(frozen=True, slots=True)
class Marker:
    """What a data directory says of itself; empty ids stand for no encryption."""

    key: str = ""
    """Id of the key that it is encrypted with."""
    before: str | None = None
    """Id of the key that it was encrypted with until now, while that is being changed."""


def read_marker(directory: Path) -> Marker:
    """What stands there; of a directory without a marker nothing is encrypted. Raises `CanNotStart`."""
    try:
        fields = json.loads((directory / MARKER).read_bytes())
        return Marker(str(fields["key"]), fields.get("before"))
    except FileNotFoundError:
        return Marker()
    except (ValueError, KeyError, TypeError) as error:
        raise CanNotStart(
            f"{directory / MARKER} can not be read: restore it, or delete it: it is made again"
        ) from error


def state_of(places: Places, known: Iterable[Keys | None]) -> Marker:
    """What the directory's marker says; where that was lost, what its files say, or its turn store.

    A database names no key: it is tried with those that are ``known``.
    """
    marker = read_marker(places.directory)
    if marker != Marker():
        return marker
    in_files = next(filter(None, map(_key_id_of, islice(places.files(), LOOKED_AT))), "")
    return Marker(in_files or _key_of_store(places, filter(None, known)))


def _key_of_store(places: Places, known: Iterable[Keys]) -> str:
    """The id of the key of the turn store; empty where there is no store, or one in plain."""
    store = places.store
    if not store or not store.is_file() or not store.stat().st_size or can_open(store, STORE_PAGE_BYTES, PLAIN):
        return ""
    return next((keys.id for keys in known if can_open(store, STORE_PAGE_BYTES, vault_of(keys))), UNKNOWN)


def can_open(path: Path, page_bytes: int, vault: Vault) -> bool:
    """Whether a file is a database of this vault's."""
    if vault is PLAIN:
        with path.open("rb") as file:
            return file.read(len(_PLAIN_DATABASE)) == _PLAIN_DATABASE
    with suppress(vault.cipher.sqlite.DatabaseError), closing(vault.connect(path, page_bytes)) as connection:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return True
    return False


def _key_id_of(path: Path) -> str:
    with path.open("rb") as file:
        return key_id_in(file.read(HEAD_BYTES))


def write_marker(directory: Path, marker: Marker) -> None:
    """Say so; a directory in plain has no marker."""
    if marker == Marker():
        (directory / MARKER).unlink(missing_ok=True)
        sync_dir(directory)
        return
    fields = {"key": marker.key, **({"before": marker.before} if marker.before is not None else {})}
    PLAIN.write_atomic(directory / MARKER, json.dumps(fields).encode() + b"\n")


def vault_of(keys: Keys | None) -> Vault:
    """The vault under this key, or the one that encrypts nothing. Raises `CanNotStart` without the libraries."""
    if keys is None:
        return PLAIN
    try:
        from app.atrest.sealed import Sealed  # its libraries are an extra
    except ImportError as error:
        raise CanNotStart(
            f"encryption needs libraries that are not installed ({error.name}): "
            "pip install 'openviking-sidecar[encrypt]'"
        ) from error
    return Vault(Sealed(keys))


def open_vault(places: Places, keys: Keys | None) -> Vault:
    """The vault of a data directory that has this key, or is new. Raises `CanNotStart`, with nothing changed."""
    directory = places.directory
    marker, key_id = state_of(places, [keys]), keys.id if keys else ""
    if marker.before is not None:
        raise CanNotStart(
            f"{COMMAND} was begun in {directory} and not ended (from {named(marker.before)} to {named(marker.key)}): "
            "run it again with the same keys"
        )
    if marker.key == key_id:
        vault = vault_of(keys)
        if keys and marker != read_marker(directory):
            write_marker(directory, marker)
        return vault
    if keys is None:
        raise CanNotStart(
            f"the data directory {directory} is encrypted ({named(marker.key)}), and there is no key: set "
            "SIDECAR_ENCRYPTION__KEY or SIDECAR_ENCRYPTION__KEY_FILE"
        )
    if marker.key:
        raise CanNotStart(
            f"the data directory {directory} is encrypted with another key: with {named(marker.key)}, and "
            f"SIDECAR_ENCRYPTION__KEY is {named(key_id)}"
        )
    if places.are_used():
        raise CanNotStart(
            f"there is a key, and the data directory {directory} is not encrypted: stop the service and run {COMMAND}"
        )
    vault = vault_of(keys)
    make_private_dir(directory)
    write_marker(directory, Marker(key_id))
    return vault


def named(key_id: str) -> str:
    """The key, as people are told of it."""
    return f"key {key_id}" if key_id else "no encryption"


@contextmanager
def in_use(directory: Path, *, alone: bool = False) -> Iterator[None]:
    """Be one of the processes that use the directory, or the only one. Raises `CanNotStart` at once where not."""
    make_private_dir(directory)
    descriptor = os.open(directory / IN_USE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            by = "a service uses it: stop it first" if alone else f"{COMMAND} is at work there"
            raise CanNotStart(f"the data directory {directory} can not be opened: {by}") from None
        yield
    finally:
        os.close(descriptor)
