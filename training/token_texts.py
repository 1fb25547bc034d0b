"""Texts of many kinds to learn token weights from: this repository's own files and examples, and generated data."""

import base64
import json
import random
import string
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLES = Path(__file__).parent / "examples"

Texts = list[tuple[str, str]]
"""(kind, text)."""

_FILES = {
    "Python": ("app/**/*.py", "tests/**/*.py"),
    "JavaScript": ("integrations/**/*.js",),
    "JSON": ("openapi/*.json", "integrations/openclaw/*.json"),
    "HTML": ("app/api/templates/*.html",),
    "CSS": ("app/api/templates/*.css",),
    "Markdown": ("*.md", "docs/**/*.md"),
    "TOML": ("*.toml",),
}
_MOST_OF_A_KIND = 150
_LENGTHS = (150, 400, 1_000, 2_500)


def texts(seed: int = 7) -> Texts:
    """The examples, the same every time for the same files."""
    rng = random.Random(seed)
    made: Texts = []
    for kind, patterns in _FILES.items():
        found = sorted(path for pattern in patterns for path in ROOT.glob(pattern) if "node_modules" not in path.parts)
        whole = [path.read_text("utf-8") for path in found]
        pieces = list(_pieces(rng, whole))
        made += [(kind, piece) for piece in rng.sample(pieces, min(len(pieces), _MOST_OF_A_KIND))]
    made += list(_written(rng))
    for kind, make in GENERATORS.items():
        made += [(kind, make(rng)) for _ in range(40)]
    return made


def _pieces(rng: random.Random, whole: list[str]) -> Iterator[str]:
    """Pieces of different lengths, cut anywhere: a guard cuts anywhere, too."""
    for text in whole:
        place = 0
        while place < len(text):
            length = rng.choice(_LENGTHS)
            if (piece := text[place : place + length]).strip():
                yield piece
            place += length


def _written(rng: random.Random) -> Iterator[tuple[str, str]]:
    """What was written for this repository: paragraphs in a language, and messages put together to longer texts."""
    for line in (EXAMPLES / "tokens.jsonl").read_text("utf-8").splitlines():
        example = json.loads(line)
        kind, text = example["kind"], example["text"]
        yield kind, text
        for _ in range(9):
            start = rng.randrange(max(1, len(text) - 80))
            yield kind, text[start : start + rng.randrange(60, 240)]
    by_language: dict[str, list[str]] = {}
    for name in ("task", "skip"):
        for line in (EXAMPLES / f"{name}.jsonl").read_text("utf-8").splitlines():
            example = json.loads(line)
            by_language.setdefault(example["lang"], []).append(example["text"])
    for language, said in by_language.items():
        for _ in range(40):
            yield f"said ({language})", rng.choice("\n ").join(rng.sample(said, min(len(said), rng.randrange(2, 14))))


def _words(rng: random.Random, count: int) -> list[str]:
    return ["".join(rng.choices(string.ascii_lowercase, k=rng.randrange(2, 11))) for _ in range(count)]


def _base64(rng: random.Random) -> str:
    text = base64.b64encode(rng.randbytes(rng.randrange(60, 1_500))).decode()
    width = rng.choice((64, 76, 10_000))
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


def _hex(rng: random.Random) -> str:
    separator, width = rng.choice((("", 32), ("", 64), (" ", 2), (":", 2), (" ", 4), ("\n", 40)))
    text = rng.randbytes(rng.randrange(60, 800)).hex()
    text = text.upper() if rng.random() < 0.2 else text
    return separator.join(text[at : at + width] for at in range(0, len(text), width))


def _hexdump(rng: random.Random) -> str:
    rows = []
    for at in range(0, 16 * rng.randrange(4, 30), 16):
        data = rng.randbytes(16)
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data)
        rows.append(f"{at:08x}  {data[:8].hex(' ')}  {data[8:].hex(' ')}  |{shown}|")
    return "\n".join(rows)


