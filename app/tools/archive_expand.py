"""``ov_archive_expand``: read the original messages that a summary stands for."""

from typing import Annotated

from pydantic import Field

from app.core.history.summary_message import ARCHIVE_EXPAND, ARCHIVE_SEARCH
from app.core.reasons import Reason
from app.tools.archive_search import has_archives, unknown_archive
from app.tools.tool import Answer, Arguments, Caller, Mistake, Name, Tool, Uses, quoted, up_to

DEFAULT_MESSAGES = 20
MAX_MESSAGES = 100


class ArchiveExpandArguments(Arguments):
    """Which messages."""

    archive_id: Name = Field(description=f"Such as archive_002; the summary's index and {ARCHIVE_SEARCH} name them.")
    offset: int = Field(0, ge=0, description="Number of the first message, from 0.")
    limit: Annotated[int, up_to(MAX_MESSAGES)] = Field(
        DEFAULT_MESSAGES, ge=1, le=MAX_MESSAGES, description="Messages to read."
    )


async def run(uses: Uses, caller: Caller, asked: ArchiveExpandArguments) -> Answer:
    """A page, and how to read on."""
    has_archives(caller)
    result = await uses.archives.expand(caller.who, asked.archive_id, asked.offset, asked.limit, caller.deadline)
    if result.page is None:
        raise unknown_archive(asked.archive_id, result.archives)
    if asked.offset >= result.total:
        text = f"{asked.archive_id} has {result.total} messages, numbered from 0: ask for a smaller offset."
        raise Mistake(text, Reason.INVALID_ARGUMENTS, total=result.total)
    end, following = asked.offset + result.page.shown, result.page.following
    head = f"## {asked.archive_id}: messages {asked.offset} to {end - 1} of {result.total}"
    onward = f"Read on with offset {following}." if following is not None else "This is the end of the archive."
    details = {
        "archiveId": asked.archive_id,
        "offset": asked.offset,
        "count": result.page.shown,
        "total": result.total,
        "nextOffset": following,
    }
    shown = quoted(f"{head}\n{result.page.text}")
    return Answer(f"{shown}\n{onward}", details)


TOOL = Tool(
    name=ARCHIVE_EXPAND,
    description="Read the original messages of an archive of this conversation, oldest first, a page at a time.",
    arguments=ArchiveExpandArguments,
    run=run,
)
