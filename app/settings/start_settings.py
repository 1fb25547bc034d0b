"""Settings: what a session begins with."""

from typing import Literal

from pydantic import BaseModel, Field


class StartSettings(BaseModel):
    """What a session begins with, in its system prompt. All of it off: requests are answered as without it."""

    profile: bool = Field(True, description="`## User Profile`: pinned memories, facts of the profile, lasting tastes.")
    persona: bool = Field(False, description="`## Persona`: SOUL.md, or memories of the types `soul` and `identity`.")
    notes: bool = Field(False, description="`## Recent Notes`: daily notes, or events, of today and yesterday.")
    tools: bool = Field(
        False, description="`## Tool Usage Memories`: how the agent's tools fared, and what mends them."
    )
    directory: bool = Field(False, description="`## What Is Stored`: the folders of the memories.")
    commands: Literal["off", "tools", "cli"] = Field(
        "off", description="`## Memory Commands`: how the model searches and stores, by tools or on the command line."
    )
    max_chars: int = Field(3000, ge=0, le=100_000, description="Characters of the addition; whole lines.")

    @property
    def sections(self) -> frozenset[str]:
        """The names of the sections that are switched on."""
        switches = {
            "profile": self.profile,
            "persona": self.persona,
            "notes": self.notes,
            "tools": self.tools,
            "commands": self.commands != "off",
            "directory": self.directory,
        }
        return frozenset(name for name, is_on in switches.items() if is_on)
