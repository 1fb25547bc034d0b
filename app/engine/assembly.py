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


ADDITION_SHARE = 0.25
"""A small window is for the conversation."""
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
            return await self._history(who, asked, deadline)
        if asked.phase == "transform":
            return await self.transform.run(who, asked, deadline)
        history = await self._history(who, asked, deadline.within_ms(deadline.remaining * 500))
        recalled = await self.transform.run(who, replace(asked, messages=history.messages), deadline)
        additions = [text for text in (history.system_prompt_addition, recalled.system_prompt_addition) if text]
        return replace(
            recalled,
            estimated_tokens=recalled.estimated_tokens + estimate_tokens(history.system_prompt_addition or ""),
            assembled=history.assembled or recalled.assembled,
            reason=_reason(history, recalled),
            system_prompt_addition="\n\n".join(additions) or None,
        )

    async def _history(self, who: Identity, asked: AssembleInput, deadline: Deadline) -> AssembleResult:
        """What `preflight` makes of the messages, behind what the session began with, within the budget of both."""
        addition = within_budget(asked.session_addition, asked.token_budget)
        if not addition:
            return await self.preflight.run(who, asked, deadline)
        tokens = estimate_tokens(addition)
        history = await self.preflight.run(who, replace(asked, token_budget=asked.token_budget - tokens), deadline)
        additions = filter(None, (addition, history.system_prompt_addition))
        return replace(
            history,
            estimated_tokens=history.estimated_tokens + tokens,
            system_prompt_addition="\n\n".join(additions),
        )


def within_budget(addition: str, token_budget: int) -> str:
    """The addition, unless it would take more than `ADDITION_SHARE` of the prompt."""
    return addition if estimate_tokens(addition) <= token_budget * ADDITION_SHARE else ""


def _reason(history: AssembleResult, recalled: AssembleResult) -> Reason:
    """Trouble is told whatever came out all the same; otherwise one step that did its work is enough."""
    trouble = [step.reason for step in (recalled, history) if step.reason in _TROUBLE]
    if trouble:
        return trouble[0]
    return Reason.OK if history.assembled else recalled.reason
