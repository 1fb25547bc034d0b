"""The section of a skill's memory. Nothing is searched for it: the sidecar has it, and it comes with the request."""

from app.core.injection.skill_memory import HEADING
from app.core.recall.hits import Hit
from app.recall.block import Section
from app.recall.ranking import Candidate, Policy
from app.recall.selection import Selection, select

MAX_CHARS = 6_000

SECTION = Section(
    name="skills",
    title="Skill memory",
    frame=(),
    render=lambda candidate: candidate.hit.text,
    former_frame=(HEADING,),
)
"""Its heading names the skill, so it stands in the text."""


def skill_selection(skill: Hit) -> Selection:
    """The memory of the skill that is read: it is the one that was asked for, whatever it scores."""
    return select(SECTION, Policy(limit=1, max_chars=MAX_CHARS), [Candidate(skill, skill.category, skill.score)])
