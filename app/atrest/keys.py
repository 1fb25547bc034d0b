"""The operator's key, and the keys that are made of it."""

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass, field

KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Keys:
    """What is made of one key: its name, and a key for each purpose, so that none is used for two."""

    id: str
    """16 hexadecimal digits."""
    files: bytes = field(repr=False)
    databases: bytes = field(repr=False)

    @classmethod
    def of(cls, key: bytes) -> "Keys":
        """Those of a key of `KEY_BYTES` random bytes."""

        def derived(purpose: bytes) -> bytes:  # the one block of HKDF-Expand (RFC 5869): the key is random already
            return hmac.digest(key, b"openviking-sidecar " + purpose + b"\x01", hashlib.sha256)

        return cls(derived(b"id")[:8].hex(), derived(b"files"), derived(b"databases"))


def key_in(text: str) -> bytes:
    """The key as an operator writes it: 64 hexadecimal digits, or base64. Raises ValueError, without quoting it."""
    told = text.strip()
    try:
        if len(told) == 2 * KEY_BYTES:
            return bytes.fromhex(told)
        key = base64.b64decode(told.replace("-", "+").replace("_", "/"), validate=True)
    except (ValueError, binascii.Error):
        key = b""
    if len(key) != KEY_BYTES:
        raise ValueError("is no key: 32 random bytes in base64 or hex, as `openssl rand -base64 32` prints them")
    return key
