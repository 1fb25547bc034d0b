"""The Python client (integrations/python) against the running service, and its types against the OpenAPI document."""

import sys
from pathlib import Path
from typing import get_type_hints

import pytest
from starlette.testclient import TestClient

from tests.http.conftest import Start
from tests.http.test_resources import GUIDE, OTHER, SKILL
from tests.unit.memory_backend import MemoryBackend, rejected

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "integrations/python"))

from sidecar_client import Session, Sidecar, SidecarError, answers
from sidecar_client.memories import Change, Filters, Selection

TYPES = {
    answers.Assembled: "AssembleResult",
    answers.RecallReport: "RecallReport",
    answers.RecalledItem: "RecalledItem",
    answers.Gate: "Gate",
    answers.Committed: "AfterTurnResult",
    answers.Compaction: "Compaction",
    answers.MessageRange: "MessageRange",
    answers.PolicyLine: "PolicyLine",
    answers.Compacted: "CompactResult",
    answers.CompactedSession: "CompactedSession",
    answers.CompactDetails: "CompactDetails",
    answers.SessionEnded: "SessionResult",
    answers.SessionStarted: "StartResult",
    answers.ListedMemory: "ListedMemoryBody",
    answers.WrittenMemory: "WrittenMemoryBody",
    answers.MemoryRecord: "MemoryRecordBody",
    answers.MemoryVersion: "MemoryVersionBody",
    answers.MemorySource: "MemorySourceBody",
    answers.MemoryPage: "MemoryPageBody",
    answers.Receipt: "ReceiptBody",
    answers.Selected: "SelectedBody",
    answers.Removed: "RemovedBody",
    answers.Kept: "KeptBody",
    answers.Imported: "ImportBody",
    answers.RejectedLine: "RejectedLineBody",
    answers.TextBlock: "TextBlock",
    answers.ToolAnswer: "ToolCallResponse",
    answers.Delivery: "Delivery",
    answers.DeliveryPage: "DeliveryPage",
    answers.RecallLine: "RecallLine",
    answers.RecallList: "RecallList",
    answers.AuditPage: "AuditBody",
    answers.AuditEntry: "AuditEntryBody",
    answers.Actor: "ActorBody",
    answers.Freshness: "FreshnessBody",
    answers.Finding: "FindingBody",
    answers.Findings: "FindingsBody",
    answers.ImportTask: "ImportedBody",
    answers.Passage: "PassageBody",
    answers.Resource: "ResourceBody",
    answers.ResourcePage: "ResourcePageBody",
    answers.RemovedResource: "RemovedResourceBody",
    Change: "ChangeMemoryRequest",
}


def speaking(client: TestClient, token: str | None = None, user: str | None = None) -> Sidecar:
    """A client that leaves the sidecar all the time that a slow machine may need."""
    client.timeout = 60
    return Sidecar("http://testserver", token, user=user, http=client)


@pytest.fixture
def sidecar(person: TestClient) -> Sidecar:
    return speaking(person)


def test_every_field_of_an_answer_has_a_type(service: TestClient) -> None:
    schemas = service.get("/openapi.json").json()["components"]["schemas"]
    for type_, name in TYPES.items():
        assert set(get_type_hints(type_)) == set(schemas[name]["properties"]), name
    assert set(get_type_hints(Selection)) >= set(schemas["ForgetRequest"]["properties"]) - {"dryRun", "deadlineMs"}


def test_every_filter_of_the_list_has_a_type(service: TestClient) -> None:
    parameters = service.get("/openapi.json").json()["paths"]["/memories"]["get"]["parameters"]
    named = {one["name"] for one in parameters if one["in"] == "query"} - {"limit", "cursor"}
    assert set(get_type_hints(Filters)) == named


