"""What is still open in a conversation: what somebody noted to do, promised, or asked without an answer; what fails.

Whether a sentence asks is judged as everywhere (`app.core.history.lines`), and whether a call still fails by what the
tools say. Notes and promises are known by the few words that people use for them; where none is met, nothing is lost
but a line.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from app.core.history.lines import MAX_LINE_CHARS

_TODO = re.compile(
    r"\b(?:TODO|FIXME|TBD)\b|^\s{0,8}[-*] \[ \] "
    r"|\b(?:still (?:to do|open|missing|needs?)|not (?:yet )?(?:done|fixed|finished)|remains to be"
    r"|left to do|open question|next steps?:)"
    r"|待办|待辦|尚未|还没有?(?:做|修|完成|解决)|還沒有?(?:做|修|完成|解決)|未完成|下一步",
    re.IGNORECASE,
)
_PROMISED = re.compile(
    r"\b(?:I(?:'|’)ll|I will|I am going to|I(?:'|’)m going to|we(?:'|’)ll|let me) "
    r"(?!know\b|keep that\b|remember\b|look\b)\w+"
    r"|我(?:会|會|将|將|稍后|稍後|之后|接下来|接下來)",
    re.IGNORECASE,
)
_MOST_LINES = 400
_MOST_LINE_CHARS = 4 * MAX_LINE_CHARS


def todos_in(text: str) -> Iterator[str]:
    """The lines at the end of a text that note something to be done: of its last ones, each as far as it is read."""
    for line in text[-_MOST_LINES * _MOST_LINE_CHARS :].splitlines()[-_MOST_LINES:]:
        if _TODO.search(line[:_MOST_LINE_CHARS]):
            yield line[:_MOST_LINE_CHARS].strip(" \t-*#>")


def promises_in(sentences: Iterable[str]) -> Iterator[str]:
    """The sentences that promise to do something."""
    return (sentence for sentence in sentences if _PROMISED.search(sentence[:MAX_LINE_CHARS]))


def still_failing(calls: Sequence[tuple[str, bool, str]]) -> list[str]:
    """The last error of each call that failed and did not work afterwards: (what, worked, error) in order."""
    open_: dict[str, str] = {}
    for what, worked, error in calls:
        if worked:
            open_.pop(what, None)
        elif error:
            open_.pop(what, None)
            open_[what] = error
    return list(open_.values())
