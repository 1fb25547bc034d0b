"""Whether a tool call failed, where the host does not say so: many give the exit status of a command as text only.

"(Command exited with code 2)" under the output, "Exit code: 1" above it: a line of its own that says nothing else. A
number other than zero, a signal or a time-out is a failure. What a program prints in between is not looked at.
"""

import re

_EDGE_CHARS = 400
"""The line stands within so many characters of the beginning or the end."""
_SUBJECT = r"(?:the )?(?:command|process|script|program|shell|job|task|tool|exec)\b"
_STATUS = re.compile(
    rf"(?=.*(?:exit|return))(?:error: ?)?(?:{_SUBJECT}(?: [^\s:]{{1,30}}){{0,2}} )?"
    r"(?:(?:failed|finished|completed|terminated|ended|returned),? )?(?:with )?(?:an? )?(?:non-?zero )?"
    r"(?:exit(?:ed)? ?_?(?:with )?)?(?:exit )?(?:code|status)[ :=]{1,3}(?:code )?(-?\d{1,10})"
    r"|命令(?:的?退出码|以退出码|返回码)[为是：: ]{0,3}(-?\d{1,10})(?: ?退出)?",
    re.IGNORECASE,
)
_KILLED = re.compile(
    rf"{_SUBJECT} (?:was )?(?:aborted|terminated|killed|canceled|cancelled|timed out|exceeded its|failed during"
    r"|failed to start|could not be started|not found)\b.{0,80}",
    re.IGNORECASE,
)


def says_failed(output: str) -> bool:
    """Whether the first or the last line of a tool's output is the notice of a failed command."""
    head, tail = output[:_EDGE_CHARS].strip(), output[-_EDGE_CHARS:].strip()
    return any(_failed(line) for line in (head.partition("\n")[0], tail.rpartition("\n")[2]))


def _failed(line: str) -> bool:
    notice = line.strip(" \t\r()[]<>*.。")
    status = _STATUS.fullmatch(notice)
    return int(status[1] or status[2]) != 0 if status else bool(_KILLED.fullmatch(notice))