def test_a_turn_from_the_question_to_the_archive(sidecar: Sidecar) -> None:
    session = Session("tea", extra={"sessionKey": "agent:main:tea"})
    asked = {"role": "user", "content": "Which tea do I like?"}
    assert sidecar.assemble(session, [asked])["reason"] == "no_recall_hits"
    turn = [asked, {"role": "assistant", "content": "Green tea with honey."}]
    committed = sidecar.after_turn(session, "tea/1", turn, wait=True)
    assert (committed["status"], committed["delivery"]) == ("committed", "delivered")
    assert sidecar.after_turn(session, "tea/1", turn)["status"] == "duplicate"
    assert sidecar.turn(committed["turnId"])["state"] == "delivered"
    assert [one["turnId"] for one in sidecar.deliveries(state=["delivered"])["deliveries"]] == [committed["turnId"]]
    compacted = sidecar.compact(session, timeout=30)
    assert compacted["reason"] == "commit_completed"
    archive = compacted["result"]["firstKeptEntryId"]
    assert sidecar.search_archives(session, "honey")["details"]["archives"] == [archive]
    assert "honey" in sidecar.read_archive(session, archive)["content"][0]["text"]
    assert sidecar.start(session)["reason"] == "ok"
    assert sidecar.end(session)["ok"] and sidecar.reset(session)["ok"]
    (recall,) = sidecar.recalls()["recalls"]
    assert sidecar.recall(recall["traceId"])["reason"] == "no_recall_hits"


def test_a_memory_from_being_stored_to_being_forgotten(sidecar: Sidecar) -> None:
    memories = sidecar.memories
    stored = memories.store("Mia lives in Lisbon.", category="profile", key="home", sensitivity="medium", ttl_days=30)
    assert memories.store("Mia lives in Lisbon.")["id"] == stored["id"]
    changed = memories.change(stored["id"], {"text": "Mia lives in Porto.", "ttlDays": None}, if_version=1)
    assert changed["expiresAt"] is None
    with pytest.raises(SidecarError, match="version_conflict"):
        memories.change(stored["id"], {"pinned": True}, if_version=1)
    assert "Mia lives in Lisbon." in [old["text"] for old in memories.read(stored["id"])["history"]]
    assert [one["id"] for one in memories.page(query="where does Mia live?")["memories"]] == [stored["id"]]
    looked = memories.forget_selected({"query": "Mia lives Porto"})
    assert looked["dryRun"] and looked["selected"][0]["id"] == stored["id"]
    assert memories.forget(stored["id"])["removed"]["memories"] == 1
    assert [one["memoryId"] for one in memories.audit(action="forgotten")["entries"]] == [stored["id"]]
    assert memories.audit(stored["id"], action="changed", since="2999-01-01")["entries"] == []
    with pytest.raises(SidecarError, match="not_found") as caught:
        memories.read(stored["id"])
    assert caught.value.is_final


def test_what_a_check_finds(sidecar: Sidecar) -> None:
    assert sidecar.memories.freshness()["checkedAt"] is None
    sidecar.memories.store("The PIN of the card is in the safe.", sensitivity="high")
    checked = sidecar.memories.check_freshness(timeout=30)
    assert checked["checkedAt"] and sidecar.memories.freshness() == checked


def test_all_memories_go_out_and_come_in_again(sidecar: Sidecar, person: TestClient) -> None:
    texts = {*(f"Room {number} is blue." for number in range(4)), "Room 4 is\u2028blue\u0085and red."}
    for text in texts:
        sidecar.memories.store(text)
    lines = list(sidecar.memories.export())
    assert {memory["text"] for memory in sidecar.memories.every(category="notes")} == texts
    person.headers["X-OpenViking-User"] += "-again"
    assert sidecar.memories.take_in(lines) == {"imported": 5, "skipped": 0, "rejected": []}
    assert {memory["text"] for memory in sidecar.memories.every()} == texts


def test_a_memory_of_an_agent_belongs_to_it(sidecar: Sidecar) -> None:
    assert sidecar.memories.store("Be brief.", session=Session("s", "second"), for_peer=True)["peer"] == "second"


