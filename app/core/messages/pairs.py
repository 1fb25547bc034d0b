"""Tool calls and their results belong together: nothing that we cut or rebuild may part them (contract, rule 2).

What the host itself sent broken (a call never answered, a result without its call) stays as it was.
"""

from collections import defaultdict
from collections.abc import Sequence

from app.core.messages.host_message import Messages, Role

NO_RESULT = "No result of this call was recorded."
"""The answer to a call whose result nobody has: providers refuse a call without one."""

Unit = range
"""Neighbouring messages, by index, that stay or go together."""


def units(messages: Messages) -> list[Unit]:
    """The messages as units, in order: a call with its results and all that stands between them, or one message.

    An id may come again in a later round, so a result belongs to the nearest call before it that has its id. Linear.
    """
    reach = _reach(messages)
    found: list[Unit] = []
    start = 0
    while start < len(messages):
        end, index = start, start
        while index <= end:
            end = max(end, reach[index])
            index += 1
        found.append(range(start, end + 1))
        start = end + 1
    return found


def with_results(messages: Messages, steps: Sequence[Unit], known: Sequence[bool]) -> list[bool]:
    """``known``, and also each tool result that answers a known message and stands before another known one.

    ``steps`` are the messages' `units`.

    Hosts rewrite old results in the history they resend (they prune outputs, or got the messages rebuilt by us), so a
    result's text does not prove that it is new. Behind the last known message it may be.
    """
    last = max((index for index, old in enumerate(known) if old), default=-1)
    completed = list(known)
    for unit in steps:
        if known[unit.start]:
            for index in unit:
                completed[index] |= index < last and messages[index].role is Role.TOOL
    return completed


def _reach(messages: Messages) -> list[int]:
    """For each message the last one that answers a call of it, or itself."""
    reach = list(range(len(messages)))
    callers: dict[str, int] = {}
    nameless: defaultdict[str, list[int]] = defaultdict(list)
    for index, message in enumerate(messages):
        for result in message.results:
            if result.call_id:
                caller = callers.get(same_call(result.call_id))
            else:
                open_calls = nameless[result.name]
                caller = open_calls.pop() if open_calls else None
            if caller is not None:
                reach[caller] = index
        for call in message.calls:
            if call.id:
                callers[same_call(call.id)] = index
            else:
                nameless[call.name].append(index)
    return reach


def same_call(call_id: str) -> str:
    """What the spellings of a call's id have in common: OpenClaw drops ``_`` in the history that it asks about."""
    return call_id.replace("_", "")
