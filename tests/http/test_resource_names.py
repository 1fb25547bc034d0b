"""A rule that is new hides what documents and skills are called: in prompts, lists, pages, traces and log lines.

What is shown instead goes on to be the handle: one reads and removes by it.
"""

import base64
import io
import json
import sqlite3
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from starlette.testclient import TestClient

from app.embedded.storage.layout import segment
from tests.http.browsing import BROWSER, forms_in, send
from tests.http.conftest import Start

ANNA, BOB, EVE = "anna.zq@wolfram-mail.org", "bob.zq@wolfram-mail.org", "eve.zq@wolfram-mail.org"
HIDES: dict[str, Any] = {"policy": {"rules": {"email": "mask"}}}
RECALLS: dict[str, Any] = {"recall": {"resources": True, "cache_ms": 0}}
INVOICES = "# Invoices\n\nThe invoices of the Ulm branch are paid by the accounting office on the first Monday.\n"
RENT = "# Rent\n\nThe rent of the Ulm office is 900 euro a month.\n"
LETTER = "viking://~/resources/Letter to [email removed]"
"""A rule takes what a file is called behind its last dot for the end of the address."""
BOOKS = {f"of {ANNA}/{EVE}.md": "The cellar key is blue.", "prices.md": "A box of pens is 3 euro."}
SHOWN = {"uri": LETTER}
QUESTION = "Who pays the invoices of the Ulm branch?"


@contextmanager
def running(start: Start, **values: Any) -> Iterator[TestClient]:
    client = start(**values)
    try:
        yield client
    finally:
        client.__exit__(None, None, None)


def written(client: TestClient, text: str, title: str, path: str = "/resources") -> None:
    answer = client.post(path, json={"text": text, "title": title, "wait": True})
    assert answer.status_code == 201, answer.text


def uploaded(client: TestClient, name: str, content: str | bytes, **fields: str) -> Any:
    return client.post("/resources", files={"file": (name, content)}, data={"wait": "true", **fields})


