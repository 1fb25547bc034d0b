"""Bodies of ``/resources`` and ``/skills``."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from app.documents.resource import MAX_PATH_CHARS, FoundPassage, ImportTask, Kind, Resource, Status
from app.engine.resources.importing import Imported

MAX_TITLE_CHARS = 200


class _Body(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class ImportRequest(_Body):
    """Exactly one of ``url``, ``git`` and ``text``, or a form's file."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")

    url: str | None = Field(None, max_length=2_000, description="A document on the public web, `http` or `https`.")
    git: str | None = Field(None, max_length=2_000, description="A repository on a public forge.")
    text: str | None = Field(None, description="Markdown.")
    title: str | None = Field(None, max_length=MAX_TITLE_CHARS, description="Its title, and the name of a `text`.")
    to: str | None = Field(
        None,
        max_length=MAX_PATH_CHARS,
        description="Where it goes: `viking://~/resources/guides/rollback`, or the part behind `resources/`. By its "
        "name if absent. What is there is replaced.",
    )
    wait: bool = Field(False, description="Answer when it can be found, within `SIDECAR_LIMITS__WAIT_MS`.")


class ImportedBody(_Body):
    """How far an import is."""

    uri: str
    kind: Kind
    status: Status
    task_id: str | None = Field(description="None where all of it was there already.")
    detail: str = Field(description="Why it failed, or what was left out; empty for nothing.")


class PassageBody(_Body):
    """What a query found in a resource."""

    uri: str
    place: str = Field(description="The document and the headings above: `guide.md > Install`.")
    text: str
    score: float


class ResourceBody(_Body):
    """A document, a folder of them, or a skill."""

    uri: str
    kind: Kind
    title: str
    source: str = Field(description="Where it came from.")
    bytes: int
    status: Status
    updated_at: str
    summary: str
    detail: str
    score: float | None = Field(None, description="With a `query`.")
    passages: list[PassageBody] | None = Field(None, description="With a `query`: what answers it, best first.")
    text: str | None = Field(None, description="With a `uri`: what it says.")
    documents: list[str] | None = Field(None, description="With a `uri`: the paths of its documents.")


class ResourcePageBody(_Body):
    """A page of documents."""

    resources: list[ResourceBody]
    next_cursor: str | None


class SkillPageBody(_Body):
    """A page of skills."""

    skills: list[ResourceBody]
    next_cursor: str | None


class RemovedResourceBody(_Body):
    """What was removed."""

    uri: str
    removed: bool


def shown(resource: Resource) -> dict[str, Any]:
    """A resource as it is answered."""
    return {
        "uri": resource.uri,
        "kind": resource.kind,
        "title": resource.title,
        "source": resource.source,
        "bytes": resource.size,
        "status": resource.status,
        "updatedAt": resource.updated_at,
        "summary": resource.summary,
        "detail": resource.detail,
    }


def shown_passages(passages: Sequence[FoundPassage]) -> list[dict[str, Any]]:
    """Passages as they are answered."""
    return [{"uri": one.uri, "place": one.place, "text": one.text, "score": round(one.score, 4)} for one in passages]


def shown_import(imported: Imported) -> dict[str, Any]:
    """An import as it is answered."""
    return _import(imported.resource, imported.task_id)


def shown_task(task: ImportTask) -> dict[str, Any]:
    """The same, asked for later."""
    return _import(task.resource, task.task_id)


def _import(resource: Resource, task_id: str | None) -> dict[str, Any]:
    return {
        "uri": resource.uri,
        "kind": resource.kind,
        "status": resource.status,
        "taskId": task_id,
        "detail": resource.detail,
    }
