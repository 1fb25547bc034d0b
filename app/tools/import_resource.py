"""``ov_import``: add a document or a skill."""

from typing import Annotated, Literal

from pydantic import Field

from app.core.injection.fence import neutralise_line
from app.core.reasons import Reason
from app.documents.resource import Kind, Status
from app.engine.resources.import_sources import import_from_web, import_of_text
from app.errors import BodyTooLarge, InvalidRequest, ResourceRefused, UnsupportedType, UrlNotFetched
from app.tools.tool import Answer, Arguments, Caller, Mistake, Name, Text, Tool, Uses

_REFUSALS = (BodyTooLarge, InvalidRequest, ResourceRefused, UnsupportedType, UrlNotFetched)
MAX_DETAIL_CHARS = 300


class ImportArguments(Arguments):
    """What is added: exactly one of ``url`` and ``text``."""

    url: Annotated[Name, Field(max_length=2_000)] | None = Field(None, description="A document on the public web.")
    text: Text | None = Field(None, description="Markdown; of a skill its SKILL.md.")
    title: Annotated[Name, Field(max_length=200)] | None = Field(None, description="Of a text: what it is called.")
    to: Annotated[Name, Field(max_length=300)] | None = Field(
        None, description="Where it goes, such as viking://~/resources/guides/rollback; what is there is replaced."
    )
    kind: Literal["resource", "skill"] = Field("resource", description="A document to look things up in, or a skill.")


async def run(uses: Uses, caller: Caller, asked: ImportArguments) -> Answer:
    """Imported, and found from then on; one that takes longer goes on behind the answer."""
    if (asked.url is None) == (asked.text is None):
        raise Mistake("Give either url or text.", Reason.INVALID_ARGUMENTS)
    kind, title = Kind(asked.kind), asked.title or ""
    try:
        if asked.text is not None:
            new = import_of_text(kind, asked.text, title, asked.to, wait=True)
        else:
            new = import_from_web(uses.web, kind, asked.url, None, title, asked.to, wait=True)
        imported = await uses.import_resource.run(caller.who.tenant, new, caller.deadline)
    except _REFUSALS as refused:
        detail = neutralise_line(refused.detail)[:MAX_DETAIL_CHARS]
        raise Mistake(f"It was not imported: {detail}", refused.code) from refused
    resource = imported.resource
    if resource.status is Status.FAILED:
        detail = neutralise_line(resource.detail)[:MAX_DETAIL_CHARS]
        raise Mistake(f"It could not be imported: {detail}", Reason.RESOURCE_REFUSED)
    details = {"uri": resource.uri, "status": resource.status.value, "taskId": imported.task_id}
    done = "Imported as" if resource.status is Status.READY else "It is being imported as"
    return Answer(f"{done} {neutralise_line(resource.uri)}.", details)


TOOL = Tool(
    name="ov_import",
    description=(
        "Import a document from a URL or a text, to look things up in later, or a skill. Use it when the user asks you "
        "to; find what was imported with ov_search."
    ),
    arguments=ImportArguments,
    run=run,
    read_only=False,
)
