"""Over 200 turns of a coding session a prompt fits, tells what was said last, and its cached prefix breaks rarely."""

import json

import pytest

from benchmarks.coding_session import Leaving, Prefix, fact_of, turns
from tests.http.conftest import Start
from tests.http.test_lifecycle import post
from tests.unit.memory_backend import MemoryBackend

BUDGET, TURNS, RARELY = 32_000, 200, 15
SIZES = (100, 200, 400, 700, 1_000, 1_500)
"""Tokens of an output."""
LAST = 4
"""Turns of which every fact is told."""


@pytest.mark.long
@pytest.mark.parametrize("away", [range(0), range(TURNS), range(60, 130)], ids=["up", "down", "back"])
def test_a_long_session_breaks_the_cached_prefix_rarely(start: Start, away: range) -> None:
    backend = Leaving(MemoryBackend())
    client = start(port=backend, limits={"assemble_ms": 60_000}, delivery={"backoff_ms": 1, "max_backoff_ms": 1})
    prefix, history = Prefix(), []
    for number, turn in enumerate(turns(TURNS, SIZES)):
        backend.away = number in away
        scope = {"sessionId": "s1", "tokenBudget": BUDGET}
        answer = post(client, "/assemble", {**scope, "phase": "preflight", "messages": [*history, turn[0]]})
        prefix.see(answer)
        assert answer["estimatedTokens"] <= BUDGET
        shown = json.dumps(answer["messages"])
        assert all(fact_of(n) in shown for n in range(max(0, number - LAST), number + 1))
        history += turn
        post(client, "/after-turn", {**scope, "messages": turn, "wait": not backend.away})
    assert 1 <= len(prefix.breaks) <= TURNS // RARELY, prefix.breaks
