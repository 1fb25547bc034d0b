"""A tool output of three megabytes in the middle of a session of the real OpenClaw.

OpenClaw 2026.9.6 hands on 16,000 characters of an output where the model's window is under 100,000 tokens, 32,000 under
200,000, and 64,000 above. What of that is more than one output may take is the sidecar's to cut.
"""

import json
import random
import re
from pathlib import Path

import pytest

from app.core.messages.host_message import tokens_of
from tests.messages import typed
from tests.openclaw.conftest import World
from tests.openclaw.host import text_of
from tests.openclaw.test_tools import step

pytestmark = pytest.mark.rig

WINDOW = 24_000
NOTICE = re.compile(r"read them with ov_tool_result (\{.*?\}) \.\.\.")


@pytest.mark.parametrize("world", ["embedded"], indirect=True)
def test_the_next_request_fits_and_the_model_reads_a_missing_part(world: World, tmp_path: Path) -> None:
    some = random.Random(3)
    lines = [f"{number:06} {some.randbytes(20).hex(' ', 2)}" for number in range(54_000)]
    log = tmp_path / "build.log"
    log.write_text("\n".join(lines))
    assert log.stat().st_size > 3_000_000
    world.gateway.use_window(WINDOW)
    world.gateway.tell("Hello there. SAY: hello", "large")
    words = json.dumps({"command": f"cat {log}"})
    world.gateway.tell(f"Look at the log. TOOL:exec {words} THEN SAY: I saw it.", "large")
    world.gateway.tell("And now? SAY: on we go", "large")
    request = world.asked("And now?")
    assert tokens_of(typed([message for message in request if message["role"] != "system"])) <= WINDOW
    outputs = [text_of(message) for message in request if message["role"] == "tool"]
    assert len(outputs) == 1, outputs
    (output,) = outputs
    found = NOTICE.search(output)
    assert found, f"{len(output)} characters: {output[:600]} ... {output[-600:]}"
    asked = json.loads(found[1])
    world.rig.script.write_text(
        json.dumps([{"user": "Read on", "tools": [step("ov_tool_result", **asked, limit=4_000)], "answer": "Read."}])
    )
    world.gateway.tell("Read on, please.", "large")
    shown = [text_of(message) for message in world.asked("Read on") if message["role"] == "tool"][-1]
    missing = [line for line in lines if line in shown]
    assert len(missing) > 20 and not any(line in output for line in missing[1:-1])
    first = lines.index(missing[0])
    assert missing == lines[first : first + len(missing)], "byte for byte, in order"
