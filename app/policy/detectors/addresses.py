"""Postal addresses: a street with its number, with what surrounds it on the line."""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern

_FORMS = (
    r"\d{1,5}[A-Za-z]?,? (?:[A-Z][\w'.-]{0,30} ){1,4}(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|"
    r"Court|Ct|Square|Sq|Terrace|Place|Pl|Way|Close|Crescent|Highway|Hwy|Parkway)\b\.?"
    r"(?:,? (?:Apt|Flat|Suite|Unit|#)\.? ?\w{1,6})?(?:, [A-Z][\w .'-]{1,40})?(?:,? [A-Z]{2})?(?:,? \d{5}(?:-\d{4})?)?",
    r"(?:\p{Han}{2,8}(?:省|自治区|市))?(?:\p{Han}{1,8}(?:市|州|盟))?(?:\p{Han}{1,8}[区县旗])?\p{Han}{1,12}(?:路|街|巷|弄|大道|胡同)"
    r"\d{1,5}号?(?:\p{Han}{0,10}\d{0,4}(?:号楼|栋|幢|座|单元|室|层|楼))*",
    r"[A-ZÄÖÜ][\p{L}-]{1,40}(?:straße|strasse|str\.|weg|gasse|allee|platz|ufer|damm) \d{1,4} ?[a-z]?(?:, ?\d{5} [\p{L} -]{2,40})?",
    r"\d{1,4},? (?:bis |ter )?(?:rue|avenue|boulevard|place|chemin|impasse|quai|allée) [\p{L} '’-]{3,60}(?:, ?\d{5} [\p{L} -]{2,40})?",
    r"(?:Calle|Avenida|Plaza|Paseo|Via|Viale|Piazza|Rua|Praça) [\p{L} .'’-]{2,60},? (?:n[º°.] ?)?\d{1,5}(?:,? \d{4,5}(?:-\d{3})? [\p{L} -]{2,40})?",
)
_ADDRESS = Pattern(r"(?:^|[^\p{L}\p{N}])(?P<address>" + "|".join(_FORMS) + ")")


def find(text: str) -> Iterator[Span]:
    """Streets with a number, in English, Chinese, German, French, Spanish, Italian and Portuguese."""
    return _ADDRESS.spans(text, "address")


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_ADDRESS,)
