"""Time per message of the text gates: `python -m benchmarks.classify`. Usual messages take under 0.2 ms."""

import statistics
import time
from collections.abc import Callable

from app.classify.classifier import ByWords
from app.classify.fillers import is_no_query
from app.classify.terms import terms_of
from app.core.recall.transcript import is_transcript

MESSAGES = {
    "short English order": "Fix the flaky login test and push it to main.",
    "English question": "What is the difference between a process and a thread, and when would you use which?",
    "short Chinese order": "帮我修复登录接口报错",
    "Chinese story": "昨天我们把旧系统迁到了新机房，忙到凌晨三点，好在一切正常，大家都累坏了。",
    "mixed": "把 config 里的 timeout 改成 30s，然后 redeploy 到 staging",
    "log of 100 lines and a request": "2024-03-05 09:12:33 ERROR pool exhausted in shop.db\n" * 100 + "please fix this",
    "chat of 40 lines": "Nora: did you feed the cat?\nBill: twice, she lied to you\n" * 20,
    "1 MB of one letter": "a" * 1_000_000,
    "1 MB of open quotes": '"' * 1_000_000,
    "1 MB of newlines": "\n" * 1_000_000,
}
_BY_WORDS = ByWords()


def judge_task(text: str) -> object:
    """The task gate by words, with nothing remembered of an earlier call."""
    terms_of.cache_clear()
    return _BY_WORDS.task(text)


GATES: dict[str, Callable[[str], object]] = {"task": judge_task, "no query": is_no_query, "transcript": is_transcript}
ROUNDS = 30


def median_ms(judge: Callable[[str], object], text: str) -> float:
    """The median time of one call, in milliseconds."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        judge(text)
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


def main() -> None:
    """Print one line per message."""
    print(f"{'median ms per message':32}" + "".join(f"{name:>12}" for name in GATES))
    for title, text in MESSAGES.items():
        print(f"{title:32}" + "".join(f"{median_ms(judge, text):12.4f}" for judge in GATES.values()))


if __name__ == "__main__":
    main()
