"""Files under AES-256-GCM, databases under SQLCipher: see ``docs/at-rest.md`` for what that promises.

A file is a head and frames. The head names the key and the file, so that each file has a key of its own::

    magic (8) | key id (8) | file id (16, random) | check of these (16)

A frame is what was written at once; its position is authenticated with it, so that frames can be neither moved nor
taken from another file::

    length of the rest (4) | check of length and position (4) | nonce (12, random) | ciphertext and tag
"""

import hashlib
import hmac
import io
import os
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, cast

import structlog
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher as BlockCipher
from cryptography.hazmat.primitives.ciphers import algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlcipher3 import dbapi2

from app.atrest.cipher import MAGIC, ContentReader, OtherKey, Plain, SealBroken, Tail
from app.atrest.keys import Keys

_HEAD = struct.Struct(">8s8s16s16s")
_FRAME = struct.Struct(">II")
_NONCE_BYTES = 12
_TAG_BYTES = 16
_READ_BYTES = 64 * 1024

_RESERVED = 80
"""What SQLCipher keeps at the end of each page: its initialization vector, and its authentication code."""
_SALT = 16
_LOG_HEAD, _LOG_FRAME_HEAD = 32, 24
_PAGE_SIZES = (4096, 16384, 8192, 32768, 65536, 1024, 2048, 512)

log = structlog.get_logger(__name__)


