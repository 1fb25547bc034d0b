"""Messages to OpenViking and back, batches, and answers that must not be trusted."""

import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.capture.batches import MAX_CHARS, MAX_MESSAGES, batches, extent
from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.openviking import hit_answers, prose, session_answers, task_answers
from app.openviking.call_errors import Garbage
from app.openviking.session_messages import MAX_MESSAGE_CHARS, MAX_TEXT_CHARS, encode, from_jsonl, from_wire, to_wire
from app.ports import CommitState, Target

AT = "2026-03-04T05:06:07+00:00"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=True) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=10,
)
PARTS = st.builds(TextPart, st.text(max_size=20)) | st.builds(
    ToolPart, st.text(max_size=5), st.text(max_size=5), JSON, st.none() | st.text(max_size=20), st.booleans()
)


def message(*parts: TextPart | ToolPart, source: str = "t_abc.0") -> CapturedMessage:
    return CapturedMessage("assistant", parts, AT, source)


def over_the_wire(sent: CapturedMessage) -> CapturedMessage | None:
    return from_wire(json.loads(encode(to_wire(sent))))


@given(st.lists(PARTS, max_size=4))
def test_whatever_is_sent_is_legal_and_its_texts_come_back(parts: list[Any]) -> None:
    body = json.loads(encode(to_wire(message(*parts))))
    assert all(isinstance(p["tool_input"], dict) for p in body["parts"] if p["type"] == "tool")
    back = from_wire(body)
    assert back is not None
    assert [p.text for p in back.parts if isinstance(p, TextPart)] == [p.text for p in parts if isinstance(p, TextPart)]


@pytest.mark.parametrize(
    "value", [{"path": "a.py"}, ["a", 1], "plain", 7, {"_value": 1}, {"_json": []}, {"_more": 3}, {"n": {"n": [{}]}}]
)
def test_tool_input_of_any_kind_comes_back(value: Any) -> None:
    sent = message(ToolPart("c1", "run", value, "done", is_error=True))
    assert over_the_wire(sent) == sent


def test_tool_input_beyond_the_servers_limits_comes_back() -> None:
    deep: Any = 1
    for _ in range(60):
        deep = {"n": deep}
    for value in (deep, {"n": list(range(60_000))}, {"text": "x" * (MAX_TEXT_CHARS + 5)}):
        body = to_wire(message(ToolPart("c1", "run", value, "ok")))
        _, values, depth = extent(body["parts"][0]["tool_input"])
        assert values < 100 and depth < 5
        back = over_the_wire(message(ToolPart("c1", "run", value, "ok")))
        assert back is not None and back.parts[0].input == value


def test_a_call_without_a_result_stays_without_one() -> None:
    sent = message(ToolPart("c1", "run", {}, None), ToolPart("c2", "run", {}, ""))
    assert over_the_wire(sent) == sent


def test_a_text_over_the_limit_is_cut_into_parts_and_joined_again() -> None:
    sent = message(
        TextPart("a" * (MAX_TEXT_CHARS + 10)), ToolPart("c", "cat", {"f": 1}, "b" * (2 * MAX_TEXT_CHARS + 1))
    )
    parts = to_wire(sent)["parts"]
    assert max(len(p.get("text", p.get("tool_output"))) for p in parts) <= MAX_TEXT_CHARS
    assert over_the_wire(sent) == sent


