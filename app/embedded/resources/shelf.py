"""One user's documents and skills, opened when they are first asked for. Synchronous; called in threads."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from pathlib import Path

import structlog

from app.atrest import durable
from app.atrest.vault import PLAIN, Vault
from app.core.deadline import Deadline
from app.documents.resource import Resource, known_path
from app.embedded.index.embedders import Embedder
from app.embedded.resources import resource_files
from app.embedded.resources.resource_files import FOLDER, Stored
from app.embedded.resources.resource_index import ResourceIndex, header_of
from app.embedded.storage import layout
from app.gathering.spool import SpoolDamaged
from app.ports import NewResource, ReadResource

log = structlog.get_logger(__name__)

INDEX = "index.db"
MAX_CONTENTS = 2_000
"""Documents of a folder that are named."""


class Stopped(OSError):
    """Everything is being closed; what was begun goes on after the next start."""


class Shelf:
    """Every method may be called from any thread; several processes may share the files."""

    def __init__(
        self,
        root: Path,
        embedder: Embedder | None,
        begin_embedding: Callable[[], Future[None] | None],
        vault: Vault = PLAIN,
    ) -> None:
        self._root = root
        self._vault = vault
        self._embedder = embedder
        self._begin_embedding = begin_embedding
        self._guard = threading.Lock()
        self._index: ResourceIndex | None = None
        self._stopped = False

    def stop(self) -> None:
        """Leave what goes on as soon as it can be left."""
        self._stopped = True
        if self._index:
            self._index.stop()

    def close(self) -> None:
        """Close the index. It is not to be used after that."""
        if self._index:
            self._index.close()

    def index(self) -> ResourceIndex | None:
        """The index, in step with the files; None where nothing was ever imported."""
        if self._index is None and not (self._root / FOLDER).is_dir():
            return None
        return self._opened()

    def put(self, new: NewResource, deadline: Deadline) -> None:
        """Take an import in. Safe to repeat."""
        with self._locked(deadline):
            stored = resource_files.put(self._root, header_of(new.resource), new, self._vault)
            self._take_in(self._opened(), stored)
        self.embed()

    def remove(self, path: str, deadline: Deadline) -> bool:
        """Delete a resource; whether it was there."""
        index = self.index()
        if index is None:
            return False
        with self._locked(deadline):
            file = resource_files.file_of(self._root, path)
            there = file.exists()
            file.unlink(missing_ok=True)
            durable.sync_dir(file.parent)
            index.remove(path)
        return there

    def read(self, path: str) -> ReadResource | None:
        """The resource at ``path``, or the one that has a document there."""
        index = self.index()
        if index is None:
            return None
        at = path
        while known_path(at):
            if resource := index.get(at):
                return self._read(index, resource, path[len(at) + 1 :])
            at = at.rpartition("/")[0]
        return None

    def _read(self, index: ResourceIndex, resource: Resource, document: str) -> ReadResource | None:
        contents = index.contents(resource.path, MAX_CONTENTS)
        names = [name for name, _ in contents]
        if not document and len(contents) > 1:
            main = next((name for name in names if name.rsplit("/", 1)[-1].lower() == "skill.md"), None)
            if main is None:
                return ReadResource(resource, "\n".join(f"{name}: {told}" for name, told in contents), names)
            document = main
        stored = resource_files.stored_at(resource_files.file_of(self._root, resource.path), self._vault)
        found = stored.document(document or names[0]) if stored and (document or names) else None
        return ReadResource(resource, found.body().text, names) if found else None

    def texts(self, uris: Sequence[str]) -> dict[str, str]:
        """The passages at those of these URIs that are passages'; of resources that are all there."""
        wanted = [uri for uri in uris if known_path(uri)]
        index = self.index() if wanted else None
        return index.texts(wanted) if index else {}

    def embed(self) -> None:
        """Begin to give vectors to what has none, in the background."""
        if self._index and self._index.can_embed and not self._stopped:
            self._begin_embedding()

    def embed_all(self) -> None:
        """Embed what has no vector yet."""
        if index := self.index():
            index.embed_all()

    def _opened(self) -> ResourceIndex:
        with self._guard:
            if self._index is None:
                durable.make_private_dir(self._root / FOLDER)
                index = ResourceIndex(self._root / FOLDER / INDEX, self._embedder, self._vault)
                try:
                    self._bring_in_step(index)
                except BaseException:
                    index.close()
                    raise
                self._index = index
            return self._index

    def _bring_in_step(self, index: ResourceIndex) -> None:
        """Take in what a crash, or another version of the index, has left out."""
        stamps = index.stamps()
        for stored in resource_files.all_stored(self._root, self._vault):
            if stamps.pop(stored.resource.path, None) != stored.stamp:
                try:
                    self._take_in(index, stored)
                except SpoolDamaged as error:  # the other documents are there all the same
                    log.error("file_damaged", file=stored.resource.path, error=str(error))
        for path in stamps:
            if not resource_files.file_of(self._root, path).exists():
                index.remove(path)

    def _take_in(self, index: ResourceIndex, stored: Stored) -> None:
        if not index.take_in(stored, stored.documents()):
            raise Stopped("the service is stopping")

    def _locked(self, deadline: Deadline) -> AbstractContextManager[None]:
        return layout.locked(self._root / FOLDER, deadline)
