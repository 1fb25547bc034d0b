"""What a SKILL.md says of itself: YAML between two lines of dashes, of which name and description are read."""

import re
from typing import NamedTuple

from app.documents.parsed_document import Refusal, Refused

FILE = "skill.md"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
MAX_FRONT_CHARS = 20_000


class Skill(NamedTuple):
    """A skill's name and what it is for."""

    name: str
    description: str


def is_skill_file(path: str) -> bool:
    """Whether a document is the one that describes a skill: at the top, or in the one folder that was packed."""
    parts = path.lower().split("/")
    return parts[-1] == FILE and len(parts) <= 2


def skill_in(text: str) -> Skill:
    """The skill that a text describes. Raises `Refused` where it does not say what it is."""
    if not text.startswith("---\n") or (end := text.find("\n---", 3, MAX_FRONT_CHARS)) < 0:
        raise Refused(Refusal.UNREADABLE, "SKILL.md begins with `---`, name, description, and `---`")
    fields: dict[str, str] = {}
    key = ""
    for line in text[4:end].split("\n"):
        if line[:1] in {" ", "\t"} and key:
            fields[key] = f"{fields[key]} {line.strip()}".strip()
        elif ":" in line:
            key, _, value = line.partition(":")
            key = key.strip().lower()
            fields[key] = value.strip().strip("\"'").removeprefix(">").removeprefix("|").strip()
    name, description = fields.get("name", ""), fields.get("description", "")
    if not _NAME.fullmatch(name):
        raise Refused(Refusal.UNREADABLE, "SKILL.md needs a `name` of letters, digits, - and _, at most 64")
    if not description:
        raise Refused(Refusal.UNREADABLE, "SKILL.md needs a `description`")
    return Skill(name, description[:1_000])
