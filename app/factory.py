"""Builds the application. Nothing happens at import: the lifespan opens what is needed and closes it in reverse."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import structlog
from fastapi import FastAPI
from fastapi_offline import FastAPIOffline

from app import __version__
from app.api import (
    after_turn,
    assemble,
    audit_trail,
    compact,
    deliveries,
    deliveries_pages,
    forget_pages,
    freshness_calls,
    freshness_pages,
    mcp,
    memories,
    memories_forget,
    memories_pages,
    memory_transfer,
    recalls,
    resource_calls,
    resources_pages,
    service,
    sessions,
    sessions_pages,
    tenant_pages,
    tools,
)
from app.api.document import describe
from app.api.error_handlers import install_error_handlers
from app.api.hosts import is_ours
from app.api.intake import Intake
from app.api.middleware import RequestShell
from app.engine.policy.names import shown_path
from app.observe.logging import configure_logging
from app.observe.metrics import Metrics
from app.ports import ContextBackend
from app.services import open_services
from app.settings import Settings

log = structlog.get_logger(__name__)

_DESCRIPTION = """\
Three calls make an agent remember. Before the model runs, `/assemble` gives it the history (`preflight`) and what is
worth knowing (`transform`); after it ran, `/after-turn` keeps the turn; when the context gets long, `/compact` archives
it.
"""


def create_app(settings: Settings, *, backend: ContextBackend | None = None) -> FastAPI:
    """The ASGI application for these settings. ``backend`` replaces the configured one (tests)."""
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        configure_logging(settings.log_level, partial(shown_path, settings.policy.policy().text))
        async with open_services(settings, metrics=metrics, backend=backend) as services:
            app.state.services = services
            async with services.running():
                log.info("ready", backend=services.backend.name, version=__version__)
                yield

    app = FastAPIOffline(
        title="OpenViking sidecar",
        version=__version__,
        summary="Context sidecar between an agent host and OpenViking.",
        description=_DESCRIPTION,
        lifespan=lifespan,
        redoc_url=None,
        static_url="/docs-assets",
        swagger_ui_parameters={"tryItOutEnabled": True, "displayRequestDuration": True, "defaultModelsExpandDepth": 0},
    )
    app.add_middleware(
        RequestShell,
        metrics=metrics,
        is_ours=partial(is_ours, more=settings.auth.served_hosts()),
    )
    app.state.intake = Intake(settings.limits)
    install_error_handlers(app)
    for module in (assemble, after_turn, compact, sessions, tools, mcp):
        app.router.routes.extend(module.router.routes)
    for module in (
        memory_transfer,
        memories_forget,
        freshness_calls,
        memories,
        resource_calls,
        audit_trail,
        deliveries,
        recalls,
        service,
    ):
        app.router.routes.extend(module.router.routes)
    for module in (
        memories_pages,
        resources_pages,
        sessions_pages,
        deliveries_pages,
        forget_pages,
        freshness_pages,
        tenant_pages,
    ):
        app.router.routes.extend(module.router.routes)
    app.openapi = partial(describe, app)  # type: ignore[method-assign]
    return app
