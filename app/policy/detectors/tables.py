"""Passwords in tables: the head of a column says what the values below it are, lines away from them."""

import re
from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.features import form_of
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import is_placeholder, is_random

_CELLS = {
    "|": re.compile(r"[^|\n]*[^|\s][^|\n]*"),
    "\t": re.compile(r"[^\t\n]+"),
    ";": re.compile(r"[^;\n]+"),
    ",": re.compile(r"[^,\n]+"),
    "  ": re.compile(r"[^ \t\n]+(?: [^ \t\n]+)*"),
}
"""What a cell is, by the sign between cells."""
_LEAST_CELLS, _MOST_CELLS = 2, 40
_MOST_CHARS = 1_000
"""Characters of the longest line of a table."""
_AROUND = " \t\r\"'`*"
_IN_CODE = frozenset((",", ";", "  "))
"""Signs between cells that stand in lines of code, too."""
_CODE = re.compile(r"[\[\]{}<>=]|\w\(")
_RULE = re.compile(r"[\s|+:=-]+")
_WORD = re.compile(r"[^\W_]+")
_LONG = ["密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호"]
"""Heads in languages that put no space between words: they end with one of these."""
_SHORT_TEXT = (
    "password passwd pwd pw pass passcode passphrase passwort kennwort contraseña clave senha wachtwoord "
    "hasło heslo lösenord adgangskode passord salasana jelszó parolă şifre parola пароль"
)
_SHORT = frozenset(_SHORT_TEXT.split())
_DRAWN = frozenset(["token", "secret", "key"])
"""Heads of columns that hold other things as well: only what a machine drew is taken below them."""
_ADDED_TEXT = "user login admin root db database new old temp temporary initial default wifi app api access auth"
_ADDED = frozenset(_ADDED_TEXT.split())
"""Words that only say whose password it is."""
_FORMS = frozenset(
    (
        "mixed",
        "long",
        "strong",
        "random",
        "hex",
        "signs",
        "phrase",
        "slug",
        "model",
        "numbered",
        "compound",
        "digits",
        "host",
    )
)
"""Forms of values that are chosen or drawn: no dates or plain words. Words with dots between them look like the name of a host."""
_HEAD = Pattern("(?i)" + "|".join(sorted((*_LONG, *_SHORT, *_DRAWN), key=len, reverse=True)))


def find(text: str) -> Iterator[Span]:
    """The values below a head for passwords, in rows with as many cells as the head's. Each line is read once."""
    reached = 0
    for at, _ in _HEAD.spans(text):
        if at < reached:
            continue
        end = reached = _end_of_line(text, at)
        start = text.rfind("\n", max(0, at - _MOST_CHARS), at) + 1
        if end - start <= _MOST_CHARS and end < len(text):
            for sign, count, held in _columns(text[start:end]):
                for last, cells in _rows(text, end + 1, sign, count):
                    reached = last
                    for place, drawn in held.items():
                        yield from _value_in(cells[place], drawn=drawn)
                break


def _columns(line: str) -> Iterator[tuple[str, int, dict[int, bool]]]:
    """How a head parts its cells, how many there are, and which hold passwords, with whether those must be drawn."""
    for sign, cell in _CELLS.items():
        heads = [match[0].strip(_AROUND) for match in cell.finditer(line)]
        if sign in _IN_CODE and _is_code(heads):
            continue
        if _LEAST_CELLS <= len(heads) <= _MOST_CELLS and not any(c.isdigit() for c in line):
            named = {place: name for place, head in enumerate(heads) if (name := _name_of(head))}
            if named:
                yield sign, len(heads), {place: name in _DRAWN for place, name in named.items()}


def _is_code(heads: Sequence[str]) -> bool:
    """Whether a line is code and no head: ``if verify(stored, password):``, although an argument is named like one."""
    return any(_CODE.search(head) or head.count("(") != head.count(")") for head in heads)


def _name_of(head: str) -> str:
    """The one word of a head that is a name of passwords; empty when it says more or other things."""
    words: list[str] = [word for word in _WORD.findall(head.lower()) if word not in _ADDED]
    if len(words) == 1 and (words[0] in _SHORT or words[0] in _DRAWN or words[0].endswith(tuple(_LONG))):
        return words[0]
    return ""


def _rows(text: str, at: int, sign: str, count: int) -> Iterator[tuple[int, list[re.Match[str]]]]:
    """The lines below a head as long as they have as many cells, with where each ends."""
    while at < len(text):
        end = _end_of_line(text, at)
        if end - at > _MOST_CHARS:
            return
        if not _RULE.fullmatch(text, at, end):
            cells = list(_CELLS[sign].finditer(text, at, end))
            if len(cells) != count:
                return
            yield end, cells
        at = end + 1


def _value_in(cell: re.Match[str], *, drawn: bool) -> Iterator[Span]:
    """A value that somebody may have chosen, with a digit or a sign, or that was drawn; none that stands for another."""
    value = cell[0].strip(_AROUND)
    chosen = 4 <= len(value) <= 128 and not value.isalpha() and form_of(value) in _FORMS
    if (is_random(value) if drawn else chosen) and not is_placeholder(value):
        start = cell.start() + cell[0].index(value)
        yield start, start + len(value)


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_HEAD,)
