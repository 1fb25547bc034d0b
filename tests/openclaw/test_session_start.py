"""What a session begins with, in the real OpenClaw: it stands in the model's system prompt, and stays as it is."""

import pytest

from tests.openclaw.conftest import World
from tests.openclaw.host import text_of

pytestmark = pytest.mark.rig

OPENING, END = "<openviking-session>", "</openviking-session>"
LATE = 2
"""Turns of a session that may go on without their preflight."""
TURNS = {"embedded": 30, "openviking": 8}


def additions(requests: list[dict]) -> list[str]:
    """The element in the system prompt of each request to the model."""
    prompts = [
        "\n".join(text_of(m) for m in one["messages"] if m["role"] in {"system", "developer"}) for one in requests
    ]
    return [prompt[prompt.index(OPENING) : prompt.index(END)] for prompt in prompts if OPENING in prompt]


def test_thirty_turns_with_memory_writes_have_one_system_prompt(world: World) -> None:
    for fact in ("My mother's name is Elena.", "My mother loves orchids."):
        world.sidecar.post("/memories", {"text": fact})
    before = len(world.rig.requests())
    for number in range(TURNS[world.backend]):
        world.gateway.say(f"Turn number {number}. SAY: heard {number}", "cached")
        world.sidecar.post("/memories", {"text": f"I prefer shade {number} of blue.", "pinned": number % 2 == 0})
    requests = world.rig.requests()[before:]
    shown = additions(requests)
    # On a busy machine a turn may go on before its preflight has answered: it is not delayed, and has no addition.
    assert len(requests) >= TURNS[world.backend] and len(shown) >= len(requests) - LATE
    assert len(set(shown)) == 1 and "Elena" in shown[0] and "orchids" in shown[0]
    prompts = {text_of(m) for one in requests for m in one["messages"] if m["role"] in {"system", "developer"}}
    whole = [prompt for prompt in prompts if OPENING in prompt]
    assert len(whole) == 1, "the whole of the system prompt stayed the same"


def test_the_next_session_knows_what_was_learnt_meanwhile(world: World) -> None:
    before = len(world.rig.requests())
    world.gateway.say("Write a birthday card for my mother. SAY: done", "card")
    [shown] = additions(world.rig.requests()[before:])
    assert "Elena" in shown and f"shade {TURNS[world.backend] - 2}" in shown


def test_a_reset_begins_anew(world: World) -> None:
    world.gateway.reset("cached")
    before = len(world.rig.requests())
    world.gateway.say("Once more. SAY: yes", "cached")
    [shown] = additions(world.rig.requests()[before:])
    assert f"shade {TURNS[world.backend] - 2}" in shown
