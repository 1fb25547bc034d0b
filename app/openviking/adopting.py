"""What OpenViking has written or taken away by itself, brought into the ledger.

Its extraction rewrites whole files. A statement keeps its id as long as its text stands in the same file; a file of the
sidecar's own, and one that tells one thing, keep theirs when somebody edits them there.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from app.core.memories.withholding import Withholding
from app.openviking.file_statements import is_list, statements_in
from app.openviking.hit_answers import dated
from app.openviking.ledger_changes import found_in_file, sealed
from app.openviking.ledger_entries import (
    FORGOTTEN,
    GONE,
    HIDDEN,
    LIVE,
    SUPERSEDED,
    Step,
    hash_of,
    id_of,
    is_own,
    text_of,
)
from app.openviking.remote_files import MemoryFile, place_of
from app.ports import LedgerEntry, LedgerPlace, LedgerRows
from app.text.dates import iso, moment_of

_EVER = "1970-01-01T00:00:00.000Z"
_OPENVIKINGS_OWN = re.compile(r"<!-- MEMORY_FIELDS(?:(?!-->).)*+(?:-->|\Z)", re.DOTALL)
_IN_FILES = frozenset({LIVE, HIDDEN})


@dataclass(frozen=True, slots=True)
class Differences:
    """Where listing and ledger differ: files to be read, and entries whose file is not there."""

    unread: tuple[str, ...]
    missing: tuple[LedgerPlace, ...]


def differences(known: Sequence[LedgerPlace], files: Mapping[str, MemoryFile]) -> Differences:
    """Compare what was ``known`` before the listing was made with it. What is not settled is left alone."""
    open_ones = {place.uri for place in known if not place.settled}
    stamps = {place.uri: place.stamp for place in known if place.state in _IN_FILES}
    unread = [uri for uri, file in files.items() if uri not in open_ones and stamps.get(uri) != file.stamp]
    missing = [one for one in known if one.uri not in files and one.uri not in open_ones and one.state == LIVE]
    return Differences(tuple(unread), tuple(missing))


def take_in(
    rows: LedgerRows,
    known: Sequence[LedgerPlace],
    missing: Collection[LedgerPlace],
    read: Mapping[str, tuple[MemoryFile, str]],
    withholding: Withholding,
) -> None:
    """Bring the ledger in step with files that were read. What has changed here since ``known`` counts more."""
    versions = {(place.uri, place.memory_id): place.version for place in known}
    for place in missing:
        entry = rows.by_id(place.memory_id)
        if entry is None or entry.fields.get("refused"):  # it never was there
            continue
        if (entry.uri, entry.version, entry.settled, entry.state) == (place.uri, place.version, True, LIVE):
            rows.put(sealed(replace(entry, state=GONE)))
    for uri, (file, text) in read.items():
        there = rows.at(uri)
        unchanged = all(versions.get((uri, one.memory_id)) == one.version and one.settled for one in there)
        if unchanged:
            _take_in_file(rows, there, file, text, withholding)


def _take_in_file(
    rows: LedgerRows, there: Sequence[LedgerEntry], file: MemoryFile, text: str, withholding: Withholding
) -> None:
    own = next((one for one in there if is_own(one)), None)
    if own:
        _take_in_own(rows, own, file, text)
        return
    by_hash: dict[str, list[LedgerEntry]] = defaultdict(list)
    for one in there:
        by_hash[one.text_hash].append(one)
    said = {hash_of(statement): statement for statement in statements_in(file.uri, text)}
    new = [statement for was, statement in said.items() if was not in by_hash]
    left = [one for was, ones in by_hash.items() if was not in said for one in ones if one.state in _IN_FILES]
    if len(new) == len(left) == 1 and not is_list(file.uri, text):
        left = [_edited_there(left[0], new.pop(), file)]
        rows.put(replace(left.pop(), stamp=file.stamp))
    for one in left:
        rows.put(sealed(replace(one, state=GONE)))
    piece = is_list(file.uri, text) and len(said) > 1
    for was in said:
        known = by_hash.get(was, [])
        for one in [one for one in known if one.state in _IN_FILES] or known:
            rows.put(_seen_again(one, file, piece=piece))
    for statement in new:
        rows.put(_seen_first(rows, file, statement, withholding, piece=piece))


def _take_in_own(rows: LedgerRows, own: LedgerEntry, file: MemoryFile, text: str) -> None:
    """A file of the sidecar's: as it was written, edited by somebody, or overwritten by a write that came late."""
    if own.state not in {LIVE, GONE}:
        rows.put(sealed(own, [Step(own.uri, None)]))
    elif _as_kept(text) == _as_kept(text_of(own)):
        rows.put(replace(sealed(replace(own, state=LIVE)), stamp=file.stamp))
    elif _as_kept(text) in {_as_kept(one["text"]) for one in own.history}:
        rows.put(sealed(own, [Step(own.uri, text_of(own))]))
    else:
        rows.put(replace(_edited_there(own, text, file), stamp=file.stamp))


def _edited_there(entry: LedgerEntry, text: str, file: MemoryFile) -> LedgerEntry:
    """The next version of an entry, written by somebody who has no business with the sidecar."""
    at = iso(modified) if (modified := moment_of(file.modified_at)) else entry.fields["updated_at"]
    version = {"version": entry.version, "text": text_of(entry), "at": at, "reason": "edited in OpenViking"}
    fields = {**entry.fields, "text": text, "updated_at": at}
    history = (*entry.history, version)
    return sealed(
        replace(entry, text_hash=hash_of(text), fields=fields, history=history, version=entry.version + 1, state=LIVE)
    )


def _seen_again(entry: LedgerEntry, file: MemoryFile, *, piece: bool) -> LedgerEntry:
    if entry.state == SUPERSEDED:
        return entry
    if entry.state == FORGOTTEN:  # a late extraction has written it once more
        return sealed(entry, [Step(entry.uri, None, entry.text_hash)])
    fields = {**entry.fields, "piece": piece}
    state = LIVE if entry.state == GONE else entry.state
    return replace(sealed(replace(entry, fields=fields, state=state)), stamp=file.stamp)


def _seen_first(rows: LedgerRows, file: MemoryFile, text: str, withholding: Withholding, *, piece: bool) -> LedgerEntry:
    category, peer = place_of(file.uri)
    day = dated(file.uri)
    entry = found_in_file(file.uri, text, category, peer, file.modified_at, f"{day}T00:00:00.000Z" if day else "")
    number = 0
    while rows.by_id(entry.memory_id):
        number += 1
        entry = replace(entry, memory_id=id_of(file.uri, text, number))
    entry = replace(entry, fields={**entry.fields, "piece": piece}, stamp=file.stamp)
    if withholding.left_of(text, f"{day}T00:00:00.000Z" if day else _EVER):
        return entry
    return replace(sealed(replace(entry, state=HIDDEN)), stamp=file.stamp)


def _as_kept(text: str) -> str:
    """A text as OpenViking gives it back: without what it takes for fields of its own, wherever that stands."""
    return "\n".join(line.rstrip() for line in _OPENVIKINGS_OWN.sub("", text).strip().split("\n"))
