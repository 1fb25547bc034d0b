"""Documents and skills over HTTP, on the embedded backend: imported, found, read, changed, removed."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.factory import create_app
from app.settings import Settings

GUIDE = """# Atlas guide

Atlas deploys services to the cluster.

## Install

Run `atlas bootstrap --region eu-west-3` on a clean machine. It takes about four minutes.

## Rollback

To go back to the release before, run `atlas rewind` and wait for the green light on the console.
"""
OTHER = "# Canteen\n\nLunch is served from half past eleven until two in the basement.\n"


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def upload(client: TestClient, name: str, content: str | bytes, path: str = "/resources", **fields: str) -> Any:
    return client.post(path, files={"file": (name, content)}, data={"wait": "true", **fields})


def found(client: TestClient, query: str, path: str = "/resources") -> list[dict[str, Any]]:
    answer = client.get(path, params={"query": query})
    assert answer.status_code == 200, answer.text
    hits: list[dict[str, Any]] = answer.json()[path.strip("/")]
    return hits


def test_a_document_is_found_with_its_place(person: TestClient) -> None:
    answer = upload(person, "guide.md", GUIDE)
    assert answer.status_code == 201, answer.text
    assert answer.json()["uri"] == "viking://~/resources/guide.md" and answer.json()["status"] == "ready"
    [hit] = found(person, "how do I go back to the release before?")
    assert hit["uri"] == "viking://~/resources/guide.md" and hit["source"] == "guide.md" and hit["score"] > 0
    assert hit["passages"][0]["place"] == "guide.md > Atlas guide > Rollback"
    assert "atlas rewind" in hit["passages"][0]["text"]
    assert person.get(f"/resources/tasks/{answer.json()['taskId']}").json()["status"] == "ready"
    [listed] = person.get("/resources").json()["resources"]
    assert listed["title"] == "Atlas guide" and listed["bytes"] == len(GUIDE.encode())
    assert listed["summary"] == "Atlas deploys services to the cluster."


def test_another_tenant_sees_none_of_it(person: TestClient) -> None:
    upload(person, "guide.md", GUIDE)
    stranger = {"X-OpenViking-User": "stranger"}
    for address in ("/resources", "/resources?query=rollback"):
        assert person.get(address, headers=stranger).json()["resources"] == []
    uri = {"uri": "viking://~/resources/guide.md"}
    assert person.get("/resources", params=uri, headers=stranger).status_code == 404
    assert person.delete("/resources", params=uri, headers=stranger).status_code == 404
    assert person.get("/resources", params=uri).json()["resources"][0]["text"] == GUIDE


def test_a_folder_is_imported_again_by_what_has_changed(person: TestClient) -> None:
    files = {"docs/guide.md": GUIDE, "docs/canteen.md": OTHER, "docs/logo.png": b"\x89PNG"}
    first = upload(person, "handbook.zip", zipped(files), to="handbook")
    assert first.status_code == 201 and first.json()["uri"] == "viking://~/resources/handbook"
    assert found(person, "when is lunch?")[0]["passages"][0]["place"].startswith("canteen.md")
    again = upload(person, "handbook.zip", zipped(files), to="handbook").json()
    assert again["status"] == "ready" and again["taskId"] is None
    del files["docs/canteen.md"]
    files["docs/guide.md"] = GUIDE.replace("atlas rewind", "atlas undo")
    assert upload(person, "handbook.zip", zipped(files), to="handbook").status_code == 201
    text = found(person, "go back to the release before")[0]["passages"][0]["text"]
    assert "atlas undo" in text and "rewind" not in text
    assert not [hit for hit in found(person, "lunch in the basement") if "canteen" in str(hit["passages"])]
    [read] = person.get("/resources", params={"uri": "viking://~/resources/handbook"}).json()["resources"]
    assert read["documents"] == ["docs/guide.md"]
    one = person.get("/resources", params={"uri": "viking://~/resources/handbook/docs/guide.md"})
    assert "atlas undo" in one.json()["resources"][0]["text"]


def test_what_is_removed_is_found_no_more(person: TestClient) -> None:
    upload(person, "guide.md", GUIDE)
    uri = {"uri": "viking://~/resources/guide.md"}
    assert person.delete("/resources", params=uri).json() == {**uri, "removed": True}
    assert found(person, "atlas rewind") == [] and person.get("/resources").json()["resources"] == []
    assert person.delete("/resources", params=uri).status_code == 404


def test_text_is_imported_under_its_title(person: TestClient) -> None:
    body = {"text": "The gate code of the yard is on the blue card.", "title": "Yard notes", "wait": True}
    answer = person.post("/resources", json=body)
    assert answer.status_code == 201 and answer.json()["uri"] == "viking://~/resources/Yard notes.md"
    assert found(person, "where is the gate code")[0]["title"] == "Yard notes"


def test_without_waiting_it_is_accepted(person: TestClient) -> None:
    answer = person.post("/resources", json={"text": GUIDE, "title": "guide"})
    assert answer.status_code == 202 and answer.json()["status"] == "processing"
    task = f"/resources/tasks/{answer.json()['taskId']}"
    while person.get(task).json()["status"] == "processing":
        pass
    assert person.get(task).json()["status"] == "ready"


def test_pages_go_on_behind_the_last(person: TestClient) -> None:
    for name in "abc":
        person.post("/resources", json={"text": f"Document {name} says {name}.", "title": name, "wait": True})
    page = person.get("/resources", params={"limit": 2}).json()
    rest = person.get("/resources", params={"limit": 2, "cursor": page["nextCursor"]}).json()
    assert [one["title"] for one in page["resources"] + rest["resources"]] == ["a", "b", "c"]
    assert rest["nextCursor"] is None


def test_secrets_of_documents_never_reach_the_disk(tmp_path: Path) -> None:
    secret = "ghp_" + "A9b8C7d6E5f4G3h2J1k0L9m8N7p6Q5r4S3t2"
    settings = Settings(_env_file=None, data_dir=tmp_path / "data", log_level="error")
    with TestClient(create_app(settings)) as client:
        text = f"# Deploy\n\nThe deploy token of the build machine is {secret} until spring.\n"
        assert upload(client, "deploy.md", text).status_code == 201
        [hit] = found(client, "deploy token of the build machine")
        assert "[secret removed]" in hit["passages"][0]["text"]
        named = {"text": "How the gateway is started.", "title": f"Gateway {secret}", "wait": True}
        assert client.post("/resources", json=named).status_code == 201
        refused = client.post("/resources", json={**named, "to": f"ops/{secret}"})
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "to")
        assert upload(client, f"{secret}.md", "The harbour opens at six.").status_code == 201
        assert secret not in client.get("/resources").text
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert secret.encode() not in kept


SKILL = """---
name: deploy-check
description: Check a deployment before release
---
# Deploy check

