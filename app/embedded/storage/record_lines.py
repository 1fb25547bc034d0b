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

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

from app.embedded.storage.records import Record, Source
from app.text.items import blocks, item, statements

TRAILER = "<!-- MEMORY_FIELDS"
TRAILER_END = "-->"
NOTE_BEGIN = "<!-- archive "
NOTE_END = "<!-- /archive "


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


def write_experience(body: str, sources: Sequence[Source]) -> str:
    """The file of an experience: what it says, and a message of each turn that it was learnt from, the last apart."""
    if not sources:
        return f"{body}\n"
    also = [_told(source) for source in sources[:-1]]
    fields = {"type": "experience", "confidence": 0.7, "source": _told(sources[-1]), "also": also}
    return f"{body}\n\n{TRAILER}\n{_json(fields)}\n{TRAILER_END}\n"


def sources_of_experience(text: str) -> tuple[tuple[Source, ...], bool]:
    """A message of each turn that an experience was learnt from, as far as its file tells, and whether that is all.

    Earlier versions of the sidecar wrote down the last message of the session's archive alone, and no time.
    """
    trailer = text.rpartition(TRAILER)[2]
    try:
        told = json.loads(trailer.partition(TRAILER_END)[0])
        sources = [_source({"observed_at": "", **one}) for one in (*told.get("also", ()), told["source"])]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return (), True
    return tuple(one for one in sources if one.ref), "also" in told


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
    trailer = ",\n".join(_json(_fields(record)) for record in records)
    return "\n".join(lines) + f"\n\n{TRAILER}\n[{trailer}]\n{TRAILER_END}\n"


def _reconciled(body: str, records: Sequence[Record]) -> list[Record]:
    said = list(statements(body))
    present = set(said)
    known = {record.value for record in records}
    if len(records) == 1 and records[0].holds and records[0].value not in present:
        new = [text for text in said if text not in known]
        if len(new) == 1:
            edited = replace(records[0].source, kind="edit")
            return [replace(records[0], value=new[0], confidence=1.0, ttl=None, source=edited)]
    return list(_still_there(said, records))


def _still_there(said: Iterable[str], records: Iterable[Record]) -> Iterator[Record]:
    """The records that were superseded, and those that have a line: where several say the same, a line each."""
    lines = Counter(said)
    for record in records:
        if record.holds:
            lines[record.value] -= 1
        if not record.holds or lines[record.value] >= 0:
            yield record


_KNOWN = tuple(one.name for one in fields(Record))
_OF_SOURCE = tuple(one.name for one in fields(Source))


def _fields(record: Record) -> dict[str, Any]:
    """The record for the trailer, without what says nothing."""
    told = {name: getattr(record, name) for name in _KNOWN}
    told |= {"source": _told(record.source), "also": [_told(source) for source in record.also]}
    return {name: value for name, value in told.items() if name not in _LATER or value}


def _json(fields: dict[str, Any]) -> str:
    """The fields as they can stand in a comment; JSON reads them back as they were."""
    text = json.dumps(fields, ensure_ascii=False)
    return text.replace("-->", "--\\u003e").replace("<!--", "\\u003c!--")


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