class Sealed:
    """`app.atrest.cipher.Cipher` with a key. What stands in a file in plain is read as it is."""

    head_bytes = _HEAD.size
    sqlite: ModuleType = dbapi2

    def __init__(self, keys: Keys) -> None:
        self.key_id = keys.id
        self._keys = keys
        self._plain = Plain()

    # files

    def head(self) -> bytes:
        """See `Cipher.head`."""
        named = MAGIC + bytes.fromhex(self.key_id) + os.urandom(16)
        return named + self._check(named)

    def sealed(self, head: bytes, data: bytes, position: int) -> bytes:
        """See `Cipher.sealed`."""
        nonce = os.urandom(_NONCE_BYTES)
        rest = nonce + self._of_file(head).encrypt(nonce, data, _place(position))
        return _frame_head(len(rest), position) + rest

    def frames(self, file: BinaryIO, start: int) -> Iterator[Tail]:
        """See `Cipher.frames`."""
        file.seek(0)
        head = file.read(_HEAD.size)
        if not (head[:1] == MAGIC[:1] or head[1 : len(MAGIC)] == MAGIC[1:]):  # no text begins with either
            yield from self._plain.frames(file, start)
        elif not head.startswith(MAGIC[: len(head)]):
            raise SealBroken("the file's head is damaged")
        elif len(head) == _HEAD.size:  # else a crash cut its writing short
            yield from self._opened(file, self._of_file(head), max(start, _HEAD.size))

    def reader(self, file: BinaryIO) -> BinaryIO:
        """See `Cipher.reader`."""
        content = ContentReader((tail.data for tail in self.frames(file, 0)), file)
        return cast("BinaryIO", io.BufferedReader(content, _READ_BYTES))

    def for_child(self) -> str:
        """See `Cipher.for_child`. It opens no database."""
        return f"{self.key_id}:{self._keys.files.hex()}"

    def _opened(self, file: BinaryIO, aead: AESGCM, position: int) -> Iterator[Tail]:
        size = os.fstat(file.fileno()).st_size
        file.seek(position)
        while position < size:
            begin = file.read(_FRAME.size)
            length = _FRAME.unpack(begin)[0] if len(begin) == _FRAME.size else size
            end = position + _FRAME.size + length
            is_whole = begin == _frame_head(length, position) if len(begin) == _FRAME.size else True
            if not is_whole:
                if any(begin) or _says_something(file):
                    raise SealBroken(f"the file is damaged at byte {position}")
                return  # a power cut left room without content
            if end > size:
                return  # a crash cut it short
            rest = file.read(length)
            try:
                data = aead.decrypt(rest[:_NONCE_BYTES], rest[_NONCE_BYTES:], _place(position))
            except (InvalidTag, ValueError):
                if end < size:
                    raise SealBroken(f"the file is damaged at byte {position}") from None
                log.warning("torn_end_left_out", bytes=length)
                return  # the last one: a power cut may leave its length and not all of it
            yield Tail(data, end)
            position = end

    def _of_file(self, head: bytes) -> AESGCM:
        """The cipher of the file with this head. Raises `OtherKey`, `SealBroken`."""
        _, key_id, file_id, check = _HEAD.unpack(head)
        if key_id.hex() != self.key_id:
            raise OtherKey(f"a file is encrypted with the key {key_id.hex()}, and the one in use is {self.key_id}")
        if not hmac.compare_digest(check, self._check(head[:-_TAG_BYTES])):
            raise SealBroken("the file's head is damaged")
        return AESGCM(hmac.digest(self._keys.files, b"file" + file_id, hashlib.sha256))

    def _check(self, named: bytes) -> bytes:
        return hmac.digest(self._keys.files, b"head" + named, hashlib.sha256)[:_TAG_BYTES]

    # databases

    def attach(self, connection: sqlite3.Connection, path: Path, name: str, page_bytes: int) -> None:
        """See `Cipher.attach`."""
        connection.execute(f"ATTACH DATABASE ? AS {name} KEY ?", (str(path), self._raw_key)).close()
        connection.execute(f"PRAGMA {name}.cipher_page_size = {page_bytes}").close()

    @property
    def _raw_key(self) -> str:
        """The key as SQLCipher takes one that is random already."""
        return f"x'{self._keys.databases.hex()}'"

    def unlock(self, connection: sqlite3.Connection, page_bytes: int) -> None:
        """See `Cipher.unlock`."""
        for pragma in (
            f'key = "{self._raw_key}"',
            f"cipher_page_size = {page_bytes}",
            "cipher_log_level = NONE",
            "temp_store = MEMORY",
        ):
            connection.execute(f"PRAGMA {pragma}").close()

    def pages(self, file: BinaryIO, *, is_log: bool) -> Iterator[bytes]:
        """See `Cipher.pages`."""
        if is_log:
            size = int.from_bytes(file.read(_LOG_HEAD)[8:12], "big")
            while size and len(frame := file.read(_LOG_FRAME_HEAD + size)) > _LOG_FRAME_HEAD + _RESERVED:
                number = int.from_bytes(frame[:4], "big")
                yield self._page(frame[_LOG_FRAME_HEAD:], _SALT if number == 1 else 0)
            return
        begin = file.read(max(_PAGE_SIZES))
        size = next((size for size in _PAGE_SIZES if self._is_first(begin[:size], size)), 0)
        if not size:
            yield begin  # nothing of ours: looked at as it is
            yield from self._plain.pages(file, is_log=False)
            return
        file.seek(0)
        skipped = _SALT
        while len(page := file.read(size)) > _RESERVED + skipped:
            yield self._page(page, skipped)
            skipped = 0

    def _is_first(self, page: bytes, size: int) -> bool:
        """Whether it decrypts to the first page of a database of this page size."""
        if len(page) < size:
            return False
        told = self._page(page, _SALT)
        return int.from_bytes(told[:2], "big") in (size, size >> 16) and told[4] == _RESERVED

    def _page(self, page: bytes, skipped: int) -> bytes:
        end = skipped + (len(page) - skipped - _RESERVED) // 16 * 16
        vector = page[len(page) - _RESERVED :][:16]
        decryptor = BlockCipher(algorithms.AES(self._keys.databases), modes.CBC(vector)).decryptor()
        return decryptor.update(page[skipped:end]) + decryptor.finalize()


def _place(position: int) -> bytes:
    return position.to_bytes(8, "big")


def _frame_head(length: int, position: int) -> bytes:
    """Tells a damaged length from a frame that was cut short, of which nothing behind it is worth keeping."""
    return _FRAME.pack(length, zlib.crc32(length.to_bytes(4, "big") + _place(position)))


def _says_something(file: BinaryIO) -> bool:
    """Whether anything but zeros is left to read."""
    while data := file.read(_READ_BYTES):
        if any(data):
            return True
    return False