def test_a_message_that_can_never_be_delivered_is_cut_and_says_so() -> None:
    parts = to_wire(message(*[TextPart("a" * MAX_TEXT_CHARS)] * 5))["parts"]
    assert sum(len(p["text"]) for p in parts) <= MAX_MESSAGE_CHARS
    assert "cut" in parts[-1]["text"]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_never_sent(number: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        encode({"input": {"of": [number]}})


@pytest.mark.parametrize(
    "body",
    [
        {"query": "is NaN or Infinity a number? \u2028 \x7f \x00 超时 \U0001f600"},
        {"a": [1, -0.5, 1e22, 2**80, True, None, "", {}, []], "b": {"c": ("x", "y")}},
    ],
)
def test_a_body_is_compact_json_in_utf_8(body: dict[str, object]) -> None:
    written = encode(body)
    assert json.loads(written) == json.loads(json.dumps(body))
    assert b": " not in written
    assert b"\\u8d85" not in written


def test_half_a_surrogate_pair_does_not_stop_a_turn() -> None:
    back = over_the_wire(message(TextPart("a\ud800b \ud83d\ude00")))
    assert back is not None and back.parts == (TextPart("a\ufffdb \U0001f600"),)


def test_delivery_is_marked_by_source_and_turn() -> None:
    body = to_wire(message(TextPart("x"), source="t_abc.12"))
    assert (body["source_message_ids"], body["turn_id"]) == (["t_abc.12"], "t_abc")


def test_a_bad_time_never_reaches_the_server() -> None:
    assert to_wire(CapturedMessage("user", (), "yesterday"))["created_at"].startswith("1970-01-01T")


def test_stored_lines_end_at_newlines_only() -> None:
    lines = [json.dumps(to_wire(message(TextPart(f"a\u2028b\x85{n}"))), ensure_ascii=False) for n in range(2)]
    assert [m.parts for m in from_jsonl("\n".join(lines) + "\n")] == [(TextPart(f"a\u2028b\x85{n}"),) for n in range(2)]


@given(st.lists(st.integers(0, 3), max_size=260), st.integers(1, 40))
def test_batches_keep_order_and_limits(lengths: list[int], scale: int) -> None:
    big = MAX_CHARS // 40 * scale
    turn = [message(TextPart("x" * (big if n == 0 else n)), source=f"t.{i}") for i, n in enumerate(lengths[:60])]
    groups = [*batches(turn)]
    assert [m for group in groups for m in group] == turn
    assert all(0 < len(group) <= MAX_MESSAGES for group in groups)
    assert all(len(group) == 1 or sum(len(m.parts[0].text) for m in group) <= MAX_CHARS for group in groups)


test_batches_keep_order_and_limits = settings(max_examples=15, deadline=None)(test_batches_keep_order_and_limits)


def test_a_short_turn_is_one_batch_and_an_empty_one_none() -> None:
    turn = [message(TextPart("x"))] * 100
    assert len([*batches(turn)]) == 1
    assert len([*batches([*turn, turn[0]])]) == 2
    assert [*batches([])] == []


def hit(uri: str, **fields: Any) -> dict[str, Any]:
    return {"uri": uri, "score": 0.5, "level": 2, "abstract": "text", **fields}


def test_hits_are_leaves_of_the_right_user_and_peer_best_first() -> None:
    home = "viking://user/alice"
    result = {
        "memories": [
            hit(f"{home}/memories/preferences/user/tea.md", score=0.7),
            hit(f"{home}/peers/main/memories/events/2026/03/04/release.md", score=0.9),
            hit(f"{home}/peers/other/memories/preferences/user/secret.md"),
            hit("viking://user/bob/memories/profile.md"),
            hit(f"{home}/memories/preferences/.overview.md"),
            hit(f"{home}/memories/preferences", level=1),
            hit(f"{home}/memories/profile.md", score=0.2),
            hit(f"{home}/memories/entities/peers/notes.md", score=0.1),
        ],
        "resources": [hit("viking://resources/guide.md")],
    }
    found = hit_answers.hits(result, Target.MEMORIES, "alice", "main")
    assert [(h.category, h.peer, h.score, h.updated_at) for h in found] == [
        ("events", "main", 0.9, "2026-03-04"),
        ("preferences", None, 0.7, None),
        ("profile", None, 0.2, None),
        ("entities", None, 0.1, None),
    ]
    assert [h.category for h in hit_answers.hits(result, Target.RESOURCES, "alice", None)] == ["resource"]
    assert all(h.peer is None for h in hit_answers.hits(result, Target.MEMORIES, "alice", None))


def test_an_unknown_owner_does_not_hide_the_callers_own_hits() -> None:
    result = {"memories": [hit("viking://user/default/memories/profile.md")]}
    assert len(hit_answers.hits(result, Target.MEMORIES, None, None)) == 1


def test_only_a_stored_source_id_proves_delivery() -> None:
    def line(**fields: Any) -> dict[str, Any]:
        return {"line": 1, "uri": "viking://x/messages.jsonl", "content": json.dumps(fields)}

    result = {
        "matches": [
            line(source_message_ids=["t_a.0"], parts=[{"type": "text", "text": "see t_a.7"}]),
            line(source_message_ids=["t_b.0"], parts=[{"type": "text", "text": "see t_a.8"}]),
            line(source_message_ids=["t_a.1", "xt_a.2", "t_a.x", 5]),
            {"content": "t_a.9 not json"},
            {"content": None},
        ]
    }
    assert session_answers.source_ids(result, "t_a") == {"t_a.0", "t_a.1"}


def test_archives_end_in_three_ways_and_begin_anew_at_a_reset() -> None:
    paths = [
        "archive_001",
        *("archive_001/.failed.json", "archive_001/messages.jsonl"),
        *("archive_002/.done",),
        *("archive_010/.done", "archive_010/messages.jsonl"),
        *("archive_009/.failed.json", "archive_009/messages.jsonl"),
        *("archive_011/messages.jsonl", "notes/readme.md"),
    ]
    found = session_answers.archives([{"rel_path": path} for path in paths])
    assert found == session_answers.Archives(("archive_010",), ("archive_009",), ("archive_011",))


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("pending", CommitState.RUNNING),
        ("completed", CommitState.COMPLETED),
        ("cancelled", CommitState.FAILED),
        ("failed", CommitState.FAILED),
        ("brand_new", CommitState.RUNNING),
    ],
)
def test_task_states(status: str, state: CommitState) -> None:
    assert task_answers.commit_status({"status": status}).state is state


