"""Documents and skills over HTTP on OpenViking: the suite of the embedded backend, and what the server gets of it."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.factory import create_app
from app.settings import Settings
from tests.contract.openviking import FakeOpenViking, served
from tests.http.conftest import PATIENT
from tests.http.test_resources import (  # noqa: F401 - the suite itself
    GUIDE,
    OTHER,
    SKILL,
    found,
    test_a_document_is_found_with_its_place,
    test_a_folder_is_imported_again_by_what_has_changed,
    test_a_model_imports_and_finds_what_it_imported,
    test_a_skill_may_be_a_folder,
    test_a_skill_of_74_kb_is_imported_found_read_and_removed,
    test_a_skill_says_what_it_is,
    test_another_tenant_sees_none_of_it,
    test_pages_go_on_behind_the_last,
    test_text_is_imported_under_its_title,
    test_what_is_removed_is_found_no_more,
    test_without_waiting_it_is_accepted,
    upload,
    zipped,
)

PATIENCE_S = 60


@pytest.fixture(scope="module")
def server() -> FakeOpenViking:
    return FakeOpenViking()


@pytest.fixture(scope="module")
def service(server: FakeOpenViking, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One sidecar on the server for all tests of this module."""
    with served(server) as url:
        settings = Settings.model_validate(
            {
                **PATIENT,
                "data_dir": tmp_path_factory.mktemp("service") / "data",
                "log_level": "error",
                "backend": "openviking",
                "openviking": {"url": url, "breaker_failures": 1_000},
                "delivery": {"backoff_ms": 10, "max_backoff_ms": 20},
                "recall": {**PATIENT["recall"], "resources": True},
            }
        )
        with TestClient(create_app(settings)) as client:
            yield client


@pytest.fixture
def mine(person: TestClient, server: FakeOpenViking) -> Callable[[], dict[str, str]]:
    """What the server has of this test's user."""
    home = f"viking://user/{person.headers['X-OpenViking-User']}/"
    return lambda: {uri.removeprefix(home): text for uri, text in server.files.items() if uri.startswith(home)}


def ended(person: TestClient, task_id: str) -> dict[str, Any]:
    end = time.monotonic() + PATIENCE_S
    while (task := dict(person.get(f"/resources/tasks/{task_id}").json()))["status"] == "processing":
        assert time.monotonic() < end, task
    return task


def test_the_server_gets_passages_under_their_places_and_no_path_or_url(
    person: TestClient, server: FakeOpenViking, mine: Callable[[], dict[str, str]]
) -> None:
    before = len(server.asked)
    assert upload(person, "/home/ann/secret/guide.md", GUIDE, to="guides/atlas").status_code == 201
    assert "guide.md > Atlas guide > Rollback\nTo go back" in "\n".join(mine().values())
    [asked] = server.asked[before:]
    assert "path" not in asked and asked["to"].startswith("viking://~/resources/atlas.")
    assert "ann" not in str(asked) + str(mine())


def test_secrets_of_documents_never_reach_the_server(person: TestClient, mine: Callable[[], dict[str, str]]) -> None:
    secret = "ghp_" + "A9b8C7d6E5f4G3h2J1k0L9m8N7p6Q5r4S3t2"
    assert upload(person, "deploy.md", f"# Deploy\n\nThe deploy token is {secret} until spring.\n").status_code == 201
    assert "[secret removed]" in str(mine()) and secret not in str(mine())


def test_a_passage_is_recalled_with_its_place_and_a_uri_that_leads_to_it(person: TestClient) -> None:
    assert upload(person, "guide.md", GUIDE).status_code == 201
    body = {"sessionId": "s", "messages": [{"role": "user", "content": "How do I go back to the release before?"}]}
    block = person.post("/assemble", json=body).json()["contextBlock"]
    place = "- guide.md > Atlas guide > Rollback ("
    assert "## Documents" in block and place in block and "atlas rewind" in block
    uri = block.partition(place)[2].partition(")")[0]
    assert uri.startswith("viking://~/resources/guide.md/guide.md#")
    [read] = person.get("/resources", params={"uri": uri}).json()["resources"]
    assert read["text"] == GUIDE
    assert person.delete("/resources", params={"uri": "viking://~/resources/guide.md"}).status_code == 200
    again = {**body, "sessionId": "another"}
    assert "atlas rewind" not in (person.post("/assemble", json=again).json().get("contextBlock") or "")


def test_what_is_changed_or_removed_is_deleted_from_the_server(
    person: TestClient, mine: Callable[[], dict[str, str]]
) -> None:
    files = {"guide.md": GUIDE, "canteen.md": OTHER}
    upload(person, "h.zip", zipped(files), to="handbook")
    files["guide.md"] = GUIDE.replace("atlas rewind", "atlas undo")
    upload(person, "h.zip", zipped(files), to="handbook")
    assert "atlas undo" in str(mine()) and "atlas rewind" not in str(mine()) and "Lunch" in str(mine())
    person.delete("/resources", params={"uri": "viking://~/resources/handbook"})
    assert mine() == {}


def test_an_import_goes_on_when_the_server_is_back_and_tells_why_it_waits(
    person: TestClient, server: FakeOpenViking, mine: Callable[[], dict[str, str]]
) -> None:
    server.down = True
    answer = person.post("/resources", json={"text": GUIDE, "title": "guide"})
    assert answer.status_code == 202
    task = f"/resources/tasks/{answer.json()['taskId']}"
    end = time.monotonic() + PATIENCE_S
    while "OpenViking" not in (person.get(task).json()["detail"] or ""):
        assert time.monotonic() < end
    assert found_nothing(person)
    server.down, server.failing = False, 2
    assert ended(person, answer.json()["taskId"])["status"] == "ready"
    assert str(mine()).count("atlas rewind") == 1


def found_nothing(person: TestClient) -> bool:
    return all(one["status"] == "processing" for one in person.get("/resources").json()["resources"])


def test_a_removal_is_at_once_and_is_carried_out_when_the_server_is_back(
    person: TestClient, server: FakeOpenViking, mine: Callable[[], dict[str, str]]
) -> None:
    upload(person, "guide.md", GUIDE)
    uri = {"uri": "viking://~/resources/guide.md"}
    server.down = True
    assert person.delete("/resources", params=uri).status_code == 503
    server.down = False
    assert mine() and found(person, "go back to the release before") == []
    assert person.get("/resources").json()["resources"] == []
    assert person.delete("/resources", params=uri).status_code == 200 and mine() == {}


def test_a_skill_is_a_skill_of_the_server(person: TestClient, mine: Callable[[], dict[str, str]]) -> None:
    odd = SKILL.replace("Check a deployment", "Check: a 'deployment'")
    folder = zipped({"SKILL.md": odd, "scripts/check.sh": "#!/bin/sh\necho smoke\n", "more/table.html": "<p>Aa</p>"})
    assert upload(person, "deploy.zip", folder, "/skills", to="release-check").status_code == 201
    files = mine()
    assert set(files) == {
        f"skills/release-check/{name}" for name in ("SKILL.md", "scripts/check.sh", "more/table.html.md")
    }
    front = files["skills/release-check/SKILL.md"].split("---")[1]
    assert "name: release-check\n" in front and "description: \"Check: a 'deployment' before release\"" in front
    refused = upload(person, "SKILL.md", SKILL, "/skills", to="release check")
    assert refused.status_code == 422 and "letters, digits" in refused.json()["detail"]
    assert person.delete("/skills", params={"uri": "viking://~/skills/release-check"}).status_code == 200
    assert mine() == {}
