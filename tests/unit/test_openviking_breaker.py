"""The circuit breaker: opens after N failures in a row, lets one probe through, closes by its success."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from app.openviking.breaker import MAX_KEYS, Breaker, BreakerOpen, Breakers, State, Ticket, Verdict

LIMIT, RESET_S = 3, 5.0
HERE = ("acme/alice", "search")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(LIMIT, RESET_S, clock)


def fail(breaker: Breaker, times: int = 1) -> None:
    for _ in range(times):
        breaker.record(breaker.admit(), Verdict.FAILED)


def test_opens_after_failures_in_a_row_only(breaker: Breaker) -> None:
    fail(breaker, LIMIT - 1)
    breaker.record(breaker.admit(), Verdict.ALIVE)
    fail(breaker, LIMIT - 1)
    assert breaker.state is State.CLOSED
    fail(breaker)
    assert breaker.state is State.OPEN


def test_says_how_long_until_the_probe(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, LIMIT)
    clock.now += 2
    with pytest.raises(BreakerOpen) as refusal:
        breaker.admit()
    assert refusal.value.retry_after_s == pytest.approx(RESET_S - 2)


def test_lets_exactly_one_probe_through(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, LIMIT)
    clock.now += RESET_S
    probe = breaker.admit()
    with pytest.raises(BreakerOpen) as refusal:
        breaker.admit()
    assert refusal.value.retry_after_s > 0
    breaker.record(probe, Verdict.ALIVE)
    assert breaker.state is State.CLOSED
    assert breaker.admit() == Ticket(probe=False)


def test_a_failed_probe_opens_it_for_another_reset_time(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, LIMIT)
    clock.now += RESET_S
    fail(breaker)
    assert breaker.state is State.OPEN
    clock.now += RESET_S
    assert breaker.state is State.HALF_OPEN


def test_a_cancelled_probe_makes_room_for_the_next(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, LIMIT)
    clock.now += RESET_S
    breaker.record(breaker.admit(), Verdict.UNKNOWN)
    assert breaker.admit().probe


def test_late_failures_do_not_keep_it_open(breaker: Breaker, clock: Clock) -> None:
    early = breaker.admit()
    fail(breaker, LIMIT)
    clock.now += RESET_S - 1
    breaker.record(early, Verdict.FAILED)
    clock.now += 1
    assert breaker.state is State.HALF_OPEN


def test_a_failed_probe_is_one_failure_where_a_late_answer_has_closed_it(breaker: Breaker, clock: Clock) -> None:
    early = breaker.admit()
    fail(breaker, LIMIT)
    clock.now += RESET_S
    probe = breaker.admit()
    breaker.record(early, Verdict.ALIVE)
    breaker.record(probe, Verdict.FAILED)
    assert breaker.state is State.CLOSED
    fail(breaker, LIMIT - 1)
    assert breaker.state is State.OPEN


def test_parts_of_a_failure_add_up_until_the_server_answers(breaker: Breaker) -> None:
    for _ in range(10 * LIMIT - 1):
        breaker.record(breaker.admit(), Verdict.FAILED, 0.1)
    assert breaker.state is State.CLOSED
    breaker.record(breaker.admit(), Verdict.ALIVE)
    for _ in range(10 * LIMIT):
        assert breaker.state is State.CLOSED
        breaker.record(breaker.admit(), Verdict.FAILED, 0.1)
    assert breaker.state is State.OPEN


def test_a_probe_without_an_answer_opens_it_again_however_little_time_it_had(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, LIMIT)
    clock.now += RESET_S
    breaker.record(breaker.admit(), Verdict.FAILED, 0.01)
    assert breaker.state is State.OPEN


def test_keys_do_not_touch_each_other(clock: Clock) -> None:
    breakers = Breakers(LIMIT, RESET_S, clock)
    for _ in range(LIMIT):
        breakers.record(HERE, breakers.admit(HERE), Verdict.FAILED)
    with pytest.raises(BreakerOpen):
        breakers.admit(HERE)
    assert not breakers.admit(("acme/bob", "search")).probe
    assert not breakers.admit(("acme/alice", "sessions")).probe
    assert breakers.states() == {HERE: State.OPEN}


def test_healthy_keys_take_no_room_and_sick_ones_are_bounded(clock: Clock) -> None:
    breakers = Breakers(LIMIT, RESET_S, clock)
    for number in range(MAX_KEYS + 10):
        key = (f"acme/u{number}", "search")
        breakers.record(key, breakers.admit(key), Verdict.ALIVE)
    assert breakers.states() == {}
    for number in range(MAX_KEYS + 10):
        key = (f"acme/u{number}", "search")
        breakers.record(key, breakers.admit(key), Verdict.FAILED)
    assert len(breakers.states()) == MAX_KEYS


class BreakerMachine(RuleBasedStateMachine):
    """Calls begin, end in any order with any verdict, and time passes."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.breaker = Breaker(LIMIT, RESET_S, self.clock)
        self.running: list[Ticket] = []
        self.streak = 0

    @rule()
    def begin(self) -> None:
        state, probing = self.breaker.state, any(ticket.probe for ticket in self.running)
        try:
            ticket = self.breaker.admit()
        except BreakerOpen:
            assert state is State.OPEN or (state is State.HALF_OPEN and probing)
        else:
            assert state is State.CLOSED or (state is State.HALF_OPEN and ticket.probe)
            self.running.append(ticket)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), verdict=st.sampled_from(Verdict))
    def end(self, data: st.DataObject, verdict: Verdict) -> None:
        before = self.breaker.state
        ticket = self.running.pop(data.draw(st.integers(0, len(self.running) - 1)))
        self.breaker.record(ticket, verdict)
        if verdict is Verdict.ALIVE:
            self.streak = 0
            assert self.breaker.state is State.CLOSED
        elif verdict is Verdict.FAILED and before is State.CLOSED:
            self.streak += 1
            assert (self.breaker.state is State.OPEN) == (self.streak >= LIMIT)

    @rule(seconds=st.floats(0, 2 * RESET_S))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def at_most_one_probe(self) -> None:
        assert sum(ticket.probe for ticket in self.running) <= 1


BreakerMachine.TestCase.settings = settings(stateful_step_count=40)
TestBreakerMachine = BreakerMachine.TestCase
