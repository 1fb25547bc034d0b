"""A turn's messages as the host sends them, read once, and what tells each message and the whole turn again."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from app.core.history.summary_message import own_messages
from app.core.messages.fingerprints import is_timed
from app.core.messages.host_message import HostMessage, Messages

Span = tuple[int, int]
"""First and last time, both included, in epoch milliseconds."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """The messages of a turn that may be new."""

    messages: tuple[HostMessage, ...]
    count: int | None
    """How many messages of the host's list are history, as the host says."""
    is_placed: bool
    """Whether the count says where the turn starts. If not, only what was captured before can say what is new."""
    fingerprint: str
    """Of what is said, whenever and wherever: one key stands for one fingerprint."""
    occurrence: str | None
    """What only a repeat of this turn shares with it; None where the same words may be said again.

    With times it starts with ``@`` and covers what was said when. Without times it covers what was said and the host's
    count, which starts from nothing in each epoch.
    """

    @property
    def span(self) -> Span | None:
        """The times of all messages; None when none carries one."""
        return span_of(self.messages)

    @property
    def has_untimed(self) -> bool:
        """Whether a message to capture carries no time, so that only its place among others tells it again."""
        return any(one.fingerprint and not is_timed(one.fingerprint) for one in self.messages)


def read_incoming(messages: Messages, pre_prompt_count: int | None) -> Incoming:
    """``messages`` without the history before ``pre_prompt_count``, and without what `preflight` put there itself.

    A count that is absent, or leaves nothing behind it, says nothing: then the whole list may be new.
    """
    is_placed = pre_prompt_count is not None and 0 <= pre_prompt_count < len(messages)
    start = (pre_prompt_count or 0) if is_placed else 0
    own = own_messages(messages)
    offered = tuple(message for index, message in enumerate(messages) if index >= start and not own[index])
    return Incoming(
        messages=offered,
        count=pre_prompt_count,
        is_placed=is_placed,
        fingerprint=_hashed(None, [message.content_fingerprint for message in offered]),
        occurrence=_occurrence([message.fingerprint for message in offered], pre_prompt_count),
    )


def span_of(messages: Messages) -> Span | None:
    """The first and the last time of those that are captured as conversation; None when none of them carries one."""
    times = [one.millis for one in messages if one.fingerprint and one.millis is not None]
    return (min(times), max(times)) if times else None


def _occurrence(fingerprints: Sequence[str | None], count: int | None) -> str | None:
    if any(fingerprint and is_timed(fingerprint) for fingerprint in fingerprints):
        return "@" + _hashed(None, [fingerprint for fingerprint in fingerprints if fingerprint])
    return _hashed(count, fingerprints) if count is not None and any(fingerprints) else None


def _hashed(count: int | None, fingerprints: Sequence[str | None]) -> str:
    text = f"at {count}\n" + "\n".join(fingerprint or "-" for fingerprint in fingerprints)
    return hashlib.sha256(text.encode()).hexdigest()
