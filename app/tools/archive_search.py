"""``ov_archive_search``: find a message of this session that the summary stands for."""

from pydantic import Field

from app.core.history.archived import Found
from app.core.history.summary_message import ARCHIVE_EXPAND, ARCHIVE_SEARCH
from app.core.injection.fence import neutralise_line
from app.core.reasons import Reason
from app.engine.archives import MAX_SEARCHED
from app.tools.tool import Answer, Arguments, Caller, Mistake, Name, Text, Tool, Uses, quoted

NOTHING_ARCHIVED = "Nothing of this conversation is archived yet, so there is nothing to look up."


class ArchiveSearchArguments(Arguments):
    """What is looked for, and where."""

    query: Text = Field(description="Words that stood in the message.")
    archive_id: Name | None = Field(None, description="Only this archive, such as archive_002.")


async def run(uses: Uses, caller: Caller, asked: ArchiveSearchArguments) -> Answer:
    """The best messages, each with where it stands."""
    has_archives(caller)
    result = await uses.archives.search(caller.who, asked.query, asked.archive_id, caller.deadline)
    if asked.archive_id and asked.archive_id not in result.archives:
        raise unknown_archive(asked.archive_id, result.archives)
    details = {
        "matches": [_located(found) for found in result.found],
        "archives": list(result.archives),
        "searched": result.searched,
    }
    if not result.archives:
        return Answer(NOTHING_ARCHIVED, details)
    rest = _unsearched(result.searched, len(result.archives)) if asked.archive_id is None else ""
    if not result.found:
        return Answer(f"No archived message has these words. Try other words of the same thing.{rest}", details)
    lines = "\n".join(map(_line, result.found))
    more = f"Read around a message with {ARCHIVE_EXPAND}: archiveId, and its number as offset."
    return Answer(f"{quoted(lines)}\n{more}{rest}", details)


TOOL = Tool(
    name=ARCHIVE_SEARCH,
    description=(
        "Search the earlier messages of this conversation that its summary stands for, word for word. "
        "Use it when exact words, code, numbers or tool output of that time matter."
    ),
    arguments=ArchiveSearchArguments,
    run=run,
)


def has_archives(caller: Caller) -> None:
    """Raises `Mistake` for a call that belongs to no session."""
    if not caller.has_session:
        text = "This call belongs to no conversation, so there is no archive to read. Use memory_recall instead."
        raise Mistake(text, Reason.SESSION_NOT_FOUND)


def unknown_archive(archive_id: str, archives: tuple[str, ...]) -> Mistake:
    """The answer to an id that no archive of the session has."""
    if not archives:
        return Mistake(NOTHING_ARCHIVED)
    shown = ", ".join(archives[-20:])
    text = f"There is no archive {neutralise_line(archive_id[:80])!r}. The newest archives are: {shown}."
    return Mistake(text, archives=list(archives))


def _unsearched(searched: int, archives: int) -> str:
    if searched == archives:
        return ""
    why = f"the newest {MAX_SEARCHED}" if archives > MAX_SEARCHED else "those that could be read"
    return f" Only {searched} of {archives} archives were searched, {why}; name an archiveId to search another."


def _line(found: Found) -> str:
    message = found.message
    head = f"- {message.archive_id} [{message.number}] {message.message.role}, {message.message.created_at[:10]}:"
    return f"{head} {found.excerpt}"


def _located(found: Found) -> dict[str, object]:
    message = found.message
    return {
        "archiveId": message.archive_id,
        "index": message.number,
        "role": message.message.role,
        "at": message.message.created_at,
        "score": round(found.score, 3),
    }
