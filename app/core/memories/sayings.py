"""What says a text again: word for word, or in the words of somebody who answers. Pure functions.

"You live in Berlin" says "I live in Berlin". "I do not live in Berlin", "My wife lives in Berlin" and "Did Ann call
Ben?" for "Ben, call Ann" share words with a text and do not say it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.text.sentences import ends_in_question, sentences
from app.text.wording import has_run, unescaped, wording
from app.text.words import STOP_WORDS, tokens

Words = frozenset[str]

_OTHER_WORDS = 2
"""A sentence that says a text may hold so many words more: a longer one says something else, too."""
_SHARE_NEAR_BY = 0.5
"""In the turn that a text comes from, the answer says it in fewer words ("Berlin, noted"): this share is enough."""
_FEW_WORDS = 2
"""A sentence of so few words in a longer text ("Ask Ben.") is said elsewhere, too, and means something else there."""
_TELLING_CHARS, _CODE_CHARS = 4, 6
LEAST_BYTES = 8
"""A shorter text stands within other words, too: it is not looked for byte by byte."""
_NEGATIONS = frozenset(
    """
    no not never nobody none nothing neither nor without cannot nicht kein keine keinen keinem keiner keines nie niemals
    ohne ne pas jamais sans nunca sin tampoco não nem non mai niet geen nooit не нет никогда
    """.split()  # noqa: SIM905 (a list of quoted words would hide the words)
)
_SPEAKERS = frozenset(
    "i me we us you ich mich mir wir uns du dich dir je j moi nous tu vous yo nosotros io eu".split()  # noqa: SIM905
)
_OWN = frozenset(
    """
    my mine our ours your yours mein meine meinen meinem meiner meines dein deine deinen deinem deiner unser unsere mon
    ma mes ton ta tes notre nos votre mi mis tus nuestro nuestra mio mia meu minha
    """.split()  # noqa: SIM905
)
_SWAPPED = {
    "i": "you",
    "me": "you",
    "my": "your",
    "mine": "yours",
    "am": "are",
    "m": "re",
    "you": "i",
    "your": "my",
    "yours": "mine",
    "are": "am",
    "re": "m",
}


class About(NamedTuple):
    """What the small words of a sentence change of what it says."""

    negated: bool
    speaks: bool
    """Whoever says it, or whom it is said to, speaks of themselves: "I", "you"."""
    owns: bool
    """Of what is theirs: "my", "your"."""

    def fits(self, sentence: "About") -> bool:
        """Whether the sentence neither denies what this one says, or the other way, nor speaks of somebody else."""
        if self.negated != sentence.negated:
            return False
        return sentence.speaks if self.speaks else not self.owns or sentence.speaks or sentence.owns


@dataclass(frozen=True, slots=True)
class Heard:
    """A sentence as it is compared. ``run`` are its words as they stand, ``words`` those that tell something."""

    words: Words
    run: tuple[str, ...]
    is_question: bool = False

    @property
    def about(self) -> About:
        """Whether it denies something, and of whom it speaks."""
        pairs = zip(("", *self.run), self.run, strict=False)
        negated = any(word in _NEGATIONS or (word == "t" and before.endswith("n")) for before, word in pairs)
        return About(negated, not _SPEAKERS.isdisjoint(self.run), not _OWN.isdisjoint(self.run))

    def answered(self) -> Iterator[tuple[str, ...]]:
        """Its words, and those of whom it is said to: "I" for "you". A question says nothing of the kind."""
        yield self.run
        if not self.is_question:
            said_of = tuple(_SWAPPED.get(word, word) for word in self.run)
            yield said_of
            if "you" in self.run:
                yield tuple("me" if was == "you" else word for was, word in zip(self.run, said_of, strict=True))


@dataclass(frozen=True, slots=True)
class Saying:
    """A sentence of a text that is looked for. ``everywhere``: it says enough to be known in other turns, too."""

    heard: Heard
    everywhere: bool

    def is_said(self, sentence: Heard) -> bool:
        """Whether a sentence says it, and next to nothing else."""
        if not (self.heard.words <= sentence.words or set(self.heard.run) <= set(sentence.run)):
            return False
        others = len(sentence.words - self.heard.words)
        is_short = others <= _OTHER_WORDS if len(self.heard.run) > 1 else not others
        return is_short and any(has_run(self.heard.run, run) for run in sentence.answered())

    def is_meant(self, sentence: Heard) -> bool:
        """Whether a sentence of the turn that it comes from says it: in another order, with other small words."""
        return says(self.heard.words, sentence.words) and self.heard.about.fits(sentence.about)


def words_of(text: str) -> Words:
    """The words by which sentences are compared."""
    words = bag_of(text)
    return words - STOP_WORDS or words


def bag_of(text: str) -> Words:
    """All words of a text."""
    return frozenset(tokens(unescaped(text)))


def heard(sentence: str) -> Heard:
    """A sentence as it is compared."""
    return Heard(words_of(sentence), wording(sentence).words, ends_in_question(sentence))


def sayings_of(text: str) -> list[Saying]:
    """The sentences of a text that are looked for elsewhere."""
    said = [one for one in map(heard, sentences(text)) if one.run]
    return [Saying(one, _is_known(one) if len(said) == 1 else _is_telling_apart(one)) for one in said]


def says(statement: Words, sentence: Words) -> bool:
    """Whether a sentence has all words of a statement, and not many others."""
    return statement <= sentence and len(sentence) <= 2 * len(statement) + _OTHER_WORDS


def echoes(statement: Words, sentence: Words) -> bool:
    """Whether a sentence of the turn that a statement comes from takes it up."""
    return len(statement & sentence) >= _SHARE_NEAR_BY * len(statement)


def is_telling(word: str) -> bool:
    """Whether a word is a name, a number or a code that says of itself what it is about."""
    return len(word) >= _TELLING_CHARS and any(character.isdigit() for character in word)


def is_long(run: Sequence[str]) -> bool:
    """Whether words are so long that they hardly stand within others by chance."""
    return len("".join(run).encode("utf-8", "replace")) >= LEAST_BYTES


def _is_known(one: Heard) -> bool:
    """Whether a text of one sentence is known when it stands within another one."""
    return len(one.run) > 1 or is_long(one.run) or is_telling(one.run[0])


def _is_telling_apart(one: Heard) -> bool:
    """Whether a sentence of a longer text says enough on its own."""
    return len(one.words) > _FEW_WORDS or any(map(_is_code, one.run))


def _is_code(word: str) -> bool:
    return len(word) >= _CODE_CHARS and is_telling(word) and any(character.isalpha() for character in word)
