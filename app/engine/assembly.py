"""``/assemble``: the history, recall, or both one after the other."""

from dataclasses import dataclass, replace
from typing import Protocol

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.messages.host_message import Messages, tokens_of
from app.core.messages.providers import STYLES
from app.core.messages.providers.style import Style
from app.core.messages.tokens import estimate_tokens
from app.core.reasons import BACKEND_TROUBLE, Reason
from app.engine.host_window import WindowWatch
from app.engine.preflight import STORE_SHARE
from app.engine.results import AssembleInput, AssembleResult


class Step(Protocol):
    """One of the two use cases that `/assemble` is made of."""

    async def run(self, who: Identity, asked: AssembleInput, deadline: Deadline) -> AssembleResult:
        """What the step makes of the messages; it never raises for a backend."""
        ...


ADDITION_SHARE = 0.25
"""A small window is for the conversation."""
RECALL_SHARE = 0.125
"""Of a prompt, what its history leaves to recall. It is the same on every turn, whether anything is recalled or not:
otherwise the history would be cut at other places (provider caches)."""
_LINES_TOKENS = 40
_GAP = "\n\n"
"""Between two additions to the system prompt."""
_TROUBLE = BACKEND_TROUBLE | {Reason.STORE_UNAVAILABLE}


@dataclass(frozen=True, slots=True)
class Assemble:
    """The use case of `/assemble`."""

    preflight: Step
    transform: Step
    window: WindowWatch | None = None
    """None: estimates are taken as they are, and no flush is told."""
    recall_tokens: int = 0
    """What recall takes of a prompt at the most, about."""

    async def run(self, who: Identity, asked: AssembleInput, deadline: Deadline) -> AssembleResult:
        """Run the phase's steps (contract, "POST /assemble").

        In `full`, recall works on what preflight left, and within the budget; half of the time is left to it, however
        late the history is.
        What the model's provider would refuse is mended around both, where the host asks for it by a ``style``.
        """
        if asked.style is None:
            return await self._assembled(who, asked, deadline)
        style, follows = STYLES[asked.style], asked.prompt_follows
        thinned = tuple(style.thin(asked.messages, follows))
        room = max(1, asked.token_budget - _mending_tokens(style, thinned, follows))
        given = replace(asked, messages=thinned, token_budget=room)
        result = await self._assembled(who, given, deadline)
        return _cleaned(result, style, asked)

    async def _assembled(self, who: Identity, asked: AssembleInput, deadline: Deadline) -> AssembleResult:
        if asked.phase == "transform":
            return await self.transform.run(who, asked, deadline)
        if self.window is None or asked.bypassed:
            return await self._with_history(who, asked, deadline)
        scale = await self.window.scale(who, deadline.within_ms(deadline.remaining * 1000 * STORE_SHARE))
        room = max(1, int(asked.token_budget / scale))
        result = await self._with_history(who, replace(asked, token_budget=room), deadline)
        tokens = round(result.estimated_tokens * scale)
        flush = await self.window.shows(who, tokens, asked.token_budget, deadline)
        return replace(result, estimated_tokens=tokens, flush=flush)

    async def _with_history(self, who: Identity, asked: AssembleInput, deadline: Deadline) -> AssembleResult:
        if asked.phase == "preflight":
            return await self._history(who, asked, deadline)
        reserve = min(int(asked.token_budget * RECALL_SHARE), self.recall_tokens)
        history = await self._history(who, asked, deadline.within_ms(deadline.remaining * 500), reserve)
        added = history.system_prompt_addition
        beside = estimate_tokens(f"{added}{_GAP}") if added else 0
        room = max(0, asked.token_budget - tokens_of(history.messages) - beside)
        rest = replace(asked, messages=history.messages, guards=history.guards, room=room)
        recalled = await self.transform.run(who, rest, deadline)
        additions = [text for text in (history.system_prompt_addition, recalled.system_prompt_addition) if text]
        return replace(
            recalled,
            estimated_tokens=recalled.estimated_tokens + beside,
            assembled=history.assembled or recalled.assembled,
            reason=_reason(history, recalled),
            system_prompt_addition=_GAP.join(additions) or None,
            guards=history.guards,
        )

    async def _history(
        self, who: Identity, asked: AssembleInput, deadline: Deadline, reserve: int = 0
    ) -> AssembleResult:
        """What `preflight` makes of the messages, behind what the session began with, within the budget of both less
        the ``reserve``."""
        addition = within_budget(asked.session_addition, asked.token_budget)
        tokens = estimate_tokens(f"{addition}{_GAP}") if addition else 0
        given = replace(asked, token_budget=asked.token_budget - tokens - reserve)
        history = await self.preflight.run(who, given, deadline)
        if not addition:
            return history
        additions = filter(None, (addition, history.system_prompt_addition))
        return replace(
            history,
            estimated_tokens=history.estimated_tokens + tokens,
            system_prompt_addition=_GAP.join(additions),
        )


def within_budget(addition: str, token_budget: int) -> str:
    """The addition, unless it would take more than `ADDITION_SHARE` of the prompt."""
    return addition if estimate_tokens(addition) <= token_budget * ADDITION_SHARE else ""


def _mending_tokens(style: Style, messages: Messages, prompt_follows: bool) -> int:
    """What cleaning may add to the prompt: answers to calls, and lines between messages that a cut lets meet."""
    cleaned = style.clean(messages, prompt_follows)
    return max(0, tokens_of(cleaned) - tokens_of(messages)) + _LINES_TOKENS if cleaned != list(messages) else 0


def _cleaned(result: AssembleResult, style: Style, asked: AssembleInput) -> AssembleResult:
    """The answer with messages that the provider takes; a passthrough only while they are the host's own."""
    messages = tuple(style.clean(result.messages, asked.prompt_follows))
    if messages == asked.messages:
        return replace(result, messages=messages)
    tokens = result.estimated_tokens + tokens_of(messages) - tokens_of(result.messages)
    reason = result.reason if result.assembled or result.reason in _TROUBLE else Reason.OK
    return replace(result, messages=messages, estimated_tokens=tokens, assembled=True, reason=reason)


def _reason(history: AssembleResult, recalled: AssembleResult) -> Reason:
    """Trouble is told whatever came out all the same; otherwise one step that did its work is enough."""
    trouble = [step.reason for step in (recalled, history) if step.reason in _TROUBLE]
    if trouble:
        return trouble[0]
    return Reason.OK if history.assembled else recalled.reason
