"""Preflight over long histories: time per history length, and whether it grows in step with it.

    python -m benchmarks.preflight

Exits 1 when 8,000 messages take a second or more, or when twice the messages take over three times as long. Both are
judged by processor time: the work is one thread's, so on a machine with nothing else to do that is the time it takes.
"""

import sys
import time
from datetime import UTC, datetime
from typing import Any

from app.core.capture import capture_turn
from app.core.incoming import read_incoming
from app.core.past import Past, assemble_past

LENGTHS = (1000, 2000, 4000, 8000, 16000)
LIMIT_MESSAGES, LIMIT_S, LIMIT_GROWTH = 8000, 1.0, 3.0
ROUNDS = 3
BEGAN_MS = 1_760_000_000_000


def history(length: int, timed: bool) -> list[dict[str, Any]]:
    """Turns of four messages: question, call, result, answer; about 900 characters a turn."""
    messages: list[dict[str, Any]] = []
    for number in range(length // 4):
        call = {"type": "toolCall", "id": f"call_{number}", "name": "exec", "arguments": {"command": f"make {number}"}}
        messages += [
            {
                "role": "user",
                "content": f"Please run step {number}.\nThen 继续 with src/step_{number}.py " + "detail " * 30,
            },
            {"role": "assistant", "content": [{"type": "text", "text": "Running it."}, call]},
            {"role": "toolResult", "toolCallId": f"call_{number}", "content": f"line {number}\n" * 20},
            {"role": "assistant", "content": [{"type": "text", "text": f"Step {number} is done. " + "word " * 40}]},
        ]
    if timed:
        for index, message in enumerate(messages):
            message["timestamp"] = BEGAN_MS + index * 1000
    return messages


def measure(length: int, timed: bool, token_budget: int) -> float:
    """Seconds of processor time, best of three, for one preflight with half of the history archived and digested."""
    messages = history(length, timed)
    kept = capture_turn(read_incoming(messages[: length // 2], 0), received_at=datetime.now(UTC))
    live = capture_turn(read_incoming(messages[length // 2 :], 0), received_at=datetime.now(UTC))
    past = Past(unsummarised=kept.messages, archived_prints=kept.prints, seen_prints=kept.prints + live.prints)
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        answer = assemble_past(messages, past, token_budget=token_budget, summary_share=0.3)
        best = min(best, time.process_time() - began)
        assert answer.changed
    return best


def main() -> int:
    """Print the table and say whether the promise holds."""
    broken: list[str] = []
    for label, timed, budget in (
        ("with times", True, 10_000_000),
        ("without times", False, 10_000_000),
        ("small budget", True, 8_000),
    ):
        print(f"\n{label}\n{'messages':>9} {'ms':>9} {'us/message':>11} {'growth':>7}")
        before = 0.0
        for length in LENGTHS:
            seconds = measure(length, timed, budget)
            growth = seconds / before if before else 0.0
            print(f"{length:>9} {seconds * 1e3:>9.1f} {seconds / length * 1e6:>11.1f} {growth:>7.2f}")
            if length == LIMIT_MESSAGES and seconds >= LIMIT_S:
                broken.append(f"{label}: {length} messages took {seconds:.2f} s, limit {LIMIT_S} s")
            if growth > LIMIT_GROWTH:
                broken.append(f"{label}: {length} messages took {growth:.1f} times as long as half of them")
            before = seconds
    print("\n" + ("\n".join(broken) or "holds: linear, 8,000 messages in under a second"))
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
