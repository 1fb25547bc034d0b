"""Which lines of a message are its author's own words, and which only stand in it: pasted, quoted, to be worked on.

Told by structure: code, quotations, pairs of tags, the headers of a mail, lines that begin with a time and a name, and
what follows a request about a text. What has an end of its own is left out up to there, and what has none to the end
of the message: whoever wrote it must not be able to end it. Linear in the text.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice

from app.classify.classifier import TASK_FROM, ByWords
from app.text.markdown import with_code_marked
from app.text.remember import asks_to_remember

LEFT_OUT = "…"
"""Stands where something was that is not the author's."""
_LEAST_WORDS = 3
"""Fewer in quotation marks or between tags are a name."""
_MOST_READ = 300
"""Of a line that may be a request, at its end."""

_QUOTED = re.compile(
    r"(?P<mark>\"\"\"|''')(?P<block>[\s\S]*?)(?P=mark)"
    r'|(?<![^\s(\[:：,，])"(?=\S)(?P<straight>[^"]*+)"|[“„«](?P<curved>[^“”„«»]*+)[“”»]|「(?P<corner>[^「」]*+)」'
    r"|(?<![^\s(\[:：,，])['‘‚](?=\S)(?P<single>(?:[^'‘’\n]|(?<=\w)['’](?=\w))*+)['’](?!\w)"
)
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)|[。！？\n]")
_TAG = re.compile(r"[<\[](?P<close>/)?(?P<name>[A-Za-z][\w.:-]{0,40})(?:[\s=][^<>\[\]]{0,400})?[>\]]")
_OWN_ELEMENT = re.compile(
    r"(?:p|div|span|b|i|em|strong|u|s|a|ul|ol|li|h[1-6]|font|small|mark|sub|sup)\Z|(?:user|human|query|prompt|question)",
    re.IGNORECASE,
)
"""Tags that only dress words, or say that the user wrote them."""

_HEADER = re.compile(
    r"[ \t*]{0,8}(?P<key>from|to|cc|bcc|subject|date|sent|reply-to|von|an|betreff|gesendet|datum|de|à|para|objet|asunto"
    r"|assunto|envoyé|enviado|oggetto|onderwerp|от|кому|тема|发件人|發件人|收件人|主题|主旨|抄送|日期|发送时间|件名|差出人|宛先)"
    r"\*{0,2}[ \t]{0,4}[:：]",
    re.IGNORECASE,
)
_SUBJECTS = frozenset(
    ["subject", "betreff", "objet", "asunto", "assunto", "oggetto", "onderwerp", "тема", "主题", "主旨", "件名"]
)
_FORWARDED = re.compile(r"[ \t]{0,8}-{4,}[ \t]*[^\W\d_][^\n-]{2,40}-{4,}[ \t]*")

_NAME = r"@?(?=[^\W\d_a-zà-ÿ])[\w.'’-]{1,30}(?: [\w.'’-]{1,24}){0,3}"
_MOMENT = (
    r"(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}[ ,T]{1,3})?\d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp]\.?[Mm]\.?)?"
    r"(?: ?(?:UTC|GMT|Z)\b)?"
)
_CHAT_LINE = re.compile(
    rf"[ \t]{{0,8}}(?:[\[(]?{_MOMENT}[\])]?[ \t]{{0,3}}(?:[-–|,][ \t]{{0,2}})?<?{_NAME}>?"
    rf"|{_NAME}(?:,? [\[(]{_MOMENT}[\])]|, {_MOMENT}))"
    r"(?:[:：]|(?<=>))\s*\S"
)
_CHAT_HEADER = re.compile(
    rf"[ \t]{{0,8}}(?:{_NAME},?[ \t]{{1,4}}[\[(]?{_MOMENT}[\])]?|[\[(]?{_MOMENT}[\])]? {_NAME}):?\s*"
)

