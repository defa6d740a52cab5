"""A worker that hangs is ended; one that was stopped and continues is not."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

from moot.cluster.watchdog import TICKS, Watchdog

UNHEARD = "the database does not hear of this worker"
STALL = 0.08


class Database:
    """Answers whether it has heard of the worker: first the answers given, then the last of them."""

    def __init__(self, *answers: bool | None) -> None:
        self._answers = list(answers)
        self.questions = 0

    def is_heard(self) -> bool | None:
        self.questions += 1
        return self._answers[min(self.questions, len(self._answers)) - 1]


def ticking(watchdog: Watchdog, ticks: int, between: Callable[[], None] | None = None) -> Iterable[str]:
    """The result of each tick; the loop turns before each."""
    for _ in range(ticks):
        watchdog.turn()
        if between is not None:
            between()
        yield watchdog.tick()


async def test_a_loop_that_does_not_turn_ends_the_process() -> None:
    ended = threading.Event()
    watchdog = Watchdog(STALL, is_heard=lambda: True, end=ended.set)
    watchdog.start()
    deadline = time.monotonic() + 60
    while not ended.is_set() and time.monotonic() < deadline:
        time.sleep(STALL)  # noqa: ASYNC251 - this is the loop that hangs
    await watchdog.close()
    assert ended.is_set()


def test_a_loop_may_stand_still_for_one_stall() -> None:
    watchdog = Watchdog(STALL, is_heard=lambda: True)
    assert [watchdog.tick() for _ in range(TICKS)] == [""] * TICKS
    watchdog.turn()
    assert [watchdog.tick() for _ in range(TICKS + 1)] == [*[""] * TICKS, "the event loop does not turn"]


def test_a_worker_of_which_the_database_has_not_heard_ends() -> None:
    database = Database(False)
    ticks = list(ticking(Watchdog(STALL, is_heard=database.is_heard), 3 * TICKS + 2))
    assert ticks == [*[""] * (3 * TICKS + 1), UNHEARD]
    assert database.questions == 2


def test_while_the_database_is_away_no_worker_ends() -> None:
    database = Database(None)
    assert not any(ticking(Watchdog(STALL, is_heard=database.is_heard), 10 * TICKS))
    assert database.questions > 3


def test_a_database_that_cannot_be_asked_counts_as_away() -> None:
    def is_heard() -> bool:
        raise OSError

    assert not any(ticking(Watchdog(STALL, is_heard=is_heard), 10 * TICKS))


def test_a_database_that_has_just_come_back_is_given_time_to_hear_of_a_worker() -> None:
    database = Database(None, False, None, False, True)
    assert not any(ticking(Watchdog(STALL, is_heard=database.is_heard), 10 * TICKS))
    assert database.questions > 5


def test_a_worker_that_is_heard_of_is_not_asked_about() -> None:
    database = Database(False)
    watchdog = Watchdog(STALL, is_heard=database.is_heard)
    assert not any(ticking(watchdog, 10 * TICKS, between=watchdog.beat))
    assert database.questions == 0
