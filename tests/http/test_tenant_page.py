"""``/ui/tenant``: choosing whose memory the pages show, as far as the token leaves the choice."""

import json

import pytest
from starlette.testclient import TestClient

from tests.http.browsing import BROWSER, OURS, forms_in, send
from tests.http.conftest import Start


@pytest.fixture
def client(service: TestClient) -> TestClient:
    service.cookies.clear()
    service.headers.pop("X-OpenViking-User", None)
    return service


def choose(client: TestClient, account: str, user: str, **more: str) -> int:
    form = forms_in(client.get("/ui/tenant"))["tenant"]
    return send(client, form, {**OURS, **more}, account=account, user=user).status_code


def test_the_pages_show_whom_one_has_chosen(client: TestClient) -> None:
    demo = {"X-OpenViking-Account": "demo", "X-OpenViking-User": "demo"}
    client.post("/memories", json={"text": "Demo likes tea."}, headers=demo)
    client.post("/memories", json={"text": "Mia likes coffee."})
    first = client.get("/ui/memories").text
    assert "Mia likes coffee." in first and "Demo" not in first and "the default user" in first
    assert choose(client, "demo", "demo") == 200
    second = client.get("/ui/memories").text
    assert "Demo likes tea." in second and "Mia" not in second and "<b>demo</b>" in second
    assert "Mia" in str(client.get("/memories").json()), "what is chosen on pages holds on pages alone"
    assert choose(client, "", "") == 200
    assert "Mia likes coffee." in client.get("/ui/memories").text


def test_a_form_of_one_user_changes_nothing_of_another(client: TestClient) -> None:
    memory = client.post("/memories", json={"text": "Tom has a dog."}).json()
    form = forms_in(client.get(f"/ui/memories/{memory['id']}"))["pin"]
    choose(client, "demo", "demo")
    assert send(client, form).status_code == 403


@pytest.mark.parametrize("cookie", ["", "/", "a/b/c", "../..", "%0a/x", "a@b@c/x", '"x"/y', "x" * 3000])
def test_a_cookie_that_is_none_of_ours_chooses_nobody_else(client: TestClient, cookie: str) -> None:
    client.post("/memories", json={"text": "Mia likes coffee."})
    headers = {**BROWSER, "Cookie": f"sidecar-tenant={cookie}"}
    assert client.get("/ui/memories", headers=headers).status_code == 200


def test_what_is_no_name_is_named(client: TestClient) -> None:
    form = forms_in(client.get("/ui/tenant"))["tenant"]
    refused = send(client, form, user="<b>", account="ok")
    assert refused.status_code == 400 and "user</code>" in refused.text and "set-cookie" not in refused.headers


def test_another_site_chooses_nobody(client: TestClient) -> None:
    assert choose(client, "demo", "demo", **{"Sec-Fetch-Site": "cross-site"}) == 403
    assert "the default user" in client.get("/ui/memories").text


def test_a_bound_token_leaves_no_choice(start: Start) -> None:
    tokens = {"a": {"account": "acme", "user": "alice"}, "any": {}, "acme": {"account": "acme"}}
    client = start(auth={"tokens": json.dumps(tokens)})
    for user in ("alice", "bob"):
        headers = {"Authorization": "Bearer any", "X-OpenViking-Account": "acme", "X-OpenViking-User": user}
        client.post("/memories", json={"text": f"{user} has a cat."}, headers=headers)
    alice = client.get("/ui/tenant", auth=("me", "a"))
    assert "belongs to this user alone" in alice.text and forms_in(alice) == {}
    chosen = {**OURS, "Cookie": "sidecar-tenant=acme/bob"}
    assert "alice has a cat." in client.get("/ui/memories", headers=chosen, auth=("me", "a")).text
    assert "bob has a cat." in client.get("/ui/memories", headers=chosen, auth=("me", "acme")).text
    elsewhere = {**OURS, "Cookie": "sidecar-tenant=other/bob"}
    assert "bob has a cat." in client.get("/ui/memories", headers=elsewhere, auth=("me", "acme")).text
    assert client.get("/ui/memories", headers=chosen).status_code == 401
