"""Is the latest message a task, and is there anything in it to look up?

`ByWords` needs nothing. `ByMeaning` adds the message's vector, so that it knows the languages of its embedder.
"""

from array import array
from collections.abc import Callable
from typing import Protocol

from app.classify.fillers import MAX_FILLER_CHARS, no_query_reason
from app.classify.linear import Likelihood, load_model
from app.classify.terms import embeddable, terms_of

TASK_FROM = 0.5
"""Least probability at which a message is taken for a task."""
FILLER_FROM = 0.8
"""Least probability at which a message is left without a search: a search too many costs less than a missed one."""

FOLLOWS_FROM = 0.4
"""Least probability at which a message is searched for together with what was said before it."""
MAX_FOLLOW_CHARS = 160
"""What is longer says enough by itself."""


class Classifier(Protocol):
    """Judges messages. The same text gets the same answers."""

    slow: bool
    """Whether a judgement takes milliseconds, so that it must not be made on the event loop."""

    def task(self, text: str) -> Likelihood:
        """How likely ``text`` asks the agent to act."""
        ...

    def no_query_reason(self, text: str) -> str | None:
        """Why nothing can be looked up for ``text``, in one word; None for a query."""
        ...

    def personal(self, text: str) -> float:
        """How likely an answer to ``text`` depends on who asks: on what is known of a person, a team or their work."""
        ...

    def follows(self, text: str) -> float:
        """How likely ``text`` says what is asked only together with what was said before it ("and hers?")."""
        ...


class ByWords:
    """By words alone: good at English and Chinese; greetings and thanks in sixteen languages."""

    slow = False

    def __init__(self) -> None:
        self._task = load_model("task.words")
        self._personal = load_model("personal.words")
        self._follows = load_model("follow.words")

    def task(self, text: str) -> Likelihood:
        """See `Classifier`."""
        return self._task.judge(terms_of(text))

    def personal(self, text: str) -> float:
        """See `Classifier`."""
        return self._personal.probability(terms_of(text))

    def follows(self, text: str) -> float:
        """See `Classifier`."""
        return self._follows.probability(terms_of(text)) if _may_follow(text) else 0.0

    def no_query_reason(self, text: str) -> str | None:
        """See `Classifier` and `app.classify.fillers`."""
        return no_query_reason(text)


class ByMeaning:
    """By words and meaning. ``embed`` gives packed 32-bit floats, of the embedder for which ``weights`` were learnt."""

    slow = True

    def __init__(self, embed: Callable[[str], bytes], weights: str) -> None:
        self._embed = embed
        self._task = load_model(f"task.{weights}")
        self._skip = load_model(f"skip.{weights}")
        self._personal = load_model(f"personal.{weights}")
        self._follows = load_model(f"follow.{weights}")

    def task(self, text: str) -> Likelihood:
        """See `Classifier`. Raises what ``embed`` raises."""
        return self._task.judge(terms_of(text), self._vector(text))

    def personal(self, text: str) -> float:
        """See `Classifier`. Raises what ``embed`` raises."""
        return self._personal.probability(terms_of(text), self._vector(text))

    def follows(self, text: str) -> float:
        """See `Classifier`. Raises what ``embed`` raises."""
        return self._follows.probability(terms_of(text), self._vector(text)) if _may_follow(text) else 0.0

    def no_query_reason(self, text: str) -> str | None:
        """See `Classifier`. A short text that no list covers is judged by its meaning; a task is none.

        Raises what ``embed`` raises.
        """
        reason = no_query_reason(text)
        if reason is not None or not text.strip() or len(text) > MAX_FILLER_CHARS:
            return reason
        filler = self._skip.judge((), self._vector(text)).probability >= FILLER_FROM
        return "filler" if filler and self.task(text).probability < TASK_FROM else None

    def _vector(self, text: str) -> "array[float]":
        return array("f", self._embed(embeddable(text)))


def _may_follow(text: str) -> bool:
    """Some follow-ups are made of fillers alone: "the first one?" tells something beside what was asked."""
    return len(text) <= MAX_FOLLOW_CHARS and no_query_reason(text) in (None, "filler")
