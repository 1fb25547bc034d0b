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
from app.text.items import Block, blocks, item, tidy
from app.text.words import tokens

NAME = "MEMORY.md"
MAX_WORDS = 1_900
"""The page has fewer than 2,000 words: it is read at the start of every session."""
MAX_STATEMENT_CHARS = 600
"""A longer memory is a text of its own, and not for this page."""
ALIKE = 0.4
"""A line that shares fewer of its words with the one in whose place it stands says something else."""
_TRAILER = "<!-- distilled:"
_BYTE_ORDER_MARK = "\ufeff"
_FENCES = ("```", "~~~")
_ROW = "|"
_OWN = (*_FENCES, _ROW, "<!--")
_RULES = ("-", "*", "_")
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
    own: tuple[str, ...] = ()
    """Code, tables and comments of a person: they stay in the page, and are no memories."""


@dataclass(frozen=True, slots=True)
class Edits:
    """What a person made of the page since."""

    changed: dict[str, str] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    left_out: frozenset[str] = frozenset()


def read_page(text: str) -> Page:
    """The page in a file; where no trailer can be read, every line is a person's own."""
    body, told = _parted(text)
    found = list(_blocks(body))
    said = tuple(block.text for block in found if block.text)
    own = tuple("\n".join(block.lines) for block in found if block.lines[0].startswith(_OWN) and not block.text)
    return Page(told.written, said, told.left_out, own) if told else Page((), said, frozenset(), own)


@dataclass(frozen=True, slots=True)
class _Told:
    """What a trailer tells: the lines that were written, by memory id, and the ids that were left out."""

    written: tuple[tuple[str, str], ...]
    left_out: frozenset[str]


def _parted(text: str) -> tuple[str, _Told | None]:
    """What stands above and below the trailer, and what it tells.

    Lines come below it by an append to the file. Of several (two copies merged) the last readable one counts.
    """
    above, *trailers = f"\n{text.removeprefix(_BYTE_ORDER_MARK)}".replace("\r\n", "\n").split(f"\n{_TRAILER}")
    body, told = [above.removeprefix("\n")], None
    for trailer in trailers:
        found, below = _read_trailer(trailer)
        told = found or told
        body.append(below)
    return "\n".join(body), told


def _read_trailer(trailer: str) -> tuple[_Told | None, str]:
    """What it tells, None where that can not be read, and the text behind it."""
    try:
        known, end = json.JSONDecoder().raw_decode(trailer, len(trailer) - len(trailer.lstrip()))
        told = _Told(
            tuple((str(id_), str(line)) for id_, line in known["lines"]), frozenset(map(str, known["leftOut"]))
        )
        return told, trailer[end:].lstrip().removeprefix("-->").lstrip(" ")
    except (ValueError, TypeError, KeyError, RecursionError):
        line, _, below = trailer.partition("\n")
        return None, f"{line.partition('-->')[2].lstrip(' ')}\n{below}"


def _blocks(body: str) -> Iterator[Block]:
    """Like `blocks`, where code, tables, comments and rules are no statements. A fence that is not closed is none."""
    prose: list[str] = []
    own: list[str] = []
    for line in (*body.split("\n"), None):
        if own and own[0].startswith(_ROW) and not (line or "").startswith(_ROW):
            yield Block(tuple(own))
            own = []
        if line is None:
            break
        if own:
            own.append(line)
        elif line.startswith(_OWN) or _is_rule(line):
            yield from _prose(prose)
            prose, own = [], [line]
        else:
            prose.append(line)
        if own and not own[0].startswith(_ROW) and _is_whole(own):
            yield Block(tuple(own))
            own = []
    yield from _prose([*prose, *own])


def _prose(lines: list[str]) -> Iterator[Block]:
    return blocks("\n".join(lines)) if lines else iter(())


def _is_rule(line: str) -> bool:
    return line.startswith(_RULES) and not line.strip("-*_ ")


def _is_whole(own: list[str]) -> bool:
    """Whether what began with the first line ends with the last one."""
    if not own[0].startswith(_FENCES):
        return True
    return len(own) > 1 and own[-1].startswith(own[0][:3]) and not own[-1].strip("`~ ")


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


def page_text(memories: Iterable[Memory], left_out: frozenset[str], own: Iterable[str] = ()) -> str:
    """The page for these memories, which come in the order of their importance, and behind them what is a person's
    ``own``; empty where there is nothing to say."""
    chosen = list(_fitting(one for one in memories if one.id not in left_out))
    written: list[tuple[str, str]] = []
    parts = ["# Long-term Memory"]
    named = dict(_SECTIONS)
    for title in (*named.values(), _REST):
        mine = [one for one in chosen if named.get(one.category, _REST) == title]
        if mine:
            parts.append(f"## {title}\n\n" + "\n".join(item(tidy(one.text)) for one in mine))
            written += [(one.id, _hash(tidy(one.text))) for one in mine]
    parts += own
    if not written and not left_out and not own:
        return ""
    trailer = json.dumps({"lines": written, "leftOut": sorted(left_out)})
    return "\n\n".join(parts) + f"\n\n{_TRAILER} {trailer} -->\n"


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
    return [block.text for block in _blocks(item(text))] == [text]


def _likeness(one: str, other: str) -> float:
    """The share of words that two lines have in common, in order."""
    return SequenceMatcher(None, tokens(one), tokens(other), autojunk=False).ratio()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def page_without(
    text: str, dropped: Collection[str], left_of: Callable[[str], str], left_of_own: Callable[[str], str] | None = None
) -> str | None:
    """The file's text without what is forgotten: lines of memories that are ``dropped``, of others what ``left_of``
    takes out, and ``left_of_own`` of what is no statement. None where nothing is left."""
    page = read_page(text)
    gone = {line for id_, line in page.written if id_ in dropped}
    kept: list[str] = []
    for block in _blocks(_parted(text)[0]):
        said = block.text or "\n".join(block.lines)
        left = "" if _hash(block.text) in gone else (left_of if block.text else left_of_own or left_of)(said)
        if left == said:
            kept += block.lines
        elif left:
            kept.append(item(left) if block.text else left)
    now = read_page("\n".join(kept))
    if not now.said and not now.own:
        return None
    there = {_hash(one) for one in now.said}
    known = {_hash(one) for one in page.said}
    # What was taken out here is not what a person took out: its memory may be written again.
    written = [(id_, line) for id_, line in page.written if id_ not in dropped and (line in there or line not in known)]
    trailer = json.dumps({"lines": written, "leftOut": sorted(page.left_out - set(dropped))})
    return "\n".join(kept).rstrip("\n") + f"\n\n{_TRAILER} {trailer} -->\n"
