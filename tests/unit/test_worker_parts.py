"""Small parts of the worker: how long it waits, and whom it takes for dead."""

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from app.local.processes import is_gone, this_process
from app.ports import BackendError
from app.worker.backoff import Backoff
from tests.unit.memory_backend import refused

chances = st.floats(0, 1)


@given(st.integers(0, 10_000), chances)
def test_a_wait_grows_to_its_limit_and_never_beyond(attempts: int, chance: float) -> None:
    backoff = Backoff(0.25, 5.0, lambda: chance)
    assert 0 <= backoff.after_failure(attempts) <= min(5.0, 0.25 * 2.0 ** min(attempts, 30))
    assert 0 < backoff.after_failed_extraction(attempts) <= 600.0


@given(st.integers(0, 50), chances, st.floats(0, 500))
def test_a_backend_that_says_when_is_asked_then_and_not_much_later(attempts: int, chance: float, wanted: float) -> None:
    error: BackendError = refused(retry_after_s=wanted)
    wait = Backoff(0.25, 5.0, lambda: chance).after_failure(attempts, error)
    assert wanted <= wait <= max(wanted + 0.25, 5.0 if not wanted else 0.0)


def test_a_model_that_fails_for_long_is_asked_seldom() -> None:
    backoff = Backoff(0.25, 5.0, lambda: 1.0)
    assert backoff.after_failed_extraction(9) == 30.0
    assert backoff.after_failed_extraction(20) == 600.0


def test_a_task_is_looked_at_often_first_and_then_seldom() -> None:
    backoff = Backoff(0.25, 30.0, lambda: 1.0)
    assert backoff.before_poll(0) == 0.25 and backoff.before_poll(1000) == 5.0


def test_this_process_lives_and_one_that_ended_is_gone() -> None:
    code = "from app.local.processes import this_process; print(this_process())"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert not is_gone(this_process())
    assert is_gone(ended) or ended.startswith("/")


def test_nobody_of_another_machine_is_taken_for_dead() -> None:
    _, *rest = this_process().split("/")
    for owner in ("elsewhere/1/2/ab", "/".join(["", *rest]), "", "nonsense", "a/b"):
        assert not is_gone(owner)


@given(st.floats(-1e9, 1e9))
def test_no_wait_is_negative_whatever_the_clock_says(age_s: float) -> None:
    assert 0.25 <= Backoff(0.25, 30.0, lambda: 0.0).before_poll(age_s) <= 5.0
