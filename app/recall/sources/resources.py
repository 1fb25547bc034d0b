"""Resources: imported documents, by their summaries. They stand among the memories and share their limits and cut."""

from collections.abc import Mapping

from app.ports import Target
from app.recall.decision import Decision
from app.recall.source import candidates_for
from app.recall.sources.long_term_memories import Memories
from app.settings import Settings


class Resources(Memories):
    """Chosen and rendered as memories are."""

    name = "resources"
    precedence = 0

    def enabled(self, settings: Settings) -> bool:
        """Off by default; part of long-term recall, and imported content by definition."""
        return settings.recall.enabled and settings.recall.resources and not settings.recall.own_only

    def searches(self, decision: Decision, settings: Settings) -> Mapping[Target, int]:
        """Whatever the question; not about a tool call."""
        return {} if decision.is_guidance else {Target.RESOURCES: candidates_for(settings.recall.limit)}
