"""All that is open while the service runs, as one typed object, and its background work."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import asdict, dataclass

import anyio
import anyio.to_thread
import structlog

from app.core.deadline import Deadline
from app.core.identity import Tenant
from app.core.messages.reading_cache import Readings
from app.engine.archives import Archives
from app.engine.assembly import Assemble
from app.engine.compaction import Compact
from app.engine.looking import LookAtSessions
from app.engine.memories.auditing import RecallAudit
from app.engine.memories.browsing import ListMemories, ReadMemory
from app.engine.memories.check_freshness import CheckFreshness, FreshnessKeeper
from app.engine.memories.forgetter import Forgetter
from app.engine.memories.forgetting import ForgetMemory, ForgetSelected
from app.engine.memories.keeping import ChangeMemory, StoreMemory
from app.engine.memories.transfer import ExportMemories, ImportMemories
from app.engine.resources.browse_resources import BrowseResources, RemoveResource
from app.engine.resources.importing import ImportResource
from app.engine.session_end import EndSession, ResetSession
from app.engine.session_start.begin import BeginSession
from app.engine.session_start.start import StartSession
from app.engine.skill_reading import ReadSkillMemory
from app.engine.turn_capture import AfterTurn
from app.gathering.web import Fetching
from app.observe.metrics import Metrics
from app.offload.pool import OffloadPool
from app.policy.policy import Policy
from app.ports import (
    BackendHealth,
    BackendServer,
    ContextBackend,
)
from app.recall.explain import Explain, RecentQueries
from app.settings import Settings
from app.store.traces import TraceStore
from app.store.turns import SqlTurnStore
from app.tools.tool_calls import CallTool
from app.worker.memory_delivery import MemoryCourier
from app.worker.resource_importer import ResourceImporter
from app.worker.supervisor import Worker

log = structlog.get_logger(__name__)

RESTART_S = 1.0
"""Pause before a background task that failed is started again."""
HEALTH_MS = 2_000
"""Longest wait for the backend's word on its health, milliseconds."""


@dataclass(frozen=True, slots=True)
class Services:
    """What the HTTP shell and the command line work with: the use cases, and what is open for them."""

    settings: Settings
    tokens: dict[str, Tenant | None]
    metrics: Metrics
    backend: ContextBackend
    store: SqlTurnStore
    worker: Worker
    courier: MemoryCourier
    forgetter: Forgetter
    recalls: RecallAudit
    traces: TraceStore
    offload: OffloadPool
    queries: RecentQueries
    readings: Readings
    assemble: Assemble
    after_turn: AfterTurn
    compact: Compact
    begin_session: BeginSession
    start_session: StartSession
    read_skill_memory: ReadSkillMemory
    end_session: EndSession
    reset_session: ResetSession
    explain: Explain
    look_at_sessions: LookAtSessions
    archives: Archives
    list_memories: ListMemories
    read_memory: ReadMemory
    store_memory: StoreMemory
    change_memory: ChangeMemory
    forget_memory: ForgetMemory
    forget_selected: ForgetSelected
    export_memories: ExportMemories
    import_memories: ImportMemories
    check_freshness: CheckFreshness
    freshness_keeper: FreshnessKeeper
    import_resource: ImportResource
    browse_resources: BrowseResources
    remove_resource: RemoveResource
    importer: ResourceImporter
    web: Fetching | None
    call_tool: CallTool
    policy: Policy
    form_key: bytes
    """Of the proofs in forms, where there is no token to make them with."""
    keeps_memories: bool
    """Whether the backend keeps memories one by one."""
    unnamed: str | None = None
    """What the backend calls the account and the user that a request does not name; None where a server decides."""
    server: BackendServer | None = None
    """The backend's server, where it runs as a child of this process."""

    async def backend_health(self) -> BackendHealth:
        """What the backend says about itself, within `HEALTH_MS`."""
        return await self.backend.health(Deadline.after_ms(HEALTH_MS))

    async def gauges(self) -> dict[str, float]:
        """The outbox and the backend as numbers, for `/metrics`."""
        outbox = {f"outbox_{name}": float(value) for name, value in asdict(await self.store.gauges()).items()}
        bounds = self.store.backlog.bounds
        outbox |= {"outbox_max_bytes": float(bounds.total), "outbox_max_tenant_bytes": float(bounds.tenant)}
        return outbox | {f"{self.backend.name}_{name}": value for name, value in self.backend.gauges().items()}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the background work until the block ends: delivery, commits, traces, and one look at the backend, or the
        backend itself. Raises `CanNotStart`."""
        async with self.server.running() if self.server else nullcontext(), anyio.create_task_group() as tasks:
            tasks.start_soon(_kept_running, "worker", self.worker.run)
            tasks.start_soon(_kept_running, "memories", self.courier.run)
            tasks.start_soon(_kept_running, "imports", self.importer.run)
            tasks.start_soon(_kept_running, "forgetting", self.forgetter.run)
            tasks.start_soon(_kept_running, "audit", self.store.audit.run)
            tasks.start_soon(_kept_running, "freshness", self.freshness_keeper.run)
            tasks.start_soon(_kept_running, "recalls", self.recalls.run)
            tasks.start_soon(_kept_running, "traces", self.traces.run)
            if not self.server:
                tasks.start_soon(self._greet_backend)
            yield
            tasks.cancel_scope.cancel()

    async def _greet_backend(self) -> None:
        health = await self.backend_health()
        say = log.info if health.ok else log.warning
        say("backend_answers" if health.ok else "backend_does_not_answer", backend=self.backend.name, **health.facts)


async def _kept_running(name: str, work: Callable[[], Awaitable[None]]) -> None:
    """Start ``work`` again whenever a bug ends it: a service that answers but delivers nothing would lie."""
    while True:
        try:
            await work()
        except Exception:
            log.exception("background_task_failed", task=name)
            await anyio.sleep(RESTART_S)
        else:
            return
