"""Is a value a secret, by what is said around it? A logistic regression, learnt by ``python -m training.secrets``.

"The password is ...", ``DB_PASSWORD=...``, ``mysql -p...``, ``密码是 ...``, a value in front of its name: there are too
many ways, in too many languages, for rules. So each value beside a word for secrets is judged by its form and by the
words around it (`app.policy.features`). A value without such a word near it is never judged: the forms of well-known
keys have rules of their own (`app.policy.detectors.vendors`).
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from app.policy.candidates import LONGEST, Candidate, candidates
from app.policy.card_numbers import beside_published, is_card
from app.policy.detector import Span, within
from app.policy.features import LEFT_WORDS, NAMING, OTHER, OWN, RIGHT_WORDS, form_of, of_context, of_value
from app.policy.fields import name_of, split_number
from app.policy.linear_patterns import Pattern
from app.policy.lists import listed_with
from app.policy.placeholders import is_placeholder
from app.policy.signs import Words, cue, cued

BEFORE_CHARS, BEHIND_CHARS = 40, 96
"""How far before and behind a word for secrets values are judged."""
SEGMENT_CHARS, AROUND_CHARS = 1_000, 160
"""Characters of a piece of text that is read at once, and how far around it words are read."""
_SHORT = frozenset({"pin", "digits"})
_NEVER = frozenset({"mail", "url", "advisory", "hotkey", "address", "package"})
_WORDS = frozenset({"lower", "word", "upper", "camel", "compound", "han"})
_NEAR = frozenset({"#secret", "#pin", "#command", "#call", "#answer"})
_NEAR_WORDS = 6
"""How near behind a name a plain word must stand to be judged: any word may follow later."""
_GENERAL = frozenset(("value", "default", "body", "data", "val", "content", "string", "literal"))
"""Names of fields that say nothing of what they hold: what names it stands before (``name: TOKEN``, ``value: ...``)."""
_SPACE = re.compile(r"\s")
_PUBLIC = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ ){0,4}(?:PUBLIC KEY(?: BLOCK)?|SIGNATURE|CERTIFICATE(?: REQUEST)?|X509 CRL)-----[^-]*"
    r"|\"(?:x|y|n|kid|x5t(?:#S256)?)\":\s{0,4}\"[\w.-]{1,1000}\""
    r"|\bdata:(?:image|font|audio|video)/[\w.+-]{1,40};base64,"
    r"|\b(?:peer|[Pp]ublic ?[Kk]ey)[ \t]{0,4}[:=][ \t]{0,4}[A-Za-z0-9+/]{43}=(?![\w=])"
    r"|(?:/9j/|iVBORw0KGgo|R0lGOD[dl]h|UklGR|PHN2Zy|d09G[Rm])[A-Za-z0-9+/]*(?:\r?\n[A-Za-z0-9+/]{57,})*"
)
"""What is made to be shown, armoured, as a field of a JWK, of WireGuard or in a page, and images and fonts in Base64,
with the long lines that follow: it stands beside the words for keys, and is drawn by a machine like one. A document may
hold keys."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with the words around it."""

    candidate: Candidate
    form: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    name: str = ""
    """The nearest word in front that names a value, as it is said."""
    field: str = ""
    """Whether it is the whole of a field that has such a name, or another's."""

    def value_features(self) -> Iterable[str]:
        """See `app.policy.features`."""
        return of_value(self.candidate.value, self.form)

    def context_features(self) -> Iterable[str]:
        """See `app.policy.features`."""
        return of_context(
            self.before, self.after, self.form, quoted=self.candidate.quoted, name=self.name, field=self.field
        )


@dataclass(frozen=True, slots=True)
class Model:
    """Weights of features; a sum above 0 is a secret's. Values that score less than ``least`` alone are never one."""

    bias: float
    least: float
    weights: dict[str, float]

    def sum(self, features: Iterable[str]) -> float:
        """What the features add to the log-odds."""
        get = self.weights.get
        return sum([get(feature, 0.0) for feature in features])


def find(text: str) -> Iterator[Span]:
    """Values that are told or set as passwords, PINs, keys or tokens, and the others of a list that one is in."""
    reached = 0
    for one in to_judge(text, model().least):
        if _value_score(one.candidate.value, one.form) + _context_score(one) > 0:
            found = (one.candidate.start, _with_key(text, one.candidate))
            yield found
            if found[1] > reached:
                for other in listed_with(text, *found):
                    yield other
                    reached = max(reached, other[1])


