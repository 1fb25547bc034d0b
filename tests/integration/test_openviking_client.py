"""What only the real OpenViking can show: its three ways to authenticate, its limits, and its failures."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from app.core.capture.batches import batches
from app.core.capture.captured_message import TextPart, ToolPart
from app.core.reasons import Reason
from app.openviking.client import OpenVikingBackend
from app.ports import BackendError, CommitState, Target
from tests.contract.subject import Subject, soon
from tests.integration.conftest import OpenViking, Rigs
from tests.process import free_port

pytestmark = [pytest.mark.anyio, pytest.mark.rig]


@pytest.fixture
async def subject(openviking: OpenViking) -> AsyncIterator[Subject]:
    backend = OpenVikingBackend(openviking.settings())
    yield Subject(backend, account=openviking.account)
    await backend.aclose()


@pytest.fixture
def mended(openviking: OpenViking) -> Iterator[OpenViking]:
    """The server, with its model provider mended at the end."""
    yield openviking
    openviking.fault(chat="ok", embeddings="ok")


# Who is who


@pytest.mark.parametrize("auth", ["dev", "trusted", "api_key"])
async def test_each_way_to_authenticate_keeps_users_apart(rigs: Rigs, auth: str) -> None:
    server = rigs.up(auth, "--fast")
    backend = OpenVikingBackend(server.settings())
    subject = Subject(backend, account=server.account)
    try:
        health = await backend.health(soon())
        assert (health.ok, health.facts["auth_mode"]) == (True, auth)
        await backend.append(subject.who(user="alice"), subject.turn("Hello from alice."), soon())
        await backend.append(subject.who(user="bob"), subject.turn("Hello from bob.", "Hi."), soon())
        sizes = [len((await backend.history(subject.who(user=u), 1000, soon())).messages) for u in ("alice", "bob")]
        assert sizes == [1, 2]
        for target in Target:
            assert isinstance(await backend.find(subject.who(), "hello", target, 5, soon()), list)
    finally:
        await backend.aclose()


async def test_a_key_is_not_used_for_another_user(openviking: OpenViking) -> None:
    key = openviking.users["bob"]["X-API-Key"]
    backend = OpenVikingBackend(openviking.settings(api_keys="", api_key=key))
    subject = Subject(backend, account=openviking.account)
    try:
        assert (await backend.health(soon())).facts["user"] == "bob"
        await backend.append(subject.who(user="bob"), subject.turn("mine"), soon())
        with pytest.raises(BackendError) as refused:
            await backend.append(subject.who(user="alice"), subject.turn("not mine"), soon())
        assert refused.value.reason is Reason.OPENVIKING_REJECTED
    finally:
        await backend.aclose()


async def test_keys_that_can_not_work_are_found_at_the_start(openviking: OpenViking) -> None:
    swapped = f'{{"{openviking.account}/alice": "{openviking.users["bob"]["X-API-Key"]}"}}'
    for values in ({"api_keys": swapped}, {"api_keys": "", "api_key": "bad"}, {"api_keys": ""}):
        backend = OpenVikingBackend(openviking.settings(**values))
        assert not (await backend.health(soon())).ok
        await backend.aclose()


async def test_experiences_and_peers_are_where_they_are_looked_for(subject: Subject, openviking: OpenViking) -> None:
    files = {
        f"viking://~/memories/experiences/{subject.mark}.md": f"## Situation\n- The {subject.mark} build fails\n",
        f"viking://~/peers/main/memories/preferences/user/{subject.mark}.md": f"- Likes {subject.mark} tea.\n",
        f"viking://~/peers/other/memories/preferences/user/{subject.mark}.md": f"- Hates {subject.mark} tea.\n",
    }
    async with httpx.AsyncClient(base_url=openviking.url, headers=openviking.users["alice"], trust_env=False) as raw:
        for uri, content in files.items():
            body = {"uri": uri, "content": content, "mode": "create", "wait": True}
            assert (await raw.post("/api/v1/content/write", json=body, timeout=30)).is_success
    who = subject.who()
    (experience,) = [
        hit
        for hit in await subject.backend.find(who, f"{subject.mark} build", Target.EXPERIENCES, 5, soon())
        if subject.mark in hit.uri
    ]
    assert (experience.category, experience.peer) == ("experiences", None)
    assert experience.text.startswith("## Situation")
    memories = await subject.found(who, f"{subject.mark} tea", "Likes")
    assert {hit.peer for hit in memories if hit.category == "preferences" and subject.mark in hit.text} == {"main"}


# Limits


async def test_texts_beyond_the_servers_limits_are_stored_whole(subject: Subject) -> None:
    who = subject.who()
    long = "ab cd " * 800_000
    turn = [
        subject.message(0, TextPart(long)),
        subject.message(1, ToolPart("c1", "write", {"text": long, "n": list(range(200_000))}, "ok"), role="assistant"),
        subject.message(2, TextPart(long), role="assistant"),
    ]
    groups = [*batches(turn)]
    assert len(groups) > 1
    for batch in groups:
        await subject.backend.append(who, batch, soon())
    assert await subject.backend.arrived(who, subject.turn_id(), soon()) == {m.source_id for m in turn}
    assert list((await subject.backend.history(who, 100_000_000, soon())).messages) == turn


async def test_a_long_tool_output_comes_back_as_a_preview(subject: Subject) -> None:
    who = subject.who()
    sent = subject.message(0, ToolPart("c1", "cat", {"f": "log"}, "line of a log\n" * 4000), role="assistant")
    await subject.backend.append(who, [sent], soon())
    (back,) = (await subject.backend.history(who, 1_000_000, soon())).messages
    assert isinstance(part := back.parts[0], ToolPart)
    assert part.id == "c1"
    assert part.output and len(part.output) < 30_000


# Failures


async def test_a_failed_extraction_is_made_good(subject: Subject, mended: OpenViking) -> None:
    who = subject.who()
    await subject.backend.append(who, subject.turn("Hello, about walruses."), soon())
    await subject.committed(who)
    mended.fault(chat="garbage")
    lost = subject.turn("Hello, I prefer penguins.", name="b")
    await subject.backend.append(who, lost, soon())
    receipt = await subject.backend.commit(who, 0, soon())
    assert await subject.finished(who, receipt) is CommitState.FAILED
    assert receipt.archive_id is not None
    history = await subject.backend.history(who, 100_000, soon())
    assert "walruses" in history.overview
    assert history.failed_ids == (receipt.archive_id,)
    assert await subject.backend.archived_messages(who, receipt.archive_id, soon()) == lost

    again = await subject.backend.re_extract(who, receipt.archive_id, soon())
    assert await subject.finished(who, again) is CommitState.FAILED
    mended.fault(chat="ok")
    repeated = [await subject.backend.re_extract(who, receipt.archive_id, soon()) for _ in range(2)]
    assert repeated[0].task_id == repeated[1].task_id != again.task_id
    assert await subject.finished(who, repeated[0]) is CommitState.COMPLETED

    await subject.backend.append(who, subject.turn("Hello, about foxes.", name="c"), soon())
    await subject.committed(who)
    history = await subject.backend.history(who, 100_000, soon())
    assert all(word in history.overview for word in ("walruses", "penguins", "foxes"))
    assert (history.messages, history.archives, history.failed_archives) == ((), 3, 0)
    await subject.backend.commit(who, 0, soon(), new_epoch=True)
    assert (await subject.backend.history(who, 100_000, soon())).overview == ""


async def test_a_bad_time_in_an_archive_does_not_fail_its_retry(subject: Subject, openviking: OpenViking) -> None:
    who = subject.who()
    body = {"role": "user", "content": "Hello there.", "created_at": "yesterday"}
    async with httpx.AsyncClient(base_url=openviking.url, headers=openviking.users["alice"], trust_env=False) as raw:
        assert (await raw.post(f"/api/v1/sessions/{who.session}/messages", json=body)).is_success
    receipt = await subject.backend.commit(who, 0, soon())
    assert await subject.finished(who, receipt) is CommitState.FAILED
    again = await subject.backend.re_extract(who, receipt.archive_id or "", soon())
    assert await subject.finished(who, again) is CommitState.COMPLETED


async def test_a_dead_embedding_model_leaves_sessions_alone(rigs: Rigs) -> None:
    server = rigs.up("dev", "--fast", to_break=True)
    backend = OpenVikingBackend(server.settings())
    subject = Subject(backend, account=server.account)
    server.fault(embeddings="down")
    try:
        for attempt in range(3):
            with pytest.raises(BackendError) as failed:
                await backend.find(subject.who(), f"tea {attempt}", Target.MEMORIES, 5, soon())
            assert failed.value.reason is Reason.OPENVIKING_UNAVAILABLE
            assert failed.value.retryable
        appended = await backend.append(subject.who(), subject.turn("still here"), soon())
        assert appended.live_messages == 1
    finally:
        server.fault(embeddings="ok")
        await backend.aclose()


async def test_nobody_at_the_address(openviking: OpenViking) -> None:
    backend = OpenVikingBackend(openviking.settings(url=f"http://127.0.0.1:{free_port()}"))
    subject = Subject(backend)
    try:
        assert not (await backend.health(soon())).ok
        with pytest.raises(BackendError) as refused:
            await backend.append(subject.who(), subject.turn("hello"), soon())
        assert (refused.value.retryable, refused.value.uncertain) == (True, False)
    finally:
        await backend.aclose()


async def test_a_server_that_was_killed_is_itself_again(rigs: Rigs) -> None:
    server = rigs.up("dev", "--fast", to_break=True)
    backend = OpenVikingBackend(server.settings())
    subject = Subject(backend, account=server.account)
    try:
        who = subject.who()
        turn = subject.turn("Hello there.", "Hi.")
        await backend.append(who, turn, soon())
        receipt = await backend.commit(who, 0, soon())
        server.restart(kill=True)
        assert await subject.finished(who, receipt) in (CommitState.COMPLETED, CommitState.LOST)
        assert await backend.arrived(who, subject.turn_id(), soon()) == {m.source_id for m in turn}
    finally:
        await backend.aclose()
