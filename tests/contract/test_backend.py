"""What every context backend promises (`app.ports.ContextBackend`); see `tests.contract.subject` for how one joins."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from app.core.capture.batches import batches
from app.core.capture.captured_message import TextPart, ToolPart
from app.core.deadline import Deadline
from app.core.identity import PeerRole
from app.core.reasons import Reason
from app.ports import BackendError, CommitState, Target
from tests.contract.subject import Subject, soon

pytestmark = pytest.mark.anyio


# Messages in, messages out


async def test_messages_come_back_as_they_went_in(subject: Subject) -> None:
    who = subject.who()
    sent = [
        subject.message(0, TextPart("Please fix it:\n\n    def f():\n        return 1\n\n修复登录接口 😀")),
        subject.message(
            1,
            TextPart("Looking."),
            ToolPart("call_1", "read_file", {"path": "a.py", "range": [1, 9]}, "line one\nline two"),
            ToolPart("call_2", "run", {"cmd": "make"}, "boom", is_error=True),
            role="assistant",
            peer="main",
        ),
        subject.message(2, ToolPart("call_3", "wait", {}, None), role="assistant"),
        subject.message(3, TextPart("done \u2028 \x85 \x0b end"), role="assistant"),
    ]
    appended = await subject.backend.append(who, sent, soon())
    assert appended.live_messages == 4
    assert appended.pending_tokens > 0
    history = await subject.backend.history(who, 100_000, soon())
    assert list(history.messages) == sent
    assert (history.overview, history.archives, history.failed_archives) == ("", 0, 0)


@pytest.mark.parametrize("value", [["a", 1], "plain", 7, {"deep": [{"er": {"x": None}}]}, {}])
async def test_tool_input_of_any_kind_comes_back(subject: Subject, value: Any) -> None:
    who = subject.who()
    sent = subject.message(0, ToolPart("call_1", "run", value, "ok"), role="assistant")
    await subject.backend.append(who, [sent], soon())
    assert (await subject.backend.history(who, 100_000, soon())).messages == (sent,)


async def test_order_is_the_order_of_arrival(subject: Subject) -> None:
    who = subject.who()
    turn = subject.turn(*(f"message {n}" for n in range(250)))
    for batch in batches(turn):
        await subject.backend.append(who, batch, soon())
    history = await subject.backend.history(who, 1_000_000, soon())
    assert [m.source_id for m in history.messages] == [m.source_id for m in turn]


@pytest.mark.parametrize("count", [0, 101])
async def test_a_batch_has_1_to_100_messages(subject: Subject, count: int) -> None:
    with pytest.raises(BackendError) as refused:
        await subject.backend.append(subject.who(), subject.turn(*["x"] * count), soon())
    assert not refused.value.retryable
    assert not refused.value.uncertain


@pytest.mark.parametrize("session", ["with spaces", "会话-一", "a@b+c&d=e;f'g", "UPPER", "~tilde!", "x" * 60])
async def test_session_names_do_not_run_into_each_other(subject: Subject, session: str) -> None:
    who = subject.who(session)
    await subject.backend.append(who, subject.turn("only here"), soon())
    assert len((await subject.backend.history(who, 1000, soon())).messages) == 1
    with pytest.raises(BackendError) as missing:
        await subject.backend.history(subject.who(session + "2"), 1000, soon())
    assert missing.value.not_found


# Proof of delivery


async def test_what_arrived_is_known_live_and_archived(subject: Subject) -> None:
    who = subject.who()
    turn = subject.turn(*(f"message {n}" for n in range(300)))
    first, *rest = batches(turn)
    await subject.backend.append(who, first, soon())
    expected = {m.source_id for m in first}
    assert await subject.backend.arrived(who, subject.turn_id(), soon()) == expected
    await subject.committed(who)
    assert await subject.backend.arrived(who, subject.turn_id(), soon()) == expected
    for batch in rest:
        await subject.backend.append(who, batch, soon())
    assert await subject.backend.arrived(who, subject.turn_id(), soon()) == {m.source_id for m in turn}


async def test_a_mention_is_no_delivery(subject: Subject) -> None:
    who = subject.who()
    mention = f"what became of {subject.turn_id('lost')}.3?"
    await subject.backend.append(who, subject.turn(mention, mention), soon())
    assert await subject.backend.arrived(who, subject.turn_id("lost"), soon()) == frozenset()


async def test_what_was_sent_once_is_there_once(subject: Subject) -> None:
    who = subject.who()
    assert await subject.backend.copies(who, subject.turn_id("a"), soon()) == 0
    await subject.backend.append(who, subject.turn("one", "two"), soon())
    assert await subject.backend.copies(who, subject.turn_id("a"), soon()) == 0
    await subject.committed(who)
    assert await subject.backend.copies(who, subject.turn_id("a"), soon()) == 0


async def test_what_is_sent_twice_is_counted_or_left_out(subject: Subject) -> None:
    who = subject.who()
    for _ in range(2):
        await subject.backend.append(who, subject.turn("one", "two"), soon())
    history = await subject.backend.history(who, 100_000, soon())
    assert [m.source_id for m in history.messages] == [m.source_id for m in subject.turn("one", "two")]
    assert await subject.backend.copies(who, subject.turn_id("a"), soon()) in (0, 2)


async def test_nothing_arrived_in_an_unknown_session(subject: Subject) -> None:
    assert await subject.backend.arrived(subject.who(), subject.turn_id(), soon()) == frozenset()


# Commits


async def test_a_commit_archives_all_but_the_newest(subject: Subject) -> None:
    who = subject.who()
    turn = subject.turn("Hello there, what is the plan?", "We look at the parser.", "And then?", "Then the printer.")
    await subject.backend.append(who, turn, soon())
    receipt = await subject.committed(who, keep_recent=2)
    history = await subject.backend.history(who, 100_000, soon())
    assert list(history.messages) == turn[2:]
    assert history.overview
    assert (history.archives, history.failed_archives) == (1, 0)
    assert receipt.archive_id is not None
    assert await subject.backend.archived_messages(who, receipt.archive_id, soon()) == turn[:2]


async def test_messages_may_follow_while_a_commit_runs(subject: Subject) -> None:
    who = subject.who()
    await subject.backend.append(who, subject.turn("Hello there."), soon())
    receipt = await subject.backend.commit(who, 0, soon())
    later = subject.turn("One more thing.", name="b")
    await subject.backend.append(who, later, soon())
    assert await subject.finished(who, receipt) is CommitState.COMPLETED
    assert list((await subject.backend.history(who, 100_000, soon())).messages) == later


async def test_a_summary_covers_all_archives(subject: Subject) -> None:
    who = subject.who()
    for name, text in (("a", "Hello, today is about walruses."), ("b", "Hello, and now about penguins.")):
        await subject.backend.append(who, subject.turn(text, name=name), soon())
        await subject.committed(who)
    history = await subject.backend.history(who, 100_000, soon())
    assert "walruses" in history.overview
    assert "penguins" in history.overview
    assert history.archives == 2


async def test_archives_are_listed_oldest_first_until_a_reset(subject: Subject) -> None:
    who = subject.who()
    assert await subject.backend.archives(who, soon()) == ()
    made = []
    for name in ("a", "b"):
        await subject.backend.append(who, subject.turn(f"Hello, this is {name}.", name=name), soon())
        made.append((await subject.committed(who)).archive_id)
    assert await subject.backend.archives(who, soon()) == tuple(made)
    receipt = await subject.backend.commit(who, 0, soon(), new_epoch=True)
    if receipt.task_id:
        await subject.finished(who, receipt)
    assert await subject.backend.archives(who, soon()) == ()


@pytest.mark.parametrize("keep_recent", [0, 5])
async def test_nothing_to_archive_is_said(subject: Subject, keep_recent: int) -> None:
    who = subject.who()
    await subject.backend.append(who, subject.turn("Hello there."), soon())
    if keep_recent == 0:
        await subject.committed(who)
    receipt = await subject.backend.commit(who, keep_recent, soon())
    assert receipt.task_id is None
    assert receipt.skipped


@pytest.mark.parametrize("live", [True, False])
async def test_a_new_epoch_forgets_the_summary_for_good(subject: Subject, live: bool) -> None:
    who = subject.who()
    await subject.backend.append(who, subject.turn("Hello, this is about walruses."), soon())
    await subject.committed(who)
    if live:
        await subject.backend.append(who, subject.turn("And also about penguins.", name="b"), soon())
    receipt = await subject.backend.commit(who, 0, soon(), new_epoch=True)
    if receipt.task_id:
        await subject.finished(who, receipt)
    history = await subject.backend.history(who, 100_000, soon())
    assert (history.overview, history.messages, history.archives) == ("", (), 0)
    await subject.backend.append(who, subject.turn("Hello, this is about foxes.", name="c"), soon())
    await subject.committed(who)
    overview = (await subject.backend.history(who, 100_000, soon())).overview
    assert "foxes" in overview
    assert not {"walruses", "penguins"} & set(overview.replace(".", " ").split())


async def test_an_unknown_session_is_told_apart(subject: Subject) -> None:
    for call in (
        subject.backend.history(subject.who(), 1000, soon()),
        subject.backend.commit(subject.who(), 0, soon()),
        subject.backend.archived_messages(subject.who(), "archive_001", soon()),
    ):
        with pytest.raises(BackendError) as missing:
            await call
        assert missing.value.not_found
        assert not missing.value.retryable


async def test_an_unknown_task_is_lost(subject: Subject) -> None:
    status = await subject.backend.commit_status(subject.who(), "no-such-task", soon())
    assert status.state is CommitState.LOST


@pytest.mark.parametrize("archive_id", ["../../secret", "", "archive_001/../.."])
async def test_an_archive_id_can_not_leave_its_session(subject: Subject, archive_id: str) -> None:
    await subject.backend.append(subject.who(), subject.turn("Hello."), soon())
    with pytest.raises(BackendError):
        await subject.backend.archived_messages(subject.who(), archive_id, soon())


# Long-term memory


@pytest.mark.parametrize(
    ("told", "asked", "fact"),
    [
        ("We decided to ship the {mark} release on Friday.", "when do we ship the {mark} release", "{mark}"),
        ("我们决定周五发布{mark}版本。", "{mark}版本什么时候发布", "{mark}"),
    ],
)
async def test_what_was_told_in_one_session_is_found_in_the_next(
    subject: Subject, told: str, asked: str, fact: str
) -> None:
    told, asked, fact = (text.format(mark=subject.mark) for text in (told, asked, fact))
    await subject.backend.append(subject.who("first"), subject.turn(told, "Noted."), soon())
    await subject.committed(subject.who("first"))
    hits = await subject.found(subject.who("second"), asked, fact)
    best = next(hit for hit in hits if fact in hit.text)
    assert best.category
    assert best.level == 2
    assert best.uri.startswith("viking://")
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len({hit.uri for hit in hits}) == len(hits)
    assert len(await subject.backend.find(subject.who("second"), asked, Target.MEMORIES, 1, soon())) <= 1


async def test_users_never_see_each_other(subject: Subject) -> None:
    fact = f"We decided to name the server {subject.mark}."
    await subject.backend.append(subject.who(), subject.turn(fact, "Noted."), soon())
    await subject.committed(subject.who())
    await subject.found(subject.who(), f"server name {subject.mark}", subject.mark)
    bob = subject.who(user="bob")
    found = await subject.backend.find(bob, f"server name {subject.mark}", Target.MEMORIES, 20, soon())
    assert not [hit for hit in found if subject.mark in hit.text]
    with pytest.raises(BackendError) as missing:
        await subject.backend.history(bob, 1000, soon())
    assert missing.value.not_found
    assert await subject.backend.arrived(bob, subject.turn_id(), soon()) == frozenset()


async def test_peers_never_see_each_other(subject: Subject) -> None:
    fact = f"We decided to paint the {subject.mark} door blue."
    await subject.backend.append(subject.who(), subject.turn(fact, "Noted.", peer="main"), soon())
    await subject.committed(subject.who())
    hits = await subject.found(subject.who(), f"colour of the {subject.mark} door", subject.mark)
    assert {hit.peer for hit in hits} <= {None, "main"}
    other = subject.who(agent="other")
    for hit in await subject.backend.find(other, f"colour of the {subject.mark} door", Target.MEMORIES, 20, soon()):
        assert hit.peer in {None, "other"}
        assert subject.mark not in hit.text


async def test_a_hit_can_be_read_again_by_its_own_user(subject: Subject) -> None:
    fact = f"We decided to paint the {subject.mark} shed green."
    await subject.backend.append(subject.who(), subject.turn(fact, "Noted.", peer="main"), soon())
    await subject.committed(subject.who())
    hits = await subject.found(subject.who(), f"colour of the {subject.mark} shed", subject.mark)
    hit = next(hit for hit in hits if subject.mark in hit.text)
    gone = f"viking://user/alice/memories/preferences/{subject.mark}.md"
    operator = replace(subject.who("elsewhere"), peer_role=PeerRole.NONE)
    read = await subject.backend.read(operator, [hit.uri, gone], soon())
    assert set(read) == {hit.uri} and subject.mark in read[hit.uri]
    with suppress(BackendError):
        assert await subject.backend.read(subject.who(user="bob"), [hit.uri], soon()) == {}
    assert await subject.backend.read(operator, [], soon()) == {}


@pytest.mark.parametrize("target", list(Target))
async def test_finding_nothing_is_an_answer(subject: Subject, target: Target) -> None:
    hits = await subject.backend.find(subject.who(user="bob"), "zzqxj vvkwq", target, 5, soon())
    assert len(hits) <= 5


@pytest.mark.parametrize(
    "query", ["a\x00b", "\ud800", "'; DROP TABLE x; --", '"unbalanced AND (', "😀", "* OR *", "x" * 4000]
)
async def test_any_query_is_only_a_query(subject: Subject, query: str) -> None:
    for target in Target:
        assert isinstance(await subject.backend.find(subject.who(), query, target, 3, soon()), list)


# Time and health


async def test_nothing_begins_after_the_deadline(subject: Subject) -> None:
    who = subject.who()
    with pytest.raises(BackendError) as late:
        await subject.backend.append(who, subject.turn("too late"), Deadline.after_ms(0))
    assert late.value.reason is Reason.DEADLINE_EXCEEDED
    assert not late.value.uncertain
    with pytest.raises(BackendError) as missing:
        await subject.backend.history(who, 1000, soon())
    assert missing.value.not_found


async def test_a_healthy_backend_says_so(subject: Subject) -> None:
    health = await subject.backend.health(soon())
    assert health.ok
    assert health.facts
