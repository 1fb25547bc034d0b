"""OpenAI: each call has its tool message directly behind it; there is no reasoning among the messages."""

from app.core.messages.host_message import HostMessage, Messages
from app.core.messages.providers.pairing import paired
from app.core.messages.providers.style import Style
from app.core.messages.providers.thinking import without_empty, without_thinking


def _thinned(messages: Messages, prompt_follows: bool) -> list[HostMessage]:  # noqa: ARG001
    return [without_thinking(message) for message in messages]


def _cleaned(messages: Messages, prompt_follows: bool) -> list[HostMessage]:
    return without_empty(paired(_thinned(messages, prompt_follows)))


STYLE = Style("openai", _thinned, _cleaned)
