"""Names of traces: they sort by time, and no two are the same."""

import random

_random = random.Random()  # noqa: S311 - ids only have to differ; the system's random numbers are a call each


def new_trace_id(now: float) -> str:
    """``r``, the milliseconds of ``now`` (epoch seconds), and 40 random bits."""
    return f"r{int(now * 1000):011x}{_random.getrandbits(40):010x}"
