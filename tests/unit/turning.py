"""Turns and identities for tests of the write path."""

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.history.commit_policy import CommitRules
from app.core.identity import Identity, PeerRole, SessionKind, Tenant
from app.core.reasons import Reason
from app.ports import NewTurn
from app.store.steps import WorkRules

TIME = "2026-03-04T05:06:07.000Z"


class FakeClock:
    """Wall-clock seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def somebody(
    session: str = "s1", *, account: str = "acme", user: str = "alice", kind: SessionKind = SessionKind.CHAT
) -> Identity:
    return Identity(Tenant(account, user), session, f"agent:main:{session}", "main", None, PeerRole.ASSISTANT, kind)


def a_turn(
    *texts: str,
    who: Identity | None = None,
    key: str | None = None,
    fingerprint: str | None = None,
    occurrence: str | None = None,
    span: tuple[int, int] | None = None,
    tokens: int = 10,
    token_budget: int = 1000,
    remember: bool = False,
    skipped: Reason | None = None,
    fingerprints: tuple[str, ...] | None = None,
) -> NewTurn:
    """A turn in which user and assistant say ``texts`` in turns."""
    roles = ("user", "assistant")
    messages = tuple(
        CapturedMessage(roles[index % 2], (TextPart(text),), TIME)  # type: ignore[arg-type]
        for index, text in enumerate(texts)
    )
    return NewTurn(
        who=who or somebody(),
        key=key,
        fingerprint=fingerprint or "|".join(texts),
        occurrence=occurrence,
        span=span,
        messages=() if skipped else messages,
        fingerprints=texts if fingerprints is None else fingerprints,
        tokens=tokens,
        token_budget=token_budget,
        remember=remember,
        skipped=skipped,
    )


def work_rules(lease_s: float = 30.0, settle_s: float = 5.0, call_s: float = 10.0, **commit: float) -> WorkRules:
    return WorkRules(lease_s, settle_s, call_s, CommitRules(**commit))  # type: ignore[arg-type]