1. Run the smoke tests.
2. Compare versions.
"""


def test_a_skill_of_74_kb_is_imported_found_read_and_removed(person: TestClient) -> None:
    steps = "\n\n".join(f"## Step {number}\n\nLook at gauge {number} of the turbine hall." for number in range(1_500))
    text = SKILL + steps
    assert len(text) > 74_000
    answer = upload(person, "SKILL.md", text, "/skills")
    assert answer.status_code == 201 and answer.json()["uri"] == "viking://~/skills/deploy-check"
    [hit] = found(person, "check a deployment before release", "/skills")
    assert hit["title"] == "deploy-check" and hit["summary"] == "Check a deployment before release"
    assert all(len(passage["text"]) < 2_000 for passage in hit["passages"])
    assert found(person, "gauge 1033 of the turbine hall", "/skills")[0]["passages"][0]["place"].endswith("Step 1033")
    [read] = person.get("/skills", params={"uri": answer.json()["uri"]}).json()["skills"]
    assert read["text"] == text
    assert found(person, "turbine hall") == [] and person.get("/memories").json()["memories"] == []
    assert person.delete("/skills", params={"uri": answer.json()["uri"]}).status_code == 200
    assert person.get("/skills").json()["skills"] == []


def test_a_skill_may_be_a_folder(person: TestClient) -> None:
    folder = zipped({"deploy/SKILL.md": SKILL, "deploy/scripts/check.sh": "#!/bin/sh\necho smoke\n"})
    answer = upload(person, "deploy.zip", folder, "/skills")
    assert answer.status_code == 201 and answer.json()["uri"] == "viking://~/skills/deploy-check"
    [read] = person.get("/skills", params={"uri": answer.json()["uri"]}).json()["skills"]
    assert read["text"] == SKILL and read["documents"] == ["deploy/SKILL.md", "deploy/scripts/check.sh"]


@pytest.mark.parametrize("text", ["no front matter", "---\nname: x y\ndescription: d\n---\nt", "---\nname: x\n---\nt"])
def test_a_skill_says_what_it_is(person: TestClient, text: str) -> None:
    answer = upload(person, "SKILL.md", text, "/skills")
    assert answer.status_code == 422 and answer.json()["code"] == "resource_refused"
    assert "SKILL.md" in answer.json()["detail"]


def test_passages_of_documents_are_recalled_with_their_place_and_limits_of_their_own(tmp_path: Path) -> None:
    recall = {"resources": True, "max_resource_chars": 700}
    settings = Settings.model_validate({"data_dir": tmp_path / "data", "log_level": "error", "recall": recall})
    with TestClient(create_app(settings)) as client:
        client.post("/memories", json={"text": "The release manager of Atlas is Noor Haddad."})
        filler = "\n\n".join(f"## Part {number}\n\n{OTHER}" for number in range(20))
        assert upload(client, "guide.md", f"{GUIDE}\n{filler}").status_code == 201
        question = "Who is Atlas' release manager, and how do I go back to the release before with atlas?"
        body = {"sessionId": "s", "messages": [{"role": "user", "content": question}]}
        answer = client.post("/assemble", json=body).json()
        block = answer["contextBlock"]
        assert (
            "## Documents" in block and "- guide.md > Atlas guide > Rollback (viking://~/resources/guide.md/" in block
        )
        assert "atlas rewind" in block and "Noor Haddad" in block
        recalled = [item for item in answer["recall"]["items"] if item["section"] == "resources"]
        assert recalled and sum(item["chars"] for item in recalled) <= 700
        off = {"sessionId": "s", "messages": [{"role": "user", "content": "What is the weather on Titan like today?"}]}
        assert "## Documents" not in (client.post("/assemble", json=off).json().get("contextBlock", ""))


def test_a_model_imports_and_finds_what_it_imported(person: TestClient) -> None:
    def call(name: str, **arguments: Any) -> dict[str, Any]:
        answer = person.post(f"/tools/{name}", json={"sessionId": "s", "arguments": arguments})
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    imported = call("ov_import", text=GUIDE, title="Atlas guide")
    assert imported["ok"] and imported["details"]["uri"] == "viking://~/resources/Atlas guide.md"
    assert call("ov_import", text=SKILL, kind="skill")["ok"]
    found = call("ov_search", query="go back to the release before", kinds=["resources"])
    assert "atlas rewind" in found["content"][0]["text"] and "Rollback" in found["content"][0]["text"]
    found = call("ov_search", query="check a deployment before release", kinds=["skills"])
    assert "viking://~/skills/deploy-check" in found["content"][0]["text"]
    refused = call("ov_import", url="http://169.254.169.254/latest")
    assert not refused["ok"] and refused["reason"] == "url_refused"
    for wrong in ({}, {"url": "https://example.org", "text": "x"}):
        assert call("ov_import", **wrong)["reason"] == "invalid_arguments"
