"""A speech typed at this terminal: first the word budget and the time, then line after line.

Every line is saved as a draft in the log at once. It is there after a Ctrl-C or a crash and in another
terminal, and when the time is up it becomes the speech.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from math import ceil
from typing import Literal

from moot.cli.prompts.person_prompt import PersonPrompt
from moot.cli.render.output import join
from moot.core.state import Debate, Turn
from moot.core.word_count import count_words
from moot.rules.commands import SkipTurn
from moot.rules.participation import GiveSpeech, KeepDraft, LeaveSeat
from moot.views.text import clock, single_line
from moot.views.transcript import speech_title

WARNING_SECONDS = 60.0
"""The speaker is warned this long before the end."""
CHECK_SECONDS = 0.5
HELP_TEXT = (
    "An empty line or Ctrl-D gives the speech. /undo takes the last line back, /skip passes, /leave hands the"
    " seat to its stand-in, /quit pauses the debate; what you have written is kept."
)

CurrentDebate = Callable[[], Debate]
"""The debate as it stands."""


async def type_speech(
    person: PersonPrompt, now: CurrentDebate, turn: Turn, latest: Turn | None, *, first: bool
) -> None:
    """Ask for the speech until it is given or passed.

    `latest` is the last speech of the other side where it was not shown yet; `first` shows the help.
    """
    written = (await person.saved_draft(turn.seat)).splitlines()
    _introduce(person, now(), turn, latest)
    if first:
        person.say(HELP_TEXT)
    if written:
        person.say("Kept from before: " + "\n".join(written), "italic")
    warning = asyncio.create_task(_warn_before_end(person, now, turn), name="knock")
    try:
        if speech := await _write(person, now, turn, written):
            await person.run_command(GiveSpeech(turn.seat, speech))
    finally:
        warning.cancel()
        with suppress(asyncio.CancelledError):
            await warning


async def _write(person: PersonPrompt, now: CurrentDebate, turn: Turn, draft: list[str]) -> str:
    """Return the speech, which continues the saved draft; empty where they pass, leave or quit."""
    written = list(draft)
    while (typed := await person.line(_prompt(now(), turn, written))) is not None:
        match typed.strip().casefold():
            case "" if not written:
                continue
            case "" if not person.pasting:
                return "\n".join(written)
            case ("/skip" | "/leave" | "/quit") as wish:
                if await _goes(person, turn, wish):
                    return ""
                continue
            case "/undo":
                written = written[:-1]
            case command if command.startswith("/"):
                person.say(HELP_TEXT)
                continue
            case _:
                written.append(typed.rstrip())
        await person.run_command(KeepDraft(turn.seat, "\n".join(written)))
    # A file is a speech. From an empty one nothing is given, not even an earlier draft.
    if written and (person.typed or written != draft):
        return "\n".join(written)
    person.leave()
    return ""


async def _goes(person: PersonPrompt, turn: Turn, command: Literal["/skip", "/leave", "/quit"]) -> bool:
    """Return whether the command was accepted."""
    if command == "/quit":
        person.leave()
        return True
    return await person.run_command(
        SkipTurn(turn=turn.number) if command == "/skip" else LeaveSeat(turn.seat)
    )


def _introduce(person: PersonPrompt, debate: Debate, turn: Turn, latest: Turn | None) -> None:
    if latest is not None:
        person.say(f"{single_line(debate.seat(latest.seat).name)} said last: {debate.heard_text(latest)}", "")
    side = debate.seat(turn.seat).side
    whose = f"You speak {side} the motion" if side != "neutral" else "You speak"
    left = debate.person_seconds_left(turn, datetime.now(UTC))
    time = f"{clock(ceil(left))} minutes" if left is not None else "all the time in the world"
    person.say(
        f"{whose}: {speech_title(debate, turn)}, {debate.word_budget(turn.slot)} words, {time}.", "bold"
    )
    if guide := debate.phase(turn.slot).guide:
        person.say(guide)


def _prompt(debate: Debate, turn: Turn, written: list[str]) -> str:
    words = debate.word_budget(turn.slot) - count_words("\n".join(written))
    room = f"{words} words left" if words >= 0 else f"{-words} words too many"
    left = debate.person_seconds_left(turn, datetime.now(UTC))
    return join((room, clock(ceil(left)) if left is not None else "")) + " ›"


async def _warn_before_end(person: PersonPrompt, now: CurrentDebate, turn: Turn) -> None:
    """Print a warning once, when the end is near."""
    left = now().person_seconds_left(turn, datetime.now(UTC))
    if left is not None and left <= WARNING_SECONDS:
        return
    while left is None or left > WARNING_SECONDS:
        await asyncio.sleep(CHECK_SECONDS if left is None else max(CHECK_SECONDS, left - WARNING_SECONDS))
        left = now().person_seconds_left(turn, datetime.now(UTC))
    person.say("\nOne minute left.", "yellow")
