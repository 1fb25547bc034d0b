"""The embedded backend with an OpenAI-compatible server: vectors, commits, and what it does when the server fails."""

import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx
import pytest
from pytest_httpx import HTTPXMock

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.core.messages.tokens import estimate_tokens
from app.embedded.backend import EmbeddedBackend
from app.embedded.index import openai
from app.embedded.storage.record_lines import sources_of_experience
from app.ports import SessionHistory, Target
from app.settings import ChatSettings, EmbeddedSettings, EmbedderSettings

pytest.importorskip("numpy", reason="extra vec is missing")
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.httpx_mock(can_send_already_matched_responses=True, assert_all_responses_were_requested=False),
]

URL = "http://model.test/v1"
EMBEDDER = EmbeddedSettings(embedder=EmbedderSettings(kind="openai", url=URL, model="tiny", api_key="embedder-key"))
CHAT = EmbeddedSettings(chat=ChatSettings(url=URL, model="talker"))
WHO = Identity(Tenant(), "talk", None, "main", None, PeerRole.ASSISTANT)
TOPICS = ("cat dog pet Biscuit", "tax invoice money Turin")


def soon() -> Deadline:
    return Deadline.after_ms(60_000)


def said(number: int, text: str) -> CapturedMessage:
    return CapturedMessage("user", (TextPart(text),), f"2026-03-04T09:0{number}:00+00:00", f"t_a.{number}")


@asynccontextmanager
async def opened(directory: Path, settings: EmbeddedSettings) -> AsyncIterator[EmbeddedBackend]:
    backend = EmbeddedBackend(directory, settings)
    try:
        yield backend
    finally:
        await backend.aclose()


def topics(request: httpx.Request) -> httpx.Response:
    """Vectors of topics, in the wrong order, as the protocol allows."""
    texts = json.loads(request.content)["input"]
    rows = [
        {"index": n, "embedding": [0.1, *(1.0 if set(text.split()) & set(t.split()) else 0.0 for t in TOPICS)]}
        for n, text in enumerate(texts)
    ]
    return httpx.Response(200, json={"data": rows[::-1]})


async def test_vectors_come_from_the_server(tmp_path: Path, httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_callback(topics, url=f"{URL}/embeddings")
    async with opened(tmp_path, EMBEDDER) as backend:
        await backend.append(WHO, [said(0, "Biscuit sleeps all day")], soon())
        await backend.append(
            Identity(Tenant(), "other", None, "main", None, PeerRole.ASSISTANT),
            [said(1, "The Turin office paid")],
            soon(),
        )
        with backend._engine._users.using(WHO.tenant) as space:
            if job := space.index.embed():
                job.result(60)
        assert "Biscuit" in (await backend.find(WHO, "any pet", Target.MEMORIES, 5, soon()))[0].text
        assert "Turin" in (await backend.find(WHO, "send money", Target.MEMORIES, 5, soon()))[0].text
    sent = httpx_mock.get_requests()[0]
    assert sent.headers["Authorization"] == "Bearer embedder-key"
    assert json.loads(sent.content)["model"] == "tiny"


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(503),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"data": []}),
        httpx.Response(200, json={"data": [{"index": 0, "embedding": []}]}),
        httpx.Response(200, json={"data": [{"index": 0, "embedding": ["x"]}]}),
    ],
)
async def test_words_find_while_the_embedder_fails(
    tmp_path: Path, httpx_mock: HTTPXMock, answer: httpx.Response
) -> None:
    httpx_mock.add_callback(lambda _: answer, url=f"{URL}/embeddings")
    async with opened(tmp_path, EMBEDDER) as backend:
        await backend.append(WHO, [said(0, "Biscuit sleeps all day")], soon())
        assert "Biscuit" in (await backend.find(WHO, "where does Biscuit sleep", Target.MEMORIES, 5, soon()))[0].text


async def committed(backend: EmbeddedBackend, *more: str, instructions: str = "") -> SessionHistory:
    texts = more or ("I prefer tea.", "The kettle is broken.")
    await backend.append(WHO, [said(number, text) for number, text in enumerate(texts, 10 * len(more))], soon())
    receipt = await backend.commit(WHO, 0, soon(), instructions=instructions)
    assert receipt.task_id
    with anyio.fail_after(60):
        while (await backend.commit_status(WHO, receipt.task_id, soon())).state == "running":  # noqa: ASYNC110
            await anyio.sleep(0.01)
    return await backend.history(WHO, 10_000, soon())


def text_of(root: Path, name: str) -> str:
    (lesson,) = root.rglob(f"experiences/{name}")
    return lesson.read_text()


