"""Keeping what people said from other users of the machine."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

import structlog

log = structlog.get_logger(__name__)

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private(directory: Path) -> None:
    """Create ``directory`` if it is missing, and take everybody else's rights from it and from the files right in it.

    A volume that belongs to another user can not be changed; that is said in the log and no reason not to start.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in (directory, *directory.iterdir()):
        try:
            mode = path.lstat().st_mode
            if mode & _OTHERS and not stat.S_ISLNK(mode):
                path.chmod(stat.S_IMODE(mode) & ~_OTHERS)
        except FileNotFoundError:  # the write-ahead log of another process that just closed
            continue
        except PermissionError as error:
            log.warning("not_private", path=str(path), error=error.strerror)


def private_key(path: Path) -> bytes:
    """The 32 random bytes kept at ``path``, made when they are first asked for; the same for every process."""
    if not path.exists():
        draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(secrets.token_bytes(32))
        with suppress(FileExistsError):  # another process was first
            path.hardlink_to(draft)
        draft.unlink()
    return path.read_bytes()
