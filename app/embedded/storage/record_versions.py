"""How one record becomes the next: by what is said about the same thing, by an edit, or by a check. Pure functions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.core.memories.memory import highest
from app.embedded.storage.records import Record, Source, days_until, holds_until
from app.text.dates import moment_of

NOT_ADOPTED = "not_adopted"
"""Outcome of a claim that changed nothing: no earlier version."""
UPDATED = "updated"
"""Outcome of a change that left the value as it was."""
MAX_HISTORY, MAX_SOURCES = 200, 50
"""Earlier values and sources kept of one record: as many as of a memory at OpenViking."""
MAX_HISTORY_CHARS = 100_000
HYSTERESIS = 0.15
"""A statement may be this much less certain than the one it replaces; weaker ones are noted and change nothing."""


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
    """The next version of a record, changed on purpose by ``source``: the former one stays in its history.

    Only a new value is said by ``source``: to pin a record, or to sort it elsewhere, says nothing, and leaves it with
    the sources that it goes with when they are forgotten.
    """
    now = source.observed_at
    if "value" not in changes:
        return noted(record, UPDATED, now, last_confirmed_at=now, **changes)
    said_at = record.said_at or record.source.observed_at
    also = with_source(record.also, record.source)
    return noted(record, "changed", now, last_confirmed_at=now, source=source, said_at=said_at, also=also, **changes)


def noted(record: Record, outcome: str, now: str, **changes: Any) -> Record:
    """The next version of a record that was not edited: its former one stays in its history, with why it changed."""
    history = _kept(record.history, _claim(record, outcome, now))
    return replace(record, version=record.version + 1, updated_at=now, history=history, **changes)


def joined(other: Record, now: str, record: Record, key: str | None = None) -> Record:
    """A record with the sources of another one that says the same, of two marks the higher, and of two ends the later.

    ``key`` is one that it takes in the place of its own.
    """
    sources = record.also
    for source in (*other.also, other.source):
        sources = with_source(sources, source)
    confirmed = max(record.last_confirmed_at, other.last_confirmed_at or other.source.observed_at)
    ends = [end for one in (record, other) if (end := holds_until(one))]
    return noted(
        record,
        "merged",
        now,
        key=key or record.key,
        also=sources,
        last_confirmed_at=confirmed,
        ttl=days_until(max(ends), confirmed) if len(ends) > 1 else None,
        confidence=max(record.confidence, other.confidence),
        sensitivity=highest(record.sensitivity, other.sensitivity).value,
        pinned=record.pinned or other.pinned,
    )


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


def _folded(value: str) -> str:
    return "".join(_letters(value))


def _letters(value: str) -> Iterator[str]:
    return (character for character in value.casefold() if character.isalnum())
