"""Who is talking: the table of the contract, line by line."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.identity import (
    PeerRole,
    Scope,
    SessionKind,
    Tenant,
    agent_name,
    is_bypassed,
    is_openviking_id,
    is_safe_segment,
    matches_pattern,
    resolve_identity,
    safe_peer_id,
    session_name,
)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("session_id", "session_key", "expected"),
    [
        ("7F1C1A52-6D1E-4F6E-9D0B-3F1B8F6C2A10", "agent:main:x", "7f1c1a52-6d1e-4f6e-9d0b-3f1b8f6c2a10"),
        ("chat-1", "agent:main:x", sha("agent:main:x")),
        (None, "agent:main:x", sha("agent:main:x")),
        ("  chat 1 ", None, "chat 1"),
        ("会话一", None, "会话一"),
        ("a/b", None, sha("openclaw-session:a/b")),
        ("..", None, sha("openclaw-session:..")),
        (".hidden", None, sha("openclaw-session:.hidden")),
        ("end.", None, sha("openclaw-session:end.")),
        ("a:b", None, sha("openclaw-session:a:b")),
        ("50%", None, sha("openclaw-session:50%")),
        ("tab\there", None, sha("openclaw-session:tab\there")),
        ("x" * 200, None, "x" * 200),
        ("x" * 201, None, sha("openclaw-session:" + "x" * 201)),
        (None, None, None),
        ("  ", " ", None),
    ],
)
def test_session_name(session_id: str | None, session_key: str | None, expected: str | None) -> None:
    assert session_name(session_id, session_key) == expected


@given(st.text(max_size=300))
def test_a_session_name_is_always_a_safe_segment(session_id: str) -> None:
    name = session_name(session_id, None)
    assert name is None or is_safe_segment(name)


def resolve(scope: Scope, **more: object):
    return resolve_identity(scope, "s1", Tenant(), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("scope", "last_agent", "prefix", "expected"),
    [
        (Scope(agent_id="ops"), "seen", "", "ops"),
        (Scope(session_key="agent:ops:chat"), "seen", "", "ops"),
        (Scope(session_key="agent:ops"), None, "", "main"),
        (Scope(session_id="s1"), "seen", "", "seen"),
        (Scope(session_id="s1"), None, "", "main"),
        (Scope(agent_id="ops"), None, "team", "team_ops"),
        (Scope(agent_id="ops"), None, "default", "ops"),
        (Scope(session_id="s1"), "team_ops", "team", "team_ops"),
    ],
)
def test_agent(scope: Scope, last_agent: str | None, prefix: str, expected: str) -> None:
    assert resolve(scope, last_agent=last_agent, agent_prefix=prefix).agent == expected


@given(st.text(max_size=80), st.text(max_size=80))
def test_different_agents_stay_different_and_legal(first: str, second: str) -> None:
    assert is_openviking_id(agent_name(first, ""))
    assert (agent_name(first, "") == agent_name(second, "")) == (first == second)


def test_a_name_that_looks_escaped_is_not_taken_for_the_escaped_one() -> None:
    escaped = safe_peer_id("tg:123")
    assert safe_peer_id(escaped) != escaped


@pytest.mark.parametrize(
    ("role", "sender", "peer", "lacks"),
    [
        (PeerRole.ASSISTANT, None, "main", False),
        (PeerRole.PERSON, "mia", "mia", False),
        (PeerRole.PERSON, None, None, True),
        (PeerRole.NONE, "mia", None, False),
    ],
)
def test_actor_peer(role: PeerRole, sender: str | None, peer: str | None, lacks: bool) -> None:
    who = resolve(Scope(sender_id=sender), peer_role=role)
    assert (who.actor_peer, who.lacks_sender) == (peer, lacks)


@pytest.mark.parametrize(
    ("scope", "kind"),
    [
        (Scope(session_key="agent:main:chat"), SessionKind.CHAT),
        (Scope(session_key="agent:main:cron:1:run:2"), SessionKind.CRON),
        (Scope(is_cron=True), SessionKind.CRON),
        (Scope(automation_kind="cron"), SessionKind.CRON),
        (Scope(session_key="agent:main:subagent:1"), SessionKind.SUBAGENT),
        (Scope(automation_kind="heartbeat"), SessionKind.HEARTBEAT),
    ],
)
def test_kind(scope: Scope, kind: SessionKind) -> None:
    assert resolve(scope).kind is kind


@pytest.mark.parametrize(
    ("pattern", "name", "covers"),
    [
        ("agent:*:cron:**", "agent:main:cron:1:run:2", True),
        ("agent:*:cron:*", "agent:main:cron:1:run:2", False),
        ("agent:*", "agent:main", True),
        ("agent:*", "agent:main:x", False),
        ("**", "", True),
        ("a.c", "abc", False),
        ("", "x", False),
    ],
)
def test_patterns(pattern: str, name: str, covers: bool) -> None:
    assert matches_pattern(name, pattern) is covers


def test_patterns_do_not_backtrack() -> None:
    assert not matches_pattern("a" * 1000, "**a" * 50 + "b")


def test_bypass_looks_at_key_and_id() -> None:
    assert is_bypassed(Scope(session_id="x", session_key="agent:a:b"), ["agent:a:*"])
    assert is_bypassed(Scope(session_id="probe-1"), ["probe-*"])
    assert not is_bypassed(Scope(session_id="x"), [])


@pytest.mark.parametrize(
    "tenant", [Tenant(), Tenant("acme"), Tenant(None, "bob"), Tenant("-", "bob"), Tenant("acme", "-"), Tenant("-", "-")]
)
def test_a_key_names_one_tenant(tenant: Tenant) -> None:
    assert Tenant.of_key(tenant.account_key) == tenant


@pytest.mark.parametrize(
    ("tenant", "unnamed", "known"),
    [
        (Tenant("default", "default"), "default", Tenant()),
        (Tenant("default", "bob"), "default", Tenant(None, "bob")),
        (Tenant("acme", "default"), "default", Tenant("acme")),
        (Tenant("acme", "Default"), "default", Tenant("acme", "Default")),
        (Tenant("default", "default"), None, Tenant("default", "default")),
        (Tenant(), None, Tenant()),
    ],
)
def test_the_default_is_spelled_in_one_way_where_its_name_is_known(
    tenant: Tenant, unnamed: str | None, known: Tenant
) -> None:
    assert tenant.without(unnamed) == known
