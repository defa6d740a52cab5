"""Two random faults at two calls of one debate: whichever they are, the debate ends."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import Struct

from moot.core.events import TurnStarted
from moot.store.memory import MemoryStore
from tests.faults import fault_acts
from tests.faults.certificates import Certificates
from tests.faults.fault_catalogue import CASES, REFUSED, Case
from tests.faults.fault_server import Door, FaultServer, Script
from tests.faults.faulty_debate import HASTY, Held, hold
from tests.faults.test_faults import check_money, check_secrets
from tests.faults.wire_formats import WireName

CALLS = range(1, 8)
TOGETHER = 8
"""So many debates at the same time."""
LONGEST = 60.0
TOO_PATIENT = ("F13-longer-than-the-turn", "F14-a-day")
"""After these the whole service is left alone for longer than a test lasts."""
MORE = (
    Case("F01", "for a moment", (Door(away=0.03),), tls=True),
    Case("F43", "a few", (fault_acts.flood("and so on and on. " * 200),)),
    Case("F50", "dropped", (fault_acts.hangs_up,)),
    Case("F52", "cookie", (fault_acts.sets_cookie,)),
)
WIRE_FORMATS: tuple[WireName, ...] = ("chat", "chat", "chat", "responses", "anthropic", "google")


class Pair(Struct, frozen=True):
    wire: WireName
    plays: dict[int, Case]

    def __str__(self) -> str:
        return f"{self.wire}: " + ", ".join(f"{case.id}@{call}" for call, case in sorted(self.plays.items()))


def pool(wire: WireName) -> list[Case]:
    """What can be played in this wire format: its own cases, and those that need no words."""
    own = [case for case in (*CASES, *MORE) if case.wire == wire]
    known = own if wire == "chat" else [*own, *(case for case in REFUSED if case.wire == "chat")]
    return [case for case in known if case.acts and case.id not in TOO_PATIENT]


def draw(dice: random.Random, count: int) -> list[Pair]:
    return [_pair(dice) for _ in range(count)]


def _pair(dice: random.Random) -> Pair:
    """A fault that stops the debate comes second, or the other would never be seen."""
    wire = dice.choice(WIRE_FORMATS)
    first = dice.choice([case for case in pool(wire) if case.then != "stopped"])
    second = dice.choice(pool(wire))
    early, late = sorted(dice.sample(CALLS, 2))
    return Pair(wire, {early: first, late: second})


async def hold_pair(pair: Pair, folder: Path, trusted: Certificates) -> tuple[FaultServer, Held]:
    script = Script({call: case.acts[0] for call, case in pair.plays.items()})
    tls = any(case.tls for case in pair.plays.values())
    async with FaultServer(script, certificates=trusted if tls else None) as server:
        debate = hold(
            server,
            folder,
            wire=pair.wire,
            pace=HASTY,
            turns=4,
            turn_seconds=1.5,
            store=MemoryStore(),
            max_tokens=400,
        )
        return server, await asyncio.wait_for(debate, LONGEST)


def check(pair: Pair, server: FaultServer, held: Held, caplog: pytest.LogCaptureFixture) -> None:
    assert held.debate.status in ("completed", "error"), pair
    assert not held.debate.live, pair
    assert not held.debate.calls, pair
    turns = sum(isinstance(event, TurnStarted) for event in held.log)
    # After a permanent fault a judge is not asked for its other ballots.
    parts = turns + len({(call.judge, call.order) for call in held.started if call.judge})
    retries = sum(event.retry_in_ms is not None for event in held.failures)
    assert len(held.started) == parts + retries, pair
    came = [call for call in server.calls if call.connection]
    assert len(came) <= parts + retries + sum(call.dropped for call in came), pair
    check_money(held, server, cut=any(event.kind in ("timeout", "stalled") for event in held.failures))
    check_secrets(held, server, caplog)


async def hold_pairs(
    pairs: Sequence[Pair], folder: Path, trusted: Certificates, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    results = await asyncio.gather(*(hold_pair(pair, folder, trusted) for pair in pairs))
    for pair, (server, held) in zip(pairs, results, strict=True):
        check(pair, server, held, caplog)
    wrong = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert not wrong, (wrong, [str(pair) for pair in pairs])


async def test_twelve_pairs_of_faults(
    tmp_path: Path, trusted: Certificates, caplog: pytest.LogCaptureFixture
) -> None:
    await hold_pairs(draw(random.Random(12), 12), tmp_path, trusted, caplog)


@pytest.mark.chaos
@pytest.mark.timeout(900)
async def test_three_hundred_pairs_of_faults(
    tmp_path: Path,
    trusted: Certificates,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pairs = draw(random.Random(300), 300)
    began = time.monotonic()
    for start in range(0, len(pairs), TOGETHER):
        await hold_pairs(pairs[start : start + TOGETHER], tmp_path, trusted, caplog)
        caplog.clear()
        with capsys.disabled():
            done, seconds = min(start + TOGETHER, len(pairs)), time.monotonic() - began
            print(f"\r{done} of {len(pairs)} pairs, {seconds:.0f} s", end="", flush=True)
    with capsys.disabled():
        print()
