"""Service endpoints: is the process alive, can it work, what did it count."""

from typing import Any

from fastapi import Request, Response

from app import __version__
from app.api.pages import page
from app.api.routers import Router
from app.api.scope import ServicesDep, is_known
from app.api.wire import Json

router = Router(tags=["service"])


@router.get("/", summary="Where to go from here", include_in_schema=False)
async def home(request: Request, services: ServicesDep) -> Response:
    """A page for whoever opens the address in a browser. It tells what `/readyz` tells them."""
    store_problem, health = await services.store.check(), await services.backend_health()
    return page(
        "home.html",
        version=__version__,
        store_problem=store_problem,
        backend=services.backend.name,
        health=health,
        is_known=is_known(request),
        here="/",
    )


@router.get("/healthz", summary="The process is alive")
async def healthz() -> dict[str, str]:
    """Answers as long as the event loop turns; looks at nothing else."""
    return {"status": "ok"}


@router.get(
    "/readyz",
    summary="The store can be written; what the backend says",
    responses={503: {"description": "The store can not be written: no turn can be accepted"}},
)
async def readyz(request: Request, services: ServicesDep) -> Response:
    """200 when turns can be accepted. The backend is reported, not required: turns wait for it in the store.

    Where tokens are configured, what is wrong is told in detail to those who send one.
    """
    store_problem = await services.store.check()
    backend = await services.backend_health()
    body: dict[str, Any] = {
        "status": "ready" if store_problem is None else "not_ready",
        "store": {"ok": store_problem is None},
        "backend": {"name": services.backend.name, "ok": backend.ok},
    }
    if is_known(request):
        body["store"]["detail"] = store_problem or "writable"
        body["backend"] |= {"detail": backend.detail, **backend.facts}
    return Json(body, 200 if store_problem is None else 503)


@router.get(
    "/metrics",
    summary="Prometheus metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(services: ServicesDep) -> Response:
    """Counters of this process and gauges of the outbox."""
    services.metrics.set_gauges(await services.gauges())
    return Response(services.metrics.render(), media_type="text/plain; version=0.0.4; charset=utf-8")
