"""``ov_search``: search everything that is stored, of whatever kind."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Literal

from pydantic import Field

from app.core.injection.fence import neutralise_line
from app.core.memories.memory import MemoryFilter
from app.documents.resource import Kind
from app.engine.memories.browsing import MemoryListing
from app.ports import Target
from app.tools.memory_lines import details_of, line_of, peers_seen_by
from app.tools.tool import Answer, Arguments, Caller, Text, Tool, Uses, quoted, up_to

Searched = Literal["memories", "resources", "skills"]
DEFAULT_FOUND = 8
MAX_FOUND = 20
MAX_LINE_CHARS = 500


class SearchArguments(Arguments):
    """What is looked for, and among what."""

    query: Text
    kinds: list[Searched] | None = Field(None, min_length=1, max_length=3, description="All kinds if absent.")
    limit: Annotated[int, up_to(MAX_FOUND)] = Field(DEFAULT_FOUND, ge=1, le=MAX_FOUND, description="Of each kind.")


async def run(uses: Uses, caller: Caller, asked: SearchArguments) -> Answer:
    """A section for each kind of which something is found; which kinds had nothing is said."""
    kinds = dict.fromkeys(asked.kinds or _SEARCHES)
    sections: list[str] = []
    details: dict[str, list[dict[str, object]]] = {}
    for kind in kinds:
        lines, details[kind] = await _SEARCHES[kind](uses, caller, asked)
        if lines:
            sections.append(f"## {kind.capitalize()}\n" + "\n".join(lines))
    empty = [kind for kind in kinds if not details[kind]]
    nothing = f"Nothing found among: {', '.join(empty)}." if empty else ""
    return Answer("\n".join(part for part in (quoted(*sections), nothing) if part), details)


Search = Callable[[Uses, Caller, SearchArguments], Awaitable[tuple[list[str], list[dict[str, object]]]]]
"""Lines for the model, and the same for programs."""


async def _memories(uses: Uses, caller: Caller, asked: SearchArguments) -> tuple[list[str], list[dict[str, object]]]:
    wanted = MemoryFilter(visible_to=peers_seen_by(caller))
    found = await uses.list_memories.run(
        caller.who, MemoryListing(wanted, query=asked.query, limit=asked.limit), caller.deadline
    )
    scored = zip(found.memories, found.scores or (), strict=True)
    return [line_of(memory) for memory in found.memories], [details_of(memory, score) for memory, score in scored]


async def _resources(uses: Uses, caller: Caller, asked: SearchArguments) -> tuple[list[str], list[dict[str, object]]]:
    hits = await uses.backend.find(caller.who, asked.query, Target.RESOURCES, asked.limit, caller.deadline)
    lines = [f"- {neutralise_line(hit.shown_uri)}: {neutralise_line(hit.text)[:MAX_LINE_CHARS]}" for hit in hits]
    return lines, [{"uri": hit.shown_uri, "score": round(hit.score, 4)} for hit in hits]


async def _skills(uses: Uses, caller: Caller, asked: SearchArguments) -> tuple[list[str], list[dict[str, object]]]:
    found = await uses.browse_resources.search(caller.who, asked.query, Kind.SKILL, asked.limit, caller.deadline)
    lines = [
        f"- {neutralise_line(one.resource.uri)}: {neutralise_line(one.resource.summary)[:MAX_LINE_CHARS]}"
        for one in found
    ]
    return lines, [{"uri": one.resource.uri, "score": round(one.score, 4)} for one in found]


_SEARCHES: Mapping[Searched, Search] = {"memories": _memories, "resources": _resources, "skills": _skills}


TOOL = Tool(
    name="ov_search",
    description="Search memories, resources (documents) and skills at once. For memories alone use memory_recall.",
    arguments=SearchArguments,
    run=run,
)
