"""What a session's archives hold, and how they ended."""

from urllib.parse import quote

from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Deadline
from app.core.identity import Identity
from app.openviking import session_answers
from app.openviking.call_errors import Operation, rejected
from app.openviking.calls import Calls
from app.openviking.recovery import MAX_RECOVERED, beside, with_recovered
from app.ports import BackendError, SessionHistory

MAX_LISTED = 20_000
"""Files in a session's archives, seven to an archive."""
OVERVIEW_TOKENS = 1_000_000

_HISTORY = Operation("past")
_ARCHIVED = Operation("archived_messages")


class SessionArchives:
    """Reads sessions with what is archived of them."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def history(self, who: Identity, token_budget: int, deadline: Deadline) -> SessionHistory:
        """See `ContextBackend.history`.

        OpenViking fills ``token_budget`` with the newest messages first and gives the overview only if it still fits;
        here it comes whatever its size. While a commit runs, its messages are still among the live ones. With archives
        there is a second request for their states, and one more for each failed one; when these fail or are late, the
        overview that is there already serves without what they would add.
        """
        found = await self.context(who, token_budget, deadline)
        if not found.archives:
            return found
        in_time = Deadline(deadline.at - deadline.remaining / 4, deadline.clock) if found.overview else deadline
        try:
            return await self._with_archives(found, who, in_time)
        except BackendError:
            if not found.overview:
                raise
            return found

    async def _with_archives(self, found: SessionHistory, who: Identity, deadline: Deadline) -> SessionHistory:
        """What is ``found``, with the states of the archives and the overviews that stand elsewhere."""
        archives = await self._ended(who, deadline)
        overview, recovered = found.overview, {}
        for archive_id in archives.failed[-MAX_RECOVERED:]:
            if text := await self._overview_beside(who, archive_id, deadline):
                recovered[archive_id] = text
        failed = tuple(archive_id for archive_id in archives.failed if archive_id not in recovered)
        if not overview and archives.completed:
            path = session_path(who, f"/archives/{archives.completed[-1]}")
            overview = await self._calls.optional(_HISTORY, who, path, session_answers.overview, deadline) or ""
        return SessionHistory(
            overview=with_recovered(overview, recovered),
            abstracts=found.abstracts,
            messages=found.messages,
            archives=len(archives.completed) + len(archives.failed) + len(archives.pending),
            failed_archives=len(failed),
            failed_ids=failed,
        )

    async def ids(self, who: Identity, deadline: Deadline) -> tuple[str, ...]:
        """See `ContextBackend.archives`."""
        found = await self._ended(who, deadline)
        return tuple(sorted((*found.completed, *found.failed, *found.pending), key=session_answers.archive_number))

    async def messages(self, who: Identity, archive_id: str, deadline: Deadline) -> list[CapturedMessage]:
        """See `ContextBackend.archived_messages`. Secrets are placeholders and long tool outputs previews by then."""
        if not session_answers.is_archive_id(archive_id):
            raise rejected("not an archive id")
        params = {"uri": f"{session_uri(who)}/history/{archive_id}/messages.jsonl"}
        path = "/api/v1/content/read"
        return await self._calls.make(
            _ARCHIVED, who, "GET", path, session_answers.stored_messages, deadline, params=params
        )

    async def total_messages(self, who: Identity, deadline: Deadline) -> int:
        """How many messages a session ever got; none of an unknown one."""
        path = session_path(who)
        return await self._calls.optional(_HISTORY, who, path, session_answers.total_messages, deadline) or 0

    async def context(self, who: Identity, token_budget: int, deadline: Deadline) -> SessionHistory:
        """What the server shows of a session in one answer."""
        params = {"token_budget": str(max(0, token_budget))}
        return await self._calls.make(
            _HISTORY, who, "GET", session_path(who, "/context"), session_answers.history, deadline, params=params
        )

    async def _ended(self, who: Identity, deadline: Deadline) -> session_answers.Archives:
        params = {
            "uri": f"{session_uri(who)}/history",
            "show_all_hidden": "true",
            "output": "original",
            "node_limit": str(MAX_LISTED),
        }
        listing = await self._calls.optional(
            _HISTORY, who, "/api/v1/fs/tree", session_answers.archives, deadline, params=params
        )
        return listing or session_answers.Archives()

    async def _overview_beside(self, who: Identity, archive_id: str, deadline: Deadline) -> str:
        side = beside(who, archive_id)
        params = {"token_budget": str(OVERVIEW_TOKENS)}
        found = await self._calls.optional(
            _HISTORY, side, session_path(side, "/context"), session_answers.history, deadline, params=params
        )
        return found.overview if found else ""


def session_path(who: Identity, rest: str = "") -> str:
    """The path of a session in OpenViking's HTTP API."""
    return f"/api/v1/sessions/{quote(who.session, safe='')}{rest}"


def session_uri(who: Identity) -> str:
    """Where the session's files stand."""
    return f"viking://~/sessions/{who.session}"
