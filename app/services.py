"""All that is open while the service runs, as one typed object, and the order in which it is opened and closed."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import NamedTuple

import anyio
import anyio.to_thread
import structlog

from app.atrest.data_directory import in_use, open_vault
from app.atrest.places import INCOMING
from app.atrest.vault import Vault
from app.backends import open_backend
from app.core.deadline import Deadline
from app.core.history.commit_policy import CommitRules
from app.core.history.note_cache import NoteCache
from app.core.identity import Tenant
from app.core.injection.session_start.commands import COMMAND_LINE
from app.core.injection.session_start.section import Source
from app.core.injection.session_start.sections import SECTIONS
from app.core.memories.audit import OnWritten, Written
from app.core.memories.freshness import FreshnessRules
from app.core.messages.reading_cache import Readings
from app.embedded.classifying import classifier_of
from app.embedded.extraction.readings import read_statement
from app.embedded.index.embedders import make_embedder
from app.engine.archives import Archives
from app.engine.assembly import Assemble
from app.engine.compaction import Compact
from app.engine.host_window import WindowWatch
from app.engine.looking import LookAtSessions
from app.engine.memories.auditing import NOT_AUDITED, Audit, RecallAudit
from app.engine.memories.browsing import ListMemories, ReadMemory, whole
from app.engine.memories.check_freshness import CheckFreshness, FreshnessKeeper
from app.engine.memories.collaborators import Memories, operator_of
from app.engine.memories.erasing import EraseEverywhere
from app.engine.memories.forgetter import Forgetter
from app.engine.memories.forgetting import ForgetMemory, ForgetSelected, SelectMemory
from app.engine.memories.keeping import ChangeMemory, StoreMemory
from app.engine.memories.transfer import ExportMemories, ImportMemories
from app.engine.memories.unkept import NoMemories
from app.engine.output_reading import ToolOutputs
from app.engine.policy.guarded_backend import GuardedBackend
from app.engine.policy.guarded_memories import GuardedMemories, GuardedWaiting
from app.engine.policy.guarded_resources import GuardedResources
from app.engine.preflight import Preflight
from app.engine.resources.browse_resources import BrowseResources, RemoveResource
from app.engine.resources.importing import ImportResource
from app.engine.resources.no_resources import NoResources
from app.engine.session_end import EndSession, ResetSession
from app.engine.session_start.begin import BeginSession
from app.engine.session_start.reading import ReadFacts
from app.engine.session_start.start import StartSession
from app.engine.skill_reading import ReadSkillMemory
from app.engine.turn_capture import AfterTurn
from app.errors import CanNotStart, StoreUnavailable
from app.gathering.reader_process import ReaderProcess
from app.gathering.web import Fetching
from app.observe.measured import MeasuredBackend
from app.observe.metrics import Metrics
from app.offload.pool import OffloadPool
from app.policy.policy import Policy
from app.ports import (
    BackendHealth,
    BackendServer,
    ContextBackend,
    MemoryLedger,
    MemoryNews,
    MemoryStore,
    ResourceCatalogue,
    ResourceStore,
    WaitingMemories,
)
from app.private import make_private, private_key
from app.recall.cut import recallable
from app.recall.explain import Explain, RecentQueries
from app.recall.rerank import Reranker
from app.recall.searches import Searches
from app.recall.transform import Transform
from app.settings import Settings
from app.store.steps import WorkRules
from app.store.traces import TraceStore, open_traces
from app.store.turns import SqlTurnStore, open_store
from app.tools import TOOLS
from app.tools.tool import Uses
from app.tools.tool_calls import CallTool
from app.worker.memory_delivery import MemoryCourier, usual_backoff
from app.worker.resource_importer import ResourceImporter
from app.worker.supervisor import Worker, WorkerSettings

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


@asynccontextmanager
async def open_services(
    settings: Settings, *, metrics: Metrics | None = None, backend: ContextBackend | None = None
) -> AsyncIterator[Services]:
    """Open everything that ``settings`` ask for; ``backend`` replaces the configured one. Closed in reverse order.

    Raises `CanNotStart`.
    """
    async with AsyncExitStack() as stack:
        with _told_to_the_operator(settings):
            services = await _opened(stack, settings, metrics or Metrics(), backend)
        yield services


async def _opened(
    stack: AsyncExitStack, settings: Settings, metrics: Metrics, backend: ContextBackend | None
) -> Services:
    vault = await anyio.to_thread.run_sync(_vault, settings, stack)
    await anyio.to_thread.run_sync(make_private, settings.data_dir)
    server: BackendServer | None = None
    open_memories: Callable[[MemoryLedger], MemoryStore] | None = None
    open_resources: Callable[[ResourceCatalogue], ResourceStore] | None = None
    tell: Callable[[OnWritten], None] | None = None
    if backend is None:
        opened = open_backend(settings, vault)
        backend, server = opened.backend, opened.server
        open_memories, open_resources, tell = opened.memories, opened.resources, opened.tell
        stack.push_async_callback(backend.aclose)
    policy = settings.policy.policy()
    await anyio.to_thread.run_sync(policy.prepare)
    backend = MeasuredBackend(GuardedBackend(backend, policy), metrics.on_backend_call)
    store = await open_store(
        settings.store_url,
        rules=_work_rules(settings, backend.call_s),
        max_pending_bytes=settings.store.max_pending_bytes,
        tenant_share=settings.store.max_pending_share_per_tenant,
        keep_days=settings.store.keep_days,
        keep_audit_days=settings.audit.keep_days,
        vault=vault,
    )
    stack.push_async_callback(store.aclose)
    traces = await open_traces(
        settings.store_url,
        settings.data_dir,
        keep=settings.trace.keep,
        keep_hours=settings.trace.keep_hours,
        now=time.time,
        vault=vault,
    )
    stack.push_async_callback(traces.aclose)
    as_stored = open_memories(store.ledger) if open_memories else NoMemories()
    kept = GuardedMemories(as_stored, policy)
    searches = Searches(
        backend,
        cache_ms=settings.recall.cache_ms,
        stale_ms=settings.recall.stale_ms,
        reranker=_reranker(settings),
        news=partial(_news, GuardedWaiting(store.waiting, policy), kept),
        changes=store.changes,
    )
    stack.push_async_callback(searches.aclose)
    worker = Worker(
        store,
        backend,
        _worker_settings(settings),
        memories_changed=searches.memories_changed,
        on_doubled=metrics.on_doubled,
    )
    memories, courier = _memories(settings, kept, store, searches, backend.call_s)
    if tell:
        tell(partial(_from_any_thread, asyncio.get_running_loop(), memories.audit.engine_wrote))
    ports = {"audit": memories.audit, "backend": backend, "store": store, "searches": searches}
    offload = OffloadPool(settings, ports)
    stack.push_async_callback(offload.aclose)
    listing = ListMemories(memories, partial(recallable, settings))
    looked_at = replace(memories, audit=NOT_AUDITED)
    selecting = SelectMemory(ListMemories(looked_at, whole), ReadMemory(looked_at))
    recalls = RecallAudit(memories)
    fresh = settings.freshness
    rules = FreshnessRules(fresh.stale_days, fresh.unconfirmed_days, fresh.ttl_days)
    check = CheckFreshness(replace(memories, store=as_stored), store.freshness, rules)
    keeper = FreshnessKeeper(check, fresh.every_hours * 3_600)
    queries = RecentQueries()
    forgetter = Forgetter(EraseEverywhere(memories, store.erasing, traces, (queries.forget, searches.forget)))
    resources = open_resources(store.catalogue) if open_resources else NoResources()
    documents = await _documents(stack, settings, GuardedResources(resources, policy), policy, store, searches, vault)
    tools = Uses(
        archives=Archives(backend),
        tool_outputs=ToolOutputs(store, policy),
        list_memories=listing,
        select_memory=selecting,
        store_memory=StoreMemory(memories),
        forget_memory=ForgetMemory(forgetter.erase),
        backend=backend,
        browse_resources=documents.browsing,
        import_resource=documents.importing,
        web=_web(settings),
    )
    preflight = Preflight(
        backend,
        store,
        settings.capture.summary_share,
        NoteCache().notes_on,
        policy,
        settings.guards.rules(),
        traces,
    )
    classifier = classifier_of(settings.embedded.embedder)
    transform = Transform(
        settings,
        searches,
        traces,
        classifier,
        queries=queries,
        policy=policy,
        on_recall=metrics.on_recall,
        on_recalled=recalls.add,
    )
    assemble = Assemble(preflight, transform, WindowWatch(store, settings.guards.flush_rules()), settings.recall_tokens)
    begin = BeginSession(
        ReadFacts(ListMemories(looked_at, whole), store.uses, _commands(settings)),
        store.starts,
        _start_sections(settings, keeps_memories=open_memories is not None),
        settings.start.max_chars,
        policy,
        on_shown=memories.audit.read,
    )
    stack.push_async_callback(begin.aclose)
    return Services(
        settings=settings,
        tokens=settings.auth.parsed(),
        metrics=metrics,
        backend=backend,
        store=store,
        worker=worker,
        courier=courier,
        forgetter=forgetter,
        recalls=recalls,
        traces=traces,
        offload=offload,
        queries=queries,
        readings=Readings(),
        assemble=assemble,
        after_turn=AfterTurn(
            store,
            worker,
            settings.capture.enabled,
            reads=read_statement,
            automation=settings.capture.automation_memory,
            policy=policy,
            audit=memories.audit,
            flush=settings.guards.flush_rules(),
        ),
        compact=Compact(store, worker, policy),
        begin_session=begin,
        start_session=StartSession(begin, replace(assemble, window=None)),
        read_skill_memory=ReadSkillMemory(store.uses, settings.recall.skills, policy),
        end_session=EndSession(store, worker),
        reset_session=ResetSession(store, worker),
        explain=Explain(queries, store, backend, policy),
        look_at_sessions=LookAtSessions(store, backend, policy),
        archives=tools.archives,
        list_memories=listing,
        read_memory=ReadMemory(memories),
        store_memory=tools.store_memory,
        change_memory=ChangeMemory(memories),
        forget_memory=tools.forget_memory,
        forget_selected=ForgetSelected(selecting, tools.forget_memory),
        export_memories=ExportMemories(memories),
        import_memories=ImportMemories(memories),
        check_freshness=keeper.check,
        freshness_keeper=keeper,
        import_resource=documents.importing,
        browse_resources=documents.browsing,
        remove_resource=documents.removing,
        importer=documents.importer,
        web=tools.web,
        call_tool=CallTool(tools),
        policy=policy,
        form_key=await anyio.to_thread.run_sync(private_key, settings.data_dir / "forms.key"),
        keeps_memories=open_memories is not None,
        server=server,
    )


async def _news(waiting: WaitingMemories, kept: MemoryStore, tenant: Tenant) -> MemoryNews:
    """What a search of the backend may not know: what waits for it, and what it does not have as it is."""
    return replace(await waiting.news(tenant), undelivered=tuple(await kept.undelivered(tenant)))


def _start_sections(settings: Settings, *, keeps_memories: bool) -> frozenset[str]:
    """The sections of sessions' additions: without memories only those that need none."""
    return frozenset(
        one.name
        for one in SECTIONS
        if one.name in settings.start.sections and (keeps_memories or one.needs <= {Source.TOOLS})
    )


