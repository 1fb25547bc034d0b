"""When a session is archived, and what the prompt loses: properties of the policy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.history.commit_policy import (
    CommitRules,
    LiveTurn,
    Reached,
    at_threshold,
    before_newest,
    cleared,
    in_sight,
    on_idle,
    on_remember,
)
from app.core.identity import SessionKind

sizes = st.lists(st.tuples(st.integers(1, 12), st.integers(0, 400)), max_size=30)
rules = st.builds(
    CommitRules,
    threshold_ratio=st.floats(0.05, 0.9),
    clear_ratio=st.floats(0.05, 0.95),
    keep_recent=st.integers(0, 20),
)


def live(sizes: list[tuple[int, int]], first: int = 1) -> list[LiveTurn]:
    return [LiveTurn(first + index, messages, tokens) for index, (messages, tokens) in enumerate(sizes)]


def messages_after(turns: list[LiveTurn], position: int) -> int:
    return sum(turn.messages for turn in turns if turn.position > position)


@given(sizes, st.integers(0, 50))
def test_at_least_so_many_messages_stay_and_no_turn_more_than_needed(sizes: list[tuple[int, int]], keep: int) -> None:
    turns = live(sizes)
    through = before_newest(turns, keep)
    kept = [turn for turn in turns if turn.position > through]
    if through:
        assert messages_after(turns, through) >= keep
    assert sum(turn.messages for turn in kept[1:]) < max(keep, 1)


@given(sizes, rules, st.integers(0, 30), st.integers(1, 4000))
def test_a_threshold_commit_takes_a_worthwhile_part(
    sizes: list[tuple[int, int]], rules: CommitRules, archived: int, budget: int
) -> None:
    turns = live(sizes)
    pending = [turn for turn in turns if turn.position > archived]
    boundary = at_threshold(turns, archived, budget, rules)
    tokens = sum(turn.tokens for turn in pending)
    if not pending or tokens < rules.threshold_ratio * budget:
        assert boundary is None
    if boundary is not None:
        assert archived < boundary.through <= turns[-1].position
        assert boundary.clear_through <= boundary.through
        taken = sum(turn.tokens for turn in pending if turn.position <= boundary.through)
        assert taken >= tokens - rules.threshold_ratio * budget / 2
        assert any(turn.position > boundary.clear_through for turn in turns), "the newest turn stays in sight"


@given(sizes, rules, st.integers(0, 30), st.integers(0, 30), st.integers(1, 4000))
def test_only_what_the_backend_has_is_cleared_and_the_newest_turn_never(
    sizes: list[tuple[int, int]], rules: CommitRules, stored: int, finished: int, budget: int
) -> None:
    turns = live(sizes)
    through = cleared(turns, Reached(stored, min(stored, finished)), budget, rules)
    assert through <= stored
    assert not turns or through < turns[-1].position
    tokens = sum(turn.tokens for turn in turns)
    if tokens < min(rules.threshold_ratio, rules.clear_ratio) * budget:
        assert through == 0
    if tokens < rules.clear_ratio * budget:
        assert through <= finished


def test_half_the_window_starts_a_commit_that_keeps_the_newest() -> None:
    turns = live([(2, 100)] * 10)
    assert at_threshold(turns, 0, 2001, CommitRules(keep_recent=4)) is None
    boundary = at_threshold(turns, 0, 2000, CommitRules(keep_recent=4))
    assert boundary is not None and (boundary.through, boundary.clear_through) == (8, 8)


def test_large_recent_turns_do_not_ask_for_a_commit_each() -> None:
    turns = live([(2, 400)] * 3)
    boundary = at_threshold(turns, 0, 2000, CommitRules(keep_recent=10))
    assert boundary is not None and boundary.through == 2


def test_one_turn_that_fills_half_the_window_is_archived_but_stays_in_sight() -> None:
    boundary = at_threshold(live([(2, 1000)]), 0, 2000, CommitRules())
    assert boundary is not None and (boundary.through, boundary.clear_through) == (1, 0)


def test_nothing_kept_means_nothing_kept() -> None:
    boundary = at_threshold(live([(2, 100)] * 10), 0, 2000, CommitRules(keep_recent=0))
    assert boundary is not None and boundary.through == 10 and boundary.clear_through == 9


def test_quiet_and_remembered_sessions_are_archived_whole() -> None:
    turns = live([(2, 10)] * 4)
    idle = on_idle(turns, 0, CommitRules(keep_recent=3))
    assert idle is not None and (idle.through, idle.clear_through) == (4, 2)
    asked = on_remember(turns, 3)
    assert asked is not None and (asked.through, asked.clear_through) == (4, 0)
    assert on_idle(turns, 4, CommitRules()) is None and on_remember(turns, 4) is None
    assert on_idle([], 0, CommitRules()) is None and on_remember([], 0) is None


def test_under_pressure_recent_messages_stay_within_half_the_threshold() -> None:
    turns = live([(2, 100)] * 10)
    assert in_sight(turns, 2000, CommitRules(keep_recent=4)) == 8
    assert in_sight(turns, 400, CommitRules(keep_recent=20)) == 9


def test_the_first_threshold_clears_what_is_extracted_and_the_second_what_is_stored() -> None:
    turns = live([(2, 100)] * 10)
    reached, rules = Reached(stored=6, finished=3), CommitRules(threshold_ratio=0.5, clear_ratio=0.7, keep_recent=2)
    assert cleared(turns, reached, 2001, rules) == 0
    assert cleared(turns, reached, 2000, rules) == 3
    assert cleared(turns, reached, 1429, rules) == 3
    assert cleared(turns, reached, 1428, rules) == 6
    assert cleared(turns, Reached(stored=10, finished=10), 1428, rules) == 9, "recent messages stay in sight"


@pytest.mark.parametrize("kind", [SessionKind.CRON, SessionKind.SUBAGENT, SessionKind.HEARTBEAT])
def test_automation_is_not_remembered_unless_a_setting_says_so(kind: SessionKind) -> None:
    assert not CommitRules().archives(kind)
    assert CommitRules(automation_memory=True).archives(kind)
    assert CommitRules().archives(SessionKind.CHAT)
    assert CommitRules(automation_experiences=True).archives(kind) is (kind is not SessionKind.HEARTBEAT)
