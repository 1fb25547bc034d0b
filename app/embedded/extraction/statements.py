"""What a sentence states, once a rule has recognised it (`app.embedded.extraction.rules`).

The key says what a statement is about, so that a later one about the same thing takes its place
(`records.merge`): the last noun of a preference, the pair in "A over B", the relation in "my manager is",
the subject in "Orion runs on". The functions take a rule's match and the whole sentence.
"""

import hashlib
import re
from dataclasses import dataclass

from app.embedded.extraction.lexicon import CORRECTS, PASSING
from app.embedded.extraction.values import taste
from app.embedded.storage.record_versions import ANY, Claim
from app.text.words import STOP_WORDS, tokens

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_EMPTY_OBJECTS = frozenset(["x", "that", "thing", "way", "idea", "know", "see", "think", "ask", "it"])
_NO_NAMES = frozenset(
    [
        "i",
        "it",
        "this",
        "that",
        "there",
        "here",
        "he",
        "she",
        "they",
        "we",
        "you",
        "what",
        "who",
        "which",
        "the-thing",
        "everything",
        "something",
        "nothing",
        "today",
        "tomorrow",
        "yesterday",
        "my",
        "your",
        "his",
        "her",
        "their",
        "its",
        "yes",
        "no",
        "ok",
        "so",
        "and",
        "but",
        "if",
        "when",
        "then",
        "also",
        *[
            "现在",
            "目前",
            "以后",
            "今天",
            "明天",
            "昨天",
            "大家",
            "我们",
            "你们",
            "他们",
            "这里",
            "那里",
            "这个",
            "那个",
            "我的",
            "其实",
        ],
    ]
)


_POINTING = frozenset(
    [
        "this",
        "that",
        "these",
        "those",
        "your",
        "his",
        "her",
        "their",
        "it",
        "them",
        "him",
        "you",
        "if",
        "when",
        "it's",
        "that's",
    ]
)
"""First words of a choice that only a listener understands."""
_SHORT_CHOICE = 4
"""Words up to which a choice is one thing ("the dark theme")."""
_IS = frozenset(["is a", "is an", "是一个", "是一个", "是一位", "是一名", "是个"])
_IS_OURS = frozenset(["is our", "is the", "is my", "是我们的", "是我們的", "是我的"])
_ONE_VALUE = frozenset(
    [
        "lives in",
        "works at",
        "works for",
        "works as",
        "runs on",
        "runs in",
        "runs at",
        "listens on",
        "is due",
        "is owned by",
        "is written in",
        "is hosted on",
        "is hosted at",
        "is deployed on",
        "was moved to",
        "moved to",
        "住在",
        "运行在",
        "運行在",
        "部署在",
        "的负责人是",
        "的負責人是",
        "的端口是",
        "的截止日期是",
    ]
)
"""What a thing has one of at a time; it uses, owns and depends on many."""
_TELLING = re.compile(r"(?:an? |the |on |port |version |at )*(?:[A-Z]|\S*\d)")
"""A name or a number: "runs on port 9100", not "runs on time"."""
_NOUN_END = re.compile(r"[,.;]| (?:for|in|on|at|of|with|that|which|now|and|but|not|since)\b")


@dataclass(frozen=True, slots=True)
class Statement:
    """What kind of statement, what about, where it is kept (below the memories), and how sure it is."""

    type: str
    key: str
    file: str
    title: str
    confidence: float
    claim: Claim = ANY


def slug(text: str, words: int = 6) -> str:
    """A short file name or key part that says what ``text`` is about; letters of any script."""
    if text.isascii():
        every = _ASCII_WORD.findall(text.lower())
        telling = [word for word in every if word not in STOP_WORDS] or every
        name = "-".join(telling[:words])[:60]
    else:
        name = "".join(character for character in text if character.isalnum())[: words * 3].lower()
    return name or hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def event(kind: str, said: str, day: str, confidence: float) -> Statement:
    """What was decided, or happened, on a day."""
    name = slug(said)
    title = f"{day} {kind}"
    return Statement(kind, f"{kind}.{day}.{name}", f"events/{day.replace('-', '/')}/{name}.md", title, confidence)


