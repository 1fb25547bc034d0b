"""``memory_recall``: search long-term memory."""

from typing import Annotated

from pydantic import Field

from app.core.injection.inject import TOOL_NAME
from app.core.memories.memory import MemoryFilter
from app.engine.memories.browsing import MemoryListing
from app.tools.memory_lines import details_of, lines_of, moment, peers_seen_by
from app.tools.tool import Answer, Arguments, Caller, Name, Text, Tool, Uses, up_to

DEFAULT_FOUND = 8
MAX_FOUND = 20


class RecallArguments(Arguments):
    """What is looked for."""

    query: Text = Field(description="What you want to know.")
    category: Name | None = Field(None, description="Only profile, preferences, entities, events, notes, ...")
    since: Name | None = Field(None, description="From this date on (2026-03-04).")
    until: Name | None = Field(None, description="Up to this date.")
    limit: Annotated[int, up_to(MAX_FOUND)] = Field(DEFAULT_FOUND, ge=1, le=MAX_FOUND)


async def run(uses: Uses, caller: Caller, asked: RecallArguments) -> Answer:
    """The memories about the query, best first, a line each."""
    wanted = MemoryFilter(
        category=asked.category.lower() if asked.category else None,
        visible_to=peers_seen_by(caller),
        since=moment("since", asked.since),
        until=moment("until", asked.until, ends=True),
    )
    found = await uses.list_memories.run(
        caller.who, MemoryListing(wanted, query=asked.query, limit=asked.limit), caller.deadline
    )
    scores = found.scores or ()
    details = {"memories": [details_of(one, score) for one, score in zip(found.memories, scores, strict=True)]}
    if not found.memories:
        narrowed = asked.category or asked.since or asked.until
        hint = " Try it without category and dates." if narrowed else ""
        return Answer(f"Nothing is remembered about this.{hint}", details)
    return Answer(lines_of(found.memories), details)


TOOL = Tool(
    name="memory_recall",
    alias=TOOL_NAME,
    description=(
        "Search what is remembered from all earlier conversations: facts, preferences, decisions, events. "
        "Use it before you say that you do not know."
    ),
    arguments=RecallArguments,
    run=run,
)
