"""Guidance in the real OpenClaw: a write is held once with what was learnt, then done; a skill that is read shows its
memory; a sub-agent, a scheduled run and a pasted transcript get what helps them; an outage holds nothing.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.identity import Tenant
from app.embedded.storage.layout import user_dir
from tests.openclaw.conftest import _parts, _run
from tests.openclaw.host import Gateway, Rig, Sidecar, eventually, text_of
from tests.openclaw.stored import in_embedded

pytestmark = pytest.mark.rig

LESSON = """# Harbour log guard

## Situation
- Writing the harbour log file of the day.

## Approach
- Begin the harbour log with the date of the tide table.

## Reflect
- A harbour log without a date is refused by the harbour master.
"""
ADVICE = "Begin the harbour log with the date"
FACT = "Ines Duarte is the harbour master."
TASK = "Write the harbour log file of the day. Who is the harbour master? Put that name under it."
HOW_TO = "---\nname: tides\n---\n# Tides\n\n\tRead the tide table first.\n"
TRANSCRIPT = "\n".join(
    f"{who}: {text}"
    for text in ("Did you see the tide table?", "Yes, it is high at noon.", "Then we sail at eleven.")
    for who in ("Mia", "Tom")
)
PROBE = {
    "sessionId": "probe",
    "triggerHint": "write_preflight",
    "inject": "block",
    "toolCall": {"name": "write", "arguments": {"path": "harbour-log.md", "content": "the harbour log"}},
}


class Guided:
    """One gateway and one sidecar that recalls experiences."""

    backend = "embedded"

    def __init__(self, rig: Rig, gateway: Gateway, sidecar: Sidecar) -> None:
        self.rig, self.gateway, self.sidecar = rig, gateway, sidecar

    def prompts(self, text: str, since: int) -> list[str]:
        """What users said to the model, in requests after the first ``since`` in which one said this."""
        requests = self.rig.requests()[since:]
        said = ["\n".join(text_of(m) for m in one["messages"] if m["role"] == "user") for one in requests]
        return [one for one in said if text in one]

    def results(self, say: str, session: str) -> list[str]:
        """What the model was shown of its tool calls in answer to this."""
        before = len(self.rig.requests())
        self.gateway.say(say, session)
        last = self.rig.requests()[before:][-1]
        return [text_of(message) for message in last["messages"] if message["role"] == "tool"]


@pytest.fixture(scope="module")
def guided(openclaw: Rig, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guided]:
    data_dir: Path = tmp_path_factory.mktemp("guided") / "data"
    settings = {"BACKEND": "embedded", "LOG_LEVEL": "debug", "EXPERIENCE__ENABLED": "true"}
    # Before the start: a file that a person puts there later is noticed later, too.
    lessons = user_dir(data_dir, Tenant()) / "memories" / "experiences"
    lessons.mkdir(parents=True)
    (lessons / "harbour-log-guard.md").write_text(LESSON)
    world = Guided(openclaw, *_parts(openclaw, "guided", data_dir, settings))
    for started in _run(world):  # type: ignore[arg-type]
        world.sidecar.post("/memories", {"text": FACT, "for": "peer", "agentId": "main", "sessionId": "told"})
        assert ADVICE in str(world.sidecar.post("/assemble", PROBE))
        yield started  # type: ignore[misc]


def write(path: str) -> str:
    return f'TOOL:write {{"path":"{path}","content":"The harbour log of the day."}}'


def test_a_write_with_a_known_pitfall_is_held_once_and_then_done(guided: Guided) -> None:
    call = write("harbour-log.md")
    held, done = guided.results(f"Keep the log. {call} THEN {call} THEN SAY: kept", "log")[-2:]
    assert ADVICE in held and "make the call again" in held
    assert ADVICE not in done and "held" not in done.lower()


def test_reading_a_skill_shows_its_memory_and_stores_nothing_of_it(guided: Guided, tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "tides" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(HOW_TO)
    read = f'TOOL:read {{"path":"{skill}"}}'
    first, *_ = guided.results(
        f'Tell the tides. {read} THEN TOOL:exec {{"command":"echo high"}} THEN SAY: high', "tides"
    )
    assert first.strip() == HOW_TO.strip()
    eventually(lambda: not guided.gateway.waiting(), what="the turn to be stored")
    [shown] = guided.results(f"Tell the tides again. {read} THEN SAY: low", "tides-2")
    own, _, block = shown.partition("<openviking-context>")
    assert own.rstrip() == first.rstrip()
    assert "## Skill Memory: tides\n- Used once, 100% success\n### Examples\n" in block and "Tell the tides" in block
    eventually(lambda: [m for m in in_embedded(guided.sidecar.data_dir) if m.text == "low"], what="the second turn")
    outputs = [tool.output or "" for message in in_embedded(guided.sidecar.data_dir) for tool in message.tools]
    assert sum("# Tides" in output for output in outputs) == 2
    assert not any("Skill Memory" in output or "openviking-context" in output for output in outputs)


def test_a_sub_agent_gets_experience_and_what_its_parent_knows(guided: Guided) -> None:
    since = len(guided.rig.requests())
    call = json.dumps({"id": "sessions_spawn", "args": {"task": f"{TASK} SAY: the kid is done", "label": "kid"}})
    guided.gateway.say(f"Send a kid. TOOL:tool_call {call} THEN SAY: it is on its way", "parent")
    [prompt, *_] = eventually(lambda: guided.prompts("[Subagent Task]", since), what="the sub-agent's first prompt")
    assert ADVICE in prompt and "Ines Duarte" in prompt


def test_a_scheduled_run_gets_experience(guided: Guided) -> None:
    since = len(guided.rig.requests())
    guided.gateway.verb("cron", f"{TASK} SAY: logged")
    [prompt, *_] = eventually(lambda: guided.prompts("[cron:", since), what="the scheduled run's prompt")
    assert ADVICE in prompt


def test_the_note_beside_a_pasted_transcript_reaches_the_model(guided: Guided) -> None:
    since = len(guided.rig.requests())
    guided.gateway.say(TRANSCRIPT, "pasted")
    assert any("<ingest-reply-assist>" in prompt for prompt in guided.prompts("we sail at eleven", since))


def test_with_the_sidecar_away_a_skill_is_read_as_it_is(guided: Guided, tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "tides" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(HOW_TO)
    guided.sidecar.down()
    [shown] = guided.results(f'Tell the tides now. TOOL:read {{"path":"{skill}"}} THEN SAY: high', "tides-3")
    guided.sidecar.up()
    assert shown.strip() == HOW_TO.strip()


def test_with_the_sidecar_away_no_write_is_held(guided: Guided) -> None:
    guided.sidecar.down()
    [done] = guided.results(f"Keep another log. {write('harbour-log-2.md')} THEN SAY: kept", "log-2")[-1:]
    assert ADVICE not in done and "held" not in done.lower()
    guided.sidecar.up()
