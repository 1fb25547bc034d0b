"""Writing to disk so that a crash leaves the old content or the new one. Files are 0600, directories 0700."""

import os
from contextlib import suppress
from pathlib import Path

TEMPORARY = ".tmp-"
"""How the names of files begin that are being written, and belong to nobody after a crash."""


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


def put(path: Path, data: bytes, flags: int, *, durable: bool = True) -> None:
    """Write ``data`` to ``path``, opened with ``flags`` (``O_APPEND``, ``O_EXCL``); ``durable``: on disk, too."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flags, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def truncate(path: Path, size: int) -> None:
    """Cut ``path`` to ``size`` bytes on disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.ftruncate(descriptor, size)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_dir(path: Path) -> None:
    """Bring what was made, renamed or removed in a directory to disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sweep_temporaries(root: Path) -> None:
    """Remove what writers that were killed left behind. Nobody may be writing below ``root`` meanwhile."""
    for folder, _, names in os.walk(root):
        for name in names:
            if name.startswith(TEMPORARY):
                Path(folder, name).unlink(missing_ok=True)
