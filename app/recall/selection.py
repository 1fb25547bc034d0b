"""A section as it came about: what stands in it, and what became of each candidate."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from app.core.injection import fence
from app.core.messages.tokens import estimate_tokens
from app.core.recall.trace import CandidateTrace, CutTrace, Verdict
from app.engine.results import RecalledItem
from app.recall.block import Item, Section, fit
from app.recall.ranking import Candidate, Policy, bars_for


@dataclass(frozen=True, slots=True)
class Selection:
    """One section: its rules, what fits into it, and every candidate with its verdict."""

    section: Section
    policy: Policy
    items: Sequence[Item]
    candidates: Sequence[Candidate]

    def recalled(self) -> list[RecalledItem]:
        """The items for the response."""
        return [
            RecalledItem(
                item.candidate.hit.shown_uri,
                self.section.name,
                item.candidate.category,
                round(item.candidate.score, 4),
                len(item.text),
            )
            for item in self.items
        ]

    def cut(self) -> CutTrace:
        """The scores that a candidate had to reach."""
        bars = bars_for(self.candidates, self.policy)
        threshold = max(bars.threshold, self.policy.floor)
        detail = self.policy.detail.value if self.policy.detail else ""
        return CutTrace(self.section.name, threshold, round(bars.relative, 4), detail)

    def traced(self, *, texts: bool) -> list[CandidateTrace]:
        """The candidates for the trace, with their text only where ``texts`` allows it."""
        chars = {item.candidate.hit.uri: len(item.text) for item in self.items}
        return [
            CandidateTrace(
                uri=candidate.hit.shown_uri,
                section=self.section.name,
                category=candidate.category,
                origin=candidate.origin,
                score=round(candidate.score, 4),
                # `round` takes twice as long, and there are a hundred parts in every trace.
                parts={
                    name: int(part * 10_000 + (0.5 if part > 0 else -0.5)) / 10_000
                    for name, part in candidate.parts.items()
                    if part
                },
                verdict=candidate.verdict,
                chars=chars.get(candidate.hit.uri, 0),
                text=candidate.hit.text if texts else None,
                replaced_by=candidate.replaced_by,
            )
            for candidate in self.candidates
        ]

    def only(self, items: Collection[Item]) -> "Selection":
        """The same with only these of its items."""
        left = {item.candidate.hit.uri for item in self.items if item not in items}
        candidates = [
            one.dropped(Verdict.OVER_BUDGET) if one.verdict is Verdict.KEPT and one.hit.uri in left else one
            for one in self.candidates
        ]
        return replace(self, items=[item for item in self.items if item in items], candidates=candidates)


def within_tokens(chosen: Sequence[Selection], tokens: int) -> list[Selection]:
    """The selections with so many of their items, best first, that their block takes at most ``tokens``.

    An item that does not fit is left out, and a shorter one behind it may take its place.
    """
    left = tokens - estimate_tokens(fence.wrap(["\n"]))
    ranked = sorted(
        ((item, selection.section) for selection in chosen for item in selection.items),
        key=lambda one: one[0].candidate.score,
        reverse=True,
    )
    kept: list[Item] = []
    begun: set[str] = set()
    for item, section in ranked:
        frame = () if section.name in begun else ("\n", *section.frame)
        cost = estimate_tokens("\n".join([*frame, section.separator, item.text]))
        if cost <= left:
            left -= cost
            kept.append(item)
            begun.add(section.name)
    return [selection.only(kept) for selection in chosen]


def select(section: Section, policy: Policy, ranked: Sequence[Candidate]) -> Selection:
    """What of ``ranked`` fits into the section."""
    return Selection(section, policy, *fit(ranked, section, policy))
