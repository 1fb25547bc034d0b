"""The injected block: how it is written, how memory text is kept inside it, and how it is taken out again.

Writer and stripper share this file because they answer for one promise: what was put in front of a person's words comes
off again byte for byte, whatever the words and the memories (docs/wire-contract.md, "The injected block").
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from app.core.injection.blocks import (
    ASSIST_TAG,
    CONTEXT_TAG,
    LEGACY_TAG,
    SESSION_TAG,
    TAG_NAMES,
    Cut,
    find_cuts,
    first_tag,
)
from app.core.injection.markers import declared

__all__ = [
    "ASSIST_TAG",
    "CONTEXT_TAG",
    "LEGACY_TAG",
    "SEPARATOR",
    "SESSION_TAG",
    "contains_block",
    "cut_out",
    "neutralise",
    "neutralise_line",
    "neutralise_lines",
    "put_before",
    "strip_blocks",
    "voiceless",
    "wrap",
    "wrap_assist",
    "wrap_session",
]

SEPARATOR = "\n\n"
"""Between a block and the text behind it; exactly this is taken out together with the block."""
_GAP = re.compile(r"\n\n?|\r\n(?:\r\n)?")

_MAX_ROUNDS = 4
"""Taking a block out can join the pieces of a split tag into a new one. Nobody writes that by accident."""


def wrap(sections: Sequence[str]) -> str:
    """The block around ``sections`` (each a heading and its lines), or nothing when there is no section.

    Whatever a caller forgot to neutralise, no tag inside can close or open a block.
    """
    return _wrapped(CONTEXT_TAG, [section for section in sections if section])


def wrap_assist(note: str) -> str:
    """``note`` in the tag of the reply-assist note; nothing when the note is empty."""
    return _wrapped(ASSIST_TAG, [note] if note else [])


def wrap_session(lines: Sequence[str]) -> str:
    """The lines of a session's addition in their tag; nothing where there are none."""
    return _wrapped(SESSION_TAG, ["\n".join(lines)]) if lines else ""


def put_before(block: str, text: str) -> str:
    """``block`` in front of ``text`` as `strip_blocks` expects it; just ``text`` when there is no block."""
    return f"{block}{SEPARATOR}{text}" if block else text


def contains_block(text: str) -> bool:
    """Whether something injected stands in ``text``: a block (either tag) or a reply-assist note."""
    return any(not cut.stray for cut in find_cuts(text))


def strip_blocks(text: str) -> str:
    """``text`` without injected blocks; everything else stays byte for byte. Linear, and stable when repeated."""
    for _ in range(_MAX_ROUNDS):
        stripped = cut_out(text, find_cuts(text))
        if stripped == text:
            return text
        text = stripped
    # Still finding blocks: tags nested in split tags to get past the stripper. What is left of them goes, to the end.
    return text[: first_tag(text)] if find_cuts(text) else text


def cut_out(text: str, cuts: Sequence[Cut]) -> str:
    """``text`` without the cuts, which are in order, and without the gaps that they leave."""
    return "".join(_kept(text, cuts)) if cuts else text


def _kept(text: str, cuts: Sequence[Cut]) -> Iterator[str]:
    """The pieces between the cuts. The separator behind a cut goes with it; at the end of the text the one before."""
    position = 0
    for cut in cuts:
        kept = text[position : cut.start]
        position = cut.end
        if not kept or kept.endswith("\n"):
            gap = _GAP.match(text, position)
            position = gap.end() if gap else position
        if position == len(text) and position == cut.end:
            kept = kept.removesuffix(SEPARATOR)
        yield kept
    yield text[position:]


# --- Memory text inside the block ------------------------------------------------------------------------------------

_LINE_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]+"
)
"""Control, bidirectional and invisible characters, lone surrogates, tag characters: nothing a reader would miss."""
_JOINERS = re.compile("(?<=[\\x21\\x22\\x24-\\x29+-/:-~])[\u034f\u200c\u200d\ufe00-\ufe0f]+")
"""Joiners and variation selectors mean something between emoji or letters of some scripts, never behind ASCII."""
_SPACES = " \\t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
"""Characters of a class: what indents a line to a reader's eye, as the ideographic space does in Chinese."""
_BLANK_LINES = re.compile(r"\n(?:[ \t]*+\n)++")
_OUR_TAG_START = re.compile(rf"[<＜﹤](?=[\s/ori])(?=\s*+/?+\s*+(?:{TAG_NAMES}))", re.IGNORECASE)
_ROLES = (
    "user|human|assistant|ai|system|developer|tool|function|model|用户|使用者|人类|助手|助理|系统|開發者|开发者|工具"
)
_ROLE_TAG_START = re.compile(
    rf"<(?=[^<]|<<[BE])(?:(?:(?<!\w<)|(?=\s*+/))(?=\s*+/?+\s*+(?:{_ROLES})\s*+/?+>)|(?=\||<<(?:BEGIN|END)_))",
    re.IGNORECASE,
)
"""Tags of roles as models know them, unless a word stands before (``List<User>``), and tokens of chat templates."""
_LABELS = "source|score|trigger|do|avoid|scope|check"


