"""Gemini: user and model strictly in turn, where a tool's result is the user's; no reasoning of others."""

from app.core.messages.host_message import HostMessage, Messages
from app.core.messages.providers.alternation import alternating
from app.core.messages.providers.pairing import paired
from app.core.messages.providers.style import Style
from app.core.messages.providers.thinking import without_empty, without_thinking


def _thinned(messages: Messages, prompt_follows: bool) -> list[HostMessage]:  # noqa: ARG001
    return [without_thinking(message) for message in messages]


def _cleaned(messages: Messages, prompt_follows: bool) -> list[HostMessage]:
    calm = paired(without_empty(_thinned(messages, prompt_follows)))
    return alternating(calm, reply_to_results=True)


STYLE = Style("gemini", _thinned, _cleaned)
