"""Is a value a secret, judged by the value alone: what people and programs write in the place of one is none."""

import re
from functools import lru_cache

PLACEHOLDERS = (
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "redacted",
    "removed",
    "masked",
    "dummy",
    "xxxx",
    "****",
    "....",
    "••",
    "…",
    "your_",
    "your-",
    "yours",
    "your ",
    "my_secret",
    "insert",
    "replace",
    "todo",
    "fixme",
    "sample",
    "示例",
    "填写",
    "替换",
)
"""What stands in a value that is none."""
_NO_VALUES = frozenset(
    (
        "none null nil undefined true false yes no on off str string text int integer bool boolean bytes char varchar "
        "object any unknown optional required hidden secret password passwd token key value invalid valid wrong "
        "incorrect expired missing empty default reset changed unchanged basic bearer digest md5 sha1 sha256 bcrypt "
        "strong weak safe unsafe stored encrypted hashed plain plaintext prompt stdin env file vault"
    ).split()
)
_REFERENCE = re.compile(
    r"[$%<{\[@&*]|\\\$|(?:os|process|env|settings|config|secrets|self|this|ctx|req|request|args|var|vars|local|data)\.|"
    r"(?:getenv|environ|lookup|vault|ref|file|secretRef|valueFrom)\b",
)
_CODE = re.compile(r"[\w.]{1,100}\(|[A-Za-z_]{1,60}(?:\.[A-Za-z_]{1,60}){1,8};?|[A-Za-z]{1,40}(?:\[\]|\?|\|)")
_HASH_ALGORITHM = re.compile(r"(?:sha\d{1,3}|md5)[-:$]", re.IGNORECASE)


@lru_cache(maxsize=1024)
def is_placeholder(value: str) -> bool:
    """Whether ``value`` stands for a secret that is somewhere else, or for none: ``${TOKEN}``, ``<your key>``, ``****``.

    Values of documentation have "example" in them by custom (AKIAIOSFODNN7EXAMPLE).
    """
    lowered = value.lower()
    if lowered in _NO_VALUES or any(mark in lowered for mark in PLACEHOLDERS):
        return True
    if _REFERENCE.match(value) or _HASH_ALGORITHM.match(value):
        return True
    return len(set(lowered)) <= 2  # "aaaa", "----", "xXxX"


def is_code(value: str) -> bool:
    """Whether an unquoted value is an expression: a call, an attribute, a type."""
    return bool(_CODE.fullmatch(value) or _CODE.match(value) and "(" in value)


def kinds(value: str) -> int:
    """Of how many kinds its characters are: lower case, upper case, digits, others."""
    return (
        any(c.islower() for c in value)
        + any(c.isupper() for c in value)
        + any(c.isdigit() for c in value)
        + any(not c.isalnum() for c in value)
    )


def is_mixed(value: str, least: int = 6) -> bool:
    """Whether ``value`` looks made up: long enough, and digits or signs among letters."""
    if len(value) < least:
        return False
    digits = sum(c.isdigit() for c in value)
    letters = sum(c.isalpha() for c in value)
    inner = any(not c.isalnum() for c in value.strip("-_./"))
    return (digits > 0 and letters > 0) or (inner and kinds(value) >= 3)


def is_random(value: str, least: int = 16) -> bool:
    """Whether ``value`` looks drawn by a machine: long, with letters and digits, and no words joined by signs."""
    if len(value) < least or not any(c.isdigit() for c in value) or not any(c.isalpha() for c in value):
        return False
    return len(set(value)) >= 6
