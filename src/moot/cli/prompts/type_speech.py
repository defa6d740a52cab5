"""A speech typed at this terminal: the budget and the clock, then line after line until it is given.

Every line is kept as a draft in the log at once. So a Ctrl-C, a crash or another terminal finds it again, and
when the time is up what stands there is said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from math import ceil
from typing import Literal

from moot.cli.prompts.person_prompt import Desk
from moot.cli.render.output import join
from moot.core.state import Debate, Turn
from moot.core.word_count import count
from moot.engine.jobs import Person
from moot.rules.commands import SkipTurn
from moot.rules.participation import KeepDraft, LeaveSeat, Say
from moot.rules.runner_decisions import Purpose
from moot.views.durations import clock
from moot.views.safe_text import line
from moot.views.transcript import speech_title

KNOCK_SECONDS = 60.0
"""So long before the end the speaker is told."""
LOOK_SECONDS = 0.5
MANUAL = (
    "An empty line or Ctrl-D gives the speech. /undo takes the last line back, /skip passes, /leave hands the"
    " seat to its stand-in, /quit pauses the debate; what you have written is kept."
)

Now = Callable[[], Debate]
"""The debate as it stands."""


async def speak(desk: Desk, now: Now, turn: Turn, latest: Turn | None, *, first: bool) -> None:
    """Until it is given or passed. `latest` is what was said last, where it is not on the page already; the
    `first` time they are told how it is done."""
    written = (await desk.kept(turn.seat)).splitlines()
    _introduce(desk, now(), turn, latest)
    if first:
        desk.tell(MANUAL)
    if written:
        desk.tell("Kept from before: " + "\n".join(written), "italic")
    knocking = asyncio.create_task(_knock(desk, now, turn), name="knock")
    try:
        if speech := await _write(desk, now, turn, written):
            await desk.do(Say(turn.seat, speech))
    finally:
        knocking.cancel()
        with suppress(asyncio.CancelledError):
            await knocking


async def _write(desk: Desk, now: Now, turn: Turn, kept: list[str]) -> str:
    """Line after line, on from what was kept; nothing where they pass, leave or go away."""
    written = list(kept)
    while (typed := await desk.line(_prompt(now(), turn, written))) is not None:
        match typed.strip().casefold():
            case "" if not written:
                continue
            case "" if not desk.pasting:
                return "\n".join(written)
            case ("/skip" | "/leave" | "/quit") as wish:
                if await _goes(desk, turn, wish):
                    return ""
                continue
            case "/undo":
                written = written[:-1]
            case command if command.startswith("/"):
                desk.tell(MANUAL)
                continue
            case _:
                written.append(typed.rstrip())
        await desk.do(KeepDraft(turn.seat, "\n".join(written)))
    # A file gives what it holds. One that holds nothing is nobody, and what they wrote before is not said.
    if written and (desk.typed or written != kept):
        return "\n".join(written)
    desk.leave()
    return ""


async def _goes(desk: Desk, turn: Turn, wish: Literal["/skip", "/leave", "/quit"]) -> bool:
    """Whether they could."""
    if wish == "/quit":
        desk.leave()
        return True
    return await desk.do(SkipTurn(turn=turn.number) if wish == "/skip" else LeaveSeat(turn.seat))


def _introduce(desk: Desk, debate: Debate, turn: Turn, latest: Turn | None) -> None:
    if latest is not None:
        desk.tell(f"{line(debate.seat(latest.seat).name)} said last: {debate.heard(latest)}", "")
    side = debate.seat(turn.seat).side
    whose = f"You speak {side} the motion" if side != "neutral" else "You speak"
    left = seconds_left(debate, turn)
    time = f"{clock(ceil(left))} minutes" if left is not None else "all the time in the world"
    desk.tell(f"{whose}: {speech_title(debate, turn)}, {debate.budget(turn.slot)} words, {time}.", "bold")
    if guide := debate.phase(turn.slot).guide:
        desk.tell(guide)


def _prompt(debate: Debate, turn: Turn, written: list[str]) -> str:
    words = debate.budget(turn.slot) - count("\n".join(written))
    room = f"{words} words left" if words >= 0 else f"{-words} words too many"
    left = seconds_left(debate, turn)
    return join((room, clock(ceil(left)) if left is not None else "")) + " ›"


def seconds_left(debate: Debate, turn: Turn) -> float | None:
    """None while the clock stands still."""
    left = Person(Purpose(turn=turn.number), "").seconds_left(debate, datetime.now(UTC))
    return None if left is None else max(0.0, left)


async def _knock(desk: Desk, now: Now, turn: Turn) -> None:
    """The timekeeper knocks once when the end is near."""
    left = seconds_left(now(), turn)
    if left is not None and left <= KNOCK_SECONDS:
        return
    while left is None or left > KNOCK_SECONDS:
        await asyncio.sleep(LOOK_SECONDS if left is None else max(LOOK_SECONDS, left - KNOCK_SECONDS))
        left = seconds_left(now(), turn)
    desk.tell("\nOne minute left.", "yellow")
