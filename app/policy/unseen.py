"""A text as the detectors read it: without what nobody sees in it, and with plain digits and dashes in its numbers.

An invisible sign in a key, or the dash of a typesetter in a card's number, is there by accident or to hide it. Usual
text is read as it is.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from app.policy.detector import Span

_UNSEEN = "\u00ad\u200b-\u200d\u2060\ufeff"
"""Soft hyphen, spaces and joiners without width, byte order mark."""
_DASHES = "\u2010-\u2015"
_WIDE = "０１２３４５６７８９"
_INVISIBLE = re.compile(f"[{_UNSEEN}]")
_DASH = re.compile(rf"(?<=\d)[{_DASHES}](?=\d)")
_UNUSUAL = re.compile(f"[{_UNSEEN}{_WIDE}]|{_DASH.pattern}")
_DIGITS = str.maketrans(_WIDE, "0123456789")


class Plain(NamedTuple):
    """A text to read, and where in it characters were left out."""

    text: str
    gone: Sequence[int] = ()
    """For each character that was left out, in order, which one of ``text`` comes next."""

    def original(self, span: Span) -> Span:
        """Where a place in ``text``, of at least one character, is in the text as it came."""
        start, end = span
        return start + bisect_right(self.gone, start), end + bisect_right(self.gone, end - 1)


def plain(text: str) -> Plain:
    """``text`` as it is read. Linear in its length."""
    if text.isascii() or not _UNUSUAL.search(text):
        return Plain(text)
    gone = [sign.start() - before for before, sign in enumerate(_INVISIBLE.finditer(text))]
    seen = _INVISIBLE.sub("", text) if gone else text
    return Plain(_DASH.sub("-", seen.translate(_DIGITS)), gone)
