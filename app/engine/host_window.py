"""The host's window beside `/assemble`: estimates corrected by what was really used, and when to flush."""

from dataclasses import dataclass, field

import structlog

from app.core.deadline import Deadline
from app.core.history.window import Flush, FlushRules
from app.core.identity import Identity
from app.engine import bounded_waits
from app.errors import SidecarError
from app.ports import TurnStore

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WindowWatch:
    """Keeps an eye on the windows of hosts. A store that is away or late changes nothing in an answer."""

    store: TurnStore
    rules: FlushRules = field(default_factory=FlushRules)

    async def scale(self, who: Identity, deadline: Deadline) -> float:
        """What estimates of this session have to be multiplied with."""
        try:
            return (await bounded_waits.in_time(self.store.window(who), deadline)).scale
        except SidecarError as error:
            log.warning("window_unknown", reason=str(error.code))
            return 1.0

    async def shows(self, who: Identity, tokens: int, token_budget: int, deadline: Deadline) -> Flush | None:
        """Note what the host's window will hold with an answer; a flush when one is due and was not told yet."""
        due_at = self.rules.due_at(token_budget)
        if due_at is None:
            return None
        try:
            if tokens < due_at:
                await bounded_waits.in_time(self.store.note_window(who, tokens), deadline)
                return None
            is_first = await bounded_waits.in_time(self.store.begin_flush(who, tokens, token_budget), deadline)
        except SidecarError as error:
            log.warning("window_not_noted", reason=str(error.code))
            return None
        return Flush() if is_first else None
