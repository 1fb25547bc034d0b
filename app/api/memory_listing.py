"""What a query string asks of the memories: for `GET /memories`, and for the page of the same."""

from app.core.cleaning.host_text import storable
from app.core.identity import session_name
from app.core.memories.memory import MemoryFilter, MemoryState
from app.core.memories.paging import Place, place_in
from app.engine.memories.browsing import MemoryListing
from app.errors import FieldProblem, InvalidRequest
from app.text.dates import iso, moment_of

MAX_QUERY_CHARS = 4_000
MAX_DATE_CHARS = 40


def listing(
    *,
    query: str | None,
    category: str | None,
    state: MemoryState | None,
    peer: str | None,
    since: str | None,
    until: str | None,
    pinned: bool | None,
    session: str | None,
    limit: int,
    cursor: str | None,
) -> MemoryListing:
    """Raises `InvalidRequest` for a moment or a cursor that is none; empty texts ask for nothing."""
    wanted = MemoryFilter(
        category=category or None,
        state=state,
        peer=peer or None,
        since=moment_in_query("since", since),
        until=moment_in_query("until", until),
        pinned=pinned,
        session=session_name(session, None) if session else None,
    )
    return MemoryListing(wanted, storable(query or ""), limit, _place(cursor))


def end_of_day(given: str) -> str:
    """The last moment of a day that is given without a time; anything else as it is."""
    return f"{given}T23:59:59.999Z" if len(given) == len("2026-03-04") else given


def moment_in_query(name: str, given: str | None) -> str | None:
    """A moment of the query; a ``+`` that became a space is one again."""
    if not given:
        return None
    moment = moment_of(given) or moment_of(given.replace(" ", "+"))
    if moment is None:
        raise InvalidRequest(FieldProblem(f"query.{name}", "give a moment in ISO 8601, such as 2026-03-04T09:00:00Z"))
    return iso(moment)


def _place(cursor: str | None) -> Place | None:
    try:
        return place_in(cursor) if cursor else None
    except ValueError:
        raise InvalidRequest(FieldProblem("query.cursor", "give the nextCursor of the page before")) from None
