"""Originals as they are kept: compressed, for logs and listings shrink to a tenth."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from app.core.history.guards.cuts import Cut, Kept

_LEVEL = 1
"""Ten megabytes take a tenth of a second; more effort hardly makes them smaller."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A decision to be kept, with the original where that is new."""

    cut: Cut
    body: bytes | None = None
    at: int | None = None
    """When the output was made, epoch milliseconds."""
    message: str | None = None
    """Fingerprint of the host's message that brings it."""


@dataclass(frozen=True, slots=True)
class Original:
    """An output that was cut, as it is kept. ``text`` is None where it is kept no more."""

    ref: str
    tool: str
    text: str | None


def packed(originals: Sequence[Kept], rule: Callable[[str], str] = str) -> list[Packed]:
    """What is to be kept, each text under ``rule``."""
    return [
        Packed(
            replace(one.cut, tool=rule(one.cut.tool)),
            None if one.text is None else pack(rule(one.text)),
            one.at,
            one.message,
        )
        for one in originals
    ]


def pack(text: str) -> bytes:
    """The text as bytes."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"), _LEVEL)


def unpack(body: bytes) -> str:
    """The inverse of `pack`."""
    return zlib.decompress(body).decode("utf-8", "surrogatepass")
