"""Token counts without a tokenizer: the host's model is unknown, its tokenizer loads from the network or is not public.

What a tokenizer makes of a text depends on its script, and on which kind of character follows which: a word begins, a
number goes on, upper case follows lower case, a line ends. So each character has a class, and a weight by its class and
that of the character before. The weights are learnt by ``training/tokens.py`` from the counts of a real tokenizer;
`python -m benchmarks.tokens` prints how far off they are on other texts.

No weight is negative, and a character counts most where nothing stands before it. So a text never counts less than its
beginning, and two texts together never more than each by itself.
"""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from importlib.resources import files
from zlib import adler32

MESSAGE_OVERHEAD = 4
"""Tokens that role and separators of a message cost."""

IMAGE_TOKENS = 1200
"""What an image costs in the middle of the field; its bytes say nothing about it."""

ASCII_CLASSES = (
    "aeiou",
    "tnsr",
    "lhdc",
    "mpfg",
    "ybwkv",
    "jxqz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "0123456789",
    " ",
    "\n\r\t\v\f",
    ".,;:!?'\"",
    "()[]{}<>/\\|&%$@^+`",
    "-=_*#~",
)
"""Classes 1 to 13; any other character is 14. Lower-case letters go by how common they are: the rarer, the shorter the
pieces that words are cut into. The last class is what lines are drawn with, of which a long run is few tokens."""
LEADS = (0xC2, 0xC3, 0xCE, 0xD0, 0xD5, 0xD8, 0xE0, 0xE1, 0xE2, 0xE3, 0xE4, 0xEA, 0xEE)
"""The first bytes of UTF-8 from which on a character is of class 2 to 14: signs, Latin with accents, Greek, Cyrillic,
Hebrew and Armenian, Arabic, Indic, Georgian to Khmer, punctuation and symbols, kana, Chinese, Hangul, all else."""
PREFIXES: Mapping[str, Sequence[str]] = {
    "umlauts, Nordic letters": ("c3a4", "c3a5", "c3a6", "c3b6", "c3b8", "c3bc"),
    "Ukrainian": ("d194", "d196", "d197", "d291"),
    "Serbian": ("d192", "d198", "d199", "d19a", "d19b"),
    "Bulgarian": ("d18a",),
    "Devanagari": ("e0a4", "e0a5"),
    "Bengali": ("e0a6", "e0a7"),
    "Tamil": ("e0ae", "e0af"),
    "Telugu": ("e0b0", "e0b1"),
    "Thai": ("e0b8", "e0b9"),
    "Georgian": ("e182", "e183"),
    "Ethiopic": ("e188", "e189", "e18a", "e18b", "e18c", "e18d"),
    "Khmer": ("e19e", "e19f"),
    "Vietnamese": ("e1ba", "e1bb"),
    "dashes, quotes": ("e280",),
    "boxes": ("e294", "e295"),
    "blocks": ("e296",),
    "Chinese punctuation": ("e380",),
    "kana": ("e381", "e382", "e383"),
    "wide forms": ("efbc", "efbd"),
    "emoji": ("f09f",),
}
"""What the first byte does not tell, by the beginning of a character in UTF-8."""
LETTER, OTHER = 15, 1
"""Classes of ASCII among scripts: letters and digits, and all else."""

UNIT = 64
"""Weights are kept as bytes, in parts of a token."""
_CONTINUED = bytes(range(0x80, 0xC0))
"""The bytes that UTF-8 continues a character with: without them a character is one byte."""
_SUMMED = 256
"""As many bytes as surely add up to less than the modulus of Adler-32."""
_PIECE = 8_192
"""Characters that are counted together: what they become fits into the processor's cache."""


def _ascii_table() -> bytes:
    table = bytearray([len(ASCII_CLASSES) + 1]) * 256
    for number, characters in enumerate(ASCII_CLASSES, 1):
        for character in characters:
            table[ord(character)] = number
    return bytes(table)


def _script_table() -> bytes:
    ascii_part = [LETTER if chr(code).isalnum() else OTHER for code in range(128)]
    return bytes(ascii_part + [1 + bisect_right(LEADS, lead) for lead in range(128, 256)])