def _with_key(text: str, one: Candidate) -> int:
    """Where a value ends: digits for a keypad with the key that is pressed behind them (``3698#``)."""
    return one.end + (one.value.isdigit() and text[one.end : one.end + 1] in ("#", "*"))


def signs() -> Sequence[Pattern]:
    """Words for secrets: see `Detector`."""
    return (cue(),)


def to_judge(text: str, least: float | None = None) -> Iterator[Judged]:
    """The values near a word for secrets, with the words around each; without those that score below ``least``."""
    public = [match.span() for match in _PUBLIC.finditer(text)]
    samples: list[Span] | None = None
    for start, end in _segments(text):
        words = None
        for one in candidates(text, start, end):
            if public and within(public, one.start):
                continue
            form = _form(one.value, one.quoted)
            if (least is not None and _value_score(one.value, form) < least) or is_placeholder(one.value):
                continue
            if form in _NEVER or is_card(one.value):
                continue
            if form in _SHORT:
                samples = beside_published(text) if samples is None else samples
                if within(samples, one.start):
                    continue
            words = words or Words(text, max(0, start - AROUND_CHARS), end + AROUND_CHARS)
            named = _name_in_field(text, one)
            own = named is not None and not NAMING.isdisjoint(named.names)
            around = named if named is not None and own else words
            before = around.before(one.start, LEFT_WORDS)
            if form in _WORDS and _NEAR.isdisjoint(before[:_NEAR_WORDS]):
                continue
            name = around.nearest(one.start, LEFT_WORDS, NAMING)
            yield Judged(
                one,
                form,
                tuple(before),
                tuple(around.behind(one.end, RIGHT_WORDS)),
                name,
                OWN if own else OTHER if named else "",
            )


def _name_in_field(text: str, one: Candidate) -> Words | None:
    """The words of a field's own name, without its number (``DB_PASSWORD_2``): where that names a secret, what stands
    beside the field says nothing. All of them stand before ``one``. None when ``one`` is not the whole of a field with
    a name of its own."""
    begins = name_of(text, one.start, one.end)
    if begins is None:
        return None
    name, signs = split_number(text[begins : one.start])
    return None if name.lower() in _GENERAL or name.endswith("-value") else Words(name + signs)


def _segments(text: str) -> Iterator[Span]:
    """The stretches in pieces, each of whole runs of signs: words are read only around those that need it."""
    for start, end in _stretches(text):
        while end - start > 2 * SEGMENT_CHARS:
            space = _SPACE.search(text, start + SEGMENT_CHARS, end)
            if space is None:
                break
            yield start, space.start()
            start = space.start()
        yield start, end


def _stretches(text: str) -> Iterator[Span]:
    """Where values are judged: around words for secrets, up to where the first and the last run of signs ends."""
    reached = 0
    for start, end in cued(text, BEFORE_CHARS, BEHIND_CHARS):
        start = max(start, reached)
        limit = max(reached, start - LONGEST)
        while start > limit and not text[start - 1].isspace():
            start -= 1
        if end > start:
            closing = _SPACE.search(text, end, end + LONGEST)
            reached = closing.start() if closing else min(len(text), end + LONGEST)
            yield start, reached


@lru_cache(maxsize=8192)
def _form(value: str, quoted: bool) -> str:
    form = form_of(value) if len(value) <= LONGEST else "long"
    return "clause" if form == "han" and not quoted else form


@lru_cache(maxsize=8192)
def _value_score(value: str, form: str) -> float:
    if len(value) > LONGEST:
        return -100.0
    return model().bias + model().sum(of_value(value, form))


def _context_score(one: Judged) -> float:
    return _score_of_words(one.before, one.after, one.form, one.candidate.quoted, one.name, one.field)


@lru_cache(maxsize=2048)
def _score_of_words(
    before: tuple[str, ...], after: tuple[str, ...], form: str, quoted: bool, name: str, field: str
) -> float:
    return model().sum(of_context(before, after, form, quoted=quoted, name=name, field=field))


@cache
def model() -> Model:
    """The weights that ship with the package."""
    data = json.loads((files("app.policy") / "weights" / "told.json").read_text(encoding="utf-8"))
    return Model(data["bias"], data["least"], data["weights"])
