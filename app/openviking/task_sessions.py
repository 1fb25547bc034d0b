"""Sessions of scheduled runs and sub-agents: they teach experiences, and nothing of them becomes personal memory.

OpenViking 0.5.2 takes the types of memories that a session may become when it is made, and neither later nor with a
commit. So such a session is made with them before its first message, and one that was made without is never committed.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from app.core.deadline import Deadline
from app.core.identity import TASK_KINDS, Identity
from app.openviking import session_answers
from app.openviking.call_errors import Operation
from app.openviking.calls import Calls
from app.ports import BackendError

TYPES = frozenset({"cases", "trajectories", "experiences"})
"""What OpenViking's agent evolution writes."""
NOT_RESTRICTED = "not_restricted_to_experiences"
MAX_KNOWN = 2_000

_MAKE = Operation("make_session", writes=True)
_LOOK = Operation("session")


class TaskSessions:
    """Makes them, and says which may be committed. ``teaches``: whether they are to teach at all."""

    def __init__(self, calls: Calls, *, teaches: bool) -> None:
        self._calls = calls
        self._teaches = teaches
        self._made: OrderedDict[tuple[str, str], None] = OrderedDict()

    def has(self, who: Identity) -> bool:
        """Whether it is one of them."""
        return self._teaches and who.kind in TASK_KINDS

    async def make(self, who: Identity, deadline: Deadline) -> None:
        """Make the session, unless it is there. Raises `BackendError` when that is to be tried again."""
        name = (who.account_key, who.session)
        if name in self._made:
            return
        policy: Mapping[str, Any] = {"memory_types": sorted(TYPES), "working_memory": {"enabled": True}}
        body = {"session_id": who.session, "memory_policy": policy}
        try:
            await self._calls.make(_MAKE, who, "POST", "/api/v1/sessions", lambda _: None, deadline, body=body)
        except BackendError as error:
            if error.retryable:
                raise
            # It is there, or this server has no such types: `may_commit` looks.
        self._made[name] = None
        while len(self._made) > MAX_KNOWN:
            self._made.popitem(last=False)

    async def may_commit(self, who: Identity, deadline: Deadline) -> bool:
        """Whether nothing but experiences can come of the session. Raises `BackendError`."""
        path = f"/api/v1/sessions/{quote(who.session, safe='')}"
        types = await self._calls.optional(_LOOK, who, path, session_answers.memory_types, deadline)
        return types is not None and types <= TYPES
