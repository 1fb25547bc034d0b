"""Whether a statement can take another one's place at all, by the plainest words: a wrong yes hides or loses a fact.

It can not where it claims nothing, or nothing that is so instead: a supposition, a joke, a quotation, a text to be
translated or written, what was once, what is so as well. Nor can what somebody's brother has or does, nor that
something is not so which nobody said. The learnt judges (`app.classify.replaces`) have seen too few of these to tell
them from a change in other words. Where both are shown nothing is lost, so only what is plain is decided here, in the
languages that most examples are in.
"""

import re

from app.classify.changes import Words, differences, words_of

MAX_ALIGNED = 24
"""Words of each that are laid side by side."""
QUOTED_WORDS = 3
"""Fewer in quotation marks are a name."""
_SUPPOSED = re.compile(
    r"(?:^|[.!?]\s+)(?:if|wenn|falls|what if|(?:should|could|shall) (?:i|we)|gdyby|eğer|если бы)\b"
    r"|\b(?:imagine (?:that )?(?:i|we|my|our)|suppose (?:that )?(?:i|we|my|our)|supposing|let's say|what if|i wish"
    r"|i might|we might|whether|hypothetically|stell dir vor|angenommen|ob (?:ich|wir)|imaginez? que|imagina que"
    r"|supposons|supón|supongamos|ojalá|quizás?|tal vez|peut-être|immagina|supponiamo|suponha|представь(?:те)?"
    r"|допустим|stel je voor)\b"
    r"|如果|假如|假设|假設|要是|想象一下|想像一下|也许|也許|もし|仮に|かもしれ|만약|만일",
    re.IGNORECASE,
)
_NOT_MEANT = re.compile(
    r"\b(?:just kidding|only joking|just joking|nur scherz|kleiner scherz|je plaisante|es broma|scherzo"
    r"|шучу)\b|开玩笑|開玩笑|冗談|농담"
    r"|^\W*(?:(?:please|bitte|can you|could you) )*(?:translate|übersetz\w*|tradui\w*|traduce|traduci|traduza"
    r"|переведи\w*|przetłumacz)\b|\b(?:example|sample) sentence\b|beispielsatz"
    r"|\bin (?:my|the|a) (?:novel|story|dream|film|book)\b|\bim (?:roman|traum|film)\b"
    r"|翻译|翻譯|例句|小说里|小說裡|翻訳|번역"
    r"|^\W*(?:(?:please|bitte) )*(?:write|draft|schreib\w*|écris|écrivez|escribe|scrivi)\b[^.:]{0,40}:"
    r"|(?<!i )\b(?:said|says|wrote|writes|asked|asks|texted|sagte|schrieb|fragte|dijo|escribió|сказал\w*"
    r"|написал\w*)\b[^.:]{0,20}:|\b(?:asked|asks) (?:me |us )?(?:if|whether)\b",
    re.IGNORECASE,
)
_LAUGHED = re.compile(r"\b(?:haha\w*|lol)\b", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]*+)[\"“”»]|「([^「」]*+)」")
_ADDS = re.compile(
    r"\b(?:also|as well|auch|aussi|également|también|anche|também|тоже|также|też|również|ook)\b|\btoo[.!]*$|也|もまた",
    re.IGNORECASE,
)
_ONCE = re.compile(
    r"\b(?:used to|formerly|years ago|as a (?:child|kid)|früher|als kind|autrefois|раньше|kiedyś|vroeger)\b"
    r"|以前|曾经|曾經|小时候|小時候|예전에",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"\b(?:now\w*|any ?more|no longer|these days|today|since|instead|jetzt|nun|nicht mehr|heute|inzwischen|maintenant"
    r"|désormais|plus|ahora|ya no|adesso|ora|agora|теперь|сейчас|больше не|teraz|już|nu|niet meer|şimdi|artık)\b"
    r"|现在|現在|如今|以后|以後|改|换|換|今は|もう|지금|이제",
    re.IGNORECASE,
)
_NEGATIONS = frozenset(
    words_of(
        "not never don't doesn't isn't aren't won't nicht nie niemals pas jamais nunca не niet",
    ).keys
)
"""As words are compared: by how they begin."""
_RELATIVES = re.compile(
    r"(?:^|[.!?]\s+)(?:(?:and|but|und|aber|et|mais|y|pero) )?(?:my|our|mein\w*|unser\w*|mon|ma|mi|mio|mia|meu|minha"
    r"|мо[йя]|mój|moja|mijn)(?: \w+)?? (?P<who>wife|husband|girlfriend|boyfriend|fianc[eé]e?|son|daughter|brother"
    r"|sister|mother|mom|mum|father|dad|parents|grand(?:ma|pa|mother|father|parents)|niece|nephew|cousin|uncle|aunt|colleague"
    r"|friend|neighbou?r|bruder|schwester|mutter|vater|mama|papa|eltern|oma|opa|frau|mann|sohn|tochter|kollegin|kollege"
    r"|freundin|freund|nachbarin|nachbar|tante|onkel|frère|s[oœ]eur|mère|père|femme|mari|fils|fille|collègue|amie?"
    r"|voisine?|hermana|hermano|madre|padre|esposa|esposo|marido|hijo|hija|amiga|amigo|fratello|sorella|moglie|marito"
    r"|figlio|figlia|irmã|irmão|mãe|pai|filho|filha|брат|сестра|мама|папа|муж|жена|сын|дочь|друг|подруга|brat|siostra"
    r"|mąż|żona|syn|córka|broer|zus|moeder|vader|vrouw|man|zoon|dochter)(?!\w)"
    r"|(?:^|[。！？])我的?(?P<zh>哥哥?|弟弟?|姐姐?|妹妹?|妈妈?|媽媽?|爸爸?|母亲|母親|父亲|父親|妻子|老婆|丈夫|老公|儿子|兒子|女儿|女兒|朋友|同事)",
    re.IGNORECASE,
)


