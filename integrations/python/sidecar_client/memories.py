"""Memories on purpose: listed, searched, read, stored, changed, forgotten, exported and imported."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, cast

from sidecar_client.answers import (
    Action,
    AuditPage,
    Freshness,
    Imported,
    ListedMemory,
    MemoryPage,
    MemoryRecord,
    Receipt,
    Sensitivity,
    State,
    WrittenMemory,
)
from sidecar_client.connection import Connection, quoted

if TYPE_CHECKING:
    from sidecar_client.client import Session


class Filters(TypedDict, total=False):
    """Which memories; moments are ISO 8601, and count from when it was said."""

    query: str
    category: str
    state: State
    peer: str
    since: str
    until: str
    pinned: bool
    session: str


class Change(TypedDict, total=False):
    """What changes of a memory. ``ttlDays`` of None is for good."""

    text: str
    category: str
    pinned: bool
    ttlDays: float | None
    sensitivity: Sensitivity


class Selection(TypedDict, total=False):
    """Exactly one of these; ``until`` goes with ``since``. Older sidecars take the first three."""

    id: str
    uri: str
    query: str
    session: str
    person: str
    since: str
    until: str
    lastDays: float
    everything: Literal[True]


class Memories:
    """`Sidecar.memories`. Every call raises `SidecarError`; an unknown id is ``not_found``."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(self, *, limit: int = 50, cursor: str | None = None, **wanted: Unpack[Filters]) -> MemoryPage:
        """A page of them, newest first; with ``query`` those that it is about, best first, on one page."""
        pinned = wanted.get("pinned")
        params: dict[str, Any] = {**wanted, "pinned": None if pinned is None else str(pinned).lower()}
        found: MemoryPage = self._connection.call(
            "GET", "/memories", params={**params, "limit": limit, "cursor": cursor}
        )
        return found

    def every(self, **wanted: Unpack[Filters]) -> Iterator[ListedMemory]:
        """All of them, page by page."""
        cursor: str | None = None
        while True:
            page = self.page(limit=200, cursor=cursor, **wanted)
            yield from page["memories"]
            if (cursor := page["nextCursor"]) is None:
                return

    def read(self, memory_id: str) -> MemoryRecord:
        """One with its history."""
        found: MemoryRecord = self._connection.call("GET", _path(memory_id))
        return found

    def store(
        self,
        text: str,
        *,
        category: str | None = None,
        key: str | None = None,
        importance: Literal["normal", "high"] | None = None,
        ttl_days: float | None = None,
        sensitivity: Sensitivity | None = None,
        pinned: bool | None = None,
        session: "Session | None" = None,
        for_peer: bool = False,
    ) -> WrittenMemory:
        """On disk when it returns, and recalled from then on, in any session.

        The same text again confirms the memory. Another text under a ``key`` takes the place of the former one.
        ``for_peer``: it belongs to the agent or sender of ``session``, as recall routes them.
        """
        said = {
            "text": text,
            "category": category,
            "key": key,
            "importance": importance,
            "ttlDays": ttl_days,
            "sensitivity": sensitivity,
            "pinned": pinned,
            "for": "peer" if for_peer else None,
        }
        body = {name: value for name, value in said.items() if value is not None}
        scope = session.scope() if session else {}
        stored: WrittenMemory = self._connection.ask("/memories", {**scope, **body})
        return stored

    def change(self, memory_id: str, change: Change, *, if_version: int | None = None) -> WrittenMemory:
        """Change it; the old text is recalled no more. ``version_conflict`` when it is not at ``if_version``."""
        headers = {"If-Match": f'"{if_version}"'} if if_version is not None else {}
        changed: WrittenMemory = self._connection.call("PATCH", _path(memory_id), json=change, headers=headers)
        return changed

    def forget(self, memory_id: str, *, timeout: float = 60.0) -> Receipt:
        """Forget one, within ``timeout`` seconds. ``kept`` of the receipt names what was not reached."""
        receipt: Receipt = self._connection.call("DELETE", _path(memory_id), timeout=timeout)
        return receipt

    def forget_selected(self, selection: Selection, *, dry_run: bool = True, timeout: float = 60.0) -> Receipt:
        """Forget what is selected, or say what would be. ``ambiguous`` with candidates when several could be meant.

        What takes longer than ``timeout`` seconds is an error that is not final: the sidecar goes on with it.
        """
        body = {**selection, "dryRun": dry_run}
        receipt: Receipt = self._connection.ask("/memories/forget", body, timeout=timeout)
        return receipt

    def audit(
        self,
        memory_id: str | None = None,
        *,
        action: Action | None = None,
        since: str | None = None,
        until: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> AuditPage:
        """Who did what with which memory, and when; newest first."""
        params = {"memoryId": memory_id, "action": action, "since": since, "until": until}
        page: AuditPage = self._connection.call("GET", "/audit", params={**params, "limit": limit, "cursor": cursor})
        return page

    def freshness(self) -> Freshness:
        """What the last check found: what is over, old, unconfirmed, said twice, or said otherwise since."""
        found: Freshness = self._connection.call("GET", "/memories/freshness")
        return found

    def check_freshness(self, *, timeout: float = 120.0) -> Freshness:
        """Check now, within ``timeout`` seconds; what that changes stands in the history of each memory."""
        found: Freshness = self._connection.ask("/memories/freshness", {}, timeout=timeout)
        return found

    def export(self) -> Iterator[str]:
        """All with their history, a JSON object a line: what `take_in` takes."""
        return self._connection.lines("/memories/export")

    def take_in(self, lines: Iterable[str], *, timeout: float = 180.0) -> Imported:
        """Import what `export` gave: ids, times and history are kept, what is there already is left alone.

        After ``timeout`` seconds it is an error that is not final: send the same again.
        """
        body = "\n".join(lines).encode("utf-8", "surrogatepass")
        headers: Mapping[str, str] = {"Content-Type": "application/x-ndjson"}
        done = self._connection.call("POST", "/memories/import", content=body, headers=headers, timeout=timeout)
        return cast(Imported, done)


def _path(memory_id: str) -> str:
    return f"/memories/{quoted(memory_id)}"
