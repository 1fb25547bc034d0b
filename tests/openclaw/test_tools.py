"""The agent's tools in the real OpenClaw: a scripted model calls them, and is shown what the sidecar answers."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.openclaw.conftest import World
from tests.openclaw.host import eventually, text_of

pytestmark = pytest.mark.rig

FACT = "The harbour master's parrot is called Bartholomew."


def step(name: str, **arguments: object) -> dict[str, Any]:
    """A call of one of the plugin's tools, which the host keeps behind its own `tool_call`."""
    return {"name": "tool_call", "args": {"id": name, "args": arguments}}


def shown(world: World, say: str, session: str, call: dict[str, Any]) -> str:
    """What the model was shown when it made this call in answer to what the user says."""
    world.rig.script.write_text(json.dumps([{"user": re.escape(say), "tools": [call], "answer": "Done."}]))
    before = len(world.rig.requests())
    world.gateway.say(say, session)
    requests = world.rig.requests()[before:]
    results = [text_of(m) for request in requests for m in request["messages"] if m["role"] == "tool"]
    assert results, "no tool result reached the model"
    return results[-1]


def test_the_host_offers_every_tool(world: World) -> None:
    found = shown(world, "What can you do?", "offer", {"name": "tool_search", "args": {"query": "memory"}})
    for name in ("memory_recall", "memory_store", "memory_forget"):
        assert name in found


def test_the_agent_stores_recalls_and_forgets(world: World) -> None:
    stored = shown(world, "Keep that in mind.", "keeper", step("memory_store", text=FACT, category="notes"))
    assert "Remembered as m_" in stored
    recall = step("memory_recall", query="harbour master parrot name")
    assert "Bartholomew" in shown(world, "What was the name again?", "asker", recall)
    assert "Bartholomew" in shown(world, "And all there is?", "asker", step("ov_search", query="parrot Bartholomew"))
    assert "memories" in shown(world, "What do you have?", "asker", step("ov_ls"))
    forget = step("memory_forget", query="harbour master parrot Bartholomew")
    assert "Forgotten: m_" in shown(world, "Drop it.", "forgetter", forget)
    assert "Bartholomew" not in shown(world, "What was the name again?", "asks again", recall)


def test_an_imported_folder_answers_what_nothing_else_does(world: World, tmp_path: Path) -> None:
    folder = tmp_path / f"atlas-{world.backend}"
    folder.mkdir()
    rewind = "## Rollback\n\nTo go back to the release before, run `atlas rewind --to tuesday` on the console.\n"
    (folder / "guide.md").write_text(f"# Atlas guide\n\nAtlas deploys services to the cluster.\n\n{rewind}")
    (folder / ".gitignore").write_text("draft.md\n")
    (folder / "draft.md").write_text("# Draft\n\nThe release before is found in the attic.\n")
    world.gateway.command(f'/ov-import "{folder}"', "importer")
    uri = f"viking://~/resources/atlas-{world.backend}"

    def ready() -> list[dict[str, Any]]:
        listed = world.sidecar.get("/resources")["resources"]
        return [one for one in listed if one["uri"] == uri and one["status"] == "ready"]

    eventually(ready, 300, "the imported folder")
    question = "What do I run to go back to the release before?"
    eventually(lambda: "## Documents" in world.sidecar.recalls(question, "looks"), 300, "what the server has indexed")
    world.gateway.say(f"{question} SAY: noted", "asks-documents")
    [said] = [text_of(m) for m in world.asked(question) if m["role"] == "user" and question in text_of(m)]
    assert "## Documents" in said and "atlas rewind --to tuesday" in said and uri in said
    assert "attic" not in said


def test_a_mistake_reaches_the_model_as_advice(world: World) -> None:
    told = shown(world, "And that other one.", "forgetter", step("memory_forget", id="m_nobody"))
    assert "There is no memory with this id" in told


def test_the_agent_reads_what_a_summary_stands_for(world: World) -> None:
    words = "make ship ENV=harbour-7"
    world.gateway.say(f"The deploy command is `{words}`, to the letter. SAY: noted", "manual")
    for n in range(4):
        world.gateway.say(f"Chapter {n}: {'the ship went on over the wide sea; ' * 30} SAY: heard {n}", "manual")
    world.gateway.compact("manual")
    found = shown(world, "Which command was it?", "manual", step("ov_archive_search", query="deploy command"))
    assert words in found
    archive = re.findall(r"archive_[0-9]{3}", found[: found.index(words)])[-1]
    page = shown(world, "Read it to me.", "manual", step("ov_archive_expand", archiveId=archive))
    assert f"`{words}`, to the letter." in page
    system = text_of(world.asked("Read it to me.")[0])
    assert "ov_archive_search" in system
    assert "ov_archive_expand" in system


def test_what_tools_showed_is_not_stored_again(world: World) -> None:
    eventually(lambda: [m for m in world.stored() if m.text == "Read it to me."], what="the last turn")
    outputs = [tool.output or "" for message in world.stored() for tool in message.tools]
    assert any("Remembered as m_" in output for output in outputs)
    assert not any("openviking-context" in output or "wide sea" in output for output in outputs)
