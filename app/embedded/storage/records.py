"""Memory records in Markdown files: lines for people, and a trailer with each line's fields.

::

    # Preferences: editor theme

    - I prefer the dark theme.

    <!-- MEMORY_FIELDS
    [{"type": "preference", "key": "...", "value": "...", "confidence": 0.9, ...}]
    -->

The line is the truth. A person who rewrites it wins: its record is read with the new words and full confidence, for
good; a line that is deleted takes its record with it. A record that another one superseded has no line any more and
stays in the trailer.
"""

import hashlib
import json
from base64 import b32encode
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any

from app.text.dates import moment_of
from app.text.items import blocks, item, statements

TRAILER = "<!-- MEMORY_FIELDS"
TRAILER_END = "-->"
NOTE_BEGIN = "<!-- archive "
NOTE_END = "<!-- /archive "
PARAPHRASED = "chat_model"
"""Kind of a source whose words are not the record's: a model put them down."""
NOT_ADOPTED = "not_adopted"
"""Outcome of a claim that changed nothing: no earlier version."""
MAX_HISTORY, MAX_SOURCES = 200, 50
"""Earlier values and sources kept of one record: as many as of a memory at OpenViking."""
MAX_HISTORY_CHARS = 100_000
HYSTERESIS = 0.15
"""A statement may be this much less certain than the one it replaces; weaker ones are noted and change nothing."""


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


@dataclass(frozen=True, slots=True)
class Claim:
    """What a statement claims of earlier ones about the same thing."""

    value: str = ""
    """The words that are the value itself: an earlier statement that has them is confirmed."""
    replaces: bool = True
    """Whether it is certain that it takes the place of another value; otherwise both stay."""
    denied: str = ""
    """The value that it takes back ("not Tom"), where it names one."""


ANY = Claim()
"""Of two statements with one key, the later holds."""


def holds_until(record: Record) -> datetime | None:
    """When the record's ``ttl`` ends; None where it holds for good."""
    since = moment_of(record.last_confirmed_at or record.source.observed_at)
    if since is None or not isinstance(record.ttl, int | float):
        return None
    try:
        return since + timedelta(days=record.ttl)
    except (ValueError, OverflowError):
        return None


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


def read_records(text: str) -> tuple[str, list[Record]]:
    """The body without its trailer, and the records that the body still has lines for, or that were superseded."""
    body, found, trailer = text.rpartition(TRAILER)
    if not found:
        return text, []
    try:
        stored = json.loads(trailer.partition(TRAILER_END)[0])
        records = [_record(one) for one in stored]
    except (ValueError, TypeError, KeyError, RecursionError):
        return body, []
    return body, _reconciled(body, records)


