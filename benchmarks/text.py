"""How long hostile text takes to clean, and that the time grows with its length and no faster.

    python -m benchmarks.text

Each pattern is a text that a person could paste to hang a careless cleaner; other systems' regular expressions need 10
to 90 seconds for some. It is built in four sizes, and every function that reads outside text runs on it. Printed: the
slowest function's processor time by size, and by how much doubling the text multiplied it. Exit status 1 when 1 MB
takes 0.2 s or more, or when time grows faster than the text.
"""

import sys
import time
from collections.abc import Callable

import app.recall.sources  # noqa: F401 - declares the lines by which the fence knows a block
from app.core.cleaning.host_text import clean_assistant_text, clean_tool_text, clean_user_text
from app.core.injection.fence import neutralise
from app.text.remember import asks_to_remember
from app.text.sentences import clauses, sentences

SIZES = (125_000, 250_000, 500_000, 1_000_000)
LIMIT_SECONDS = 0.2
LIMIT_GROWTH = 2.6
"""Linear is 2.0 per doubling and quadratic 4.0; what lies between is left to the machine's noise."""
SHORTEST_SECONDS = 0.004
"""Below this a doubling is noise and not judged."""

_BLOCK = "<openviking-context>\n## Long-term Memories\n- a\n</openviking-context>\n\n"
_INLINE = "<openviking-context>a</openviking-context>"
_META = "Conversation info (untrusted metadata):"

# Built as head + unit repeated to the size + tail.
PATTERNS: dict[str, tuple[str, str, str]] = {
    "prose": ("", "What a person wrote, line by line.\n", ""),
    "newlines": ("", "\n", ""),
    "newlines after Conversation info": (_META, "\n", ""),
    "newlines after Sender": ("Sender (untrusted metadata):", "\n", "x"),
    "spaces after Conversation info": (_META, " ", "x"),
    "Sender (": ("", "Sender (", ""),
    "Sender (untrusted metadata):": ("", "Sender (untrusted metadata): ", ""),
    "metadata blocks": ("", _META + '\n```json\n{"message_id": "1"}\n```\n\n', "hello"),
    "metadata that never ends": (_META + "\n```json\n{", '"a": 1,\n', ""),
    "metadata of brackets": (_META + "\n", "[", ""),
    "metadata of braces": (_META + "\n", '{"a":', ""),
    "plain label, brackets": ("Conversation info:\n", "[", ""),
    "opening tags": ("", "<openviking-context>", ""),
    "opening tags, a line each": ("", "<openviking-context>\n", ""),
    "opening tags, then a heading": ("", "<openviking-context>\n", "## Long-term Memories\n"),
    "opening tags of both kinds": ("", "<openviking-context>\n<relevant-memories>", ""),
    "closing tags": ("", "</openviking-context>", ""),
    "closing tags, a line each": ("", "</openviking-context>\n", ""),
    "closing tags far behind a block": (_INLINE + "x" * 300_000 + "\n", "x </openviking-context>", ""),
    "tags that do not end": ("", "<openviking-context ", ""),
    "tag starts with spaces": ("", "<      /   openviking-context ", ""),
    "spaces after <": ("<", " ", ">"),
    "quotes in a tag": ("<openviking-context ", "\"'", ""),
    "blocks": ("", _BLOCK, "hello"),
    "blocks in code": ("", "```\n" + _BLOCK + "```\n", ""),
    "overlapping tags": ("", "<openviking-context><relevant-memories></openviking-context></relevant-memories>", ""),
    "crossed tags, a line each": ("", "<relevant-memories>\n</openviking-context>\n", ""),
    "crossed tags, the other way": ("", "<openviking-context>\n</relevant-memories>\n", ""),
    "shortest tags, a line each": ("", "<relevant-memories>\n</ingest-reply-assist>\n", ""),
    "tags in one line": ("", "<relevant-memories></openviking-context>", ""),
    "split tags": ("", "<openviking-con" + _BLOCK, "text>" * 10),
    "unclosed code": ("", "```py\n", ""),
    "code and tags": ("", "```py\n<openviking-context>\n~~~\n</openviking-context>\n", ""),
    "backticks": ("", "`", ""),
    "fences that grow": ("", "```\n````\n`````\n~~~~\n", ""),
    "markers": ("<openviking-context>x", "## Long-term Memories\n", ""),
    "opening brackets": ("", "[", ""),
    "double brackets": ("", "[[reply_to:", ""),
    "angle brackets": ("", "<", ""),
    "timestamps": ("", "[Sat 2026-11-21 20:33 UTC] ", ""),
    "half timestamps": ("", "[WhatsApp 2026-11-21 20:33 ", ""),
    "media lines": ("", "[media attached: /a.png (image/png)]\n", ""),
    "media that never ends": ("[media attached: ", "x", ""),
    "system events": ("", "System: [2026-01-12 12:19:17 PST] Compacted (1k) ", ""),
    "system event lines": ("", "System: [2026-01-12 12:19:17 PST] Compacted [WhatsApp \n", ""),
    "sub-agent context": ("", "[Subagent Context] x\n\n", ""),
    "sub-agent tasks": ("", "[Subagent Context] x\n[Subagent Task]\n", ""),
    "cron in cron": ("", "[cron:a b] x\nCurrent time: \n", ""),
    "retries": ("", "[Retry after the previous model attempt failed]\n\n", ""),
    "internal context opens": ("", "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\n", ""),
    "internal context pairs": ("", "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\n", ""),
    "chat history": ("", "[Chat messages since your last reply - for context]\n", ""),
    "trailing context": ("", "\n \nContext: ", ""),
    "NUL and surrogates": ("", "\x00\ud800a", ""),
    "zero-width joiners": ("a", "\u200d", ""),
    "combining marks": ("", "e\u0301\u0302", ""),
    "full stops": ("", ".", "x"),
    "full stops and quotation marks": ("", '."', "x"),
    "requests to remember": ("", "please remember when ", ""),
    "Chinese": ("", "他说：记住这件事。\n", ""),
    "role lines": ("", "> **User**: \n", ""),
    "list of one item": ("", "- [", ""),
    "hashes": ("", "#", ""),
    "blank lines with spaces": ("", "\n    ", ""),
}  # fmt: skip

