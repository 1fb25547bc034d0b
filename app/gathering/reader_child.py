"""The other process: ``python -m app.gathering.reader_child <descriptor>``. It reads one import, and ends.

What a stranger sends is parsed here: with bounded memory and time, at low priority, and to be killed at any moment. The
bytes are in the file of the descriptor, which the parent shares (`app.gathering.content`), and are read from there a
document at a time; what is written has been cleaned by the policy.

In: a line of JSON (`Asked`). Out: a line of JSON, ``{"files": 3, "size": 10, "skipped": [...]}`` or
``{"refused": "<why>", "detail": "..."}``.
"""

import json
import os
import resource
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from app.atrest.lent_vault import vault_in_child
from app.documents.document_reading import Reading, Skipped, read
from app.documents.parsed_document import Document, Limits, Refusal, Refused
from app.documents.skill import is_skill_file, skill_in
from app.gathering import spool

if TYPE_CHECKING:
    from app.policy.policy import Policy

NICE = 10
MEMORY_BYTES = 2 * 1024**3
"""Address space: Python, the libraries, the import and what is made of it."""
MAX_SKIPPED = 50
"""Skipped files that are named."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be read, and how; ``spool`` is the file that is written."""

    name: str
    media_type: str = ""
    spool: str = ""
    vault: str = field(default="", repr=False)
    """What the spool is encrypted with; see `app.atrest.lent_vault.vault_in_child`."""
    is_skill: bool = False
    """It has to hold a SKILL.md."""
    cpu_s: int = 60
    limits: dict[str, int] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)
    patterns: dict[str, list[str]] = field(default_factory=dict)

    @property
    def salt(self) -> str:
        """What besides its bytes decides what is stored of a document."""
        return json.dumps([self.rules, self.patterns], sort_keys=True) if self.rules or self.patterns else ""

    def line(self) -> bytes:
        """As the child reads it."""
        return json.dumps(asdict(self)).encode() + b"\n"


def run(asked: Asked, data: BinaryIO) -> dict[str, Any]:
    """The answer."""
    try:
        return _read(asked, data)
    except Refused as refused:
        return {"refused": refused.why, "detail": refused.detail}
    except (MemoryError, RecursionError):
        return {"refused": Refusal.UNSAFE, "detail": f"{asked.name[:80]!r} takes too much memory to be read"}


def _cleaning(asked: Asked) -> Callable[[str], str]:
    """The policy, made for the first text: an import of what is stored already has none."""
    policies: list[Policy] = []

    def cleaned(text: str) -> str:
        if not policies:
            from app.policy.policy import Policy  # a tenth of a second and 15 MB

            patterns = {name: (expression, action) for name, (expression, action) in asked.patterns.items()}
            policies.append(Policy.of(asked.rules, patterns))
        return policies[0].text(text)

    return cleaned


def _read(asked: Asked, data: BinaryIO) -> dict[str, Any]:
    how = Reading(Limits(**asked.limits), asked.known, asked.salt, _cleaning(asked), asked.media_type)
    files, changed, skipped, first, skill = 0, 0, [], None, None
    with vault_in_child(asked.vault).creating(Path(asked.spool)) as file:
        for found in read(asked.name, data, how):
            if isinstance(found, Skipped):
                skipped.append(f"{found.path}: {found.why}")
                continue
            files += 1
            if isinstance(found, Document):
                changed += 1
                first = first or found
                if asked.is_skill and is_skill_file(found.path):
                    skill = skill_in(found.text)
            spool.write(file, found)
    if asked.is_skill and skill is None:
        raise Refused(Refusal.UNREADABLE, "a skill has a SKILL.md, at the top of the archive")
    told = {"title": first.title, "summary": first.summary} if first else {}
    told |= {"title": skill.name, "summary": skill.description} if skill else {}
    counts = {"files": files, "changed": changed, "size": data.seek(0, os.SEEK_END), "more": len(skipped)}
    return {**counts, **told, "skipped": skipped[:MAX_SKIPPED]}


def main() -> None:
    """Answer one question."""
    asked = Asked(**json.loads(sys.stdin.buffer.readline()))
    os.nice(NICE)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (asked.cpu_s, asked.cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open(int(sys.argv[1]), "rb") as data:
        print(json.dumps(run(asked, data)))


if __name__ == "__main__":
    main()