def test_documents_from_the_import_to_the_removal(sidecar: Sidecar, tmp_path: Path) -> None:
    documents = sidecar.resources
    folder = tmp_path / "handbook"
    (folder / "sub").mkdir(parents=True)
    (folder / "guide.md").write_text(GUIDE)
    (folder / "sub" / "canteen.md").write_text(OTHER)
    (folder / ".hidden.md").write_text("Hidden plans.")
    (tmp_path / "outside.md").write_text("Outside plans.")
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    imported = documents.ended(documents.import_folder(folder, wait=True))
    assert (imported["uri"], imported["status"]) == ("viking://~/resources/handbook", "ready")
    assert imported["taskId"] and documents.task(imported["taskId"]) == imported
    assert documents.import_folder(folder, wait=True)["taskId"] is None
    assert documents.read(imported["uri"])["documents"] == ["guide.md", "sub/canteen.md"]
    [found] = documents.search("how do I go back to the release before?", limit=1)
    assert found["passages"][0]["place"] == "guide.md > Atlas guide > Rollback"
    documents.import_file(folder / "guide.md", to="guides/atlas", wait=True)
    documents.import_text("The yard's gate code is on the card.", title="Yard", wait=True)
    assert len(documents.page(limit=2)["resources"]) == 2
    assert [one["title"] for one in documents.every()] == ["Yard", "Atlas guide", "handbook"]
    assert documents.remove(imported["uri"]) == {"uri": imported["uri"], "removed": True}
    with pytest.raises(SidecarError, match="not_found"):
        documents.read(imported["uri"])
    with pytest.raises(SidecarError, match="url_refused") as caught:
        documents.import_url("http://127.0.0.1/secret")
    with pytest.raises(SidecarError, match="url_refused"):
        documents.import_git("https://example.org/acme/docs.git")
    assert caught.value.is_final


def test_skills_are_listed_apart_from_documents(sidecar: Sidecar) -> None:
    skill = sidecar.skills.import_text(SKILL, wait=True)
    assert skill["uri"] == "viking://~/skills/deploy-check" and sidecar.skills.read(skill["uri"])["text"] == SKILL
    assert [one["uri"] for one in sidecar.skills.search("check a deployment")] == [skill["uri"]]
    assert list(sidecar.resources.every()) == [] and len(list(sidecar.skills.every())) == 1
    assert sidecar.skills.remove(skill["uri"])["removed"]


def test_tools_for_a_model(sidecar: Sidecar) -> None:
    names = [tool["name"] for tool in sidecar.tools("anthropic")]
    assert "memory_store" in names
    answer = sidecar.call_tool("memory_store", {"text": "Tom has a dog."})
    assert answer["ok"] and "Tom" in sidecar.call_tool("memory_recall", {"query": "Tom's dog"})["content"][0]["text"]
    assert not sidecar.call_tool("memory_recall", {}, Session("s"))["ok"]
    with pytest.raises(SidecarError, match="not_found"):
        sidecar.call_tool("no/such", {})


def test_what_was_set_aside(start: Start) -> None:
    backend = MemoryBackend()
    backend.faults = [("before", rejected()), ("before", rejected())]
    sidecar = speaking(start(backend))
    turns = [sidecar.after_turn(Session(f"s{n}"), "k", [{"role": "user", "content": "hi"}], wait=True) for n in (1, 2)]
    assert len(sidecar.deliveries(state=["dead"])["deliveries"]) == 2
    assert sidecar.retry(turns[0]["turnId"])["state"] != "dead"
    assert sidecar.discard(turns[1]["turnId"])["state"] == "discarded"


def test_a_token_and_its_tenant(start: Start) -> None:
    client = start(auth={"tokens": "secret"})
    with pytest.raises(SidecarError, match="unauthorized"):
        speaking(client).memories.page()
    anna = speaking(client, "secret", "anna")
    anna.memories.store("Anna has a cat.")
    assert speaking(client, "secret", "bob").memories.page()["memories"] == []
    assert len(anna.memories.page()["memories"]) == 1
    with pytest.raises(SidecarError, match="unauthorized"):
        list(speaking(client, "wrong").memories.export())