def source_of_experience(text: str) -> str:
    """The source id of the message that an experience was learnt from; empty where its file does not tell."""
    trailer = text.rpartition(TRAILER)[2]
    try:
        source = json.loads(trailer.partition(TRAILER_END)[0])["source"]
        return str(source["ref"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""


def write_records(title: str, records: Sequence[Record], body: str = "", without: Collection[str] = ()) -> str:
    """The file's text. Lines of ``body`` that no record has (a person's own) stay, above the records' lines.

    Lines that say what is in ``without`` go.
    """
    values = {record.value for record in records} | set(without)
    values |= {str(old.get("value")) for record in records for old in record.history}
    own = [line for block in blocks(body.strip()) if block.text not in values for line in block.lines]
    if not body.strip():
        own = [f"# {title}", ""]
    while own and not own[-1].strip():
        own.pop()
    if own and own[-1].startswith("#"):
        own.append("")
    lines = [*own, *(item(record.value) for record in records if record.holds)]
    trailer = ",\n".join(json.dumps(_fields(record), ensure_ascii=False) for record in records)
    trailer = trailer.replace("-->", "--\\u003e").replace("<!--", "\\u003c!--")  # JSON reads it back as it was
    return "\n".join(lines) + f"\n\n{TRAILER}\n[{trailer}]\n{TRAILER_END}\n"


def merge(records: Sequence[Record], new: Record, claim: Claim = ANY) -> list[Record]:
    """The records with ``new`` taken in: confirmed, superseded with its history kept, noted only, or added.

    One that does not replace what has its key stands beside it, under a key of its own (``profile.brother+tim``).
    Learning the same thing from the same message again changes nothing, so that an extraction may be repeated. What was
    superseded takes no part.
    """
    about = [n for n, old in enumerate(records) if old.holds and _is_about(old, new.key)]
    said = [n for n in about if _same(records[n].value, new.value) or _has(records[n].value, claim.value)]
    denied = [n for n in about if _has(records[n].value, claim.denied)]
    if not claim.replaces and about and not said:
        return [*records, replace(new, key=f"{new.key}+{_folded(claim.value or new.value)[:40]}")]
    index = next(iter([*denied, *said] if claim.replaces else said), about[0] if about else None)
    if index is None:
        return [*records, new]
    old = records[index]
    if index in said and index not in denied:
        new = replace(new, value=old.value)
    return [*records[:index], _merged(old, replace(new, key=old.key)), *records[index + 1 :]]


def _is_about(record: Record, key: str) -> bool:
    return record.key == key or record.key.startswith(f"{key}+")


def _same(value: str, other: str) -> bool:
    return _folded(value) == _folded(other)


def _has(statement: str, value: str) -> bool:
    """Whether a statement names a value: all of it, not within a longer word."""
    at = statement.casefold().find(value.casefold()) if value else -1
    if at < 0:
        return False
    around = statement[max(0, at - 1) : at], statement[at + len(value) : at + len(value) + 1]
    return not (value.isascii() and any(character.isalnum() and character.isascii() for character in around))


def _merged(old: Record, new: Record) -> Record:
    learned = {(old.source.ref, _folded(old.value))}
    learned |= {(str(entry.get("ref")), _folded(str(entry.get("value")))) for entry in old.history}
    learned |= {(source.ref, _folded(old.value)) for source in old.also}
    if (new.source.ref, _folded(new.value)) in learned:
        return old
    if _same(old.value, new.value):
        confidence = round(min(0.99, old.confidence + (1 - old.confidence) * new.confidence / 2), 3)
        confirmed = max(old.last_confirmed_at, new.source.observed_at)
        return replace(
            old,
            confidence=confidence,
            last_confirmed_at=confirmed,
            updated_at=new.updated_at,
            also=with_source(old.also, new.source),
        )
    stale = new.source.observed_at < old.source.observed_at
    until, now = holds_until(old), moment_of(new.source.observed_at)
    over = until is not None and now is not None and until <= now
    if stale or (new.confidence < old.confidence - HYSTERESIS and not over):
        return replace(old, history=_kept(old.history, _claim(new, NOT_ADOPTED, new.source.observed_at)))
    return replace(
        new,
        version=old.version + 1,
        created_at=old.created_at,
        history=_kept(old.history, _claim(old, "superseded", new.source.observed_at)),
        id=old.id,
        pinned=old.pinned,
        category=old.category,
        also=with_source(old.also, old.source),
    )


def edited(record: Record, source: Source, **changes: Any) -> Record:
    """The next version of a record, given on purpose by ``source``: the former one stays in its history."""
    reason = "changed" if "value" in changes else "updated"
    now = source.observed_at
    return replace(
        record,
        source=source,
        said_at=record.said_at or record.source.observed_at,
        also=with_source(record.also, record.source),
        version=record.version + 1,
        last_confirmed_at=now,
        updated_at=now,
        history=_kept(record.history, _claim(record, reason, now)),
        **changes,
    )


def noted(record: Record, outcome: str, now: str, **changes: Any) -> Record:
    """The next version of a record that nobody edited: its former one stays in its history, with why it changed."""
    history = _kept(record.history, _claim(record, outcome, now))
    return replace(record, version=record.version + 1, updated_at=now, history=history, **changes)


def joined(other: Record, now: str, record: Record) -> Record:
    """A record with the sources of another one that says the same."""
    sources = record.also
    for source in (*other.also, other.source):
        sources = with_source(sources, source)
    confirmed = max(record.last_confirmed_at, other.last_confirmed_at or other.source.observed_at)
    confidence = max(record.confidence, other.confidence)
    return noted(record, "merged", now, also=sources, last_confirmed_at=confirmed, confidence=confidence)


def with_source(sources: Sequence[Source], source: Source) -> tuple[Source, ...]:
    """The sources with one more, the oldest left out beyond `MAX_SOURCES`."""
    return (*(one for one in sources if one != source), source)[-MAX_SOURCES:]


def _claim(record: Record, outcome: str, until: str) -> dict[str, Any]:
    return {
        "value": record.value,
        "confidence": record.confidence,
        "ref": record.source.ref,
        "observed_at": record.source.observed_at,
        "outcome": outcome,
        "version": record.version,
        "until": until,
    }


def _kept(history: Sequence[dict[str, Any]], entry: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    kept = (*history, entry)[-MAX_HISTORY:]
    while len(kept) > 1 and sum(len(str(one.get("value"))) for one in kept) > MAX_HISTORY_CHARS:
        kept = kept[1:]
    return kept


def _reconciled(body: str, records: Sequence[Record]) -> list[Record]:
    said = list(statements(body))
    present = set(said)
    known = {record.value for record in records}
    if len(records) == 1 and records[0].holds and records[0].value not in present:
        new = [text for text in said if text not in known]
        if len(new) == 1:
            edited = replace(records[0].source, kind="edit")
            return [replace(records[0], value=new[0], confidence=1.0, ttl=None, source=edited)]
    return [record for record in records if not record.holds or record.value in present]


_KNOWN = tuple(one.name for one in fields(Record))
_OF_SOURCE = tuple(one.name for one in fields(Source))


def _fields(record: Record) -> dict[str, Any]:
    """The record for the trailer, without what says nothing."""
    told = {name: getattr(record, name) for name in _KNOWN}
    told |= {"source": _told(record.source), "also": [_told(source) for source in record.also]}
    return {name: value for name, value in told.items() if name not in _LATER or value}


def _told(source: Source) -> dict[str, str]:
    return {name: getattr(source, name) for name in _OF_SOURCE}


_LATER = frozenset({"id", "said_at", "also", "pinned", "category", "superseded_at"})


def _record(stored: dict[str, Any]) -> Record:
    if not isinstance(stored, dict):  # an experience's trailer: one object, and its body is one memory
        raise TypeError("no record")
    return Record(
        **{
            **{name: value for name, value in stored.items() if name in _KNOWN},
            "source": _source(stored["source"]),
            "also": tuple(map(_source, stored.get("also") or ())),
            "history": tuple(stored.get("history") or ()),
        }
    )


def _source(stored: dict[str, Any]) -> Source:
    session = str(stored.get("session") or "")
    return Source(str(stored["kind"]), str(stored["ref"]), str(stored["observed_at"]), session)


def _folded(value: str) -> str:
    return "".join(_letters(value))


def _letters(value: str) -> Iterator[str]:
    return (character for character in value.casefold() if character.isalnum())
