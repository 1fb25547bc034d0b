"""Agent experiences: how this agent once solved a task like the one at hand. Only looked up for tasks."""

from collections.abc import Mapping, Sequence

from app.core.recall.hits import Hit
from app.ports import Target
from app.recall.block import Section
from app.recall.decision import Decision
from app.recall.experience_format import only_experiences, render_experience
from app.recall.ranking import Policy, rank
from app.recall.selection import Selection, select
from app.recall.source import Asked, candidates_for
from app.settings import Settings

SECTION = Section(
    name="experiences",
    title="Agent experiences",
    frame=(
        "## Agent Experiences",
        "These are prior execution lessons learned by this agent. Use them as task guidance, not as user facts.",
        "",
    ),
    render=lambda candidate: render_experience(candidate.hit),
    separator="\n\n",
    former_frame=("These are prior execution lessons",),
)


class Experiences:
    """A few experiences that the backend itself scores high, whole or not at all."""

    name = "experiences"
    section = SECTION
    precedence = 1

    def enabled(self, settings: Settings) -> bool:
        """Off by default."""
        return settings.experience.enabled

    def searches(self, decision: Decision, settings: Settings) -> Mapping[Target, int]:
        """Asked for where the gate takes the message for a task."""
        return {Target.EXPERIENCES: candidates_for(settings.experience.limit)} if decision.gate.recall else {}

    def choose(self, asked: Asked, hits: Sequence[Hit]) -> Selection:
        """The best by score."""
        rules = asked.settings.experience
        policy = Policy(
            limit=rules.limit,
            max_chars=rules.max_injected_chars,
            floor=rules.score_threshold,
            actor_peer=asked.who.actor_peer,
            refuses=only_experiences,
        )
        return select(self.section, policy, rank(hits, asked.query, policy))
