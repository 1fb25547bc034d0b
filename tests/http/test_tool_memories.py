"""Tool memories over HTTP: counts equal what was captured, whatever is sent again; and the section that tells them."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.settings import Settings
from tests.http.conftest import Start
from tests.http.test_session_start import begun, shown

AT = 1_795_298_000_000
TOOLS = ("shell", "read", "write")


def messages_of(turn: int, calls: list[tuple[str, bool]]) -> list[dict[str, Any]]:
    """A turn with these calls, each with its result; everything has its time."""
    at = AT + turn * 60_000
    blocks = [
        {"type": "toolCall", "id": f"t{turn}c{n}", "name": name, "arguments": {"n": n}}
        for n, (name, _) in enumerate(calls)
    ]
    results = [
        {"role": "toolResult", "toolCallId": f"t{turn}c{n}", "content": "Error: no" if bad else "ok", "isError": bad}
        for n, (_, bad) in enumerate(calls)
    ]
    said = [{"role": "user", "content": f"Turn {turn}, please."}]
    if blocks:
        said.append({"role": "assistant", "content": blocks})
    said += results
    said.append({"role": "assistant", "content": f"Done with {turn}."})
    return [{**message, "timestamp": at + place * 1_000} for place, message in enumerate(said)]


calls = st.lists(st.tuples(st.sampled_from(TOOLS), st.booleans()), max_size=5)
ways = st.lists(st.sampled_from(["same key", "no key", "other key", "with history"]), max_size=3)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(calls, ways), min_size=1, max_size=4))
def test_counts_equal_what_was_captured(service: TestClient, turns: list[Any]) -> None:
    global _users
    _users += 1
    headers = {"X-OpenViking-User": f"tools-{_users}"}
    history: list[dict[str, Any]] = []
    for number, (made, replays) in enumerate(turns):
        new = messages_of(number, made)
        body = {"sessionId": "s", "prePromptMessageCount": 0, "messages": new, "advancementKey": f"k{number}"}
        assert service.post("/after-turn", json=body, headers=headers).json()["status"] == "committed"
        for index, way in enumerate(replays):
            again = {
                "same key": body,
                "no key": {"sessionId": "s", "messages": new},
                "other key": {**body, "advancementKey": f"k{number}x{index}"},
                "with history": {"sessionId": "s", "messages": [*history, *new]},
            }[way]
            assert service.post("/after-turn", json=again, headers=headers).json()["status"] != "committed"
        history += new
    store = service.app.state.services.store  # type: ignore[attr-defined]
    who = service.portal.call(_who, headers["X-OpenViking-User"])  # type: ignore[union-attr]
    records = {one.tool: one for one in service.portal.call(store.uses.tools, who)}  # type: ignore[union-attr]
    every = [call for made, _ in turns for call in made]
    assert {tool: (one.calls, one.failures) for tool, one in records.items()} == {
        tool: (len(mine), sum(bad for _, bad in mine))
        for tool in TOOLS
        if (mine := [call for call in every if call[0] == tool])
    }


_users = 0


async def _who(user: str) -> Any:
    from app.core.identity import Identity, PeerRole, Tenant

    default = Settings(_env_file=None).openviking
    return Identity(Tenant(default.account, user), "", None, "main", None, PeerRole.ASSISTANT)


def test_the_next_session_is_told_how_the_tools_fared(start: Start) -> None:
    client = start(start={"profile": False, "tools": True})
    body = {"sessionId": "s", "messages": messages_of(0, [("shell", True), ("shell", False), ("read", False)])}
    assert client.post("/after-turn", json=body).json()["status"] == "committed"
    text = shown(begun(client, "next", chatType="group"))
    assert "## Tool Usage Memories\n### shell\n- Called 2 times, 50% success, " in text
    assert "- Common issue: Error: no (once)\n- Best practice: n=1 (worked once after that)\n### read\n" in text
    assert shown(begun(client, "next", agentId="another")) == ""
    client.post("/memories/forget", json={"session": "s", "dryRun": False})
    assert shown(begun(client, "third")) == ""
    assert "shell" not in shown(begun(client, "next", chatType="group")), "what was kept of it is forgotten, too"
