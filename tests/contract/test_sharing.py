"""What one agent, or one person, is told and another may see: the same on every backend (README, "Who sees what").

Messages carry the peer of the request that brought them, as `app.engine.turn_capture` writes them.
"""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.core.identity import Identity, PeerRole
from app.ports import Target
from tests.contract.subject import Subject, eventually, soon

pytestmark = pytest.mark.anyio

TOLD = {
    "profile": "I live in Port{mark}.",
    "preferences": "I prefer {mark} tea.",
    "entities": "Kestrel{mark} is our deployment tool.",
    "events": "We decided to ship the {mark} release on Friday.",
    "experiences": "Please fix the {mark} deployment.",
    "raw turns": "Lunch was at the {mark} counter.",
}
ASKED = {
    "profile": "where do I live, Port{mark}?",
    "preferences": "which tea do I prefer, {mark}?",
    "entities": "what is Kestrel{mark}?",
    "events": "when do we ship the {mark} release?",
    "experiences": "fix the {mark} deployment",
    "raw turns": "lunch at the {mark} counter",
}
OF_THE_USER = frozenset({"profile", "entities", "experiences"})
"""What every agent of a user sees; the rest is seen by the peer that it was told to."""
OF_ALL_PERSONS = frozenset({"experiences"})
"""What every person sees, where this service itself files what was said."""
TELLERS_AND_ASKERS = [
    pytest.param(PeerRole.ASSISTANT, ("main", "mia"), ("other", "mia"), OF_THE_USER, id="assistant-another-agent"),
    pytest.param(PeerRole.ASSISTANT, ("main", "mia"), ("main", "noah"), frozenset(TOLD), id="assistant-another-person"),
    pytest.param(PeerRole.PERSON, ("main", "mia"), ("main", "noah"), OF_THE_USER, id="person-another-person"),
    pytest.param(PeerRole.PERSON, ("main", "mia"), ("other", "mia"), frozenset(TOLD), id="person-another-agent"),
    pytest.param(PeerRole.NONE, ("main", "mia"), ("other", "noah"), frozenset(TOLD), id="none-another-agent"),
]


@pytest.mark.parametrize(("role", "teller", "asker", "shared"), TELLERS_AND_ASKERS)
async def test_what_is_told_to_one_is_seen_by_another(
    subject: Subject, role: PeerRole, teller: tuple[str, str], asker: tuple[str, str], shared: frozenset[str]
) -> None:
    tells, asks = (
        subject.who(session, agent=agent, sender=sender, peer_role=role)
        for session, (agent, sender) in (("telling", teller), ("asking", asker))
    )
    if role is PeerRole.PERSON and teller[1] != asker[1] and subject.backend.name == "embedded":
        shared = OF_ALL_PERSONS
    marks = {kind: f"k{number}{subject.mark}" for number, kind in enumerate(TOLD)}
    await subject.backend.append(tells, _conversation(subject, tells, marks), soon())
    await subject.committed(tells)
    extracted = TOLD.keys() - {"raw turns"}
    known = await eventually(lambda: _seen(subject, tells, marks), lambda seen: extracted <= seen)
    assert extracted <= known, "the one who was told does not know"
    assert await eventually(lambda: _seen(subject, asks, marks), lambda seen: seen == known & shared) == known & shared


def _conversation(subject: Subject, who: Identity, marks: Mapping[str, str]) -> list[CapturedMessage]:
    lines = [TextPart(text.format(mark=marks[kind])) for kind, text in TOLD.items() if kind != "experiences"]
    said = [subject.message(2 * number, line) for number, line in enumerate(lines)]
    task = subject.message(20, TextPart(TOLD["experiences"].format(mark=marks["experiences"])))
    calls = [
        ToolPart("call_1", "deploy", {"force": False}, "Error: the registry login has expired", is_error=True),
        ToolPart("call_2", "deploy", {"force": True}, "deployed"),
    ]
    done = subject.message(21, *calls, TextPart("The login had expired; it is renewed."), role="assistant")
    return [replace(message, peer_id=who.actor_peer, sender=who.sender) for message in (*said, task, done)]


async def _seen(subject: Subject, who: Identity, marks: Mapping[str, str]) -> frozenset[str]:
    """Which kinds of fact ``who`` finds."""
    seen = set()
    for kind, mark in marks.items():
        target = Target.EXPERIENCES if kind == "experiences" else Target.MEMORIES
        hits = await subject.backend.find(who, ASKED[kind].format(mark=mark), target, 20, soon())
        if any(mark in hit.text for hit in hits):
            seen.add(kind)
    return frozenset(seen)