def _numbers(rng: random.Random) -> str:
    separator = rng.choice((", ", ",", " ", "\t", "\n"))
    makers: list[Callable[[], str]] = [
        lambda: str(rng.randrange(10)),
        lambda: str(rng.randrange(100_000)),
        lambda: f"{rng.uniform(-1000, 1000):.{rng.randrange(1, 8)}f}",
        lambda: f"{rng.random():.17g}",
        lambda: f"{rng.uniform(0, 1e9):.3e}",
        lambda: str(rng.randrange(10**12)),
    ]
    make = rng.choice(makers)
    return separator.join(make() for _ in range(rng.randrange(20, 200)))


def _csv(rng: random.Random) -> str:
    rows = [",".join(_words(rng, 5))]
    for number in range(rng.randrange(5, 50)):
        day = f"2025-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
        rows.append(
            f"{number},{day},{rng.choice(_NAMES)},{rng.uniform(0, 500):.2f},{rng.choice(('true', 'false', ''))}"
        )
    return "\n".join(rows)


def _log(rng: random.Random) -> str:
    rows = []
    for _ in range(rng.randrange(4, 40)):
        day, clock = f"2025-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}", f"{rng.randrange(24):02}:07:41"
        level = rng.choice(("INFO", "WARN", "ERROR", "DEBUG"))
        where = rng.choice(("db.pool", "http.server", "cron[212]", "auth"))
        told = f"id={rng.randrange(1 << 32):08x} ms={rng.randrange(4000)} ip=10.{rng.randrange(256)}.0.7"
        rows.append(f"{day}T{clock}.{rng.randrange(1000):03}Z {level:5} {where} {rng.choice(_EVENTS)} {told}")
    return "\n".join(rows)


def _json(rng: random.Random) -> str:
    def item() -> dict[str, object]:
        return {
            "id": str(uuid.UUID(int=rng.getrandbits(128))),
            "name": rng.choice(_NAMES),
            "createdAt": f"2025-{rng.randrange(1, 13):02}-11T08:{rng.randrange(60):02}:00Z",
            "amount": round(rng.uniform(0, 900), 2),
            "tags": rng.sample(_EVENTS[0].split() + _EVENTS[2].split(), 3),
            "active": rng.random() < 0.5,
            "parent": None,
        }

    indent = rng.choice((None, None, 2, 4))
    separators = (",", ":") if indent is None and rng.random() < 0.6 else None
    return json.dumps([item() for _ in range(rng.randrange(1, 12))], indent=indent, separators=separators)


def _ids(rng: random.Random) -> str:
    kinds: list[Callable[[], str]] = [
        lambda: str(uuid.UUID(int=rng.getrandbits(128))),
        lambda: "sk-" + "".join(rng.choices(string.ascii_letters + string.digits, k=40)),
        lambda: "/".join(_words(rng, 5)) + ".py",
        lambda: (
            f"https://{rng.choice(_NAMES).split()[0].lower()}.example.com/a/{rng.randrange(10**7)}?q={rng.choice(_EVENTS).split()[0]}"
        ),
        lambda: f"{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(256)}",
    ]
    make = rng.choice(kinds)
    return "\n".join(make() for _ in range(rng.randrange(3, 40)))


def _gibberish(rng: random.Random) -> str:
    return " ".join(_words(rng, rng.randrange(10, 120)))


def _spaces(rng: random.Random) -> str:
    rows = []
    for _ in range(rng.randrange(5, 40)):
        cells = [
            f"{rng.choice(_NAMES):<{rng.choice((14, 24, 40))}}",
            f"{rng.randrange(10**5):>{rng.choice((8, 16))}}",
            "" * 3,
        ]
        rows.append(
            " " * rng.choice((0, 4, 12)) + (" " * rng.choice((1, 6))).join(cells) + rng.choice(("", "\n", "   "))
        )
    return "\n".join(rows)