async def test_a_chat_model_writes_summary_and_memories(tmp_path: Path, httpx_mock: HTTPXMock) -> None:
    told = {
        "summary": "Talk about tea.",
        "abstract": "Tea",
        "memories": [
            {"category": "entities", "key": "kettle", "value": "The kettle needs a new switch", "message": 1},
            {"category": "../../outside", "key": "x", "value": "y"},
            "nonsense",
        ],
        "experiences": [{"name": "kettle", "situation": "broken", "approach": "new switch", "reflect": "check fuse"}],
    }
    content = f"```json\n{json.dumps(told)}\n```"
    httpx_mock.add_response(
        url=f"{URL}/chat/completions", json={"choices": [{"message": {"content": content}}]}, is_reusable=True
    )
    async with opened(tmp_path, CHAT) as backend:
        assert (await committed(backend)).overview == "Talk about tea."
        assert (await committed(backend, "The kettle works.")).abstracts == (("archive_001", "Tea"),)
        hits = await backend.find(WHO, "kettle switch", Target.MEMORIES, 5, soon())
        assert any("needs a new switch" in hit.text for hit in hits)
        assert await backend.find(WHO, "broken kettle", Target.EXPERIENCES, 5, soon())
    sources, is_all = sources_of_experience(text_of(tmp_path, "kettle.md"))
    assert is_all and {(one.kind, one.session) for one in sources} == {("chat_model", WHO.session)}, "it goes with them"


async def test_a_chat_model_is_told_what_its_summary_has_to_keep(tmp_path: Path, httpx_mock: HTTPXMock) -> None:
    content = json.dumps({"summary": "Talk about tea."})
    httpx_mock.add_response(url=f"{URL}/chat/completions", json={"choices": [{"message": {"content": content}}]})
    async with opened(tmp_path, CHAT) as backend:
        await committed(backend)
        await committed(backend, "The kettle works.", instructions="Keep the colour of the kettle.")
    plain, asked = [json.loads(sent.content)["messages"][-1]["content"] for sent in httpx_mock.get_requests()]
    told = "The summary has to keep, as whoever asked for it says:\nKeep the colour of the kettle.\n\n"
    assert asked.startswith(f"{told}Earlier summary:\nTalk about tea.") and "has to keep" not in plain


@pytest.mark.parametrize("content", ["I can not do that.", "{}", '{"summary": 3}', '{"summary": ""}', "[" * 5000])
async def test_rules_stand_in_for_a_model_that_talks_nonsense(
    tmp_path: Path, httpx_mock: HTTPXMock, content: str
) -> None:
    httpx_mock.add_response(url=f"{URL}/chat/completions", json={"choices": [{"message": {"content": content}}]})
    async with opened(tmp_path, CHAT) as backend:
        assert "I prefer tea." in (await committed(backend)).overview


async def test_rules_stand_in_for_a_model_that_is_down(tmp_path: Path, httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_exception(httpx.ConnectError("refused"), url=f"{URL}/chat/completions")
    async with opened(tmp_path, CHAT) as backend:
        assert "I prefer tea." in (await committed(backend)).overview
    assert list(tmp_path.rglob("preferences/*.md"))  # noqa: ASYNC240


async def test_embedding_requests_are_small_few_at_a_time_and_tried_three_times(
    httpx_mock: HTTPXMock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai, "BACKOFF_S", 0)
    guard, under_way, most, failed = threading.Lock(), 0, 0, 0

    def answer(request: httpx.Request) -> httpx.Response:
        nonlocal under_way, most, failed
        texts = json.loads(request.content)["input"]
        assert sum(map(estimate_tokens, texts)) <= 8_000 or len(texts) == 1
        with guard:
            under_way += 1
            most = max(most, under_way)
            fails = failed < 2
            failed += fails
        with guard:
            under_way -= 1
        rows = [{"index": n, "embedding": [float(len(text)), 1.0]} for n, text in enumerate(texts)]
        return httpx.Response(503) if fails else httpx.Response(200, json={"data": rows})

    httpx_mock.add_callback(answer, url=f"{URL}/embeddings")
    texts = [f"{'word ' * 400}{number * 'x'}" for number in range(120)]
    vectors = openai.embed_over_http(EMBEDDER.embedder, texts, tries=3)
    assert [round(vector[0]) for vector in vectors] == list(map(len, texts))
    assert most <= 4 and len(httpx_mock.get_requests()) > 6


async def test_a_request_that_is_refused_is_not_sent_again(httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_response(url=f"{URL}/embeddings", status_code=401)
    with pytest.raises(openai.EndpointError):
        openai.embed_over_http(EMBEDDER.embedder, ["one"], tries=3)
    assert len(httpx_mock.get_requests()) == 1
