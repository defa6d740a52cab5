"""Who runs which debate, as far as everybody else is concerned.

Whoever gives a debate something to do says that it wants a runner. Where that runner is, in this process or
on another machine, is the placement's affair; a runner does not know under which one it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

from msgspec import Struct

from moot.core.state import Debate
from moot.engine.runner import Runner
from moot.rules import runner_decisions
from moot.rules.plan import AskJudges, HoldPoll, closes_on_time, plan

MakeRunner = Callable[[str, int], Runner]
"""For a debate, with the epoch under which it may write."""
ProcessRole = Literal["api", "worker", "both", "terminal"]
"""What a process is to the others on the same log."""


class QueueStats(Struct, frozen=True):
    """Debates that wait for a worker: how many, for how long, and how many were left by one that died."""

    jobs: int
    oldest_seconds: float
    running: int
    stalled: int


class WorkerTimings(Protocol):
    """How workers look after each other; `settings.Cluster` is one."""

    @property
    def debates(self) -> int: ...

    @property
    def heartbeat_seconds(self) -> float: ...

    @property
    def stall_seconds(self) -> float: ...

    @property
    def statement_seconds(self) -> float: ...


class Placement(Protocol):
    async def open(self, *, recover: bool) -> None:
        """Begin. With `recover`, what others have left behind is taken up, now and while it is open."""
        ...

    def announce(self, role: ProcessRole, streams: Callable[[], int]) -> None:
        """This process serves for good: it is shown among the others, and ends where it hangs."""
        ...

    def ensure_running(self, debate_id: str) -> None:
        """See to it that this debate is run, here or where it already is."""
        ...

    async def recover(self) -> int:
        """Take up every debate that wants a runner and has none alive; returns how many."""
        ...

    async def queue_stats(self) -> QueueStats | None:
        """None where nothing waits for others."""
        ...

    async def is_running(self, debate_id: str, runner: str) -> bool:
        """Whether the process that goes by this name in the debate's head is there, or another is about to
        take the debate."""
        ...

    @property
    def unreachable(self) -> bool:
        """What is needed to place debates does not answer; it is waited for."""
        ...

    async def close(self) -> None:
        """Park every running turn, let others have the debates, and leave."""
        ...


def wants_runner(debate: Debate) -> bool:
    """There is something to do, or something that a crash has left open, even in a debate that is over."""
    if debate.live or debate.calls or debate.open_asides or runner_decisions.advance(debate):
        return True
    step = plan(debate)
    return isinstance(step, AskJudges) or (isinstance(step, HoldPoll) and closes_on_time(debate, step.name))
