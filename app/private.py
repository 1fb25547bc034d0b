"""Keeping what people said from other users of the machine."""

import stat
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
