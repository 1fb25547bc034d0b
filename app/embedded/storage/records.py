"""Memory records in Markdown files: lines for people, and a trailer with each line's fields.

::

    # Preferences: editor theme

    - I prefer the dark theme.

    <!-- MEMORY_FIELDS
    [{"type": "preference", "key": "...", "value": "...", "confidence": 0.9, ...}]
    -->

The line is the truth. A person who rewrites it wins: its record is read with the new words and full confidence, for
good; a line that is deleted takes its record with it.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from app.text.dates import moment_of

TRAILER = "<!-- MEMORY_FIELDS"
TRAILER_END = "-->"
NOTE_BEGIN = "<!-- archive "
NOTE_END = "<!-- /archive "
MAX_HISTORY = 20
"""Earlier values kept of one record."""
HYSTERESIS = 0.15
"""A statement may be this much less certain than the one it replaces; weaker ones are noted and change nothing."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a record was learned: ``kind`` is ``chat_turn`` or ``edit``, ``ref`` the message's source id."""

    kind: str
    ref: str
    observed_at: str


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


def read_records(text: str) -> tuple[str, list[Record]]:
    """The body without its trailer, and the records that the body still has lines for."""
    body, found, trailer = text.rpartition(TRAILER)
    if not found:
        return text, []
    try:
        stored = json.loads(trailer.partition(TRAILER_END)[0])
        records = [_record(fields) for fields in stored]
    except (ValueError, TypeError, KeyError, RecursionError):
        return body, []
    return body, _reconciled(body, records)


def write_records(title: str, records: Sequence[Record], body: str = "") -> str:
    """The file's text. Lines of ``body`` that no record has (a person's own) stay, above the records' lines."""
    values = {record.value for record in records} | {
        str(old.get("value")) for record in records for old in record.history
    }
    own = (
        [line for line in body.strip().split("\n") if _said(line) not in values] if body.strip() else [f"# {title}", ""]
    )
    while own and not own[-1].strip():
        own.pop()
    if own and own[-1].startswith("#"):
        own.append("")
    lines = [*own, *(f"- {record.value}" for record in records)]
    fields = json.dumps([asdict(record) for record in records], ensure_ascii=False, indent=1)
    fields = fields.replace("-->", "--\\u003e")  # JSON reads it back as it was
    return "\n".join(lines) + f"\n\n{TRAILER}\n{fields}\n{TRAILER_END}\n"


def merge(records: Sequence[Record], new: Record, claim: Claim = ANY) -> list[Record]:
    """The records with ``new`` taken in: confirmed, superseded with its history kept, noted only, or added.

    One that does not replace what has its key stands beside it, under a key of its own (``profile.brother+tim``).
    Learning the same thing from the same message again changes nothing, so that an extraction may be repeated.
    """
    about = [n for n, old in enumerate(records) if old.key == new.key or old.key.startswith(f"{new.key}+")]
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
    if (new.source.ref, _folded(new.value)) in learned:
        return old
    if _same(old.value, new.value):
        confidence = round(min(0.99, old.confidence + (1 - old.confidence) * new.confidence / 2), 3)
        return replace(old, confidence=confidence, last_confirmed_at=new.source.observed_at, updated_at=new.updated_at)
    stale = new.source.observed_at < old.source.observed_at
    until, now = holds_until(old), moment_of(new.source.observed_at)
    over = until is not None and now is not None and until <= now
    if stale or (new.confidence < old.confidence - HYSTERESIS and not over):
        return replace(old, history=_kept(old.history, _claim(new, "not_adopted")))
    return replace(
        new,
        version=old.version + 1,
        created_at=old.created_at,
        history=_kept(old.history, _claim(old, "superseded")),
    )


def _claim(record: Record, outcome: str) -> dict[str, Any]:
    return {
        "value": record.value,
        "confidence": record.confidence,
        "ref": record.source.ref,
        "observed_at": record.source.observed_at,
        "outcome": outcome,
    }


def _kept(history: Sequence[dict[str, Any]], entry: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    return (*history, entry)[-MAX_HISTORY:]


def _reconciled(body: str, records: Sequence[Record]) -> list[Record]:
    lines = [_said(line) for line in body.split("\n") if line.strip() and not line.startswith("#")]
    present = set(lines)
    known = {record.value for record in records}
    if len(records) == 1 and records[0].value not in present:
        new = [line for line in lines if line not in known]
        if len(new) == 1:
            edited = replace(records[0].source, kind="edit")
            return [replace(records[0], value=new[0], confidence=1.0, ttl=None, source=edited)]
    return [record for record in records if record.value in present]


def _record(fields: dict[str, Any]) -> Record:
    source = fields["source"]
    return Record(
        **{
            **fields,
            "source": Source(str(source["kind"]), str(source["ref"]), str(source["observed_at"])),
            "history": tuple(fields.get("history") or ()),
        }
    )


def _said(line: str) -> str:
    return line.strip().removeprefix("- ").strip()


def _folded(value: str) -> str:
    return "".join(_letters(value))


def _letters(value: str) -> Iterator[str]:
    return (character for character in value.casefold() if character.isalnum())
