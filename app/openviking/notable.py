"""What recall must not show as OpenViking has it: texts that were changed, superseded or forgotten. Pure.

OpenViking finds what stands in its files and its index. The ledger knows better: a file may not be written yet, a
statement may stand in several files, and an extraction may bring back what was forgotten.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.core.memories.memory import Memory
from app.core.memories.withholding import Withholding
from app.core.recall.hits import Hit
from app.openviking.file_statements import edited
from app.openviking.ledger_changes import sealed
from app.openviking.ledger_entries import (
    FORGOTTEN,
    LIVE,
    SUPERSEDED,
    hash_of,
    is_live,
    is_own,
    memory_of,
    old_hashes,
    text_of,
)
from app.openviking.remote_files import canonical
from app.ports import LedgerEntry
from app.text.dates import moment_of
from app.text.sentences import sentences

_IN_ITS_FILE = frozenset({LIVE, SUPERSEDED, FORGOTTEN})
EVER = "1970-01-01T00:00:00.000Z"
"""When something was said whose time is not known: before anything that was forgotten."""


@dataclass(slots=True)
class Notable:
    """One tenant's entries that are not plain, as of a version of the tenant's memories."""

    version: int
    entries: Sequence[LedgerEntry]
    withholding: Withholding
    _by_uri: dict[str, list[LedgerEntry]] = field(init=False)

    def __post_init__(self) -> None:
        self._by_uri = defaultdict(list)
        for entry in self.entries:
            self._by_uri[entry.uri].append(entry)
            withhold(self.withholding, entry)

    def undelivered(self, now: str) -> list[Memory]:
        """The live ones that OpenViking does not have as they are."""
        return [memory_of(one, now) for one in self.entries if is_live(one, now) and _is_here(one)]

    def shown(self, hit: Hit, now: str) -> Hit | None:
        """The hit as it may be shown; None where nothing of it may. What a file of the sidecar's own says was written
        on purpose, and only its own entry counts."""
        uri = canonical(hit.uri)
        text = hit.text
        for entry in self._by_uri.get(uri, ()):
            if is_own(entry):
                return _shown_own(entry, hit, now)
            text = _without_old(entry, uri, text, now)
        left = self.withholding.left_of(text, hit.updated_at or EVER)
        return hit._replace(text=left) if left else None


def withhold(withholding: Withholding, entry: LedgerEntry) -> None:
    """Add what the entry withholds."""
    for one in entry.fields.get("withheld", ()):
        at = moment_of(one["at"])
        for words in one["sentences"] if at else ():
            withholding.add(words, at.timestamp() if at else 0.0)


def said_again(entry: LedgerEntry, texts: Mapping[str, str], withholding: Withholding) -> LedgerEntry:
    """The entry once somebody has said again, in ``texts`` (when it was said, by text), what it withholds."""
    withheld = entry.fields.get("withheld", ())
    told = [(said_at, set(words)) for text, said_at in texts.items() for words in withholding.hashed(text)]
    left = [one for one in withheld if not any(at > one["at"] and _says(words, one) for at, words in told)]
    if len(left) == len(withheld):
        return entry
    fields = {**entry.fields, "withheld": left}
    text_hash = "" if entry.state in {FORGOTTEN, SUPERSEDED} else entry.text_hash
    return sealed(replace(entry, fields=fields, text_hash=text_hash))


def says_withheld(withholding: Withholding, text: str) -> bool:
    """Whether a sentence of ``text`` says something that is withheld."""
    return any(not withholding.left_of(one, EVER) for one in sentences(text))


def _says(words: set[str], withheld: Mapping[str, Sequence[Sequence[str]]]) -> bool:
    return any(set(one) <= words for one in withheld["sentences"])


def _is_here(entry: LedgerEntry) -> bool:
    return not entry.settled or bool(entry.fields.get("refused"))


def _shown_own(entry: LedgerEntry, hit: Hit, now: str) -> Hit | None:
    if not is_live(entry, now) or _is_here(entry):
        return None
    return hit._replace(text=text_of(entry)) if hash_of(hit.text) in old_hashes(entry) else hit


def _without_old(entry: LedgerEntry, uri: str, text: str, now: str) -> str:
    """The text of a file without the statement, or the earlier ones, of one of its entries."""
    live = is_live(entry, now) and not _is_here(entry)
    for was in sorted(old_hashes(entry)):
        text = edited(uri, text, was, text_of(entry) if live else None)
    if not live and entry.state in _IN_ITS_FILE and entry.text_hash:
        text = edited(uri, text, entry.text_hash, None)
    return text
