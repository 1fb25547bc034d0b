"""A page whose name was made to lead to this machine (DNS rebinding) gets nothing while no token guards the door."""

import pytest
from starlette.testclient import TestClient

from app.core.reasons import Reason
from tests.http.conftest import Start
from tests.http.test_errors import problem

OURS = ["127.0.0.1", "127.0.0.1:8787", "LOCALHOST:8787", "localhost.", "[::1]:8787", "192.168.1.5", "sidecar:8787"]
OURS += ["api.localhost", "host.docker.internal:8787", "sidecar.test", ""]
FOREIGN = [
    "evil.example.com",
    "evil.example.com:8787",
    "localhost.evil.com",
    "127.0.0.1.evil.com",
    "1.2.3.4.5",
    "[::1",
    "a b",
]


def status(client: TestClient, host: str, path: str = "/healthz") -> int:
    return client.get(path, headers={"Host": host}).status_code


@pytest.mark.parametrize("host", OURS)
def test_addresses_and_names_that_nobody_can_register_are_ours(client: TestClient, host: str) -> None:
    assert status(client, host) == 200


@pytest.mark.parametrize("host", FOREIGN)
def test_any_other_name_is_refused_on_every_path(client: TestClient, host: str) -> None:
    for path in ("/healthz", "/docs", "/recalls", "/nope"):
        answer = client.get(path, headers={"Host": host})
        assert problem(answer, 400, Reason.INVALID_REQUEST)["errors"][0]["field"] == "headers.Host"
    answer = client.post("/assemble", json={"sessionId": "s"}, headers={"Host": host})
    assert problem(answer, 400, Reason.INVALID_REQUEST)["errors"][0]["field"] == "headers.Host"


def test_a_setting_allows_more(start: Start) -> None:
    client = start(auth={"allowed_hosts": "memory.example.org, *.corp.example"})
    for host in ("memory.example.org", "Memory.Example.Org:443", "a.b.corp.example"):
        assert status(client, host) == 200
    for host in ("corp.example", "x.memory.example.org", "evil.example.com"):
        assert status(client, host) == 400


@pytest.mark.parametrize("auth", [{"tokens": "alpha"}, {"allow_anonymous": True}, {"allowed_hosts": ["*"]}])
def test_with_tokens_or_leave_any_name_will_do(start: Start, auth: dict[str, object]) -> None:
    assert status(start(auth=auth), "sidecar.example.com") == 200
