"""Documents and skills on an OpenViking server: uploaded, indexed, found, deleted.

Only bytes that were read here are sent: never a path of anybody's machine, and never a URL for OpenViking to fetch.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import anyio

from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.core.reasons import Reason
from app.core.recall.hits import Hit
from app.documents.resource import HOME, Kind
from app.openviking import hit_answers, task_answers
from app.openviking.call_errors import Garbage, Lane, Operation
from app.openviking.calls import Calls
from app.openviking.gateway import File
from app.ports import BackendError, CommitState

POLL_S = 0.1
MAX_POLL_S = 1.0
"""A task is looked at in growing pauses."""
MAX_DETAIL_CHARS = 300
HITS_PER_SKILL = 4
"""OpenViking finds a skill by its summary, its overview and each of its files."""

_UPLOAD = Operation("upload", lane=Lane.RESOURCES, writes=True, of_session=False)
_ADD = Operation("add_resource", lane=Lane.RESOURCES, writes=True, of_session=False)
_ADD_SKILL = Operation("add_skill", lane=Lane.RESOURCES, writes=True, of_session=False)
_DELETE = Operation("delete_resource", lane=Lane.RESOURCES, writes=True, of_session=False)
_TASK = Operation("resource_task", lane=Lane.RESOURCES, of_session=False)
_FIND = Operation("find", lane=Lane.SEARCH, of_session=False)


class RemoteResources:
    """What a tenant has there, for its own user. Every failure is a `BackendError`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def put(self, tenant: Tenant, folder: str, archive: bytes, deadline: Deadline) -> None:
        """Make ``folder`` (below the home) what the zip holds, as it is; it is indexed when this returns.

        Safe to repeat: what is there already is left alone.
        """
        upload = await self._uploaded(tenant, archive, deadline)
        body = {
            "temp_file_id": upload,
            "to": HOME + folder,
            "preserve_structure": True,
            "processing_mode": "vectors_only",
            "args": {"parse_mode": "no_split"},
            "wait": False,
        }
        task = await self._calls.make(_ADD, _user(tenant), "POST", "/api/v1/resources", _task_of, deadline, body=body)
        await self._finished(tenant, task, deadline)

    async def put_skill(self, tenant: Tenant, text: str, archive: bytes | None, deadline: Deadline) -> None:
        """Make the skill what the SKILL.md says, or the zip with it where there are more files; then it is indexed."""
        upload = await self._uploaded(tenant, archive, deadline) if archive else None
        body = {"wait": False, **({"temp_file_id": upload} if upload else {"data": text})}
        path = "/api/v1/skills"
        task = await self._calls.make(_ADD_SKILL, _user(tenant), "POST", path, _task_of, deadline, body=body)
        await self._finished(tenant, task, deadline)

    async def delete(self, tenant: Tenant, folder: str, deadline: Deadline) -> None:
        """Delete a folder below the home with all that is in it; that there is none is no error."""
        params = {"uri": HOME + folder, "recursive": "true"}
        await self._deleted(tenant, "/api/v1/fs", params, deadline)

    async def delete_skill(self, tenant: Tenant, name: str, deadline: Deadline) -> None:
        """Delete a skill; that there is none is no error."""
        await self._deleted(tenant, f"/api/v1/skills/{name}", None, deadline)

    async def find(self, tenant: Tenant, query: str, kind: Kind, limit: int, deadline: Deadline) -> list[Hit]:
        """The best files of a kind among the user's own, best first, with what stands in them."""
        is_skill = kind is Kind.SKILL
        most = max(1, limit) * (HITS_PER_SKILL if is_skill else 1)
        body: dict[str, Any] = {"query": query, "limit": most, "target_uri": HOME + kind.folder}
        body |= {} if is_skill else {"read_content": True, "level": hit_answers.LEAF}

        def parse(result: Any) -> Sequence[Hit]:
            return hit_answers.documents_found(result, kind.folder)

        path = "/api/v1/search/find"
        return list(await self._calls.make(_FIND, _user(tenant), "POST", path, parse, deadline, body=body))

    async def _uploaded(self, tenant: Tenant, archive: bytes, deadline: Deadline) -> str:
        file = File("documents.zip", archive)
        path = "/api/v1/resources/temp_upload"
        return await self._calls.make(_UPLOAD, _user(tenant), "POST", path, _upload_id, deadline, file=file)

    async def _deleted(self, tenant: Tenant, path: str, params: dict[str, str] | None, deadline: Deadline) -> None:
        try:
            await self._calls.make(_DELETE, _user(tenant), "DELETE", path, lambda _: None, deadline, params=params)
        except BackendError as error:
            if not error.not_found:
                raise

    async def _finished(self, tenant: Tenant, task: str, deadline: Deadline) -> None:
        pause = POLL_S
        while True:
            path = f"/api/v1/tasks/{quote(task, safe='')}"
            status = await self._calls.optional(_TASK, _user(tenant), path, task_answers.taken_in, deadline)
            if status is None:
                raise _not_taken_in("it does not know the task any more")
            if status.state is CommitState.COMPLETED:
                return
            if status.state is CommitState.FAILED:
                raise _not_taken_in(status.error or "it does not say why")
            if deadline.expired:
                late = "OpenViking is still taking the documents in"
                raise BackendError(Reason.DEADLINE_EXCEEDED, late, retryable=True)
            await anyio.sleep(min(pause, deadline.remaining))
            pause = min(pause * 2, MAX_POLL_S)


def _not_taken_in(why: str) -> BackendError:
    detail = f"OpenViking could not take the documents in: {why}"[:MAX_DETAIL_CHARS]
    return BackendError(Reason.OPENVIKING_UNAVAILABLE, detail, retryable=True)


def _user(tenant: Tenant) -> Identity:
    return Identity(tenant, "", None, "", None, PeerRole.NONE)


def _upload_id(result: Any) -> str:
    return _text(result, "temp_file_id")


def _task_of(result: Any) -> str:
    return _text(result, "task_id")


def _text(result: Any, key: str) -> str:
    found = result.get(key) if isinstance(result, dict) else None
    if not isinstance(found, str) or not found:
        raise Garbage(f"no {key}")
    return found
