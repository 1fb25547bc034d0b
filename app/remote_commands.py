"""Memory on the command line: ``openviking-sidecar search | ls | history | remember | forget | export | import``.

They talk to a running sidecar, as any other client does, and print its answers: JSON, or lines with ``--text``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic.alias_generators import to_camel

from app.settings import Settings

if TYPE_CHECKING:
    import httpx  # loaded when a command runs: `serve` does without it

CONNECT_S, ANSWER_S = 5.0, 120.0
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


class Failed(Exception):
    """The command did not work; the message is one line that names what is wrong."""


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to the command line."""
    search = _command(commands, "search", "search memories")
    search.add_argument("--query", required=True, help="what you want to know")
    search.add_argument("--category", help="only this category")
    search.add_argument("--limit", type=int, default=10, help="most memories (default 10)")
    ls = _command(commands, "ls", "list what is stored, as a tree")
    ls.add_argument("uri", nargs="?", help="a folder or a memory (default: all)")
    history = _command(commands, "history", "list the newest turns and where they are on their way")
    history.add_argument("--limit", type=int, default=20, help="most turns (default 20)")
    remember = _command(commands, "remember", "store a memory")
    remember.add_argument("--content", required=True, help="what is to be remembered")
    remember.add_argument("--type", help="category, such as preferences (default: by the content)")
    remember.add_argument("--priority", choices=["normal", "high"], help="how much it matters")
    _add_forget(commands)
    _command(commands, "export", "print all memories with their history, one a line")
    take_in = _command(commands, "import", "take in what export printed")
    take_in.add_argument("file", help="the file, or - for standard input")


