"""``POST /memories/forget``: forget what is selected, after a look at what that is."""

from typing import Annotated

from fastapi import Body, Request, Response
from pydantic import AfterValidator, Field
from pydantic.alias_generators import to_camel

from app.api.document import problems
from app.api.examples import FORGET_REQUEST, recorded
from app.api.memories_schema import ReceiptBody, shown_receipt, utc
from app.api.routers import Router
from app.api.schemas import Flag, Id, Millis, Wire
from app.api.scope import ServicesDep, TenantDep
from app.api.strict import StrictRoute, deadline_of, refuse_large
from app.api.wire import Json
from app.core.cleaning.host_text import storable
from app.core.identity import session_name
from app.core.memories.memory import MAX_TTL_DAYS
from app.engine.memories.collaborators import operator_of
from app.engine.memories.forgetting import Selection, TurnsMeant
from app.errors import FieldProblem, InvalidRequest

router = Router(tags=["memories"], route_class=StrictRoute)

Moment = Annotated[str, Field(max_length=40), AfterValidator(utc)]


class ForgetRequest(Wire):
    """Exactly one selection."""

    id: Id | None = Field(None, description="The memory of this id.")
    uri: Id | None = Field(None, description="The memory at this URI; `~` is the user's home.")
    query: str | None = Field(None, max_length=4_000, description="The one memory that has all of these words.")
    session: Id | None = Field(
        None, description="All that was said in this session, and what was learnt from it alone."
    )
    person: Id | None = Field(None, description="All turns of this sender or peer, and the peer's memories.")
    since: Moment | None = Field(None, description="All turns and memories since this moment, ISO 8601.")
    until: Moment | None = Field(None, description="With `since`: up to this moment.")
    last_days: Annotated[float, Field(gt=0, le=MAX_TTL_DAYS, allow_inf_nan=False)] | None = Field(
        None, description="All turns and memories of so many days up to now; may be a fraction."
    )
    everything: Flag | None = Field(None, description="`true`: all turns and memories.")
    dry_run: Flag = Field(True, description="Only say what would be forgotten.")
    deadline_ms: Millis | None = Field(None, description="Longest time to the answer, milliseconds.")

    def selection(self) -> Selection | TurnsMeant:
        """Raises `InvalidRequest` unless it is one."""
        texts = {name: _said(getattr(self, name)) for name in _NAMES}
        given = [name for name, text in texts.items() if text is not None]
        given += [name for name in ("since", "last_days", "everything") if getattr(self, name) is not None]
        if len(given) != 1:
            fields = [to_camel(name) for name in given[1:]] or ["body"]
            how = f"give exactly one selection: {', '.join(to_camel(name) for name in SELECTIONS)}"
            raise InvalidRequest(*(FieldProblem(name, how) for name in fields))
        if self.until is not None and self.since is None:
            raise InvalidRequest(FieldProblem("until", "goes with since"))
        if self.everything is False:
            raise InvalidRequest(FieldProblem("everything", "is true, or left out"))
        if given[0] in {"id", "uri", "query"}:
            return Selection(texts["id"], texts["uri"], texts["query"])
        return TurnsMeant(
            session=session_name(texts["session"], None) if texts["session"] else None,
            person=texts["person"],
            since=self.since,
            until=self.until,
            last_days=self.last_days,
            everything=bool(self.everything),
        )


_NAMES = ("id", "uri", "query", "session", "person")
SELECTIONS = (*_NAMES, "since", "last_days", "everything")


def _said(given: str | None) -> str | None:
    return storable(given).strip() or None if given else None


@router.post(
    "/memories/forget",
    summary="Forget what is selected",
    response_model=ReceiptBody,
    responses={200: recorded("memories-forget-selected"), **problems(404, 409, 503)},
)
async def forget(
    request: Request,
    services: ServicesDep,
    tenant: TenantDep,
    body: Annotated[
        ForgetRequest,
        Body(openapi_examples={"query": {"summary": "A look first", "value": FORGET_REQUEST}}),
    ],
) -> Response:
    """A dry run unless `dryRun` is false: then it is erased wherever it is kept, and all of that is read again.

    A memory is forgotten with what says it: sentences of turns, notes, archives and their summaries, earlier versions.
    `session`, `person`, `since`, `lastDays` and `everything` take whole turns, and what was learnt from them alone.
    `kept` names what was not reached; without it the text stands nowhere below the data directory. A `query` forgets
    only when exactly one memory is clearly meant; else 409 `ambiguous` with `candidates`. A selection that matches
    nothing is an empty receipt, an unknown `id` 404. When it takes longer than the deadline it answers 503 and goes on.
    """
    refuse_large(request)
    deadline = deadline_of(request, body.deadline_ms or services.settings.limits.wait_ms)
    who, selection = operator_of(tenant), body.selection()
    return Json(shown_receipt(await services.forget_selected.run(who, selection, body.dry_run, deadline)))
