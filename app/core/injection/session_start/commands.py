"""How the model searches and stores by itself: the tools that it has, or the command line."""

from collections.abc import Sequence

from app.core.injection.session_start.section import Facts, Line, Section

COMMAND_LINE: Sequence[tuple[str, str]] = (
    ('openviking-sidecar search --query "..." [--category C] [--limit N]', "search what is remembered"),
    ("openviking-sidecar ls [URI]", "list what is stored"),
    ('openviking-sidecar remember --content "..." [--type T] [--priority high]', "store a memory"),
    ("openviking-sidecar history [--limit N]", "the newest turns"),
    ('openviking-sidecar forget --query "..." [--yes]', "forget one memory; without --yes it says what it would do"),
)
"""For a model with a shell. The command talks to the running sidecar and answers in JSON."""


def _lines(facts: Facts) -> Sequence[Line]:
    return [Line(f"- `{call}`: {does}") for call, does in facts.commands]


SECTION = Section("commands", "## Memory Commands", 5, frozenset(), _lines, is_private=False)
