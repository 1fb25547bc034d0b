"""``/assemble``: the history, recall, or both one after the other."""

from dataclasses import dataclass, replace
from typing import Protocol

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.messages.tokens import estimate_tokens
from app.core.reasons import BACKEND_TROUBLE, Reason
from app.engine.results import AssembleInput, AssembleResult


class Step(Protocol):
    """One of the two use cases that `/assemble` is made of."""

    async def run(self, who: Identity, asked: AssembleInput, deadline: Deadline) -> AssembleResult:
        """What the step makes of the messages; it never raises for a backend."""
        ...


_TROUBLE = BACKEND_TROUBLE | {Reason.STORE_UNAVAILABLE}


@dataclass(frozen=True, slots=True)
class Assemble:
    """The use case of `/assemble`."""

    preflight: Step
    transform: Step

    async def run(self, who: Identity, asked: AssembleInput, deadline: Deadline) -> AssembleResult:
        """Run the phase's steps (contract, "POST /assemble").

        In `full`, recall works on what preflight left, and half of the time is left to it, however late the history is.
        """
        if asked.phase == "preflight":
            return await self.preflight.run(who, asked, deadline)
        if asked.phase == "transform":
            return await self.transform.run(who, asked, deadline)
        history = await self.preflight.run(who, asked, deadline.within_ms(deadline.remaining * 500))
        recalled = await self.transform.run(who, replace(asked, messages=history.messages), deadline)
        additions = [text for text in (history.system_prompt_addition, recalled.system_prompt_addition) if text]
        return replace(
            recalled,
            estimated_tokens=recalled.estimated_tokens + estimate_tokens(history.system_prompt_addition or ""),
            assembled=history.assembled or recalled.assembled,
            reason=_reason(history, recalled),
            system_prompt_addition="\n\n".join(additions) or None,
        )


def _reason(history: AssembleResult, recalled: AssembleResult) -> Reason:
    """Trouble is told whatever came out all the same; otherwise one step that did its work is enough."""
    trouble = [step.reason for step in (recalled, history) if step.reason in _TROUBLE]
    if trouble:
        return trouble[0]
    return Reason.OK if history.assembled else recalled.reason
