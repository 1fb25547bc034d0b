"""Documents and skills."""

from typing import Literal, NotRequired, TypedDict

Kind = Literal["resource", "skill"]
Status = Literal["ready", "processing", "failed"]


class ImportTask(TypedDict):
    """How far an import is. ``taskId`` is None where all of it was there already; ``detail`` says what was left out."""

    uri: str
    kind: Kind
    status: Status
    taskId: str | None
    detail: str


class Passage(TypedDict):
    """What a query found in a document; ``place`` is the document with the headings above."""

    uri: str
    place: str
    text: str
    score: float


class Resource(TypedDict):
    """A document, a folder of them, or a skill."""

    uri: str
    kind: Kind
    title: str
    source: str
    bytes: int
    status: Status
    updatedAt: str
    summary: str
    detail: str
    score: NotRequired[float]
    """With a query, and so are its best ``passages``."""
    passages: NotRequired[list[Passage]]
    text: NotRequired[str]
    """Of one that was read: what it says; and the paths of its ``documents``."""
    documents: NotRequired[list[str]]


class ResourcePage(TypedDict):
    """A page of documents; of skills as well."""

    resources: list[Resource]
    nextCursor: str | None


class RemovedResource(TypedDict):
    """What was removed."""

    uri: str
    removed: bool
