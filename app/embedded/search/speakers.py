"""Names in front of what was said ("Caroline: ..."), as in a chat that somebody pasted or a host that writes them.

Who spoke is the role that the session file stores; a name is never taken for it. The name says who is quoted: only a
name does, not every word before a colon ("Noted: ...", "By the way, we changed our mind: ..."), and of a session's
turns only where most of the same role have it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

from app.embedded.extraction.values import person

_LABEL = re.compile(r"(?P<name>[^\s:：,，。.!?][^:：,，。!?\n]{0,30})(?:：|:\s)")
_LONGEST_LABEL = 40
_OWN_WORDS = frozenset(
    [
        "actually",
        "also",
        "answer",
        "btw",
        "caution",
        "correction",
        "decision",
        "decisions",
        "done",
        "edit",
        "error",
        "example",
        "fact",
        "fix",
        "fyi",
        "goal",
        "hint",
        "idea",
        "important",
        "info",
        "issue",
        "link",
        "name",
        "note",
        "noted",
        "notes",
        "ok",
        "okay",
        "plan",
        "plus",
        "problem",
        "ps",
        "question",
        "reason",
        "remember",
        "reminder",
        "result",
        "rule",
        "sorry",
        "status",
        "step",
        "summary",
        "task",
        "thanks",
        "tip",
        "title",
        "todo",
        "topic",
        "typo",
        "update",
        "warning",
        "yes",
        "no",
        "goals",
        "steps",
        "context",
    ]
)
"""Words that introduce what one says oneself, capitalised as names are."""


def quoted_speaker(text: str) -> str:
    """The name that ``text`` begins with, or ""."""
    return _quoted(text[:_LONGEST_LABEL])


@lru_cache(maxsize=4096)
def _quoted(text: str) -> str:
    """The same turns come up again and again, and a name takes a dozen checks."""
    found = _LABEL.match(text)
    name = found["name"].strip("*_ ") if found else ""
    return name if name and name.lower() not in _OWN_WORDS and person(name) == name else ""


def usual_speakers(turns: Iterable[tuple[tuple[int, str], str]], least: int = 1) -> Mapping[tuple[int, str], str]:
    """For each session and role, the name that at least half of its turns, and ``least``, begin with; ``turns`` gives
    (session and role, text)."""
    names: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    for of, text in turns:
        names[of][quoted_speaker(text)] += 1
    usual = {of: counted.most_common(1)[0] for of, counted in names.items()}
    return {of: name for of, (name, count) in usual.items() if name and max(least, names[of].total() / 2) <= count}