CLEANERS: dict[str, Callable[[str], object]] = {
    "user": clean_user_text,
    "assistant": clean_assistant_text,
    "tool": clean_tool_text,
    "neutralise": neutralise,
    "sentences": lambda text: list(sentences(text)),
    "clauses": lambda text: list(clauses(text)),
    "remember": asks_to_remember,
}


def sample(pattern: tuple[str, str, str], size: int) -> str:
    """The pattern's text of about ``size`` characters."""
    head, unit, tail = pattern
    return head + unit * (size // len(unit)) + tail


def seconds(clean: Callable[[str], object], text: str) -> float:
    """The best of three runs in processor time: what else the machine does is not the cleaner's."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        clean(text)
        best = min(best, time.process_time() - start)
    return best


def growth(times: list[float]) -> float:
    """By how much doubling the text multiplies the time, over all sizes; 0 where the times are too short to tell."""
    judged = [spent for spent in times if spent >= SHORTEST_SECONDS]
    return (judged[-1] / judged[0]) ** (1 / (len(judged) - 1)) if len(judged) > 2 else 0.0


def main() -> int:
    """Measure every pattern, print the table, and tell by the exit status whether the limits hold."""
    failed: list[str] = []
    print(f"{'pattern':36} {'slowest':>11} " + " ".join(f"{size // 1000:>6}k" for size in SIZES) + "  growth")
    for name, pattern in PATTERNS.items():
        texts = [sample(pattern, size) for size in SIZES]
        measured = {cleaner: [seconds(clean, text) for text in texts] for cleaner, clean in CLEANERS.items()}
        slowest = max(measured, key=lambda cleaner: measured[cleaner][-1])
        worst = max(growth(times) for times in measured.values())
        times = measured[slowest]
        milliseconds = " ".join(f"{1000 * value:>7.1f}" for value in times)
        print(f"{name:36} {slowest:>11} {milliseconds}  {worst:>6.2f}", flush=True)
        if times[-1] >= LIMIT_SECONDS or worst > LIMIT_GROWTH:
            failed.append(name)
    limit = f"limit {1000 * LIMIT_SECONDS:.0f} ms for {SIZES[-1]} characters, growth {LIMIT_GROWTH}"
    print(f"\n{len(PATTERNS)} patterns, milliseconds of processor time; {limit}")
    for name in failed:
        print(f"OVER THE LIMIT: {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
