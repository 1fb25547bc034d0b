"""What the recall tests share: a scripted backend, an identity, and short ways to build hits and engines."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from app.classify.classifier import ByWords
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, SessionKind, Tenant
from app.core.reasons import Reason
from app.core.recall.hits import Hit
from app.core.recall.recall_filter import ANY, RecallFilter
from app.core.recall.trace import RecallTrace
from app.engine.results import AssembleInput, AssembleResult
from app.ports import BackendError, Target
from app.recall.comparisons import Comparisons
from app.recall.searches import Searches
from app.recall.transform import Transform
from app.settings import Settings
from tests.messages import typed

HOME = "viking://user/alice/memories"
LESSON = (
    "## Situation\n- A migration hangs on a lock\n\n## Approach\n- Read pg_locks\n\n## Reflect\n- Never force-kill it"
)


def memory(name: str, text: str, score: float = 0.5, category: str = "entities", **more: Any) -> Hit:
    return Hit(f"{HOME}/{category}/{name}.md", text, score, category=category, **more)


def experience(name: str, text: str = LESSON, score: float = 0.91) -> Hit:
    return Hit(f"{HOME}/experiences/{name}.md", text, score, category="experiences")


def someone(**more: Any) -> Identity:
    given = {"tenant": Tenant("acme", "alice"), "session": "s1", "session_key": None, "agent": "main", "sender": None}
    return Identity(**{**given, "peer_role": PeerRole.ASSISTANT, "kind": SessionKind.CHAT, **more})


class ScriptedBackend:
    """Answers `find` by target with hits, or with the error to raise; ``held`` targets answer when released."""

    def __init__(self, **answers: Sequence[Hit] | BackendError) -> None:
        self.answers = answers
        self.asked: list[tuple[Target, str, int]] = []
        self.identities: list[Identity] = []
        self.filters: list[tuple[Target, RecallFilter]] = []
        self.held: dict[str, asyncio.Event] = {}
        self.arrivals: asyncio.Queue[Target] = asyncio.Queue()

    def hold(self, target: str) -> asyncio.Event:
        return self.held.setdefault(target, asyncio.Event())

    async def find(
        self,
        who: Identity,
        query: str,
        target: Target,
        limit: int,
        deadline: Deadline,
        only: RecallFilter = ANY,
    ) -> list[Hit]:
        self.asked.append((target, query, limit))
        self.filters.append((target, only))
        self.identities.append(who)
        self.arrivals.put_nowait(target)
        if target.value in self.held:
            await self.held[target.value].wait()
        answer = self.answers.get(target.value, [])
        if isinstance(answer, BackendError):
            raise answer
        return list(answer)


class Traces(list[RecallTrace]):
    """A sink that keeps everything."""

    def record(self, make: Callable[[], RecallTrace]) -> None:
        self.append(make())


def failing(reason: Reason = Reason.OPENVIKING_UNAVAILABLE) -> BackendError:
    return BackendError(reason, "scripted", retryable=True)


def settings(**sections: Any) -> Settings:
    """Every hit is shown unless a test says otherwise: what is relevant is `tests/unit/test_relevance.py`'s."""
    sections["recall"] = {"score_threshold": 0, "relative_cut": 0, **sections.get("recall", {})}
    return Settings(_env_file=None, **sections)


class Recalling:
    """An engine over a scripted backend, with its traces at hand."""

    def __init__(
        self,
        backend: ScriptedBackend,
        clock: Callable[[], float] | None = None,
        comparisons: Comparisons | None = None,
        **sections: Any,
    ) -> None:
        chosen = settings(**sections)
        self.backend = backend
        self.traces = Traces()
        timed = {"clock": clock} if clock else {}
        self.searches = Searches(
            backend,  # type: ignore[arg-type]
            cache_ms=chosen.recall.cache_ms,
            stale_ms=chosen.recall.stale_ms,
            **timed,
        )
        self.engine = Transform(chosen, self.searches, self.traces, ByWords(), comparisons=comparisons)

    async def __call__(
        self, *messages: Any, who: Identity | None = None, ms: float = 5_000, prompt: str | None = None, **more: Any
    ) -> AssembleResult:
        host = typed({"role": "user", "content": m} if isinstance(m, str) else m for m in messages)
        asked = AssembleInput(host, prompt, 128_000, **more)
        return await self.engine.run(who or someone(), asked, Deadline.after_ms(ms))
