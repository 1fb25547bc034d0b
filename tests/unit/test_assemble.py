"""How `full` shares its time between the past and recall."""

import pytest

from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.core.reasons import Reason
from app.engine.assembly import Assemble
from app.engine.results import AssembleInput, AssembleResult
from tests.messages import typed

pytestmark = pytest.mark.anyio

WHO = Identity(Tenant(), "s", None, "main", None, PeerRole.ASSISTANT)
ASKED = AssembleInput(typed([{"role": "user", "content": "Which tea?"}]), None, 1000, phase="full")


async def test_however_late_the_history_is_half_of_the_time_is_left_to_recall() -> None:
    now = 0.0
    left: list[float] = []

    class Late:
        async def run(self, who: Identity, asked: AssembleInput, deadline: Deadline) -> AssembleResult:
            nonlocal now
            now += deadline.remaining
            return AssembleResult(asked.messages, 7, Reason.DEADLINE_EXCEEDED, assembled=False)

    class Prompt:
        async def run(self, who: Identity, asked: AssembleInput, deadline: Deadline) -> AssembleResult:
            left.append(deadline.remaining)
            return AssembleResult(asked.messages, 7, Reason.OK, assembled=True)

    deadline = Deadline.after_ms(4000, lambda: now)
    answer = await Assemble(Late(), Prompt()).run(WHO, ASKED, deadline)
    assert left == [2.0]
    assert (answer.assembled, answer.reason) == (True, Reason.DEADLINE_EXCEEDED)
