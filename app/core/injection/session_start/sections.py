"""All sections, in the order in which they stand. A new one is a file beside this one and a line here."""

from collections.abc import Collection, Sequence

from app.core.injection.session_start import commands, directory, persona, recent_notes, tool_usage, user_profile
from app.core.injection.session_start.section import ChatType, Section

SECTIONS: Sequence[Section] = (
    user_profile.SECTION,
    persona.SECTION,
    recent_notes.SECTION,
    directory.SECTION,
    tool_usage.SECTION,
    commands.SECTION,
)


def sections_for(names: Collection[str], chat: ChatType) -> list[Section]:
    """Those of these names that may be shown in such a chat."""
    may_show = chat is ChatType.PRIVATE
    return [one for one in SECTIONS if one.name in names and (may_show or not one.is_private)]
