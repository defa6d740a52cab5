"""The thin commands: each asks one thing of a debate, whichever process runs it.

Where nobody runs it and there is something to do, such as a judge to ask, it is done here and shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.options import Id, Reason, Server

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
    server: Server = None,
) -> int:
    """Pause after the running speech, or at once with --now."""
    from moot.commands import Pause

    return _ask(server, id, Pause(now=now), "Paused.")


def inject(
    id: Id,
    text: Annotated[str, Parameter(help="What to say, in quotation marks.")],
    /,
    *,
    to: Annotated[
        str | None, Parameter(help="Only this speaker hears it: a seat by name, side or id.")
    ] = None,
    server: Server = None,
) -> int:
    """Say something that every later speaker hears."""
    from moot.cli.seating import seat_id
    from moot.commands import Inject

    return _ask(
        server,
        id,
        lambda debate: Inject(text, to=seat_id(debate, to) if to else None),
        "It will be heard by every speech from now on.",
    )


def skip(id: Id = "last", /, *, server: Server = None) -> int:
    """Skip the running speech, or the next one."""
    from moot.commands import SkipTurn

    return _ask(server, id, SkipTurn(), "Skipped.")


def retry(id: Id = "last", /, *, server: Server = None) -> int:
    """Have the last failed or interrupted speech given again."""
    from moot.commands import Retry

    return _ask(server, id, Retry(), "It will be given again.")


def next_round(id: Id = "last", /, *, server: Server = None) -> int:
    """Ask for the next round, where rounds wait to be asked for."""
    from moot.commands import NextRound

    return _ask(server, id, NextRound(), "The next round begins.")


def judge(id: Id = "last", /, *, reason: Reason = "", server: Server = None) -> int:
    """End the speeches and ask the judge now."""
    from moot.commands import JudgeNow

    return _ask(server, id, JudgeNow(reason), "The judge is asked.")


def decide(
    id: Id,
    winner: Annotated[str, Parameter(help="A seat by name, side or id, or draw.")],
    /,
    *,
    reason: Reason = "",
    server: Server = None,
) -> int:
    """Name the winner by hand, or a draw."""
    from moot.cli.seating import seat_id
    from moot.commands import Decide

    return _ask(
        server,
        id,
        lambda debate: Decide(None if winner == "draw" else seat_id(debate, winner), reason),
        "Decided.",
    )


def stop(id: Id = "last", /, *, reason: Reason = "", server: Server = None) -> int:
    """End the debate; what was said is judged."""
    from moot.commands import Stop

    return _ask(server, id, Stop(reason), "Stopped.")


def abort(id: Id = "last", /, *, reason: Reason = "", server: Server = None) -> int:
    """End the debate without a verdict."""
    from moot.commands import Abort

    return _ask(server, id, Abort(reason), "Aborted.")


def _ask(server: str | None, given: str, command: Command | Callable[[Debate], Command], done: str) -> int:
    from moot.cli.playing import run

    async def ask() -> int:
        from moot.cli import playing
        from moot.cli.finding import find
        from moot.cli.hall import hall
        from moot.cli.page import Page

        async with hall(server) as place:
            debate_id = await find(place, given)
            before = await place.state(debate_id)
            elsewhere = await place.is_running(debate_id)
            asked = command(before) if callable(command) else command
            outcome = await place.ask(debate_id, asked)
            Page.out().line(done)
            if elsewhere or playing.at_rest(outcome.debate):
                return 0
            with playing.screen() as view:
                return await playing.perform(place, debate_id, view, begun=before)

    return run(ask())
