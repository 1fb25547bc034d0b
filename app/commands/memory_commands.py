"""Memory on the command line: ``openviking-sidecar search | ls | history | remember | forget | export``."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic.alias_generators import to_camel

from app.commands.running_sidecar import Command, Failed, add_command, answer_of, print_answer

if TYPE_CHECKING:
    import httpx  # loaded when a command runs: `serve` does without it

SELECTIONS = {
    "id": "the memory of this id",
    "uri": "the memory at this URI",
    "query": "the one memory that has all of these words",
    "session": "what was said in this session, and what was learnt from it alone",
    "person": "the turns of this sender or peer, and the peer's memories",
    "since": "all turns and memories since this moment (ISO 8601); see --until",
    "last_days": "all turns and memories of so many days up to now",
    "everything": "all turns and memories",
}
"""The selections of ``POST /memories/forget``."""


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to the command line."""
    search = add_command(commands, "search", "search memories")
    search.add_argument("--query", required=True, help="what you want to know")
    search.add_argument("--category", help="only this category")
    search.add_argument("--limit", type=int, default=10, help="most memories (default 10)")
    ls = add_command(commands, "ls", "list what is stored, as a tree")
    ls.add_argument("uri", nargs="?", help="a folder or a memory (default: all)")
    history = add_command(commands, "history", "list the newest turns and where they are on their way")
    history.add_argument("--limit", type=int, default=20, help="most turns (default 20)")
    remember = add_command(commands, "remember", "store a memory")
    remember.add_argument("--content", required=True, help="what is to be remembered")
    remember.add_argument("--type", help="category, such as preferences (default: by the content)")
    remember.add_argument("--priority", choices=["normal", "high"], help="how much it matters")
    _add_forget(commands)
    add_command(commands, "export", "print all memories with their history, one a line")


def _days(given: str) -> float:
    """A number that JSON can say. Raises `ValueError`, which argparse tells."""
    days = float(given)
    if not math.isfinite(days):
        raise ValueError(given)
    return days


_days.__name__ = "number"  # argparse: "invalid number value: 'nan'"


def _add_forget(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    forget = add_command(commands, "forget", "forget what is selected; says what it would do until --yes is given")
    selection = forget.add_mutually_exclusive_group(required=True)
    for name, meaning in SELECTIONS.items():
        how: dict[str, Any] = {"last_days": {"type": _days}, "everything": {"action": "store_true", "default": None}}
        selection.add_argument(f"--{name.replace('_', '-')}", help=meaning, **how.get(name, {}))
    forget.add_argument("--until", help="with --since: up to this moment")
    forget.add_argument("--yes", action="store_true", help="do it")


def _search(client: httpx.Client, arguments: argparse.Namespace) -> int:
    if not arguments.query.strip():
        raise Failed("--query is empty: say what you want to know, or list everything with ls")
    asked = {"query": arguments.query, "category": arguments.category, "limit": arguments.limit}
    found = answer_of(
        client.get("/memories", params={name: value for name, value in asked.items() if value is not None})
    )
    return print_answer(arguments, found, lambda: map(_memory_line, found["memories"]))


def _ls(client: httpx.Client, arguments: argparse.Namespace) -> int:
    asked = {"uri": arguments.uri} if arguments.uri else {}
    answer = answer_of(client.post("/tools/ov_ls", json={"arguments": asked}))
    text = answer["content"][0]["text"]
    if not answer["ok"]:
        raise Failed(text)
    return print_answer(arguments, answer["details"], lambda: iter(_unquoted(text)))


def _history(client: httpx.Client, arguments: argparse.Namespace) -> int:
    page = answer_of(client.get("/deliveries", params={"limit": arguments.limit}))
    lines = (
        f"{turn['createdAt']}  {turn['state']:9}  {turn['session']}  {turn['turnId']}" for turn in page["deliveries"]
    )
    return print_answer(arguments, page, lambda: lines)


def _remember(client: httpx.Client, arguments: argparse.Namespace) -> int:
    asked = {"text": arguments.content, "category": arguments.type, "importance": arguments.priority}
    stored = answer_of(
        client.post("/memories", json={name: value for name, value in asked.items() if value is not None})
    )
    return print_answer(arguments, stored, lambda: iter([_memory_line(stored)]))


def _forget(client: httpx.Client, arguments: argparse.Namespace) -> int:
    given = {name: getattr(arguments, name) for name in (*SELECTIONS, "until")}
    selection = {to_camel(name): value for name, value in given.items() if value is not None}
    receipt = answer_of(client.post("/memories/forget", json={**selection, "dryRun": not arguments.yes}))

    def lines() -> Iterator[str]:
        yield from (f"{one['id']}  {one['category']}  {one['uri']}" for one in receipt["selected"])
        yield from (f"kept: {one['what']} ({one['why']})" for one in receipt["kept"])
        yield "forgotten" if arguments.yes else "nothing was forgotten yet: add --yes"

    return print_answer(arguments, receipt, lines)


def _export(client: httpx.Client, _arguments: argparse.Namespace) -> int:
    with client.stream("GET", "/memories/export") as response:
        if not response.is_success:
            response.read()
            answer_of(response)
        for chunk in response.iter_bytes():
            sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()
    return 0


def take_in(client: httpx.Client, arguments: argparse.Namespace, file: str) -> int:
    """Import what `export` printed: a file's path, or ``-`` for standard input."""
    try:
        lines = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise Failed(f"{file} can not be read: {error.strerror}") from None
    answer = client.post("/memories/import", content=lines, headers={"Content-Type": "application/x-ndjson"})
    done = answer_of(answer)

    def told() -> Iterator[str]:
        yield f"imported {done['imported']}, skipped {done['skipped']}"
        yield from (f"line {one['line']}: {one['detail']}" for one in done["rejected"])

    return print_answer(arguments, done, told) or int(bool(done["rejected"]))


COMMANDS: Mapping[str, Command] = {
    "search": _search,
    "ls": _ls,
    "history": _history,
    "remember": _remember,
    "forget": _forget,
    "export": _export,
}


def _memory_line(memory: Mapping[str, Any]) -> str:
    return f"{memory['id']}  {memory['createdAt'][:10]}  {memory['category']}: {' '.join(memory['text'].split())}"


def _unquoted(text: str) -> list[str]:
    """Without the tags around what was stored: they are for models."""
    return [
        line for line in text.splitlines() if not line.startswith(("<openviking-context>", "</openviking-context>"))
    ]
