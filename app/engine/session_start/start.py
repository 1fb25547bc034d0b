"""`/sessions/start`: what the system prompt of a session gets, before its first message."""

from dataclasses import dataclass

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.injection.session_start.section import ChatType
from app.core.json.answers import answer
from app.core.messages.tokens import estimate_tokens
from app.core.reasons import BACKEND_TROUBLE, Reason
from app.engine.assembly import Assemble
from app.engine.results import AssembleInput, Optional
from app.engine.session_start.begin import BeginSession

BEGIN_SHARE = 0.5
"""The part of a request's time that the addition may take; the rest is for the history."""
_TROUBLE = BACKEND_TROUBLE | {Reason.STORE_UNAVAILABLE}


@dataclass(frozen=True, slots=True)
class StartInput:
    """A session's start, without its transport."""

    chat: ChatType
    token_budget: int
    bypassed: bool = False
    reads_archives: bool = False
    """The model has the tools that read what a summary stands for."""


@answer
@dataclass(frozen=True, slots=True)
class StartResult:
    """What the session's system prompt gets."""

    reason: Reason
    estimated_tokens: int = 0
    system_prompt_addition: Optional = None
    """Only when there is one; every `preflight` and `full` of the session answers the same until its epoch ends."""


@dataclass(frozen=True, slots=True)
class StartSession:
    """The use case of `/sessions/start`."""

    begin: BeginSession
    assemble: Assemble

    async def run(self, who: Identity, asked: StartInput, deadline: Deadline) -> StartResult:
        """The addition that `/assemble` would answer now, the guide to a summary included where there is one."""
        if asked.bypassed:
            return StartResult(Reason.SESSION_BYPASSED)
        begun = await self.begin.run(who, asked.chat, deadline.within_ms(deadline.remaining * 1000 * BEGIN_SHARE))
        preflight = AssembleInput(
            (),
            None,
            asked.token_budget,
            phase="preflight",
            reads_archives=asked.reads_archives,
            session_addition=begun.text,
            keeps_cuts=False,
        )
        history = await self.assemble.run(who, preflight, deadline)
        addition = history.system_prompt_addition
        trouble = [reason for reason in (begun.reason, history.reason) if reason in _TROUBLE]
        reason = trouble[0] if trouble else Reason.OK if addition else begun.reason
        if reason is Reason.OK and not addition:
            reason = Reason.NOTHING_TO_SAY
        return StartResult(reason, estimate_tokens(addition or ""), addition)
