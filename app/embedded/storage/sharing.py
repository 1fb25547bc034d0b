"""What the agents of one user share, as on OpenViking: profile, entities and experiences are the user's own,
preferences, events and turns belong to the peer that they were told to. Of persons only experiences are shared: what
one of them said is nobody else's.

Before these rules a peer kept everything; `move_shared` brings what such a directory holds to its place.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from app.atrest.vault import PLAIN, Vault
from app.embedded.extraction.rules import statement_in
from app.embedded.storage.record_lines import read_records, write_records
from app.embedded.storage.record_versions import Claim, merge
from app.embedded.storage.records import Record

OF_A_PEER = frozenset({"preferences", "events"})
"""Categories whose memories are kept below an agent; the others are every agent's."""
_MOVED = ".shared"
"""Beside the memories of a user: everything there follows the rules, and nothing is to be moved."""


def keeper(file: str, peer: str | None, *, of_person: bool) -> str | None:
    """The peer below which a memory ``file`` (relative to the memories) of ``peer`` is kept; None is the user."""
    return peer if of_person or file.partition("/")[0] in OF_A_PEER else None


def move_shared_once(root: Path, vault: Vault) -> None:
    """`move_shared` for a directory from before the rules: later, what stands below a peer is meant to."""
    if not (root / _MOVED).exists():
        move_shared(root, vault)
        PLAIN.write_atomic(root / _MOVED, b"")


def move_shared(root: Path, vault: Vault) -> None:
    """Move what peers of the user at ``root`` keep and every peer may see to the user's own memories.

    Records go, and a person's own lines stay where they were written. Call it with the lock held; a crash in between
    leaves a record in both places, and the next call ends what was begun.
    """
    found = sorted(_records(root, vault), key=lambda entry: entry[1].source.observed_at)
    for source, record in found:
        target = root / "memories" / source.relative_to(_memories_of(root, source))
        title, body, records = _read(target, vault)
        if not records:
            title = _read(source, vault)[0]
        merged = merge(records, *_read_again(record))
        if merged != records:
            vault.write_atomic(target, write_records(title, merged, body).encode("utf-8", "replace"))
    for source in dict.fromkeys(source for source, _ in found):
        _keep_own_lines(source, vault)


def _records(root: Path, vault: Vault) -> Iterator[tuple[Path, Record]]:
    for memories in sorted((root / "peers").glob("*/memories")):
        for path in sorted([*memories.glob("profile.md"), *memories.glob("entities/**/*.md")]):
            if not path.name.startswith("stored-"):  # it was stored on purpose, for this peer
                yield from ((path, record) for record in _read(path, vault)[2])


def _memories_of(root: Path, path: Path) -> Path:
    return root.joinpath(*path.relative_to(root).parts[:3])


def _read(path: Path, vault: Vault) -> tuple[str, str, list[Record]]:
    """Title, body and records of a file; of one that is not there, none."""
    try:
        body, records = read_records(vault.read_text(path))
    except FileNotFoundError:
        return path.stem, "", []
    heading = next((line for line in body.splitlines() if line.startswith("# ")), f"# {path.stem}")
    return heading.removeprefix("# "), body, records


def _read_again(record: Record) -> tuple[Record, Claim]:
    """The record with what today's rules make of its statement; one that they do not know replaces nothing."""
    stated = statement_in(record.value, "1970-01-01")
    if stated and stated[0].type == record.type and record.type == "profile":
        return replace(record, key=stated[0].key), stated[0].claim
    return record, Claim(replaces=record.type != "profile")


def _keep_own_lines(path: Path, vault: Vault) -> None:
    """Take the records out of a file, and the file away when nothing of a person's is in it."""
    title, body, records = _read(path, vault)
    values = {record.value for record in records}
    own = [line for line in body.splitlines() if line.strip().removeprefix("- ").strip() not in values]
    if any(line.strip() and line.strip() != f"# {title}" for line in own):
        vault.write_atomic(path, ("\n".join(own).rstrip() + "\n").encode("utf-8", "replace"))
    else:
        path.unlink(missing_ok=True)
