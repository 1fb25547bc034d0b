"""The five rules that hold for every answer of ``/assemble`` (contract), as checks on a request and its answer."""

import copy
from collections.abc import Callable
from typing import Any

from app.core.injection.fence import strip_blocks
from app.core.messages.host_message import HostMessage, Role

Ask = Callable[[dict[str, Any]], dict[str, Any]]


def check_rules(ask: Ask, body: dict[str, Any]) -> dict[str, Any]:
    """Ask, hold the answer against the rules, and return it."""
    sent = copy.deepcopy(body)
    answer = ask(body)
    assert body == sent
    host, given = body.get("messages", []), answer["messages"]
    preflight = answer["recall"] is None
    _nothing_is_lost(host, given, preflight=preflight)
    _roles_stay_valid(host, given)
    again = ask({**body, "messages": given})
    assert again["messages"] == given, "running it again on its own output changed something"
    assert ask(body)["messages"] == given, "the same input gave other bytes"
    block = answer.get("contextBlock")
    if block:
        assert block.count("<openviking-context>") == 1
        assert block.endswith("\n</openviking-context>")
        assert strip_blocks(block) == ""
    return answer


def _nothing_is_lost(host: list[Any], given: list[Any], *, preflight: bool) -> None:
    if preflight:
        kept = [message for message in given if message in host]
        positions = [host.index(message) for message in kept]
        assert positions == sorted(positions), "messages changed their order"
        return
    assert len(given) in {len(host), len(host) + 2}
    changed = [index for index, message in enumerate(host) if message not in given]
    assert len(changed) <= 1
    for index in changed:
        assert index == max(i for i, message in enumerate(host) if HostMessage(message).role is Role.USER)
        assert strip_blocks(HostMessage(given[index]).text) == strip_blocks(HostMessage(host[index]).text)


def _roles_stay_valid(host: list[Any], given: list[Any]) -> None:
    assert _faults(given) <= _faults(host), "we broke what the host sent whole"


def _faults(messages: list[Any]) -> int:
    """User messages in a row, orphan results and unanswered calls (the last assistant's may still be under way)."""
    called: set[str] = set()
    answered: set[str] = set()
    faults = 0
    before: Role | None = None
    for message in map(HostMessage, messages):
        faults += message.role is before is Role.USER
        before = message.role
        called |= {call.id for call in message.calls}
        for result in message.results:
            faults += result.call_id not in called
            answered.add(result.call_id)
    pending = {call.id for call in HostMessage(messages[-1]).calls} if messages else set()
    return faults + len(called - answered - pending)
