"""``/assemble``: the past, recall, or both one after the other."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.reasons import BACKEND_TROUBLE, Reason
from app.core.tokens import estimate_tokens
from app.engine.results import AssembleInput, AssembleResult

Step = Callable[[Identity, AssembleInput, Deadline], Awaitable[AssembleResult]]

_TROUBLE = BACKEND_TROUBLE | {Reason.STORE_UNAVAILABLE}


async def assemble_context(
    who: Identity, asked: AssembleInput, phase: str, deadline: Deadline, *, preflight: Step, transform: Step
) -> AssembleResult:
    """Run the phase's steps (contract, "POST /assemble").

    In `full`, recall works on what preflight left, and half of the time is left to it, however late the past is.
    """
    if phase == "preflight":
        return await preflight(who, asked, deadline)
    if phase == "transform":
        return await transform(who, asked, deadline)
    past = await preflight(who, asked, deadline.within_ms(deadline.remaining * 500))
    recalled = await transform(who, replace(asked, messages=past.messages), deadline)
    additions = [text for text in (past.system_prompt_addition, recalled.system_prompt_addition) if text]
    return replace(
        recalled,
        estimated_tokens=recalled.estimated_tokens + estimate_tokens(past.system_prompt_addition or ""),
        assembled=past.assembled or recalled.assembled,
        reason=_reason(past, recalled),
        system_prompt_addition="\n\n".join(additions) or None,
    )


def _reason(past: AssembleResult, recalled: AssembleResult) -> Reason:
    """Trouble is told whatever came out all the same; otherwise one step that did its work is enough."""
    trouble = [step.reason for step in (recalled, past) if step.reason in _TROUBLE]
    if trouble:
        return trouble[0]
    return Reason.OK if past.assembled else recalled.reason
