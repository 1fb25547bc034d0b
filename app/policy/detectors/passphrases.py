"""Passphrases of several plain words without quotes around them: ``Passphrase: copper lantern walks north``."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from app.policy.detector import Span
from app.policy.detectors.seed_phrases import JOINING
from app.policy.linear_patterns import Pattern
from app.policy.signs import names
from app.text.scripts import CJK

_CALLED = (
    r"(?:pass ?phrase|(?:secret|security|safe|master|unlock|code) phrase|master password|masterpasswor[dt]|mot de passe maître|"
    r"(?:clave|contraseña) maestra|senha mestra|секретн(?:ая|ую|ой) фраз[ауые]|phrase de passe|phrase secrète|frase de (?:contraseña|paso|acceso)|frase secreta|frase[- ]senha|frase segreta"
    r"|парольн(?:ая|ую|ой) фраз[ауые]|кодов(?:ая|ую|ой) фраз[ауые]|主密[码碼]|主口令|(?:密[码碼]|口令)短[语語])"
)
_IS = r"is|was|reads|lautet|ist|est|es|è|é|это"
_BECAME = r" (?:(?:is|was|has been|got) )?(?:now|changed to|reset to) "
_CHANGES = ("now ", "to ")
"""Ends of those signs: a passphrase may also be changed to something that is no phrase."""
_HAN_IS = r" ?(?:[改换換设設变變定][成为為]了?|设置为|設置為|是|为|為)"
_NAME = Pattern(
    rf"(?i){_CALLED}(?:[^\n.!?:=]{{0,40}}?|[^\n.!?:=]{{0,48}}[.!?] (?:mine|ours|it|meine|sie))"
    rf"(?P<sign>[:：=→]|->| [—–-] |{_BECAME}| (?:{_IS}) |['’]s |{_HAN_IS})\s{{0,3}}"
)
_HAN_NAME = Pattern(rf"(?:密[码碼]|口令|暗[号號])[^\n。！？：:=，,]{{0,12}}?(?P<sign>[:：=]|{_HAN_IS})\s{{0,3}}")
"""Behind a common name only words of two scripts are taken: no sentence has spaces between them all."""
_HAN_NAMES = Pattern("密[码碼]|口令|暗[号號]")
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
_SAID_TO_BE = Pattern(
    r"(?i)\b(?:pass ?phrase|pass ?word|pass ?code|code ?phrase)(?:['’]s| is| was| =)[ \t](?:now |just |simply )?(?:a|an|one|the|this|that)[ \t]"
    r"(?:[a-z]{2,12} ){0,2}?(?:sentence|line|verse|phrase|lyric|poem|proverb|rhyme|saying)\b[^\n.!?:\"“”]{0,32}?(?:[ \t]?[:—][ \t]{0,2}[\"“']?|[ \t][\"“])"
)
"""``the password is a line of a song: ...``"""
_LETTER = "a-zà-öø-ÿа-яё"
_AGREED = Pattern(
    r"(?i)\b(?:(?:safe|code|secret|duress|family|collection|pick-?up)[ -]?(?:word|password|phrase)|abhol(?:kenn|pass)wort|codewort"
    r"|mot convenu|mot de passe familial|palabra (?:clave|secreta))\b[^\n.!?:]{0,64}?(?P<sign>[:=]| is |['’]s | ist | est | es )[ \t]{0,2}[\"'“]?"
)
"""What people agree on, to be said: two words are enough there."""
_AGREED_NAMES = Pattern(
    r"(?i)(?:safe|code|secret|duress|family|collection|pick-?up)[ -]?(?:word|phrase)|codewort|mot convenu|mot de passe|palabra |abholkenn"
)
_FEW = re.compile(
    rf"([{_LETTER}]{{2,14}}(?:[ -][{_LETTER}]{{2,14}}){{1,3}})(?=[ \t]*(?:$|[.,;!)\"”\n，。；！）–—]))", re.MULTILINE
)
_PASS = Pattern(r"(?i)pass ?(?:word|phrase|code)|code ?phrase")
_WORDS = re.compile(
    rf"([{_LETTER}]{{2,14}}(?:[ -][{_LETTER}]{{2,14}}){{2,9}})(?=[ \t]*(?:$|[-.,;!()\"”\n，。；！（）–—]))",
    re.MULTILINE,
)
_SENTENCE = re.compile(
    rf"([0-9A-ZÀ-Ö{_LETTER}'’]{{1,14}}(?: [0-9A-ZÀ-Ö{_LETTER}'’]{{1,14}}){{2,11}})(?=[ \t]*(?:$|[-.,;!()\"”\n，。；！（）–—]))",
    re.MULTILINE,
)
_MIXED = re.compile(
    rf"((?:[A-ZÀ-Ö{_LETTER}'’]{{1,14}}|[{CJK}]{{1,8}})(?: (?:[A-ZÀ-Ö{_LETTER}'’]{{1,14}}|[{CJK}]{{1,8}})){{2,9}})(?=[ \t]*(?:$|[-.,;!()\"”\n，。；！、（）–—]))",
    re.MULTILINE,
)
_IS_CJK = re.compile(f"[{CJK}]")
_HAN_TELLING = re.compile(
    "^[的了是和或跟就也再用把被从從给給让讓在看问問见見请請都]$|[的了吗嗎呢里裡上]$|^[请請把被从從给給让讓见見问問用]|[设設]|[换換]|[存]|登[录錄]|加密|解[锁鎖]|生成|"
    "以[前后後上下]|之[前后後]|一[样樣]|需要|必[须須]|可以|不能|都要|[说說]明|字段|[参參][数數]|密[码碼]|口令|用[户戶]|默[认認]|配置|服[务務]|系[统統]|版本|至少|管理|[长長]度|[随隨][机機]|[团團][队隊]|[环環]境|如果|因[为為]|所以"
)
"""Words of a sentence that speaks about a password, where there are spaces around what is English in it."""
_REACH = 160
_LEAST_BEHIND_WORD = 4
"""Words at least behind a verb: a sentence goes on there, too."""
_LEAST_OF_SENTENCE = 5
_OTHER = (
    "a an to too very still now only also just kept stored saved written known shared same changed in on at of by so if up out optional asked needed hidden empty "
    "words word letters spaces"
)
_OPEN_VERBS = frozenset((" is ", "'s ", "’s ", " reads ", " lautet "))
"""Behind these a phrase may have words that join a sentence, if none speaks about phrases."""
_STRONG = frozenset((None, ":", "：", "=", "→", "->", " — ", " – ", " - "))
"""Signs behind which no sentence goes on."""
_TELLING = (
    "used using written stored kept shown given sent known same described printed typed entered asked needed required chosen changed saved defaults "
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
_MAY_BEGIN_TEXT = "a an the my some i you he she we they in on at of by so if up out as from when where never all"
_MAY_BEGIN = frozenset(_MAY_BEGIN_TEXT.split())
"""Of these, what a phrase may begin with that is called a sentence."""
_ARTICLES = frozenset(("the", "your", "my", "his", "her", "der", "die", "das", "le", "la", "les", "el"))
"""A thing is opened with these as well: ``with the browser``."""
_OF_A_TIME = re.compile(r"(?i)\bof (?:the|this) (?:day|week|month|year|quarter|episode|game|show|campaign)\b")
"""Phrases that everybody hears."""
_AT_THE_HEAD = 2
"""Words among which a denial is the sentence's; later it may be the phrase's."""
_LEAST_LATIN = 2
_TELLING_LATIN_TEXT = "one ones please longer stronger team thanks scan factor open then random press click pipeline deploy hash file page wiki"
_TELLING_LATIN = frozenset(_TELLING_LATIN_TEXT.split())
"""More words of such a sentence, where it has words of two scripts."""


def find(text: str) -> Iterator[Span]:
    """Three words at least to the end of the clause, none of which joins a sentence or speaks about passphrases; a whole
    sentence where something is opened with it."""
    yield from dict.fromkeys(
        (*_behind_names(text), *_of_two_scripts(text), *_said_to_be(text), *_behind_what_opens(text), *_agreed(text))
    )


def _behind_names(text: str) -> Iterator[Span]:
    for pattern in (_NAME, _COUNTED):
        for match in pattern.finditer(text):
            start, end = match.span()
            if _OF_A_TIME.search(text, start, end):
                continue
            words = _WORDS.match(text, end, min(len(text), end + _REACH))
            said = re.split("[ -]", words[1]) if words else []
            least = 3 if match["sign"] in _STRONG else _LEAST_BEHIND_WORD
            is_open = match["sign"] in _STRONG or _is_open_verb(match["sign"] or "")
            became = (match["sign"] or "").lower().endswith(_CHANGES)
            is_free = _saying().isdisjoint(said) and not (became and not _about().isdisjoint(said))
            if words and len(said) >= least and (is_free or (is_open and _is_odd(said))):
                yield words.span(1)
                continue
            sentence = _SENTENCE.match(text, end, min(len(text), end + _REACH))
            if sentence and is_open and _is_odd(sentence[1].lower().split(), _LEAST_OF_SENTENCE):
                yield sentence.span(1)


def _of_two_scripts(text: str) -> Iterator[Span]:
    """Words with spaces between, some in Latin letters and some in another script: ``blue 鲸鱼 eats 火锅``."""
    if text.isascii():
        return
    for pattern in (_NAME, _HAN_NAME):
        for _, end in pattern.spans(text):
            words = _MIXED.match(text, end, min(len(text), end + _REACH))
            said = words[1].split(" ") if words else []
            latin = [word for word in said if not _IS_CJK.match(word)]
            is_told = len(said) >= _LEAST_BEHIND_WORD and _LEAST_LATIN <= len(latin) < len(said)
            if words and is_told and not any(map(_HAN_TELLING.search, said)) and _is_plain(latin):
                yield words.span(1)


def _is_plain(words: Sequence[str]) -> bool:
    """Whether none is an abbreviation, or a word of a sentence that speaks about phrases."""
    small = [word.lower() for word in words]
    has_short = any(len(word) > 1 and word.isupper() for word in words)
    return not has_short and _TELLING_LATIN.isdisjoint(small) and _is_odd(small, _LEAST_LATIN)


def _said_to_be(text: str) -> Iterator[Span]:
    for _, end in _SAID_TO_BE.spans(text):
        words = _SENTENCE.match(text, end, min(len(text), end + _REACH))
        said = words[1].lower().split() if words else []
        is_told = len(said) >= _LEAST_BEHIND_WORD and said[0] not in _OPENERS - _MAY_BEGIN
        if words and is_told and _about().isdisjoint(said) and _denying().isdisjoint(said[:_AT_THE_HEAD]):
            yield words.span(1)


def _is_open_verb(sign: str) -> bool:
    return sign.lower() in _OPEN_VERBS or _IS_CJK.search(sign) is not None


def _behind_what_opens(text: str) -> Iterator[Span]:
    for pattern in (_OPENS, _SPOKEN, _OPENS_WITH):
        for _, end in pattern.spans(text):
            words = _SENTENCE.match(text, end, min(len(text), end + _REACH))
            said = words[1].lower().split() if words else []
            is_plain = pattern is _OPENS_WITH and (text[end : end + 1].isupper() or not _ARTICLES.isdisjoint(said))
            if words and not is_plain and _is_odd(said, 4 if pattern is _OPENS_WITH else 3):
                yield words.span(1)


def _agreed(text: str) -> Iterator[Span]:
    for match in _AGREED.finditer(text):
        end = match.span()[1]
        words = _FEW.match(text, end, min(len(text), end + _REACH))
        said = re.split("[ -]", words[1].lower()) if words else []
        if words and _is_odd(said, 2) and _saying().isdisjoint(said):
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
    return (_NAME, _COUNTED, _OPENS_WITH, _SPOKEN, _HAN_NAMES, _PASS, _AGREED_NAMES)
