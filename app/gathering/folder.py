"""A folder of this machine as a zip archive: what git would take of it, and links never followed.

For clients, who pack what is theirs: the service itself reads no folder.
"""

import os
import stat
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pathspec import GitIgnoreSpec

from app.documents.archive import MAX_NAME_CHARS
from app.documents.document_reading import IGNORED_FOLDERS, is_wanted
from app.documents.parsed_document import Limits

IGNORE_FILE = ".gitignore"
MAX_IGNORE_BYTES = 1_000_000
_PIECE = 256 * 1024
_NO_LINKS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class NotPacked(ValueError):
    """A folder can not be packed; the message says why."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What became of a folder."""

    files: int
    size: int
    """Bytes of the files, before they were packed."""
    left_out: int
    """Files that are not ignored, and could not be read by anybody who imports them."""


class _Rules(NamedTuple):
    """What a .gitignore says of everything below its folder."""

    folder: Path
    spec: GitIgnoreSpec

    def ignores(self, path: Path, is_folder: bool) -> bool | None:
        """Whether it does; None where it says nothing."""
        name = path.relative_to(self.folder).as_posix() + ("/" if is_folder else "")
        return self.spec.check_file(name).include


def pack(folder: Path, into: BinaryIO, limits: Limits) -> Packed:
    """Write the files of a folder as a zip, always in the same order and with the same bytes.

    Raises `NotPacked` where there are none, or more than may be imported; `OSError` where it can not be listed.
    """
    folder = folder.resolve()
    files = size = left_out = 0
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        seen: set[str] = set()
        for path in files_below(folder, limits.depth):
            name = path.relative_to(folder).as_posix()
            written = _write(archive, path, name, limits) if _is_packable(name) and name.lower() not in seen else None
            if written is None:
                left_out += 1
                continue
            seen.add(name.lower())
            files += 1
            size += written
            if files > limits.files:
                raise NotPacked(f"it has more than {limits.files} files: import its folders one by one")
            if size > limits.total_bytes:
                raise NotPacked(f"it has more than {limits.total_bytes} bytes: import its folders one by one")
    if not files:
        why = f": {left_out} files are of types that can not be read" if left_out else ", or git ignores all of it"
        raise NotPacked(f"it holds nothing to be imported{why}")
    return Packed(files, size, left_out)


def files_below(folder: Path, depth: int) -> Iterator[Path]:
    """The regular files of a folder and of those in it, by their names; without links, what git ignores, and the
    files that say so."""
    waiting: list[tuple[Path, Sequence[_Rules]]] = [(folder, _rules_around(folder))]
    while waiting:
        here, around = waiting.pop()
        rules = [*around, *_rules_in(here)]
        found: list[tuple[Path, Sequence[_Rules]]] = []
        with os.scandir(here) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
        for entry in entries:
            path = here / entry.name
            if entry.is_dir(follow_symlinks=False):
                deep = len(path.relative_to(folder).parts) >= depth
                if entry.name not in IGNORED_FOLDERS and not deep and not _is_ignored(path, True, rules):
                    found.append((path, rules))
            elif entry.name == IGNORE_FILE or not entry.is_file(follow_symlinks=False):
                continue
            elif not _is_ignored(path, False, rules):
                yield path
        waiting += reversed(found)


def _is_ignored(path: Path, is_folder: bool, rules: Sequence[_Rules]) -> bool:
    """Whether git ignores it: the innermost .gitignore that says anything of it decides."""
    said = (one.ignores(path, is_folder) for one in reversed(rules))
    return next((ignores for ignores in said if ignores is not None), False)


def _rules_around(folder: Path) -> list[_Rules]:
    """Those of the folders above, up to the repository's; without any that ignores the very folder that is named."""
    above: list[Path] = []
    if not (folder / ".git").exists():
        for one in folder.parents:
            above.append(one)
            if (one / ".git").exists():
                break
        else:
            return []
    rules = [rules for one in reversed(above) for rules in _rules_in(one)]
    return [one for one in rules if not one.ignores(folder, True)]


def _rules_in(folder: Path) -> list[_Rules]:
    data = _bytes_of(folder / IGNORE_FILE, MAX_IGNORE_BYTES)
    if not data:
        return []
    lines = [line for line in data.decode("utf-8", "replace").splitlines() if _is_pattern(line)]
    return [_Rules(folder, GitIgnoreSpec.from_lines(lines))] if lines else []


def _is_pattern(line: str) -> bool:
    """Whether a line is one that can be understood; git passes over others, too."""
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return bool(line.strip())


def _is_packable(name: str) -> bool:
    return is_wanted(name) and len(name) <= MAX_NAME_CHARS and "\\" not in name and name.isprintable()


def _write(archive: zipfile.ZipFile, path: Path, name: str, limits: Limits) -> int | None:
    """Its size, or None where it can not be read."""
    file = _opened(path)
    if file is None:
        return None
    with file, archive.open(_entry(name), "w") as entry:
        size = 0
        while piece := file.read(_PIECE):
            size += len(piece)
            if size > limits.file_bytes:
                raise NotPacked(f"{name} has more than {limits.file_bytes} bytes")
            entry.write(piece)
    return size


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _bytes_of(path: Path, most: int) -> bytes:
    file = _opened(path)
    if file is None:
        return b""
    with file:
        return file.read(most)


def _opened(path: Path) -> BinaryIO | None:
    """A regular file, whatever was put in its place meanwhile; None where there is none that can be read."""
    try:
        number = os.open(path, _NO_LINKS)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        return None
    return os.fdopen(number, "rb")
