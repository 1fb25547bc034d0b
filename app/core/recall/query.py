"""What is searched for: the latest thing a person asked, cleaned and cut to size (contract, transform)."""

import hashlib
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from app.classify.fillers import is_no_query
from app.core.cleaning.host_text import clean_user_text
from app.core.history.summary_message import is_summary
from app.core.messages.host_message import HostMessage, Messages, Role

MAX_CHARS = 4000
"""The longest query in characters."""
MAX_EARLIER_CHARS = 1000
"""What one earlier message may add: the latest one is what the query is about."""
MAX_FOLLOWED = 5
"""User messages, the latest included, among which a follow-up question finds what it is about."""

_JOINER = "\u200d"
_FLAG_HALVES = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_LONGEST_CLUSTER = 32
"""Longer than any character people write; a run of marks beyond it is cut anywhere."""


@dataclass(frozen=True, slots=True)
class Query:
    """The text to search with; ``latest`` is the latest message's part, ``cut`` tells that something was left out."""

    text: str
    latest: str
    cut: bool
    turns: tuple[int, ...] = (0,)
    """The user messages in ``text``, counted back from the latest one, which is 0."""
    subject: str = ""
    """What a follow-up question is about: the message that it goes back to. Empty for a question of its own."""


def asks(messages: Messages) -> bool:
    """Whether the last message is a person's: the only moment to recall. A summary of ours asks nothing."""
    return bool(messages) and _is_asked(messages[-1])


def build_query(
    messages: Messages,
    prompt: str | None = None,
    turns: int = 1,
    follows: Callable[[str], bool] = lambda _text: False,
) -> Query:
    """The query of a turn: the latest user message, or ``prompt`` when the last message is not a user's.

    With ``turns`` > 1 the user messages before it fill what is left of `MAX_CHARS`, latest first, each on its own line.
    A message that ``follows`` others takes the one before it in any case, and so on while that one follows, too: up to
    the first that stands alone, among the last `MAX_FOLLOWED`. What was talked about before that stays out.
    An empty text means that there is nothing to search for.
    """
    users = _user_texts(messages)
    asked = clean_user_text(prompt).strip() if prompt else ""
    latest = asked if asked and not asks(messages) else next(users, "") or asked
    head = cut_text(latest, MAX_CHARS)
    parts, places, room, cut = [head], [0], MAX_CHARS - len(head), head != latest
    is_open, subject = bool(head) and follows(head), ""
    wanted = users if head and (turns > 1 or is_open) else ()
    for back, earlier in enumerate(wanted, start=1):
        is_open = is_open and back < MAX_FOLLOWED
        if len(parts) >= turns and not is_open:
            break
        if earlier in ("", latest):
            continue
        goes_on = is_open and follows(earlier)
        says_nothing = not goes_on and is_no_query(earlier)
        if len(parts) >= turns and says_nothing:
            continue
        part = cut_text(earlier, min(room - 1, MAX_EARLIER_CHARS))
        cut = cut or part != earlier
        if not part:
            break
        parts.append(part)
        places.append(back)
        room -= len(part) + 1
        if is_open and not says_nothing:
            subject, is_open = part, goes_on
    return Query("\n".join(parts), head, cut, tuple(places), subject)


def fingerprint(text: str) -> str:
    """Tells whether two messages ask the same, as far as a query has room for them."""
    return hashlib.sha256(cut_text(text.strip(), MAX_CHARS).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def cut_text(text: str, limit: int) -> str:
    """At most ``limit`` characters of ``text``, not ending inside what a reader sees as one character."""
    if len(text) <= limit:
        return text
    end = max(limit, 0)
    for position in range(end, max(end - _LONGEST_CLUSTER, 0), -1):
        if not _continues(text, position):
            return text[:position].rstrip()
    return text[:end].rstrip() if end > _LONGEST_CLUSTER else ""


def _user_texts(messages: Messages) -> Iterator[str]:
    for message in reversed(messages):
        if _is_asked(message):
            yield message.said.strip()


def _is_asked(message: HostMessage) -> bool:
    return message.role is Role.USER and not is_summary(message)


def _continues(text: str, position: int) -> bool:
    """Whether the character at ``position`` belongs to the one before it: marks, joined emoji, skin tones, flags."""
    here, before = text[position], text[position - 1]
    if here == _JOINER or before == _JOINER or unicodedata.category(here).startswith("M"):
        return True
    if here in _FLAG_HALVES:
        before_here = text[:position]
        return (len(before_here) - len(before_here.rstrip(_FLAG_HALVES))) % 2 == 1
    return "\U0001f3fb" <= here <= "\U0001f3ff"
