"""``/ui/tenant``: whose memory the pages show, where the caller may choose: a browser sends no headers of ours."""

from fastapi import Request, Response

from app.api.document import problems
from app.api.forms import FormDep, proof_for
from app.api.pages import PAGES, page, see_other
from app.api.routers import Router
from app.api.scope import TENANT_COOKIE, TenantDep, may_choose
from app.core.identity import is_openviking_id
from app.errors import FieldProblem, InvalidRequest

router = Router(tags=["pages"], include_in_schema=False, responses=problems())

AFTERWARDS = "/ui/memories"


@router.get("/ui/tenant")
async def tenant_page(request: Request, tenant: TenantDep) -> Response:
    """Who is shown now, and a form to choose another."""
    account, user, proof = tenant.account or "", tenant.user or "", proof_for(request, tenant)
    free = may_choose(request)
    return page("tenant.html", tenant=tenant, free=free, account=account, user=user, proof=proof)


@router.post("/ui/tenant")
async def choose(form: FormDep) -> Response:
    """Remember the choice in this browser. It opens nothing: what a token may not see, it may not see here either."""
    named = {name: form.text(name).strip() for name in ("account", "user")}
    how = "may hold A-Z a-z 0-9 _ . @ - and at most one @"
    wrong = [FieldProblem(name, how) for name, value in named.items() if value and not is_openviking_id(value)]
    if wrong:
        raise InvalidRequest(*wrong)
    answer = see_other(AFTERWARDS)
    chosen = f"{named['account']}/{named['user']}"
    if chosen == "/":
        answer.delete_cookie(TENANT_COOKIE, path=PAGES, httponly=True, samesite="strict")
    else:
        answer.set_cookie(TENANT_COOKIE, chosen, path=PAGES, httponly=True, samesite="strict")
    return answer
