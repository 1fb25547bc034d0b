"""Giving a failed archive its summary after all.

OpenViking 0.5.2 never tries a failed extraction again and has no call for it; nothing may be written below a session;
and later summaries of the session leave the failed archive's messages out (all observed). So its raw messages go into a
*side session*, whose name follows from session and archive, and that session is committed: its memories become the
user's like any others, and its overview is the summary of the archive. `OpenVikingBackend.history` puts such overviews
beside the session's own, so that no other module needs to know about side sessions.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from app.core.identity import Identity

MAX_RECOVERED = 16
"""Newest failed archives of a session that `history` looks after."""
_STEM_CHARS = 40


def retry_session(session: str, archive_id: str) -> str:
    """The side session for an archive: always the same, one for every session and archive, at most 80 characters."""
    digest = hashlib.sha256(f"{session}/{archive_id}".encode()).hexdigest()[:16]
    return f"{session[:_STEM_CHARS]}-retry-{archive_id}-{digest}"


def beside(who: Identity, archive_id: str) -> Identity:
    """``who`` in the side session of an archive."""
    return replace(who, session=retry_session(who.session, archive_id))


def with_recovered(overview: str, recovered: Mapping[str, str]) -> str:
    """The session's overview followed by those of recovered archives, each under a line that names it."""
    sections = [f"[Recovered from {archive_id}]\n{text}" for archive_id, text in recovered.items()]
    return "\n\n".join(text for text in (overview, *sections) if text)
