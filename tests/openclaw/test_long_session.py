"""A long session on a small window: what was told at its beginning is before the model at every request.

Thirty turns fill the window twice over; ``SIDECAR_LONG_SESSION_TURNS=150`` goes on for as long as a working day.
"""

import json
import os

import pytest

from tests.openclaw.conftest import World
from tests.openclaw.host import eventually, text_of, without_block

pytestmark = pytest.mark.rig

TURNS = int(os.environ.get("SIDECAR_LONG_SESSION_TURNS", "30"))
WINDOW = 24_000
OPENING = (
    "My name is Ilse Brandt and the project is called Nordlicht. SAY: Welcome aboard.",
    "The launch is on 14 March 2027 and the budget is 48,250 euros. SAY: Quite a plan.",
    "Our customer number is KD-77310, and Tomas Okafor signs the invoices. SAY: Good to know.",
)
FACTS = ("Ilse Brandt", "Nordlicht", "14 March 2027", "48,250", "KD-77310", "Tomas Okafor")


def mark(world: World, turn: int) -> str:
    """Words that only this turn's message holds."""
    return f"Chapter {turn} of the {world.backend} log"


def test_the_opening_facts_stand_before_the_model_at_every_request(world: World) -> None:
    world.gateway.use_window(WINDOW)
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


def last_user(messages: list[dict]) -> dict:
    """The newest message of the user that is not the host's own note."""
    own = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT"
    return next(m for m in reversed(messages) if m["role"] == "user" and not text_of(m).startswith(own))
