"""What a guard decided about a tool output. A decision stays: the same output is shown with the same bytes later on.

An output is known again by its call, its time and its text; one that comes back as it was shown, by what was shown.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from app.core.history.guards.output_excerpt import Excerpt
from app.core.json.answers import answer
from app.core.messages.content_blocks import ToolResult
from app.core.messages.pairs import same_call


class Kind(StrEnum):
    """What became of it; a later one may take the place of an earlier one, never the other way round."""

    TRUNCATED = "truncated"
    """It was more than one output may take."""
    TRIMMED = "trimmed"
    """It is of an earlier turn, and its beginning and end stay."""
    CLEARED = "cleared"
    """It is of an earlier turn, and a line stands for it."""
    DROPPED = "dropped"
    """It left the prompt; the digest names it."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A decision about one output."""

    key: str
    """Of the original: see `key_of`."""
    kind: Kind
    room: int = 0
    """What it keeps: tokens where it is truncated, characters where it is trimmed."""
    ref: str = ""
    """The ``callId`` by which the original can be read."""
    tool: str = ""
    chars: int = 0
    """Of the original."""
    shown: str = ""
    """Fingerprint of the text that stands in its place."""
    removed: int = 0
    """Characters that are not shown."""


@answer
@dataclass(frozen=True, slots=True)
class GuardNote:
    """One cut in the answer's messages."""

    kind: Kind
    call_id: str | None
    """Give it to `ov_tool_result`. None for a whole turn."""
    chars: int
    """Characters that were removed."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The original of an output that was cut, to be kept so that it can be read; its cut says under which name."""

    cut: Cut
    text: str | None
    """None where only the decision is new, and the original was kept when the first was made."""
    at: int | None
    """When the output was made, epoch milliseconds, where the host says so."""
    message: str | None = None
    """Fingerprint of the host's message that brings it."""


class Decisions:
    """The cuts of a session, those known before and those made now. Not for two threads at once."""

    def __init__(self, known: Iterable[Cut] = ()) -> None:
        self._cuts: dict[str, Cut] = {}
        self._by_shown: dict[str, Cut] = {}
        self._refs: dict[str, str] = {}
        self.made: dict[str, Cut] = {}
        """Decided now, by key."""
        self._excerpts: dict[tuple[str, str, int], Excerpt] = {}
        for cut in known:
            self._enter(cut)

    def __bool__(self) -> bool:
        return bool(self._cuts)

    def of(self, key: str) -> Cut | None:
        """The decision about the output with this key."""
        return self._cuts.get(key)

    def showing(self, shown: str) -> Cut | None:
        """The decision whose outcome is a text with this fingerprint: the host sent back what we had made of it."""
        return self._by_shown.get(shown)

    def make(self, cut: Cut) -> None:
        """Decide."""
        if self._cuts.get(cut.key) != cut:
            self.made[cut.key] = cut
        self._enter(cut)

    @property
    def gave_way(self) -> bool:
        """Whether outputs of earlier turns were cut now."""
        return any(cut.kind in (Kind.TRIMMED, Kind.CLEARED) for cut in self.made.values())

    def excerpt(self, of: tuple[str, str, int], make: Callable[[], Excerpt]) -> Excerpt:
        """An excerpt, made once: those of large outputs are made while the backend is waited for."""
        if of not in self._excerpts:
            self._excerpts[of] = make()
        return self._excerpts[of]

    def ref_for(self, key: str, call_id: str) -> str:
        """A name of its own for the output: the id of its call, unless another one's original has that already."""
        known = self._cuts.get(key)
        if known and known.ref:
            return known.ref
        name = plain_id(call_id)
        taken = self._refs.get(same_call(name))
        return name if name and taken in (None, key) else f"{name}~{key[:8]}" if name else f"output~{key[:8]}"

    def _enter(self, cut: Cut) -> None:
        self._cuts[cut.key] = cut
        if cut.shown:
            self._by_shown[cut.shown] = cut
        if cut.ref:
            self._refs.setdefault(same_call(cut.ref), cut.key)


MAX_ID_CHARS = 200


def plain_id(call_id: str) -> str:
    """A call's id as a model can repeat it: printable, on one line, of bounded length."""
    if len(call_id) > MAX_ID_CHARS:
        call_id = f"{call_id[:64]}~{fingerprint(call_id)[:8]}"
    return "".join(character for character in call_id if character.isprintable()).strip()


def key_of(result: ToolResult, millis: int | None) -> str:
    """What an output is known by, whether the host spells its call's id with ``_`` or without."""
    who = same_call(result.call_id) or f"\n{result.name}"
    return fingerprint(f"{who}\x1f{millis or ''}\x1f{result.text}")


def fingerprint(text: str) -> str:
    """A short hash of a text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
