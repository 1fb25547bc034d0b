"""Resources: passages of imported documents, each under the place where it stands.

A section of their own, with limits of their own, so that a handbook never crowds out what the user told.
"""

from collections.abc import Mapping, Sequence

from app.core.injection.fence import neutralise, neutralise_line
from app.core.recall.hits import Hit
from app.core.recall.trace import Verdict
from app.ports import Target
from app.recall.block import Section
from app.recall.decision import Decision
from app.recall.ranking import Candidate, Policy, drop, rank
from app.recall.relevance.passages import judge_passages
from app.recall.selection import Selection, select
from app.recall.shown import is_said, said_before
from app.recall.source import Asked, candidates_for
from app.settings import Settings


def resource_item(candidate: Candidate) -> str:
    """``- guide.md > Install (uri)``, and the passage below, indented so that it stays inside its item."""
    place, _, text = candidate.hit.text.partition("\n")
    uri = neutralise_line(candidate.hit.shown_uri)
    return f"- {neutralise_line(place)} ({uri})\n  {neutralise(text)}" if text else f"- {neutralise(place)} ({uri})"


SECTION = Section(
    name="resources",
    title="Documents",
    frame=(
        "## Documents",
        "These passages of imported documents may answer; name the document where one does:",
    ),
    render=resource_item,
)


class Resources:
    """The passages that answer best, without what stands in the conversation anyway."""

    name = "resources"
    section = SECTION
    precedence = 0

    def enabled(self, settings: Settings) -> bool:
        """Off by default; part of long-term recall, and imported content by definition."""
        return settings.recall.enabled and settings.recall.resources and not settings.recall.own_only

    def searches(self, decision: Decision, settings: Settings) -> Mapping[Target, int]:
        """Whatever the question; not about a tool call."""
        return {} if decision.is_guidance else {Target.RESOURCES: candidates_for(settings.recall.resource_limit)}

    def choose(self, asked: Asked, hits: Sequence[Hit]) -> Selection:
        """The best by score that the model does not see already."""
        rules = asked.settings.recall
        policy = Policy(
            limit=rules.resource_limit,
            max_chars=rules.max_resource_chars,
            threshold=rules.score_threshold,
            relative_cut=rules.relative_cut,
            mmr_lambda=rules.mmr_lambda,
            today=asked.today,
            personal=asked.personal,
            judges=judge_passages,
        )
        ranked = rank(hits, asked.query, policy)
        if before := said_before(asked.messages):
            ranked = drop(ranked, lambda candidate: is_said(candidate.hit.text, before), Verdict.SAID)
        return select(self.section, policy, ranked)
