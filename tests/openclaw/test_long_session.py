"""Sessions on a small window: a long one, of which the model is told the beginning at every request, and one with a
tool output that is larger than the window.

Thirty turns fill the window twice over; ``SIDECAR_LONG_SESSION_TURNS=150`` goes on for as long as a working day.

OpenClaw 2026.9.6 hands on 16,000 characters of an output where the model's window is under 100,000 tokens, 32,000 under
200,000, and 64,000 above. What of that is more than one output may take is the sidecar's to cut.
"""

import json
import os
import random
import re
from pathlib import Path

import pytest

from app.core.messages.host_message import tokens_of
from tests.messages import typed
from tests.openclaw.conftest import SMALL_WINDOW, World
from tests.openclaw.host import eventually, text_of, without_block
from tests.openclaw.test_tools import step

pytestmark = pytest.mark.rig

TURNS = int(os.environ.get("SIDECAR_LONG_SESSION_TURNS", "30"))
OPENING = (
    "My name is Ilse Brandt and the project is called Nordlicht. SAY: Welcome aboard.",
    "The launch is on 14 March 2027 and the budget is 48,250 euros. SAY: Quite a plan.",
    "Our customer number is KD-77310, and Tomas Okafor signs the invoices. SAY: Good to know.",
)
NOTICE = re.compile(r"read them with ov_tool_result (\{.*?\}) \.\.\.")
FACTS = ("Ilse Brandt", "Nordlicht", "14 March 2027", "48,250", "KD-77310", "Tomas Okafor")


def mark(world: World, turn: int) -> str:
    """Words that only this turn's message holds."""
    return f"Chapter {turn} of the {world.backend} log"


def test_the_opening_facts_stand_before_the_model_at_every_request(small: World) -> None:
    world = small
    for words in OPENING:
        world.gateway.tell(words, "long")
    for turn in range(len(OPENING), TURNS):
        weather = f"the wind blew from the north-west and the crew of deck {turn} was busy. " * 8
        tool = f'TOOL:exec {{"command":"echo deck {turn}"}} THEN ' if turn % 5 == 0 else ""
        world.gateway.tell(f"{mark(world, turn)}: {weather} {tool}SAY: Entry {turn} is kept: {weather}", "long")
    requests = [request["messages"] for request in world.rig.requests()]
    seen = 0
    for turn in range(len(OPENING), TURNS):
        asked = [messages for messages in requests if mark(world, turn) in without_block(text_of(last_user(messages)))]
        assert asked, f"turn {turn} never reached the model"
        for messages in asked:
            shown = json.dumps([message for message in messages if message["role"] != "system"], ensure_ascii=False)
            missing = [fact for fact in FACTS if fact not in shown]
            assert not missing, f"turn {turn}: {missing} are gone, {len(messages)} messages, {len(shown)} characters"
            seen += 1
    print(f"{world.backend}: {seen} requests in {TURNS} turns, all with the opening facts")
    last = next(
        messages
        for messages in reversed(requests)
        if mark(world, TURNS - 1) in without_block(text_of(last_user(messages)))
    )
    assert any("[Session History Summary]" in text_of(message) for message in last), "the window was never full"
    eventually(lambda: not world.gateway.waiting(), what="an empty spool")


def test_an_output_of_three_megabytes_fits_and_the_model_reads_a_missing_part(small: World, tmp_path: Path) -> None:
    some = random.Random(3)
    lines = [f"{number:06} {some.randbytes(20).hex(' ', 2)}" for number in range(54_000)]
    log = tmp_path / "build.log"
    log.write_text("\n".join(lines))
    assert log.stat().st_size > 3_000_000
    small.gateway.tell("Hello there. SAY: hello", "large")
    words = json.dumps({"command": f"cat {log}"})
    small.gateway.tell(f"Look at the log. TOOL:exec {words} THEN SAY: I saw it.", "large")
    small.gateway.tell("And now? SAY: on we go", "large")
    request = small.asked("And now?")
    assert tokens_of(typed([message for message in request if message["role"] != "system"])) <= SMALL_WINDOW
    outputs = [text_of(message) for message in request if message["role"] == "tool"]
    assert len(outputs) == 1, outputs
    (output,) = outputs
    found = NOTICE.search(output)
    assert found, f"{len(output)} characters: {output[:600]} ... {output[-600:]}"
    asked = json.loads(found[1])
    small.rig.script.write_text(
        json.dumps([{"user": "Read on", "tools": [step("ov_tool_result", **asked, limit=4_000)], "answer": "Read."}])
    )
    small.gateway.tell("Read on, please.", "large")
    shown = [text_of(message) for message in small.asked("Read on") if message["role"] == "tool"][-1]
    missing = [line for line in lines if line in shown]
    assert len(missing) > 20 and not any(line in output for line in missing[1:-1])
    first = lines.index(missing[0])
    assert missing == lines[first : first + len(missing)], "byte for byte, in order"


def last_user(messages: list[dict]) -> dict:
    """The newest message of the user that is not the host's own note."""
    own = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT"
    return next(m for m in reversed(messages) if m["role"] == "user" and not text_of(m).startswith(own))