def zipped(files: Mapping[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def asked(client: TestClient, question: str = QUESTION) -> Any:
    messages = [{"role": "user", "content": question}]
    body = {"sessionId": "q", "messages": messages, "phase": "transform", "inject": "block"}
    return client.post("/assemble", json=body).json()


def tool(client: TestClient, name: str, **arguments: Any) -> Any:
    return client.post(f"/tools/{name}", json={"sessionId": "q", "arguments": arguments}).json()


def hidden(text: str) -> bool:
    """Whether no address stands in an answer, however it is written there."""
    return not any(name in unquote(text) or name in text.replace("&#64;", "@") for name in (ANNA, BOB, EVE, "wolfram"))


@pytest.fixture
def later(sidecar: Start) -> Iterator[TestClient]:
    """A sidecar with a rule that is newer than what is stored."""
    with running(sidecar, **RECALLS) as before:
        written(before, INVOICES, f"Letter to {ANNA}")
        uploaded(before, f"mail to {BOB}.md", RENT)
        uploaded(before, "books.zip", zipped(BOOKS), to=f"books of {BOB}")
    with running(sidecar, **RECALLS, **HIDES) as after:
        yield after


def test_no_prompt_and_no_list_shows_it(later: TestClient, capfd: pytest.CaptureFixture[str]) -> None:
    answer = asked(later)
    assert f"({LETTER}/Letter to [email removed]#0)" in answer["contextBlock"]
    found = later.get("/resources", params={"query": QUESTION})
    assert found.json()["resources"][0]["uri"] == LETTER
    assert found.json()["resources"][0]["passages"][0]["uri"] == f"{LETTER}/Letter to [email removed]#0"
    listed = later.get("/resources")
    assert LETTER in [one["uri"] for one in listed.json()["resources"]]
    shown = [json.dumps(answer, ensure_ascii=False), found.text, listed.text]
    shown += [json.dumps(tool(later, "ov_search", query="invoices rent cellar key")), json.dumps(tool(later, "ov_ls"))]
    shown += [json.dumps(tool(later, "ov_ls", uri="viking://~/resources/"))]
    trace = answer["recall"]["traceId"]
    shown += [later.get(f"/recalls/{trace}").text, later.get(f"/ui/recalls/{trace}").text]
    shown += [later.get("/ui/resources").text, later.get("/ui/resources", params={"query": QUESTION}).text]
    shown += [later.get("/ui/resources/one", params={"uri": LETTER}).text]
    shown += [later.get("/ui/resources/remove", params={"uri": LETTER}).text, *capfd.readouterr()]
    assert all("[email removed]" in text or hidden(text) for text in shown)
    assert [text for text in shown if not hidden(text)] == []
    assert "are paid by the accounting office" in later.get(f"/ui/recalls/{trace}").text


def test_a_trace_from_before_the_rule_does_not_show_it(start: Start) -> None:
    with running(start, **RECALLS) as before:
        written(before, INVOICES, f"Letter to {ANNA}")
        trace = asked(before)["recall"]["traceId"]
    with running(start, **RECALLS, **HIDES) as after:
        shown = after.get(f"/recalls/{trace}").text, after.get(f"/ui/recalls/{trace}").text
        assert all("[email removed]" in text and hidden(text) for text in shown)
        assert "are paid by the accounting office" in shown[1]


@pytest.mark.parametrize("uri", [LETTER, f"viking://~/resources/Letter to {ANNA}.md"])
def test_what_is_shown_reads_and_removes_it(later: TestClient, uri: str) -> None:
    [read] = later.get("/resources", params={"uri": uri}).json()["resources"]
    assert read["text"] == INVOICES and read["uri"] == LETTER and read["documents"] == ["Letter to [email removed]"]
    inner = later.get("/resources", params={"uri": f"{uri}/Letter to [email removed]"})
    assert inner.json()["resources"][0]["text"] == INVOICES
    removed = later.delete("/resources", params={"uri": uri})
    assert removed.json() == {"uri": LETTER, "removed": True}
    assert later.delete("/resources", params={"uri": uri}).status_code == 404
    assert later.get("/resources", params={"uri": uri}).status_code == 404
    assert len(later.get("/resources").json()["resources"]) == 2


def test_a_name_that_is_all_hidden_is_a_name_still(start: Start) -> None:
    uri = "viking://~/resources/[email removed]"
    with running(start) as before:
        uploaded(before, f"{ANNA}.md", RENT)
    with running(start, **RECALLS, **HIDES) as after:
        assert hidden(after.get("/resources").text)
        assert f"({uri}/" in asked(after, "What is the rent in Ulm?")["contextBlock"]
        assert after.get("/resources", params={"uri": uri}).json()["resources"][0]["text"] == RENT
        assert after.delete("/resources", params={"uri": uri}).status_code == 200


def test_no_new_name_holds_it(start: Start) -> None:
    with running(start, **HIDES) as client:
        refused = client.post("/resources", json={"text": RENT, "to": f"letters/{ANNA}"})
        assert refused.status_code == 400 and refused.json()["errors"][0]["field"] == "to"
        unfetched = client.post("/resources", json={"url": f"http://127.0.0.1/{ANNA}"})
        assert unfetched.status_code == 400 and hidden(unfetched.text)


def test_a_document_within_a_folder_is_read_by_what_is_shown(later: TestClient) -> None:
    folder = "viking://~/resources/books of [email removed]"
    [read] = later.get("/resources", params={"uri": folder}).json()["resources"]
    assert read["documents"] == ["of [email removed]/[email removed]", "prices.md"]
    assert hidden(json.dumps(read)) and "prices.md: " in read["text"]
    uri = f"{folder}/{read['documents'][0]}"
    [document] = later.get("/resources", params={"uri": uri}).json()["resources"]
    assert document["text"] == "The cellar key is blue."
    page = later.get("/ui/resources/one", params={"uri": uri})
    assert "The cellar key is blue." in page.text and hidden(page.text)
    assert later.delete("/resources", params={"uri": uri}).status_code == 404


def test_the_page_removes_what_it_shows(later: TestClient) -> None:
    page = later.get("/ui/resources/remove", params={"uri": LETTER}, headers=BROWSER)
    assert "Removed." in send(later, forms_in(page)["remove"]).text
    assert LETTER not in later.get("/resources").text


def test_what_looks_alike_is_told_apart_by_its_own_name(start: Start) -> None:
    with running(start) as before:
        for name in (ANNA, BOB, EVE):
            written(before, INVOICES.replace("Ulm", name[:3]), f"Letter to {name}")
    with running(start, **RECALLS, **HIDES) as after:
        for answer in (after.get("/resources", params=SHOWN), after.delete("/resources", params=SHOWN)):
            [problem] = answer.json()["errors"]
            assert answer.status_code == 400 and problem["field"] == "uri"
            assert problem["message"].startswith("3 have this name") and "without a mask" in problem["message"]
        cursor: str | None = None
        listed: list[str] = []
        for _ in range(3):
            page = after.get("/resources", params={"limit": 1, **({"cursor": cursor} if cursor else {})}).json()
            listed += [one["summary"] for one in page["resources"]]
            cursor = page["nextCursor"]
            assert hidden(base64.urlsafe_b64decode(f"{cursor or ''}==").decode())
        assert cursor is None and len(set(listed)) == 3
        block = asked(after, "Who pays the invoices of the branch?")["contextBlock"]
        assert block.count(f"({LETTER}/") == 3  # none is taken for another that is shown alike
        own = {"uri": f"viking://~/resources/Letter to {BOB}.md"}
        assert "the bob branch" in after.get("/resources", params=own).json()["resources"][0]["text"]
        assert after.delete("/resources", params=own).json() == {"uri": LETTER, "removed": True}
        assert len(after.get("/resources").json()["resources"]) == 2


def test_skills_are_hidden_and_found_likewise(start: Start) -> None:
    uri, shown = "viking://~/skills/call-wolfram-now", "viking://~/skills/call-[client removed]-now"
    rule = {"policy": {"patterns": {"client": {"pattern": "wolfram", "action": "mask"}}}}
    with running(start) as before:
        written(before, "---\nname: call-wolfram-now\ndescription: rings the printer up\n---\nDial 7.\n", "", "/skills")
    with running(start, **rule) as after:
        assert [one["uri"] for one in after.get("/skills").json()["skills"]] == [shown]
        assert shown in tool(after, "ov_search", query="ring the printer up")["content"][0]["text"]
        assert "wolfram" not in after.get("/ui/resources", params={"kind": "skill"}).text
        for one in (shown, uri):
            [skill] = after.get("/skills", params={"uri": one}).json()["skills"]
            assert skill["uri"] == shown and "Dial 7." in skill["text"]
        assert after.delete("/skills", params={"uri": shown}).json() == {"uri": shown, "removed": True}
        assert after.get("/skills").json()["skills"] == []


def test_a_failed_import_is_listed_masked_and_removed(start: Start, tmp_path: Path) -> None:
    with running(start) as before:
        written(before, INVOICES, f"Letter to {ANNA}")
        before.delete("/resources", params={"uri": f"viking://~/resources/Letter to {ANNA}.md"})
        answer = before.post("/resources", json={"text": RENT, "title": f"Letter to {ANNA}", "wait": True})
        task = answer.json()["taskId"]
    with closing(sqlite3.connect(tmp_path / "data" / "sidecar.db")) as store:
        store.execute("UPDATE resource_imports SET state = 'failed', detail = ?", (f"{ANNA} was not there",))
        store.commit()
    with running(start, **HIDES) as after:
        followed = after.get(f"/resources/tasks/{task}")
        assert followed.json()["uri"] == LETTER and hidden(followed.text)
        page = after.get("/ui/resources", params={"task": task})
        assert hidden(page.text) and hidden(after.get("/resources").text)
        assert after.delete("/resources", params={"uri": LETTER}).status_code == 200


@pytest.mark.parametrize("uri", [f"resources/about {ANNA}", f"viking://~/resources/a/{ANNA}#1"])
def test_nothing_is_written_of_a_name_that_is_none(start: Start, tmp_path: Path, uri: str) -> None:
    client = start(**HIDES)
    written(client, RENT, "rent")
    answer = client.delete("/resources", params={"uri": uri})
    assert answer.status_code == 404 and ANNA not in answer.text
    client.__exit__(None, None, None)
    assert [path for path in tmp_path.rglob("*") if path.is_file() and ANNA.encode() in path.read_bytes()] == []


@pytest.mark.parametrize(
    ("name", "content", "status"),
    [
        (f"photo of {ANNA}.bin", b"\0\1\2", 415),
        ("scans.zip", zipped({f"{ANNA}.exe": "x", f"{ANNA}.EXE": "y"}), 422),
        ("scans.zip", zipped({f"{'a/' * 30}{ANNA}.md": "x"}), 422),
    ],
)
def test_what_is_refused_is_named_masked(
    start: Start, capfd: pytest.CaptureFixture[str], name: str, content: bytes, status: int
) -> None:
    client = start(log_level="debug", **HIDES)
    answer = uploaded(client, name, content)
    assert answer.status_code == status and "[email removed]" in answer.json()["detail"]
    assert hidden(answer.text) and all(hidden(text) for text in capfd.readouterr())


def test_a_damaged_file_is_named_masked_in_the_log(
    start: Start, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with running(start) as before:
        uploaded(before, f"mail to {BOB}.md", RENT)
    [file] = tmp_path.rglob(f"{segment(f'resources/mail to {BOB}.md')}.jsonl")
    file.write_bytes(b"{" + file.read_bytes())
    for index in file.parent.glob("*index*"):
        index.unlink()
    capfd.readouterr()
    with running(start, **HIDES) as after:
        assert after.get("/resources").json()["resources"] == []
    lines = "".join(capfd.readouterr())
    assert '"file_damaged"' in lines and "mail to [email removed]" in lines and hidden(lines)
