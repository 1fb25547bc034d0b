"""The order in which everything is opened and closed, and what is made of what. It decides nothing."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial

import anyio
import anyio.to_thread

from app.atrest.data_directory import in_use, open_vault
from app.atrest.private import make_private, private_key
from app.atrest.vault import Vault
from app.backends import open_backend
from app.core.history.note_cache import NoteCache
from app.core.memories.freshness import FreshnessRules
from app.core.memories.naming import Homes
from app.core.messages.reading_cache import Readings
from app.embedded.classifying import classifier_of
from app.embedded.extraction.readings import read_statement
from app.engine.archives import Archives
from app.engine.assembly import Assemble
from app.engine.compaction import Compact
from app.engine.host_window import WindowWatch
from app.engine.looking import LookAtSessions
from app.engine.memories.auditing import NOT_AUDITED, RecallAudit
from app.engine.memories.browsing import ListMemories, ReadMemory, whole
from app.engine.memories.check_freshness import CheckFreshness, FreshnessKeeper
from app.engine.memories.erasing import EraseEverywhere
from app.engine.memories.forgetter import Forgetter
from app.engine.memories.forgetting import ForgetMemory, ForgetSelected, SelectMemory
from app.engine.memories.keeping import ChangeMemory, StoreMemory
from app.engine.memories.transfer import ExportMemories, ImportMemories
from app.engine.memories.unkept import NoMemories
from app.engine.output_reading import ToolOutputs
from app.engine.policy.guarded_backend import GuardedBackend
from app.engine.policy.guarded_memories import GuardedMemories
from app.engine.policy.guarded_resources import GuardedResources
from app.engine.preflight import Preflight
from app.engine.resources.no_resources import NoResources
from app.engine.session_end import EndSession, ResetSession
from app.engine.session_start.start import StartSession
from app.engine.skill_reading import ReadSkillMemory
from app.engine.turn_capture import AfterTurn
from app.errors import CanNotStart, StoreUnavailable
from app.observe.measured import MeasuredBackend
from app.observe.metrics import Metrics
from app.offload.pool import OffloadPool
from app.ports import ContextBackend, OpenedBackend
from app.recall.cut import recallable
from app.recall.explain import Explain, RecentQueries
from app.recall.transform import Transform
from app.services.delivery_services import open_turns, worker_of
from app.services.document_services import open_documents, web_of
from app.services.memory_services import memories_of, told_from_any_thread
from app.services.recall_services import open_comparisons, open_searches
from app.services.running_services import Services
from app.services.session_services import session_beginner
from app.settings import Settings
from app.store.traces import open_traces
from app.tools.tool import Uses
from app.tools.tool_calls import CallTool


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
    opened = open_backend(settings, vault) if backend is None else OpenedBackend(backend)
    if backend is None:
        stack.push_async_callback(opened.backend.aclose)
    policy = settings.policy.policy()
    await anyio.to_thread.run_sync(policy.prepare)
    backend = MeasuredBackend(GuardedBackend(opened.backend, policy), metrics.on_backend_call)
    store = await open_turns(stack, settings, backend.call_s, vault, opened.unnamed)
    traces = await open_traces(
        settings.store_url,
        settings.data_dir,
        keep=settings.trace.keep,
        keep_hours=settings.trace.keep_hours,
        now=time.time,
        vault=vault,
        unnamed=opened.unnamed,
    )
    stack.push_async_callback(traces.aclose)
    as_stored = opened.memories(store.ledger) if opened.memories else NoMemories()
    kept = GuardedMemories(as_stored, policy)
    searches = open_searches(stack, settings, backend, store, kept, policy)
    worker = worker_of(settings, store, backend, searches, metrics)
    memories, courier = memories_of(settings, kept, store, searches, backend.call_s)
    if opened.tell:
        opened.tell(partial(told_from_any_thread, asyncio.get_running_loop(), memories.audit.engine_wrote))
    ports = {"audit": memories.audit, "backend": backend, "store": store, "searches": searches}
    offload = OffloadPool(settings, ports)
    stack.push_async_callback(offload.aclose)
    homes = Homes(opened.unnamed)
    listing = ListMemories(memories, partial(recallable, settings))
    looked_at = replace(memories, audit=NOT_AUDITED)
    selecting = SelectMemory(ListMemories(looked_at, whole), ReadMemory(looked_at), homes)
    recalls = RecallAudit(memories)
    fresh = settings.freshness
    rules = FreshnessRules(fresh.stale_days, fresh.unconfirmed_days, fresh.ttl_days)
    check = CheckFreshness(replace(memories, store=as_stored), store.freshness, rules)
    keeper = FreshnessKeeper(check, fresh.every_hours * 3_600)
    queries = RecentQueries()
    forgetter = Forgetter(EraseEverywhere(memories, store.erasing, traces, (queries.forget, searches.forget)))
    resources = opened.resources(store.catalogue) if opened.resources else NoResources()
    documents = await open_documents(
        stack, settings, GuardedResources(resources, policy), policy, store, searches, vault, homes
    )
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
        web=web_of(settings),
        homes=homes,
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
        comparisons=open_comparisons(stack, settings, opened.read_pairs),
        policy=policy,
        on_recall=metrics.on_recall,
        on_recalled=recalls.add,
    )
    assemble = Assemble(preflight, transform, WindowWatch(store, settings.guards.flush_rules()), settings.recall_tokens)
    begin = session_beginner(settings, memories, store, policy, keeps_memories=opened.memories is not None)
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
        explain=Explain(queries, store, backend, policy, documents.names.uris_of),
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
        keeps_memories=opened.memories is not None,
        unnamed=opened.unnamed,
        server=opened.server,
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
