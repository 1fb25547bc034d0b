"""Before a write, in the real OpenClaw: it is held once with what was learnt, then done; an outage holds nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.openclaw.conftest import _parts, _run
from tests.openclaw.host import Gateway, Rig, Sidecar, eventually, text_of

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
    world = Guided(openclaw, *_parts(openclaw, "guided", data_dir, settings))
    for started in _run(world):  # type: ignore[arg-type]
        world.sidecar.post("/memories", {"text": "I live by the harbour."})
        [user] = data_dir.glob("accounts/*/*")
        (user / "memories" / "experiences").mkdir(parents=True)
        (user / "memories" / "experiences" / "harbour-log-guard.md").write_text(LESSON)
        eventually(lambda: ADVICE in str(world.sidecar.post("/assemble", PROBE)), 60, "the experience")
        yield started  # type: ignore[misc]


def write(path: str) -> str:
    return f'TOOL:write {{"path":"{path}","content":"The harbour log of the day."}}'


def test_a_write_with_a_known_pitfall_is_held_once_and_then_done(guided: Guided) -> None:
    call = write("harbour-log.md")
    held, done = guided.results(f"Keep the log. {call} THEN {call} THEN SAY: kept", "log")[-2:]
    assert ADVICE in held and "make the call again" in held
    assert ADVICE not in done and "held" not in done.lower()


def test_with_the_sidecar_away_no_write_is_held(guided: Guided) -> None:
    guided.sidecar.down()
    [done] = guided.results(f"Keep another log. {write('harbour-log-2.md')} THEN SAY: kept", "log-2")[-1:]
    assert ADVICE not in done and "held" not in done.lower()
    guided.sidecar.up()
