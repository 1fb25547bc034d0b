"""How far an upload is: a bar on a terminal, and nothing anywhere else."""

import shutil
import sys
from types import TracebackType
from typing import BinaryIO, Self, TextIO

MAX_BAR = 40
MAX_NAME_CHARS = 40


class Progress:
    """A bar for one upload of ``total`` bytes; use it as a context manager. What it drew is gone afterwards."""

    def __init__(self, name: str, total: int, out: TextIO | None = None) -> None:
        self._name = name if len(name) <= MAX_NAME_CHARS else f"…{name[-MAX_NAME_CHARS + 1 :]}"
        self._total = max(1, total)
        self._out = out or sys.stderr
        self._is_shown = self._out.isatty()
        self._drawn = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._draw("")

    def sent(self, count: int) -> None:
        """So many bytes are sent by now."""
        share = min(1.0, count / self._total)
        width = max(4, min(MAX_BAR, shutil.get_terminal_size().columns - len(self._name) - 12))
        bar = ("#" * int(share * width)).ljust(width, ".")
        self._draw(f"{self._name} [{bar}] {share:4.0%}" if share < 1 else f"{self._name} is being read …")

    def says(self, what: str) -> None:
        """Something is being waited for."""
        self._draw(f"{self._name} {what} …")

    def _draw(self, line: str) -> None:
        if self._is_shown and line != self._drawn:
            self._out.write(f"\r{line.ljust(len(self._drawn))}" + ("" if line else "\r"))
            self._out.flush()
            self._drawn = line


class Watched:
    """A file whose reader is watched: what httpx reads of it is on its way."""

    def __init__(self, file: BinaryIO, progress: Progress) -> None:
        self._file = file
        self._progress = progress

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        piece = self._file.read(size)
        self._progress.sent(self._file.tell())
        return piece

    def seek(self, offset: int, whence: int = 0) -> int:
        """As a file's."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """As a file's."""
        return self._file.tell()