_TEXTS = (
    r"(?:e-?mails?|mails?|letters?|messages?|texts?|articles?|posts?|tweets?|reviews?|comments?|documents?|docs?|paragraphs?"
    r"|passages?|essays?|transcripts?|abstracts?|reports?|pages?|snippets?|excerpts?"
    r"|repl(?:y|ies)|story|speech|statements?|briefe?|nachricht|artikel|absatz|dokument|beitrag|kommentar|courriel"
    r"|lettre|texte|correo|carta|mensaje|texto|artículo|lettera|messaggio|testo|письмо|текст\w?|сообщение|статью)"
)
_POINTED = re.compile(
    r"\b(?:this|these|following|attached|pasted|diese[mnrs]?|folgende[mnrs]?|cet|cette|ce|suivante?|est[ea]|siguiente"
    rf"|quest[oa]|seguente|dit|deze|volgende|эт\w{{1,2}}|следующ\w{{2,3}})\s+(?:[\w'’-]{{1,20}}\s+){{0,3}}{_TEXTS}\b"
    rf"|\b{_TEXTS}\s+(?:[\w'’-]{{1,20}}\s+){{0,2}}(?:below|unten|ci-dessous|abajo|ниже)\b"
    r"|(?:这|這|以下|下面|下列|この|次の|다음|아래)[^。！？\n]{0,12}?"
    r"(?:邮件|郵件|信|文章|文本|文字|段|消息|短信|内容|文档|メール|文|메일|글)",
    re.IGNORECASE,
)
_WORKED_ON = re.compile(
    r"(?:^|[.!?]\s)\W{0,4}(?:(?:please|bitte|can you|could you|now|then|hi|hey|hello)[ ,]+){0,3}"
    r"(?:summari[sz]e|translate|proofread|rewrite|rephrase|paraphrase|reword|shorten|polish"
    r"|(?:correct|answer|reply|respond)\b(?!\s*[:：])|tl;?dr|fix the (?:typos|grammar)|übersetz\w*|fass|korrigier\w*"
    r"|antworte|résum\w*|tradui\w*|corrig\w*|réponds|traduc\w*|responde\w*|перевед\w*|przetłumacz)\b"
    r"|翻译|翻譯|总结|總結|概括|润色|潤色|改写|改寫|校对|校對|回复|回覆|要約|翻訳|번역|요약",
    re.IGNORECASE,
)
_MEANS = re.compile(
    r"\b(?:this|it|these) (?:means?|says?)\b|was (?:heißt|bedeutet) das|什么意思|什麼意思", re.IGNORECASE
)
_COLON = re.compile(r"[:：](?=\s+\S)|：(?=\S)")
_GREETING = re.compile(
    r"[ \t]{0,8}[^\W\d_][\w.'’-]{0,30}(?: [\w.'’-]{1,30}){0,4} ?[,!，！]\s*|[^\x00-\x7f]{1,10}[：:]\s*"
)
"""How a letter begins and ends: a few words and a comma on a line of their own."""

_SALUTATION = re.compile(r"[ \t]{0,8}(?![a-zà-ÿ])[^\W\d_][\w.'’-]{0,30}(?: [\w.'’-]{1,30}){0,4} ?[,，]\s*")
"""Nobody who did not greet first greets within a message: who does is somebody else."""


def own_words(text: str) -> list[str]:
    """The lines of ``text`` that its author wrote as their own words, in order, without blank ones.

    `LEFT_OUT` stands within a line for a quotation in it.
    """
    text = _without_quotations(_without_elements(with_code_marked(text.replace("\r\n", "\n"), LEFT_OUT)))
    lines = [LEFT_OUT if line.lstrip().startswith(">") else line for line in text.split("\n")]
    lines = _before_a_mail(lines)
    lines = _without_talk(lines)
    return [line for line in _beside_a_text(lines) if line.strip() and line.strip() != LEFT_OUT]


def only_introduces(sentence: str) -> bool:
    """Whether a sentence of `own_words` ends in what was left out, so that only whose it is is told."""
    return sentence.endswith((f": {LEFT_OUT}", f"：{LEFT_OUT}", f":{LEFT_OUT}"))


def _without_elements(text: str) -> str:
    """``text`` without what stands between tags: from the first one of a name to the last that closes it."""
    if "</" not in text and "[/" not in text:
        return text
    first: dict[str, int] = {}
    spans: dict[str, tuple[int, int]] = {}
    for tag in _TAG.finditer(text):
        name = tag["name"].lower()
        if not tag["close"]:
            first.setdefault(name, tag.start())
        elif name in first and not _OWN_ELEMENT.match(name):
            spans[name] = (first[name], tag.end())
    pieces, position = [], 0
    for start, end in _joined(spans.values()):
        if _is_said(_TAG.sub(" ", text[start:end])):
            pieces.append(text[position:start])
            position = end
    return LEFT_OUT.join([*pieces, text[position:]])


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order, each with those that begin in it."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def _without_quotations(text: str) -> str:
    """``text`` without whole sentences in quotation marks, unless they are what is to be remembered."""
    return _QUOTED.sub(_quotation, text)


