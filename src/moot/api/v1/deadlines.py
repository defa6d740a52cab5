"""Until when a person has the floor. A clock that stands still, while the debate is paused, has no end."""

from __future__ import annotations

from datetime import datetime, timedelta

from moot.core.state import Debate, Poll, Turn
from moot.engine.jobs import HumanJob
from moot.rules.runner_decisions import CallPurpose


def seconds_left(debate: Debate, turn: Turn, now: datetime) -> float | None:
    """None where no person speaks, or where the clock stands still."""
    if not debate.seat(turn.seat).model.human or not debate.is_live(turn.number):
        return None
    left = HumanJob(CallPurpose(turn=turn.number), "").seconds_left(debate, now)
    return None if left is None else max(0.0, left)


def ends_at(debate: Debate, turn: Turn) -> datetime | None:
    left = seconds_left(debate, turn, turn.started_at)
    return None if left is None else turn.started_at + timedelta(seconds=left)


def closes_at(poll: Poll) -> datetime | None:
    """None where it stays open until somebody closes it, or is closed."""
    if poll.seconds is None or poll.closed_at is not None:
        return None
    return poll.opened_at + timedelta(seconds=poll.seconds)
