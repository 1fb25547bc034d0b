"""The addition of a session: what was kept of it while its epoch lasts, else made anew and kept.

Prompt caches live on it staying the same: it is on disk before it is shown, and what changes meanwhile is told at the
next epoch. A forgetting alone takes it back at once.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import structlog

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.injection.session_start.addition import Addition, addition_of
from app.core.injection.session_start.section import ChatType
from app.core.injection.session_start.sections import sections_for
from app.core.reasons import Reason
from app.engine import bounded_waits
from app.engine.policy.applying import under
from app.engine.session_start.reading import ReadFacts
from app.errors import SidecarError
from app.policy.policy import Policy
from app.store.session_starts import KeptAddition, Moment

log = structlog.get_logger(__name__)

MAKING_MS = 10_000
"""Longest time that an addition is made for: it goes on behind a request that could not wait, for the next one."""
TRIES = 4
"""How often it is made when memories change meanwhile."""


class KeptAdditions(Protocol):
    """Where additions are kept; see `app.store.session_starts`. Raises `StoreUnavailable`."""

    async def look(self, who: Identity, chat: ChatType) -> tuple[Moment, KeptAddition | None]:
        """The session's present moment, and what was kept of it."""
        ...

    async def keep(self, who: Identity, chat: ChatType, made_at: Moment, addition: Addition) -> Addition | None:
        """Keep what was made at a moment; None when that is over."""
        ...


@dataclass(frozen=True, slots=True)
class Begun:
    """The addition, empty where there is none, and why it is not as it should be; `Reason.OK` where it is."""

    text: str = ""
    reason: Reason = Reason.OK


@dataclass(slots=True)
class BeginSession:
    """Gives each session its addition. ``names`` are the sections that are switched on."""

    reading: ReadFacts
    kept: KeptAdditions
    names: frozenset[str]
    max_chars: int
    policy: Policy = field(default_factory=Policy)
    on_shown: Callable[[Identity, Sequence[str]], None] = lambda _who, _ids: None
    """Told which memories an addition tells when it is shown for the first time."""
    _making: dict[tuple[Identity, ChatType], "asyncio.Task[Addition]"] = field(default_factory=dict)

    async def run(self, who: Identity, chat: ChatType, deadline: Deadline, *, bypassed: bool = False) -> Begun:
        """The session's addition. Never raises for a backend or a store.

        While one of them is away, or late, what was shown last serves; else there is none, and the reason says why.
        """
        if bypassed:
            return Begun(reason=Reason.SESSION_BYPASSED)
        if not sections_for(self.names, chat):
            return Begun()
        if who.lacks_sender:
            return Begun(reason=Reason.MISSING_SENDER)
        last: KeptAddition | None = None
        try:
            _, last = await bounded_waits.in_time(self.kept.look(who, chat), deadline)
            addition = last.addition if last and last.holds else await self._made_in_time(who, chat, deadline)
        except TimeoutError:
            return await self._instead(last, Reason.DEADLINE_EXCEEDED)
        except SidecarError as error:
            return await self._instead(last, error.code)
        return Begun(await self._shown(addition.text))

    async def aclose(self) -> None:
        """Leave what is being made."""
        making = list(self._making.values())
        for task in making:
            task.cancel()
        await asyncio.gather(*making, return_exceptions=True)

    async def _instead(self, last: KeptAddition | None, reason: Reason) -> Begun:
        log.warning("session_start_incomplete", reason=str(reason), serves_last=last is not None)
        return Begun(await self._shown(last.addition.text) if last else "", reason)

    async def _shown(self, text: str) -> str:
        """What may be shown of it now: a rule may have come since it was kept."""
        return await under(self.policy, partial(self.policy.text, text), text) if text else ""

    async def _made_in_time(self, who: Identity, chat: ChatType, deadline: Deadline) -> Addition:
        """Made once for all requests that ask for it at the same time, and to its end for those that come later."""
        name = (who, chat)
        task = self._making.get(name)
        if task is None:
            task = self._making[name] = asyncio.create_task(self._made(who, chat))
            task.add_done_callback(partial(self._done, name))
        return await asyncio.wait_for(asyncio.shield(task), deadline.remaining)

    def _done(self, name: tuple[Identity, ChatType], task: "asyncio.Task[Addition]") -> None:
        self._making.pop(name, None)
        if not task.cancelled():
            task.exception()  # a caller that still waited has it

    async def _made(self, who: Identity, chat: ChatType) -> Addition:
        """Make it and keep it; again when memories changed meanwhile, for one of them may have been forgotten.

        Raises `TimeoutError` when they do not stop changing: then what was shown last serves.
        """
        deadline = Deadline.after_ms(MAKING_MS)
        sections = sections_for(self.names, chat)
        for _ in range(TRIES):
            moment, _ = await self.kept.look(who, chat)
            facts = await self.reading.run(who, sections, deadline)
            addition = addition_of(sections, facts, self.max_chars)
            kept = await self.kept.keep(who, chat, moment, addition)
            if kept is not None:
                if kept is addition:
                    self.on_shown(who, kept.memory_ids)
                return kept
        raise TimeoutError(f"memories changed {TRIES} times while the addition was made")
