"""A debate in the terminal: `moot show` as it stands, `moot watch` while it runs, `moot replay` once more."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.options import Id, Json, Plain, Reasoning, Server
from moot.cli.run_command import run_on_debate
from moot.core.errors import Invalid

if TYPE_CHECKING:
    from moot.cli.debate_source import DebateSource
    from moot.core.events import Recorded


def show(
    id: Id = "last",
    /,
    *,
    reasoning: Reasoning = True,
    plain: Plain = False,
    json: Json = False,
    server: Server = None,
    svg: Annotated[
        Path | None, Parameter(help="Draw the terminal into an SVG file instead.", show=False)
    ] = None,
    dark: Annotated[bool, Parameter(negative="", show=False)] = False,
    columns: Annotated[int, Parameter(show=False)] = 88,
    cut: Annotated[int, Parameter(show=False)] = 0,
) -> int:
    """Show a debate in the terminal."""

    async def look(source: DebateSource, debate_id: str) -> int:
        from moot.cli.debate_source import server_option
        from moot.cli.follow import log_of, show_all
        from moot.cli.render.screens import open_screen
        from moot.cli.render.svg import draw

        records = await log_of(source, debate_id)
        if svg is not None:
            draw(records, svg, reasoning=reasoning, dark=dark, columns=columns, cut=cut)
            return 0
        ending = server_option(server)
        with open_screen(json=json, plain=plain, reasoning=reasoning, moving=False, ending=ending) as view:
            show_all(records, view)
        return 0

    return run_on_debate(server, id, look)


def watch(
    id: Id = "last",
    /,
    *,
    sit: Annotated[
        str | None,
        Parameter(
            name="--as",
            metavar="SEAT",
            help="Your seat, or your place as a judge: you are asked when it is your turn, and see no one's"
            " mind.",
        ),
    ] = None,
    reasoning: Reasoning = True,
    plain: Plain = False,
    json: Json = False,
    server: Server = None,
) -> int:
    """Follow a running debate from its start. Ctrl-C stops watching; the debate continues."""

    async def look(source: DebateSource, debate_id: str) -> int:
        from moot.cli import follow
        from moot.cli.debate_source import server_option
        from moot.cli.render import screens
        from moot.cli.visible_records import person_at

        person = person_at(await source.state(debate_id), sit) if sit else None
        with screens.open_screen(
            json=json,
            plain=plain,
            reasoning=reasoning,
            hint=screens.HINT_WATCHING,
            ending=server_option(server),
        ) as view:
            return await follow.watch(source, debate_id, view, people_here=person, server=server)

    return run_on_debate(server, id, look)


# --- replay -----------------------------------------------------------------------------------------------


def replay(
    id: Id = "last",
    /,
    *,
    speed: Annotated[
        str, Parameter(help="Speed, as a multiple of the original: 4, 0.5, or max. [default: 1]")
    ] = "1",
    reasoning: Reasoning = True,
    plain: Plain = False,
    json: Json = False,
    server: Server = None,
) -> int:
    """Replay a debate at its own pace, or faster."""
    factor = _speed_factor(speed)

    async def look(source: DebateSource, debate_id: str) -> int:
        from moot.cli.follow import log_of, show_records
        from moot.cli.render.screens import open_screen

        events = EventReplay(await log_of(source, debate_id), factor)
        hint = "a replay" if factor == 1 else f"a replay at {speed} times the pace"
        with open_screen(json=json, plain=plain, reasoning=reasoning, clock=events.clock, hint=hint) as view:
            await show_records(events.records(), view)
            view.flush()
        return 0

    return run_on_debate(server, id, look)


def _speed_factor(speed: str) -> float:
    try:
        factor = float("inf") if speed == "max" else float(speed)
    except ValueError:
        factor = 0.0
    if not factor > 0:
        raise Invalid(f"--speed must be a number above 0, or max, not {speed!r}.")
    return factor


class EventReplay:
    """The events of a debate at the times they had, divided by the speed."""

    def __init__(self, records: Sequence[Recorded], speed: float) -> None:
        self._records = records
        self._speed = speed
        self._shown_at = records[0].at
        self._since = monotonic()

    def clock(self) -> datetime:
        """The time at which it is in the debate."""
        if self._speed == float("inf"):
            return self._shown_at
        return self._shown_at + timedelta(seconds=(monotonic() - self._since) * self._speed)

    async def records(self) -> AsyncGenerator[Recorded]:
        import asyncio

        before = self._records[0]
        for recorded in self._records:
            wait = seconds_between(before, recorded) / self._speed
            if wait > 0:
                await asyncio.sleep(max(0.0, wait - (monotonic() - self._since)))
            self._shown_at, self._since = recorded.at, monotonic()
            before = recorded
            yield recorded
        await asyncio.sleep(0)


def seconds_between(before: Recorded, recorded: Recorded) -> float:
    """Return the seconds between two events, 0 for a time in which no process ran the debate."""
    from moot.core.events import DebateResumed, DebateStarted, TurnRetried

    waited = isinstance(recorded.event, DebateResumed | DebateStarted | TurnRetried)
    if waited or recorded.epoch != before.epoch:
        return 0.0
    return max(0.0, (recorded.at - before.at).total_seconds())
