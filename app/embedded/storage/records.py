"""What is remembered: one statement with its fields. See `record_lines` for how it stands in its file."""

import hashlib
from base64 import b32encode
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from app.text.dates import moment_of

_DAY_S = 86_400
QUOTED = "chat_turn"
"""Kind of a source that says it in the record's words."""
PARAPHRASED = "chat_model"
"""Kind of a source whose words are not the record's: a model put them down."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a record was learned: ``kind`` is ``chat_turn``, ``chat_model``, ``edit``, ``api`` or ``import``; ``ref``
    is the message's source id."""

    kind: str
    ref: str
    observed_at: str
    session: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One thing remembered, with what is known about it."""

    type: str
    key: str
    value: str
    confidence: float
    source: Source
    sensitivity: str = "low"
    ttl: float | None = None
    """Days after ``last_confirmed_at`` that it holds and is recalled; None is for good."""
    last_confirmed_at: str = ""
    version: int = 1
    created_at: str = ""
    updated_at: str = ""
    history: tuple[dict[str, Any], ...] = field(default=())
    """Earlier values, and weaker claims that did not replace it, newest last."""
    id: str = ""
    """Stable; of a record that was written without one see `identified`."""
    said_at: str = ""
    """When it was first said, where that is not when its source says."""
    also: tuple[Source, ...] = ()
    """Where else it was said, or where it stood before it was edited."""
    pinned: bool = False
    category: str = ""
    """Where it is another than the folder's."""
    superseded_at: str = ""
    """Since when another record stands in its place; empty while it holds."""

    @property
    def holds(self) -> bool:
        """Whether no other record stands in its place."""
        return not self.superseded_at


def holds_until(record: Record) -> datetime | None:
    """When the record's ``ttl`` ends; None where it holds for good."""
    since = moment_of(record.last_confirmed_at or record.source.observed_at)
    if since is None or not isinstance(record.ttl, int | float):
        return None
    try:
        return since + timedelta(days=record.ttl)
    except (ValueError, OverflowError):
        return None


def days_until(end: datetime | None, since: str) -> float | None:
    """The ``ttl`` of what was last confirmed at ``since`` and holds until ``end``; None where that is for good."""
    begun = moment_of(since)
    return (end - begun).total_seconds() / _DAY_S if begun and end else None


def identified(records: Sequence[Record], path: str) -> list[Record]:
    """The records of the file at ``path`` (relative to the user's directory), each with an id.

    One that was written before records had ids gets one made of its place, key and source; the next write keeps it.
    """
    return [
        record if record.id else replace(record, id=derived_id(path, record.key, record.source.ref))
        for record in records
    ]


def derived_id(*place: object) -> str:
    """The id of a memory that has none of its own: always the same for the same place."""
    digest = hashlib.sha256("\n".join(map(str, place)).encode("utf-8", "surrogatepass")).digest()
    return f"m_{b32encode(digest[:16]).decode().rstrip('=').lower()}"