_OWNED = re.compile(
    r"(?:the |my |our )?(?!(?:it|that|there|here|what|let|he|she|who)['’])(?P<who>\w+)['’]s"
    r" (?:\w+(?:['’]s)? ){1,3}(?:is|are|was)\b",
    re.IGNORECASE,
)
_OURS = re.compile(r"(?:my|our|i|we|i['’]\w+|we['’]\w+)\b", re.IGNORECASE)
_HIS = re.compile(r"(?!(?:I|We|My|Our)\b)(?P<who>[A-Z]\w+) (?!.*\b(?:I|I['’]\w+|my|me|we|our|us)\b).*\b(?:his|her)\b")


def is_own(text: str) -> bool:
    """Whether nothing in ``text`` says that it is a joke, somebody else's words or something to work on. Linear."""
    return _NOT_MEANT.search(text) is None


def is_meant(text: str) -> bool:
    """Whether ``text``, of one sentence or many, is neither a joke, a quotation nor something to work on. Linear."""
    quoted = (found[1] or found[2] or "" for found in _QUOTED.finditer(text))
    return (
        is_own(text)
        and _LAUGHED.search(text) is None
        and all(
            len(words.split()) < QUOTED_WORDS and (words.isascii() or len(words) < 2 * QUOTED_WORDS) for words in quoted
        )
    )


def is_claim(statement: str) -> bool:
    """Whether a statement says what is so, and in the place of what was so. Linear."""
    stands_beside = _ONCE.search(statement) or _ADDS.search(statement)
    return (
        not (stands_beside and not _NOW.search(statement)) and not _SUPPOSED.search(statement) and is_meant(statement)
    )


def can_replace(earlier: str, later: str, before: Words, after: Words) -> bool:
    """Whether ``later`` may be about the same person, and does not only deny what nobody said."""
    return not _of_another(earlier, later) and not _denies_another(before, after, later)


def _of_another(earlier: str, later: str) -> bool:
    known = earlier.lower()
    who = [found["who"] or found["zh"] for found in _RELATIVES.finditer(later)]
    if _OURS.match(earlier):
        who += [found["who"] for found in (_OWNED.match(later), _HIS.match(later)) if found]
    return any(one.lower() not in known for one in who)


def _denies_another(before: Words, after: Words, later: str) -> bool:
    """Whether the same is said with a negation put in, and behind it of something else: "not allergic to walnuts"."""
    if not after.bag & _NEGATIONS or before.bag & _NEGATIONS or _NOW.search(later):
        return False
    blocks = differences(before.keys[:MAX_ALIGNED], after.keys[:MAX_ALIGNED])
    put_in = (n for n, (old, new) in enumerate(blocks) if old.start == old.stop and _NEGATIONS & set(after.keys[new]))
    negation = next(put_in, len(blocks))
    return any(
        old.start < old.stop and new.start < new.stop and not after.bag & set(before.keys[old])
        for old, new in blocks[negation + 1 :]
    )
