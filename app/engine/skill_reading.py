"""What is remembered of the skill that an agent reads, for the block behind the file's own text."""

from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import structlog

from app.core.capture.skill_uses import SkillRecord, skill_texts, skill_without
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole
from app.core.injection.session_start.section import ChatType
from app.core.injection.skill_memory import skill_text
from app.core.recall.hits import Hit
from app.engine import bounded_waits
from app.engine.policy.applying import under
from app.errors import StoreUnavailable
from app.policy.policy import Policy

CATEGORY = "skills"
SCHEME = "skill://"
"""Of the URI that names a skill's memory in answers and traces."""

log = structlog.get_logger(__name__)


class SkillUses(Protocol):
    """What is remembered of skills; see `app.store.use_rows`."""

    async def skill(self, who: Identity, name: str) -> SkillRecord | None:
        """What is remembered of a skill that the agent has used. Raises `StoreUnavailable`."""
        ...


@dataclass(frozen=True, slots=True)
class ReadSkillMemory:
    """The use case: looks a skill up for the agent that reads it."""

    uses: SkillUses
    enabled: bool = True
    policy: Policy = field(default_factory=Policy)

    async def run(
        self, who: Identity, skill: str, chat: ChatType, deadline: Deadline, *, bypassed: bool = False
    ) -> Hit | None:
        """The memory as a hit whose text is its section; None for a skill that was never used, and without the store.

        Where persons are kept apart the counts alone are told. A rule of the policy holds for what was kept before it.
        """
        if not self.enabled or bypassed or not skill:
            return None
        try:
            record = await bounded_waits.in_time(self.uses.skill(who, skill), deadline)
        except StoreUnavailable as error:
            log.warning("skill_memory_unread", reason=str(error.code))
            return None
        if record is None:
            return None
        if who.peer_role is PeerRole.PERSON:
            record = skill_without(record, frozenset(skill_texts(record)))
        text = skill_text(record, private=chat is ChatType.PRIVATE)
        shown = await under(self.policy, partial(self.policy.text, text), text)
        return Hit(f"{SCHEME}{skill}", shown, (record.uses - record.failures) / record.uses, category=CATEGORY)
