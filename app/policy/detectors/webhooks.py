"""Tokens in the path of a webhook's URL, at any host: whoever knows the URL may post there.

Webhooks of well-known services are told by their host: see `app.policy.detectors.urls`.
"""

import re
from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import is_placeholder

_URL = Pattern(r"(?i)https?://(?P<host>[^\s\"'`<>/?#]{3,255})(?P<path>/[^\s\"'`<>?#，。；、）)\]]{20,400})")
_SIGN = Pattern(
    r"(?i)(?:hook|钩子|鉤子)(?s:.{0,100})https?://[^\s/]{3,255}/(?:[^\s]{0,400}/)?[a-z0-9_-]{20}"
    r"|https?://[^\s]{0,400}(?:hook|/incoming|/inbound)[^\s]{0,400}/[a-z0-9_-]{20}"
)
_SEGMENT = re.compile(r"[^/]+")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,256}")
_HOST = re.compile(r"(?i)(?:^|[.-])(?:web)?hooks?(?:[.:-]|$)")
_HOOKS = re.compile(r"(?i)(?:in(?:coming|bound)|(?:web)?hooks?)|.*webhook.*")
"""A segment of a path that names a webhook."""
_DIRECT = frozenset(("hook", "hooks", "webhook", "incoming", "inbound", "in"))
"""Behind these a value in hex is a token as well; in a collection (``/webhooks/``) it is what something is called by."""
_NAMED = re.compile(r"(?i)(?:(?:web|_|\b)hooks?(?![a-z])|webhook|钩子|鉤子)")
_BEFORE = 60
_OTHER_THING = re.compile(
    r"(?i)\b(?:see|docs?|guides?|design|failed|fails|logs?|commit|issue|ticket|article|blog|image|video|about|because|screenshot)\b"
    r"|[.!?。！？]\s|见|文档|设计|日志|截图"
)
"""What a sentence about a webhook links to."""
_DOCUMENTS = re.compile(
    r"(?i)(?:d|doc|docs|document|file|files|folders|watch|commit|commits|blob|blobs|tree|pull|releases|issues|runs|jobs|artifacts|images|layers|"
    r"board|s|share|p|design|proto|spreadsheets|presentation|manifests|objects|assets)"
)
"""What stands in a path before the name of a document."""
_HEX = re.compile(r"(?:[0-9a-f]+|[0-9A-F]+)")
_HEX_SIZES = (32, 40, 48, 64)
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID = re.compile(r"[a-z]{2,5}_[A-Za-z0-9]+")
"""As interfaces call things by: ``we_1Mx...``."""
_JOINTS = re.compile("[-_]")
_TURN = re.compile(r"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])")
_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[a-z])")
_LEAST_PART, _LEAST_TURNS, _LEAST_CASES = 8, 3, 6


def find(text: str) -> Iterator[Span]:
    """Segments that a machine drew, behind what names a webhook in the URL or before it."""
    if not _SIGN.is_in(text):
        return
    for match in _URL.finditer(text):
        start = match.span()[0]
        is_named = _is_named_before(text, start)
        is_host = _HOST.search(match["host"] or "") is not None
        at = match.span("path")[0]
        last, is_path = "", False
        for segment in _SEGMENT.finditer(match["path"] or ""):
            value = segment[0]
            is_direct = last in _DIRECT and (is_path or is_host or is_named)
            if (
                (is_named or is_host or is_path)
                and _TOKEN.fullmatch(value)
                and (is_direct or not _DOCUMENTS.fullmatch(last))
                and _is_drawn(value, is_direct=is_direct)
            ):
                yield at + segment.start(), at + segment.end()
            last = value.lower()
            is_path = is_path or _HOOKS.fullmatch(value) is not None


def _is_named_before(text: str, start: int) -> bool:
    """Whether what stands before a URL, on its line or the one above, or above the keys that lead to it,
    names it as a webhook's."""
    ends = [named.end() for named in _NAMED.finditer(text, max(0, start - _BEFORE), start)]
    if not ends or _OTHER_THING.search(text, ends[-1], start):
        return False
    lines = text[ends[-1] : start].split("\n")
    return all(line.rstrip().endswith(":") for line in lines[1:-1])


def _is_drawn(value: str, *, is_direct: bool) -> bool:
    """Whether letters and digits change places as in no name: no digest, no id, no words with numbers."""
    if is_placeholder(value) or _UUID.fullmatch(value) or _ID.fullmatch(value):
        return False
    if _HEX.fullmatch(value):
        return is_direct and len(value) in _HEX_SIZES and not value.isdigit()
    part = max(_JOINTS.split(value), key=len)
    turns = len(_TURN.findall(part))
    return len(part) >= _LEAST_PART and (
        turns >= _LEAST_TURNS or (turns > 0 and len(_CASE.findall(part)) >= _LEAST_CASES)
    )


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_SIGN,)
