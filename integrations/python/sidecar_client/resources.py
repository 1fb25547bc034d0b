"""Documents to look things up in, and skills to work by: imported, followed, listed, searched, read, removed."""

import os
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from sidecar_client.answers import ImportTask, Kind, RemovedResource, Resource, ResourcePage
from sidecar_client.connection import Connection, quoted

LOOK_EVERY_S = 0.25
SKIPPED = frozenset({"node_modules", "__pycache__"})

Wanted = Callable[[Path], bool]
"""Whether a file or folder below the imported one is wanted; of a folder that is not, nothing is looked at."""


def not_hidden(path: Path) -> bool:
    """All but hidden files and folders, and those that tools make."""
    return not path.name.startswith(".") and path.name not in SKIPPED


class Resources:
    """`Sidecar.resources`, and `Sidecar.skills`. Every call raises `SidecarError`.

    ``to`` says where an import goes, such as ``guides/rollback``: by its name if absent. What is there is replaced.
    ``wait`` waits for the service until it can be found, which may end before that: see `ended`. ``timeout`` is in
    seconds; the service reads what it gets before it answers.
    """

    def __init__(self, connection: Connection, kind: Kind) -> None:
        self._connection = connection
        self._path = f"/{kind}s"

    def import_text(
        self, text: str, *, title: str | None = None, to: str | None = None, wait: bool = False, timeout: float = 180.0
    ) -> ImportTask:
        """Markdown; of a skill its SKILL.md."""
        return self._import(timeout, text=text, title=title, to=to, wait=wait)

    def import_url(self, url: str, *, to: str | None = None, wait: bool = False, timeout: float = 180.0) -> ImportTask:
        """A document on the public web: the service fetches it."""
        return self._import(timeout, url=url, to=to, wait=wait)

    def import_git(self, git: str, *, to: str | None = None, wait: bool = False, timeout: float = 180.0) -> ImportTask:
        """A repository on a public forge: the service fetches it."""
        return self._import(timeout, git=git, to=to, wait=wait)

    def import_file(
        self, path: str | os.PathLike[str], *, to: str | None = None, wait: bool = False, timeout: float = 180.0
    ) -> ImportTask:
        """A file of this machine, a zip as well. Raises `OSError`."""
        with Path(path).open("rb") as file:
            return self._upload(Path(path).name, file, "application/octet-stream", to, wait, timeout)

    def import_folder(
        self,
        path: str | os.PathLike[str],
        *,
        to: str | None = None,
        wait: bool = False,
        wanted: Wanted = not_hidden,
        timeout: float = 180.0,
    ) -> ImportTask:
        """A folder of this machine as a zip; links are not followed. Raises `OSError`.

        The same folder again reads and changes only what is different.
        """
        folder = Path(path).resolve()
        with tempfile.TemporaryFile() as packed:
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
                for file in _files(folder, wanted):
                    archive.write(file, file.relative_to(folder))
            packed.seek(0)
            return self._upload(folder.name or "folder", packed, "application/zip", to, wait, timeout)

    def task(self, task_id: str) -> ImportTask:
        """How far an import is."""
        found: ImportTask = self._connection.call("GET", f"/resources/tasks/{quoted(task_id)}")
        return found

    def ended(self, imported: ImportTask, *, timeout: float = 180.0) -> ImportTask:
        """The import once it is ready or has failed, or as it is after ``timeout`` seconds."""
        until = time.monotonic() + timeout
        while imported["status"] == "processing" and imported["taskId"] and time.monotonic() < until:
            time.sleep(LOOK_EVERY_S)
            imported = self.task(imported["taskId"])
        return imported

    def page(self, *, limit: int = 50, cursor: str | None = None) -> ResourcePage:
        """A page by their paths. The first begins with those that are being imported, or could not be."""
        return self._page(limit=limit, cursor=cursor)

    def every(self) -> Iterator[Resource]:
        """All of them, page by page."""
        cursor: str | None = None
        while True:
            page = self.page(limit=200, cursor=cursor)
            yield from page["resources"]
            if (cursor := page["nextCursor"]) is None:
                return

    def search(self, query: str, *, limit: int = 10) -> list[Resource]:
        """Those that a query is about, best first, each with its best ``passages``."""
        return self._page(query=query, limit=limit)["resources"]

    def read(self, uri: str) -> Resource:
        """One with its ``text`` and the paths of its ``documents``; ``not_found`` for an unknown URI."""
        return self._page(uri=uri)["resources"][0]

    def remove(self, uri: str) -> RemovedResource:
        """Delete one with all of its documents, and what of it is still being imported."""
        removed: RemovedResource = self._connection.call("DELETE", self._path, params={"uri": uri})
        return removed

    def _page(self, **params: Any) -> ResourcePage:
        found = self._connection.call("GET", self._path, params=params)
        return {"resources": found[self._path.strip("/")], "nextCursor": found["nextCursor"]}

    def _import(self, timeout: float, **asked: Any) -> ImportTask:
        body = {name: value for name, value in asked.items() if value is not None}
        accepted: ImportTask = self._connection.call("POST", self._path, json=body, timeout=timeout)
        return accepted

    def _upload(
        self, name: str, file: IO[bytes], media_type: str, to: str | None, wait: bool, timeout: float
    ) -> ImportTask:
        fields = {"wait": str(wait).lower()} | ({"to": to} if to else {})
        sent = {"file": (name, file, media_type)}
        accepted: ImportTask = self._connection.call("POST", self._path, data=fields, files=sent, timeout=timeout)
        return accepted


def _files(folder: Path, wanted: Wanted) -> Iterator[Path]:
    with os.scandir(folder) as listed:
        entries = sorted(listed, key=lambda entry: entry.name)
    for entry in entries:
        path = folder / entry.name
        if entry.is_symlink() or not wanted(path):
            continue
        if entry.is_dir():
            yield from _files(path, wanted)
        elif entry.is_file():
            yield path
