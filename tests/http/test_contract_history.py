"""Lines of the contract about the archived past: hosts without times, and an OpenViking that answers by halves."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from app.openviking.client import OpenVikingBackend
from app.settings import OpenVikingSettings
from tests.http.conftest import Start
from tests.http.test_lifecycle import post, turn

Answer = Callable[[httpx.Request], httpx.Response]


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def test_a_failed_turn_does_not_bring_the_archived_history_back(client: TestClient) -> None:
    """OpenAI's and Anthropic's messages have no time, and a turn that failed was never captured."""
    first = [said("user", "We ship Atlas on Friday."), said("assistant", "Friday it is. " * 60)]
    failed = [said("user", "Deploy it."), said("assistant", "The deployment broke off.")]
    second = [said("user", "Deploy it once more."), said("assistant", "Done.")]
    live = [said("user", "Thanks!"), said("assistant", "With pleasure."), said("user", "What is next?")]
    turn(client, first, prePromptMessageCount=0)
    turn(client, [*first, *failed, *second], prePromptMessageCount=4)
    post(client, "/compact", {"sessionId": "s1"})
    turn(client, [*first, *failed, *second, *live[:2]], prePromptMessageCount=6)
    body = {"sessionId": "s1", "phase": "preflight", "messages": [*first, *failed, *second, *live]}
    answer = post(client, "/assemble", body)
    assert answer["messages"][2:] == [*failed, *live]
    assert post(client, "/assemble", {**body, "messages": answer["messages"]})["messages"] == answer["messages"]


def ok(result: Any) -> httpx.Response:
    return httpx.Response(200, json={"status": "ok", "result": result})


def unreachable(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("gone", request=request)


@pytest.mark.parametrize("listing", [unreachable, lambda _: httpx.Response(500), lambda _: ok({})])
def test_a_summary_that_is_there_is_shown_whatever_the_next_request_does(start: Start, listing: Answer) -> None:
    """A new process knows nothing itself: all it has is what OpenViking answered."""
    context = {
        "latest_archive_overview": "Atlas ships on Friday.",
        "pre_archive_abstracts": [],
        "messages": [],
        "stats": {"totalArchives": 1, "failedArchives": 0},
    }
    settings = OpenVikingSettings(url="http://openviking.test")

    def server(request: httpx.Request) -> httpx.Response:
        return ok(context) if request.url.path.endswith("/context") else listing(request)

    backend = OpenVikingBackend(settings, transport=httpx.MockTransport(server))
    client = start(backend, backend="openviking", openviking=settings)
    answer = post(client, "/assemble", {"sessionId": "s1", "phase": "preflight", "messages": [said("user", "When?")]})
    assert "Atlas ships on Friday." in answer["messages"][0]["content"]
    assert answer["messages"][-1] == said("user", "When?")


def test_in_full_a_history_that_never_comes_leaves_time_to_recall(start: Start) -> None:
    """What is ready at the deadline is used; one late request takes nothing away from the others."""

    async def server(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/context"):
            await asyncio.Event().wait()
        hit = {"uri": "viking://user/memories/preferences/tea.md", "level": 2, "score": 0.9, "abstract": "Green tea."}
        return ok({"memories": [hit], "resources": []})

    settings = OpenVikingSettings(url="http://openviking.test")
    backend = OpenVikingBackend(settings, transport=httpx.MockTransport(server))
    client = start(backend, backend="openviking", openviking=settings)
    question = said("user", "Which tea do I like in the morning?")
    body = {"sessionId": "s1", "phase": "full", "messages": [question], "deadlineMs": 2000}
    answer = post(client, "/assemble", body)
    assert "Green tea." in answer["contextBlock"]
    assert (answer["status"], answer["reason"]) == ("assembled", "deadline_exceeded")
