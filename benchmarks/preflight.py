"""Preflight over long histories: time per history length, and whether it grows in step with it.

    python -m benchmarks.preflight

Exits 1 when 8,000 messages take a second or more, or when twice the messages take over three times as long. Both are
judged by processor time: the work is one thread's, so on a machine with nothing else to do that is the time it takes.

Last, an archive of 7 MB without a summary of the backend's: a digest stands in for it in every prompt. Exits 1 when the
first one takes 3 seconds or more (the deadline is 6), or each following one a fifth of the first or more.
"""

import sys
import time
from datetime import UTC, datetime
from typing import Any

import app.recall.sources  # noqa: F401 - declares the lines by which the fence knows a block
from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.core.capture.captured_turn import capture_turn
from app.core.capture.incoming import read_incoming
from app.core.history.note_cache import NoteCache
from app.core.history.prompt import assemble_history
from app.core.history.summary_text import History
from app.core.messages.host_message import HostMessage

LENGTHS = (1000, 2000, 4000, 8000, 16000)
LIMIT_MESSAGES, LIMIT_S, LIMIT_GROWTH = 8000, 1.0, 3.0
LIMIT_ARCHIVE_S = 3.0
ROUNDS = 3
BEGAN_MS = 1_760_000_000_000


def conversation(length: int, timed: bool) -> list[dict[str, Any]]:
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
    messages = [HostMessage(message) for message in conversation(length, timed)]
    kept = capture_turn(read_incoming(messages[: length // 2], 0), received_at=datetime.now(UTC))
    live = capture_turn(read_incoming(messages[length // 2 :], 0), received_at=datetime.now(UTC))
    history = History(
        unsummarised=kept.messages,
        archived_fingerprints=kept.fingerprints,
        seen_fingerprints=kept.fingerprints + live.fingerprints,
    )
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        answer = assemble_history(messages, history, token_budget=token_budget, summary_share=0.3)
        best = min(best, time.process_time() - began)
        assert answer.changed
    return best


def archive(megabytes: float) -> list[CapturedMessage]:
    """Turns of 5,000 characters: a long question, an answer, and a tool's output."""
    words = (
        "we decided that the import in src/app/main.py waits longer. The cause was a timeout, 修复了。 then it went on "
    )
    messages: list[CapturedMessage] = []
    for number in range(int(megabytes * 200)):
        call = ToolPart("c", "exec", {"command": f"make {number}"}, words * 10, is_error=number % 5 == 0)
        messages += [
            CapturedMessage("user", (TextPart(f"Step {number}: " + words * 22),), "2026-01-01T00:00:00+00:00"),
            CapturedMessage(
                "assistant", (TextPart(f"Done {number}. " + words * 14), call), "2026-01-01T00:00:00+00:00"
            ),
        ]
    return messages


def measure_archive() -> tuple[float, float]:
    """Seconds of processor time for a prompt above an archive of 7 MB: the first, and each of the next three."""
    history = History(unsummarised=tuple(archive(7)))
    notes = NoteCache().notes_on
    asked = [HostMessage({"role": "user", "content": "What did we do about the import?"})]
    times = []
    for _ in range(4):
        began = time.process_time()
        answer = assemble_history(asked, history, token_budget=128_000, summary_share=0.3, notes=notes)
        times.append(time.process_time() - began)
        assert answer.changed
    return times[0], max(times[1:])


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
    first, next_ones = measure_archive()
    print(f"\n7 MB without a summary: {first * 1e3:.0f} ms, from then on {next_ones * 1e3:.0f} ms")
    if first >= LIMIT_ARCHIVE_S or next_ones >= first / 5:
        broken.append(f"7 MB without a summary: {first:.2f} s and then {next_ones:.2f} s")
    print("\n" + ("\n".join(broken) or "holds: linear, 8,000 messages in under a second"))
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
