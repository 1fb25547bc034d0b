"""Record what the service answers to the example requests: ``python -m tests.examples`` (part of ``make openapi``)."""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.testclient import TestClient

from app.api.examples import NDJSON, REQUESTS, Example
from app.factory import create_app
from app.settings import Settings

ANSWERS = Path(__file__).parents[1] / "app" / "api" / "answers.json"
IDS = frozenset({"turnId", "traceId", "taskId", "requestId", "memoryId", "receiptId", "id"})
"""Made anew each time."""
MADE_ANEW = re.compile(r"\b[a-z]_[a-z2-7]{26}\b|\b\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?")
"""Ids and times within texts."""
TIMES = frozenset({"timingsMs", "at", "checkedAt", "createdAt", "updatedAt", "lastConfirmedAt"})
MEASURED = TIMES | {"score", "stale", "unconfirmed"}
"""Moments and durations, and what grows old with the memory."""


def played() -> dict[str, Any]:
    """The answers of a service that starts empty, on the embedded backend."""
    with TemporaryDirectory() as directory, TestClient(create_app(_settings(Path(directory)))) as client:
        return {name: _answer(client, request) for name, request in REQUESTS.items()}


def _answer(client: TestClient, request: Example) -> Any:
    lines = {"content-type": NDJSON}
    sent = {"content": request.body, "headers": lines} if isinstance(request.body, str) else {"json": request.body}
    answer = client.request(request.method, request.path, **({} if request.body is None else sent))
    return answer.text if answer.headers["content-type"].startswith(NDJSON) else answer.json()


def comparable(answer: Any, name: str = "") -> Any:
    """The answer without what differs from one time to the next."""
    if name in MEASURED or (name in IDS and isinstance(answer, str)):
        return f"<{name}>"
    if isinstance(answer, dict):
        return {key: comparable(value, key) for key, value in answer.items()}
    if isinstance(answer, list):
        return [comparable(item) for item in answer]
    if isinstance(answer, str):  # lines of equal times stand in the order of ids, which are made anew
        return sorted(MADE_ANEW.sub("<>", answer).split("\n"))
    return answer


def _settings(directory: Path) -> Settings:
    return Settings(_env_file=None, data_dir=directory, log_level="error")


def main() -> None:
    """Write the answers anew; one that says the same as before stays, with its ids and times."""
    before = json.loads(ANSWERS.read_text(encoding="utf-8"))
    answers = {
        name: before[name] if comparable(before.get(name)) == comparable(answer) else answer
        for name, answer in played().items()
    }
    ANSWERS.write_text(json.dumps(answers, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
