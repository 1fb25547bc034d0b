"""Importing documents and skills: gathered, read, accepted on disk, and taken in by the worker."""

import secrets
from base64 import b32encode
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from app.core.deadline import Deadline
from app.core.identity import Tenant
from app.core.memories.naming import Homes
from app.documents.parsed_document import Refusal, Refused
from app.documents.resource import ImportTask, Kind, NoPath, Resource, Status, path_of
from app.engine.memories.collaborators import operator_of
from app.engine.policy.names import shown_path, shown_resource
from app.engine.resources.telling import told_of_resources
from app.errors import BodyTooLarge, FieldProblem, InvalidRequest, ResourceRefused, SidecarError, UnsupportedType
from app.gathering.reader_process import ReadUpload, Upload
from app.ports import ResourceStore, ResourceTasks
from app.text.dates import iso

_ERRORS: Mapping[Refusal, type[SidecarError]] = {
    Refusal.TOO_LARGE: BodyTooLarge,
    Refusal.UNKNOWN_TYPE: UnsupportedType,
    Refusal.UNSAFE: ResourceRefused,
    Refusal.UNREADABLE: ResourceRefused,
}

MAX_DETAIL_CHARS = 400
"""Of what is wrong with an import, or was left out; what it begins and ends with is kept."""


class Reader(Protocol):
    """Reads uploads; see `app.gathering.reader_process.ReaderProcess`."""

    async def read(self, upload: Upload, spool: Path, known: Mapping[str, str]) -> ReadUpload:
        """Read it into a new file. Raises `Refused`."""
        ...


class Importer(Protocol):
    """Carries imports out; see `app.worker.resource_importer`."""

    async def ended(self, tenant: Tenant, task_id: str, deadline: Deadline) -> ImportTask | None:
        """The import once it has ended, or as it is at the deadline; None when there is none."""
        ...


@dataclass(frozen=True, slots=True)
class NewImport:
    """What is asked for."""

    kind: Kind
    gather: Callable[[], Awaitable[Upload]]
    """Gets hold of it. Raises `UrlNotFetched`."""
    source: str
    """Where it comes from, for people."""
    name: str = ""
    """What it is called where the request has no title; the upload's name if empty."""
    title: str = ""
    to: str | None = None
    wait: bool = False


@dataclass(frozen=True, slots=True)
class Imported:
    """How far an import is. Without ``task_id`` everything was stored already as it is."""

    resource: Resource
    task_id: str | None


@dataclass(frozen=True, slots=True)
class _Stored:
    """The digests of what is stored at a path, and the mark (`ResourceTasks.mark`) from before they were read."""

    digests: Mapping[str, str]
    mark: str | None


_WHOLE = _Stored({}, None)
"""Everything is read again."""


