"""What a shape is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from app.core.messages.content_blocks import ToolCall
from app.core.messages.host_message import HostMessage, Messages

Raw = dict[str, Any]


class WriteResult(Protocol):
    """Writes a result."""

    def __call__(self, call: ToolCall, text: str, *, is_error: bool) -> Raw:
        """The message that answers ``call``."""
        ...


@dataclass(frozen=True, slots=True)
class Shape:
    """A way to write calls and results."""

    name: str
    wrote: Callable[[HostMessage], bool]
    """Whether a message holds a call or a result in this shape, which others write otherwise."""
    result: WriteResult
    exchange: Callable[[Messages, ToolCall, str], list[Raw]]
    """A call and its result, to be put before the last of the messages."""
