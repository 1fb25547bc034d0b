"""Why experiences never come: OpenViking learns them only where its agent evolution is switched on.

0.5.2 tells users nothing of that switch but in the results of their commits, and admins more than they need to be asked
for. So the newest commit is looked at, whichever process asked for it.
"""

from app.core.deadline import Clock, Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.openviking import task_answers
from app.openviking.call_errors import Lane, Operation
from app.openviking.calls import Calls
from app.ports import BackendError
from app.settings import OpenVikingSettings

ON = "on"
OFF = (
    "off: no experiences are learnt. Set server.agent_evolution.enabled in ov.conf, or have an admin send "
    'PUT /api/v1/admin/agent-evolution {"enabled": true}'
)
UNKNOWN = "unknown: no session was committed yet"
KNOWN_S = 60.0
"""How long an answer serves: health is asked for often, and the switch is seldom moved."""
LOOK_MS = 1_000

_TASKS = Operation("agent_evolution", lane=Lane.SEARCH, of_session=False)
_NEWEST = {"task_type": "session_commit", "status": "completed", "limit": "1"}


class Evolution:
    """Looks whether agent evolution is on, for the user whom the settings name."""

    def __init__(self, settings: OpenVikingSettings, calls: Calls, clock: Clock) -> None:
        named = next(iter(settings.keys()), "-/-") if settings.api_key is None else "-/-"
        self._who = Identity(Tenant.of_key(named), "", None, "", None, PeerRole.NONE)
        self._calls = calls
        self._clock = clock
        self._known: tuple[str, float] | None = None

    async def look(self, deadline: Deadline) -> str:
        """`ON`, `OFF` or `UNKNOWN`. Never raises."""
        if self._known and self._clock() - self._known[1] < KNOWN_S:
            return self._known[0]
        within = deadline.within_ms(LOOK_MS)
        try:
            is_on = await self._calls.optional(
                _TASKS, self._who, "/api/v1/tasks", task_answers.agent_evolution, within, params=_NEWEST
            )
        except BackendError:
            return self._known[0] if self._known else UNKNOWN
        told = UNKNOWN if is_on is None else ON if is_on else OFF
        self._known = (told, self._clock())
        return told
