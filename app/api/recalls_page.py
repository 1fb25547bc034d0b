"""The pages behind ``/ui/recalls``: what their templates are given."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from fastapi import Response

from app.api.pages import page
from app.core.identity import Tenant
from app.core.recall.trace import CandidateTrace, CutTrace, RecallTrace, Verdict
from app.recall.explain import Texts
from app.recall.relevance.model import MEANINGS
from app.recall.sources import SOURCES

_HOW = {
    "fresh": "asked",
    "cached": "from the cache",
    "joined": "shared with an equal search",
    "stale": "an older answer, the backend was late",
}
WIDTH = 400
"""Of a bar, in units of its own."""
LEAST_SHOWN = 0.1
"""Log-odds; evidence that weighs less decides nothing."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A score as a bar; lengths in the units of ``width``."""

    score: float
    needed: float
    full: float
    cut: float
    kept: bool
    width: int = WIDTH


@dataclass(frozen=True, slots=True)
class Row:
    """One candidate with its text, where that could be read."""

    candidate: CandidateTrace
    bar: Bar
    parts: str
    text: str | None
    later: str | None = None
    """What the candidate that takes its place says."""


@dataclass(frozen=True, slots=True)
class Section:
    """The candidates of a section, injected ones first, and the score that they needed."""

    title: str
    needed: float
    rows: Sequence[Row]


def list_page(
    recalls: Sequence[tuple[RecallTrace, str | None]],
    tenant: Tenant,
    masked: Callable[[str], str],
    *,
    session: str,
    since: str,
    next_cursor: str | None,
) -> Response:
    """The list of recalls with their queries, newest first, with a filter and a link to older ones."""
    older = {"session": session, "since": since, "cursor": next_cursor} if next_cursor else None
    today = datetime.now(UTC).date().isoformat()
    return page(
        "recalls.html",
        tenant=tenant,
        masked=masked,
        recalls=recalls,
        session=session,
        since=since,
        today=today,
        older=older,
        here="/ui/recalls",
    )


def detail_page(trace: RecallTrace, texts: Texts, tenant: Tenant, masked: Callable[[str], str]) -> Response:
    """One recall: outcome, query, gate, searches, and every candidate as a bar with the line it had to reach."""
    return page(
        "recall.html",
        tenant=tenant,
        masked=masked,
        trace=trace,
        query=texts.query,
        problem=texts.problem,
        how=_HOW,
        longest=max((search.ms for search in trace.searches), default=0.0) or 1.0,
        sections=[_section(cut, trace.candidates, texts.memories) for cut in trace.cuts],
    )


def _section(cut: CutTrace, candidates: Sequence[CandidateTrace], memories: Mapping[str, str]) -> Section:
    needed = max(cut.threshold, cut.relative)
    mine = [candidate for candidate in candidates if candidate.section == cut.section]
    rows = [
        Row(
            candidate,
            _bar(candidate, needed),
            _parts(candidate),
            memories.get(candidate.uri) if candidate.text is None else candidate.text,
            memories.get(candidate.replaced_by),
        )
        for candidate in sorted(mine, key=lambda candidate: candidate.verdict is not Verdict.KEPT)
    ]
    section = SOURCES.sections.get(cut.section)
    return Section(section.title if section else cut.section, needed, rows)


def _bar(candidate: CandidateTrace, needed: float) -> Bar:
    kept = candidate.verdict is Verdict.KEPT
    return Bar(candidate.score, needed, candidate.score * WIDTH, needed * WIDTH, kept)


def _parts(candidate: CandidateTrace) -> str:
    """The evidence in words, the weightiest first; with a plus it speaks for the candidate."""
    weighed = sorted(candidate.parts.items(), key=lambda part: -abs(part[1]))
    said = [f"{MEANINGS[name]} {part:+.1f}" for name, part in weighed if name in MEANINGS and abs(part) >= LEAST_SHOWN]
    plain = [f"{name} {part:.3f}" for name, part in candidate.parts.items() if name not in MEANINGS]
    return "; ".join([*said, *plain])
