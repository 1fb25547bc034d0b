"""What is imported: documents to look things up in, and skills to work by."""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from app.core.identity import Tenant
from app.core.memories.naming import Homes, home_path

HOME = "viking://~/"
MAX_PATH_CHARS = 300
MAX_PARTS = 12
_UNSAFE = re.compile(r"[^\w.@+=,()\- ]+")


class Kind(StrEnum):
    """What an import is for."""

    RESOURCE = "resource"
    SKILL = "skill"

    @property
    def folder(self) -> str:
        """Below the home."""
        return f"{self.value}s"


class Status(StrEnum):
    """How far an import is."""

    READY = "ready"
    PROCESSING = "processing"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Resource:
    """One thing that was imported: a document, or a folder of them."""

    path: str
    """Below the home: ``resources/guides/rollback``. It names the resource in every spelling of its URI."""
    kind: Kind
    title: str
    source: str
    """Where it came from, for people: a file's name, or a URL without a password."""
    size: int
    """Bytes, as it came."""
    updated_at: str
    status: Status = Status.READY
    summary: str = ""
    detail: str = ""
    digest: str = ""
    """Of what was imported and how it was read; empty where that is not known."""

    @property
    def uri(self) -> str:
        """Its URI; `~` is the home of whoever asks."""
        return HOME + self.path


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that a search found."""

    path: str
    """Of the resource that it stands in."""
    uri: str
    """Of the passage itself, or of its document."""
    place: str
    """``guide.md > Install``."""
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class ImportTask:
    """One import, from when it was accepted on."""

    task_id: str
    resource: Resource
    created_at: str


class NoPath(ValueError):
    """Something can not be the name of a resource; the message says why."""


def path_of(kind: Kind, asked: str | None, name: str, tenant: Tenant, homes: Homes) -> str:
    """Where an import goes: what is ``asked`` for (a URI, or a path below the kind's folder), else by its ``name``.

    Raises `NoPath`.
    """
    if not asked or not asked.strip("/ "):
        return f"{kind.folder}/{_segment(name) or 'untitled'}"
    path = homes.path(asked, tenant)
    if path is None:
        raise NoPath(f"it names another user's home; yours is {HOME}")
    folder, _, below = path.partition("/")
    below = below if folder == kind.folder else path
    if "://" in asked and folder != kind.folder:
        raise NoPath(f"a {kind} has a URI that begins with {HOME}{kind.folder}/")
    parts = [part for part in below.split("/") if part]
    if not parts:
        raise NoPath(f"name the {kind} behind {HOME}{kind.folder}/")
    if len(parts) > (MAX_PARTS if kind is Kind.RESOURCE else 1) or len(below) > MAX_PATH_CHARS:
        raise NoPath(f"it may have {MAX_PATH_CHARS} characters and be {MAX_PARTS} folders deep; a skill has one name")
    if any(part in {".", ".."} or part.startswith(".") or _segment(part) != part for part in parts):
        raise NoPath("a name has letters, digits, spaces and . _ - + = , @ ( ), and does not begin with a dot")
    return "/".join([kind.folder, *parts])


def known_path(uri: str) -> tuple[Kind, str] | None:
    """Kind and path of a URI in any spelling, of a passage too; None for one that is no resource's or skill's."""
    path = home_path(uri).partition("#")[0]
    folder, _, below = path.partition("/")
    kind = next((kind for kind in Kind if kind.folder == folder), None)
    return (kind, path) if kind and below else None


def _segment(name: str) -> str:
    """``name`` as one part of a path: without what has a meaning in paths and URIs."""
    text = unicodedata.normalize("NFC", name)
    return " ".join(_UNSAFE.sub("-", text).split()).strip("-. ")[:120].rstrip("-. ")