READERS = [
    lambda result: hit_answers.hits(result, Target.MEMORIES, "alice", "main"),
    lambda result: session_answers.source_ids(result, "t_a"),
    session_answers.appended,
    task_answers.receipt,
    task_answers.commit_status,
    task_answers.newest_task,
    session_answers.history,
    session_answers.overview,
    session_answers.total_messages,
    session_answers.stored_messages,
    session_answers.archives,
]
KEYS = """memories matches content message_count pending_tokens task_id archive_uri status reason stats messages parts
    role latest_archive_overview pre_archive_abstracts uri score level tags abstract rel_path source_message_ids"""
LIKELY = st.dictionaries(
    st.sampled_from(KEYS.split()),
    JSON | st.lists(st.dictionaries(st.sampled_from(["uri", "score", "level", "tags", "role", "parts", "type"]), JSON)),
    max_size=6,
)


@given(st.sampled_from(READERS), JSON | LIKELY | st.lists(LIKELY, max_size=3))
def test_garbage_is_called_garbage(reader: Any, result: Any) -> None:
    with contextlib.suppress(Garbage, ValueError):
        reader(result)


def test_machine_records_are_no_memories() -> None:
    uris = ["memories/cases/fix_ci.md", "memories/trajectories/fix_ci.md", "memories/preferences/tea.md"]
    items = [{"uri": f"viking://user/ann/{uri}", "level": 2, "score": 0.9, "abstract": "x"} for uri in uris]
    found = hit_answers.hits({"memories": items, "resources": []}, Target.MEMORIES, "ann", None)
    assert [hit.uri for hit in found] == [items[2]["uri"]]


def test_an_overview_has_neither_the_templates_instructions_nor_empty_sections() -> None:
    overview = (
        "# Working Memory\n\n## Session Title\n_A short and distinctive 5-10 word title._\n\nAtlas\n\n"
        "## Current State\n_2-5 sentences MAX: What is the latest status?_\n\nAtlas ships on Friday.\n\n"
        "## Open Issues\n_Unresolved questions._\n\n- none\n"
    )
    assert prose.without_hints(overview) == (
        "# Working Memory\n\n## Session Title\nAtlas\n\n## Current State\nAtlas ships on Friday."
    )
    assert prose.without_hints("## Mood\n\n_tense_ but fine") == "## Mood\n\n_tense_ but fine"


def test_quoted_messages_do_not_carry_the_peer_in_front() -> None:
    text = "**main**: We ship Atlas.\n**assistant**: Noted.\n**Note**: stays"
    assert prose.without_speaker(text, "main") == "We ship Atlas.\nassistant: Noted.\n**Note**: stays"
