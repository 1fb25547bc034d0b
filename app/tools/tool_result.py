"""``ov_tool_result``: the whole of a tool output that was cut to save space."""

from typing import Annotated

from pydantic import Field

from app.core.history.guards.notices import TOOL_RESULT
from app.core.injection.fence import neutralise_line
from app.core.reasons import Reason
from app.engine.output_reading import OutputPage
from app.tools.tool import Answer, Arguments, Caller, Mistake, Name, Text, Tool, Uses, quoted, up_to

DEFAULT_CHARS = 8_000
MAX_CHARS = 32_000
"""Of one page."""


class ToolResultArguments(Arguments):
    """Which output, and what of it."""

    call_id: Name = Field(description="The callId where the output was cut.")
    offset: int = Field(0, ge=0, description="First character, from 0.")
    limit: Annotated[int, up_to(MAX_CHARS)] = Field(DEFAULT_CHARS, ge=1, le=MAX_CHARS, description="Characters.")
    query: Text | None = Field(None, description="Only lines with these words.")


async def run(uses: Uses, caller: Caller, asked: ToolResultArguments) -> Answer:
    """A page, and how to read on; or the lines with the words of the query, and where each stands."""
    if not caller.has_session:
        text = "This call belongs to no conversation, so there is no output to read. Run the command again."
        raise Mistake(text, Reason.SESSION_NOT_FOUND)
    if asked.query is not None:
        found = await uses.tool_outputs.search(caller.who, asked.call_id, asked.query, asked.limit)
        return _found(found, asked)
    read = await uses.tool_outputs.read(caller.who, asked.call_id, asked.offset, asked.limit)
    if read.page is None:
        raise _missing(read, asked.call_id)
    if asked.offset >= read.total > 0:
        text = f"This output has {read.total} characters, counted from 0: ask for a smaller offset."
        raise Mistake(text, Reason.INVALID_ARGUMENTS, total=read.total)
    end, following = asked.offset + len(read.page.text), read.page.following
    head = f"## Characters {asked.offset} to {end} of {read.total}"
    onward = f"Read on with offset {following}." if following is not None else "This is the end of the output."
    details = {
        "callId": asked.call_id,
        "offset": asked.offset,
        "count": len(read.page.text),
        "total": read.total,
        "nextOffset": following,
        "text": read.page.text,
    }
    shown = quoted(f"{head}\n{read.page.text}")
    return Answer(f"{shown}\n{onward}", details)


TOOL = Tool(
    name=TOOL_RESULT,
    description="Read the whole of a tool output of this conversation that was cut to save space.",
    arguments=ToolResultArguments,
    run=run,
)


def _found(found: OutputPage, asked: ToolResultArguments) -> Answer:
    if found.output is None or found.output.text is None:
        raise _missing(found, asked.call_id)
    details = {
        "callId": asked.call_id,
        "total": found.total,
        "matches": [{"offset": place.offset, "text": place.text} for place in found.places],
    }
    if not found.places:
        return Answer("No line of this output has these words. Try others, or read it by offset.", details)
    lines = "\n".join(f"[{place.offset}] {place.text}" for place in found.places)
    return Answer(f"{quoted(lines)}\nThe numbers are offsets: read around one with offset and limit.", details)


def _missing(read: OutputPage, call_id: str) -> Mistake:
    if read.output is not None:
        return Mistake("This output is not kept any more. Run the command again if it still matters.")
    if not read.others:
        return Mistake("No output of this conversation was cut, so all of them stand there as they are.")
    shown = ", ".join(read.others)
    text = f"No output with the callId {neutralise_line(call_id[:80])!r} was cut. The newest that were are: {shown}."
    return Mistake(text, callIds=list(read.others))
