"""How a prompt is laid out stays as it was, whatever is archived meanwhile, until it does not fit any more."""

from dataclasses import replace
from typing import Any

from app.core.history.guards.cuts import Decisions
from app.core.history.guards.guard_registry import Guarding
from app.core.history.guards.guard_rules import Situation
from app.core.history.prompt import Assembled, assemble_history
from app.core.history.prompt_layout import Layout, stride
from app.core.history.summary_text import History
from tests.messages import raw, typed

BUDGET = 4_000


def told(*numbers: int) -> list[dict[str, Any]]:
    return [
        {"role": role, "content": f"{role} {number}: {'the sea went on ' * 12}", "timestamp": number * 1_000}
        for number in numbers
        for role in ("user", "assistant")
    ]


def assembled(messages: list[dict[str, Any]], layout: Layout | None, gone: int = 0, overview: str = "") -> Assembled:
    prints = tuple(message.fingerprint or "" for message in typed(messages[:gone]))
    history = History(overview=overview, archived_fingerprints=prints)
    guarding = Guarding(Situation(BUDGET, cold=False), Decisions(), layout=layout)
    return assemble_history(typed(messages), history, token_budget=BUDGET, summary_share=0.3, guarding=guarding)


def test_what_is_archived_behind_it_is_shown_until_the_prompt_is_cut() -> None:
    first = assembled(told(*range(8)), None, 6, "A talk about the sea.")
    assert first.layout and first.layout.archived == 6
    messages = told(*range(10))
    second = assembled(messages, first.layout, 12, "A longer talk about the sea.")
    assert raw(second.messages[: len(first.messages)]) == raw(first.messages) and second.layout is None
    away = assembled(messages, first.layout)
    assert raw(away.messages) == raw(typed(messages)), "a store that lost the archive has nothing to tell instead"
    full = assembled(told(*range(60)), first.layout, 12, "A longer talk about the sea.")
    assert full.estimated_tokens <= BUDGET - stride(typed(messages), BUDGET) + BUDGET // 4
    assert "longer talk" in full.messages[0].text and full.layout


def test_a_summary_does_not_stand_for_what_was_not_in_front_of_it() -> None:
    first = assembled(told(5, 6, 7), None, 2, "A talk about the sea.")
    more = assembled(told(0, 1, 5, 6, 7), replace(first.layout, archived=0, last_archived=""))
    assert "user 0" in str(raw(more.messages)) and "user 1" in str(raw(more.messages))


def test_it_holds_for_its_budget_and_its_archives() -> None:
    layout = Layout("e", 0, 2, "b", "It was said.", of_cut=False, of_archives=True, budget=1_000)
    assert layout.holds(1_900, ("a", "b", "c"))
    assert not layout.holds(2_000, ("a", "b", "c"))
    assert not layout.holds(1_000, ("a",)) and not layout.holds(1_000, ("a", "c", "b"))


def test_a_cut_makes_room_for_the_next_turns() -> None:
    assert stride((), 1_000) == 250
    assert stride(typed(told(*range(20))), 1_000) == 750
    assert 1_000 <= stride(typed(told(*range(20))), 8_000) - 8_000 // 8 <= 2_000
