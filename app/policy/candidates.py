"""What in a text could be a value that somebody chose or a machine drew: runs of signs, quoted text, groups of digits.

Only where it stands, not whether it is a secret: `secret_values` decides that. Every expression here is one class of
characters repeated, or begins at a place of its own, so that a text is read once from left to right.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.policy.clauses import clauses
from app.text.scripts import CJK

LONGEST = 4_096
"""Characters of the longest value: what is longer is a document, a picture or an archive."""
LONGEST_QUOTED = 120
"""Characters of the longest quoted text with spaces in it that is taken for one value."""

_BREAKS = f'\\s{CJK}"`<>|“”‘’„«»‹›「」『』《》【】（），。；：！？、…—→•\u3000'
_CJK = re.compile(f"[{CJK}]{{4,24}}")
"""A phrase in a language that puts no space between words: only quotes tell where it begins."""
_RUN = re.compile(f"[^{_BREAKS}]+")
_KEY = re.compile(
    r"(?:^|(?<=[;&?,{(\[=]))['\\]{0,3}"
    r"(-{0,2}@?[A-Za-z_$][A-Za-z0-9_.$-]{0,80})['\\\]]{0,3}(=>|:=|==|[=:])['\\]{0,3}(?=[^='])"
)
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "„": "“", "«": "»", "‹": "›", "「": "」", "『": "』"}
_MIXED = re.compile(r"[0-9]+[A-Za-z][0-9A-Za-z]*|[A-Za-z]+[0-9][0-9A-Za-z]*|[^AEIOUYaeiouy0-9]+")
"""A group that is no word and no number."""
_OPENING = re.compile("[" + "".join(_QUOTES) + "]")
_DIGITS = re.compile(r"\d{1,8}(?:[ -]\d{1,8}){1,15}")
_DRAWN = re.compile(
    r"(?<![^\W_])(?:[0-9A-Z]{4}(?: [0-9A-Z]{4}){2,15}|[0-9a-z]{4}(?: [0-9a-z]{4}){3,15}"
    r"|[0-9A-Z]{5}(?: [0-9A-Z]{5}){2,9})(?![^\W_])"
)
"""Signs in groups, as programs show what is to be typed: seeds of one-time codes, passwords for one program."""
_SCHEME = re.compile(r"(?i)(?:basic|bearer|token|apikey) \S+$")
"""What stands in front of the value of a header: the value alone is judged."""
_EQUATION = re.compile(r"[A-Z][a-z]{4,16}=[A-Z]?[a-z]{0,16}\d{1,4}")
"""A word and a number that somebody joined; names of settings begin with a small letter, or have no other."""
_LEADING = "([{<*'\\,;~=:"
_TRAILING = ".,;:?)]}>*'\\&#"
_PARTNERS = {")": "(", "]": "[", "}": "{"}
_OPTION = re.compile(r"-[pPa](?=[^\s=-]{4})")
_NAME_OF_OPTION = re.compile(r"--?[A-Za-z]{3,}(?:-[A-Za-z]+)*")
_USER = re.compile(r"(?:^|\s)(?:-[uU]|--(?:proxy-)?user|--auth|--creds?)[ =]?['\"]?$")
_USER_CHARS = 16
_BEHIND_USER = re.compile(r"[^\s:,%/]{1,64}[:,%](?=[^/])")


class Candidate(NamedTuple):
    """A value and where it stands."""

    start: int
    end: int
    value: str
    quoted: bool = False


def candidates(text: str, start: int = 0, end: int | None = None) -> Iterator[Candidate]:
    """The values in ``text[start:end]``; they may overlap, as a quoted one and the words in it do."""
    end = len(text) if end is None else end
    groups = [Candidate(match.start(), match.end(), match[0]) for match in _DIGITS.finditer(text, start, end)]
    ends = [group.end for group in groups]
    for run in _RUN.finditer(text, start, end):
        if run[0].strip(_TRAILING).isdigit() and _is_in(groups, ends, run.start()):
            continue
        user = _BEHIND_USER.match(run[0])
        if user and _USER.search(text[max(0, run.start() - _USER_CHARS) : run.start()]):
            yield from _trimmed(run[0][user.end() :], run.start() + user.end())
        else:
            yield from _of_run(run[0], run.start())
    yield from _quoted(text, start, end)
    yield from groups
    for first, last in clauses(text, start, end):
        yield Candidate(first, last, text[first:last])
    for drawn in _DRAWN.finditer(text, start, end):
        if any(_MIXED.fullmatch(group) for group in drawn[0].split(" ")):
            yield Candidate(drawn.start(), drawn.end(), drawn[0])


def _is_in(groups: Sequence[Candidate], ends: Sequence[int], at: int) -> bool:
    """Whether a character is part of a number that is written in groups: a part of it is no value of its own."""
    place = bisect_right(ends, at)
    return place < len(groups) and groups[place].start <= at


def _of_run(run: str, start: int) -> Iterator[Candidate]:
    """The values of one run: what follows each key, or the whole of it."""
    if run.isalpha():
        if len(run) >= 3:
            yield Candidate(start, start + len(run), run)
        return
    keys = list(_KEY.finditer(run)) if ("=" in run or ":" in run) else []
    if not keys and run.count(":") == 1 and not run.endswith(":"):  # user:password
        before, _, after = run.partition(":")
        if before and not after.startswith("/"):
            yield from _trimmed(after, start + len(before) + 1)
    for place, key in enumerate(keys):
        if place == 0 and key.start() > 0:
            yield from _trimmed(run[: key.start()], start)
        at = key.end()
        until = keys[place + 1].start() if place + 1 < len(keys) else len(run)
        yield from _trimmed(run[at:until], start + at)
        if until == at and place + 1 < len(keys):  # a value with a sign in it: password=Maple=Maple
            behind = keys[place + 2].start() if place + 2 < len(keys) else len(run)
            yield from _trimmed(run[at:behind], start + at)
    if len(keys) == 1 and _EQUATION.fullmatch(bare := run.rstrip(_TRAILING)):
        yield Candidate(start, start + len(bare), bare)
    if not keys:
        option = _OPTION.match(run)
        if option:
            yield from _trimmed(run[option.end() :], start + option.end())
        else:
            yield from _trimmed(run, start)


def _trimmed(value: str, start: int) -> Iterator[Candidate]:
    bare = value.lstrip(_LEADING)
    start += len(value) - len(bare)
    bare = _without_trailing(bare)
    is_rule = bare.startswith(("---", "//")) or bare.endswith("---")  # or armour
    if 3 <= len(bare) <= LONGEST and not is_rule and not _NAME_OF_OPTION.fullmatch(bare):
        yield Candidate(start, start + len(bare), bare)


def _without_trailing(value: str) -> str:
    """``value`` without the punctuation behind it. ``!`` may be part of a password; a bracket has its partner."""
    end = len(value)
    opened = {closing for closing, opening in _PARTNERS.items() if opening in value}
    while end and value[end - 1] in _TRAILING and value[end - 1] not in opened:
        end -= 1
    value = value[:end]
    if value.endswith("!") and value[:-1].isalpha():
        return value.rstrip("!")
    return value


def _quoted(text: str, start: int, end: int) -> Iterator[Candidate]:
    """Text in quotes on one line. Each opening quote looks for its partner only so far ahead."""
    at = start
    while opening := _OPENING.search(text, at, end):
        at = opening.end()
        if opening[0] == "'" and opening.start() and text[opening.start() - 1].isalnum():
            continue  # an apostrophe
        closing = text.find(_QUOTES[opening[0]], at, at + LONGEST_QUOTED)
        if closing < 0:
            continue
        value = text[at:closing].strip()
        if (
            len(value) >= 4
            and "\n" not in value
            and not _SCHEME.match(value)
            and (" " in value or any(c in value for c in "<>|`") or _CJK.fullmatch(value))
        ):
            offset = text.index(value, at)
            yield Candidate(offset, offset + len(value), value, quoted=True)
        if "\n" not in text[at:closing]:
            at = closing + 1
