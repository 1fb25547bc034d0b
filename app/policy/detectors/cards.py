"""Payment cards, and the security code that is told beside one."""

from collections.abc import Iterator, Sequence

from app.policy.card_numbers import ENOUGH, beside_published, is_published_card, numbers
from app.policy.detector import Span, within
from app.policy.linear_patterns import Pattern

_EXPIRY = r"(?:0?[1-9]|1[0-2]) ?[/.|-] ?(?:20)?[2-4]\d|20[2-4]\d ?年 ?\d{1,2} ?月"
_BEHIND = Pattern(
    rf"^[^0-9]{{0,40}}(?:{_EXPIRY})[^0-9]{{1,40}}(?P<card>\d{{3,4}})(?:$|[^0-9 .,:/%°-]|[ .,:/-][^0-9]|[ .,:/-]$)"
)
_CODE = Pattern(
    r"(?i)(?:^|[^a-z])(?:cv[vcnd]2?|csc|cid|安全码|安全碼|后三位|後三碼|背面三位|驗證碼背面|security (?:code|number)|prüfziffer|"
    r"prüfnummer|kartenprüfnummer|cryptogramme|code de sécurité|código de seguran(?:ça|za)|código de seguridad|"
    r"codice di sicurezza|セキュリティコード|код безопасности)[^0-9\n]{1,12}(?P<card>\d{3,4})(?:$|\D)"
)
_CARD_WORD = ("card", "visa", "mastercard", "amex", "卡", "karte", "carte", "tarjeta", "cartão", "карт", "カード")


def find(text: str) -> Iterator[Span]:
    """Card numbers that pass the check, test numbers excepted, and security codes beside a card."""
    for start, end in numbers(text):
        if not is_published_card(text[start:end]):
            yield start, end
            yield from _code_behind(text, end)
    samples: list[Span] | None = None
    for start, end in _CODE.spans(text, "card"):
        around = text[max(0, start - 200) : end + 100].lower()
        if any(word in around for word in _CARD_WORD):
            samples = beside_published(text) if samples is None else samples
            if not within(samples, start):
                yield start, end


def _code_behind(text: str, end: int) -> Iterator[Span]:
    """The security code behind a number and its date, whatever it is called."""
    return ((end + a, end + b) for a, b in _BEHIND.spans(text[end : end + 120], "card"))


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (ENOUGH, _CODE)
