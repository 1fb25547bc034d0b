"""A backend behind the policy: what goes to it and what comes from it is masked, whatever was stored before."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.recall.hits import Hit
from app.core.recall.recall_filter import ANY, RecallFilter
from app.engine.policy.applying import texts_of, under
from app.engine.policy.names import shown_uri
from app.engine.policy.texts import shown_message
from app.policy.policy import Policy
from app.ports import Appended, BackendHealth, CommitReceipt, CommitStatus, ContextBackend, SessionHistory, Target


class GuardedBackend:
    """A `ContextBackend` that passes each call on to another one, with texts and queries under the policy.

    What a rule drops is not recalled. A message that was captured before a rule came is delivered masked all the same,
    because its turn is only done when all of its messages have arrived.
    """

    def __init__(self, backend: ContextBackend, policy: Policy) -> None:
        self.name = backend.name
        self.place = backend.place
        self.call_s = backend.call_s
        self._backend = backend
        self._policy = policy

    def gauges(self) -> Mapping[str, float]:
        """See `ContextBackend.gauges`."""
        return self._backend.gauges()

    async def find(
        self,
        who: Identity,
        query: str,
        target: Target,
        limit: int,
        deadline: Deadline,
        only: RecallFilter = ANY,
    ) -> list[Hit]:
        """See `ContextBackend.find`."""
        policy = self._policy
        query = await under(policy, partial(policy.text, query), query)
        hits = await self._backend.find(who, query, target, limit, deadline, only)
        texts = [text for hit in hits for text in (hit.text, hit.whole) if text]
        return await under(policy, partial(_recalled, policy, hits), texts)

    async def read(self, who: Identity, uris: Sequence[str], deadline: Deadline) -> dict[str, str]:
        """See `ContextBackend.read`."""
        texts = await self._backend.read(who, uris, deadline)
        text = self._policy.text
        return await under(self._policy, lambda: {uri: text(one) for uri, one in texts.items()}, list(texts.values()))

    async def append(self, who: Identity, messages: Sequence[CapturedMessage], deadline: Deadline) -> Appended:
        """See `ContextBackend.append`."""
        return await self._backend.append(who, await self._shown(messages), deadline)

    async def arrived(self, who: Identity, turn_id: str, deadline: Deadline) -> frozenset[str]:
        """See `ContextBackend.arrived`."""
        return await self._backend.arrived(who, turn_id, deadline)

    async def copies(self, who: Identity, turn_id: str, deadline: Deadline) -> int:
        """See `ContextBackend.copies`."""
        return await self._backend.copies(who, turn_id, deadline)

    async def commit(
        self, who: Identity, keep_recent: int, deadline: Deadline, *, new_epoch: bool = False, instructions: str = ""
    ) -> CommitReceipt:
        """See `ContextBackend.commit`."""
        return await self._backend.commit(
            who, keep_recent, deadline, new_epoch=new_epoch, instructions=self._policy.text(instructions)
        )

    async def commit_status(self, who: Identity, task_id: str, deadline: Deadline) -> CommitStatus:
        """See `ContextBackend.commit_status`."""
        return await self._backend.commit_status(who, task_id, deadline)

    async def history(self, who: Identity, token_budget: int, deadline: Deadline) -> SessionHistory:
        """See `ContextBackend.history`."""
        history = await self._backend.history(who, token_budget, deadline)
        texts = [history.overview, history.abstracts, texts_of(history.messages)]
        return await under(self._policy, partial(_remembered, self._policy, history), texts)

    async def archives(self, who: Identity, deadline: Deadline) -> tuple[str, ...]:
        """See `ContextBackend.archives`."""
        return await self._backend.archives(who, deadline)

    async def archived_messages(self, who: Identity, archive_id: str, deadline: Deadline) -> list[CapturedMessage]:
        """See `ContextBackend.archived_messages`."""
        return await self._shown(await self._backend.archived_messages(who, archive_id, deadline))

    async def re_extract(self, who: Identity, archive_id: str, deadline: Deadline) -> CommitReceipt:
        """See `ContextBackend.re_extract`."""
        return await self._backend.re_extract(who, archive_id, deadline)

    async def health(self, deadline: Deadline) -> BackendHealth:
        """See `ContextBackend.health`."""
        return await self._backend.health(deadline)

    async def aclose(self) -> None:
        """See `ContextBackend.aclose`."""
        await self._backend.aclose()

    async def _shown(self, messages: Sequence[CapturedMessage]) -> list[CapturedMessage]:
        return await under(self._policy, partial(_masked, self._policy, messages), texts_of(messages))


def _masked(policy: Policy, messages: Sequence[CapturedMessage]) -> list[CapturedMessage]:
    return [shown_message(policy, message) for message in messages]


def _recalled(policy: Policy, hits: Sequence[Hit]) -> list[Hit]:
    judged = [(_named(policy, _with_whole(policy, hit)), policy.apply(hit.text)) for hit in hits]
    return [
        hit if outcome.text == hit.text else hit._replace(text=outcome.text)
        for hit, outcome in judged
        if not outcome.dropped
    ]


def _named(policy: Policy, hit: Hit) -> Hit:
    uri = shown_uri(policy.text, hit.uri)
    return hit if uri == hit.uri else hit._replace(masked_uri=uri)


def _with_whole(policy: Policy, hit: Hit) -> Hit:
    if hit.whole is None:
        return hit
    outcome = policy.apply(hit.whole)
    return hit._replace(whole=None if outcome.dropped else outcome.text)


def _remembered(policy: Policy, history: SessionHistory) -> SessionHistory:
    return replace(
        history,
        overview=policy.text(history.overview),
        abstracts=tuple((archive, policy.text(text)) for archive, text in history.abstracts),
        messages=tuple(_masked(policy, history.messages)),
    )
