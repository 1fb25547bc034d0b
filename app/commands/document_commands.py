"""Documents and skills on the command line: ``openviking-sidecar import | search-docs``."""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

from app.commands.memory_commands import take_in
from app.commands.progress import Progress, Watched
from app.commands.running_sidecar import CONNECT_S, Command, Failed, add_command, answer_of, complain, print_answer
from app.settings import Settings

if TYPE_CHECKING:
    import httpx

    from app.documents.parsed_document import Limits

MEMORIES = "memories"
PATHS: Mapping[str, str] = {"resource": "/resources", "skill": "/skills"}
READ_S = 1_000.0
"""Longest wait for the answer to an import: the service reads it first, within `SIDECAR_RESOURCES__READ_MS`."""
TIMEOUT = (CONNECT_S, READ_S, READ_S, CONNECT_S)
FORM_BYTES = 4_096
"""What a form has around its file."""
LOOK_EVERY_S = 0.5
MEMORY_LINE = re.compile(rb'\s{0,9}\{\s{0,9}"id"\s{0,9}:\s{0,9}"m_')
"""How a line of `export` begins."""


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to the command line."""
    take = add_command(commands, "import", "import documents and skills: files, folders, URLs; or what export printed")
    take.add_argument(
        "sources",
        nargs="+",
        metavar="PATH|URL",
        help="a file, a folder (without what .gitignore ignores), a URL, a repository's URL that ends with .git; "
        "- is what export printed, on standard input",
    )
    take.add_argument("--to", help="where it goes, such as guides/rollback (default: by its name)")
    take.add_argument(
        "--kind", choices=[*PATHS, MEMORIES], help="what it is (default: resource, or what export printed)"
    )
    take.add_argument("--wait", action="store_true", help="until it can be found")
    search = add_command(commands, "search-docs", "search documents or skills")
    search.add_argument("query", metavar="QUERY", help="what you want to know")
    search.add_argument("--kind", choices=list(PATHS), default="resource", help="among what (default: resource)")
    search.add_argument("--limit", type=int, default=5, help="most documents (default 5)")


def _import(settings: Settings, client: httpx.Client, arguments: argparse.Namespace) -> int:
    """Import each source; one that fails keeps none of the others from it."""
    sources: list[str] = arguments.sources
    if [source for source in sources if _is_export(source, arguments.kind)]:
        if len(sources) > 1:
            raise Failed("give what export printed by itself")
        return take_in(client, arguments, sources[0])
    if arguments.to and len(sources) > 1:
        raise Failed("--to names one place: give one PATH or URL with it")
    done: list[dict[str, Any]] = []
    for source in sources:
        try:
            done.append({"source": source, **_imported(client, arguments, settings, source)})
        except Failed as failure:
            if len(sources) == 1:
                raise
            complain(arguments, f"{source}: {failure}")
    if done:
        print_answer(arguments, {"imported": done}, lambda: map(_import_line, done))
    return int(len(done) < len(sources))


def _is_export(source: str, kind: str | None) -> bool:
    """Whether a source is what `export` printed: by what was said, else by how it begins."""
    if kind or source == "-":
        return kind in {MEMORIES, None}
    try:
        with Path(source).open("rb") as file:
            return MEMORY_LINE.match(file.read(64)) is not None
    except (OSError, ValueError):
        return False


def _imported(client: httpx.Client, arguments: argparse.Namespace, settings: Settings, source: str) -> dict[str, Any]:
    path = PATHS[arguments.kind or "resource"]
    options = {"wait": arguments.wait} | ({"to": arguments.to} if arguments.to else {})
    if source.startswith(("http://", "https://")):
        with Progress(source, 0) as progress:
            progress.says("is being fetched")
            field = "git" if source.endswith(".git") else "url"
            accepted = answer_of(client.post(path, json={field: source, **options}, timeout=TIMEOUT))
            return _ended(client, accepted, progress) if arguments.wait else accepted
    name, file, media_type = _opened(Path(source), settings.import_limits)
    with file, Progress(name, _size(file, source, arguments, settings)) as progress:
        sent = (name, cast("IO[bytes]", Watched(file, progress)), media_type)
        fields = {name: str(value).lower() if name == "wait" else value for name, value in options.items()}
        accepted = answer_of(client.post(path, files={"file": sent}, data=fields, timeout=TIMEOUT))
        return _ended(client, accepted, progress) if arguments.wait else accepted


def _opened(source: Path, limits: Limits) -> tuple[str, BinaryIO, str]:
    """What is sent for a path: its name, the file or the folder as a zip, and the media type. Raises `Failed`."""
    try:
        if source.is_dir():
            return source.resolve().name or "folder", _packed(source, limits), "application/zip"
        return source.name, source.open("rb"), "application/octet-stream"
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise Failed(f"{source} can not be imported: {why}") from None


def _packed(folder: Path, limits: Limits) -> BinaryIO:
    from app.gathering.folder import pack

    file = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - its reader closes it
    try:
        pack(folder, file, limits)
    except BaseException:
        file.close()
        raise
    return file


def _size(file: BinaryIO, source: str, arguments: argparse.Namespace, settings: Settings) -> int:
    """Its bytes. Raises `Failed` where that is more than our own sidecar takes; another one says so itself."""
    size = file.seek(0, 2)
    file.seek(0)
    most = settings.limits.max_body_bytes - FORM_BYTES
    if size > most and arguments.url is None:
        raise Failed(f"{source} has {size} bytes to be sent; SIDECAR_LIMITS__MAX_BODY_BYTES leaves room for {most}")
    return size


def _ended(client: httpx.Client, accepted: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """The import once it can be found. Raises `Failed` where it could not be taken in."""
    while accepted["status"] == "processing":
        progress.says("is being taken in")
        time.sleep(LOOK_EVERY_S)
        accepted = answer_of(client.get(f"/resources/tasks/{accepted['taskId']}"))
    if accepted["status"] == "failed":
        raise Failed(accepted["detail"] or "it could not be imported")
    return accepted


def _import_line(one: Mapping[str, Any]) -> str:
    detail = f" ({one['detail']})" if one["detail"] else ""
    return f"{one['status']}  {one['uri']}{detail}"


def _search(client: httpx.Client, arguments: argparse.Namespace) -> int:
    if not arguments.query.strip():
        raise Failed("QUERY must say something")
    asked = {"query": arguments.query, "limit": arguments.limit}
    path = PATHS[arguments.kind]
    found = answer_of(client.get(path, params=asked))

    def lines() -> Iterator[str]:
        for resource in found[path.strip("/")]:
            for passage in resource["passages"]:
                yield f"{passage['place']}  {passage['uri']}"
                yield from (f"    {line}" for line in passage["text"].splitlines())

    return print_answer(arguments, found, lines)


def commands_for(settings: Settings) -> Mapping[str, Command]:
    """The commands, with the limits that the settings name."""
    return {"import": partial(_import, settings), "search-docs": _search}


NAMES = frozenset({"import", "search-docs"})
