"""Where things lie on disk.

::

    <data_dir>/accounts/<account>/<user>/
        memories/profile.md  preferences/  events/YYYY/MM/DD/  entities/  experiences/
        peers/<peer>/memories/...        what only one peer may see, see `sharing`
        memory/YYYY-MM-DD.md             daily notes, append only
        sessions/<session>.jsonl         session files; <session>.meta.json shows each at a glance
        index.db                         may be deleted at any time
        .lock                            held while a file of this user is written

Files are the truth; they are read and written through `app.atrest.vault`. Every name that comes from outside goes
through `segment`, so no id can name a path beyond its directory.
"""

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, unquote

from app.atrest.durable import make_private_dir
from app.atrest.places import ACCOUNTS
from app.core.deadline import Deadline
from app.core.identity import Tenant

DEFAULT_NAME = "default"
"""Account and user of a request that names none, as in OpenViking's dev mode."""

_LONGEST_SEGMENT = 150


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
    return data_dir / ACCOUNTS / segment(tenant.account or DEFAULT_NAME) / segment(tenant.user or DEFAULT_NAME)


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