def _from_any_thread(loop: asyncio.AbstractEventLoop, told: OnWritten, tenant: Tenant, written: Written) -> None:
    """Tell it on the loop; nobody, when that has ended."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(told, tenant, written)


def _commands(settings: Settings) -> Sequence[tuple[str, str]]:
    """What models are told to call."""
    if settings.start.commands == "cli":
        return COMMAND_LINE
    return [(tool.name, tool.description.partition(". ")[0].rstrip(".")) for tool in TOOLS]


def _memories(
    settings: Settings, kept: MemoryStore, store: SqlTurnStore, searches: Searches, call_s: float
) -> tuple[Memories, MemoryCourier]:
    """Memories on purpose, and what delivers those that wait for the backend."""

    async def changed(tenant: Tenant) -> None:
        searches.memories_changed(operator_of(tenant))
        try:
            await store.waiting.changed(tenant)
        except StoreUnavailable as error:  # other processes answer from before it until their caches are old
            log.warning("change_not_counted", reason=str(error.code))

    delivery = settings.delivery
    backoff = usual_backoff(delivery.backoff_ms / 1000, delivery.max_backoff_ms / 1000)
    courier = MemoryCourier(kept, store.waiting, changed, backoff, call_s, time.monotonic)
    policy = settings.policy.policy()
    waiting = GuardedWaiting(store.waiting, policy)
    memories = Memories(kept, waiting, courier, changed, read_statement, policy=policy, audit=Audit(store.audit))
    return memories, courier


def _web(settings: Settings) -> Fetching | None:
    """How URLs are fetched; None where none is."""
    rules = settings.resources
    return Fetching(settings.limits.max_body_bytes, rules.fetch_ms / 1000) if rules.urls else None


class _Documents(NamedTuple):
    importing: ImportResource
    browsing: BrowseResources
    removing: RemoveResource
    importer: ResourceImporter


async def _documents(
    stack: AsyncExitStack,
    settings: Settings,
    kept: ResourceStore,
    policy: Policy,
    store: SqlTurnStore,
    searches: Searches,
    vault: Vault,
) -> _Documents:
    """Documents and skills, what reads them, and what takes them in."""

    def changed(tenant: Tenant) -> None:
        searches.memories_changed(operator_of(tenant))

    rules, delivery = settings.resources, settings.delivery
    incoming = settings.data_dir / INCOMING
    await anyio.to_thread.run_sync(make_private, incoming)
    reader = ReaderProcess(
        settings.import_limits,
        at_once=rules.at_once,
        seconds=rules.read_ms / 1000,
        rules=settings.policy.rules,
        patterns={name: (one["pattern"], one["action"]) for name, one in settings.policy.patterns.items()},
        vault=vault,
    )
    stack.push_async_callback(reader.aclose)
    backoff = usual_backoff(delivery.backoff_ms / 1000, delivery.max_backoff_ms / 1000)
    importer = ResourceImporter(kept, store.imports, incoming, changed, backoff, rules.at_once, vault)
    return _Documents(
        ImportResource(kept, store.imports, reader, importer, incoming, policy.text),
        BrowseResources(kept, store.imports),
        RemoveResource(kept, store.imports, importer.drop, changed),
        importer,
    )


def _vault(settings: Settings, stack: AsyncExitStack) -> Vault:
    """What reads and writes the data directory, which is in use from now on. Raises `CanNotStart`."""
    stack.enter_context(in_use(settings.data_dir))
    return open_vault(settings.places, settings.encryption.keys())


@contextmanager
def _told_to_the_operator(settings: Settings) -> Iterator[None]:
    """What keeps the service from starting, in one line instead of a traceback."""
    try:
        yield
    except ImportError as error:
        raise CanNotStart(f"{error}: install openviking-sidecar with the extra that these settings need") from error
    except OSError as error:
        raise CanNotStart(f"the data directory {settings.data_dir} can not be used: {error}") from error
    except StoreUnavailable as error:
        raise CanNotStart(str(error)) from error


def _work_rules(settings: Settings, call_s: float) -> WorkRules:
    capture, delivery = settings.capture, settings.delivery
    return WorkRules(
        lease_s=delivery.lease_ms / 1000,
        settle_s=delivery.settle_ms / 1000,
        call_s=min(call_s, delivery.lease_ms / 2000),
        commit=CommitRules(
            threshold_ratio=capture.commit_threshold_ratio,
            clear_ratio=capture.clear_threshold_ratio,
            keep_recent=capture.keep_recent,
            idle_seconds=capture.commit_idle_seconds,
            remember_interval_seconds=capture.remember_interval_seconds,
            automation_memory=capture.automation_memory,
            automation_experiences=settings.automation_teaches,
        ),
    )


def _reranker(settings: Settings) -> Reranker | None:
    """Judges a second time what a backend without an embedder of the sidecar's found."""
    if settings.backend == "embedded" or not settings.recall.rerank:
        return None
    embedder = make_embedder(settings.embedded.embedder)
    return Reranker(embedder) if embedder else None


def _worker_settings(settings: Settings) -> WorkerSettings:
    delivery = settings.delivery
    return WorkerSettings(
        concurrency=delivery.concurrency,
        backoff_s=delivery.backoff_ms / 1000,
        longest_backoff_s=delivery.max_backoff_ms / 1000,
        give_up_tries=delivery.give_up_tries,
        give_up_s=delivery.give_up_ms / 1000,
    )
