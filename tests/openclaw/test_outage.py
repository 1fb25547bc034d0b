"""The sidecar is away, slow or wrong: the host goes on, and nothing is lost or doubled when it is back."""

import time

import pytest

from tests.openclaw.conftest import World
from tests.openclaw.host import eventually
from tests.openclaw.test_tools import shown, step

pytestmark = pytest.mark.rig


def test_five_turns_of_an_outage_arrive_once_and_in_order(alone: World) -> None:
    alone.gateway.say("Before. SAY: before it", "out")
    eventually(lambda: not alone.gateway.waiting(), what="an empty spool")  # a busy machine keeps turns, too
    alone.sidecar.down()
    for n in range(3):
        alone.gateway.say(f"Turn {n} of the outage.\nSecond line. SAY: heard {n}", "out")
    alone.gateway.down()
    alone.gateway.up()
    for n in range(3, 5):
        alone.gateway.say(f"Turn {n} of the outage.\nSecond line. SAY: heard {n}", "out")
    assert len(alone.gateway.waiting()) == 5
    assert alone.gateway.log().count("is out of use") == 1

    alone.sidecar.up()
    eventually(lambda: not alone.gateway.waiting(), what="an empty spool")
    alone.gateway.say("After. SAY: after it", "out")
    replies = ["before it", *(f"heard {n}" for n in range(5)), "after it"]
    eventually(lambda: "after it" in [message.text for message in alone.stored()])
    stored = alone.session_of("before it")
    assert [m.text for m in stored if m.role == "assistant"] == replies
    asked = [m.text for m in stored if m.role == "user"]
    assert asked[1:6] == [f"Turn {n} of the outage.\nSecond line. SAY: heard {n}" for n in range(5)]
    # A busy machine may say the same of the backend behind it, too.
    assert alone.gateway.log().count(f"openviking-sidecar: {alone.sidecar.url} is back") == 1
    assert "degraded to" not in alone.gateway.log()


def test_a_hanging_sidecar_delays_a_reply_by_less_than_two_seconds(alone: World) -> None:
    """The bound is the requirement; the plugin's own for a turn is 1.5 s. The best of three, for a busy machine."""
    turns = iter(range(100))

    def seconds() -> float:
        n = next(turns)
        started = time.monotonic()
        assert alone.gateway.say(f"Turn {n}. SAY: hung {n}", "hang").strip() == f"hung {n}"
        return time.monotonic() - started

    alone.gateway.say("Warm up. SAY: warm", "hang")
    added = []
    for _ in range(3):
        healthy = seconds()
        alone.sidecar.hang()
        added.append(seconds() - healthy)
        seconds()
        alone.sidecar.go_on()
        eventually(lambda: not alone.gateway.waiting(), what="an empty spool")
    print(f"a sidecar that hangs adds {', '.join(f'{s:.2f} s' for s in added)} to a turn")
    assert min(added) < 2.0
    said = next(turns)
    eventually(lambda: f"hung {said - 1}" in [message.text for message in alone.stored()])
    assert [m.text for m in alone.stored() if m.text.startswith("hung")] == [f"hung {n}" for n in range(said)]
    assert "degraded to" not in alone.gateway.log()


def test_what_the_host_could_not_compact_with_us_it_compacts_itself(alone: World) -> None:
    for n in range(3):
        alone.gateway.say(f"Page {n}: {'a long story about the sea. ' * 40} SAY: page {n}", "sea")
    alone.sidecar.down()
    alone.gateway.compact("sea")
    alone.gateway.say("Go on. SAY: still here", "sea")
    alone.sidecar.up()
    eventually(lambda: not alone.gateway.waiting(), what="an empty spool")
    assert "degraded to" not in alone.gateway.log()


def test_what_a_tool_stores_meanwhile_is_not_lost(alone: World) -> None:
    alone.sidecar.down()
    store = step("memory_store", text="The lighthouse keeper plays the tuba.")
    assert "will be remembered" in shown(alone, "Keep that in mind.", "outage", store)
    recall = step("memory_recall", query="what does the lighthouse keeper play")
    assert "not done" in shown(alone, "What does he play?", "outage", recall)
    alone.gateway.down()
    alone.sidecar.up()
    alone.gateway.up()
    eventually(lambda: not alone.gateway.waiting(), 60, "an empty spool")
    assert "tuba" in shown(alone, "And now?", "after", recall)
