"""``ov_ls``: what is stored, as a tree."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable

from pydantic import Field

from app.core.injection.fence import neutralise, neutralise_line
from app.core.memories.memory import Memory, MemoryFilter
from app.core.memories.naming import folder_of, home_path, is_at, was_said
from app.tools.memory_lines import details_of, line_of, peers_seen_by
from app.tools.tool import Answer, Arguments, Caller, Mistake, Name, Tool, Uses, quoted

HOME = "viking://~/"
MAX_LISTED = 50
MAX_GLANCE_CHARS = 80
MAX_CHARS = 24_000
"""Longest memory that is shown whole."""


class LsArguments(Arguments):
    """Where to look."""

    uri: Name | None = Field(None, description="A folder or a memory; the whole tree if absent.")


async def run(uses: Uses, caller: Caller, asked: LsArguments) -> Answer:
    """The folders with counts; the memories in a folder; or a memory itself."""
    path = uses.homes.path(asked.uri or HOME, caller.who.tenant)
    if path is None:
        raise _nothing_there()
    seen = MemoryFilter(visible_to=peers_seen_by(caller))
    found = [memory async for memory in _below(path, uses.select_memory.every(caller.who, seen, caller.deadline))]
    if not found:
        if asked.uri is None or path in {"", "memories"}:
            return Answer("Nothing is remembered yet.", {"entries": []})
        raise _nothing_there()
    exact = [memory for memory in found if is_at(memory, path)]
    if exact:
        return _whole(exact)
    folders = Counter(folder_of(memory) for memory in found)
    if len(folders) > 1 or path in {"", "memories"}:
        return _tree(found, folders)
    return _listed(found)


def _nothing_there() -> Mistake:
    return Mistake("There is nothing at this URI. Call ov_ls without one to see what there is.")


async def _below(path: str, memories: AsyncIterator[Memory]) -> AsyncIterator[Memory]:
    async for memory in memories:
        below = not path or is_at(memory, path) or home_path(memory.uri).startswith(f"{path}/")
        if below and not was_said(memory):
            yield memory


def _tree(found: list[Memory], folders: Counter[str]) -> Answer:
    newest: dict[str, Memory] = {}
    for memory in found:
        newest.setdefault(folder_of(memory), memory)
    lines = [
        f"{HOME}{neutralise_line(folder)} ({count}), newest: {_glance(newest[folder])}"
        for folder, count in sorted(folders.items())
    ]
    entries = [{"uri": f"{HOME}{folder}", "count": count} for folder, count in sorted(folders.items())]
    return Answer(quoted("\n".join(lines)), {"entries": entries})


def _listed(found: list[Memory]) -> Answer:
    shown = found[:MAX_LISTED]
    more = len(found) - len(shown)
    lines = "\n".join(f"{line_of(memory)}\n  {neutralise_line(memory.uri)}" for memory in shown)
    rest = f"\n{more} older ones are not shown: find them with memory_recall." if more else ""
    return Answer(f"{quoted(lines)}{rest}", {"entries": _entries(shown), "more": more})


def _whole(found: list[Memory]) -> Answer:
    """What stands at one URI, complete; several statements may stand in one file."""
    texts = [f"[{memory.id}] {memory.created_at[:10]}\n  {neutralise(memory.text)}" for memory in found[:MAX_LISTED]]
    text = "\n".join(texts)
    cut = f"{text[:MAX_CHARS]} ..." if len(text) > MAX_CHARS else text
    return Answer(quoted(cut), {"entries": _entries(found[:MAX_LISTED])})


def _entries(memories: Iterable[Memory]) -> list[dict[str, object]]:
    return [details_of(memory) for memory in memories]


def _glance(memory: Memory) -> str:
    text = neutralise_line(memory.text)
    return text if len(text) <= MAX_GLANCE_CHARS else f"{text[:MAX_GLANCE_CHARS]} ..."


TOOL = Tool(
    name="ov_ls",
    description="List what is stored: all folders with counts, the memories in a folder, or one memory in full.",
    arguments=LsArguments,
    run=run,
)
