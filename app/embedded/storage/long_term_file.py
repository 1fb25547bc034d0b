"""MEMORY.md: what is remembered for good, distilled into one page that a person may read and edit.

It is written from the memories, with the id of each line's memory in a comment at its end. So an edit can be told: a
line that reads otherwise changes its memory, a new line is a new memory, and one that was taken out stays out of the
page. Pure; see `app.embedded.workspace_upkeep` for when it is read and written.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from app.core.memories.memory import Memory, Sensitivity, said_the_same
from app.text.items import blocks, item, statements, tidy
from app.text.words import tokens

NAME = "MEMORY.md"
MAX_WORDS = 1_900
"""The page has fewer than 2,000 words: it is read at the start of every session."""
MAX_STATEMENT_CHARS = 600
"""A longer memory is a text of its own, and not for this page."""
ALIKE = 0.4
"""A line that shares fewer of its words with the one in whose place it stands says something else."""
_TRAILER = "<!-- distilled: "
_SECTIONS = (
    ("profile", "Profile"),
    ("preferences", "User Preferences"),
    ("events", "Important Decisions"),
    ("entities", "People and Projects"),
)
_REST = "Notes"


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was found: what its lines said when it was written, and what they say now."""

    written: tuple[tuple[str, str], ...] = ()
    """(memory id, hash of its line), in order."""
    said: tuple[str, ...] = ()
    left_out: frozenset[str] = frozenset()
    """Memories whose lines a person took out."""


@dataclass(frozen=True, slots=True)
class Edits:
    """What a person made of the page since."""

    changed: dict[str, str] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    left_out: frozenset[str] = frozenset()


def read_page(text: str) -> Page:
    """The page in a file; an unreadable trailer makes every line a person's own."""
    body, _, trailer = text.rpartition(f"\n{_TRAILER}")
    if not body and not trailer.endswith(" -->"):
        body, trailer = text, ""
    told = _told(trailer.strip().removesuffix("-->")) if trailer.strip().endswith("-->") else None
    if told is None:
        return Page((), tuple(statements(text)), frozenset())
    return Page(told[0], tuple(statements(body)), told[1])


def _told(trailer: str) -> tuple[tuple[tuple[str, str], ...], frozenset[str]] | None:
    """The lines that were written, by memory id, and the ids that were left out; None for what we did not write."""
    try:
        known = json.loads(trailer)
        written = tuple((str(id_), str(line)) for id_, line in known["lines"])
        return written, frozenset(map(str, known["leftOut"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def edits_of(page: Page, texts: Mapping[str, str]) -> Edits:
    """What was changed, added and taken out since the page was written. ``texts`` are those of the memories, by id.

    Where lines went and others came in their place, those that are alike are edits.
    """
    before = [line for _, line in page.written]
    now = [_hash(text) for text in page.said]
    changed: dict[str, str] = {}
    added: list[str] = []
    gone: set[str] = set()
    for kind, start, stop, first, last in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        old = [id_ for id_, _ in page.written[start:stop]]
        for text in page.said[first:last]:
            likeness = {id_: _likeness(texts.get(id_, ""), text) for id_ in old}
            best = max(old, key=lambda id_: likeness[id_], default="")
            if best and likeness[best] >= ALIKE:
                changed[best] = text
                old.remove(best)
            else:
                added.append(text)
        gone.update(old)
    return Edits(changed, tuple(added), page.left_out | gone)


def page_text(memories: Iterable[Memory], left_out: frozenset[str]) -> str:
    """The page for these memories, which come in the order of their importance; empty where there is nothing to say."""
    chosen = list(_fitting(one for one in memories if one.id not in left_out))
    written: list[tuple[str, str]] = []
    parts = ["# Long-term Memory"]
    named = dict(_SECTIONS)
    for title in (*named.values(), _REST):
        mine = [one for one in chosen if named.get(one.category, _REST) == title]
        if mine:
            parts.append(f"## {title}\n\n" + "\n".join(item(tidy(one.text)) for one in mine))
            written += [(one.id, _hash(tidy(one.text))) for one in mine]
    if not written and not left_out:
        return ""
    trailer = json.dumps({"lines": written, "leftOut": sorted(left_out)})
    return "\n\n".join(parts) + f"\n\n{_TRAILER}{trailer} -->\n"


def is_for_the_page(memory: Memory) -> bool:
    """Whether a memory is one that lasts; what is of high sensitivity is recalled when it is asked for."""
    lasts = (
        memory.expires_at is None and memory.sensitivity is not Sensitivity.HIGH and memory.category != "experiences"
    )
    return memory.peer is None and (memory.pinned or lasts)


def _fitting(memories: Iterable[Memory]) -> Iterator[Memory]:
    room, seen = MAX_WORDS, set[str]()
    for memory in memories:
        text = tidy(memory.text)
        words, said = len(tokens(text)), said_the_same(text)
        if text and len(text) <= MAX_STATEMENT_CHARS and words <= room and said not in seen and _is_one(text):
            seen.add(said)
            room -= words
            yield memory


def _is_one(text: str) -> bool:
    """Whether a page gives it back as one statement."""
    return list(statements(item(text))) == [text]


def _likeness(one: str, other: str) -> float:
    """The share of words that two lines have in common, in order."""
    return SequenceMatcher(None, tokens(one), tokens(other), autojunk=False).ratio()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def page_without(text: str, dropped: Collection[str], left_of: Callable[[str], str]) -> str | None:
    """The file's text without what is forgotten: lines of memories that are ``dropped``, and of others what ``left_of``
    takes out. None where nothing is left."""
    page = read_page(text)
    gone = {line for id_, line in page.written if id_ in dropped}
    kept: list[str] = []
    for block in blocks(text.rpartition(f"\n{_TRAILER}")[0] or text):
        left = "" if _hash(block.text) in gone else left_of(block.text)
        if left == block.text:
            kept += block.lines
        elif left:
            kept.append(item(left))
    if not any(statements("\n".join(kept))):
        return None
    there = {_hash(one) for one in statements("\n".join(kept))}
    known = {_hash(one) for one in page.said}
    # What was taken out here is not what a person took out: its memory may be written again.
    written = [(id_, line) for id_, line in page.written if id_ not in dropped and (line in there or line not in known)]
    trailer = json.dumps({"lines": written, "leftOut": sorted(page.left_out - set(dropped))})
    return "\n".join(kept).rstrip("\n") + f"\n\n{_TRAILER}{trailer} -->\n"
