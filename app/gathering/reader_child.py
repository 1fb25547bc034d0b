"""The other process: ``python -m app.gathering.reader_child``. It reads one import, and ends.

What a stranger sends is parsed here: with bounded memory and time, at low priority, and to be killed at any moment. The
bytes come by a pipe and never touch a disk; what is written has been cleaned by the policy.

In: a line of JSON (`Asked`), then the bytes. Out: a line of JSON, ``{"files": 3, "size": 10, "skipped": [...]}`` or
``{"refused": "<why>", "detail": "..."}``.
"""

import json
import os
import resource
import sys
from dataclasses import asdict, dataclass, field
from typing import Any

from app.documents.document_reading import Reading, Skipped, check, read
from app.documents.parsed_document import Document, Limits, Refusal, Refused
from app.documents.skill import is_skill_file, skill_in
from app.gathering import spool
from app.policy.policy import Policy

NICE = 10
MEMORY_BYTES = 2 * 1024**3
"""Address space: Python, the libraries, the import and what is made of it."""
MAX_SKIPPED = 50
"""Skipped files that are named."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be read, and how. Without ``spool`` nothing is parsed or written: only checked."""

    name: str
    media_type: str = ""
    spool: str = ""
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


def run(asked: Asked, data: bytes) -> dict[str, Any]:
    """The answer."""
    limits = Limits(**asked.limits)
    try:
        check(asked.name, data, asked.media_type, limits)
        return _read(asked, data, limits) if asked.spool else {"files": 0, "size": len(data), "skipped": []}
    except Refused as refused:
        return {"refused": refused.why, "detail": refused.detail}
    except (MemoryError, RecursionError):
        return {"refused": Refusal.UNSAFE, "detail": f"{asked.name[:80]!r} takes too much memory to be read"}


def _read(asked: Asked, data: bytes, limits: Limits) -> dict[str, Any]:
    patterns = {name: (expression, action) for name, (expression, action) in asked.patterns.items()}
    policy = Policy.of(asked.rules, patterns)
    how = Reading(limits, asked.known, asked.salt, policy.text, asked.media_type)
    files, changed, skipped, first, skill = 0, 0, [], None, None
    descriptor = os.open(asked.spool, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
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
        file.flush()
        os.fsync(file.fileno())
    if asked.is_skill and skill is None:
        raise Refused(Refusal.UNREADABLE, "a skill has a SKILL.md, at the top of the archive")
    told = {"title": first.title, "summary": first.summary} if first else {}
    told |= {"title": skill.name, "summary": skill.description} if skill else {}
    counts = {"files": files, "changed": changed, "size": len(data), "more": len(skipped)}
    return {**counts, **told, "skipped": skipped[:MAX_SKIPPED]}


def main() -> None:
    """Answer one question."""
    asked = Asked(**json.loads(sys.stdin.buffer.readline()))
    os.nice(NICE)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (asked.cpu_s, asked.cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(json.dumps(run(asked, sys.stdin.buffer.read())))


if __name__ == "__main__":
    main()
