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
_WORDS = (
    "none null nil undefined true false yes no on off str string text int integer bool boolean bytes char varchar "
    "object any unknown optional required hidden secret password passwd token key value invalid valid wrong "
    "incorrect expired missing empty default reset changed unchanged basic bearer digest md5 sha1 sha256 bcrypt "
    "strong weak safe unsafe stored encrypted hashed plain plaintext prompt stdin env file vault"
)
_NO_VALUES = frozenset(_WORDS.split())
_REFERENCE = re.compile(
    r"[<{\[*]|\\?\$(?:[{(]|[A-Za-z_]+$|[A-Z_][A-Z0-9_]*$)|%(?:\(|[A-Za-z_]+%?$)|@[A-Za-z]+$|&[a-z]+;?$|(?:os|process|env|settings|config|secrets|self|this|ctx|req|request|args|var|vars|local|data)\.|"
    r"(?:getenv|environ|lookup|vault|ref|file|secretRef|valueFrom)\b",
)
_HASH_ALGORITHM = re.compile(r"(?:sha\d{1,3}|md5)[-:$]", re.IGNORECASE)


@lru_cache(maxsize=1024)
def is_placeholder(value: str) -> bool:
    """Whether ``value`` stands for a secret elsewhere, or for none: ``${TOKEN}``, ``<your key>``, ``****``.

    Values of documentation have "example" in them by custom (AKIAIOSFODNN7EXAMPLE).
    """
    lowered = value.lower()
    if lowered in _NO_VALUES or any(mark in lowered for mark in PLACEHOLDERS):
        return True
    if _REFERENCE.match(value) or _HASH_ALGORITHM.match(value):
        return True
    return len(set(lowered)) <= 2 and not value.isdigit()  # "aaaa", "----", "xXxX"


def is_random(value: str, least: int = 16) -> bool:
    """Whether ``value`` looks drawn by a machine: long, with letters and digits, and no words joined by signs."""
    if len(value) < least or not any(c.isdigit() for c in value) or not any(c.isalpha() for c in value):
        return False
    return len(set(value)) >= 6
