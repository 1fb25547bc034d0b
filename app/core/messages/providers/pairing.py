"""Every tool call with its result directly behind it: what the providers ask for, and interrupted runs leave behind."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from app.core.messages.content_blocks import RESULT_TYPES, ToolResult, blocks_in, kind_of
from app.core.messages.host_message import HostMessage, Messages, Role
from app.core.messages.pairs import NO_RESULT
from app.core.messages.shapes import shape_of

_LEFT_OVER = "[Result of a tool call that is not shown{name}]"


class _Place(NamedTuple):
    """A call or a result: which message, and which one in it."""

    message: int
    number: int


def paired(messages: Messages) -> list[HostMessage]:
    """The messages with the results of each call directly behind it, in the calls' order, a call without one answered.

    A result whose call is not there becomes a text of the user: its words are worth more than its form. Messages that
    are in order stay as they are. Linear.
    """
    answers = _answers(messages)
    owners = {result: call for call, result in answers.items()}
    shape = shape_of(messages)
    made: list[HostMessage] = []
    placed: set[_Place] = set()
    blocks: dict[int, list[Any]] = {}
    index = 0
    while index < len(messages):
        message = messages[index]
        index += 1
        if _results(message):
            made += _rest(message, index - 1, placed)
        else:
            made.append(message)
        if not message.calls:
            continue
        behind = _behind(messages, index)
        given = [_Place(at, number) for at in behind for number in range(len(_results(messages[at])))]
        wanted = [answers.get(_Place(index - 1, number)) for number in range(len(message.calls))]
        if set(given) == set(wanted) and all(owners[one].message == index - 1 for one in given):
            made += [messages[at] for at in behind]
            index = behind.stop
            continue
        for call, result in zip(message.calls, wanted, strict=True):
            if result is None:
                made.append(HostMessage(shape.result(call, NO_RESULT, is_error=True)))
            else:
                placed.add(result)
                of_message = messages[result.message]
                if result.message not in blocks:
                    blocks[result.message] = _result_blocks(of_message)
                made.append(_alone(of_message, blocks[result.message][result.number]))
    return made


def _answers(messages: Messages) -> dict[_Place, _Place]:
    """For each call that has one its result: the nearest call before a result that has its id, or its name."""
    waiting: defaultdict[str, list[_Place]] = defaultdict(list)
    answers: dict[_Place, _Place] = {}
    for index, message in enumerate(messages):
        for number, result in enumerate(_results(message)):
            if calls := waiting[_key(result.call_id, result.name)]:
                answers[calls.pop()] = _Place(index, number)
        for number, call in enumerate(message.calls):
            waiting[_key(call.id, call.name)].append(_Place(index, number))
    return answers


def _key(call_id: str, name: str) -> str:
    return f"id {call_id.replace('_', '')}" if call_id else f"name {name}"


def _behind(messages: Messages, start: int) -> range:
    """The messages with results from ``start`` on."""
    end = start
    while end < len(messages) and _results(messages[end]):
        end += 1
    return range(start, end)


def _result_blocks(message: HostMessage) -> list[Any]:
    """The block of each of a message's results; the whole message is its only result where None."""
    if not _is_of_blocks(message):
        return [None]
    return [block for block in message.blocks if kind_of(block) in RESULT_TYPES]


def _alone(message: HostMessage, block: Any) -> HostMessage:
    """One of a message's results as a message of its own."""
    return message if block is None or len(message.blocks) == 1 else message.with_content([block])


def _rest(message: HostMessage, index: int, placed: set[_Place]) -> Iterator[HostMessage]:
    """What is left of a message whose results were placed elsewhere; those that nothing asked for are text."""
    if not _is_of_blocks(message):
        if _Place(index, 0) not in placed:
            yield HostMessage({"role": "user", "content": _as_text(message.raw, message.results[0])})
        return
    content: list[Any] = []
    number = -1
    for part in message.raw["content"]:
        if not isinstance(part, Mapping) or kind_of(part) not in RESULT_TYPES:
            content.append(part)
            continue
        number += 1
        if _Place(index, number) not in placed:
            content += _as_text(part, message.results[number])
    if content:
        yield message.with_content(content)


def _results(message: HostMessage) -> tuple[ToolResult, ...]:
    """The results of a message in which a provider looks for any."""
    return message.results if message.role is Role.TOOL or _is_of_blocks(message) else ()


def _is_of_blocks(message: HostMessage) -> bool:
    """Whether its results are blocks of its content, as Anthropic writes them, and not the message itself."""
    return message.raw.get("role") in {"user", "human", "assistant"}


def _as_text(source: Mapping[str, Any], result: ToolResult) -> list[Any]:
    """A result as blocks of a user's message."""
    heading = _LEFT_OVER.format(name=f": {result.name}" if result.name else "")
    blocks = blocks_in(source.get("content"))
    return [{"type": "text", "text": heading}, *blocks]
