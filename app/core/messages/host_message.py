"""A host's message, read once: the edge makes it of the JSON object that came, and it goes back out as it came.

Beyond ``role``, ``content``, ``timestamp`` and the tool fields a message is opaque (contract, Conventions). Understood:
OpenClaw's own shape, OpenAI's (``tool_calls``, role ``tool``) and Anthropic's (``tool_use`` / ``tool_result`` blocks).
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from app.core.cleaning.host_text import clean_assistant_text, clean_user_text
from app.core.injection.fence import strip_blocks
from app.core.json.encoding import encode
from app.core.messages.content_blocks import (
    CALL_TYPES,
    IMAGE_TYPES,
    RESULT_TYPES,
    Block,
    ToolCall,
    ToolResult,
    blocks_in,
    call_in,
    kind_of,
    listed_calls,
    result_in,
    string,
    text_in,
)
from app.core.messages.fingerprints import content_fingerprint, timed_fingerprint
from app.core.messages.timestamps import millis, moment_from
from app.core.messages.tokens import IMAGE_TOKENS, MESSAGE_OVERHEAD, estimate_tokens

T = TypeVar("T")
_keep = object.__setattr__


class Role(StrEnum):
    """A message's role with the styles' spellings folded together."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"
    SUMMARY = "compactionSummary"
    CUSTOM = "custom"
    OTHER = "other"


_ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "toolResult": Role.TOOL,
    "tool_result": Role.TOOL,
    "function": Role.TOOL,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "compactionSummary": Role.SUMMARY,
    "custom": Role.CUSTOM,
}
_FINGERPRINTED = frozenset({Role.USER, Role.ASSISTANT, Role.TOOL})


