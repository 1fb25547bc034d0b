"""Random host histories with tool calls, in the three styles that hosts speak."""

from typing import Any

from hypothesis import strategies as st

STYLES = ("openclaw", "openai", "anthropic")
BEGAN_MS = 1_760_000_000_000
WORDS = st.sampled_from(["ok", "继续", "run it", "why?", "fix src/app.py\n  def f():\n    return 1", "done", "ok"])


@st.composite
def turn_plans(draw: st.DrawFn) -> list[dict[str, Any]]:
    """One turn: what the user says and the rounds of parallel tool calls before the answer."""
    rounds = draw(st.lists(st.integers(1, 3), max_size=3))
    return [
        {"kind": "user", "text": draw(WORDS)},
        *({"kind": "tools", "count": count, "text": draw(st.sampled_from(["", "looking"]))} for count in rounds),
        {"kind": "answer", "text": draw(WORDS)},
    ]


@st.composite
def histories(draw: st.DrawFn, *, timed: bool | None = None, max_turns: int = 6) -> list[list[dict[str, Any]]]:
    """A history as a list of turns, each a list of host messages."""
    style = draw(st.sampled_from(STYLES))
    with_times = draw(st.booleans()) if timed is None else timed
    plans = draw(st.lists(turn_plans(), min_size=1, max_size=max_turns))
    return written(plans, style, with_times)


def written(plans: list[list[dict[str, Any]]], style: str, timed: bool) -> list[list[dict[str, Any]]]:
    turns, calls, clock = [], 0, BEGAN_MS
    for plan in plans:
        turn: list[dict[str, Any]] = []
        for step in plan:
            if step["kind"] == "user":
                turn.append({"role": "user", "content": step["text"]})
            elif step["kind"] == "answer":
                turn.append(_assistant(style, step["text"], []))
            else:
                ids = [f"call_{calls + number}" for number in range(step["count"])]
                calls += step["count"]
                turn.append(_assistant(style, step["text"], ids))
                turn += _results(style, ids)
        for message in turn:
            clock += 1000
            if timed:
                message["timestamp"] = clock
        turns.append(turn)
    return turns


def _assistant(style: str, text: str, ids: list[str]) -> dict[str, Any]:
    if style == "openai":
        calls = [
            {"id": i, "type": "function", "function": {"name": "exec", "arguments": f'{{"n": "{i}"}}'}} for i in ids
        ]
        return {"role": "assistant", "content": text or None} | ({"tool_calls": calls} if calls else {})
    kind, key = ("toolCall", "arguments") if style == "openclaw" else ("tool_use", "input")
    blocks = [{"type": "text", "text": text}] if text else []
    return {
        "role": "assistant",
        "content": blocks + [{"type": kind, "id": i, "name": "exec", key: {"n": i}} for i in ids],
    }


def _results(style: str, ids: list[str]) -> list[dict[str, Any]]:
    if style == "openai":
        return [{"role": "tool", "tool_call_id": i, "content": f"out {i}"} for i in ids]
    if style == "anthropic":
        return [
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": i, "content": f"out {i}"} for i in ids]}
        ]
    return [
        {"role": "toolResult", "toolCallId": i, "toolName": "exec", "content": [{"type": "text", "text": f"out {i}"}]}
        for i in ids
    ]
