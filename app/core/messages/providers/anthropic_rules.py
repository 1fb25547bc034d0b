"""Anthropic: calls and results in neighbouring messages, sides in turn, ids that come once, signed reasoning
in the turn under way."""

from app.core.messages.host_message import HostMessage, Messages
from app.core.messages.providers.alternation import alternating
from app.core.messages.providers.call_ids import with_unique_ids
from app.core.messages.providers.pairing import paired
from app.core.messages.providers.style import Style
from app.core.messages.providers.thinking import is_signed, without_empty, without_old_thinking, without_thinking


def _cleaned(messages: Messages, prompt_follows: bool) -> list[HostMessage]:
    # Pairing first: a result that nobody asked for becomes the user's, and may begin a turn.
    current = without_old_thinking(with_unique_ids(paired(messages)), prompt_follows)
    return alternating(without_empty([without_thinking(message, is_signed) for message in current]))


STYLE = Style("anthropic", without_old_thinking, _cleaned)
