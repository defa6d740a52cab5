"""Whether and when a call is tried again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import Fault, FaultKind
from moot.rules.retry import FaultCounts, wait_before_retry
from tests.rules.random_debates import LAW

BUSY = Fault("overloaded")
EMPTY = Fault("empty", "unusable")


def waits(fault: Fault, times: int = 6, *, dice: float = 0.5, time_left: float = 1e6) -> list[float | None]:
    """The waits after the first, second, ... of these faults in a row."""
    tries, seen = FaultCounts(), list[float | None]()
    for _ in range(times):
        tries = tries.after(fault)
        seen.append(wait_before_retry(fault, tries, base=1.0, time_left=time_left, jitter=dice))
    return seen


def test_a_transient_fault_is_tried_three_times_more() -> None:
    assert waits(BUSY) == [1.0, 2.0, 4.0, None, None, None]


@pytest.mark.parametrize(("dice", "expected"), [(0.0, [0.9, 1.8, 3.6]), (1.0, [1.1, 2.2, 4.4])])
def test_the_waits_vary_by_a_tenth(dice: float, expected: list[float]) -> None:
    assert waits(BUSY, 3, dice=dice) == pytest.approx(expected)


def test_never_sooner_than_the_provider_asks() -> None:
    assert waits(Fault("rate_limited", retry_after=7.0), 3) == [7.0, 7.0, 7.0]
    assert waits(Fault("rate_limited", retry_after=0.5), 3) == [1.0, 2.0, 4.0]


def test_a_provider_that_asks_for_too_much_is_given_up() -> None:
    assert waits(Fault("rate_limited", retry_after=86400.0), 1) == [None]
    assert waits(Fault("rate_limited", retry_after=60.0), 1) == [60.0]


def test_no_wait_goes_past_the_end_of_the_turn() -> None:
    assert waits(BUSY, 3, time_left=1.5) == [1.0, None, None]


@pytest.mark.parametrize("kind", ["bad_key", "billing", "unknown_model"])
def test_a_permanent_fault_is_not_tried_again(kind: FaultKind) -> None:
    assert waits(Fault(kind, "permanent"), 1) == [None]


def test_an_unusable_answer_is_given_one_more_chance() -> None:
    assert waits(EMPTY, 3) == [1.0, None, None]


def test_what_a_filter_withheld_is_not_asked_for_again() -> None:
    assert waits(Fault("filtered", "unusable"), 1) == [None]


@pytest.mark.parametrize("kind", ["off_side", "chain_lost", "seal_refused", "too_long", "schema_refused"])
def test_what_waiting_would_not_mend_is_tried_at_once(kind: FaultKind) -> None:
    assert waits(Fault(kind, "unusable"), 2) == [0.0, None]


def test_asking_for_something_else_uses_up_no_chance() -> None:
    tries = FaultCounts()
    for fault in (Fault("chain_lost", "unusable"), Fault("too_long", "unusable"), EMPTY):
        tries = tries.after(fault)
        assert wait_before_retry(fault, tries, base=1.0, time_left=1e6, jitter=0.5) is not None


@given(
    st.lists(st.sampled_from((BUSY, Fault("empty", "unusable"), Fault("bad_key", "permanent"))), max_size=12)
)
@LAW
def test_whatever_goes_wrong_there_are_at_most_four_retries(faults: list[Fault]) -> None:
    tries, retries = FaultCounts(), 0
    for fault in faults:
        tries = tries.after(fault)
        if wait_before_retry(fault, tries, base=1.0, time_left=1e6, jitter=0.5) is None:
            break
        retries += 1
    assert retries <= 4
