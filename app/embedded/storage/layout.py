"""Where things lie on disk, and how they get there without ever being half there.

::

    <data_dir>/accounts/<account>/<user>/
        memories/profile.md  preferences/  events/YYYY/MM/DD/  entities/  experiences/
        peers/<peer>/memories/...        preferences and events that only one peer may see
        memory/YYYY-MM-DD.md             daily notes, append only
        sessions/<session>.jsonl         session files; <session>.meta.json shows each at a glance
        index.db                         may be deleted at any time
        .lock                            held while a file of this user is written

Plain files are the truth. Files are 0600, directories 0700. Every name that comes from
outside
goes through `segment`, so no id can name a path beyond its directory.
"""

import fcntl
import hashlib
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote, unquote

from app.core.deadline import Deadline
from app.core.identity import Tenant

DEFAULT_NAME = "default"
"""Account and user of a request that names none, as in OpenViking's dev mode."""

_LONGEST_SEGMENT = 150
_TEMPORARY = ".tmp-"


class LockTimeout(Exception):
    """Another thread or process held the lock until the deadline."""


def segment(name: str) -> str:
    """``name`` as one path segment: injective, at most 150 ASCII characters, never hidden, never ``.`` or ``..``."""
    quoted = quote(name, safe="@", errors="surrogatepass").replace("~", "%7E")
    if quoted.startswith("."):
        quoted = "%2E" + quoted[1:]
    if not quoted or len(quoted) > _LONGEST_SEGMENT:
        # quote never writes "%%", so a hashed name can not meet a quoted one
        return "%%" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return quoted


def readable(part: str) -> str:
    """The name that `segment` was given, as far as the segment still tells it."""
    return part if part.startswith("%%") else unquote(part)


def user_dir(data_dir: Path, tenant: Tenant) -> Path:
    """The directory that holds everything of one tenant."""
    return data_dir / "accounts" / segment(tenant.account or DEFAULT_NAME) / segment(tenant.user or DEFAULT_NAME)


def uri_root(tenant: Tenant) -> str:
    """The URI that stands for `user_dir`, spelled as OpenViking spells it in answers."""
    return f"viking://user/{tenant.user or DEFAULT_NAME}"


def session_path(root: Path, session: str) -> Path:
    """The JSONL file of a session."""
    return root / "sessions" / f"{segment(session)}.jsonl"


def glance_path(root: Path, session: str) -> Path:
    """The JSON file that shows a session at a glance."""
    return root / "sessions" / f"{segment(session)}.meta.json"


def memories_dir(root: Path, peer: str | None) -> Path:
    """Where the memories of a user, or of one of the user's peers, lie."""
    return root / "peers" / segment(peer) / "memories" if peer else root / "memories"


def note_path(root: Path, day: str) -> Path:
    """The daily note of ``day`` (``YYYY-MM-DD``)."""
    return root / "memory" / f"{segment(day)}.md"


def make_private_dir(path: Path) -> None:
    """Create ``path`` and what is missing above it, each 0700."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for directory in reversed(missing):
        with suppress(FileExistsError):
            directory.mkdir(mode=0o700)
            sync_dir(directory.parent)


def write_atomic(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace ``path`` by ``data`` on disk: readers and a crash see the old content or the new one, nothing between.

    Without ``durable`` only readers do: the caller syncs many such files at once.
    """
    make_private_dir(path.parent)
    temporary = path.with_name(f"{_TEMPORARY}{uuid.uuid4().hex}")
    try:
        _write(temporary, data, os.O_CREAT | os.O_EXCL, durable=durable)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_dir(path.parent)


def append_durably(path: Path, data: bytes, size: int) -> None:
    """Put ``data`` at the end of ``path``, which is at ``size``, and sync it; an error cuts the file back to that."""
    created = size == 0
    try:
        _write(path, data, os.O_CREAT | os.O_APPEND, durable=True)
    except BaseException:
        with suppress(OSError):
            os.truncate(path, size)
        raise
    if created:
        sync_dir(path.parent)


def truncate_durably(path: Path, size: int) -> None:
    """Cut ``path`` to ``size`` bytes on disk."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.ftruncate(descriptor, size)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sweep_temporaries(root: Path) -> None:
    """Remove what writers that were killed left behind. Call it with the lock held."""
    for folder, _, names in os.walk(root):
        for name in names:
            if name.startswith(_TEMPORARY):
                Path(folder, name).unlink(missing_ok=True)


@contextmanager
def locked(root: Path, deadline: Deadline) -> Iterator[None]:
    """Hold the user's lock against threads and processes alike; raises `LockTimeout` at the deadline."""
    make_private_dir(root)
    descriptor = os.open(root / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if deadline.expired:
                    raise LockTimeout(str(root)) from None
                time.sleep(0.001)
        yield
    finally:
        os.close(descriptor)


def _write(path: Path, data: bytes, flags: int, *, durable: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | flags, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_dir(path: Path) -> None:
    """Bring what was made, renamed or removed in a directory to disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
