"""What a style is, and the empty one."""

from collections.abc import Callable
from dataclasses import dataclass

from app.core.messages.host_message import HostMessage, Messages

Clean = Callable[[Messages, bool], list[HostMessage]]
"""Takes messages, and whether the host puts one more user message behind them. Running it on its own output changes
nothing, and what is fine comes back as the same object."""


@dataclass(frozen=True, slots=True)
class Style:
    """A provider's rules."""

    name: str
    thin: Clean
    """Takes out the reasoning of old turns, which no provider reads. Done first: what it frees, the history may use."""
    clean: Clean
    """Makes the conversation valid: calls answered, roles in turn, nothing empty. Done last. No text is lost."""


def unchanged(messages: Messages, prompt_follows: bool) -> list[HostMessage]:  # noqa: ARG001
    """Nothing is changed."""
    return list(messages)