def _rules(rng: random.Random) -> str:
    rows = []
    for _ in range(rng.randrange(3, 20)):
        rows.append(rng.choice("-=*#_~.") * rng.randrange(3, 90))
        rows.append(rng.choice(_EVENTS))
    return "\n".join(rows)


def _runs(rng: random.Random) -> str:
    """The same character again and again, as in fillers, laughter and underlines."""
    characters = string.ascii_letters + string.digits + "!?.," + "äжхア"
    runs = (rng.choice(characters) * rng.choice((3, 5, 12, 40, 150)) for _ in range(rng.randrange(3, 20)))
    return rng.choice(" \n").join(f"{run} {rng.choice(_EVENTS)}" if rng.random() < 0.5 else run for run in runs)


def _upper(rng: random.Random) -> str:
    return "\n".join(
        rng.choice(_EVENTS).upper().replace(" ", rng.choice((" ", "_"))) for _ in range(rng.randrange(3, 20))
    )


def _camel(rng: random.Random) -> str:
    def name() -> str:
        return "".join(word.capitalize() for word in rng.choice(_EVENTS).split()[: rng.randrange(1, 5)])

    return rng.choice((" ", ".", "\n", "(), ")).join(name() for _ in range(rng.randrange(10, 60)))


def _minified(rng: random.Random) -> str:
    def step() -> str:
        a, b, c = rng.choices("abcdefghntruo", k=3)
        word = rng.choice(_EVENTS).split()[0]
        return rng.choice(
            (
                f"function {a}({b},{c}){{return {b}.{word}&&{c}({b})}}",
                f"var {a}={b}[{rng.randrange(200)}],{c}=!0;",
                f'if({a}!=={b}){{{c}.push("{word}");}}',
                f"({a}=>{b}.{word}?.{c}||null)(this),",
                f"{a}.exports={{{word}:{b},default:{c}}};",
            )
        )

    return "".join(step() for _ in range(rng.randrange(5, 60)))


def _escaped(rng: random.Random) -> str:
    """JSON in JSON, as tool results often are, with other scripts escaped."""
    said = rng.choice(("Отчёт готов", "数据库已迁移", "Straße und Größe", "オーケー"))
    inner = json.dumps(
        {"path": "C:\\temp\\" + rng.choice(_EVENTS).split()[0], "said": said, "text": _json(rng)[:400] + "\n\tend"}
    )
    return json.dumps({"output": inner})


_NAMES = [
    "Ada Okafor", "Bram de Vries", "Chiara Conti", "Deniz Yilmaz", "Elif Kaya", "Femi Adeyemi", "Greta Lindqvist",
    "Hiro Tanaka", "Ines Carvalho", "Jonas Weber", "Keiko Mori", "Lucas Moreau", "Maya Cohen", "Nikolai Petrov",
    "Olga Kowalska", "Priya Nair", "Quentin Hall", "Rosa Jimenez", "Sven Aalto", "Tomas Novak",
]  # fmt: skip
_EVENTS = [
    "connection reset by peer while reading response header",
    "request completed",
    "slow query detected on table invoices rows examined",
    "user signed in from a new device",
    "retrying payment capture after timeout",
    "cache miss for product listing page",
    "background job finished",
    "certificate expires soon renew before the deadline",
    "worker restarted because of memory pressure",
    "could not open configuration file permission denied",
]
GENERATORS: dict[str, Callable[[random.Random], str]] = {
    "base64": _base64,
    "hex": _hex,
    "hexdump": _hexdump,
    "numbers": _numbers,
    "CSV": _csv,
    "log": _log,
    "JSON records": _json,
    "identifiers": _ids,
    "gibberish": _gibberish,
    "columns": _spaces,
    "rules": _rules,
    "runs": _runs,
    "upper case": _upper,
    "camel case": _camel,
    "minified": _minified,
    "escaped": _escaped,
}
