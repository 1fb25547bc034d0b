"""Reading a session's archives: search them, and read one page by page, whichever backend keeps them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Deadline
from app.core.history.archived import Archived, Found, Page, find, page
from app.core.identity import Identity
from app.ports import BackendError, ContextBackend

MAX_SEARCHED = 32
"""Archives that one search reads, the newest; older ones are searched by name."""
READS_AT_ONCE = 4
MAX_PAGE_CHARS = 24_000
"""About 6,000 tokens: what one answer may take of a prompt."""
MAX_FOUND = 8


@dataclass(frozen=True, slots=True)
class ArchiveSearch:
    """What a search found. ``searched`` of ``archives`` were read; the others were too old, or not read in time."""

    found: tuple[Found, ...]
    archives: tuple[str, ...]
    searched: int


@dataclass(frozen=True, slots=True)
class ArchivePage:
    """A page of an archive of ``total`` messages. ``page`` is None for an archive that the session does not have."""

    page: Page | None
    total: int
    archives: tuple[str, ...] = ()
    """The archives that there are, where the one asked for is not among them."""


@dataclass(frozen=True, slots=True)
class Archives:
    """The use cases of looking into a session's archives."""

    backend: ContextBackend

    async def search(self, who: Identity, query: str, archive_id: str | None, deadline: Deadline) -> ArchiveSearch:
        """The archived messages with the words of ``query``, in one archive or in all. Raises `BackendError`.

        An archive that the session does not have is answered with those that it has and nothing found.
        """
        archives = await self.backend.archives(who, deadline)
        wanted = [one for one in archives if archive_id in (None, one)][-MAX_SEARCHED:]
        read = await self._read(who, wanted, deadline)
        found = await asyncio.to_thread(_find, read, query)
        return ArchiveSearch(tuple(found), archives, len(read))

    async def expand(self, who: Identity, archive_id: str, offset: int, limit: int, deadline: Deadline) -> ArchivePage:
        """The original messages of an archive from number ``offset`` on. Raises `BackendError`."""
        archives = await self.backend.archives(who, deadline)
        if archive_id not in archives:
            return ArchivePage(None, 0, archives)
        messages = await self.backend.archived_messages(who, archive_id, deadline)
        shown = await asyncio.to_thread(page, messages, offset, limit, MAX_PAGE_CHARS)
        return ArchivePage(shown, len(messages), archives)

    async def _read(
        self, who: Identity, archive_ids: Sequence[str], deadline: Deadline
    ) -> dict[str, list[CapturedMessage]]:
        """The messages of the archives that can be read in time, oldest first. Raises when not one of them can."""
        places = asyncio.Semaphore(READS_AT_ONCE)

        async def read(archive_id: str) -> list[CapturedMessage] | BackendError:
            async with places:
                try:
                    return await self.backend.archived_messages(who, archive_id, deadline)
                except BackendError as error:
                    return error

        # The newest first: where the time is short, they are what is asked about.
        newest = list(reversed(archive_ids))
        answers = dict(zip(newest, await asyncio.gather(*map(read, newest)), strict=True))
        failed = [answer for answer in answers.values() if isinstance(answer, BackendError)]
        if failed and len(failed) == len(answers):
            raise failed[0]
        return {
            archive_id: answer
            for archive_id in archive_ids
            if not isinstance(answer := answers[archive_id], BackendError)
        }


def _find(read: Mapping[str, Sequence[CapturedMessage]], query: str) -> list[Found]:
    messages = (
        Archived(archive_id, number, message)
        for archive_id, archive in read.items()
        for number, message in enumerate(archive)
    )
    return find(messages, query, MAX_FOUND)
