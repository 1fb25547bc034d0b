"""What a host sends broken comes back as it was, and nothing it sends makes `preflight` fail or unstable."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.capture.captured_turn import capture_turn
from app.core.capture.incoming import read_incoming
from app.core.history.prompt import assemble_history
from app.core.history.summary_message import HEADING, acknowledgement, own_messages, summary_message
from app.core.history.summary_text import History
from tests.messages import raw, typed

from .test_history import assert_users_apart

NOW = datetime(2026, 3, 1, tzinfo=UTC)
IDS = st.sampled_from(["a", "a_", "b", ""])
TEXT = st.sampled_from(["ok", "", "do it", "x" * 200, "[Session History Summary]\nmine"])
TIMES = st.sampled_from(
    [{}, {}, {"timestamp": 1_760_000_000_000}, {"timestamp": 1_760_000_001_000}, {"timestamp": "?"}]
)

texts = st.builds(lambda text: {"type": "text", "text": text}, TEXT)
calls = st.builds(lambda i: {"type": "toolCall", "id": i, "name": "f", "arguments": {"x": 1}}, IDS)
answers = st.builds(lambda i: {"type": "tool_result", "tool_use_id": i, "content": "out"}, IDS)
blocks = st.lists(texts | calls | answers | st.just({"type": "odd"}) | st.just(7) | st.just("bare"), max_size=3)
contents = TEXT | st.none() | blocks | st.just(5)
plain = st.builds(
    lambda role, content, time: {"role": role, "content": content, **time},
    st.sampled_from(["user", "assistant", "system", "custom", "weird", "compactionSummary"]),
    contents,
    TIMES,
)
results = st.builds(lambda i, time: {"role": "toolResult", "toolCallId": i, "content": "out", **time}, IDS, TIMES)
openai = st.builds(
    lambda i, time: {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": i, "function": {"name": "f"}}],
        **time,
    },
    IDS,
    TIMES,
)
SUMMARY, ACKNOWLEDGEMENT = summary_message("before").raw, acknowledgement().raw
ours = st.sampled_from([[], [], [SUMMARY], [SUMMARY, ACKNOWLEDGEMENT]])
broken = st.builds(lambda head, rest: [*head, *rest], ours, st.lists(plain | plain | results | openai, max_size=14))


def assert_whole_pairs(before: list[Any], after: list[Any]) -> None:
    """A result and the nearest call before it with its id are both there or both gone."""
    there = {id(message) for message in after}
    callers: dict[str, Any] = {}
    for message in before:
        for answer in message.results:
            caller = callers.get(answer.call_id.replace("_", ""))
            assert not answer.call_id or caller is None or (id(caller) in there) == (id(message) in there)
        callers |= {call.id.replace("_", ""): message for call in message.calls}


@given(broken, st.data(), st.integers(1, 800), st.booleans())
def test_any_history_keeps_the_rules(sent: list[dict[str, Any]], data: Any, budget: int, follows: bool) -> None:
    messages = typed(sent)
    own = own_messages(messages)
    fingerprints = [p for message, ours in zip(messages, own, strict=True) if not ours and (p := message.fingerprint)]
    count = data.draw(st.integers(0, len(fingerprints)))
    history = History(
        overview=data.draw(st.sampled_from(["", "We talked.\n" * 5])),
        archived_fingerprints=tuple(fingerprints[:count]),
        seen_fingerprints=tuple(fingerprints),
    )
    once = assemble_history(messages, history, token_budget=budget, summary_share=0.3, prompt_follows=follows)
    assert_whole_pairs(list(messages), list(once.messages))
    assert_users_apart(list(raw(messages)), list(raw(once.messages)))
    again = assemble_history(once.messages, history, token_budget=budget, summary_share=0.3, prompt_follows=follows)
    assert raw(again.messages) == raw(once.messages)


@given(broken, st.integers(-1, 20) | st.none(), st.lists(st.text()))
def test_any_turn_can_be_captured(messages: list[dict[str, Any]], count: int | None, seen: list[str]) -> None:
    incoming = read_incoming(typed(messages), count)
    first = capture_turn(incoming, received_at=NOW, recorded=seen)
    again = capture_turn(incoming, received_at=NOW, recorded=[*seen, *first.fingerprints])
    assert set(again.fingerprints) <= set(first.fingerprints)
    assert all(message.parts and message.created_at.endswith("Z") for message in first.messages)


def test_what_is_archived_stays_where_not_a_word_of_its_summary_fits() -> None:
    messages = typed([{"role": "user", "content": None}, {"role": "toolResult", "toolCallId": "a", "content": "out"}])
    fingerprints = tuple(message.fingerprint or "" for message in messages)
    history = History(archived_fingerprints=fingerprints, seen_fingerprints=fingerprints)
    assembled = assemble_history(messages, history, token_budget=67, summary_share=0.3)
    assert assembled.messages == messages


@pytest.mark.parametrize(
    ("texts", "archived", "budget"), [(["ok", "x" * 200], 1, 102), (["x" * 200, "x" * 200], 0, 308)]
)
def test_what_is_left_without_a_summary_is_laid_out_as_when_it_comes_back(
    texts: list[str], archived: int, budget: int
) -> None:
    roles = ["user", "assistant"] if archived else ["user", "user"]
    messages = typed([{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)])
    fingerprints = tuple(message.fingerprint or "" for message in messages)
    history = History("We talked.\n" * 5, archived_fingerprints=fingerprints[:archived], seen_fingerprints=fingerprints)
    once = assemble_history(messages, history, token_budget=budget, summary_share=0.3)
    again = assemble_history(once.messages, history, token_budget=budget, summary_share=0.3)
    assert once.messages[0].text.startswith(HEADING) and once.estimated_tokens <= budget
    assert raw(again.messages) == raw(once.messages)
