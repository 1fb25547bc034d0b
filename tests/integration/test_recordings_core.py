"""Turns that a real OpenClaw sent, replayed through capture and assembly without any server."""

import json
import os
from collections import defaultdict
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from app.core.capture.captured_turn import capture_turn
from app.core.capture.incoming import read_incoming
from app.core.history.prompt import assemble_history
from app.core.history.summary_message import own_messages
from app.core.history.summary_text import History
from app.core.messages.fingerprints import known
from app.core.messages.host_message import Role
from tests.messages import raw, typed

RIGS = Path(os.environ.get("RIG_DIR", Path(__file__).parents[3] / "shared" / "rig"))
RECORDING = RIGS / "openclaw" / "recordings" / "turns.jsonl"
NOW = datetime(2026, 3, 1, tzinfo=UTC)

pytestmark = [
    pytest.mark.rig,
    pytest.mark.skipif(not RECORDING.exists(), reason=f"no recorded turns at {RECORDING}; set RIG_DIR"),
]


def calls() -> list[tuple[str, dict[str, Any]]]:
    """(session key, call) in the order the host made them."""
    turns = [json.loads(line) for line in RECORDING.read_text(encoding="utf-8").splitlines()]
    return [(turn["sessionKey"], call) for turn in turns for call in turn["calls"]]


def replayed() -> list[tuple[dict[str, Any], list[Any]]]:
    """Each assemble call's parameters with the turns that were committed in its session before it."""
    committed: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    found = []
    for session, call in calls():
        parameters = call.get("params", {})
        if call["call"] == "commitTurn":
            incoming = read_incoming(typed(parameters["messages"]), None)
            turn = capture_turn(incoming, received_at=NOW, is_heartbeat=bool(parameters.get("isHeartbeat")))
            committed[session][parameters["advancementKey"]] = (parameters["messages"], turn)
        elif call["call"] == "assemble":
            found.append((parameters, list(committed[session].values())))
    return found


def moment(message: dict[str, Any]) -> tuple[Any, Any]:
    return message["role"], message.get("timestamp")


def test_every_recorded_turn_is_captured_with_answered_calls() -> None:
    seen = 0
    for _, call in calls():
        if call["call"] != "commitTurn" or call["params"].get("isHeartbeat"):
            continue
        messages = typed(call["params"]["messages"])
        incoming = read_incoming(messages, None)
        turn = capture_turn(incoming, received_at=NOW)
        tools = [part for message in turn.messages for part in message.parts if hasattr(part, "output")]
        assert len(tools) == sum(len(message.calls) for message in messages)
        assert all(part.output is not None for part in tools)
        assert incoming.occurrence is not None
        seen += 1
    assert seen > 10


def test_committed_messages_are_known_again_in_later_histories() -> None:
    """But for those that the host itself joined with others on the way: they no longer say the same."""
    matched = changed = 0
    for parameters, committed in replayed():
        messages = parameters["messages"]
        record = [fingerprint for _, turn in committed for fingerprint in turn.fingerprints]
        sent = {moment(message) for said, _ in committed for message in said}
        for message, found in zip(messages, known([m.fingerprint for m in typed(messages)], record), strict=True):
            assert not found or moment(message) in sent
            matched += found
            changed += not found and moment(message) in sent
    assert matched > 80
    assert changed <= 0.1 * matched


def test_every_recorded_assemble_keeps_the_rules_with_all_its_turns_archived() -> None:
    assembled = 0
    for parameters, committed in replayed():
        messages = typed(parameters["messages"])
        history = History(
            unsummarised=tuple(message for _, turn in committed for message in turn.messages),
            archived_fingerprints=tuple(fingerprint for _, turn in committed for fingerprint in turn.fingerprints),
        )
        arguments: dict[str, Any] = {
            "token_budget": parameters["tokenBudget"],
            "summary_share": 0.3,
            "prompt_follows": True,
        }
        once = assemble_history(messages, history, **arguments)
        assert raw(assemble_history(once.messages, history, **arguments).messages) == raw(once.messages)
        own = own_messages(once.messages)
        stayed = [message for message, ours in zip(once.messages, own, strict=True) if not ours]
        assert [id(m) for m in stayed] == [id(m) for m in messages if any(m is other for other in stayed)]
        answered = {result.call_id for message in stayed for result in message.results}
        asked = {call.id for message in stayed for call in message.calls}
        assert answered == asked
        never_sent = {moment(m.raw) for m in messages} - {moment(m) for said, _ in committed for m in said}
        assert never_sent <= {moment(message.raw) for message in stayed}
        for one, two in pairwise(once.messages):
            assert not (own_messages([one])[0] and two.role in {Role.USER, Role.SUMMARY})
        assembled += bool(committed)
    assert assembled > 5
