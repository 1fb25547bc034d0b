"""Host messages for tests that write them as JSON objects."""

from collections.abc import Iterable, Mapping
from typing import Any

from app.core.messages.host_message import HostMessage


def typed(messages: Iterable[Mapping[str, Any] | HostMessage]) -> tuple[HostMessage, ...]:
    """The messages as the edge reads them."""
    return tuple(one if isinstance(one, HostMessage) else HostMessage(one) for one in messages)


def raw(messages: Iterable[HostMessage]) -> tuple[Mapping[str, Any], ...]:
    """The messages as JSON objects: those that came, where they are the host's."""
    return tuple(message.raw for message in messages)
