"""`transform`: what is worth knowing for the latest user message, put where the host wants it.

One search per target, all sent together. What is there at the deadline is used; a search that is late or fails is
noted and takes nothing away from the others. Whatever happens, the host's messages come back (contract, /assemble).
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial

import structlog

from app.classify.classifier import Classifier
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, agent_name, agent_of_key
from app.core.injection.inject import Mode
from app.core.messages.reading_cache import AT_ONCE_BYTES, are_large
from app.core.reasons import Reason
from app.core.recall.query import fingerprint
from app.core.recall.recall_filter import ANY, RecallFilter, recall_filter
from app.core.recall.text_pairs import KnownPair
from app.core.recall.trace import MAX_TRACED_CANDIDATES, RecallTrace, SearchTrace, TraceSink
from app.engine import bounded_waits
from app.engine.policy.applying import under
from app.engine.results import AssembleInput, AssembleResult, RecallReport
from app.engine.trace_ids import new_trace_id
from app.policy.policy import Policy
from app.ports import BackendError, Target
from app.recall.block import render_block
from app.recall.comparisons import Comparisons
from app.recall.decision import Decision, Rules, decide
from app.recall.explain import RecentQueries
from app.recall.one_recall import Recall, Searched, placed
from app.recall.plan import plan_for
from app.recall.recall_cache import Known, RecallCache
from app.recall.searches import Searches
from app.recall.selection import Selection
from app.recall.skill_section import skill_selection
from app.recall.source import Asked, RecallSource
from app.recall.sources import SOURCES
from app.settings import Settings

log = structlog.get_logger(__name__)

RESERVE_S = 0.02
"""Kept of the deadline for ranking and rendering; at most a tenth of it."""

OnRecalled = Callable[[Identity, str, Sequence[str]], None]
"""Told who got what into a prompt: the trace's id, and the URIs."""


