"""The registry of recall sources. A new one is a file in this folder and a line here (docs/recipes)."""

from app.core.injection import markers
from app.recall import skill_section
from app.recall.source import Sources
from app.recall.sources.experiences import Experiences
from app.recall.sources.long_term_memories import Memories
from app.recall.sources.resources import Resources

SOURCES = Sources(
    Experiences(),
    Memories(),
    Resources(),
)
"""In the order in which their sections stand in the block."""
markers.declare(skill_section.SECTION.name, skill_section.SECTION.markers)
