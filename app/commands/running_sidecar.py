"""A running sidecar as the commands know it: where it is, what it answers, and how that is printed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from app.settings import Settings

if TYPE_CHECKING:
    import httpx  # loaded when a command runs: `serve` does without it

CONNECT_S, ANSWER_S = 5.0, 120.0


class Failed(Exception):
    """The command did not work; the message is one line that names what is wrong."""


Command = Callable[["httpx.Client", argparse.Namespace], int]
"""What a command does; the exit status."""


def add_command(commands: Any, name: str, does: str) -> argparse.ArgumentParser:
    """A new command, with the options that all of them have."""
    command: argparse.ArgumentParser = commands.add_parser(name, help=does)
    command.add_argument("--url", help="the running sidecar (default: where serve would listen)")
    command.add_argument("--token", help="its token (default: the first of SIDECAR_AUTH__TOKENS)")
    command.add_argument("--account", help="OpenViking account, for a token that may act for any")
    command.add_argument("--user", help="OpenViking user, likewise")
    command.add_argument("--text", action="store_true", help="lines for people instead of JSON")
    return command


def complain(arguments: argparse.Namespace, what: object) -> None:
    """Say on standard error what went wrong, in a line."""
    print(f"openviking-sidecar {arguments.command}: {what}", file=sys.stderr)


@contextmanager
def connected(settings: Settings, arguments: argparse.Namespace) -> Iterator[httpx.Client]:
    """A client for the sidecar that the options or the settings name. Raises `Failed`."""
    import httpx

    url = arguments.url or _own_url(settings)
    headers = {
        "Authorization": f"Bearer {token}" if (token := arguments.token or _own_token(settings, arguments)) else None,
        "X-OpenViking-Account": arguments.account,
        "X-OpenViking-User": arguments.user,
    }
    sent = {name: value for name, value in headers.items() if value}
    if not all(map(str.isascii, sent.values())):
        raise Failed("--token, --account and --user are ASCII")
    try:
        timeout = httpx.Timeout(ANSWER_S, connect=CONNECT_S)
        with httpx.Client(base_url=url, headers=sent, timeout=timeout, trust_env=False) as client:
            yield client
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


def answer_of(response: httpx.Response) -> Any:
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


def print_answer(arguments: argparse.Namespace, body: Any, lines: Callable[[], Iterator[str]]) -> int:
    """Print an answer as JSON, or as ``lines`` where those were asked for; 0, the exit status."""
    if arguments.text:
        for line in lines():
            print(line)
    else:
        print(json.dumps(body, indent=2, ensure_ascii=False))
    return 0
