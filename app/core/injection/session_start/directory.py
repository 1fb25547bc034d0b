"""What is stored: the folders of the memories, with how many there are in each."""

from collections.abc import Sequence

from app.core.injection.fence import neutralise_line
from app.core.injection.session_start.section import Facts, Line, Section, Source


def _lines(facts: Facts) -> Sequence[Line]:
    return [Line(f"{neutralise_line(folder)} ({count})") for folder, count in sorted(facts.folders.items())]


SECTION = Section("directory", "## What Is Stored", 6, frozenset({Source.FOLDERS}), _lines)
