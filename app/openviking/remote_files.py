"""The files of a user's memories on an OpenViking server: listed, read, written, deleted.

OpenViking has no compare-and-swap and takes whatever comes last; who writes what is decided in
`app.openviking.openviking_memories`.
All calls are made for the user, not for a peer: what a peer may see is for the caller to say.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.core.memories.naming import home_path
from app.core.recall.hits import MACHINE_RECORDS
from app.openviking import hit_answers
from app.openviking.call_errors import Garbage, Lane, Operation
from app.openviking.calls import Calls
from app.ports import BackendError

HOME = "viking://~/"
PERSONA = frozenset({"soul", "identity"})
"""What the agent is like, from OpenViking's templates: no statements about a person."""
MOST_LISTED = 200_000
DEEPEST = 16
"""Levels of folders that are looked into: events stand in one for each day."""
FEW = 16
"""So many files are read one by one; more of them by one search for every line that there is."""

_LIST = Operation("list_memories", of_session=False)
_READ = Operation("read_memory", of_session=False)
_WRITE = Operation("write_memory", lane=Lane.MEMORIES, writes=True, of_session=False)
_DELETE = Operation("delete_memory", lane=Lane.MEMORIES, writes=True, of_session=False)
_LOOK = Operation("look_for_text", of_session=False)
_TRAILER = re.compile(r"\n*<!-- MEMORY_FIELDS\n(?:(?!-->)[^\n]*\n)*+-->\s*\Z")


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A file in the listing. ``stamp`` changes when its content does, as far as whole seconds and sizes can tell."""

    uri: str
    stamp: str
    modified_at: str


def canonical(uri: str) -> str:
    """The URI with the home spelled ``~``, whichever way it was."""
    return HOME + home_path(uri)


def home_of(peer: str | None) -> str:
    """Where the memories of the user, or of one of their peers, stand."""
    return f"{HOME}peers/{peer}/memories" if peer else f"{HOME}memories"


def place_of(uri: str) -> tuple[str, str | None]:
    """Category and peer of a canonical URI; an empty category for what is no memory."""
    match uri.removeprefix(HOME).split("/"):
        case ["memories", category, *_]:
            return category.removesuffix(".md"), None
        case ["peers", peer, "memories", category, *_]:
            return category.removesuffix(".md"), peer
    return "", None


def is_memory(uri: str) -> bool:
    """Whether the file holds memories: not OpenViking's own summaries, records of its evolution, or the persona."""
    category, _ = place_of(uri)
    hidden = any(part.startswith(".") for part in uri.removeprefix(HOME).split("/"))
    return bool(category) and not hidden and uri.endswith(".md") and category not in MACHINE_RECORDS | PERSONA


def without_fields(raw: str) -> tuple[str, str]:
    """The text of a file as it is stored, and the trailer in which OpenViking keeps what it knows about it."""
    found = _TRAILER.search(raw)
    return (raw[: found.start()].strip(), found.group()) if found else (raw.strip(), "")


