"""`/compact`: archive the session now, wait for its summary, and say honestly what came of it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from app.core.deadline import Deadline
from app.core.history.focus import focused, section
from app.core.history.prompt import LEAST_TOKENS
from app.core.history.summary_message import FRAME_TOKENS, SUMMARY_COST, contained
from app.core.history.summary_text import summary_tokens
from app.core.identity import Identity
from app.core.json.answers import answer
from app.core.reasons import Reason
from app.engine.policy.applying import under
from app.engine.preflight import known_history
from app.policy.policy import Policy
from app.store.requests import CommitView, SessionSize
from app.store.turns import SqlTurnStore
from app.store.work import UNSENT_COMMITS, CommitPhase
from app.worker.supervisor import Worker

_ARCHIVED = (CommitPhase.RUNNING, CommitPhase.COMPLETED, CommitPhase.FAILED)
_GOING_ON = (*UNSENT_COMMITS, CommitPhase.RUNNING)
MAX_INSTRUCTIONS = 8_000
"""Characters of instructions that are read."""
_HOPELESS = 3
"""Failed attempts at a delivery or a commit after which `/compact` does not wait for it any longer."""


@dataclass(frozen=True, slots=True)
class CompactInput:
    """What the host asks for. ``current_tokens`` is its own count of the whole prompt; None or 0 if it has none."""

    token_budget: int = 128_000
    keep_recent: int = 0
    current_tokens: int | None = None
    summary_share: float = 0.3
    """Of the budget; see `SIDECAR_CAPTURE__SUMMARY_SHARE`."""
    bypassed: bool = False
    instructions: str = ""
    """What the summary is to keep, in the host's words."""


@answer
@dataclass(frozen=True, slots=True)
class CompactDetails:
    """Which of archive and extraction succeeded."""

    archived: bool = False
    extracted: bool = False
    error: str = ""
    instructions_used: bool = False
    """Whether the summary has lines because of the host's instructions."""


@answer
@dataclass(frozen=True, slots=True)
class CompactedSession:
    """The host's own result shape."""

    summary: str = ""
    first_kept_entry_id: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    details: CompactDetails = field(default_factory=CompactDetails)


@answer
@dataclass(frozen=True, slots=True)
class CompactResult:
    """How the compaction went."""

    ok: bool
    compacted: bool
    """True when the prompt got shorter: messages left it, and the summary costs less than they did."""
    reason: Reason
    result: CompactedSession = field(default_factory=CompactedSession)
    task_id: str | None = None


@dataclass(frozen=True, slots=True)
class Compact:
    """The use case of `/compact`."""

    store: SqlTurnStore
    worker: Worker
    policy: Policy = field(default_factory=Policy)

    async def run(self, who: Identity, asked: CompactInput, deadline: Deadline) -> CompactResult:
        """Deliver what is queued, archive, follow, read back. Two calls at once share one archive.

        Both token counts are of the session's part of the prompt: its live messages, and the summary message. Where
        that did not get smaller, nothing is claimed to be compacted.
        """
        if asked.bypassed:
            return CompactResult(True, False, Reason.SESSION_BYPASSED)
        before = await _prompt(self.store, who, asked)
        live, focus, changes = await self.store.archivable(who) if asked.instructions else ((), "", 0)
        instructions = self.policy.text(asked.instructions[:MAX_INSTRUCTIONS])
        commits = await self.store.compact(who, asked.keep_recent, asked.token_budget, instructions)
        ids = [commit.id for commit in commits]
        tries = {commit.id: commit.attempts for commit in commits}

        async def done() -> bool:
            nonlocal commits
            commits = await self.store.commits(ids)
            if all(_settled(commit, tries[commit.id]) for commit in commits):
                return True
            # A backend that is away will not be back while the host waits; what was asked goes on behind the answer.
            size = await self.store.size_of(who)
            unsent = max((c.attempts - tries[c.id] for c in commits if c.phase in UNSENT_COMMITS), default=0)
            return max(unsent, size.failures if size else 0) >= _HOPELESS

        # Judged as it was when the wait ended: a failed extraction may have begun again since.
        await self.worker.wait_until(done, deadline)
        used = False
        if live and any(commit.phase in _ARCHIVED for commit in commits):
            archived = live[: max(0, len(live) - asked.keep_recent)]
            kept = await asyncio.to_thread(focused, archived, asked.instructions[:MAX_INSTRUCTIONS], focus)
            used = kept != focus and await self.store.keep_focus(who, kept, changes)
            focus = kept if used else focus
        after = await _prompt(self.store, who, asked)
        result = _result(asked, commits, before, after, settled=all(_settled(c, tries[c.id]) for c in commits))
        summary = contained("\n\n".join(filter(None, (result.result.summary, section(focus) if used else ""))))
        shown = await under(self.policy, partial(self.policy.text, summary), summary)
        details = replace(result.result.details, instructions_used=used)
        return replace(result, result=replace(result.result, summary=shown, details=details))


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A session's part of the prompt: tokens of its live turns, and of the summary as `/assemble` shows it."""

    size: SessionSize | None = None
    summary_tokens: int = 0

    @property
    def live(self) -> int:
        return self.size.tokens if self.size else 0

    @property
    def tokens(self) -> int:
        return self.live + self.summary_tokens

    def tokens_after(self, before: "_Prompt") -> int:
        """The same, where the summary is cut to what the messages took that it stands for (`assemble_history`)."""
        archived = before.tokens - self.live
        return self.live + min(self.summary_tokens, max(LEAST_TOKENS, archived - SUMMARY_COST) + FRAME_TOKENS)


