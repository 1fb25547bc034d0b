"""Passwords and keys at their place in well-known lines: ``.pgpass``, ``.npmrc``, ``curl --user``, ``-u user -P ...`` of
any command, ``net use``, SQL that sets one, the QR code of a Wi-Fi network, fields of a private JWK."""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Match, Pattern
from app.policy.placeholders import is_placeholder

_PG_ENTRY = r"[^\s:#/\"'`=，：]{1,255}:(?:\d{3,5}|\*):[^\s:/]{1,64}:[^\s:/]{1,64}:"
_PGPASS = Pattern(rf"(?m)^[ \t]{{0,16}}{_PG_ENTRY}(?P<secret>[^\s:][^\s]{{2,}})[ \t]{{0,4}}$")
"""``host:port:database:user:password``, a line of its own."""
_PGPASS_NAMED = Pattern(rf"(?:^|[\s\"'`(=，：])\\?{_PG_ENTRY}(?P<secret>[^\s:\"'`][^\s\"'`，。]{{2,}})")
_PGPASS_FILE = Pattern(r"(?i)pgpass")
"""Where the file is named, the entry may stand anywhere."""
_NPMRC = Pattern(r"(?i)(?:^|[\s/]):_(?:authToken|password)[ \t]{0,4}=[ \t]{0,4}[\"']?(?P<secret>[^\s\"']{6,})")
_USER = Pattern(
    r"\b(?:curl|https?|xh|wget|etcdctl|influx|clickhouse-client)\b(?:[^\n|;]|\\\n){0,1000}?\s(?:-u[ \t]{0,4}|-a[ \t]{1,4}|--user[ =]{1,4})"
    r"(?:'[^\n:'@/]{1,128}:(?P<single>[^\n']{3,128})'|\"[^\n:\"@/]{1,128}:(?P<double>[^\n\"]{3,128})\""
    r"|[\"']?[^\s:\"'@/]{1,128}:(?P<secret>[^\s\"']{3,}))"
)
"""In quotes the password may have spaces."""
_AUTH = Pattern(
    r"(?m)(?:^[ \t]*(?:[\w.:-]{2,60}(?:\[\d+\])?>[ \t]{0,3})?|[\"'`])(?:AUTH|CONFIG SET requirepass)[ \t]+"
    r"(?:[A-Za-z][\w-]{0,30}[ \t]+)?[\"']?(?P<secret>[^\s\"'<>{$]{6,})[\"'`]?[ \t]*$"
)
"""Behind the prompt of Redis."""
_DRAWN = r"(?P<secret>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{32,64})(?:$|[\s\"'\])])"
_TOOL = Pattern(
    r"(?:\b(?:(?:snyk|circleci) auth|(?:ngrok|doppler|wandb|cargo|gem|huggingface-cli|hf auth|netlify|fly auth)(?: config)?"
    r" (?:add-authtoken|authtoken|login|token|setup)|(?:codecov|uploader\.sh|bito|coveralls|codacy)[^\n|;&]{0,120}? (?:-t|-r))"
    r"|(?:^|\s)--(?:auth-?|api-?|access-?|secret-?)?(?:token|secret|apikey|api-key|password))[ =][\"']?" + _DRAWN
)
"""Tools whose tokens look like any UUID or hash."""
_ALIAS = Pattern(
    r"\bmc(?:li)? (?:alias set|config host add)[ \t]{1,4}[\w.-]{1,60}[ \t]{1,4}[\"']?https?://[^\s\"']{1,200}[\"']?[ \t]{1,4}"
    r"[\"']?[^\s\"'$<{]{3,128}[\"']?[ \t]{1,4}[\"']?(?P<secret>[^\s\"'$<{，。；]{8,128})"
)
"""The client of MinIO: an alias, an address, a user's key and its secret."""
_CLOUD = Pattern(
    r"\b(?:obsutil|ossutil(?:64)?|coscmd|coscli|tosutil|bcecmd|ks3util)\b[^\n|;]{0,300}?[ \t]-(?:k|s|sk)[ =][\"']?"
    r"(?P<secret>[A-Za-z0-9+/=_-]{16,128})"
)
"""Clients of object stores: the secret key behind the key's id."""
_OPTION = r"(?:-[pP]|--pass(?:word|wd)?|--pw)[ =]?[\"']?(?P<secret>[^\s\"'$<{:/-][^\s\"':/]{3,})"
_AS = r"(?:-[uU][ =]?|--?user(?:name)?[ =])[\"']?[^\s\"'-][^\s\"':]{0,60}[\"']?"
_USER_FIRST = Pattern(rf"(?:^|\s){_AS}[ \t](?:[^\n|;&]{{0,200}}?[ \t])?{_OPTION}")
_USER_LAST = Pattern(rf"\s{_OPTION}[\"']?[ \t](?:[^\n|;&]{{0,200}}?[ \t])?{_AS}(?:\s|$)")
"""A command that names a user and gives a password; ``-p`` is a port or a project elsewhere."""
_ORACLE = Pattern(
    r"(?i)\b(?:sqlplus|sqlldr|expdp|impdp|exp|imp|rman|tnsping|sql)\b[^\n|;]{0,80}?[ \t\"'=][A-Za-z][\w$#]{0,30}/(?P<secret>[^\s@/\"']{3,64})@[^\s@]"
)
"""``sqlplus user/password@service``."""
_SHARE = Pattern(r"(?i)\bnet[ \t]+use\b[^\n]{0,200}?[ \t](?P<secret>[^\s/*\\:][^\s/\\:]{3,})[ \t]+/user:")
_KEYGEN_FIRST = Pattern(r"\bssh-keygen\b[^\n|;]{0,200}?[ \t]-[NP][ \t]{1,4}[\"']?(?P<secret>[^\s\"'$<{-][^\s\"']{3,})")
_KEYGEN_LAST = Pattern(r"\bssh-keygen\b[^\n|;]{0,200}[ \t]-[NP][ \t]{1,4}[\"']?(?P<secret>[^\s\"'$<{-][^\s\"']{3,})")
"""The first and the last passphrase of a command: the old one and the new one."""
_PROMPT = Pattern(
    r"(?im)^[ \t]{0,8}(?:(?:please )?(?:enter|type) (?:the |your |new |old |same )?(?:passphrase|password)(?: again)?|(?:bad|wrong) passphrase|"
    r"(?:\[sudo\] )?password)(?: for| of)? [^\n:]{1,200}:[ \t]{1,4}(?P<secret>[^\s<\[(*][^\s]{5,127})[ \t]{0,4}$"
)
"""What a program asks at a terminal, with the answer pasted behind it."""
_COMMUNITY = Pattern(r"\bsnmp[a-z]{2,12}\b[^\n|;]{0,200}?[ \t]-c[ =]?[\"']?(?P<secret>[^\s\"'$<{-][^\s\"']{3,})")
_WIFI = Pattern(r"WIFI:(?:[^\n;\\]|\\[^\n]|;[A-OQ-Z]){0,300}?;P:(?P<secret>(?:[^\n;\\]|\\[^\n]){3,100});")
_JWK = Pattern(r"\"kty\"")
_PRIVATE = Pattern(r"\"(?:d|p|q|dp|dq|qi|k)\"\s{0,4}:\s{0,4}\"(?P<secret>[A-Za-z0-9_-]{16,})\"")
_SQL = Pattern(
    r"(?i)\b(?:SET[ \t]+PASSWORD(?:[ \t]+FOR[ \t]+[^\s=]{1,120})?[ \t]*=[ \t]*(?:PASSWORD[ \t]*\([ \t]*)?"
    r"|(?:USER|GRANT|ROLE|LOGIN)\b[^\n;]{0,200}\bIDENTIFIED[ \t]+(?:(?:WITH|VIA)[ \t]+[\w'\"`]{1,60}[ \t]+)?BY[ \t]+)"
    r"[\"'](?P<secret>[^\"'\n]{3,128})[\"']"
)
_MERCHANT = Pattern(
    r"(?i)\bmch_?key\b[\"']?[ \t]{0,3}(?:[:=：]|是|为)?[ \t]{0,3}[\"']?(?P<secret>[0-9A-Za-z]{32})(?:[^0-9A-Za-z]|$)"
)
"""Of WeChat Pay."""
_LINES = (_PGPASS, _NPMRC, _WIFI, _AUTH, _TOOL, _ALIAS, _CLOUD, _ORACLE, _SQL, _MERCHANT)
_COMMANDS = (_USER_FIRST, _USER_LAST, _SHARE, _COMMUNITY, _KEYGEN_FIRST, _KEYGEN_LAST, _PROMPT)


def find(text: str) -> Iterator[Span]:
    """What stands at the place of the password, unless it stands for one."""
    for pattern in _LINES:
        yield from (span for span in pattern.spans(text, "secret") if not is_placeholder(text[slice(*span)]))
    for match in _USER.finditer(text):
        yield from (span for span in _groups(match, "secret", "single", "double") if _is_value(text[slice(*span)]))
    for pattern in _COMMANDS:
        yield from (span for span in pattern.spans(text, "secret") if _is_chosen(text[slice(*span)]))
    if _PGPASS_FILE.is_in(text):
        yield from (span for span in _PGPASS_NAMED.spans(text, "secret") if not is_placeholder(text[slice(*span)]))
    if _JWK.is_in(text):
        yield from _PRIVATE.spans(text, "secret")


def _groups(match: Match, *names: str) -> Iterator[Span]:
    return (span for span in map(match.span, names) if span[0] >= 0)


def _is_value(value: str) -> bool:
    return not is_placeholder(value)


def _is_chosen(value: str) -> bool:
    """With letters and digits: the options of other commands take words and numbers."""
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value) and not is_placeholder(value)


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (*_LINES, *_COMMANDS, _USER, _PGPASS_FILE, _JWK)