ASCII, SCRIPTS = _ascii_table(), _script_table()
"""Tables for `bytes.translate`: classes that tell ASCII characters apart, and classes that tell scripts apart."""


def pairs_of(data: bytes, table: bytes) -> bytes:
    """For each character of UTF-8 its class and, in the upper four bits, that of the one before; 0 is none."""
    return _pairs(data.translate(table, b"" if data.isascii() else _CONTINUED))


def _pairs(classes: bytes) -> bytes:
    number = int.from_bytes(classes, "little")
    return (number | number << 12).to_bytes(len(classes) + 2, "little")[: len(classes)]


def _sum(data: bytes) -> int:
    """The bytes added up: the lower half of Adler-32 is their sum, and is found far sooner than by `sum`."""
    return sum([(adler32(data[at : at + _SUMMED]) & 0xFFFF) - 1 for at in range(0, len(data), _SUMMED)])


class TokenWeights:
    """Weights as learnt: ``ascii`` and ``scripts`` are 16 by 16, of class after class; ``leads`` are those of
    first bytes from 0x80 on; ``prefixes`` go by name."""

    def __init__(
        self,
        ascii: Sequence[Sequence[float]],
        scripts: Sequence[Sequence[float]],
        leads: Sequence[float],
        prefixes: Mapping[str, float],
    ) -> None:
        self._ascii, self._scripts = _as_bytes(ascii), _as_bytes(scripts)
        self._leads = bytes(128) + bytes(map(_units, leads))
        self._prefixes: dict[int, list[tuple[bytes, int]]] = {}
        for name, weight in prefixes.items():
            for prefix in map(bytes.fromhex, PREFIXES[name]):
                self._prefixes.setdefault(prefix[0], []).append((prefix, round(weight * UNIT)))

    def units(self, text: str) -> int:
        """What ``text`` counts, in parts of a token. Linear."""
        if len(text) > _PIECE:
            return sum([self._piece(text[at : at + _PIECE]) for at in range(0, len(text), _PIECE)])
        return self._piece(text)

    def _piece(self, text: str) -> int:
        data = text.encode("utf-8", "surrogatepass")
        if len(data) == len(text):
            return _sum(pairs_of(data, ASCII).translate(self._ascii))
        first = data.translate(None, _CONTINUED)
        units = _sum(_pairs(first.translate(ASCII)).translate(self._ascii))
        units += _sum(_pairs(first.translate(SCRIPTS)).translate(self._scripts)) + _sum(first.translate(self._leads))
        for lead, prefixes in self._prefixes.items():
            left = first.count(lead)
            for prefix, weight in prefixes:
                if not left:
                    break
                found = data.count(prefix)
                left -= found
                units += found * weight
        return units


def _as_bytes(weights: Sequence[Sequence[float]]) -> bytes:
    """The weights in units, by `pairs_of`'s bytes; with nothing before it a class has the most that it may have."""
    first = [max(row[number] for row in weights[1:]) for number in range(16)]
    return bytes([_units(weight) for row in (first, *weights[1:]) for weight in row])


def _units(weight: float) -> int:
    return min(255, round(weight * UNIT))


_WEIGHTS = TokenWeights(**json.loads(files(__package__).joinpath("token_weights.json").read_text("utf-8")))


def estimate_tokens(text: str) -> int:
    """About how many tokens ``text`` is; 0 only if it is empty. Linear."""
    return max(1, -(-_WEIGHTS.units(text) // UNIT)) if text else 0


def fitting(text: str, limit: int) -> int:
    """How many of the first characters of ``text`` surely count at most ``limit`` tokens. Linear."""
    left = limit * UNIT
    for start in range(0, len(text), _PIECE):
        piece = text[start : start + _PIECE]
        cost = _WEIGHTS.units(piece)
        if cost > left:
            lengths = range(len(piece))
            return start + max(0, bisect_right(lengths, left, key=lambda length: _WEIGHTS.units(piece[:length])) - 1)
        left -= cost
    return len(text)
