"""Who names no account or no user means ``default``, on the embedded backend: both spellings are one tenant."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.http.conftest import Start
from tests.scan import places_of

ACCOUNT, USER = "X-OpenViking-Account", "X-OpenViking-User"
UNNAMED: dict[str, str] = {}
NAMED = {ACCOUNT: "default", USER: "default"}
BOB = {USER: "bob"}
BOB_NAMED = {ACCOUNT: "default", USER: "bob"}
ACME = {ACCOUNT: "acme"}
ACME_NAMED = {ACCOUNT: "acme", USER: "default"}
SPELLINGS = [
    pytest.param(UNNAMED, NAMED, id="unnamed-named"),
    pytest.param(NAMED, UNNAMED, id="named-unnamed"),
    pytest.param(BOB, BOB_NAMED, id="user"),
    pytest.param(BOB_NAMED, BOB, id="user-named"),
    pytest.param(ACME, ACME_NAMED, id="account"),
]
WORD = "kestrelzz"
TABLES = [
    "sessions",
    "waiting_memories",
    "memory_ledger",
    "forgettings",
    "audit",
    "freshness_reports",
    "tool_uses",
    "skill_uses",
    "session_starts",
    "memory_versions",
    "layouts",
    "tool_outputs",
    "resource_imports",
    "resource_catalogue",
    "resource_documents",
]


def tell(client: TestClient, headers: dict[str, str], session: str = "s", word: str = WORD) -> str:
    said = [{"role": "user", "content": f"My safe word is {word}."}, {"role": "assistant", "content": "ok"}]
    body = {"sessionId": session, "wait": True, "messages": said}
    turn: str = client.post("/after-turn", json=body, headers=headers).json()["turnId"]
    assert client.post("/memories", json={"text": f"The villa code is {word}."}, headers=headers).status_code == 201
    asked = {"sessionId": session, "messages": [{"role": "user", "content": "What is the villa code?"}]}
    assert client.post("/assemble", json=asked, headers=headers).status_code == 200
    assert client.post("/sessions/start", json={"sessionId": session}, headers=headers).status_code == 200
    assert client.get("/recalls", headers=headers).json()["recalls"]
    return turn


def forget(client: TestClient, headers: dict[str, str], **selection: Any) -> dict[str, Any]:
    answer = client.post("/memories/forget", json={**selection, "dryRun": False}, headers=headers)
    assert answer.status_code == 200
    receipt: dict[str, Any] = answer.json()
    return receipt


def at_revision(data: Path, revision: str) -> None:
    store = sqlite3.connect(data / "sidecar.db")
    store.execute("DROP TABLE IF EXISTS output_rules")  # of a later revision
    store.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    store.commit()
    store.close()


def as_before(data: Path, account: str, user: str) -> None:
    """The store as a version before this rule left it, whose caller spelled the tenant like this."""
    store = sqlite3.connect(data / "sidecar.db")
    for table in TABLES:
        store.execute(f"UPDATE {table} SET account = ?, user_name = ?", (account, user))
    store.commit()
    store.close()
    at_revision(data, "0022")
    traces = sqlite3.connect(data / "traces.db")
    traces.execute("UPDATE recall_traces SET account_key = ?", (f"{account or '-'}/{user or '-'}",))
    traces.commit()
    traces.close()


@pytest.mark.parametrize(("told_as", "asked_as"), SPELLINGS)
def test_what_is_told_under_one_spelling_is_there_under_the_other(
    client: TestClient, told_as: dict[str, str], asked_as: dict[str, str]
) -> None:
    turn = tell(client, told_as)
    assert client.get(f"/turns/{turn}", headers=asked_as).status_code == 200
    assert client.get("/recalls", headers=asked_as).json()["recalls"]
    assert client.get("/audit", headers=asked_as).json()["entries"]
    assert WORD in client.get("/memories", headers=asked_as).text


@pytest.mark.parametrize("selection", [{"everything": True}, {"session": "s"}, {"lastDays": 1}])
@pytest.mark.parametrize(("told_as", "asked_as"), SPELLINGS)
def test_forgetting_under_the_other_spelling_leaves_nothing(
    client: TestClient, tmp_path: Path, told_as: dict[str, str], asked_as: dict[str, str], selection: dict[str, Any]
) -> None:
    tell(client, told_as)
    if "session" in selection:
        forget(client, asked_as, query="The villa code")
    assert forget(client, asked_as, **selection)["kept"] == []
    assert places_of(tmp_path / "data", WORD) == []


def test_tenants_of_other_names_are_not_joined(client: TestClient) -> None:
    tell(client, ACME)
    for headers in (UNNAMED, BOB, {ACCOUNT: "acme", USER: "bob"}, {ACCOUNT: "Default"}):
        assert client.get("/memories", headers=headers).json()["memories"] == []


def test_a_token_that_is_bound_to_the_default_tenant_opens_no_other(start: Start) -> None:
    client = start(auth={"tokens": '{"secret": {"account": "default", "user": "default"}}'})
    client.headers["Authorization"] = "Bearer secret"
    assert client.get("/memories").status_code == 200
    assert client.get("/memories", headers=NAMED).status_code == 200
    assert client.get("/memories", headers={ACCOUNT: "acme"}).status_code == 403
    assert client.get("/memories", headers={USER: "bob"}).status_code == 403


@pytest.mark.parametrize(
    ("account", "user", "headers"),
    [("default", "default", UNNAMED), ("", "default", NAMED), ("default", "bob", BOB), ("acme", "default", ACME)],
)
def test_a_store_from_before_is_found_again(
    start: Start, tmp_path: Path, account: str, user: str, headers: dict[str, str]
) -> None:
    turn = tell(start(), headers)
    as_before(tmp_path / "data", account, user)
    client = start()
    assert client.get(f"/turns/{turn}", headers=headers).status_code == 200
    assert client.get("/recalls", headers=headers).json()["recalls"]
    assert client.get("/audit", headers=headers).json()["entries"]
    assert forget(client, headers, everything=True)["kept"] == []
    assert places_of(tmp_path / "data", WORD) == []


def test_a_session_that_went_by_both_spellings_becomes_one(start: Start, tmp_path: Path) -> None:
    data = tmp_path / "data"
    first = tell(start(), UNNAMED, word="kestrelzz")
    as_before(data, "default", "default")
    at_revision(data, "0023")  # the other spelling is told before both are joined
    second = tell(start(), UNNAMED, word="pelicanzz")
    at_revision(data, "0022")
    client = start()
    for turn in (first, second):
        assert client.get(f"/turns/{turn}").json()["session"] == "s"
    tell(client, NAMED, word="ospreyzz")
    assert forget(client, NAMED, everything=True)["kept"] == []
    assert [places_of(data, word) for word in ("kestrelzz", "pelicanzz", "ospreyzz")] == [[], [], []]


def test_an_account_called_like_the_mark_of_none_is_itself(client: TestClient) -> None:
    tell(client, {ACCOUNT: "-", USER: "bob"})
    assert client.get("/recalls", headers=BOB).json()["recalls"] == []
    assert client.get("/recalls", headers={ACCOUNT: "-", USER: "bob"}).json()["recalls"]