class Transform:
    """The use case of `/assemble`'s phase `transform`: recalls for one process.

    ``queries`` keeps what was asked for those who look at it, and
    ``policy`` says what of it may be kept and searched for. ``on_recall`` is told what each recall came to,
    ``on_recalled`` what it put into a prompt.
    ``now`` is the wall clock in epoch seconds, ``clock`` a monotonic one in seconds.
    """

    def __init__(
        self,
        settings: Settings,
        searches: Searches,
        traces: TraceSink,
        classifier: Classifier,
        *,
        sources: Iterable[RecallSource] = SOURCES,
        queries: RecentQueries | None = None,
        comparisons: Comparisons | None = None,
        policy: Policy | None = None,
        on_recall: Callable[[Reason], None] = lambda _reason: None,
        on_recalled: OnRecalled = lambda _who, _trace_id, _uris: None,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._settings = settings
        self._sources = tuple(sources)
        self._searches = searches
        self._traces = traces
        self._classifier = classifier
        self._queries = queries or RecentQueries()
        self._comparisons = comparisons
        self._policy = policy or Policy()
        self._on_recall = on_recall
        self._on_recalled = on_recalled
        self._now = now
        self._clock = clock
        self._memo = RecallCache()
        self._rules = Rules(
            enabled=any(source.enabled(settings) for source in self._sources),
            experiences=settings.experience.enabled,
            min_query=settings.recall.min_query_chars,
            min_task=settings.experience.min_query_chars,
            query_turns=settings.recall.query_turns,
        )

    async def run(self, who: Identity, asked: AssembleInput, deadline: Deadline) -> AssembleResult:
        """The messages with what was recalled in its place; or as they are, and the reason why. Never raises for a
        backend, and answers within ``deadline`` and the recall time-out, whichever is sooner."""
        began = self._clock()
        who = self._as_informed(who, asked)
        large = are_large(asked.messages) or len(asked.prompt or "") > AT_ONCE_BYTES
        known = Known() if large else self._memo.of(who, asked)
        recall = Recall(asked.inject, known, large, guards=asked.guards)
        try:
            await self._judge(recall, who, asked, deadline)
            recall.steps["gate"] = self._ms_since(began)
            if recall.decision.refusal:
                recall.reason = recall.decision.refusal
            else:
                await self._recall(recall, who, asked, deadline)
        except TimeoutError:
            recall.reason = Reason.DEADLINE_EXCEEDED
        recall.steps["total"] = self._ms_since(began)
        self._on_recall(recall.reason)
        return self._answer(recall, who, asked)

    def _as_informed(self, who: Identity, asked: AssembleInput) -> Identity:
        """Who may read what for this recall: a sub-agent that begins is told what the agent that sent it knows."""
        parent = agent_of_key(asked.scope.parent_session)
        if parent is None or asked.trigger_hint != "subagent_start" or who.peer_role is not PeerRole.ASSISTANT:
            return who
        return replace(who, agent=agent_name(parent, self._settings.routing.agent_prefix))

    async def _judge(self, recall: Recall, who: Identity, asked: AssembleInput, deadline: Deadline) -> None:
        if recall.known.decision is not None:
            recall.decision = recall.known.decision
            return
        judging = partial(
            decide,
            () if asked.subject else asked.messages,
            asked.prompt,
            who,
            replace(self._rules, enabled=True) if asked.skill else self._rules,
            self._classifier,
            hint=asked.trigger_hint,
            bypassed=asked.bypassed,
            is_guidance=asked.subject is not None,
            automation=asked.scope.automation,
        )
        in_thread = recall.large or self._classifier.slow
        decision = await bounded_waits.read(judging, large=in_thread, deadline=deadline)
        masked = partial(_masked, self._policy, decision)
        recall.decision = await under(self._policy, masked, decision.query, decision.latest)
        recall.known.decision = recall.decision

    async def _recall(self, recall: Recall, who: Identity, asked: AssembleInput, deadline: Deadline) -> None:
        query = recall.decision.query
        plan = plan_for(self._sources, recall.decision, self._settings)
        today = datetime.fromtimestamp(self._now(), UTC).date()
        recall.only = asked.only.narrowed(self._wanted(today))
        recall.searched = await self._search(who, query, plan.targets, deadline, recall.only)
        recall.steps |= {one.target.value: one.ms for one in recall.searched}
        began = self._clock()
        hits = {one.target: one.hits for one in recall.searched}
        if not recall.known.serves(hits, today):
            choice = Asked(
                who,
                query,
                asked.messages,
                self._settings,
                today,
                recall.decision.personal,
            )

            async def choose(read: KnownPair | None) -> list[Selection]:
                choosing = partial(plan.choose, replace(choice, read=read), hits)
                return await bounded_waits.read(choosing, large=recall.large, deadline=deadline)

            chosen = await (self._comparisons.helping(choose, deadline) if self._comparisons else choose(None))
            chosen = [skill_selection(asked.skill), *chosen] if asked.skill else chosen
            block = render_block(*((selection.section, selection.items) for selection in chosen))
            recall.known.keep(hits, today, chosen, block)
        recall.chosen, recall.block = recall.known.chosen, recall.known.block
        recall.steps["rank"] = self._ms_since(began)
        if recall.block or (recall.decision.note and recall.mode is not Mode.BLOCK):
            recall.reason = Reason.OK
        else:
            recall.reason = plan.why_nothing({one.target: one.failure for one in recall.searched if one.failure})

    def _wanted(self, today: date) -> RecallFilter:
        rules = self._settings.recall
        return recall_filter(rules.categories, rules.excluded_categories, max_age_days=rules.max_age_days, today=today)

    async def _search(
        self, who: Identity, query: str, targets: dict[Target, int], deadline: Deadline, only: RecallFilter
    ) -> list[Searched]:
        within = deadline.within_ms(self._settings.recall.timeout_ms)
        within = Deadline(within.at - min(RESERVE_S, within.remaining / 10), within.clock)
        asking = [self._ask(who, query, target, limit, within, only) for target, limit in targets.items()]
        return await asyncio.gather(*asking) if len(asking) > 1 else [await one for one in asking]

    async def _ask(
        self,
        who: Identity,
        query: str,
        target: Target,
        limit: int,
        deadline: Deadline,
        only: RecallFilter,
    ) -> Searched:
        began = self._clock()
        try:
            found = await self._searches.find(
                who, query, target, limit, deadline, only if target is Target.MEMORIES else ANY
            )
        except BackendError as error:
            log.warning("search_failed", target=target.value, reason=str(error.reason))
            return Searched(target, (), str(error.reason), self._ms_since(began), error.reason)
        return Searched(target, found.hits, found.how, self._ms_since(began))

    def _answer(self, recall: Recall, who: Identity, asked: AssembleInput) -> AssembleResult:
        answer = placed(recall, asked)
        now = self._now()
        trace_id = new_trace_id(now)
        self._queries.keep(trace_id, recall.decision.query)
        self._traces.record(partial(self._trace, recall, who, trace_id, now))
        items = tuple(item for selection in recall.chosen for item in selection.recalled())
        if items:
            self._on_recalled(who, trace_id, [item.uri for item in items])
        return AssembleResult(
            messages=answer.messages,
            estimated_tokens=answer.tokens,
            reason=recall.reason,
            assembled=recall.reason is Reason.OK,
            system_prompt_addition=answer.system_prompt_addition,
            context_block=recall.block or None,
            recall=RecallReport(
                trace_id=trace_id,
                query=recall.decision.query,
                gate=recall.decision.gate,
                items=items,
                timings_ms=dict(recall.steps),
                degraded=recall.degraded,
            ),
        )

    def _trace(self, recall: Recall, who: Identity, trace_id: str, now: float) -> RecallTrace:
        """The trace; made when it is written, because the host waits for the answer and not for its explanation."""
        texts = self._settings.trace.texts
        candidates = [one for selection in recall.chosen for one in selection.traced(texts=texts)]
        return RecallTrace(
            trace_id=trace_id,
            at=datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds"),
            account_key=who.account_key,
            session=who.session,
            agent=who.agent,
            reason=str(recall.reason),
            query_chars=len(recall.decision.query),
            inject=str(recall.mode),
            gate=recall.decision.gate,
            searches=tuple(SearchTrace(one.target.value, one.how, len(one.hits), one.ms) for one in recall.searched),
            cuts=tuple(selection.cut() for selection in recall.chosen),
            candidates=tuple(candidates[:MAX_TRACED_CANDIDATES]),
            timings_ms=dict(recall.steps),
            degraded=recall.degraded,
            block_chars=len(recall.block),
            only=str(recall.only),
            query=recall.decision.query if texts else None,
            session_key=who.session_key,
            guards=recall.guards,
            turns=recall.decision.turns,
            asked=fingerprint(recall.decision.latest) if recall.decision.latest else "",
        )

    def _ms_since(self, began: float) -> float:
        return round((self._clock() - began) * 1000, 3)


def _masked(policy: Policy, decision: Decision) -> Decision:
    query = policy.text(decision.query)
    latest = policy.text(decision.latest) if decision.latest != decision.query else query
    unchanged = (query, latest) == (decision.query, decision.latest)
    return decision if unchanged else replace(decision, query=query, latest=latest)
