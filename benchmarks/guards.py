"""How long the guards take with large tool outputs: what of each stays is found in time in proportion to its length.

    python -m benchmarks.guards

Prints the milliseconds of CPU for a kind of output at 1, 3 and 10 MB within 30,000 tokens, the best of three. Exits 1
when one of 10 MB takes more than `LIMIT_MS`.
"""

import json
import random
import sys
import time

from app.core.history.guards.output_excerpt import within_tokens

LIMIT_MS = 400
TOKENS = 30_000
MEGABYTE = 1_000_000


def samples(size: int) -> dict[str, str]:
    """Outputs of about ``size`` characters."""
    some = random.Random(7)
    row = [f"12:00:{n % 60:02} INFO worker[{n % 16}] served {some.random():.9f} in {n % 977} ms" for n in range(20_000)]
    log = "\n".join(row * (size // (20_000 * 55) + 1))[:size]
    items = [{"id": n, "name": f"user {n}", "tags": ["a", "b"]} for n in range(size // 60)]
    return {
        "log": f"{log}\nerror: it failed\n(Command exited with code 1)",
        "errors": "\n".join([f"error {n}: {n * 7919} is wrong" for n in range(size // 30)]),
        "progress": "".join([f"\r{n % 100}% [{'#' * (n % 30)}]" for n in range(size // 24)]),
        "one line": "the quick brown fox jumps over it " * (size // 34),
        "base64": "iVBORw0KGgo" + "A1b2C3d4" * (size // 8),
        "chinese": "\n".join([f"第{n}行：今天天气很好，我们去公园玩吧。" for n in range(size // 22)]),
        "json": json.dumps(items),
    }


def took_ms(text: str) -> float:
    """CPU of this process, the best of three."""
    times = []
    for _ in range(3):
        began = time.process_time()
        within_tokens(text, TOKENS, "call_1")
        times.append((time.process_time() - began) * 1000)
    return min(times)


def main() -> int:
    """Print the table and say whether the promise holds."""
    sizes = (1, 3, 10)
    table = {size: samples(size * MEGABYTE) for size in sizes}
    print(f"{'output':<12}" + "".join(f"{f'{size} MB':>10}" for size in sizes))
    longest = 0.0
    for name in table[1]:
        times = [took_ms(table[size][name]) for size in sizes]
        longest = max(longest, times[-1])
        print(f"{name:<12}" + "".join(f"{ms:>7.0f} ms" for ms in times))
    print(f"limit for 10 MB: {LIMIT_MS} ms")
    return int(longest > LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
