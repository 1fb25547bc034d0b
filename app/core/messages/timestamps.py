"""The times that hosts put on messages."""

from datetime import UTC, datetime

from app.text.dates import moment_of


def moment_from(value: object) -> datetime | None:
    """The moment (UTC) that a message's ``timestamp`` tells, or None where it is missing or nonsense.

    Numbers are epoch milliseconds, or seconds when too small for milliseconds; text is ISO 8601 or such a number.
    OpenViking accepts a bad ``created_at`` and then fails the whole commit, so nothing
    unparsable may pass here.
    """
    if isinstance(value, str):
        text = value.strip()
        try:
            value = float(text)
        except ValueError:
            moment = moment_of(text)
            return moment and moment.astimezone(UTC)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        seconds = value / 1000 if abs(value) >= 1e11 else value
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return moment if 1970 <= moment.year <= 9998 else None


def millis(moment: datetime | None) -> int | None:
    """Epoch milliseconds, the unit in which times are compared."""
    return None if moment is None else round(moment.timestamp() * 1000)
