"""What OpenClaw gains: facts from other sessions, turns stored once, sessions that go on behind a summary.

The tests of this file run in order on one gateway per backend, as a day in an assistant's life: facts are told first,
and asked for once the backend has had its time to extract them.
"""

import json

import pytest

from tests.openclaw.conftest import World
from tests.openclaw.host import eventually, text_of

pytestmark = pytest.mark.rig

TURNS = 10
BLOCK, END = "<openviking-context>", "</openviking-context>"
SUMMARY = "[Session History Summary]"


def step(n: int) -> str:
    """A turn with line breaks, two calls at once, and a reply that nobody else gives."""
    two = " ".join(
        f'TOOL:exec {{"command":"printf \'{part} {n}\\\\n  indented\\\\n\'"}}' for part in ("first", "second")
    )
    return f"Step number {n}, please:\n\n\tdef step():\n\t    return {n}\n{two} THEN SAY: step {n} is done"


def blocks(messages: list[dict]) -> list[str]:
    """The injected blocks in a request to the model."""
    texts = [text_of(message) for message in messages]
    return [text[text.index(BLOCK) : text.index(END)] for text in texts if BLOCK in text and END in text]


def conversation(messages: list[dict]) -> list[dict]:
    """A request to the model without the system prompt and the note that the host puts behind the last message."""
    own = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT"
    return [m for m in messages if m["role"] != "system" and not text_of(m).startswith(own)]


def test_facts_are_told(world: World) -> None:
    world.gateway.say("I love jasmine tea from Fujian. Please remember this. SAY: noted, jasmine", "tea")
    world.gateway.say("我喜欢群青色，请记住。 SAY: 记住了", "colour")
    for session in ("tea", "colour"):
        world.gateway.reset(session)
    told = eventually(lambda: [m for m in world.stored() if "jasmine" in m.text or "群青色" in m.text])
    assert {message.role for message in told} >= {"user"}


def test_ten_turns_with_tools_are_stored_once_and_whole(world: World) -> None:
    for n in range(TURNS):
        assert world.gateway.say(step(n), "tools").strip() == f"step {n} is done"
    stored = eventually(
        lambda: (
            [m for m in world.stored() if "tep" in m.text or m.tools]
            if sum(m.text == f"step {n} is done" for m in world.stored() for n in range(TURNS)) >= TURNS
            else []
        )
    )
    # Other sessions of this backend's user may hold tool calls, too.
    sessions = {m.session for m in stored if m.text.startswith("Step number")}
    assert len(sessions) == 1
    stored = [m for m in stored if m.session in sessions]
    assert [m.text for m in stored if m.role == "user" and m.text.startswith("Step number")] == [
        step(n) for n in range(TURNS)
    ]
    assert [m.text for m in stored if m.text.endswith("is done") and m.role == "assistant"] == [
        f"step {n} is done" for n in range(TURNS)
    ]
    outputs = [tool.output.strip() for m in stored for tool in m.tools if tool.output]
    assert outputs == [f"{part} {n}\n  indented" for n in range(TURNS) for part in ("first", "second")]
    commands = [tool.input["command"] for m in stored for tool in m.tools]
    assert len(commands) == len(set(commands)) == 2 * TURNS


def test_a_fact_of_another_session_reaches_the_model(world: World) -> None:
    question = "Which tea do I love?"
    eventually(lambda: "jasmine" in world.sidecar.recalls(question, "probe-1"), 120, "a memory of the tea")
    world.gateway.say(f"{question} SAY: jasmine, as I recall", "asks")
    [block] = blocks(world.asked(question))
    assert "jasmine" in block


def test_so_does_a_chinese_one(world: World) -> None:
    question = "我喜欢什么颜色？"
    eventually(lambda: "群青色" in world.sidecar.recalls(question, "probe-2"), 120, "a memory of the colour")
    world.gateway.say(f"{question} SAY: 群青色", "asks")
    assert any("群青色" in block for block in blocks(world.asked(question)))


def test_another_agent_does_not_see_it(world: World) -> None:
    question = "Which tea do I love, jasmine or another one?"
    world.gateway.say(f"{question} SAY: no idea", "asks", agent="second")
    assert not any("Fujian" in block for block in blocks(world.asked(question)))
    eventually(lambda: [m for m in world.stored() if m.text.startswith(question)])


