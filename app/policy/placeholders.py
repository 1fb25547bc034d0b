"""Is a value a secret, judged by the value alone: what people and programs write in the place of one is none."""

import base64
import binascii
import re
from functools import lru_cache

from app.policy.published import is_published

_MARKS = re.compile(r"\*{4}|\.{4}|••|…|removed\]|EXAMPLE|示例|填写|替换")
"""What marks a value as none wherever it stands in it."""
_CASES = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_JOINT = "\x1f"
"""Stands where the case changes: ``mockToken`` has two words."""
_BESIDE = (
    "(?:(?:me|my|your|the|this|with|please|here|key|token|secret|password|passwd|pass|pwd|pw|user|name|login|api|auth|"
    "access|client|value|id|credential|admin|test|app|account|code|pin|string)s?)"
)
"""What stands beside a placeholder's word without a sign between: ``examplekey``, ``replacewithyourtoken``."""
_PLACEHOLDER = (
    "(?:change[-_ \x1f]?me|redacted|removed|masked|dummy|my_secret|yours|insert|replaced?|replaces|"
    "todo|fix[-_ ]?me|samples?|fakes?|mock(?:s|ed|ito)?|not[-_]?(?:a[-_]?)?real|(?<=[-_])here|"
    f"your(?=[-_ ]|\\x1f?{_BESIDE}))"
)
_WORD = re.compile(f"example|placeholder|xxxx|(?<![a-z]){_BESIDE}*{_PLACEHOLDER}(?:{_BESIDE}|{_PLACEHOLDER})*(?![a-z])")
"""A placeholder in small letters. All but the first three must be a whole part of a value: other words begin so."""
_NAMES_ONLY = re.compile("(?:base32|totp|otp|shared|encoded)(?:secret|key|seed|string|value|token){1,3}")
"""What stands for a seed in the form of an address: BASE32SECRET."""
_ONE_RUN = re.compile(r"[^\s/:<>{}()\[\]=&,;|\"'`\\]+")
_ADDRESS = re.compile(r"example\.|\.example|@[\w-]+\.[\w.-]+$")
_SIGNS = frozenset("!?@#$%^&*+~")
_NUMBER = re.compile("[0-9]+")
_WORDS = (
    "none null nil undefined true false yes no on off str string text int integer bool boolean bytes char varchar "
    "object any unknown optional required hidden secret password passwd token key value invalid valid wrong "
    "incorrect expired missing empty default reset changed unchanged basic bearer digest md5 sha1 sha256 bcrypt "
    "sha384 sha512 argon2 argon2id pbkdf2 oauth1 oauth2 saml2 fido2 ikev2 ed25519 rsa2048 rsa4096 x509 pkcs12 wpa2 "
    "wpa3 base64 "
    "strong weak safe unsafe stored encrypted hashed plain plaintext prompt stdin env file vault"
)
_NO_VALUES = frozenset(_WORDS.split())
_REFERENCE = re.compile(
    r"[<{\[*]|\\?\$(?:[{(]|[A-Za-z_]+$|[A-Z_][A-Z0-9_]*$)|%(?:\(|[A-Za-z_]+%?$)|@[A-Za-z]+$|&[a-z]+;?$|(?:os|process|env|settings|config|secrets|self|this|ctx|req|request|args|var|vars|local|data)\.|"
    r"(?:getenv|environ|lookup|vault|ref|file|secretRef|valueFrom)\b",
)
_HASH_ALGORITHM = re.compile(r"(?:sha\d{1,3}|md5)[-:$]|\{?(?:s?sha\d{0,3}|s?md5|crypt)\}", re.IGNORECASE)

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{6,2048}")
_URL_SAFE = str.maketrans("+/", "-_")
_CONSTANT = re.compile(r"[^\W\d_]{2,}(?:_[^\W\d_]+)+")


@lru_cache(maxsize=1024)
def is_placeholder(value: str) -> bool:
    """Whether ``value`` stands for a secret elsewhere, or for none: ``${TOKEN}``, ``<your key>``, ``****``.

    Values of documentation have "example" in them by custom (AKIAIOSFODNN7EXAMPLE).
    """
    lowered = value.lower()
    if lowered in _NO_VALUES or _NAMES_ONLY.fullmatch(lowered) or _MARKS.search(value) or _has_placeholder(value):
        return True
    if _REFERENCE.match(value) or _HASH_ALGORITHM.match(value):
        return True
    if is_published(value) or is_placeholder_login(value):
        return True
    if value.isupper() and _CONSTANT.fullmatch(value):  # LA_TUA_CHIAVE, IHR_TOKEN
        return True
    return len(set(lowered)) <= 2 and not value.isdigit()  # "aaaa", "----", "xXxX"


def _has_placeholder(value: str) -> bool:
    """Whether a part of ``value`` is a placeholder, and the whole is not what somebody chose: ``TodoList2024!`` is."""
    words = _CASES.sub(_JOINT, value).lower()
    return _WORD.search(words) is not None and not _is_chosen(value)


def _is_chosen(value: str) -> bool:
    """Whether ``value`` has a sign and a number as passwords have them; 1, 12 and 123 are those of an example."""
    return (
        not _SIGNS.isdisjoint(value[1:])
        and _ONE_RUN.fullmatch(value) is not None
        and not _ADDRESS.search(value)
        and any(not "1234567890".startswith(number) for number in _NUMBER.findall(value))
    )


def decoded_login(encoded: str) -> tuple[str, str]:
    """The user and the password that base64 stands for; both empty when it does not stand for ``user:password``."""
    bare = encoded.rstrip("=")
    if not _BASE64.fullmatch(bare):
        return "", ""
    try:
        text = base64.urlsafe_b64decode(bare.translate(_URL_SAFE) + "=" * (-len(bare) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return "", ""
    user, colon, password = text.partition(":")
    return (user, password) if colon and text.isprintable() else ("", "")


def is_placeholder_login(encoded: str) -> bool:
    """Whether base64 stands for a user and a placeholder, as in the documentation of basic authentication."""
    password = decoded_login(encoded)[1]
    return bool(password) and is_placeholder(password)


def is_random(value: str, least: int = 16) -> bool:
    """Whether ``value`` looks drawn by a machine: long, with letters and digits, and no words joined by signs."""
    if len(value) < least or not any(c.isdigit() for c in value) or not any(c.isalpha() for c in value):
        return False
    return len(set(value)) >= 6
