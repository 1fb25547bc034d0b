"""Which memories automatic recall may show, by category and time."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from app.text.dates import moment_of

MAX_FILTERED = 200
"""Hits that are looked at for those that a filter asks for."""


class RecallFilter(NamedTuple):
    """What a host, or a setting, wants of the memories. Without values it admits all."""

    categories: frozenset[str] | None = None
    """Only these, in small letters; None for any."""
    excluded: frozenset[str] = frozenset()
    """Not these."""
    since: datetime | None = None
    until: datetime | None = None
    """Said, or first stored, at or after the one and at or before the other. What has no date is in no period."""

    @property
    def is_open(self) -> bool:
        """Whether it admits all."""
        return self is _OPEN or self == _OPEN

    @property
    def admits_nothing(self) -> bool:
        """Whether no memory can be admitted: what two filters want may have nothing in common."""
        is_never = self.since is not None and self.until is not None and self.since > self.until
        return is_never or self.categories == frozenset()

    @property
    def has_period(self) -> bool:
        """Whether it asks for times."""
        return self.since is not None or self.until is not None

    def admits(self, category: str, at: str | None) -> bool:
        """Whether a memory of this category and time (ISO 8601) may be shown."""
        return self.admits_category(category) and (not self.has_period or self._is_within(at))

    def admits_category(self, category: str) -> bool:
        """The same of a category alone."""
        category = category.lower()
        return category not in self.excluded and (self.categories is None or category in self.categories)

    def _is_within(self, at: str | None) -> bool:
        moment = moment_of(at) if at else None
        if moment is None:
            return False
        return (self.since is None or moment >= self.since) and (self.until is None or moment <= self.until)

    def narrowed(self, other: "RecallFilter") -> "RecallFilter":
        """What both admit."""
        if other.is_open:
            return self
        both = [one.categories for one in (self, other) if one.categories is not None]
        return RecallFilter(
            frozenset.intersection(*both) if both else None,
            self.excluded | other.excluded,
            max((one.since for one in (self, other) if one.since), default=None),
            min((one.until for one in (self, other) if one.until), default=None),
        )

    def __str__(self) -> str:
        """For traces: its values in words; empty where it admits all."""
        said = [
            f"only {', '.join(sorted(self.categories)) or 'nothing'}" if self.categories is not None else "",
            f"without {', '.join(sorted(self.excluded))}" if self.excluded else "",
            f"since {self.since.isoformat()}" if self.since else "",
            f"until {self.until.isoformat()}" if self.until else "",
        ]
        return "; ".join(filter(None, said))


_OPEN = RecallFilter()
ANY = _OPEN
"""Admits all."""


def recall_filter(
    categories: Iterable[str] = (),
    excluded: Iterable[str] = (),
    *,
    max_age_days: int = 0,
    today: date | None = None,
) -> RecallFilter:
    """The filter that settings ask for: no ``categories`` are any, no ``max_age_days`` any age.

    Ages are counted in whole days in UTC, so that equal questions of one day get equal answers.
    """
    since = None
    if max_age_days and today is not None:
        since = datetime.combine(today - timedelta(days=max_age_days), time(), UTC)
    only = frozenset(one.strip().lower() for one in categories)
    none = frozenset(one.strip().lower() for one in excluded)
    return RecallFilter(only or None, none, since) if only or none or since else ANY
