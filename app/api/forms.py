"""Forms of the pages: what a browser sends when a button is pressed, and proof that one of our pages asked.

A browser adds a password to whatever another site has it post here, and without tokens there is none. So a form is
taken only with a proof that stands in our own pages, which no other site can read, and only when the browser does not
say that it comes from elsewhere.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

from fastapi import Depends, Request
from starlette.datastructures import Headers

from app.api.intake import Intake
from app.api.scope import TenantDep, token_of
from app.core.identity import Tenant
from app.errors import BodyTooLarge, FieldProblem, Forbidden, InvalidRequest
from app.services import Services

PROOF = "proof"
"""The name of the hidden field."""
KIND = "application/x-www-form-urlencoded"
MAX_FORM_BYTES = 512 * 1024
"""The longest memory, with every byte of it escaped."""
MAX_FIELDS = 50


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form by name; of several with one name the last counts."""

    fields: Mapping[str, str]

    def text(self, name: str) -> str:
        """A field, with the line breaks that were typed: a browser sends each as two characters."""
        return self.fields.get(name, "").replace("\r\n", "\n")


def proof_for(request: Request, tenant: Tenant) -> str:
    """What a form of this caller has to bring back: good for one tenant, and for one token where there are any.

    The token is its key, which all processes know; without tokens it is one that the service keeps for itself.
    """
    services: Services = request.app.state.services
    key = (token_of(request) or "").encode("utf-8", "surrogateescape") if services.tokens else services.form_key
    return hmac.new(key, f"form\n{tenant.account or ''}\n{tenant.user or ''}".encode(), hashlib.sha256).hexdigest()


async def form_of(request: Request, tenant: TenantDep) -> Form:
    """The form of a request, as a dependency. Raises `Forbidden` for one that none of our pages has sent."""
    refuse_other_sites(request.headers)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != KIND:
        raise InvalidRequest(FieldProblem("headers.Content-Type", f"send the form as {KIND}"))
    form = Form(_fields(await _body(request)))
    check_proof(request, tenant, form.text(PROOF))
    return form


def check_proof(request: Request, tenant: Tenant, brought: str) -> None:
    """Raises `Forbidden` for a form that did not bring back what stands in ours."""
    if not hmac.compare_digest(brought.encode("utf-8", "replace"), proof_for(request, tenant).encode()):
        raise Forbidden("this form was not made for you by this service, or too long ago: open its page again")


def refuse_other_sites(headers: Headers) -> None:
    """Raises `Forbidden` where the browser says that another site's page has sent the request.

    Behind a proxy the scheme may be another one, so the host and port decide. Who says nothing is no browser of
    today, and still has to know the proof.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        ours = site in {"same-origin", "none"}
    else:
        ours = origin is None or _place(origin) == headers.get("host", "").lower()
    if not ours:
        raise Forbidden("this form was sent by a page of another site, so nothing was done")


def _place(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


async def _body(request: Request) -> str:
    intake: Intake = request.app.state.intake
    async with intake.body(request.headers, request.receive) as body:
        if len(body) > MAX_FORM_BYTES:
            raise BodyTooLarge(f"a form may have {MAX_FORM_BYTES} bytes")
        return body.decode("utf-8", "replace")


def _fields(body: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(body, keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="replace"))
    except ValueError:
        raise InvalidRequest(FieldProblem("body", f"a form may have {MAX_FIELDS} fields")) from None


FormDep = Annotated[Form, Depends(form_of)]