async def _prompt(store: SqlTurnStore, who: Identity, asked: CompactInput) -> _Prompt:
    size, known = await asyncio.gather(store.size_of(who), store.local_history(who))
    if not known.fingerprints:
        return _Prompt(size)
    room = int(asked.token_budget * asked.summary_share)
    return _Prompt(size, await asyncio.to_thread(summary_tokens, known_history(known), room))


def _settled(commit: CommitView, attempts_before: int) -> bool:
    """Whether there is a result that is younger than the request: a failure counts only if it was tried again."""
    if commit.phase is CommitPhase.FAILED:
        return commit.attempts > attempts_before
    return commit.phase not in _GOING_ON


def _result(
    asked: CompactInput,
    commits: Sequence[CommitView],
    before: _Prompt,
    after: _Prompt,
    *,
    settled: bool,
) -> CompactResult:
    tokens_before = asked.current_tokens or before.tokens
    reason = _reason(commits, settled=settled, stuck=after.size is not None and after.size.failures > 0)
    newest = commits[-1] if commits else None
    ok = reason in {Reason.COMMIT_COMPLETED, Reason.COMMIT_NO_ARCHIVE, Reason.SESSION_NOT_FOUND}
    # After a failure a digest of the messages stands in their place, so nothing is claimed to be gone.
    gone = max(0, before.tokens - after.tokens_after(before)) if ok and after.live < before.live else 0
    return CompactResult(
        ok=ok,
        compacted=gone > 0,
        reason=reason,
        result=CompactedSession(
            summary=after.size.summary if after.size else "",
            first_kept_entry_id=(newest.archive_id or "") if newest else "",
            tokens_before=tokens_before,
            tokens_after=max(0, tokens_before - gone),
            details=CompactDetails(
                archived=bool(commits) and all(commit.phase in _ARCHIVED for commit in commits),
                extracted=bool(commits) and all(commit.phase is CommitPhase.COMPLETED for commit in commits),
                error=next((commit.error for commit in commits if commit.error), ""),
            ),
        ),
        task_id=newest.task_id if newest else None,
    )


def _reason(commits: Sequence[CommitView], *, settled: bool, stuck: bool) -> Reason:
    phases = [commit.phase for commit in commits]
    if not settled:
        # An error says more than the time it took: the backend could not be asked.
        unsent = [commit for commit in commits if commit.phase in UNSENT_COMMITS]
        failed = any(commit.error for commit in unsent) or (stuck and bool(unsent))
        return Reason.COMMIT_ERROR if failed else Reason.COMMIT_TIMEOUT
    if CommitPhase.FAILED in phases:
        return Reason.COMMIT_FAILED
    if CommitPhase.REJECTED in phases:
        return Reason.COMMIT_ERROR
    if any(commit.error == "session_not_found" for commit in commits):
        return Reason.SESSION_NOT_FOUND
    if CommitPhase.COMPLETED in phases or CommitPhase.LOCAL in phases:
        return Reason.COMMIT_COMPLETED
    return Reason.COMMIT_NO_ARCHIVE
