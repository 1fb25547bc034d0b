"""Regular expressions that take linear time on any text, by RE2.

Texts come from outside and may be a megabyte of anything, and an operator's own patterns come from settings: neither
may hold a request up. RE2 knows neither look-around nor back references, so a pattern says with a group what it means.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, Self

import re2

_GROUP = re.compile(r"\(\?P<\w+>")
_LATE_END = re.compile(r"(?<!\\)\{(\d{1,4}),\d{2,4}\}")
"""How often something repeats, where that ends after ten times or later."""
_SURROGATES = re.compile("[\ud800-\udfff]")


class NotLinear(ValueError):
    """RE2 refuses the expression: it is wrong, or it can not be searched for in linear time."""


class Match:
    """One match, with its groups by name."""

    __slots__ = ("_groups", "_match")

    def __init__(self, match: Any, groups: dict[str, int]) -> None:
        self._match = match
        self._groups = groups

    def span(self, name: str | None = None) -> tuple[int, int]:
        """Where the group (or the whole match) is; (-1, -1) when it took no part."""
        start, end = self._match.span(self._groups[name] if name else 0)
        return start, end

    def __getitem__(self, name: str) -> str | None:
        found: str | None = self._match.group(self._groups[name])
        return found


class Pattern:
    """An expression, compiled when it is first used: what no rule asks for costs nothing, and some take a quarter of a
    second and 30 MB."""

    def __init__(self, expression: str) -> None:
        self.expression = expression

    def compiled(self) -> Self:
        """The pattern, compiled now. Raises `NotLinear`."""
        _ = self._regexp
        return self

    def finditer(self, text: str) -> Iterator[Match]:
        """Matches that do not overlap, from left to right."""
        return (Match(match, self._groups) for match in self._regexp.finditer(encodable(text)))

    def spans(self, text: str, group: str | None = None) -> Iterator[tuple[int, int]]:
        """Where ``group`` (or the whole) stands in each match in which it takes part."""
        return (span for match in self.finditer(text) if (span := match.span(group))[0] >= 0)

    def is_in(self, text: str) -> bool:
        """Whether there is a match anywhere."""
        return self._presence.match(encodable(text)) is not None

    @cached_property
    def _regexp(self) -> Any:
        return self._compiled(self.expression)

    @cached_property
    def _presence(self) -> Any:
        """Matches from the beginning of a text, so that RE2 need not look for where a match begins: it would do that
        with the whole expression backwards, which takes another 13 MB for all the signs of the default rules."""
        return self._compiled(f"(?s:.*?)(?:{_GROUP.sub('(?:', self.expression)})")

    @staticmethod
    def _compiled(expression: str) -> Any:
        try:
            return re2.compile(expression, _options())
        except re2.error as error:
            reason = error.args[0] if error.args else error
            raise NotLinear(reason.decode() if isinstance(reason, bytes) else str(reason)) from None

    @cached_property
    def _groups(self) -> dict[str, int]:
        return dict(self._regexp.groupindex)


@lru_cache(maxsize=8)
def any_of(patterns: Sequence[Pattern]) -> Pattern:
    """Is in every text that any of the ``patterns`` is in: one pass instead of one for each.

    It is in a few texts more: repetitions that end after ten times or later go on here. Each time is a state of the
    automaton, and all of them together are more than RE2 keeps, so that it would build them again for each text.
    """
    bare = (_LATE_END.sub(r"{\1,}", _GROUP.sub("(?:", pattern.expression)) for pattern in patterns)
    return Pattern("|".join(f"(?:{expression})" for expression in bare))


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    return options


def encodable(text: str) -> str:
    """``text`` with lone surrogates, which JSON may hold and UTF-8 may not, replaced character by character."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)