def _preference(key: str, confidence: float, claim: Claim = ANY) -> Statement:
    title = f"Preference: {key}"
    return Statement("preference", f"preference.{key}", f"preferences/{key}.md", title, confidence, claim)


def _entity(name: str, key: str, claim: Claim) -> Statement:
    return Statement("fact", f"{slug(name)}.{key}", f"entities/{slug(name)}.md", name.strip(), 0.75, claim)


def prefer(match: re.Match[str], said: str) -> Statement | None:
    """A preference: about the context, the pair, or the kind of thing that is preferred."""
    groups = match.groupdict()
    chosen, other, context = groups["a"], groups.get("b"), groups.get("ctx")
    first = chosen.split(" ", 1)[0].lower()
    if first in _POINTING or PASSING.search(match.group()):
        return None
    if first == "not":
        return _preference(slug(f"not {chosen}", 4), 0.9)
    if context:
        certain = bool(CORRECTS.search(said)) or f" for {context}" in match.group()
        return _preference(f"for-{slug(context, 3)}", 0.9, Claim(replaces=certain))
    if other:
        return _preference("-or-".join(sorted((slug(chosen, 2), slug(other, 2)))), 0.9)
    return _preference(_head(chosen), 0.85, Claim(replaces=len(chosen.split()) <= _SHORT_CHOICE))


def like(match: re.Match[str], _: str) -> Statement | None:
    """What someone likes or does not; None where it says nothing ("I like that")."""
    about = match["a"]
    if slug(about) in _EMPTY_OBJECTS or PASSING.search(match.string[match.start() : match.end() + 20]):
        return None
    return _preference(slug(about, 3), 0.8)


def _head(phrase: str) -> str:
    """What a choice is about: the last word of several ("dark theme"), or the last two Chinese characters."""
    phrase = phrase.strip()
    if not phrase.isascii():
        letters = "".join(character for character in phrase if character.isalnum())
        return letters[-2:] if len(letters) >= 4 else letters
    telling = [token for token in tokens(phrase) if token not in STOP_WORDS]
    return slug(telling[-1]) if telling else slug(phrase)


def habit(match: re.Match[str], said: str) -> Statement:
    """How someone always does a thing, or wants it done."""
    return _preference(slug(match.groupdict().get("a") or said, 4), 0.85)


def favourite(match: re.Match[str], said: str) -> Statement | None:
    """The best of its kind; None for how it fares ("my favourite mug is broken")."""
    best = taste(said[match.end() :].lstrip())
    if not best or PASSING.search(said[match.end() :]):
        return None
    return _preference(f"favorite-{slug(match['topic'], 3)}", 0.9, Claim(value=best))


def fact(match: re.Match[str], said: str) -> Statement | None:
    """Something about a person or a project; None where the subject is no name, or it holds for the moment only."""
    name, verb, value = match["name"].strip(), match["verb"].lower(), match["a"].strip()
    if name.split()[0].lower() in _NO_NAMES or PASSING.search(said):
        return None
    corrects = bool(CORRECTS.search(said))
    if verb in _IS:
        key, claim = slug(value, 3), ANY
    elif verb in _IS_OURS:
        key, claim = f"{slug(verb, 3)}-{_head(_NOUN_END.split(value, maxsplit=1)[0])}", ANY
    else:
        key = slug(verb, 3)
        told = verb in _ONE_VALUE and bool(_TELLING.match(value) or not value.isascii())
        claim = Claim(replaces=corrects or told) if verb not in _ONE_VALUE or told else Claim(replaces=False)
    return _entity(name.removeprefix("The ").removeprefix("the ").removeprefix("Our ").removeprefix("our "), key, claim)
