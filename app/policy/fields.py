"""Is a value the whole of a field: ``"password": "..."``, ``DB_PASSWORD=...``, ``password: ...`` on a line of its own?

Then its name alone says what it is. The fields beside it say nothing of it: in ``{"token": "...", "expires_in": 3600}``
the second name is no word of the first value.
"""

NAME_CHARS = 80
"""Characters of the longest name."""
_QUOTES = "\"'\\`"
_SPACE = " \t"
_MOST_SPACE = 8
_ENDS = ",;}])&\r\n<"
_BEGINS = "{[(,;&?\r\n"
_MARKS = "!?#*"
"""What a password may end with that is not taken for a part of a value elsewhere."""
_BULLETS = "-*#"


def name_of(text: str, start: int, end: int) -> int | None:
    """Where the name of the field begins whose value is ``text[start:end]``; None when the value is no whole field."""
    at = _back(text, start, _QUOTES, 3)
    opened = at < start
    at = _back(text, at, _SPACE, _MOST_SPACE)
    sign = at
    at = _back(text, at, "=:>", 2)
    signs = text[at:sign]
    if signs not in {"=", ":", ":=", "=>", "=="} or not _closed(text, end, opened=opened, spaced="=" in signs):
        return None
    named = at = _back(text, _back(text, at, _SPACE, _MOST_SPACE), _QUOTES, 3)
    while at and named - at <= NAME_CHARS and (text[at - 1].isalnum() or text[at - 1] in "_.-$@"):
        at -= 1
    if at == named or named - at > NAME_CHARS or not _begins(text, at, spaced="=" in signs):
        return None
    return at


def split_number(field: str) -> tuple[str, str]:
    """A field's name without the number at its end, and what stands between the name and the value."""
    name = field.rstrip(_QUOTES + _SPACE + "=:>")
    return name.rstrip("0123456789").rstrip("_-.") or name, field[len(name) :]


def _closed(text: str, end: int, *, opened: bool, spaced: bool) -> bool:
    """Whether the field ends with the value: a quote, where one was opened, and a sign between fields."""
    last = _on(text, end, _MARKS, 3)
    at = _on(text, last, _QUOTES, 3)
    if opened and at == last:
        return False
    rest = text[at : at + _MOST_SPACE]
    return (spaced and rest[:1].isspace()) or (rest.lstrip(_SPACE) or "\n")[0] in _ENDS


def _begins(text: str, at: int, *, spaced: bool) -> bool:
    """Whether a field can begin here: a line, a sign between fields, or, before ``=``, a space."""
    at = _back(text, at, _QUOTES, 3)
    if not at or (spaced and text[at - 1].isspace()):
        return True
    at = _back(text, at, _SPACE, NAME_CHARS)
    if at and text[at - 1] in _BULLETS:
        at = _back(text, _back(text, at, _BULLETS, 3), _SPACE, NAME_CHARS)
    return not at or text[at - 1] in _BEGINS


def _on(text: str, at: int, signs: str, most: int) -> int:
    limit = min(len(text), at + most)
    while at < limit and text[at] in signs:
        at += 1
    return at


def _back(text: str, at: int, signs: str, most: int) -> int:
    least = max(0, at - most)
    while at > least and text[at - 1] in signs:
        at -= 1
    return at
