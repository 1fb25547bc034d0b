"""How far off token estimates are, by kind of text and by tokenizer, on texts that nothing was learnt from.

    python -m benchmarks.tokens [--worst 5]

The texts come from what is installed here and was written by others: Python's standard library and headers, packages'
files and manifests, manual pages, translations of the system's programs, certificates, logs. Needs the dependency group
``tokens`` (see `training.tokenizers`); a kind of which nothing is installed is left out. Exits 1 when an error is above
the limits for the tokenizer that the weights were learnt from. Also printed: the time per text.
"""

import argparse
import gettext
import gzip
import random
import re
import statistics
import sys
import sysconfig
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from app.core.messages.tokens import estimate_tokens
from training.tokenizers import available

MEDIAN, P95 = 0.10, 0.25
LEARNT_FROM = "o200k"
SAMPLES = 24
LENGTHS = (250, 700, 2_000, 5_000)
SHARE = Path("/usr/share")
LANGUAGES = (
    "ar bg bn ca cs da de el es et eu fa fi fr he hi hr hu id it ja ka kk ko lt lv ms nb nl pl pt_BR ro ru sk sl sr sv "
    "ta te th tr uk vi zh_CN zh_TW"
)


def main() -> int:
    """Print the errors; 1 if they are too large."""
    parser = argparse.ArgumentParser(description="How far off token estimates are.")
    parser.add_argument("--worst", type=int, default=0, help="show so many of the worst texts of each tokenizer")
    asked = parser.parse_args()
    texts = [(kind, text) for kind, pool in blind_texts().items() for text in pool]
    began = time.perf_counter()
    estimates = [estimate_tokens(text) for _, text in texts]
    took = time.perf_counter() - began
    characters = sum(len(text) for _, text in texts)
    each, one = took / len(texts) * 1e6, took / characters * 1e9
    print(f"{len(texts)} texts, {characters:,} characters: {each:.1f} µs a text, {one:.1f} ns a character")
    tokenizers = available()
    if not tokenizers:
        print("no tokenizer is installed: uv pip install --group tokens")
        return 1
    columns = {
        name: _errors(texts, estimates, count([text for _, text in texts])) for name, count in tokenizers.items()
    }
    print(f"{'median / p95 of the error':26}" + "".join(f"{name:>20}" for name in columns))
    for kind in dict.fromkeys(kind for kind, _ in texts):
        rows = [_figures([abs(error) for of, error in errors if of == kind]) for errors in columns.values()]
        print(f"{kind:26}" + "".join(f"{median:12.1%} {p95:6.1%}" for median, p95 in rows))
    overall = {name: _figures([abs(error) for _, error in errors]) for name, errors in columns.items()}
    print(f"{'all':26}" + "".join(f"{median:12.1%} {p95:6.1%}" for median, p95 in overall.values()))
    for name, errors in columns.items():
        ranked = sorted(zip(errors, texts, strict=True), key=lambda pair: -abs(pair[0][1]))
        for (kind, error), (_, text) in ranked[: asked.worst]:
            print(f"{name} {kind} {error:+.0%}: {text[:100]!r}")
    median, p95 = overall.get(LEARNT_FROM) or max(overall.values())
    return int(median > MEDIAN or p95 > P95)


def blind_texts() -> dict[str, list[str]]:
    """Samples by kind; the same on a machine every time."""
    rng = random.Random(20)
    pools: defaultdict[str, list[str]] = defaultdict(list)
    for kind, text in _found():
        pools[kind].append(text)
    return {kind: list(_samples(rng, pool)) for kind, pool in sorted(pools.items()) if sum(map(len, pool)) > 2_000}


def _samples(rng: random.Random, pool: list[str]) -> Iterator[str]:
    for _ in range(SAMPLES):
        text, length = rng.choice(pool), rng.choice(LENGTHS)
        start = rng.randrange(max(1, len(text) - length))
        if piece := text[start : start + length].strip():
            yield piece


def _found() -> Iterator[tuple[str, str]]:
    paths = {name: Path(path) for name, path in sysconfig.get_paths().items()}
    yield from _files("Python", paths["stdlib"], "*.py")
    yield from _files("Python, packages", paths["purelib"], "[!_]*/*.py")
    yield from _files("C headers", paths["include"], "**/*.h")
    for kind, pattern in {
        "Markdown": "*.dist-info/METADATA",
        "hashes": "*.dist-info/RECORD",
        "JSON": "**/*.json",
        "minified JavaScript": "**/*.js",
        "CSS": "**/*.css",
        "CSV, numbers": "**/*.csv",
        "type stubs": "**/*.pyi",
    }.items():
        yield from _files(kind, paths["purelib"], pattern)
    yield from _files("base64", SHARE / "ca-certificates", "**/*.crt")
    yield from _files("licences", SHARE / "common-licenses", "*")
    yield from _files("licences", SHARE / "doc", "*/copyright")
    yield from _files("shell", Path("/usr/bin"), "*", starts="#!/bin/sh")
    yield from _files("Perl", SHARE, "perl*/**/*.pm")
    yield from _files("logs", Path("/var/log"), "*.log")
    yield from _files("manual pages (roff)", SHARE / "man" / "man1", "*.gz")
    yield from _files("change logs", SHARE / "doc", "*/changelog*.gz")
    yield from _files("XML", SHARE, "*/**/*.xml")
    yield "emoji", _emoji()
    for language in LANGUAGES.split():
        if text := _translated(language):
            yield f"language {language}", text


def _files(kind: str, root: Path, pattern: str, *, most: int = 60, starts: str = "") -> Iterator[tuple[str, str]]:
    """Up to ``most`` of the files, spread over all that there are."""
    found = sorted(path for path in root.glob(pattern) if path.is_file()) if root.is_dir() else []
    for path in found[:: max(1, len(found) // most)]:
        try:
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            text = data.decode("utf-8")
        except (OSError, UnicodeDecodeError, EOFError):
            continue
        if len(text) > 200 and text.startswith(starts):
            yield kind, text


def _translated(language: str) -> str:
    """What the programs here say in a language: sentences, without the marks of formatting."""
    said: dict[str, None] = {}
    for path in sorted((SHARE / "locale" / language / "LC_MESSAGES").glob("*.mo"))[:40]:
        try:
            with path.open("rb") as file:
                catalogue = vars(gettext.GNUTranslations(file)).get("_catalog", {})
        except (OSError, UnicodeDecodeError, ValueError):
            continue
        for source, text in catalogue.items():
            if isinstance(source, str) and isinstance(text, str) and len(source) > 40 and text != source:
                said[re.sub(r"%[-+ #0-9.$]*[a-zA-Z]|[\x00-\x08]", "", text)] = None
    return "\n".join(said)


def _emoji() -> str:
    rng = random.Random(3)
    faces = [chr(point) for point in (*range(0x1F600, 0x1F650), *range(0x1F300, 0x1F600), *range(0x1F680, 0x1F6C0))]
    words = ["great", "news", "see", "you", "there", "thanks", "so", "much", "happy", "birthday", "what", "a", "match"]
    return " ".join(rng.choice(words) if rng.random() < 0.6 else rng.choice(faces) for _ in range(3_000))


def _errors(texts: list[tuple[str, str]], estimates: list[int], counts: list[int]) -> list[tuple[str, float]]:
    return [
        (kind, estimate / max(1, count) - 1)
        for (kind, _), estimate, count in zip(texts, estimates, counts, strict=True)
    ]


def _figures(errors: list[float]) -> tuple[float, float]:
    return statistics.median(errors), sorted(errors)[int(len(errors) * 0.95)]


if __name__ == "__main__":
    sys.exit(main())