def _quotation(found: "re.Match[str]") -> str:
    said = next(filter(None, found.group("block", "straight", "curved", "corner", "single")), "")
    before = found.string[max(0, found.start() - _MOST_READ) : found.start()].rpartition("\n")[2]
    is_speech = found["mark"] or _SENTENCE_END.search(said) or before.rstrip().endswith((":", "："))
    return LEFT_OUT if is_speech and _is_said(said) and not asks_to_remember(before) else found.group()


def _is_said(text: str) -> bool:
    """Whether it is more than a name."""
    return len(text.split()) >= _LEAST_WORDS or (not text.isascii() and len(text) >= 2 * _LEAST_WORDS)


def _before_a_mail(lines: Sequence[str]) -> list[str]:
    """The lines before a mail with headers: two or more of them in a row, with a subject or an address."""
    keys: set[str] = set()
    began, addressed = 0, False
    for index, line in enumerate(lines):
        header = _HEADER.match(line)
        if _FORWARDED.fullmatch(line):
            return list(lines[:index])
        if not header:
            keys, began, addressed = set(), index + 1, False
            continue
        keys.add(header["key"].lower())
        addressed = addressed or "@" in line
        if len(keys) > 1 and (addressed or keys & _SUBJECTS):
            return list(lines[:began])
    return list(lines)


def _without_talk(lines: Sequence[str]) -> list[str]:
    """The lines without talk: from the first that begins with a time and a name to the last, and on to a blank one."""
    headers = [index for index, line in enumerate(lines) if _CHAT_HEADER.fullmatch(line)]
    spoken = [index for index, line in enumerate(lines) if _CHAT_LINE.match(line)]
    talk = sorted([*spoken, *(headers if len(headers) > 1 else ())])
    if not talk:
        return list(lines)
    end = next((index for index in range(talk[-1], len(lines)) if not lines[index].strip()), len(lines))
    return [*lines[: talk[0]], LEFT_OUT, *lines[end:]]


def _beside_a_text(lines: Sequence[str]) -> list[str]:
    """The lines without a text that one of them is a request about: what stands below it, or the letter above it; and
    without a letter that begins within them."""
    kept: list[str] = []
    within, dressed = False, list(islice((at for at, line in enumerate(lines) if _GREETING.fullmatch(line)), 2))
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    is_letter = dressed[:1] == [first]
    for index, line in enumerate(lines):
        if not is_letter and index > first and not lines[index - 1].strip() and _SALUTATION.fullmatch(line):
            return kept
        within = within and bool(line.strip())
        if within:
            continue
        head, colon, rest = _request_before(line)
        if colon:
            within = rest.strip() != LEFT_OUT
            kept.append(f"{head}{colon} {LEFT_OUT}")
            continue
        kept.append(line)
        if not _is_about_a_text(line):
            continue
        below = next((place for place in range(index + 1, len(lines)) if lines[place].strip()), len(lines))
        if below < len(lines) and lines[below].strip() == LEFT_OUT:
            continue
        if below < len(lines) and (below > index + 1 or _ends_in(line, ":：") or _GREETING.fullmatch(lines[below])):
            return kept
        if is_letter and len(dressed) > 1 and dressed[1] < index:
            kept = [line]
    return kept


def _request_before(line: str) -> tuple[str, str, str]:
    """The request, the colon and the text, where a line holds all three; else nothing, nothing and the line."""
    colon = _COLON.search(line, 0, _MOST_READ)
    if colon and _is_about_a_text(line[: colon.end()]):
        return line[: colon.start()], colon[0].strip(), line[colon.end() :]
    return "", "", line


def _is_about_a_text(line: str) -> bool:
    asked = line.strip()[-_MOST_READ:]
    if _POINTED.search(asked):
        about = _ends_in(asked, ":：?？") or _words().task(asked).probability >= TASK_FROM
    else:
        worked_on = _ends_in(asked, ":：") and _WORKED_ON.search(asked)
        about = bool(worked_on or (_ends_in(asked, "?？") and _MEANS.search(asked)))
    return about and not asks_to_remember(asked)


def _ends_in(line: str, marks: str) -> bool:
    return line.rstrip().endswith(tuple(marks))


@cache
def _words() -> ByWords:
    return ByWords()
