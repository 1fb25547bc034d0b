"""``/ui/freshness``: what the last check found, and checking now."""

import json

import pytest
from starlette.testclient import TestClient

from tests.http.browsing import BROWSER, OURS, forms_in, send
from tests.http.conftest import Start
from tests.unit.memory_backend import MemoryBackend

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def client(person: TestClient) -> TestClient:
    return person


def imported(client: TestClient, *memories: tuple[str, str, str]) -> None:
    lines = [
        {"id": id_, "category": "notes", "text": text, "createdAt": at, "updatedAt": at} for id_, text, at in memories
    ]
    body = "\n".join(map(json.dumps, lines))
    client.post("/memories/import", content=body, headers={"content-type": "application/x-ndjson"}).raise_for_status()


def test_a_check_and_what_it_found(client: TestClient) -> None:
    assert "Not checked yet." in client.get("/ui/freshness").text
    old = "2020-01-01T00:00:00.000Z"
    imported(
        client,
        ("m_1", f"The boiler is old. {HOSTILE}", old),
        ("m_2", "Tom has a dog.", old),
        ("m_3", "Tom has a dog", "2021-01-01T00:00:00.000Z"),
    )
    page = send(client, forms_in(client.get("/ui/freshness"))["freshness"])
    assert page.status_code == 200 and "Last checked" in page.text and "<script" not in page.text
    assert "Not confirmed for long" in page.text and 'href="/ui/memories/m_1"' in page.text
    assert "Said twice" in page.text and 'href="/ui/memories/m_2"' in page.text
    client.delete("/memories/m_1")
    assert "Forgotten since." in client.get("/ui/freshness").text


def test_looking_checks_nothing_and_another_site_neither(client: TestClient) -> None:
    form = forms_in(client.get("/ui/freshness"))["freshness"]
    assert send(client, form, {**BROWSER, "Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert send(client, form, proof="x").status_code == 403
    assert client.get("/ui/freshness", params=form.fields, headers=OURS).status_code == 200
    assert client.get("/memories/freshness").json()["checkedAt"] is None


def test_nothing_to_say_and_nothing_to_check(client: TestClient, start: Start) -> None:
    send(client, forms_in(client.get("/ui/freshness"))["freshness"])
    assert "Nothing is worth a look." in client.get("/ui/freshness").text
    assert "keeps no memories one by one" in start(MemoryBackend()).get("/ui/freshness").text
