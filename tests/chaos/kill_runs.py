"""Kills a victim at random moments, restarts it until all debates are over, and looks at what is left."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
from pathlib import Path

from msgspec import Struct

from moot.core.events import CallFailed, CallStarted, Recorded
from moot.core.evolve import fold
from moot.core.state import Debate
from moot.store.sqlite.store import SqliteStore
from tests.chaos.victim import line
from tests.support.moot_process import Forked


class Remains(Struct):
    kills: int
    received: set[str]
    logs: dict[str, list[Recorded]]
    calls: int
    """What the provider's own ledger counted."""

    def debates(self) -> list[Debate]:
        return [debate for log in self.logs.values() if (debate := fold(log))]


def run(data: Path, *, kills: int, debates: int, seed: int, crash_at: str = "") -> Remains:
    dice = random.Random(seed)
    ledger = data / "ledger.jsonl"
    received: set[str] = set()
    done = 0
    for attempt in range(kills * 3 + 10):
        wants_kill = done < kills
        kill_after = dice.randint(20, 100) if wants_kill and not crash_at else None
        victim = Forked(
            *("tests.chaos.victim", str(data / "data"), str(ledger), str(debates)),
            env={**os.environ, "MOOT_CRASH_AT": crash_at if wants_kill else ""},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        lines, code = _one_life(victim, kill_after, received)
        received.update(lines - {"done"})
        if code == -signal.SIGKILL:
            done += 1
        elif "done" in lines:
            return remains(data, ledger, done, received)
        else:
            raise AssertionError(f"the victim left by itself at attempt {attempt}")
    raise AssertionError("the debates never ended")


def _one_life(victim: Forked, kill_after: int | None, known: set[str]) -> tuple[set[str], int]:
    """What a victim prints, and how it ended; it is killed after so many lines that are new."""
    lines, new = set[str](), 0
    with victim:
        assert victim.stdout is not None
        for text in victim.stdout:
            lines.add(text.strip())
            new += text.strip() not in known
            if new == kill_after:
                victim.kill()
    return lines, victim.returncode


def remains(data: Path, ledger: Path, kills: int, received: set[str]) -> Remains:
    logs = asyncio.run(_read(data / "data" / "moot.db"))
    calls = len(ledger.read_text().splitlines())
    return Remains(kills, received, logs, calls)


async def _read(database: Path) -> dict[str, list[Recorded]]:
    store = SqliteStore.open(database)
    try:
        heads = (await store.list(limit=1000)).heads
        return {head.id: list(await store.read(head.id, limit=100_000)) for head in heads}
    finally:
        await store.close()


def _crashed_too_often(debate: Debate) -> bool:
    """A part that was killed three times is given up, so that no debate pays for ever."""
    lost = debate.judging.lost if debate.judging else ()
    return any(turn.by == "lost" for turn in debate.turns) or any(lost.count(part) >= 3 for part in lost)


def verify(remains: Remains, debates: int) -> None:
    """The promises: nothing seen is missing, seq is dense, all finish, and a kill costs one call at most."""
    stored = {line(recorded) for log in remains.logs.values() for recorded in log}
    assert remains.received <= stored
    for log in remains.logs.values():
        assert [recorded.seq for recorded in log] == list(range(1, len(log) + 1))
    finished = remains.debates()
    assert len(finished) >= debates
    failed = [debate for debate in finished if debate.status != "completed"]
    assert all(debate.status == "error" and _crashed_too_often(debate) for debate in failed)
    assert len(failed) * 5 <= len(finished)
    events = [recorded.event for log in remains.logs.values() for recorded in log]
    started = sum(isinstance(event, CallStarted) for event in events)
    retries = sum(isinstance(event, CallFailed) and event.retry_in_ms is not None for event in events)
    wanted = sum(len(debate.schedule) + 2 * len(debate.judges) for debate in finished)
    wanted += sum(isinstance(event, CallStarted) and event.continues is not None for event in events)
    assert remains.calls <= started
    assert remains.calls <= wanted + retries + remains.kills