def _line_of(names: str) -> re.Pattern[str]:
    """How a line begins that one of these names is in front of."""
    return re.compile(
        rf"^(?P<lead>[{_SPACES}>*_\[(（【]*+(?:{names})[{_SPACES}*_\])）】]*+)[:：]", re.IGNORECASE | re.MULTILINE
    )


_ROLE_LINE, _ROLE_OR_LABEL_LINE = _line_of(_ROLES), _line_of(f"{_ROLES}|{_LABELS}")
_HEADING = re.compile(rf"^(?P<lead>[{_SPACES}>]*+)(?:#++(?:[{_SPACES}]++|$))++", re.MULTILINE)


@lru_cache(maxsize=4)
def _structure(markers: tuple[str, ...]) -> re.Pattern[str]:
    """What would be structure at the start of a line; ``markers`` are the lines of the block's own frame."""
    return re.compile(
        rf"^(?P<lead>[{_SPACES}>]*+)(?:(?P<fence>`{{3,}}+|~{{3,}}+)|(?P<item>[-*+])(?=[{_SPACES}]*+\[)"
        rf"|(?P<rule>=++|-{{3,}}+|\*{{3,}}+|_{{3,}}+)(?=[{_SPACES}]*+$)|(?={'|'.join(map(re.escape, markers))}))",
        re.MULTILINE,
    )


def neutralise(text: str) -> str:
    """Memory text as data inside the block: readable, but unable to end it, forge a part of it, or speak as a role.

    What would be structure at the start of a line is written in another way that reads the same: a heading without its
    marks, a role or a label with a dash behind it, a code fence in other quotes. Tags of ours and of roles lose their
    ``<``, lines after the first are indented by two, characters that nobody sees are dropped. Deterministic and linear.
    """
    text = _BLANK_LINES.sub("\n\n", _escaped(_visible(text))).strip()
    return text.replace("\n", "\n  ").replace("\n  \n", "\n\n")


def neutralise_line(text: str) -> str:
    """The same for what must stay on one line (a name, a URI, a category): every run of whitespace is one space."""
    return neutralise_lines([text])[0]


def neutralise_lines(lines: Sequence[str]) -> list[str]:
    """`neutralise_line` of each; together they take little longer than one by itself."""
    visible = [_on_one_line(line) for line in _visible("\n".join(map(_on_one_line, lines))).split("\n")]
    return _escaped("\n".join(visible)).split("\n")


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _visible(text: str) -> str:
    text = _UNSEEN.sub("", _LINE_BREAKS.sub("\n", text))
    return text if text.isascii() else _JOINERS.sub("", text)


def voiceless(text: str) -> str:
    """Text that keeps its headings, lists and code, but can not speak as a role, end a block, or hide anything."""
    return _without_roles(_without_role_tags(_visible(text)), _ROLE_LINE)


def _escaped(text: str) -> str:
    text = _structure(declared()).sub(_reworded, _HEADING.sub(r"\g<lead>", _without_role_tags(text)))
    return _without_roles(text, _ROLE_OR_LABEL_LINE)


def _without_role_tags(text: str) -> str:
    return _ROLE_TAG_START.sub("&lt;", _escape_tags(text))


def _without_roles(text: str, line: re.Pattern[str]) -> str:
    return line.sub(lambda found: f"{found['lead'].rstrip()} -", text)


def _escape_tags(text: str) -> str:
    return _OUR_TAG_START.sub("&lt;", text)


def _reworded(found: re.Match[str]) -> str:
    """The same line start as text: code in single quotes, a rule as dots, anything else behind a bullet."""
    if found["fence"]:
        return found["lead"] + "'" * len(found["fence"])
    return found["lead"] + ("..." if found["rule"] else "\u2022" if found["item"] else "\u2022 ")


def _wrapped(tag: str, parts: Sequence[str]) -> str:
    if not parts:
        return ""
    return f"<{tag}>\n{_escape_tags(SEPARATOR.join(parts))}\n</{tag}>"
