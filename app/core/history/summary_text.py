"""The text of the summary in front of a prompt: what every part of the history that is not shown contributes to it.

In order: how the session began, word for word; what compactions were asked to keep; the turns that only the budget
cuts, each named; the backend's overview; a digest of what that does not cover, and one of those turns; the index of
older archives. Each has a share of the space, and what one part already says no other repeats. Deterministic, and the
same as long as the same messages are gone (provider caches).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, islice

from app.core.capture.captured_message import CapturedMessage
from app.core.capture.captured_turn import captured_messages
from app.core.history.digest import digest
from app.core.history.dropped import least_tokens, named, taken_out
from app.core.history.focus import section
from app.core.history.lines import one_line
from app.core.history.notes import NotesOn, notes_on
from app.core.history.session_opening import OPENING_TURNS, opening_lines, told_by
from app.core.history.summary_message import FRAME_TOKENS, INDEX_HEADING, contained, cut_to_tokens
from app.core.injection.fence import voiceless
from app.core.messages.host_message import Messages
from app.core.messages.tokens import MESSAGE_OVERHEAD, estimate_tokens

_NO_TIME = datetime.fromtimestamp(0, UTC)
"""A digest shows no times, so messages that are captured only for one need none."""
OPENING_MESSAGES = 4 * OPENING_TURNS
"""Of how many messages the beginning is read where the store did not keep it."""
_OPENING_SHARE = 4
"""A session's beginning takes at most this part of the space."""
_TURNS_SHARE = 3
"""The lines that name turns which only the budget cut take at most this part of what is left, or what they need."""


@dataclass(frozen=True, slots=True)
class History:
    """What is known of the part of a session that the prompt no longer shows, and how to tell that part."""

    overview: str = ""
    """The backend's summary of everything archived and extracted."""
    abstracts: tuple[tuple[str, str], ...] = ()
    """(archive id, abstract), oldest first."""
    unsummarised: tuple[CapturedMessage, ...] = ()
    """Archived messages that ``overview`` does not cover."""
    opening: tuple[str, ...] = ()
    """What the session's first turns told (`app.core.history.session_opening.told_by`)."""
    focus: str = ""
    """The lines that compactions were asked to keep (`app.core.history.focus`)."""
    live: tuple[CapturedMessage, ...] = ()
    """Stored messages that are not archived: the prompt is rebuilt from them when the host has none."""
    archived_fingerprints: tuple[str, ...] = ()
    """Of the archived host messages, oldest first."""
    seen_fingerprints: tuple[str, ...] = ()
    """Of the whole session; needed only for messages without a time (see `app.core.messages.fingerprints.archived`)."""

    @property
    def is_archived(self) -> bool:
        """Whether there are archives of the session."""
        return bool(self.overview or self.abstracts or self.unsummarised or self.archived_fingerprints)


def summary_text(
    history: History, gone: Messages, cut: Messages, former: str, room: int, notes: NotesOn = notes_on
) -> str:
    """The summary's text within ``room`` tokens; nothing when there is nothing to tell.

    ``gone`` are the host's archived messages, ``cut`` those that the budget leaves out. ``former``: the text of our
    earlier summary where it stands for messages that nobody has any more; then the rest of the history is in it
    already. ``notes``: see `app.core.history.notes.NotesOn`.
    """
    former = voiceless(former)  # it comes from the host
    if former and not cut:
        return cut_to_tokens(former, room)
    taken = captured_messages(cut, _NO_TIME)
    unsummarised = history.unsummarised
    if not (former or history.overview or history.abstracts or unsummarised):
        unsummarised = captured_messages(gone, _NO_TIME)
    rest, named_before = taken_out(former)
    overview = rest if former else contained(history.overview)
    if not (overview or history.abstracts or unsummarised or taken):
        return ""
    began = () if former else history.opening or told_by(islice(chain(unsummarised, taken), OPENING_MESSAGES), notes)
    least = least_tokens(taken, named_before)
    opening = opening_lines(map(contained, began), min(room // _OPENING_SHARE, room - least), overview)
    kept = "" if former else cut_to_tokens(section(contained(history.focus)), (room - _cost(opening)) // 2)
    opening = "\n\n".join(part for part in (opening, kept) if part)
    left = room - _cost(opening)
    turns = _whole_lines(contained(named(taken, max(least, left // _TURNS_SHARE), notes, named_before)), left)
    left -= _cost(turns)
    others = bool(overview or unsummarised)
    newest = contained(digest(taken, left // 2 if others else left, f"{opening}\n{overview}\n{turns}", notes))
    left -= _cost(newest)
    newer = contained(digest(unsummarised, left // 2 if overview else left, opening, notes))
    left -= _cost(newer)
    text = "\n\n".join(part for part in (opening, turns, cut_to_tokens(overview, left - 1), newer, newest) if part)
    abstracts = () if former else history.abstracts
    return "\n\n".join(part for part in (text, _index(abstracts, room - _cost(text))) if part)


def _whole_lines(section: str, room: int) -> str:
    """As many of the section's lines as fit; nothing where that is its heading alone."""
    cut = cut_to_tokens(section, room)
    return cut if "\n" in cut else ""


def summary_tokens(history: History, room: int) -> int:
    """The summary message of ``history`` in a prompt in which it may take ``room`` tokens."""
    return estimate_tokens(summary_text(history, (), (), "", room - FRAME_TOKENS)) + FRAME_TOKENS + MESSAGE_OVERHEAD


def _index(abstracts: Iterable[tuple[str, str]], room: int) -> str:
    """The newest archives' abstracts that fit, oldest first, under their heading."""
    lines = [f"- {one_line(contained(name), 80)}: {one_line(contained(abstract))}" for name, abstract in abstracts]
    left = room - estimate_tokens(INDEX_HEADING) - 1
    fitting: list[str] = []
    for line in reversed(lines):
        left -= estimate_tokens(line) + 1
        if left < 0:
            break
        fitting.append(line)
    return "\n".join([INDEX_HEADING, *reversed(fitting)]) if fitting else ""


def _cost(part: str) -> int:
    """A part's tokens with the gap behind it."""
    return estimate_tokens(part) + 1 if part else 0
