"""What the decision about a value is made of: its form, the words around it, and the nearest thing that is named."""

import re
from collections.abc import Iterator, Sequence

from app.policy.clauses import is_spoken
from app.policy.signs import Words
from app.text.scripts import CJK, is_cjk

LEFT_WORDS, RIGHT_WORDS = 32, 16
"""How much of the text around a value is read."""

OWN, OTHER = "own", "other"
_NEAR = 4
_BAG = 12
_NEXT = 8
_LONGEST_NAMED = 64
"""Characters of the longest value in which words are looked for: ``partner-api-token`` names what it stands for."""
_DRAWN = frozenset(("numeral", "pin", "digits", "number", "groups", "hex", "uuid", "date", "drawn"))
"""Forms of values that have no words in them."""
_BUCKETS = (0, 1, 2, 3, 4, 4, 5, 5, 5, 6, 6, 6, 6)
NAMING = frozenset(("#secret", "#pin", "#once", "#otp", "#id", "#user", "#talk", "#env", "#code", "#factor"))
"""Classes of words that name a value."""
_TELLING = frozenset(("#lock", "#card", "#fake", "#not", "#call", "#phrase"))
"""Classes of words that tell what a name means: the code of a door, a token of a test, a password that must not be."""
_BREAKS = frozenset("\n.!?。！？;；")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_VERSION = re.compile(r"v?\d+(?:\.\d+){1,4}(?:[-+._]?[a-z]{0,12}[-.]?\d{0,8}){0,2}")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?(?:[T ]\d{2}:\d{2}.*)?|\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?Z?")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
_UNIT = re.compile(
    r"\d+(?:[.,]\d+)?(?:[a-zA-Z]{1,3}|%|min|days?|bits?|[-–]?(?:bits?|chars?|characters?|digits?|days?|fold))"
)
_PACKAGE = re.compile(
    r"(?:\d{1,3}:(?=\d{1,8}\.)|(?=[^:]{0,60}(?:ubuntu|dfsg|deb|build|bpo|pgdg|nmu|ppa|\.el|\.fc)\d))\d{1,8}"
    r"(?:[+~.-]\d{0,8}(?:(?:dfsg|ds|repack|really|ubuntu|deb|build|bpo|git|svn|pgdg|nmu|ppa|lts|el|fc|rc|alpha|beta|pre|r|p|u|b|a)\d{0,8}){0,3}){1,8}"
)
"""A version as packagers of Debian, Ubuntu and Red Hat write it, with an epoch or a mark of theirs."""
_COMPOUND = re.compile(r"[A-Za-z]+(?:[-_./'’][A-Za-z]+)+")
_SLUG = re.compile(r"[a-z]+(?:[-_][a-z]+)+[-_]?v?\d{1,3}")
_MODEL = re.compile(r"[A-Za-z]{2,10}[- ]?\d{1,4}[A-Za-z]?")
_NUMBERED = re.compile(r"[A-Za-z]{2,20}_\d{1,8}")
_FILE = re.compile(r"[\w./~-]*\.[a-z][a-z0-9]{0,5}(?:[:#]\d+)?|[~.]{0,2}(?:/[\w.@-]+)+/?|[A-Z]:\\\S*")
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:/\S*)?|\d+(?:\.\d+){3}(?::\d+|/\d+)?")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S*")
_CODE = re.compile(r"[\w.]+\(|\+[a-z_]\w*\.[A-Za-z]\w*\)*$|[$%]\w|.*(?:::|->|\(\)|\[\]|&&|\|\|)")
_HAN = re.compile(f"[{CJK}]")
_ASCII = re.compile("[A-Za-z0-9]")
_CLAUSES = frozenset(("clause", "han", "scripts"))
"""Forms of values whose characters tell whether they are a sentence."""
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]+", re.IGNORECASE)
_ADVISORY = re.compile(r"(?:CVE|CWE|CNVD|CNNVD)-\d{2,8}(?:-\d{2,8})?|GHSA(?:-[0-9a-z]{4}){3}", re.IGNORECASE)
_PATH = re.compile(r"[a-z]{3,}[\w.-]{0,60}(?:/[\w.#@-]{1,80}){1,12}/?")
_HOTKEY = re.compile(
    r"(?:(?:ctrl|control|alt|shift|cmd|command|option|meta|super|win|fn)[+-]){1,3}\w{1,9}|F(?:[1-9]|1\d|2[0-4])",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_FORMS = (
    ("uuid", _UUID),
    ("advisory", _ADVISORY),
    ("package", _PACKAGE),
    ("url", _URL),
    ("mail", _MAIL),
    ("date", _DATE),
    ("version", _VERSION),
    ("unit", _UNIT),
    ("host", _HOST),
    ("file", _FILE),
    ("compound", _COMPOUND),
    ("slug", _SLUG),
    ("hotkey", _HOTKEY),
    ("address", _ADDRESS),
    ("path", _PATH),
    ("model", _MODEL),
    ("numbered", _NUMBERED),
)


def of_context(
    before: Sequence[str], after: Sequence[str], form: str, *, quoted: bool = False, name: str = "", field: str = ""
) -> Iterator[str]:
    """The features of the words around a value, the nearest first on both sides (see `app.policy.signs`).

    ``name`` is the nearest word that names a value, as it is said; ``field`` is "own" for the whole value of
    a field that has a name for secrets, and "other" for that of a field with another name.
    """
    if quoted:
        yield "quoted"
    yield from _near("l", before, form)
    yield from _near("r", after[:2], form)
    yield from (f"b:{word}" for word in {*before[:_BAG]} if len(word) > 1 or not word.isascii())
    yield from (f"rb:{word}" for word in {*after[:6]})
    yield from _named(before, after, form)
    yield from _told(before, after, form)
    if name:
        yield f"nw:{name}"
        yield f"nwf:{name}|{form}"
    if field:
        yield f"{field}|{form}"
        yield f"{field}:{name if field == OWN else before[1] if len(before) > 1 else ''}"


def _near(side: str, words: Sequence[str], form: str) -> Iterator[str]:
    for place, word in enumerate(words[:_NEAR]):
        yield f"{side}{place}:{word}"
    if words:
        yield f"{side}f:{words[0]}|{form}"
    for place in range(min(2, len(words) - 1)):
        yield f"{side}{place}2:{words[place + 1]} {words[place]}"
    if len(words) > 2:
        yield f"{side}3:{words[2]} {words[1]} {words[0]}"


def _named(before: Sequence[str], after: Sequence[str], form: str) -> Iterator[str]:
    """The nearest name of each class, how far away, and whether a sentence or line ends between."""
    first = ""
    seen: set[str] = set()
    ended = ""
    for place, word in enumerate(before):
        if word in _BREAKS:
            ended = "|"
        if word in NAMING and word not in seen:
            seen.add(word)
            far = _BUCKETS[min(place, len(_BUCKETS) - 1)]
            yield f"d:{word}{far}{ended}"
            yield f"df:{word}{min(far, 5)}{ended}|{form}"
            if not first:
                first = word
                yield f"n:{word}{ended}|{form}"
                yield f"ns:{word}{far}{ended}"
                between = " ".join(before[:place][::-1]) if place <= 3 else "…"
                yield f"k:{word} {between}"
                yield f"kf:{between}|{form}"
                yield f"e:{word}{ended}|{before[0]}"
                yield f"ef:{word}{ended}|{before[0]}|{form}"
                yield from (f"n+:{word}{ended}{told}" for told in _TELLING.intersection(before))
                yield from (f"n-:{word}{ended}{told}" for told in _TELLING.intersection(after))
    if not seen & {"#secret", "#pin", "#once"}:
        yield f"none|{form}"
    for place, word in enumerate(after[:_NEXT]):
        if word in _BREAKS:
            break
        if word in NAMING:
            yield f"rd:{word}{min(place, 5)}"
            yield f"rdf:{word}|{form}{'' if first else '|only'}"
            break


def _told(before: Sequence[str], after: Sequence[str], form: str) -> Iterator[str]:
    """The words that tell what a name means, with whether they are of the same sentence or line."""
    for side, words in (("L", before), ("R", after)):
        ended = ""
        seen: set[str] = set()
        for word in words:
            if word in _BREAKS:
                ended = "|"
            if word in _TELLING and word not in seen:
                seen.add(word)
                yield f"{side}:{word}{ended}"
                yield f"{side}f:{word}{ended}|{form}"
            elif side == "R" and ended and word in NAMING and word not in seen:
                seen.add(word)
                yield f"R:{word}|"


def form_of(value: str) -> str:
    """The form of a value in one word."""
    if value.isdigit():
        return "pin" if len(value) <= 3 else "digits" if len(value) <= 8 else "number"
    if value.replace("-", "").replace(" ", "").isdigit():
        return "groups"
    if not value.isascii() and _HAN.search(value) and _ASCII.search(value):
        return "phrase" if any(c.isspace() for c in value) else "scripts"
    if value.isalpha():
        if not value.isascii() and is_cjk(value):
            return "numeral" if is_spoken(value) else "han"
        return "lower" if value.islower() else "upper" if value.isupper() else "word" if value.istitle() else "camel"
    if any(c.isspace() for c in value):
        return "drawn" if _is_drawn(value) else "phrase"
    for name, pattern in _FORMS:
        if pattern.fullmatch(value):
            return name
    if len(value) >= 16 and _HEX.fullmatch(value):
        return "hex"
    if _CODE.match(value):
        return "code"
    if value.isalnum():
        return "mixed" if len(value) < 16 else "long"
    if not any(c.isdigit() for c in value) and kinds(value) < 3:
        return "signs"
    return "strong" if len(value) < 20 else "random"


def _is_drawn(value: str) -> bool:
    """Whether signs stand in groups of one length, as programs show keys."""
    groups = value.split(" ")
    return (
        len({len(group) for group in groups[:-1]}) == 1
        and (value.islower() or value.isupper())
        and all(group.isalnum() for group in groups)
    )


def of_value(value: str, form: str) -> Iterator[str]:
    """The features of the value alone."""
    size = len(value)
    yield f"f:{form}"
    yield f"fl:{form}{min(size, 12) if size < 16 else 16 if size < 32 else 32 if size < 64 else 64}"
    if form == "hex":
        yield f"hex{size}"
    shape = _shape(value)
    if len(shape) <= 14:
        yield f"p:{shape}"
    yield f"p0:{shape[:3]}"
    yield f"p9:{shape[-2:]}"
    yield f"k:{kinds(value)}"
    yield f"t:{min(len(shape), 12)}"
    yield f"u:{min(10, 10 * len(set(value)) // size)}"
    yield f"head:{value[:2].lower()}"
    for sign in {c for c in value if not c.isalnum()}:
        yield f"c:{sign}"
    if size <= _LONGEST_NAMED and form not in _DRAWN:
        yield from (f"w:{word}" for word in {*Words(value).names} if word[0] == "#" and len(word) > 1)
    if form in _CLAUSES:
        yield from (f"h:{c}" for c in set(_HAN.findall(value)))
        yield f"h0:{value[:2]}"
        yield f"h9:{value[-2:]}"
    if value.isalpha():
        lowered = value.lower()
        yield f"v:{lowered}"
        yield f"vs:{lowered[-3:]}"
        yield f"vp:{lowered[:3]}"
        longest = max((len(run) for run in _CONSONANTS.findall(value)), default=0)
        yield f"cons:{min(longest, 6)}"
    else:
        letters = sum(c.isalpha() for c in value)
        digits = sum(c.isdigit() for c in value)
        yield f"ld:{min(letters, 8)}-{min(digits, 6)}"


def _shape(value: str) -> str:
    """``value`` with letters as ``a`` or ``A``, digits as ``0`` and repeats left out: ``Abc-12`` is ``Aa-0``."""
    shape: list[str] = []
    for c in value[:64]:
        kind = "0" if c.isdigit() else c if not c.isalpha() else "A" if c.isupper() else "a"
        if not shape or shape[-1] != kind:
            shape.append(kind)
    return "".join(shape)


def kinds(value: str) -> int:
    """Of how many kinds its characters are: lower case, upper case, digits, others."""
    return (
        any(c.islower() for c in value)
        + any(c.isupper() for c in value)
        + any(c.isdigit() for c in value)
        + any(not c.isalnum() for c in value)
    )