class RemoteFiles:
    """The files, by tenant. Every failure is a `BackendError`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def listing(self, tenant: Tenant, deadline: Deadline) -> dict[str, MemoryFile]:
        """Every file of memories, the peers' among them, by canonical URI."""
        found: dict[str, MemoryFile] = {}
        for folder in ("memories", "peers"):
            params = {
                "uri": HOME + folder,
                "output": "original",
                "node_limit": str(MOST_LISTED),
                "level_limit": str(DEEPEST),
            }
            path, who = "/api/v1/fs/tree", _user(tenant)
            files = await self._calls.optional(_LIST, who, path, _files, deadline, params=params)
            found |= {file.uri: file for file in files or () if is_memory(file.uri)}
        return found

    async def texts(self, tenant: Tenant, uris: Sequence[str], deadline: Deadline) -> dict[str, str]:
        """What stands in these files; one that is gone is left out."""
        if len(uris) > FEW:
            return await self._all_texts(tenant, frozenset(uris), deadline)
        found = {uri: await self.raw(tenant, uri, deadline) for uri in uris}
        return {uri: without_fields(text)[0] for uri, text in found.items() if text is not None}

    async def _all_texts(self, tenant: Tenant, uris: frozenset[str], deadline: Deadline) -> dict[str, str]:
        lines: dict[str, dict[int, str]] = {}
        for folder in ("memories", "peers"):
            for uri, number, line in await self._lines(tenant, HOME + folder, ".", deadline):
                lines.setdefault(uri, {})[number] = line
        return {uri: _text(lines.get(uri, {})) for uri in uris}

    async def raw(self, tenant: Tenant, uri: str, deadline: Deadline) -> str | None:
        """A file as it is stored, with its trailer; None when there is none."""
        params = {"uri": uri, "raw": "true"}
        return await self._calls.optional(
            _READ, _user(tenant), "/api/v1/content/read", hit_answers.text, deadline, params=params
        )

    async def write(self, tenant: Tenant, uri: str, text: str, deadline: Deadline) -> None:
        """Put a text into a file, whatever was there, and wait until a search finds it."""
        body = {"uri": uri, "content": text, "mode": "create", "wait": True}
        await self._calls.make(
            _WRITE, _user(tenant), "POST", "/api/v1/content/write", lambda _: None, deadline, body=body
        )

    async def delete(self, tenant: Tenant, uri: str, deadline: Deadline) -> None:
        """Delete a file; that there is none is no error."""
        params = {"uri": uri, "wait": "true"}
        try:
            await self._calls.make(
                _DELETE, _user(tenant), "DELETE", "/api/v1/fs", lambda _: None, deadline, params=params
            )
        except BackendError as error:
            if not error.not_found:
                raise

    async def holding(self, tenant: Tenant, text: str, deadline: Deadline) -> list[str]:
        """The files of the user, sessions and summaries among them, in which the first line of ``text`` stands."""
        line = next(iter(text.strip().split("\n")))
        found = await self._lines(tenant, HOME.rstrip("/"), re.escape(line), deadline)
        return sorted({uri for uri, _, _ in found})

    async def _lines(self, tenant: Tenant, uri: str, pattern: str, deadline: Deadline) -> list[tuple[str, int, str]]:
        body = {"uri": uri, "pattern": pattern, "node_limit": MOST_LISTED}
        try:
            return await self._calls.make(
                _LOOK, _user(tenant), "POST", "/api/v1/search/grep", _matches, deadline, body=body
            )
        except BackendError as error:
            if error.not_found:
                return []
            raise


def _user(tenant: Tenant) -> Identity:
    return Identity(tenant, "", None, "", None, PeerRole.NONE)


def _files(result: Any) -> list[MemoryFile]:
    if not isinstance(result, list):
        raise Garbage("the listing is not a list")
    if len(result) >= MOST_LISTED:
        raise Garbage("a listing that is longer than was asked for")
    return [_file(item) for item in result if isinstance(item, dict) and not item.get("isDir")]


def _file(item: Mapping[str, Any]) -> MemoryFile:
    uri, size, modified = item.get("uri"), item.get("size"), item.get("modTime")
    if not isinstance(uri, str) or not isinstance(modified, str):
        raise Garbage("a file without URI and time")
    return MemoryFile(canonical(uri), f"{modified} {size}", modified)


def _matches(result: Any) -> list[tuple[str, int, str]]:
    matches = result.get("matches") if isinstance(result, dict) else None
    if not isinstance(matches, list):
        raise Garbage("matches is not a list")
    found = [(one.get("uri"), one.get("line"), one.get("content")) for one in matches if isinstance(one, dict)]
    return [
        (canonical(uri), number, line)
        for uri, number, line in found
        if isinstance(uri, str) and isinstance(number, int) and isinstance(line, str)
    ]


def _text(lines: Mapping[int, str]) -> str:
    """Lines by their numbers from 1; those that are missing are blank."""
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1)).strip()
