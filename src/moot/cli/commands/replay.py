"""`moot replay ID`: see a debate again at the pace it was held, or faster.

The time in which nobody ran it, paused or crashed, is left out.
"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from moot.cli.options import Id, Json, Plain, Reasoning, Server


def replay(
    id: Id = "last",
    /,
    *,
    speed: Annotated[
        str, Parameter(help="How many times faster than it was: 4, 0.5, or max. [default: 1]")
    ] = "1",
    reasoning: Reasoning = True,
    plain: Plain = False,
    json: Json = False,
    server: Server = None,
) -> int:
    """See a debate again at the pace it was held, or faster."""
    from moot.cli.follow import run

    factor = _factor(speed)

    async def again() -> int:
        from moot.cli.debate_source import open_source
        from moot.cli.find_debate import find_debate
        from moot.cli.follow import log_of, show_records
        from moot.cli.render.screens import open_screen
        from moot.cli.replay_events import EventReplay

        async with open_source(server) as source:
            records = await log_of(source, await find_debate(source, id))
        reel = EventReplay(records, factor)
        hint = "a replay" if factor == 1 else f"a replay at {speed} times the pace"
        with open_screen(json=json, plain=plain, reasoning=reasoning, clock=reel.clock, hint=hint) as view:
            await show_records(reel.records(), view)
            view.flush()
        return 0

    return run(again())


def _factor(speed: str) -> float:
    from moot.core.errors import Invalid

    try:
        factor = float("inf") if speed == "max" else float(speed)
    except ValueError:
        factor = 0.0
    if not factor > 0:
        raise Invalid(f"--speed must be a number above 0, or max, not {speed!r}.")
    return factor
