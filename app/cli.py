"""The command line: ``openviking-sidecar serve | openapi | doctor | outbox | rekey``, and `app.commands`."""

import argparse
import asyncio
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError
from pydantic_settings import SettingsError

from app import __version__
from app.commands.remote_commands import NAMES, add_commands, run_remote
from app.errors import CanNotStart
from app.settings import Settings, unknown_variables

COLLECT_EVERY = (20_000, 2, 1_000)
"""New objects between two collections of the youngest, and how many of those until older ones are looked through, too.

A collection stops everybody, for 0.4 ms a thousand objects: 24 ms for 60,000, and half a second for all of a large
turn's million. So all are seldom looked through: requests leave no cycles behind.
"""

READER_GONE = 141
"""The exit status when the output is not read any more: that of a program that SIGPIPE ended."""

SWITCH_S = 0.001
"""How long a thread that computes goes on while another one waits. An answer waits for it several times, after every
call of the system: beside one busy thread a health check took 13 ms at Python's 5 ms, and takes 7 ms."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is 0 when it worked, 1 when it did not, 2 for bad usage."""
    arguments = _parser().parse_args(argv)
    if arguments.command == "openapi":
        return _openapi(arguments.write, arguments.check)
    try:
        settings = _settings(arguments)
    except (ValidationError, SettingsError) as error:
        for problem in _problems(error):
            print(f"openviking-sidecar: {problem}", file=sys.stderr)
        return 2
    for name in unknown_variables(os.environ):
        print(f"openviking-sidecar: {name} is no setting and has no effect", file=sys.stderr)
    try:
        status = _run(arguments, settings)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # who read, such as ``head``, has enough; what is still held back would fail at the exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except CanNotStart as error:
        print(f"openviking-sidecar: {error}", file=sys.stderr)
        return 1


def _settings(arguments: argparse.Namespace) -> Settings:
    """The settings, with what the command line adds. Raises `ValidationError`, `SettingsError`."""
    if getattr(arguments, "with_openviking", False):
        return Settings.model_validate({"backend": "openviking", "local": {"enabled": True}})
    return Settings()


def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    match arguments.command:
        case "serve":
            return _serve(settings)
        case "doctor":
            from app.commands.doctor import run_doctor

            return asyncio.run(run_doctor(settings))
        case "rekey":
            return _rekey(settings, to_plain=arguments.plain)
        case name if name in NAMES:
            return run_remote(settings, arguments)
        case _:
            from app.commands.outbox import run_outbox

            return asyncio.run(run_outbox(settings, arguments))


def _problems(error: ValidationError | SettingsError) -> Iterator[str]:
    """What is wrong with the settings, each with the variable to look at."""
    if isinstance(error, SettingsError):
        yield f"{error}: it has settings of its own, named with __ (see the README), or is a JSON object"
        return
    for problem in error.errors():
        name = "__".join(str(part) for part in problem["loc"]).upper()
        yield f"SIDECAR_{name}: {problem['msg']}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="openviking-sidecar", description="Context sidecar between an agent host and OpenViking."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, does in (
        ("serve", "run the service (settings: SIDECAR_* variables, see the README)"),
        ("doctor", "print the settings in effect, check store and backend, and say what is wrong"),
    ):
        command = commands.add_parser(name, help=does)
        command.add_argument(
            "--with-openviking",
            action="store_true",
            help="with an installed OpenViking that serve runs beside itself (SIDECAR_LOCAL__*)",
        )
    rekey = commands.add_parser(
        "rekey", help="encrypt the data directory of a stopped service, change its key, or decrypt it"
    )
    rekey.add_argument("--plain", action="store_true", help="decrypt: leave it as it is without encryption")
    openapi = commands.add_parser("openapi", help="print the OpenAPI document")
    openapi.add_argument("--write", type=Path, metavar="DIR", help="write openapi.json and the examples to DIR")
    openapi.add_argument("--check", type=Path, metavar="DIR", help="fail when the files in DIR are out of date")
    outbox = commands.add_parser("outbox", help="look at turns on their way, retry or discard dead ones")
    outbox.add_argument("action", choices=["list", "retry", "discard"], nargs="?", default="list")
    outbox.add_argument("turn_id", nargs="?", help="the turn to retry or discard")
    outbox.add_argument("--state", help="only this state: pending, sending, delivered, dead, discarded, skipped")
    outbox.add_argument("--session", help="only this session: the host's id, or the backend's")
    outbox.add_argument("--limit", type=int, default=50, help="most rows (default 50)")
    add_commands(commands)
    return parser


def _serve(settings: Settings) -> int:
    gc.disable()  # until all is loaded: nothing of it is garbage, and looking costs a tenth of the start
    import uvicorn

    from app.api.server import uvicorn_options
    from app.factory import create_app

    if not settings.is_loopback and not settings.auth.parsed() and not settings.auth.allow_anonymous:
        print(
            f"openviking-sidecar: refusing to listen on {settings.host} without tokens.\n"
            "Set SIDECAR_AUTH__TOKENS, or SIDECAR_HOST=127.0.0.1, or SIDECAR_AUTH__ALLOW_ANONYMOUS=true if anyone who "
            "can reach this address may read and write every memory.",
            file=sys.stderr,
        )
        return 2
    app = create_app(settings)
    settle_memory()
    sys.setswitchinterval(SWITCH_S)
    uvicorn.run(
        app,
        **uvicorn_options(settings.limits),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=10,
    )
    return 0


def _rekey(settings: Settings, *, to_plain: bool) -> int:
    from app.atrest.rekey import rekey

    old, new = settings.encryption.old_keys(), settings.encryption.keys()
    if (new is None) != to_plain:
        print(
            "openviking-sidecar rekey: set SIDECAR_ENCRYPTION__KEY or __KEY_FILE to the new key, and _OLD_KEY or "
            "_OLD_KEY_FILE to the one that the directory has, if any; or leave out the new key and say --plain",
            file=sys.stderr,
        )
        return 2
    try:
        done = rekey(settings.places, old, new)
    except OSError as error:
        raise CanNotStart(f"{error}: what was begun goes on when the command is run again") from error
    print(f"{done.changed} files and databases changed, {done.kept} were so already")
    return 0


def settle_memory() -> None:
    """Have the garbage collector leave alone what was loaded, and look less often at what requests make.

    A request makes a thousand objects that live until its answer is out. At Python's threshold of 700 it is looked
    through several times while none of them is garbage.
    """
    gc.freeze()
    gc.set_threshold(*COLLECT_EVERY)
    gc.enable()


def _openapi(write: Path | None, check: Path | None) -> int:
    from app.commands.openapi import documents

    files = documents()
    if write:
        for name, text in files.items():
            (write / name).write_text(text, encoding="utf-8")
    elif check:
        stale = [name for name, text in files.items() if _read(check / name) != text]
        if stale:
            print(f"out of date: {', '.join(stale)}; run: make openapi", file=sys.stderr)
            return 1
    else:
        print(files["openapi.json"], end="")
    return 0


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