class _Once(Generic[T]):
    """A property that is computed when it is first asked for, and kept.

    Threads that ask at the same time may each compute it, and come to the same. So nothing is locked;
    `functools.cached_property` has one lock for all objects in Python 3.11: a long text would hold up every other.
    """

    def __init__(self, compute: Callable[["HostMessage"], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, message: "HostMessage", owner: type) -> T:
        value = self._compute(message)
        _keep(message, self._name, value)  # in the instance, where it is found before this
        return value


class HostMessage:
    """One message of a host, or one that we put beside them. It never changes, and is equal to nothing but itself.

    ``raw`` is the JSON object, which nobody may change. All else is read off it once, when it is first asked for;
    any thread may ask. ``json``: where it was encoded already.
    """

    raw: Mapping[str, Any]
    _known_as: "HostMessage | None" = None
    """The message that this one shows in another way."""

    def __init__(self, raw: Mapping[str, Any], json: bytes | None = None) -> None:
        _keep(self, "raw", raw)
        if json is not None:
            _keep(self, "json", json)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a message does not change")

    @_Once
    def role(self) -> Role:
        """The role; a user message that only carries tool results (Anthropic style) is ``TOOL``."""
        if self._named_role is Role.USER and isinstance(self.raw.get("content"), list):
            only_results = any(kind_of(block) in RESULT_TYPES for block in self.blocks) and not self.text
            return Role.TOOL if only_results else Role.USER
        return self._named_role

    @_Once
    def blocks(self) -> tuple[Block, ...]:
        """The content as blocks: a string is one text block, null none; a bare string in a list counts as text."""
        return blocks_in(self.raw.get("content"))

    @_Once
    def text(self) -> str:
        """All text blocks, joined by newlines; a compaction summary's ``summary``; no output, no thinking."""
        if self._named_role is Role.SUMMARY:
            return string(self.raw.get("summary"))
        return "\n".join([text for block in self.blocks if (text := text_in(block))])

    @_Once
    def said(self) -> str:
        """What a person or a model said: the text without injected blocks and host noise. Nothing for other roles."""
        if self.role is Role.USER:
            return clean_user_text(self.text)
        return clean_assistant_text(self.text) if self.role is Role.ASSISTANT else ""

    @_Once
    def unspaced(self) -> str:
        """The text without injected blocks and white space, to be searched in."""
        return "".join(strip_blocks(self.text).split())

    @_Once
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls an assistant message makes, in order, from blocks and from ``tool_calls``."""
        if self._named_role is not Role.ASSISTANT:
            return ()
        in_blocks = [call_in(block) for block in self.blocks if kind_of(block) in CALL_TYPES]
        return (*in_blocks, *listed_calls(self.raw.get("tool_calls")))

    @_Once
    def results(self) -> tuple[ToolResult, ...]:
        """The results it carries: one for a tool message, one per ``tool_result`` block otherwise."""
        if self._named_role is Role.TOOL:
            return (result_in(self.raw),)
        return tuple([result_in(block) for block in self.blocks if kind_of(block) in RESULT_TYPES])

    @_Once
    def time(self) -> datetime | None:
        """When it was made (UTC), or None where ``timestamp`` is missing or nonsense."""
        return moment_from(self.raw.get("timestamp"))

    @_Once
    def json(self) -> bytes:
        """The object as it goes back to the host."""
        return encode(self.raw)

    @_Once
    def tokens(self) -> int:
        """About how many tokens it takes in the prompt: text, thinking, calls, results, images."""
        total = MESSAGE_OVERHEAD
        if self.role is not Role.TOOL:
            total += estimate_tokens(self.text)
        for result in self.results:
            total += estimate_tokens(result.text)
        for call in self.calls:
            total += estimate_tokens(call.name) + estimate_tokens(_argument_text(call.arguments))
        return total + sum([_other_tokens(block) for block in self.blocks])

    @_Once
    def content_fingerprint(self) -> str | None:
        """A fingerprint of what it says, whenever it was said.

        None for what is never captured as conversation: system, summary, custom, unknown roles.
        """
        if self._known_as is not None:
            return self._known_as.content_fingerprint
        if self.role not in _FINGERPRINTED:
            return None
        return content_fingerprint(self.role.value, self.said, self.calls, self.results)

    @_Once
    def fingerprint(self) -> str | None:
        """`content_fingerprint` with the time, if there is one; it starts with ``@`` then."""
        content = self.content_fingerprint
        return None if content is None else timed_fingerprint(content, self.millis)

    @_Once
    def millis(self) -> int | None:
        """Its time in epoch milliseconds."""
        return millis(self.time)

    @_Once
    def is_excluded(self) -> bool:
        """True for a custom entry that the host keeps out of the model's context."""
        return self.role is Role.CUSTOM and bool(self.raw.get("excludeFromContext"))

    @_Once
    def _named_role(self) -> Role:
        return _ROLES.get(string(self.raw.get("role")), Role.OTHER)

    @property
    def original(self) -> "HostMessage":
        """The message that this one shows, which may be less of it."""
        return self._known_as or self

    @_Once
    def is_tool_message(self) -> bool:
        """Whether the whole message is the result of one call, as in OpenClaw's and OpenAI's style."""
        return self._named_role is Role.TOOL

    def with_content(self, content: Any) -> "HostMessage":
        """A copy with another content; nothing else differs."""
        return HostMessage({**self.raw, "content": content})

    def showing(self, content: Any) -> "HostMessage":
        """A copy that shows another content, and is known again as this message."""
        shown = self.with_content(content)
        _keep(shown, "_known_as", self.original)
        return shown

    def with_text_before(self, text: str) -> "HostMessage":
        """A copy of a user message with ``text`` put directly in front of its own text; nothing else differs."""
        content = self.raw.get("content")
        if not isinstance(content, list):
            return self.with_content(text + string(content))
        for index, part in enumerate(content):
            if isinstance(part, str):
                return self.with_content([*content[:index], text + part, *content[index + 1 :]])
            if isinstance(part, Mapping) and text_in(part):
                changed = {**part, "text": text + text_in(part)}
                return self.with_content([*content[:index], changed, *content[index + 1 :]])
        return self.with_content([{"type": "text", "text": text}, *content])

    def with_text_behind(self, text: str) -> "HostMessage":
        """A copy of a tool result with ``text`` directly behind its own text; nothing else differs.

        Where results stand among a user's blocks (Anthropic's style), it goes into the last of them.
        """
        content = self.raw.get("content")
        if not isinstance(content, list):
            return self.with_content(string(content) + text)
        for index in range(len(content) - 1, -1, -1):
            if (part := _with_text_behind(content[index], text)) is not None:
                return self.with_content([*content[:index], part, *content[index + 1 :]])
        return self.with_content([*content, {"type": "text", "text": text.lstrip()}])


def _with_text_behind(part: Any, text: str) -> Any:
    """A block of content with a text behind its own; None where it has none."""
    if isinstance(part, str):
        return part + text
    if not isinstance(part, Mapping):
        return None
    if kind_of(part) in RESULT_TYPES:
        inner = HostMessage({"role": "tool", "content": part.get("content")}).with_text_behind(text)
        return {**part, "content": inner.raw["content"]}
    return {**part, "text": text_in(part) + text} if text_in(part) else None


Messages = Sequence[HostMessage]


def tokens_of(messages: Iterable[HostMessage]) -> int:
    """About how many tokens the messages take in the prompt together."""
    return sum([message.tokens for message in messages])


def encode_messages(messages: Iterable[HostMessage]) -> bytes:
    """The messages as a JSON array."""
    return b"[%b]" % b",".join([message.json for message in messages])


def _other_tokens(block: Block) -> int:
    kind = kind_of(block)
    if kind in IMAGE_TYPES:
        return IMAGE_TOKENS
    if kind in RESULT_TYPES:
        return sum([IMAGE_TOKENS for part in blocks_in(block.get("content")) if kind_of(part) in IMAGE_TYPES])
    return estimate_tokens(string(block.get("thinking"))) if kind == "thinking" else 0


def _argument_text(arguments: Any) -> str:
    try:
        return json.dumps(arguments, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""
