"""Passphrases of several plain words without quotes around them: ``Passphrase: copper lantern walks north``."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from app.policy.detector import Span
from app.policy.detectors.seed_phrases import JOINING
from app.policy.linear_patterns import Pattern
from app.policy.signs import names

_CALLED = (
    r"(?:pass ?phrase|(?:secret|security|safe|master|unlock|code) phrase|master password|masterpasswor[dt]|mot de passe maître|"
    r"(?:clave|contraseña) maestra|senha mestra|секретн(?:ая|ую|ой) фраз[ауые]|phrase de passe|phrase secrète|frase de (?:contraseña|paso|acceso)|frase secreta|frase[- ]senha|frase segreta"
    r"|парольн(?:ая|ую|ой) фраз[ауые]|кодов(?:ая|ую|ой) фраз[ауые])"
)
_IS = r"is|was|reads|lautet|ist|est|es|è|é|это"
_NAME = Pattern(
    rf"(?i){_CALLED}(?:[^\n.!?:=]{{0,40}}?|[^\n.!?:=]{{0,48}}[.!?] (?:mine|ours|it|meine|sie))"
    rf"(?P<sign>[:：=→]|->| [—–-] | (?:{_IS}) |['’]s | ?(?:是|为|為))\s{{0,3}}"
)
_COUNTED = Pattern(
    rf"(?i){_CALLED}[^\n.!?:=]{{0,100}}(?:(?P<sign>[:：=])|(?:words|wörter|wörtern|mots|palabras|palavras|parole|слов|слова)[,，])\s{{0,3}}"
)
"""``the passphrase is four plain words: ...``"""
_LOCKED = (
    r"vault|wallet|disk|drive|laptop|archive|container|volume|\bsafe\b|\bbackup|keepass|bitwarden|1password|luks|veracrypt|password manager|"
    r"tresor|platte|festplatte|archiv|coffre|disque|caja fuerte|cofre|disco|сейф|диск|архив"
)
_WITH = (
    rf"(?i)(?:{_LOCKED})[^\n.!?:]{{0,48}}?[ \t](?:opens?|opened|unlocks?|unlocked|decrypts?|decrypted|öffnet|entsperrt|s['’]ouvre|se abre|abre|открывается)[ \t]"
    r"[^\n.!?:]{0,20}?(?:with|by|to|mit|avec|con|com|фразой)[ \t]+"
)
_OPENS = Pattern(
    rf"{_WITH}(?:(?:the|my|this|our|dem|la|el|a|o)[ \t]+)?(?:(?:four|five|six|plain|secret)[ \t]+){{0,2}}"
    r"(?:(?:pass ?)?phrase|sentence|words|satz|wörtern|frase|palabras|palavras|mots)[ \t:：]{1,3}[\"'“]?"
)
_OPENS_WITH = Pattern(_WITH)
_SPOKEN = Pattern(
    r"(?i)\b(?:(?:secret|safe|security|telephone|phone|code|pass)[ -]?)?phrase[ \t]+(?:for|at|to)[ \t]+[^\n.!?:]{0,24}?"
    r"\b(?:alarm|bank|vault|safe|door|account|wallet|laptop|disk|server|support|gate|building|security|backup|drive|archive)\b[^\n.!?:]{0,24}?(?: is|[:=])\s{1,3}[\"'“]?"
)
_LETTER = "a-zà-öø-ÿа-яё"
_WORDS = re.compile(
    rf"([{_LETTER}]{{2,14}}(?:[ -][{_LETTER}]{{2,14}}){{2,9}})(?=[ \t]*(?:$|[-.,;!()\"”\n，。；！（）–—]))",
    re.MULTILINE,
)
_SENTENCE = re.compile(
    rf"([0-9A-ZÀ-Ö{_LETTER}'’]{{1,14}}(?: [0-9A-ZÀ-Ö{_LETTER}'’]{{1,14}}){{2,11}})(?=[ \t]*(?:$|[-.,;!()\"”\n，。；！（）–—]))",
    re.MULTILINE,
)
_REACH = 160
_LEAST_BEHIND_WORD = 4
"""Words at least behind a verb: a sentence goes on there, too."""
_LEAST_OF_SENTENCE = 5
_OTHER = (
    "a an to too very still now only also just kept stored saved written known shared same changed in on at of by so if up out optional asked needed hidden empty "
    "words word letters spaces"
)
_OPEN_VERBS = frozenset((" is ", "'s ", "’s ", " reads ", " lautet ", "是", " 是", "为"))
"""Behind these a phrase may have words that join a sentence, if none speaks about phrases."""
_STRONG = frozenset((None, ":", "：", "=", "→", "->", " — ", " – ", " - "))
"""Signs behind which no sentence goes on."""
_TELLING = (
    "used using written stored kept shown given sent known same described printed typed entered asked needed required chosen changed saved "
    "optional hidden empty default unknown provided generated derived lost forgotten safe secure long short hard easy impossible difficult "
    "words word letters spaces key keys code card button app face recognition fingerprint dongle yubikey badge touch or chose picked set "
    "until before after while because since will would can could has have had was were been being does did may might must should shall "
    "everyone nobody anybody somebody someone nothing everything anything something whatever problem responsibility "
    "below above following which who that it's you'll we user users"
)
"""Words of a sentence that speaks about a phrase."""
_OPENERS_TEXT = (
    "a an the this that your its some any each every both either mine same i you he she it we they here there part parts somewhere "
    "to too very still now only also just in on at of by so if up out for as from what how when where whatever not never always "
    "see ask use check enter type look open run call set make pick choose put write store keep do don't please"
)
_OPENERS = frozenset(_OPENERS_TEXT.split())
"""Words that sentences about a thing begin with, and phrases seldom."""
_ARTICLES = frozenset(("the", "your", "my", "his", "her", "der", "die", "das", "le", "la", "les", "el"))
"""A thing is opened with these as well: ``with the browser``."""
_OF_A_TIME = re.compile(r"(?i)\bof (?:the|this) (?:day|week|month|year|quarter|episode|game|show|campaign)\b")
"""Phrases that everybody hears."""
_AT_THE_HEAD = 2
"""Words among which a denial is the sentence's; later it may be the phrase's."""


def find(text: str) -> Iterator[Span]:
    """Three words at least to the end of the clause, none of which joins a sentence or speaks about passphrases; a whole
    sentence where something is opened with it."""
    yield from dict.fromkeys((*_behind_names(text), *_behind_what_opens(text)))


def _behind_names(text: str) -> Iterator[Span]:
    for pattern in (_NAME, _COUNTED):
        for match in pattern.finditer(text):
            start, end = match.span()
            if _OF_A_TIME.search(text, start, end):
                continue
            words = _WORDS.match(text, end, min(len(text), end + _REACH))
            said = re.split("[ -]", words[1]) if words else []
            least = 3 if match["sign"] in _STRONG else _LEAST_BEHIND_WORD
            is_open = match["sign"] in _STRONG or (match["sign"] or "").lower() in _OPEN_VERBS
            if words and len(said) >= least and (_saying().isdisjoint(said) or (is_open and _is_odd(said))):
                yield words.span(1)
                continue
            sentence = _SENTENCE.match(text, end, min(len(text), end + _REACH))
            if sentence and is_open and _is_odd(sentence[1].lower().split(), _LEAST_OF_SENTENCE):
                yield sentence.span(1)


def _behind_what_opens(text: str) -> Iterator[Span]:
    for pattern in (_OPENS, _SPOKEN, _OPENS_WITH):
        for _, end in pattern.spans(text):
            words = _SENTENCE.match(text, end, min(len(text), end + _REACH))
            said = words[1].lower().split() if words else []
            is_plain = pattern is _OPENS_WITH and (text[end : end + 1].isupper() or not _ARTICLES.isdisjoint(said))
            if words and not is_plain and _is_odd(said, 4 if pattern is _OPENS_WITH else 3):
                yield words.span(1)


def _is_odd(said: Sequence[str], least: int = _LEAST_BEHIND_WORD) -> bool:
    """Whether so many words are a phrase and no sentence about one, which denies something at its head, say."""
    return (
        len(said) >= least
        and _about().isdisjoint(said)
        and _denying().isdisjoint(said[:_AT_THE_HEAD])
        and said[0] not in _OPENERS
    )


@cache
def _saying() -> frozenset[str]:
    """Words of sentences, and of what is said about passphrases in them."""
    return JOINING.union(_OTHER.split(), names("talk", "not", "env", "fake", "secret", "is"))


@cache
def _about() -> frozenset[str]:
    """What tells that a sentence is about passphrases."""
    return frozenset(_TELLING.split()).union(names("talk", "env", "fake", "secret"))


@cache
def _denying() -> frozenset[str]:
    """Words that deny."""
    return frozenset(names("not"))


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_NAME, _COUNTED, _OPENS_WITH, _SPOKEN)
