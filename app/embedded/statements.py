"""What a sentence states, once a rule has recognised it (`app.embedded.rules`).

The key says what a statement is about, so that a later one about the same thing takes its place
(`app.embedded.records.merge`): the last noun of a preference, the pair in "A over B", the relation in "my manager is",
the subject in "Orion runs on". The functions take a rule's match and the whole sentence.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

from app.core.words import STOP_WORDS, tokens

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_EMPTY_OBJECTS = frozenset(["x", "that", "thing", "way", "idea", "know", "see", "think", "ask", "it"])
_NO_OCCUPATION = frozenset(
    [
        "bit",
        "little",
        "fan",
        "big",
        "huge",
        "lot",
        "tad",
        "person",
        "while",
        "kind",
        "sort",
        "bad",
        "good",
        "great",
        "new",
        "happy",
        "sad",
        "sure",
        "sorry",
        "glad",
    ]
)
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
    ]
)


@dataclass(frozen=True, slots=True)
class Statement:
    """What kind of statement, what about, where it is kept (below the memories), and how sure it is."""

    type: str
    key: str
    file: str
    title: str
    confidence: float


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


def _preference(key: str, confidence: float) -> Statement:
    return Statement("preference", f"preference.{key}", f"preferences/{key}.md", f"Preference: {key}", confidence)


def _profile(key: str, confidence: float) -> Statement:
    return Statement("profile", f"profile.{key}", "profile.md", "Profile", confidence)


def _entity(name: str, key: str, confidence: float) -> Statement:
    return Statement("fact", f"{slug(name)}.{key}", f"entities/{slug(name)}.md", name.strip(), confidence)


def prefer(match: re.Match[str], _: str) -> Statement | None:
    """A preference: about the context, the pair, or the kind of thing that is preferred."""
    groups = match.groupdict()
    chosen, other, context = groups["a"], groups.get("b"), groups.get("ctx")
    if context:
        return _preference(f"for-{slug(context, 3)}", 0.9)
    if other:
        return _preference("-or-".join(sorted((slug(chosen, 2), slug(other, 2)))), 0.9)
    return _preference(_head(chosen), 0.85)


def like(match: re.Match[str], _: str) -> Statement | None:
    """What someone likes or does not; None where it says nothing ("I like that")."""
    about = match["a"]
    if slug(about) in _EMPTY_OBJECTS:
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


def favourite(match: re.Match[str], _: str) -> Statement:
    """The best of its kind."""
    return _preference(f"favorite-{slug(match['topic'], 3)}", 0.9)


def named(key: str, confidence: float = 0.9) -> Callable[[re.Match[str], str], Statement | None]:
    """A fact of the profile that has a name of its own."""
    return lambda _match, _said: _profile(key, confidence)


def relation(match: re.Match[str], _: str) -> Statement:
    """A person or thing of the user's ("my manager is ...")."""
    return _profile(slug(match["what"], 3), 0.9)


def occupation(match: re.Match[str], _: str) -> Statement | None:
    """What the user is; None where "I am a ..." says something else ("a bit tired")."""
    words = [word for word in tokens(match["a"]) if word not in STOP_WORDS]
    return _profile("occupation", 0.7) if words and not _NO_OCCUPATION.intersection(words) else None


def fact(match: re.Match[str], _: str) -> Statement | None:
    """Something about a person or a project; None where the subject is no name."""
    name, verb = match["name"].strip(), match["verb"].lower()
    if name.split()[0].lower() in _NO_NAMES:
        return None
    kind = slug(match["a"], 3) if verb in {"is a", "is an", "是一个", "是一位", "是一名", "是个"} else slug(verb, 3)
    return _entity(name.removeprefix("The ").removeprefix("the ").removeprefix("Our ").removeprefix("our "), kind, 0.75)