def _add_forget(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    forget = _command(commands, "forget", "forget what is selected; says what it would do until --yes is given")
    selection = forget.add_mutually_exclusive_group(required=True)
    for name, meaning in SELECTIONS.items():
        how: dict[str, Any] = {"last_days": {"type": float}, "everything": {"action": "store_true", "default": None}}
        selection.add_argument(f"--{name.replace('_', '-')}", help=meaning, **how.get(name, {}))
    forget.add_argument("--until", help="with --since: up to this moment")
    forget.add_argument("--yes", action="store_true", help="do it")


def _command(commands: Any, name: str, does: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=does)
    command.add_argument("--url", help="the running sidecar (default: where serve would listen)")
    command.add_argument("--token", help="its token (default: the first of SIDECAR_AUTH__TOKENS)")
    command.add_argument("--account", help="OpenViking account, for a token that may act for any")
    command.add_argument("--user", help="OpenViking user, likewise")
    command.add_argument("--text", action="store_true", help="lines for people instead of JSON")
    return command


def run_remote(settings: Settings, arguments: argparse.Namespace) -> int:
    """Run one of the commands; the exit status."""
    try:
        with _client(settings, arguments) as client:
            return _COMMANDS[arguments.command](client, arguments)
    except Failed as failure:
        print(f"openviking-sidecar {arguments.command}: {failure}", file=sys.stderr)
        return 1


def _search(client: httpx.Client, arguments: argparse.Namespace) -> int:
    asked = {"query": arguments.query, "category": arguments.category, "limit": arguments.limit}
    found = _answer(client.get("/memories", params={name: value for name, value in asked.items() if value is not None}))
    return _print(arguments, found, lambda: map(_memory_line, found["memories"]))


def _ls(client: httpx.Client, arguments: argparse.Namespace) -> int:
    asked = {"uri": arguments.uri} if arguments.uri else {}
    answer = _answer(client.post("/tools/ov_ls", json={"arguments": asked}))
    text = answer["content"][0]["text"]
    if not answer["ok"]:
        raise Failed(text)
    return _print(arguments, answer["details"], lambda: iter(_unquoted(text)))


def _history(client: httpx.Client, arguments: argparse.Namespace) -> int:
    page = _answer(client.get("/deliveries", params={"limit": arguments.limit}))
    lines = (
        f"{turn['createdAt']}  {turn['state']:9}  {turn['session']}  {turn['turnId']}" for turn in page["deliveries"]
    )
    return _print(arguments, page, lambda: lines)


def _remember(client: httpx.Client, arguments: argparse.Namespace) -> int:
    asked = {"text": arguments.content, "category": arguments.type, "importance": arguments.priority}
    stored = _answer(client.post("/memories", json={name: value for name, value in asked.items() if value is not None}))
    return _print(arguments, stored, lambda: iter([_memory_line(stored)]))


def _forget(client: httpx.Client, arguments: argparse.Namespace) -> int:
    given = {name: getattr(arguments, name) for name in (*SELECTIONS, "until")}
    selection = {to_camel(name): value for name, value in given.items() if value is not None}
    receipt = _answer(client.post("/memories/forget", json={**selection, "dryRun": not arguments.yes}))

    def lines() -> Iterator[str]:
        yield from (f"{one['id']}  {one['category']}  {one['uri']}" for one in receipt["selected"])
        yield from (f"kept: {one['what']} ({one['why']})" for one in receipt["kept"])
        yield "forgotten" if arguments.yes else "nothing was forgotten yet: add --yes"

    return _print(arguments, receipt, lines)


def _export(client: httpx.Client, _arguments: argparse.Namespace) -> int:
    with client.stream("GET", "/memories/export") as response:
        if not response.is_success:
            response.read()
            _answer(response)
        for chunk in response.iter_bytes():
            sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()
    return 0


def _import(client: httpx.Client, arguments: argparse.Namespace) -> int:
    try:
        lines = sys.stdin.buffer.read() if arguments.file == "-" else Path(arguments.file).read_bytes()
    except OSError as error:
        raise Failed(f"{arguments.file} can not be read: {error.strerror}") from None
    answer = client.post("/memories/import", content=lines, headers={"Content-Type": "application/x-ndjson"})
    done = _answer(answer)

    def told() -> Iterator[str]:
        yield f"imported {done['imported']}, skipped {done['skipped']}"
        yield from (f"line {one['line']}: {one['detail']}" for one in done["rejected"])

    return _print(arguments, done, told) or int(bool(done["rejected"]))


_COMMANDS: Mapping[str, Callable[[httpx.Client, argparse.Namespace], int]] = {
    "search": _search,
    "ls": _ls,
    "history": _history,
    "remember": _remember,
    "forget": _forget,
    "export": _export,
    "import": _import,
}
NAMES = frozenset(_COMMANDS)


@contextmanager
def _client(settings: Settings, arguments: argparse.Namespace) -> Iterator[httpx.Client]:
    """A client for the sidecar that the options or the settings name. Raises `Failed`."""
    import httpx

    url = arguments.url or _own_url(settings)
    headers = {
        "Authorization": f"Bearer {token}" if (token := arguments.token or _own_token(settings, arguments)) else None,
        "X-OpenViking-Account": arguments.account,
        "X-OpenViking-User": arguments.user,
    }
    try:
        sent = {name: value.encode("ascii").decode() for name, value in headers.items() if value}
        timeout = httpx.Timeout(ANSWER_S, connect=CONNECT_S)
        with httpx.Client(base_url=url, headers=sent, timeout=timeout, trust_env=False) as client:
            yield client
    except UnicodeEncodeError:
        raise Failed("--token, --account and --user are ASCII") from None
    except httpx.ConnectError:
        raise Failed(f"no sidecar answers at {url}: start it with serve, or name another with --url") from None
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        raise Failed(f"--url {url} is no http address") from None
    except httpx.HTTPError as error:
        raise Failed(f"{url} broke off: {type(error).__name__}") from None


def _own_url(settings: Settings) -> str:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104 - where it listens
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"


def _own_token(settings: Settings, arguments: argparse.Namespace) -> str:
    """The first token that may act for the tenant that the options name."""
    for token, tenant in settings.auth.parsed().items():
        bound = (tenant.account, tenant.user) if tenant else (None, None)
        asked = (arguments.account, arguments.user)
        if all(has is None or wants is None or has == wants for has, wants in zip(bound, asked, strict=True)):
            return token
    return ""


def _answer(response: httpx.Response) -> Any:
    """The body of an answer. Raises `Failed` with what a problem document says."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if response.is_success and isinstance(body, dict):
        return body
    if isinstance(body, dict) and isinstance(body.get("detail"), str):
        candidates = "".join(f" {one['id']}" for one in body.get("candidates") or ())
        raise Failed(f"{body.get('code', response.status_code)}: {' '.join(body['detail'].split())}{candidates}")
    raise Failed(f"HTTP {response.status_code} from {response.url}: is this a sidecar of this version?")


def _print(arguments: argparse.Namespace, body: Any, lines: Callable[[], Iterator[str]]) -> int:
    if arguments.text:
        for line in lines():
            print(line)
    else:
        print(json.dumps(body, indent=2, ensure_ascii=False))
    return 0


def _memory_line(memory: Mapping[str, Any]) -> str:
    return f"{memory['id']}  {memory['createdAt'][:10]}  {memory['category']}: {' '.join(memory['text'].split())}"


def _unquoted(text: str) -> list[str]:
    """Without the tags around what was stored: they are for models."""
    return [
        line for line in text.splitlines() if not line.startswith(("<openviking-context>", "</openviking-context>"))
    ]