def test_nothing_that_was_injected_is_stored(world: World) -> None:
    eventually(lambda: [m for m in world.stored() if m.text.startswith("我喜欢什么颜色")])
    everything = json.dumps([[m.text, str(m.tools)] for m in world.stored()])
    for mark in ("openviking-context", "Long-term Memories", SUMMARY):
        assert mark not in everything


def test_after_compaction_the_model_sees_summary_and_live_messages(world: World) -> None:
    before = len(world.asked("Step number 9"))
    world.gateway.compact("tools")
    world.gateway.say("What came out of it? SAY: all ten are done", "tools")
    world.gateway.say("And the last one? SAY: it was nine", "tools")
    messages = world.asked("And the last one?")
    texts = [text_of(message) for message in conversation(messages)]
    assert [SUMMARY in text for text in texts] == [True] + [False] * (len(texts) - 1)
    assert len(messages) < before
    assert any("all ten are done" in text for text in texts)
    assert any("And the last one?" in text for text in texts)
    roles = [message["role"] for message in conversation(messages)]
    assert "user,user" not in ",".join(roles)


def test_an_overflow_is_recovered_with_a_shorter_history(world: World) -> None:
    for n in range(3):
        chapter = f"Chapter {n}: {'the ship went on and on over the wide sea; ' * 60}"
        world.gateway.say(f"{chapter} SAY: chapter {n} heard", "overflow")
    world.gateway.say(f"CTXONCE:{world.backend}:1 What was it about? SAY: dragons", "overflow")
    messages = world.asked("What was it about?")
    assert any(SUMMARY in text_of(message) for message in messages)
    assert not any(
        text_of(message).endswith("chapter 0 heard") for message in messages if message["role"] == "assistant"
    )


def test_after_a_reset_the_old_summary_is_gone(world: World) -> None:
    world.gateway.reset("tools")
    world.gateway.say("A new beginning. SAY: hello again", "tools")
    [only] = conversation(world.asked("A new beginning."))
    assert only["role"] == "user"
    assert SUMMARY not in text_of(only)


def test_cron(world: World) -> None:
    world.gateway.verb("cron", "Count the open tickets SAY: seven tickets are open")
    stored = eventually(lambda: [m for m in world.stored() if "seven tickets are open" in m.text])
    assert sum(m.role == "assistant" for m in stored) == 1


def test_a_sub_agent(world: World) -> None:
    task = json.dumps({"id": "sessions_spawn", "args": {"task": "SAY: the kid is done", "label": "kid"}})
    world.gateway.say(f"Send a kid. TOOL:tool_call {task} THEN SAY: the kid is on its way", "parent")
    stored = eventually(
        lambda: [m for m in world.stored() if m.role == "assistant" and m.text == "the kid is done"],
        what="the child's turn",
    )
    parents = [m for m in world.stored() if m.text == "the kid is on its way"]
    assert len(stored) == len(parents) == 1
    assert stored[0].session != parents[0].session
    world.gateway.say("Is it back? SAY: it is back", "parent")
    world.gateway.say("Anything else? SAY: nothing else", "parent")
    eventually(lambda: [m for m in world.stored() if m.text == "nothing else"])
    said = [m.text for m in world.stored() if m.session == parents[0].session and m.role == "assistant"]
    shown = [text_of(m) for m in world.asked("Anything else?") if m["role"] == "assistant"]
    reply = next(text for text in shown if text.startswith("the kid is on its way")).removeprefix(
        "the kid is on its way"
    )
    assert reply.strip(), "the host appended no reply to the sub-agent's result"
    assert [text.strip() for text in said].count(reply.strip()) == 1
    assert sum("the kid is on its way" in text for text in said) == 1


def test_a_heartbeat_leaves_nothing(world: World) -> None:
    world.gateway.verb("heartbeat")
    world.gateway.say("Anything new? SAY: nothing at all", "main")
    eventually(lambda: [m for m in world.stored() if m.text == "nothing at all"])
    assert not any("heartbeat" in m.text.lower() for m in world.stored())


def test_the_host_never_passed_the_engine_over(world: World) -> None:
    log = world.gateway.log()
    assert "degraded to" not in log
    assert "went wrong" not in log
    assert world.gateway.waiting() == []
