"""kill -9 at random points and at named ones: nothing that a follower received is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos import kill_runs

POINTS = (
    "before-commit", "after-commit", "turn-started", "call-started", "narrated", "answer-heard",
    "part-completed", "tool-told", "judging",
)  # fmt: skip


def test_eight_kills_at_random_points_lose_nothing(tmp_path: Path) -> None:
    remains = kill_runs.run(tmp_path, kills=8, debates=4, seed=3)
    assert remains.kills == 8
    kill_runs.verify(remains, 4)


@pytest.mark.chaos
@pytest.mark.timeout(900)
def test_forty_kills_at_random_points_lose_nothing(tmp_path: Path) -> None:
    remains = kill_runs.run(tmp_path, kills=40, debates=14, seed=1)
    assert remains.kills == 40
    kill_runs.verify(remains, 14)


@pytest.mark.parametrize("point", POINTS)
def test_a_crash_at_a_named_point_loses_nothing(tmp_path: Path, point: str) -> None:
    remains = kill_runs.run(tmp_path, kills=1, debates=1, seed=1, crash_at=f"{point}:2")
    assert remains.kills == 1
    kill_runs.verify(remains, 1)


@pytest.mark.chaos
@pytest.mark.timeout(1200)
def test_two_hundred_kills_at_random_points_lose_nothing(tmp_path: Path) -> None:
    remains = kill_runs.run(tmp_path, kills=200, debates=120, seed=2)
    assert remains.kills == 200
    kill_runs.verify(remains, 120)
