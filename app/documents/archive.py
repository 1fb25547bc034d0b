"""Zip archives that a stranger may have made: every claim of the archive is checked before and while it is unpacked."""

import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath
from typing import BinaryIO

from app.documents.parsed_document import Limits, Refusal, Refused

MAX_NAME_CHARS = 512
SMALL_BYTES = 100_000
"""A file up to this may be packed as tightly as it likes."""
_END = b"PK\x05\x06"
_END_BYTES = 22
MAX_COMMENT = 65_535
_PIECE = 64 * 1024
_PACKED_AS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})


def opened(file: BinaryIO, limits: Limits) -> zipfile.ZipFile:
    """The archive in a file. Raises `Refused`."""
    _count(file, limits)
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError, EOFError) as error:
        raise Refused(Refusal.UNREADABLE, f"the archive is damaged: {error}") from error


def members(archive: zipfile.ZipFile, limits: Limits) -> list[zipfile.ZipInfo]:
    """The files in an archive, in its order, after all their names and sizes were looked at. Raises `Refused`."""
    found = [one for one in archive.infolist() if not one.is_dir()]
    if len(found) > limits.files:
        raise Refused(Refusal.TOO_LARGE, f"the archive has {len(found)} files; {limits.files} are the most")
    seen: set[str] = set()
    for one in found:
        _check(one, limits)
        if one.filename.lower() in seen:
            raise Refused(Refusal.UNSAFE, f"the archive has two files named {_shown(one)}")
        seen.add(one.filename.lower())
    total = sum(one.file_size for one in found)
    if total > limits.total_bytes:
        raise Refused(Refusal.TOO_LARGE, f"the archive unpacks to {total} bytes; {limits.total_bytes} are the most")
    spans = sorted((one.header_offset, one.header_offset + one.compress_size) for one in found)
    if any(end > begin for (_, end), (begin, _) in pairwise(spans)):
        raise Refused(Refusal.UNSAFE, "the files of the archive overlap")
    return found


def unpacked(archive: zipfile.ZipFile, wanted: list[zipfile.ZipInfo], limits: Limits) -> Iterator[tuple[str, bytes]]:
    """Path and bytes of each file that is wanted, one at a time. Raises `Refused`."""
    left = limits.total_bytes
    for one in wanted:
        content = _read(archive, one, min(left, limits.file_bytes))
        left -= len(content)
        yield one.filename, content


def _read(archive: zipfile.ZipFile, one: zipfile.ZipInfo, most: int) -> bytes:
    """At most ``most`` bytes, whatever the archive says of the file's size."""
    pieces: list[bytes] = []
    size = 0
    try:
        with archive.open(one) as file:
            while piece := file.read(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > most:
                    raise Refused(Refusal.TOO_LARGE, f"{_shown(one)} is larger than the archive may be in all")
    except (zipfile.BadZipFile, zlib.error, RuntimeError, ValueError, NotImplementedError, EOFError, OSError) as error:
        raise Refused(Refusal.UNREADABLE, f"{_shown(one)} can not be unpacked: {error}") from error
    return b"".join(pieces)


def _count(file: BinaryIO, limits: Limits) -> None:
    """Raise `Refused` for more entries than there may be, before a list of them is made."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - _END_BYTES - MAX_COMMENT))
    end = file.read()
    at = end.rfind(_END)
    if at < 0 or len(end) < at + _END_BYTES:
        raise Refused(Refusal.UNREADABLE, "the archive is damaged: it has no end")
    entries = int.from_bytes(end[at + 10 : at + 12], "little")
    listing = int.from_bytes(end[at + 12 : at + 16], "little")
    most = limits.files * 2  # folders are entries, too
    if entries > most or (entries != 0xFFFF and listing > (most + 1) * (46 + 2 * MAX_NAME_CHARS + 256)):
        raise Refused(Refusal.TOO_LARGE, f"the archive has {entries} entries; {limits.files} files are the most")


def _check(one: zipfile.ZipInfo, limits: Limits) -> None:
    name = one.filename
    parts = PurePosixPath(name).parts
    if (
        not parts
        or name.startswith(("/", "\\"))
        or "\\" in name
        or ".." in parts
        or ":" in parts[0]
        or any(ord(sign) < 32 for sign in name)
    ):
        raise Refused(Refusal.UNSAFE, f"the archive has a file outside of it: {_shown(one)}")
    if len(name) > MAX_NAME_CHARS or len(parts) > limits.depth:
        why = f"names have at most {MAX_NAME_CHARS} characters, and folders are at most {limits.depth} deep"
        raise Refused(Refusal.UNSAFE, f"{_shown(one)}: {why}")
    mode = one.external_attr >> 16
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise Refused(Refusal.UNSAFE, f"{_shown(one)} is a link or a device")
    if one.flag_bits & 0x1:
        raise Refused(Refusal.UNREADABLE, f"{_shown(one)} is encrypted")
    if one.compress_type not in _PACKED_AS:
        raise Refused(Refusal.UNREADABLE, f"{_shown(one)} is packed in a way that is not known here")
    if one.file_size > limits.file_bytes:
        raise Refused(Refusal.TOO_LARGE, f"{_shown(one)} has {one.file_size} bytes; {limits.file_bytes} are the most")
    if one.file_size > SMALL_BYTES and one.file_size > limits.ratio * max(1, one.compress_size):
        raise Refused(Refusal.UNSAFE, f"{_shown(one)} becomes more than {limits.ratio} times larger: a zip bomb")


def _shown(one: zipfile.ZipInfo) -> str:
    return repr(one.filename)
