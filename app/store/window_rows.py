"""A session's window in its row: what it holds, and whether a flush was told since the last compaction."""

from typing import Any

from sqlalchemy import Connection

from app.core.history.window import Window
from app.core.identity import Identity
from app.store import session_rows
from app.store.session_rows import SessionRow


def window_of(row: SessionRow) -> Window:
    """What is known of the session's window."""
    return Window(row.window_tokens, row.window_measured, row.token_ratio, row.token_scale)


def columns_of(window: Window) -> dict[str, Any]:
    """The inverse of `window_of`."""
    return {
        "window_tokens": window.tokens,
        "window_measured": window.measured,
        "token_ratio": window.ratio,
        "token_scale": window.scale,
    }


def read(connection: Connection, who: Identity) -> Window:
    """The window of a session; an empty one for an unknown session."""
    row = session_rows.find(connection, who.tenant, who.session)
    return window_of(row) if row else Window()


def note(connection: Connection, who: Identity, tokens: int) -> None:
    """Set what the window holds, by the last prompt; an unknown session is left alone."""
    row = session_rows.find(connection, who.tenant, who.session)
    if row is not None:
        session_rows.change(connection, row.id, window_tokens=tokens)


def begin_flush(connection: Connection, who: Identity, tokens: int, token_budget: int, now: float) -> bool:
    """The same for a window in which a flush is due; whether it was not told yet. From now on it is."""
    row = session_rows.lock(connection, who, now, token_budget)
    told = flush_columns(row, now)
    session_rows.change(connection, row.id, window_tokens=tokens, **told)
    return bool(told)


def flush_columns(row: SessionRow, now: float) -> dict[str, Any]:
    """What marks a flush as told; nothing where it was, since the last compaction."""
    if row.flushed_compaction == row.compactions:
        return {}
    return {"flushed_at": now, "flushed_compaction": row.compactions}


def compacted(row: SessionRow) -> dict[str, Any]:
    """What a compaction changes: the window is another one, and may be flushed again."""
    return {"compactions": row.compactions + 1, "window_tokens": 0, "window_measured": 0}
