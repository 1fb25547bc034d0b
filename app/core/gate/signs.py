"""What the experience gate can see in a message: the signs, what each is worth, and text as sentences and clauses.

The first six signs and their values are the score table of the agent-experience design (section 3). The others are what
a person adds to it: whether somebody is *asked* to act, or is told, asked about, or thanked for it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum


class Sign(Enum):
    """A kind of evidence: what it adds to the score, and how the explanation words it."""

    SIDE_EFFECT = 3, "asked for an action with effects (write, delete, deploy, send, book)"
    EXECUTION = 2, "asked to execute (fix, test, build, run, investigate)"
    FAILURE = 2, "a failure is described"
    OBJECT = 2, "an engineering object is named"
    EXPERIENCE = 1, "asks for experience or best practice"
    CHAT = -3, "small talk or a joke"

    GIVEN_TEXT = -4, "translate or rework text that stands in the message or the chat"
    KNOWLEDGE = -3, "a question about knowledge or opinion"
    REQUEST = 1, "the verb stands as an order or a request"
    ADDRESSED = 1, "the agent is addressed (can you, please, 帮我)"
    LOOKUP = 1, "asked to list, show or get"
    THING = 1, "an everyday thing to act on is named (meeting, invoice, flight)"
    HANDOVER = 3, "a problem is handed over"
    NARRATION = -4, "tells what was done or how it stands"
    PAST_TALK = -4, "asks about an earlier conversation"
    STORY = -6, "a story about former times"
    REMEMBER = -4, "a fact to remember, nothing to do"
    FEELING = -3, "a feeling or an opinion"
    HELD_BACK = -4, "says not to act"

    def __init__(self, value: int, reason: str) -> None:
        self.points = value
        self.reason = reason

    __hash__ = object.__hash__  # each member is there once; Enum's own hash of the name is a call into Python


@dataclass(frozen=True, slots=True)
class Found:
    """One sign and the words that show it."""

    sign: Sign
    evidence: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: its clauses in order, and whether it ends with a question mark."""

    clauses: tuple[str, ...]
    asks: bool

    @property
    def text(self) -> str:
        """The clauses in one line."""
        return ", ".join(self.clauses)


EVIDENCE_CHARS = 40

HEAD_CHARS, TAIL_CHARS = 2400, 1600
"""How much of a long message is read. A request stands before or after what was pasted with it, not in the middle."""

HEAD_SENTENCES, TAIL_SENTENCES = 24, 16
MAX_SENTENCE_CHARS = 400
"""A longer one is no sentence but data; its head shows what it is."""


_FENCE = re.compile(r"```[^`]{0,4000}(?:```|\Z)")
_QUOTED = re.compile(
    r"\"[^\"\n]{2,400}\"|“[^”\n]{1,400}”|「[^」\n]{1,400}」|『[^』\n]{1,400}』|‘[^’\n]{2,400}’|"
    r"(?<!\w)'[^'\n]{4,300}'(?!\w)"
)
_HANDED_IN = re.compile(
    r"(?:\b(?:translat|summari[sz]|paraphras|rephras|reword|proofread|polish|rewrite|condense|recap|tl;?dr|shorten|"
    r"simplify|sum up)\w*"
    r"|\bhow (?:do|would|can) (?:you|i|we) say|怎么说|怎么翻|翻译|译成|总结|概括|归纳|润色|改写|缩写|扩写|精简|"
    r"提炼|校对|通顺)"
    r"(?:[^:：\n]{0,120}[:：]|[^:：\n]{0,80}(?:this|following|below|text|paragraph|sentence|下面|以下|这段|这句|"
    r"这篇)[^:：\n]{0,80}\n)",
)
_SENTENCE_END = re.compile(r"([.!?]+(?=\s|$)|[。！？!?；;\n]+)")
_CLAUSE_END = re.compile(r",\s|[，、：]|:\s|\s[-–—]{1,2}\s|—{1,2}|……|\.\.\.|\s\(|\)")
_CHINESE = re.compile("[\u3400-\u9fff]")
_APOSTROPHES = str.maketrans(
    {"’": "'", "‘": "'", "＇": "'", "？": "?", "！": "!", "\t": " ", "\r": "\n", "\u3000": " "}
)


def speaks_chinese(text: str) -> bool:
    """True when the text holds any Chinese character."""
    return not text.isascii() and _CHINESE.search(text) is not None


def sample(text: str) -> str:
    """The head and the tail of a long text, the whole of a short one, so that the cost is bounded."""
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return text[:HEAD_CHARS] + "\n" + text[-TAIL_CHARS:]


def own_words(text: str) -> str:
    """``text`` without what was handed in to be reworked, and with marks for code and quotes: they are no order.

    "Translate this: delete the file" asks for no deletion.
    """
    if handed_in := _HANDED_IN.search(text):
        text = text[: handed_in.end()]
    return _QUOTED.sub(" “” ", _FENCE.sub(" `` ", text))


def sentences(text: str) -> Iterator[Sentence]:
    """The first and the last sentences of a lower-case message, with straight apostrophes."""
    pieces = _SENTENCE_END.split(text.translate(_APOSTROPHES))
    pairs = [(body, end) for body, end in zip(pieces[::2], [*pieces[1::2], ""], strict=True) if body.strip()]
    if len(pairs) > HEAD_SENTENCES + TAIL_SENTENCES:
        pairs = pairs[:HEAD_SENTENCES] + pairs[-TAIL_SENTENCES:]
    for body, end in pairs:
        clauses = tuple(
            clause for part in _CLAUSE_END.split(body[:MAX_SENTENCE_CHARS]) if (clause := part.strip(" ,.*>#|~\t"))
        )
        if clauses:
            yield Sentence(clauses, "?" in end)
