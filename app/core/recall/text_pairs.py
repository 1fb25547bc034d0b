"""What may be asked about two texts that a model reads together, where there is one that has learnt to."""

from collections.abc import Callable, Sequence
from typing import Literal, get_args

Task = Literal["answers", "replaces"]
"""Whether the second text, something stored, helps with the first one, a question; whether the second one, told later,
says that the first one holds no more."""
TASKS: tuple[Task, ...] = get_args(Task)
"""In the order in which they are read: what does not help need not be compared."""

Texts = tuple[str, str]
ReadPairs = Callable[[Task, Sequence[Texts]], Sequence[float]]
"""For each pair the log-odds of what the task asks. Blocks, and may fail."""
KnownPair = Callable[[Task, Texts], float | None]
"""What is known of a pair, or None."""
