"""Tool outputs in a history: where they stand, in whichever style, and the message with another text in their place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core.messages.content_blocks import IMAGE_TYPES, RESULT_TYPES, ToolResult, blocks_in, kind_of, text_in
from app.core.messages.host_message import HostMessage, Role
from app.core.messages.tokens import IMAGE_TOKENS, MESSAGE_OVERHEAD, estimate_tokens

IN_MESSAGE = -1
"""The place of an output that is a whole message."""


@dataclass(frozen=True, slots=True)
class Output:
    """One output. ``index`` is its message's, ``place`` its block's number in there, or `IN_MESSAGE`."""

    index: int
    place: int
    result: ToolResult
    turns_since: int
    """How many turns began after it."""
    millis: int | None
    images: int

    tokens: int
    """What it takes in the prompt."""

    @property
    def text(self) -> str:
        """All of its text."""
        return self.result.text


def outputs_in(messages: Sequence[HostMessage]) -> list[Output]:
    """Every tool output, oldest first."""
    found: list[Output] = []
    turns = 0
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        found += reversed([_output(message, index, place, result, turns) for place, result in _results(message)])
        turns += message.role is Role.USER
    return found[::-1]


def with_output(message: HostMessage, place: int, text: str, *, images: bool) -> HostMessage:
    """The message with ``text`` in the place of an output's text; without its images, too, unless they are to stay.

    It is still known as the message that it was (`HostMessage.fingerprint`): only what is shown of it differs.
    """
    if place == IN_MESSAGE:
        return message.showing(_content(message.raw.get("content"), text, images=images))
    content = list(message.raw["content"])
    block = content[place]
    content[place] = {**block, "content": _content(block.get("content"), text, images=images)}
    return message.showing(content)


def _results(message: HostMessage) -> Iterator[tuple[int, ToolResult]]:
    if not message.results:
        return
    if message.is_tool_message:
        yield IN_MESSAGE, message.results[0]
        return
    content = message.raw.get("content")
    places = [i for i, block in enumerate(content if isinstance(content, list) else ()) if _is_result(block)]
    yield from zip(places, message.results, strict=True)


def _is_result(block: Any) -> bool:
    return isinstance(block, Mapping) and kind_of(block) in RESULT_TYPES


def _output(message: HostMessage, index: int, place: int, result: ToolResult, turns: int) -> Output:
    source = message.raw if place == IN_MESSAGE else message.raw["content"][place]
    images = sum(kind_of(block) in IMAGE_TYPES for block in blocks_in(source.get("content")))
    if place == IN_MESSAGE:
        tokens = message.tokens - MESSAGE_OVERHEAD  # which is kept
    else:
        tokens = estimate_tokens(result.text) + images * IMAGE_TOKENS
    return Output(index, place, result, turns, message.millis, images, tokens)


def _content(content: Any, text: str, *, images: bool) -> Any:
    """``content`` with one text in the place of all its texts; a string stays a string."""
    if not isinstance(content, list):
        return text
    changed: list[Any] = []
    written = False
    for block in content:
        if isinstance(block, str) or (isinstance(block, Mapping) and text_in(block)):
            if not written:
                changed.append(text if isinstance(block, str) else {**block, "text": text})
            written = True
        elif images:
            changed.append(block)
    return changed if written else [{"type": "text", "text": text}, *changed]
