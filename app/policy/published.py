"""What is published: cards that providers give out for tests, sample tokens, passphrases of comics, public keys.

Everybody knows these, and documentation, lessons and tests are full of them: they open nothing.
"""

import base64
import binascii
import json
import re
from functools import lru_cache

_TEST_CARDS = (
    "4242424242424242 4000056655665556 5555555555554444 2223003122003222 5200828282828210 5105105105105100 "
    "378282246310005 371449635398431 6011111111111117 6011000990139424 6011981111111113 3056930009020004 "
    "36227206271667 6555900000604105 3566002020360505 6200000000000005 6200000000000047 4111111111111111 "
    "4012888888881881 4222222222222 4000000000000002 4000000000009995 4000000000000077 4000002500003155 "
    "4000000000003220 5431111111111111 5424000000000015 4007000000027 4000000000000010 6759649826438453 "
    "4484070000000000 5019717010103742 30569309025904 38520000023237 6304000000000000 4917610000000000 "
    "4000002760003184 4000000000000069 4000000000000127 4000000000000119 4000000000000101 4000000000000341 "
    "4000000000009987 4000000000009979 4000000000000259 5454545454545454 4444333322221111 4462030000000000 "
    "343434343434343 4035501000000008 6771798021000008 6771830000000000006 2222400070000005 5577000055770004 "
    "5136333333333335 5500000000000004 340000000000009 3530111333300000 4988438843884305 4917484589897107 "
    "6205500000000000004 2222420000001113 378734493671000 5610591081018250 6331101999990016 2200000000000004 "
    "4508034508034509 4263982640269299 5425233430109903 2222990905257051 374245455400126 5031755734530604 "
    "5031433215406351 4235647728025682 4509953566233704 371180303257522"
)
PUBLISHED_CARDS = frozenset(_TEST_CARDS.split())
"""Card numbers that payment providers publish for tests."""

_SAMPLES = frozenset(
    (
        "correct horse battery staple",  # xkcd 936
        "correcthorsebatterystaple",
        "Tr0ub4dor&3",
        "Troub4dor&3",
        "wJalrXUtnFEMI/K7MDENG",
        "QWxhZGRpbjpvcGVuIHNlc2FtZQ==",  # RFC 7617
        "QWxhZGRpbjpPcGVuU2VzYW1l",
        "dGVzdDoxMjPCow==",
        "mF_9.B5f-4.1JqM",  # RFC 6750
        "SlAV32hkKG",  # RFC 6749
        "2YotnFZFEjr1zCsicMWpAA",
        "tGzv3JOkF0XG5Qx2TlKWIA",
        "SplxlOBeZQQYbYS6WxSbIA",
        "7Fjfp0ZBr1KtDRbnfVdmIw",
        "gX1fBat3bV",
        "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",  # RFC 7636
        "JBSWY3DPEHPK3PXP",  # base32 of the example in the key URI format of TOTP
        "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",  # RFC 6238
        "GEZDGNBVGY3TQOJQ",
        "dGhlIHNhbXBsZSBub25jZQ==",  # RFC 6455
        "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",  # the first account of Hardhat and Anvil
    )
)
_STRIPE_SAMPLES = ("_test_4eC39HqLyjWDarjtT1zdp7dc", "_test_TYooMQauvdEDq54NiTphI7jx", "_test_BQokikJOvBiI2HlWgH4olfQ2")
_PUBLIC = re.compile(r"pk_(?:test|live)_[A-Za-z0-9]{8,}|(?:SM|MM|CA|MG|PN|RE)[0-9a-f]{32}")
"""Stripe's keys for web pages; Twilio's names of messages, calls and numbers."""
_SAMPLE_CLAIMS = frozenset(("1234567890", "John Doe"))


@lru_cache(maxsize=1024)
def is_published(value: str) -> bool:
    """Whether ``value`` is such an example, or made to be shown."""
    if value[:1].isdigit() and value.replace(" ", "").replace("-", "") in PUBLISHED_CARDS:
        return True
    bare = value.removeprefix("0x")
    if bare in _SAMPLES or _PUBLIC.fullmatch(value):
        return True
    return value.endswith(_STRIPE_SAMPLES) or (value.startswith("eyJ") and _is_sample_token(value))


def _is_sample_token(token: str) -> bool:
    """Whether a JSON web token is the one of jwt.io or made from it: its claims are of John Doe, 1234567890."""
    parts = token.split(".")
    if len(parts) < 2 or len(parts[1]) > 2_000:
        return False
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return False
    return isinstance(claims, dict) and any(claims.get(name) in _SAMPLE_CLAIMS for name in ("sub", "name"))
