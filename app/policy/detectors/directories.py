"""Passwords that an LDAP directory is bound with: commands, calls, settings, and one that is told behind its DN."""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import is_placeholder

_QUOTED = r"(?:'(?P<single>[^'\n]{3,128})'|\"(?P<double>[^\"\n]{3,128})\"|(?P<secret>[^\s'\"$<{-][^\s'\"]{2,127}))"
_COMMAND = Pattern(
    r"\bldap(?:search|add|modify|delete|whoami|passwd|compare|modrdn|exop|vi)\b(?:[^\n|;]|\\\n){0,400}?\s-w[ ]?"
    + _QUOTED
)
_SETTING = Pattern(
    r"(?i)(?:^|[^a-z])(?:bind_?pw|(?:olc)?root_?pw|bind_?credentials|manager_?password)[\"']?[ \t]{0,3}[:= \t][ \t]{0,3}"
    + _QUOTED
)
_BIND = Pattern(
    r"(?i)\b(?:simple_)?bind(?:_s|sync|async)?\([^\n()]{0,20}[\"'][a-z]{1,12}=[^\"'\n]{2,200}[\"'][ \t]*,[ \t]*"
    + _QUOTED
)
_DN = r"(?:cn|uid)=[^\s\"',;]{1,60}(?:[ ][^\s\"',;=]{1,30}){0,2},[ ]?(?:cn|ou|dc|o)=[^\s\"'，；、|]{1,120}"
_CALL = Pattern(rf"(?i)[\"']{_DN}[\"'][ \t]*,[ \t]*(?:password[ \t]*=[ \t]*)?" + _QUOTED)
_TOLD = Pattern(
    rf"(?i){_DN}[\"'’]?[ \t]{{0,2}}(?:[,，;；/|:]|with|using|and|mit|und|avec|con|e|y|で|は|密码|用)?[ \t]{{1,2}}[\"']?(?P<secret>[^\s\"'$<{{(=,，。、-][^\s\"'=,，。、]{{5,63}})"
)
_GROUPS = ("single", "double", "secret")


def find(text: str) -> Iterator[Span]:
    """The passwords; variables, hashes with their scheme (``{SSHA}...``) and names of attributes are none."""
    for match in _COMMAND.finditer(text):
        yield from (span for span in map(match.span, _GROUPS) if span[0] >= 0 and _is_value(text[slice(*span)]))
    for match in _SETTING.finditer(text):
        for span in (span for span in map(match.span, _GROUPS) if span[0] >= 0):
            is_set = not {":", "="}.isdisjoint(text[match.span()[0] : span[0]])
            if (_is_value if is_set else _is_chosen)(text[slice(*span)]):
                yield span
    for match in _BIND.finditer(text):
        quoted = map(match.span, _GROUPS[:2])
        yield from (span for span in quoted if span[0] >= 0 and _is_value(text[slice(*span)]))
    for match in _CALL.finditer(text):
        quoted = map(match.span, _GROUPS[:2])
        yield from (span for span in quoted if span[0] >= 0 and _is_chosen(text[slice(*span)]))
    for start, end in _TOLD.spans(text, "secret"):
        value = text[start:end].rstrip(".?;:)")
        if _is_chosen(value) and not value.isalnum():
            yield start, start + len(value)


def _is_value(value: str) -> bool:
    return value[0] not in "{$<(" and not is_placeholder(value)


def _is_chosen(value: str) -> bool:
    """With letters and digits, and no filter or DN."""
    has_both = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return has_both and "=" not in value and "://" not in value and _is_value(value)


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_COMMAND, _SETTING, _BIND, _CALL, _TOLD)
