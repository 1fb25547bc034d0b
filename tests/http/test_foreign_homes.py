"""A URI that names another user's home names nothing of the caller's, however alike the files are called."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.http.conftest import Start

ALICE = {"X-OpenViking-User": "alice"}
BOB = {"X-OpenViking-User": "bob"}
RUNBOOK = "viking://user/alice/resources/runbook.md"


def told(client: TestClient, text: str, headers: dict[str, str]) -> dict[str, Any]:
    answer = client.post("/memories", json={"text": text}, headers=headers)
    assert answer.status_code == 201
    memory: dict[str, Any] = answer.json()
    return memory


def tool(client: TestClient, name: str, headers: dict[str, str], **arguments: Any) -> dict[str, Any]:
    answer = client.post(f"/tools/{name}", json={"arguments": arguments}, headers=headers)
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def spelled(uri: str, name: str) -> str:
    """The URI with the user's home under this name."""
    path = uri.removeprefix("viking://").removeprefix("~/")
    below = path.split("/", 2)[2] if path.startswith("user/") else path
    return f"viking://user/{name}/{below}"


def test_it_forgets_nothing_and_shows_nothing(sidecar: Start) -> None:
    client = sidecar()
    foreign = spelled(told(client, "Alice keeps bees in Porto.", ALICE)["uri"], "alice")
    mine = told(client, "Bob is allergic to penicillin.", BOB)
    receipt = client.post("/memories/forget", json={"uri": foreign, "dryRun": False}, headers=BOB)
    assert (receipt.status_code, receipt.json()["selected"]) == (200, [])
    forgotten = tool(client, "memory_forget", BOB, uri=foreign)
    assert (forgotten["ok"], forgotten["details"]) == (True, {"candidates": []})
    for uri in (foreign, "viking://user/alice/memories/", "viking://user/alice", "viking://user/alice/"):
        listed = tool(client, "ov_ls", BOB, uri=uri)
        assert not listed["ok"]
        assert "nothing at this URI" in listed["content"][0]["text"]
    assert client.get(f"/memories/{mine['id']}", headers=BOB).status_code == 200


@pytest.mark.parametrize("home", ["viking://~/", "viking://user/bob/", "viking://user/", "~/", ""])
def test_the_own_home_goes_by_all_its_names(client: TestClient, home: str) -> None:
    mine = told(client, "Bob is allergic to penicillin.", BOB)
    uri = home + mine["uri"].removeprefix("viking://user/bob/")
    assert "penicillin" in tool(client, "ov_ls", BOB, uri=uri)["content"][0]["text"]
    receipt = client.post("/memories/forget", json={"uri": uri, "dryRun": False}, headers=BOB).json()
    assert [one["id"] for one in receipt["selected"]] == [mine["id"]]


@pytest.mark.parametrize("headers", [{}, {"X-OpenViking-User": "default"}])
def test_who_names_no_user_is_the_default_user(client: TestClient, headers: dict[str, str]) -> None:
    mine = told(client, "The villa is in Sintra.", headers)
    assert not tool(client, "ov_ls", headers, uri=spelled(mine["uri"], "alice"))["ok"]
    assert tool(client, "ov_ls", headers, uri=spelled(mine["uri"], "default"))["ok"]
    receipt = client.post("/memories/forget", json={"uri": spelled(mine["uri"], "default")}, headers=headers).json()
    assert [one["id"] for one in receipt["selected"]] == [mine["id"]]


def test_a_document_of_the_same_name_stays(client: TestClient) -> None:
    for headers in (ALICE, BOB, {}):
        body = {"text": "# Runbook\nRestart it.", "title": "runbook", "to": "runbook.md", "wait": True}
        assert client.post("/resources", json=body, headers=headers).status_code == 201
    for headers in (BOB, {}):
        assert client.get("/resources", params={"uri": RUNBOOK}, headers=headers).status_code == 404
        assert client.get("/ui/resources/one", params={"uri": RUNBOOK}, headers=headers).status_code == 404
        assert client.delete("/resources", params={"uri": RUNBOOK}, headers=headers).status_code == 404
        assert len(client.get("/resources", headers=headers).json()["resources"]) == 1
    assert client.get("/resources", params={"uri": RUNBOOK}, headers=ALICE).status_code == 200
    own = RUNBOOK.replace("alice", "default")
    assert client.get("/resources", params={"uri": own}).status_code == 200
    assert client.delete("/resources", params={"uri": own}).status_code == 200


def test_nothing_is_imported_into_another_home(client: TestClient) -> None:
    body = {"text": "# Runbook\nRestart it.", "title": "runbook", "to": RUNBOOK, "wait": True}
    refused = client.post("/resources", json=body, headers=BOB)
    assert refused.status_code == 400
    assert "another user's home" in refused.text
    assert client.get("/resources", headers=BOB).json()["resources"] == []
    assert client.post("/resources", json=body, headers=ALICE).status_code == 201
