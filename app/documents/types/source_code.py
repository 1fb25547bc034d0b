"""Source code and configuration: a section for each definition, by the lines that begin one. Linear."""

import re

from app.documents.decoding import decoded
from app.documents.parsed_document import Content, DocumentType, Section

_SUFFIXES = frozenset(
    """
    .py .pyi .js .mjs .cjs .jsx .ts .tsx .go .rs .java .kt .kts .scala .c .h .cc .cpp .hpp .cs .rb .php .swift .m .sh
    .bash .zsh .fish .ps1 .pl .lua .r .jl .ex .exs .erl .hs .clj .dart .sql .proto .graphql .tf .hcl .json .jsonl
    .ndjson .yaml .yml .toml .ini .cfg .conf .env .properties .xml .vue .svelte .css .scss .less .gradle .cmake .nix
    .bat dockerfile makefile justfile gemfile rakefile procfile .gitignore .editorconfig
    """.split()  # noqa: SIM905 (quoted words would hide the words)
)
_MEDIA_TYPES = frozenset(
    """
    application/json application/x-ndjson application/yaml application/x-yaml text/yaml application/toml text/xml
    application/xml text/css text/javascript application/javascript text/x-python text/x-script.python
    """.split()  # noqa: SIM905
)
SMALL_CHARS = 300
"""A definition that is shorter stays with its neighbours under the name of what is around them."""
MAX_LINE_CHARS = 400
"""A longer line begins no definition."""
MAX_INDENT = 8
"""Deeper definitions belong to the one around them."""

_WORDS = (
    r"export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z]{1,9}\))?|unsafe|extern"
    r"|inline|const|override|open|sealed|data|virtual|declare|local"
)
_DEFINES = re.compile(
    rf"(?:(?:{_WORDS})[ \t]+){{0,5}}"
    r"(?:def|class|func|function\*?|fn|struct|impl|interface|trait|enum|type|module|namespace|object|record|protocol"
    r"|message|service|resource|defmodule|defp?|sub|proc|macro_rules!|CREATE[ ]TABLE|create[ ]table)"
    r"[ \t]+(?:\([^()]{0,80}\)[ \t]*)?[\"'`]?([A-Za-z_$][\w$.:\-]{0,80})"
)
_ASSIGNS = re.compile(
    r"(?:export[ \t]+)?(?:const|let|var|val)[ \t]+([A-Za-z_$][\w$]{0,80})[ \t]*(?::[^=\n]{0,80})?=[ \t]*"
    r"(?:async[ \t]*)?(?:function|\()"
)
_TABLE = re.compile(r"\[{1,2}([\w.\-\" ]{1,80})\]{1,2}[ \t]*$")
_OPENS_ABOVE = ("@", "#[", "//", "/*", " *", "#", "--", '"""')
"""A line that belongs to the definition below it: decorators, attributes and comments."""


def parse(data: bytes, name: str) -> Content:
    """See `DocumentType.parse`."""
    text = decoded(data, name)
    lines = text.split("\n")
    starts = _starts(lines)
    sections: list[Section] = []
    head = starts[0][0] if starts else len(lines)
    _add(sections, (), lines[:head])
    path: list[tuple[int, str]] = []
    for at, (begin, indent, title) in enumerate(starts):
        end = starts[at + 1][0] if at + 1 < len(starts) else len(lines)
        while path and path[-1][0] >= indent:
            path.pop()
        path.append((indent, title))
        _add(sections, tuple(one for _, one in path), lines[begin:end])
    return Content("", text, _grown(sections))


def _starts(lines: list[str]) -> list[tuple[int, int, str]]:
    """First line, indentation and name of each definition; comments and decorators above it go with it."""
    found: list[tuple[int, int, str]] = []
    last = 0
    for number, line in enumerate(lines):
        bare = line.lstrip(" \t")
        indent = len(line) - len(bare)
        if not bare or len(line) > MAX_LINE_CHARS or indent > MAX_INDENT:
            continue
        named = _DEFINES.match(bare) or _ASSIGNS.match(bare) or (_TABLE.match(bare) if indent == 0 else None)
        if named:
            begin = number
            while begin > last and lines[begin - 1].lstrip(" \t").startswith(_OPENS_ABOVE):
                begin -= 1
            found.append((begin, indent, named.group(1)))
            last = number + 1
    return found


def _add(sections: list[Section], path: tuple[str, ...], lines: list[str]) -> None:
    text = "\n".join(lines).strip("\n")
    if text.strip():
        sections.append(Section(path, text))


def _grown(sections: list[Section]) -> list[Section]:
    """Small definitions next to each other in one section, under what they have in common."""
    grown: list[Section] = []
    for section in sections:
        before = grown[-1] if grown else None
        if before and len(before.text) + len(section.text) <= SMALL_CHARS and before.path[:1] == section.path[:1]:
            shared = [one for one, other in zip(before.path, section.path, strict=False) if one == other]
            grown[-1] = Section(tuple(shared), f"{before.text}\n{section.text}")
        else:
            grown.append(section)
    return grown


TYPE = DocumentType(
    name="source code",
    suffixes=_SUFFIXES,
    media_types=_MEDIA_TYPES,
    parse=parse,
)
