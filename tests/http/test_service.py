"""Health, readiness, metrics, Swagger UI's files, and the generated documents."""

import ast
import errno
import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.api.examples import NDJSON, REQUESTS
from app.commands.openapi import documents
from app.settings import variables
from docs.tables import updated
from tests.http.conftest import Start

ROOT = Path(__file__).parents[2]


def test_health_and_readiness(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    ready = client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json()["store"]["ok"] is True
    assert ready.json()["backend"]["name"] == "embedded"


def test_readiness_tells_strangers_no_more_than_yes_or_no(start: Start, tmp_path: Path) -> None:
    client = start(auth={"tokens": "alpha"})
    asked = client.get("/readyz")
    assert asked.json() == {"status": "ready", "store": {"ok": True}, "backend": {"name": "embedded", "ok": True}}
    told = client.get("/readyz", headers={"Authorization": "Bearer alpha"})
    assert told.json()["store"]["detail"] == "writable"
    assert str(tmp_path) not in told.text


def test_a_full_disk_is_not_ready(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (503, "not_ready")
    assert "No space left" in ready.json()["store"]["detail"]
    assert client.get("/readyz").status_code == 200


def test_head_is_get_without_the_body(client: TestClient) -> None:
    for path, status in (("/healthz", 200), ("/metrics", 200), ("/docs", 200), ("/nope", 404), ("/assemble", 405)):
        answer = client.head(path)
        assert (answer.status_code, answer.content) == (status, b""), path
        assert answer.headers["content-type"] == client.get(path).headers["content-type"]


def test_metrics_count_requests_and_reasons(client: TestClient) -> None:
    client.post("/assemble", json={"sessionId": "s", "messages": [{"role": "assistant", "content": "x"}]})
    text = client.get("/metrics").text
    assert 'sidecar_requests_total{endpoint="/assemble",phase="transform",status="200"} 1.0' in text
    assert 'sidecar_recall_total{reason="non_user_tail"} 1.0' in text
    assert "sidecar_outbox_depth 0.0" in text


def test_metrics_name_the_whole_path_of_an_endpoint(client: TestClient) -> None:
    client.post("/memories/import", content=b"", headers={"Content-Type": "application/x-ndjson"})
    client.post("/tools/none-such", json={})
    text = client.get("/metrics").text
    assert 'sidecar_requests_total{endpoint="/memories/import",phase="",status="200"} 1.0' in text
    assert 'sidecar_requests_total{endpoint="/tools/{name}",phase="",status="404"} 1.0' in text


def test_swagger_ui_needs_nothing_from_elsewhere(client: TestClient) -> None:
    page = client.get("/docs").text
    assert "http://" not in page
    assert "https://" not in page
    for path in ("/docs-assets/swagger-ui-bundle.js", "/docs-assets/swagger-ui.css", "/docs-assets/favicon.png"):
        assert path in page
        assert client.get(path).status_code == 200


def test_the_files_in_openapi_are_those_of_the_code() -> None:
    for name, text in documents().items():
        assert (ROOT / "openapi" / name).read_text(encoding="utf-8") == text, f"{name}: run make openapi"


def test_every_endpoint_for_a_tenant_documents_the_token_and_the_headers(client: TestClient) -> None:
    operations = [one for path in client.get("/openapi.json").json()["paths"].values() for one in path.values()]
    for operation in operations:
        named = [one["name"] for one in operation.get("parameters", []) if one["in"] == "header"]
        tenant = [name for name in named if name.startswith("X-OpenViking-")]
        if "requestBody" in operation or tenant:
            assert operation["security"] == [{"HTTPBearer": []}]
            assert tenant == ["X-OpenViking-Account", "X-OpenViking-User"], operation["operationId"]


def test_the_examples_work_as_they_stand(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    tried = 0
    line = REQUESTS["memories-import"].body
    client.post("/memories/import", content=line, headers={"content-type": NDJSON})
    for path, operations in paths.items():
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            shown = {
                each["name"]: each["schema"]["examples"][0]
                for each in operation.get("parameters", ())
                if each["in"] == "path" and "examples" in each["schema"]
            }
            for example in content.get("examples", {}).values():
                stored = client.post("/memories", json={"text": "Something to change."}).json()["id"]
                answer = client.request(method, path.format(**{"id": stored, **shown}), json=example["value"])
                assert answer.status_code in {200, 201}, (path, answer.text)
                tried += 1
    assert tried >= 6


def test_the_readmes_tables_are_those_of_the_code() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert updated(readme) == readme, "run make docs"


def test_each_setting_is_used() -> None:
    own = ROOT / "app" / "settings"
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.py") if path.parent != own)
    methods = {
        node.attr
        for path in own.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }
    for variable, field in variables():
        name = variable.removeprefix("SIDECAR_").split("__")[-1].lower()
        assert f".{name}" in code or name in methods, f"{variable} is used nowhere"
        assert field.description, f"{variable} has no description"


def test_documents_are_valid_json() -> None:
    for name, text in documents().items():
        for part in text.splitlines() if name.endswith(".ndjson") else [text]:
            json.loads(part), name
