"""Recall over the real OpenViking with the rig's seeds: the right experience first, or none at all."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from app.classify.classifier import ByWords
from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, SessionKind, Tenant
from app.core.messages.host_message import HostMessage
from app.engine.results import AssembleInput, AssembleResult
from app.openviking.client import OpenVikingBackend
from app.recall.searches import Searches
from app.recall.transform import Transform
from app.settings import Settings
from tests.contract.subject import eventually
from tests.integration.conftest import RIG_DIR, OpenViking, Rigs, run
from tests.unit.recalling import Traces

pytestmark = [pytest.mark.rig, pytest.mark.anyio]

SEEDS = RIG_DIR / "openviking" / "seeds"


@pytest.fixture(scope="module")
def seeded(rigs: Rigs) -> OpenViking:
    server = rigs.up("api_key", "--evolution")
    for name in ("experiences", "memories"):
        run("seed", str(SEEDS / f"{name}.jsonl"), "--user", "alice", "--name", server.name)
    return server


class Host:
    """Asks as one user of the server, each time in a new session, with time for a busy machine."""

    def __init__(self, server: OpenViking, backend: OpenVikingBackend, user: str, **recall: Any) -> None:
        settings = Settings(_env_file=None, experience={"enabled": True}, recall={"timeout_ms": 30_000, **recall})
        self._engine = Transform(settings, Searches(backend), Traces(), ByWords())
        self._tenant = Tenant(server.account, user)

    async def ask(self, text: str, *, kind: SessionKind = SessionKind.CHAT) -> AssembleResult:
        who = Identity(self._tenant, "recall-test", None, "main", None, PeerRole.ASSISTANT, kind)
        asked = AssembleInput((HostMessage({"role": "user", "content": text}),), None, 128_000)
        return await self._engine.run(who, asked, Deadline.after_ms(60_000))


@pytest.fixture
async def alice(seeded: OpenViking) -> AsyncIterator[Host]:
    backend = OpenVikingBackend(seeded.settings())
    yield Host(seeded, backend, "alice")
    await backend.aclose()


@pytest.fixture
async def bob(seeded: OpenViking) -> AsyncIterator[Host]:
    backend = OpenVikingBackend(seeded.settings())
    yield Host(seeded, backend, "bob")
    await backend.aclose()


def experiences(result: AssembleResult) -> list[str]:
    lines = (result.context_block or "").splitlines()
    return [line.removeprefix("### Experience: ") for line in lines if line.startswith("### Experience: ")]


@pytest.mark.parametrize(
    ("task", "first"),
    [
        ("The ALTER TABLE migration hangs on a lock, please fix it and run it again", "migration_lock_timeout"),
        ("Fix the test that fails in CI around midnight, it is a time zone thing", "flaky_test_time_zone"),
        (
            "Our Node worker keeps growing until it gets killed. Find the memory leak and fix it",
            "memory_leak_node_worker",
        ),
        ("Speed up the container build, it installs all dependencies again on every commit", "docker_build_cache_miss"),
        ("修复导出的 CSV 文件在 Excel 里中文乱码的问题", "中文乱码导出文件"),
        ("排查一下订单接口偶发超时的问题并修复", "接口超时排查"),
        ("升级主要依赖之后单元测试大面积失败，帮我修好", "依赖升级失败"),
    ],
)
async def test_a_task_gets_the_right_experience_first(alice: Host, task: str, first: str) -> None:
    result = await alice.ask(task)
    assert experiences(result)[:1] == [first]
    assert result.recall and result.recall.gate.trigger == "task_start"


@pytest.mark.parametrize("question", ["What is a database migration?", "什么是内存泄漏？", "thanks, that was helpful!"])
async def test_a_question_gets_none(alice: Host, question: str) -> None:
    assert experiences(await alice.ask(question)) == []


async def test_cron_needs_no_gate(alice: Host) -> None:
    text = "What makes an endpoint slow when a table has ten million rows and no index?"
    assert experiences(await alice.ask(text)) == []
    result = await alice.ask(text, kind=SessionKind.CRON)
    assert experiences(result)[:1] == ["slow_query_missing_index"]
    assert result.recall and result.recall.gate.trigger == "cron_start"


async def test_memories_are_recalled_and_no_experience_stands_among_them(alice: Host) -> None:
    result = await alice.ask("Which days do I not deploy on?")
    assert result.context_block and "Does not deploy on Fridays" in result.context_block
    assert "## Situation" not in result.context_block


async def test_another_user_sees_nothing_of_it(bob: Host) -> None:
    result = await bob.ask("The ALTER TABLE migration hangs on a lock, please fix it and run it again")
    assert result.context_block is None


async def test_no_record_of_what_an_agent_did_stands_among_the_memories(seeded: OpenViking) -> None:
    backend = OpenVikingBackend(seeded.settings())
    who = Identity(Tenant(seeded.account, "alice"), "sprockets", None, "main", None, PeerRole.NONE, SessionKind.CHAT)
    call = ToolPart("c1", "shell", {"command": "sprocket-cli unjam"}, "unjammed")
    messages = [
        CapturedMessage(
            "user",
            (TextPart("Task: please fix the jammed sprocket feeder."),),
            "2026-03-01T09:00:00+00:00",
            "t_sprocket.0",
        ),
        CapturedMessage(
            "assistant",
            (call, TextPart("The sprocket feeder runs again.")),
            "2026-03-01T09:01:00+00:00",
            "t_sprocket.1",
        ),
    ]
    await backend.append(who, messages, Deadline.after_ms(60_000))
    await backend.commit(who, 0, Deadline.after_ms(60_000))
    question = "What became of the jammed sprocket feeder?"
    search = {"query": question, "limit": 50, "level": 2, "target_uri": "viking://~/memories"}
    async with httpx.AsyncClient(base_url=seeded.url, headers=seeded.users["alice"]) as client:

        async def found() -> list[str]:
            answer = await client.post("/api/v1/search/find", json=search)
            return [hit["uri"] for hit in answer.json()["result"]["memories"]]

        uris = await eventually(found, lambda uris: any("/trajectories/" in uri or "/cases/" in uri for uri in uris))
    assert [uri for uri in uris if "/trajectories/" in uri or "/cases/" in uri]
    result = await Host(seeded, backend, "alice", limit=50, score_threshold=0, max_injected_chars=60_000).ask(question)
    assert result.context_block
    assert "[trajectories]" not in result.context_block and "[cases]" not in result.context_block
    await backend.aclose()


async def test_a_users_own_resources_are_recalled(seeded: OpenViking) -> None:
    guide = {
        "uri": "viking://~/resources/guides/espresso.md",
        "content": "# Espresso machine\n\nDescale the espresso machine with citric acid every second Sunday.\n",
        "mode": "create",
        "wait": True,
    }
    async with httpx.AsyncClient(base_url=seeded.url, headers=seeded.users["alice"], timeout=60) as client:
        (await client.post("/api/v1/content/write", json=guide)).raise_for_status()
    backend = OpenVikingBackend(seeded.settings())
    result = await Host(seeded, backend, "alice", resources=True).ask("When do I descale the espresso machine?")
    assert "citric acid" in (result.context_block or "")
    await backend.aclose()
