import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from app.core.identity import session_name
from app.core.json.answers import adapter
from app.core.recall.trace import CandidateTrace, CutTrace, GateTrace, RecallTrace, SearchTrace, Verdict
from app.store.traces import MAX_PENDING, TraceStore, open_traces

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC).timestamp()
TENANT = "acme/alice"
TRACE = RecallTrace(
    trace_id="r0001",
    at="2026-03-18T11:59:00.000+00:00",
    account_key=TENANT,
    session="s1",
    agent="main",
    reason="ok",
    query_chars=12,
    inject="message",
    gate=GateTrace(True, "task_start", 4, "task", (("execute", 2), ("object", 2))),
    searches=(SearchTrace("memories", "fresh", 2, 30.5),),
    cuts=(CutTrace("memories", 0.15, 0.0),),
    candidates=(
        CandidateTrace("viking://a", "memories", "x", "self", 0.5, {"backend": 0.5}, Verdict.KEPT, 9, "half \ud800 \0"),
    ),
    timings_ms={"total": 31.5},
    degraded=("resources:deadline_exceeded",),
)


def numbered(number: int, **more: object) -> RecallTrace:
    return replace(TRACE, trace_id=f"r{number:04}", **more)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[TraceStore]:
    opened = await open_traces("sqlite:///elsewhere.db", tmp_path, keep=10, keep_hours=1, now=lambda: NOW)
    yield opened
    await opened.aclose()


async def test_a_trace_comes_back_as_it_was_and_at_once(store: TraceStore) -> None:
    store.record(lambda: TRACE)
    assert await store.get(TENANT, "r0001") == TRACE


async def test_another_tenant_sees_nothing(store: TraceStore) -> None:
    store.record(lambda: TRACE)
    assert await store.get("acme/bob", "r0001") is None
    assert await store.page("acme/bob") == []


async def test_pages_are_newest_first_and_join_without_a_gap(store: TraceStore) -> None:
    for number in range(5):
        store.record(partial(numbered, number))
    first = await store.page(TENANT, limit=3)
    second = await store.page(TENANT, limit=3, before=first[-1].trace_id)
    assert [t.trace_id for t in (*first, *second)] == ["r0004", "r0003", "r0002", "r0001", "r0000"]


async def test_pages_by_session_and_time(store: TraceStore) -> None:
    store.record(partial(numbered, 1))
    store.record(partial(numbered, 2, session="s2"))
    store.record(partial(numbered, 3, at="2026-03-18T11:30:00.000+00:00"))
    assert [t.trace_id for t in await store.page(TENANT, sessions=frozenset({"s2", "x"}))] == ["r0002"]
    assert [t.trace_id for t in await store.page(TENANT, since=NOW - 120)] == ["r0002", "r0001"]


async def test_the_oldest_go_first_by_number_and_by_age(store: TraceStore) -> None:
    for number in range(25):
        store.record(partial(numbered, number))
    assert [t.trace_id for t in await store.page(TENANT)] == [f"r{number:04}" for number in range(24, 14, -1)]
    store.record(partial(numbered, 30, at="2026-03-18T10:59:00.000+00:00"))
    assert await store.get(TENANT, "r0030") is None


async def test_nothing_is_kept_when_none_are_to_be_kept(tmp_path: Path) -> None:
    store = await open_traces("sqlite:///x.db", tmp_path, keep=0, keep_hours=1, now=lambda: NOW)
    store.record(lambda: TRACE)
    assert await store.page(TENANT) == []
    await store.aclose()


async def test_a_full_queue_loses_the_oldest_and_never_blocks(store: TraceStore) -> None:
    for number in range(MAX_PENDING + 5):
        store.record(partial(numbered, number))
    assert await store.get(TENANT, f"r{MAX_PENDING + 4:04}") is not None


async def test_traces_outlive_the_process_and_are_private(tmp_path: Path) -> None:
    for _ in range(2):
        store = await open_traces("sqlite:///x.db", tmp_path, keep=10, keep_hours=1, now=lambda: NOW)
        store.record(lambda: TRACE)  # the second time it is there already: a trace id never comes twice in life
        assert (await store.get(TENANT, "r0001")) == TRACE
        await store.aclose()
    assert (tmp_path / "traces.db").stat().st_mode & 0o777 == 0o600


async def test_a_session_is_found_by_its_key_too(store: TraceStore) -> None:
    store.record(partial(numbered, 1, session="7f1c1a52", session_key="agent:main:chat \ud800 \0"))
    store.record(partial(numbered, 2, session="other"))
    by_key = frozenset({session_name(None, "agent:main:chat \ud800 \0") or ""})
    assert [trace.trace_id for trace in await store.page(TENANT, sessions=by_key)] == ["r0001"]


async def test_a_file_of_an_older_version_gets_the_new_columns(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "traces.db")) as old:
        old.execute(
            "CREATE TABLE recall_traces (trace_id TEXT NOT NULL, account_key TEXT NOT NULL, session TEXT NOT NULL,"
            " at FLOAT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (trace_id))"
        )
        body = adapter(RecallTrace).dump_python(TRACE, mode="json")
        del body["session_key"], body["asked"]
        old.execute("INSERT INTO recall_traces VALUES (?, ?, ?, ?, ?)", ("r0001", TENANT, "s1", NOW, json.dumps(body)))
        old.commit()
    for _ in range(2):
        opened = await open_traces("sqlite:///elsewhere.db", tmp_path, keep=10, keep_hours=1, now=lambda: NOW)
        assert await opened.page(TENANT, sessions=frozenset({"s1"})) == [TRACE]
        await opened.aclose()
