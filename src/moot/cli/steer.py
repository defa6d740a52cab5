"""The thin commands: each asks one thing of a debate, whichever process runs it.

Where nobody runs it and there is something to do, such as a judge to ask, it is done here and shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.options import Id, Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from moot.commands import Command
    from moot.debate import Debate


def pause(
    id: Id = "last",
    /,
    *,
    now: Annotated[
        bool, Parameter(negative="", help="Cut the running speech; it is given again later.")
    ] = False,
) -> int:
    """Pause after the running speech, or at once with --now."""
    from moot.commands import Pause

    return _ask(id, Pause(now=now), "Paused.")


def inject(
    id: Id,
    text: Annotated[str, Parameter(help="What to say, in quotation marks.")],
    /,
    *,
    to: Annotated[
        str | None, Parameter(help="Only this speaker hears it: a seat by name, side or id.")
    ] = None,
) -> int:
    """Say something that every later speaker hears."""
    from moot.cli.seating import seat_id
    from moot.commands import Inject

    return _ask(
        id,
        lambda debate: Inject(text, to=seat_id(debate, to) if to else None),
        "It will be heard by every speech from now on.",
    )


def skip(id: Id = "last", /) -> int:
    """Skip the running speech, or the next one."""
    from moot.commands import SkipTurn

    return _ask(id, SkipTurn(), "Skipped.")


def retry(id: Id = "last", /) -> int:
    """Have the last failed or interrupted speech given again."""
    from moot.commands import Retry

    return _ask(id, Retry(), "It will be given again.")


def next_round(id: Id = "last", /) -> int:
    """Ask for the next round, where rounds wait to be asked for."""
    from moot.commands import NextRound

    return _ask(id, NextRound(), "The next round begins.")


def judge(id: Id = "last", /, *, reason: Reason = "") -> int:
    """End the speeches and ask the judge now."""
    from moot.commands import JudgeNow

    return _ask(id, JudgeNow(reason), "The judge is asked.")


def decide(
    id: Id,
    winner: Annotated[str, Parameter(help="A seat by name, side or id, or draw.")],
    /,
    *,
    reason: Reason = "",
) -> int:
    """Name the winner by hand, or a draw."""
    from moot.cli.seating import seat_id
    from moot.commands import Decide

    return _ask(
        id,
        lambda debate: Decide(None if winner == "draw" else seat_id(debate, winner), reason),
        "Decided.",
    )


def stop(id: Id = "last", /, *, reason: Reason = "") -> int:
    """End the debate; what was said is judged."""
    from moot.commands import Stop

    return _ask(id, Stop(reason), "Stopped.")


def abort(id: Id = "last", /, *, reason: Reason = "") -> int:
    """End the debate without a verdict."""
    from moot.commands import Abort

    return _ask(id, Abort(reason), "Aborted.")


def _ask(given: str, command: Command | Callable[[Debate], Command], done: str) -> int:
    from moot.cli.playing import run

    async def ask() -> int:
        from moot.arena import Arena
        from moot.cli import playing
        from moot.cli.finding import find
        from moot.cli.page import Page

        async with Arena.open() as arena:
            debate_id = await find(arena, given)
            before = await arena.state(debate_id)
            elsewhere = await arena.is_running(debate_id)
            asked = command(before) if callable(command) else command
            outcome = await arena.ask(debate_id, asked)
            Page.out().line(done)
            if elsewhere or playing.at_rest(outcome.debate):
                return 0
            with playing.screen() as view:
                return await playing.perform(arena, debate_id, view, after=before.seq)

    return run(ask())
