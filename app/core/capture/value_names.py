"""What names a value in structured data, besides the key in front of it.

``{"db": {"password": {"value": ...}}}`` names it further out, ``{"name": "DB_PASSWORD", "value": ...}`` and
``{"selector": "#password", "text": ...}`` beside it, and a command line in the arguments before it:
``["--password", ...]``. All of them are bounded, so that a value costs no more in a large object than in a small one.
"""

import re
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

MAX_NAME_CHARS = 64
"""Characters of a name that say what its value is; those at its end."""
_MOST_NAMES = 4
_COMMAND_CHARS = 128
"""How much of a command line in front of an argument says what that is."""
_NAMING = (
    "name key field fieldname label id selector locator xpath element target header property attribute option "
    "variable param parameter placeholder"
)
_NAMES = frozenset(_NAMING.split())
"""Keys of what names the value beside it, in small letters without signs."""
_HOLDING = "value val text content data body input string default literal plain raw current old new newvalue"
_VALUES = frozenset(_HOLDING.split())
"""Keys that say no more than that there is a value."""
_COMMANDS = frozenset(("command", "cmd", "args", "argv", "arguments", "entrypoint"))
"""Keys of command lines."""
_SIGNS = re.compile(r"[\W_]+")
_OPTION = re.compile(r"--?[A-Za-z]")


def below(names: Sequence[str], key: str) -> tuple[str, ...]:
    """The names of what stands at ``key`` of an object with these ``names``, the one that says most last."""
    return key[-MAX_NAME_CHARS:], *(names[-1:] if is_value(key) else ())


def beside(members: Mapping[str, Any]) -> list[str]:
    """What an object says of its value: ``DB_PASSWORD``, for ``{"name": "DB_PASSWORD", "value": ...}``."""
    named = (name for key, name in members.items() if isinstance(name, str) and _plain(key) in _NAMES)
    return [name for name in named if 0 < len(name) <= MAX_NAME_CHARS][:_MOST_NAMES]


def is_value(key: str) -> bool:
    """Whether what stands at ``key`` is named beside it."""
    return _plain(key) in _VALUES


def is_pair(item: Any) -> bool:
    """Whether an item of a list is a name and its value: ``["X-Api-Key", ...]``."""
    return isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) and len(item[0]) <= MAX_NAME_CHARS


def is_command(arguments: Sequence[Any], names: Sequence[str]) -> bool:
    """Whether a list is a command line: it is called so, or has options."""
    called = any(_plain(name) in _COMMANDS for name in names)
    return called or any(isinstance(one, str) and _OPTION.match(one) for one in arguments)


def command_line(arguments: Sequence[Any]) -> str:
    """The last of ``arguments`` as they are typed, with a space behind them."""
    line = ""
    for argument in reversed(arguments):
        if not isinstance(argument, str) or len(argument) + len(line) > _COMMAND_CHARS:
            break
        line = f"{quote(argument)} {line}"
    return line


def _plain(key: str) -> str:
    return _SIGNS.sub("", key[:MAX_NAME_CHARS]).lower()
