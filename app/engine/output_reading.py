"""Reading a tool output that was cut: a page of it, or the places with the words of a query."""

import asyncio
from dataclasses import dataclass, field

from app.core.history.guards.output_pages import Page, Place, find, page
from app.core.history.guards.packing import Original
from app.core.identity import Identity
from app.policy.policy import Policy
from app.ports import TurnStore

MAX_NAMED = 10
"""Other outputs that are named where the one asked for is not there."""


@dataclass(frozen=True, slots=True)
class OutputPage:
    """A page of an output, or what was found in it. ``output`` is None where there is none of this name."""

    output: Original | None
    total: int = 0
    page: Page | None = None
    places: tuple[Place, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolOutputs:
    """The use cases of looking into a session's cut outputs. Raise `StoreUnavailable`."""

    store: TurnStore
    policy: Policy = field(default_factory=Policy)

    async def read(self, who: Identity, ref: str, offset: int, limit: int) -> OutputPage:
        """The characters from ``offset`` on."""
        output = await self._output(who, ref)
        if output is None or output.text is None:
            return await self._missing(who, output)
        return OutputPage(output, len(output.text), page=page(output.text, offset, limit))

    async def search(self, who: Identity, ref: str, query: str, limit: int) -> OutputPage:
        """The lines with most of the query's words, in at most about ``limit`` characters."""
        output = await self._output(who, ref)
        if output is None or output.text is None:
            return await self._missing(who, output)
        places = await asyncio.to_thread(find, output.text, query, limit)
        return OutputPage(output, len(output.text), places=tuple(places))

    async def _output(self, who: Identity, ref: str) -> Original | None:
        """As it may be shown: a rule that is new hides what was stored before."""
        output = await self.store.tool_output(who, ref)
        if output is None or output.text is None or not self.policy.guards:
            return output
        text = await asyncio.to_thread(self.policy.text, output.text)
        return Original(output.ref, output.tool, text)

    async def _missing(self, who: Identity, output: Original | None) -> OutputPage:
        return OutputPage(output, others=await self.store.tool_output_refs(who, MAX_NAMED))
