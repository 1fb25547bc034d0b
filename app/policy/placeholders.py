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


_TEST_CARDS = (
    "4242424242424242 4000056655665556 5555555555554444 2223003122003222 5200828282828210 5105105105105100 "
    "378282246310005 371449635398431 6011111111111117 6011000990139424 6011981111111113 3056930009020004 "
    "36227206271667 6555900000604105 3566002020360505 6200000000000005 6200000000000047 4111111111111111 "
    "4012888888881881 4222222222222 4000000000000002 4000000000009995 4000000000000077 4000002500003155 "
    "4000000000003220 5431111111111111 5424000000000015 4007000000027 4000000000000010 6759649826438453 "
    "4484070000000000 5019717010103742 30569309025904 38520000023237 6304000000000000 4917610000000000"
)
PUBLISHED_CARDS = frozenset(_TEST_CARDS.split())
"""Card numbers that payment providers publish for tests."""


@lru_cache(maxsize=1024)
def is_placeholder(value: str) -> bool:
    """Whether ``value`` stands for a secret elsewhere, or for none: ``${TOKEN}``, ``<your key>``, ``****``.

    Values of documentation have "example" in them by custom (AKIAIOSFODNN7EXAMPLE).
    """
    lowered = value.lower()
    if value[:1].isdigit() and value.replace(" ", "").replace("-", "") in PUBLISHED_CARDS:
        return True
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
