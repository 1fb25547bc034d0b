"""What the model still sees of earlier recalls, read off the host's live messages: no state to keep or to lose."""

from collections.abc import Iterator, Sequence

from app.core import fence
from app.core.messages import Message, Role, role_of, text_of, tool_results


def shown_items(messages: Sequence[Message], turns: int) -> frozenset[str]:
    """The memory items, as they were rendered, in blocks of the last ``turns`` user turns before the latest message.

    A block may stand in a user message or in the result of a simulated call.
    """
    return frozenset(
        item for text in _texts(messages[:-1], turns) if fence.MEMORIES_HEADING in text for item in _items(text)
    )


def _texts(messages: Sequence[Message], turns: int) -> Iterator[str]:
    left = turns
    for message in reversed(messages):
        if left <= 0:
            return
        role = role_of(message)
        if role is Role.USER:
            left -= 1
            yield text_of(message)
        elif role is Role.TOOL:
            yield from (result.text for result in tool_results(message))


def _items(text: str) -> Iterator[str]:
    """The items of every memory section: a line ``- [...``, with the lines below it that are indented or empty."""
    _, *sections = text.split(f"{fence.MEMORIES_INTRO}\n")
    for section in sections:
        item: list[str] = []
        for line in section.split("\n"):
            if item and (line.startswith("  ") or not line):
                item.append(line)
                continue
            if item:
                yield "\n".join(item).rstrip("\n")
            if not line.startswith("- ["):
                break
            item = [line]
        else:
            yield "\n".join(item).rstrip("\n")
