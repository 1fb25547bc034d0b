"""From hits to sections: the settings' rules applied to what was found, and what became of each candidate."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from app.core.hits import Hit
from app.core.identity import Identity
from app.core.messages import Message
from app.core.readings import said_in
from app.core.trace import CandidateTrace, CutTrace, Verdict
from app.engine.results import RecalledItem
from app.ports import Target
from app.recall.block import Item, Section, experiences_section, fit, memories_section
from app.recall.ranking import Candidate, Policy, cut_score, drop, rank, rest
from app.recall.shown import is_said, said_before, shown_items
from app.settings import ExperienceSettings, RecallSettings, Settings

Hits = Mapping[Target, Sequence[Hit]]


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
                item.candidate.hit.uri,
                item.candidate.section,
                item.candidate.category,
                round(item.candidate.score, 4),
                len(item.text),
            )
            for item in self.items
        ]

    def cut(self) -> CutTrace:
        """The scores that a candidate had to reach."""
        threshold = max(self.policy.threshold, self.policy.floor)
        return CutTrace(self.policy.section, threshold, round(cut_score(self.candidates, self.policy), 4))

    def traced(self, *, texts: bool) -> list[CandidateTrace]:
        """The candidates for the trace, with their text only where ``texts`` allows it."""
        chars = {item.candidate.hit.uri: len(item.text) for item in self.items}
        return [_traced(candidate, chars.get(candidate.hit.uri, 0), texts) for candidate in self.candidates]


def choose(
    who: Identity,
    query: str,
    hits: Hits,
    messages: Sequence[Message],
    settings: Settings,
    today: date,
    said: Callable[[Message], str] = said_in,
) -> list[Selection]:
    """The sections that were searched for, in the block's order; resources stand among the memories (seed, 6).

    ``said`` is `app.recall.shown.said_in`, or what knows its results already.
    """
    chosen: list[Selection] = []
    if Target.EXPERIENCES in hits:
        chosen.append(_experiences(who, query, hits[Target.EXPERIENCES], settings.experience))
    if Target.MEMORIES in hits or Target.RESOURCES in hits:
        found = [*hits.get(Target.MEMORIES, ()), *hits.get(Target.RESOURCES, ())]
        chosen.append(_memories(who, query, found, messages, settings.recall, today, said))
    return chosen


def _experiences(who: Identity, query: str, hits: Sequence[Hit], rules: ExperienceSettings) -> Selection:
    policy = Policy("experiences", floor=rules.score_threshold, actor_peer=who.actor_peer)
    section = experiences_section(rules.limit, rules.max_injected_chars)
    return Selection(section, policy, *fit(rank(hits, query, policy), section))


def _memories(
    who: Identity,
    query: str,
    hits: Sequence[Hit],
    messages: Sequence[Message],
    rules: RecallSettings,
    today: date,
    said: Callable[[Message], str],
) -> Selection:
    policy = Policy(
        "memories",
        threshold=rules.score_threshold,
        relative_cut=rules.relative_cut,
        own_only=rules.own_only,
        mmr_lambda=rules.mmr_lambda,
        half_life_days=rules.half_life_days,
        actor_peer=who.actor_peer,
        today=today,
    )
    section = memories_section(rules.limit, rules.max_injected_chars)
    ranked = rank(hits, query, policy)
    if before := said_before(messages, said):
        ranked = drop(ranked, lambda candidate: is_said(candidate.hit.text, before), Verdict.SAID)
    shown = shown_items(messages, rules.cooldown_turns) if rules.cooldown_turns else frozenset()
    if shown:
        ranked = rest(ranked, lambda candidate: section.render(candidate) in shown)
    return Selection(section, policy, *fit(ranked, section))


def _traced(candidate: Candidate, chars: int, texts: bool) -> CandidateTrace:
    return CandidateTrace(
        uri=candidate.hit.uri,
        section=candidate.section,
        category=candidate.category,
        origin=candidate.origin,
        score=round(candidate.score, 4),
        parts={name: round(part, 4) for name, part in candidate.parts.items()},
        verdict=candidate.verdict,
        chars=chars,
        text=candidate.hit.text if texts else None,
    )