class ImportResource:
    """Accepts an import: when it answers, the documents are on disk, read and free of what must not be stored.

    Whatever is wrong with it is said before anything is accepted, and leaves nothing behind. ``rule`` says what may be
    kept of what it is called.
    """

    def __init__(
        self,
        store: ResourceStore,
        tasks: ResourceTasks,
        reader: Reader,
        importer: Importer,
        incoming: Path,
        rule: Callable[[str], str],
        homes: Homes,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._tasks = tasks
        self._reader = reader
        self._importer = importer
        self._incoming = incoming
        self._rule = rule
        self._homes = homes
        self._now = now

    async def run(self, tenant: Tenant, asked: NewImport, deadline: Deadline) -> Imported:
        """Accept it, and ``wait`` for its end until the deadline."""
        rule = self._rule
        if asked.to and shown_path(rule, asked.to) != asked.to:
            raise InvalidRequest(FieldProblem("to", "holds what the policy keeps out of every name"))
        name, source = shown_path(rule, asked.name), shown_path(rule, asked.source)
        asked = replace(asked, name=name, title=rule(asked.title), source=source)
        if asked.kind is Kind.RESOURCE:
            self._path(tenant, asked, asked.name or "upload")  # what is asked for is judged before anything is fetched
        upload = await asked.gather()
        upload = replace(upload, name=rule(upload.name), is_skill=asked.kind is Kind.SKILL)
        with closing(upload.content):
            path, stored = "", _WHOLE
            if asked.kind is Kind.RESOURCE:
                path = self._path(tenant, asked, asked.name or upload.name)
                stored = await self._stored(tenant, path, deadline)
            imported = await self._accepted(tenant, asked, upload, path, stored)
            if imported is None:
                imported = await self._accepted(tenant, asked, upload, path, _WHOLE)
        assert imported is not None  # noqa: S101 - an import that leaves nothing out is always accepted
        if asked.wait and imported.task_id:
            ended = await self._importer.ended(tenant, imported.task_id, deadline)
            return replace(imported, resource=shown_resource(rule, ended.resource if ended else imported.resource))
        return imported

    async def _stored(self, tenant: Tenant, path: str, deadline: Deadline) -> _Stored:
        """What of the path need not be read again: nothing while something else is on its way there."""
        mark = await self._tasks.mark(tenant, path)
        if mark is None:
            return _WHOLE
        with told_of_resources():
            return _Stored(await self._store.digests(operator_of(tenant), path, deadline), mark)

    async def _accepted(
        self, tenant: Tenant, asked: NewImport, upload: Upload, path: str, stored: _Stored
    ) -> Imported | None:
        """Read it, and accept it; None when it leaves out what may have been changed since ``stored`` was read."""
        task_id = f"i_{b32encode(secrets.token_bytes(16)).decode().rstrip('=').lower()}"
        spool = self._incoming / f"{task_id}.jsonl"
        found = await self._read(upload, spool, stored.digests)
        is_accepted = False
        try:
            path = path or self._path(tenant, asked, found.title)
            resource = self._resource(asked, upload, path, found)
            if not found.changed and found.files == len(stored.digests):
                if await self._tasks.mark(tenant, path) != stored.mark:
                    return None
                return Imported(replace(resource, status=Status.READY, detail="nothing has changed"), None)
            as_of = stored.mark if found.changed < found.files else None
            task = ImportTask(task_id, resource, resource.updated_at)
            is_accepted = await self._tasks.put(tenant, task, spool.name, as_of)
            return Imported(resource, task_id) if is_accepted else None
        finally:
            if not is_accepted:
                spool.unlink(missing_ok=True)

    def _resource(self, asked: NewImport, upload: Upload, path: str, found: ReadUpload) -> Resource:
        return Resource(
            path=path,
            kind=asked.kind,
            title=asked.title or (found.title if found.files == 1 or not path else path.rsplit("/", 1)[-1]),
            source=asked.source or upload.name,
            size=found.size,
            updated_at=iso(self._now()),
            status=Status.PROCESSING,
            summary=found.summary,
            detail=_shortened(shown_path(self._rule, _skipped(found))),
        )

    async def _read(self, upload: Upload, spool: Path, known: Mapping[str, str]) -> ReadUpload:
        try:
            return await self._reader.read(upload, spool, known)
        except Refused as refused:
            raise _ERRORS[refused.why](_shortened(shown_path(self._rule, refused.detail))) from refused

    def _path(self, tenant: Tenant, asked: NewImport, name: str) -> str:
        try:
            return path_of(asked.kind, asked.to, name, tenant, self._homes)
        except NoPath as error:
            raise InvalidRequest(FieldProblem("to", str(error))) from error


def _shortened(detail: str) -> str:
    """What is told of an import, after it was masked: a name may be long, and half a value would not be found in it."""
    if len(detail) <= MAX_DETAIL_CHARS:
        return detail
    return f"{detail[: MAX_DETAIL_CHARS // 2]} ... {detail[-MAX_DETAIL_CHARS // 2 :]}"


def _skipped(found: ReadUpload) -> str:
    if not found.skipped_files:
        return ""
    return f"{found.skipped_files} of {found.files + found.skipped_files} files were left out: {found.skipped[0]}"
