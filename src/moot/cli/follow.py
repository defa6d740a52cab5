"""Follows a debate to where it rests and shows it; Ctrl-C pauses it, a second one leaves at once.

Where people sit at this terminal, they are asked in between (`talking.py`).
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterable
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from types import FrameType
from typing import Any, TypeVar

from moot.cli.debate_source import Hall, ending
from moot.cli.error_messages import INTERRUPTED
from moot.cli.prompts.ask_people import Talk
from moot.cli.render.next_steps import exit_code, say_how_to_go_on
from moot.cli.render.output import Page
from moot.cli.render.screens import Screen
from moot.cli.visible_records import Attendance, hidden, people
from moot.core.errors import Refused, StoreError, Unavailable
from moot.core.events import Recorded
from moot.core.evolve import evolve
from moot.core.state import Debate
from moot.engine.placement import wants_runner
from moot.rules.commands import Pause

FRAME_SECONDS = 0.08
LOOK_SECONDS = 1.0
"""How long a silence may be before we look whether anybody is still there."""
AWAY = "{keeper} cannot be reached; waiting for it. Ctrl-C leaves."
T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """On uvloop where there is one."""
    try:
        import uvloop

        factory = uvloop.new_event_loop
    except ImportError:
        factory = None
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)


async def perform(
    hall: Hall, debate_id: str, view: Screen, *, begun: Debate | None = None, server: str | None = None
) -> int:
    """Show a debate that was started here, from `begun` on, and return the exit code.

    The people in it are taken to sit at this terminal. `server` is where it is held, if not here.
    """
    interrupted = lost = False

    async def pause(following: asyncio.Task[Debate | None]) -> None:
        nonlocal lost
        try:
            await hall.ask(debate_id, Pause(now=True))
        except Refused:
            if (await hall.state(debate_id)).being_judged:
                following.cancel()  # judges cannot be paused; they are asked again on resume
        except (StoreError, Unavailable):
            lost = True
            following.cancel()

    def heed() -> None:
        nonlocal interrupted, lost
        if interrupted:
            view.close()
            os._exit(INTERRUPTED)
        interrupted = True
        if hall.away:
            lost = True
            following.cancel()
            return
        tasks.append(asyncio.create_task(pause(following)))

    tasks: list[asyncio.Task[None]] = []
    debate = await hall.state(debate_id)
    who = people(debate)
    begun = await _before_the_veil(hall, begun, who) if begun else None
    records = hall.watch(debate_id, begun.seq if begun else 0)
    following = asyncio.create_task(_take_part(hall, debate, records, view, who, heed, begun))
    with on_interrupt(heed):
        async with _telling_of_outages(hall, _keeper(server), None if who else view):
            await asyncio.wait([following])
        await asyncio.gather(*tasks)
    view.close()
    if lost:
        Page.err().line(
            f"{_keeper(server)} is away; what was written is kept. Go on when it is back: ",
            (f"moot resume {debate_id}{ending(server)}", "bold"),
        )
        return INTERRUPTED
    if not following.cancelled():
        following.result()
    debate = await hall.state(debate_id)
    say_how_to_go_on(debate, ending(server))
    return exit_code(debate, interrupted)


async def watch(
    hall: Hall, debate_id: str, view: Screen, *, who: Attendance | None = None, server: str | None = None
) -> int:
    """Show a debate that another process runs, and let `who` take part; Ctrl-C only looks away."""
    left = False

    def heed() -> None:
        nonlocal left
        left = True
        following.cancel()

    debate = await hall.state(debate_id)
    following = asyncio.create_task(
        _take_part(hall, debate, to_end(hall, debate_id), view, who or Attendance(), heed)
    )
    with on_interrupt(heed):
        async with _telling_of_outages(hall, _keeper(server), None if who else view):
            await asyncio.wait([following])
    view.close()
    if left:
        Page.err().line(
            "The debate goes on without you. Look again with: ",
            (f"moot watch {debate_id}{ending(server)}", "bold"),
        )
        return INTERRUPTED
    following.result()
    debate = await hall.state(debate_id)
    say_how_to_go_on(debate, ending(server))
    return exit_code(debate)


async def _take_part(
    hall: Hall,
    debate: Debate,
    records: AsyncGenerator[Recorded, None],
    view: Screen,
    who: Attendance,
    leave: Callable[[], None],
    begun: Debate | None = None,
) -> Debate | None:
    """Show what comes; those at this terminal see what they may, and are asked in between."""
    if not who:
        return await play(records, view, begun)
    talk = Talk(hall, debate, view, who, leave)
    try:
        return await play(talk.follow(records, begun), talk, begun)
    finally:
        await talk.end()


async def _before_the_veil(hall: Hall, debate: Debate, who: Attendance) -> Debate:
    """Where to begin, so that a speech they must not read yet is still to come when they may."""
    turns = (*debate.turns, *debate.live) if who.seats else ()
    veiled = [turn.seq for turn in turns if hidden(debate, turn.number, who.viewers)]
    earlier: Debate | None = None
    for recorded in await log_of(hall, debate.id) if veiled else ():
        if recorded.seq >= min(veiled):
            break
        earlier = evolve(earlier, recorded)
    return earlier or debate


async def play(records: AsyncIterator[Recorded], view: Screen, debate: Debate | None = None) -> Debate | None:
    """Fold and show; the moving part is drawn a few times a second, however many events there are."""

    async def tick() -> None:
        while True:
            view.tick()
            await asyncio.sleep(FRAME_SECONDS)

    if debate is not None:
        view.catch_up(debate)
    ticking = asyncio.create_task(tick(), name="frames")
    try:
        async for recorded in records:
            debate = evolve(debate, recorded)
            view.show(debate, recorded)
    finally:
        ticking.cancel()
        with suppress(asyncio.CancelledError):
            await ticking
    return debate


def show_all(records: Iterable[Recorded], view: Screen) -> None:
    debate: Debate | None = None
    for recorded in records:
        debate = evolve(debate, recorded)
        view.show(debate, recorded)
    view.flush()


async def log_of(hall: Hall, debate_id: str) -> list[Recorded]:
    """All that has happened so far."""
    records: list[Recorded] = []
    last = (await hall.head(debate_id)).version
    async with aclosing(hall.follow(debate_id)) as coming:
        async for recorded in coming:
            records.append(recorded)
            if recorded.seq >= last:
                break
    return records


async def to_end(hall: Hall, debate_id: str) -> AsyncGenerator[Recorded]:
    """Up to the end, through pauses; what has already come to rest is shown as it is."""
    resting = await hall.state(debate_id)
    still = resting.status != "created" and at_rest(resting)
    last = resting.seq if still or await abandoned(hall, debate_id) else None
    debate: Debate | None = None
    async for recorded in while_alive(hall, debate_id):
        yield recorded
        debate = evolve(debate, recorded)
        ended = debate.final and not debate.being_judged
        over = ended or debate.status == "error" or recorded.seq == last
        if over and await hall.is_last(debate_id, recorded.seq):
            return


async def while_alive(hall: Hall, debate_id: str) -> AsyncGenerator[Recorded]:
    """What comes, for as long as somebody is there to make it come."""
    async with aclosing(hall.follow(debate_id)) as records:
        silent = 0
        following: asyncio.Task[Recorded] | None = None
        try:
            while silent < 2:
                following = following or asyncio.create_task(_next(records))
                done, _ = await asyncio.wait([following], timeout=LOOK_SECONDS)
                if not done:
                    silent = silent + 1 if await abandoned(hall, debate_id) else 0
                    continue
                try:
                    recorded = following.result()
                except StopAsyncIteration:
                    return
                following, silent = None, 0
                yield recorded
        finally:
            if following is not None:
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)


async def _next(records: AsyncIterator[Recorded]) -> Recorded:
    return await anext(records)


def at_rest(debate: Debate) -> bool:
    return not wants_runner(debate)


async def abandoned(hall: Hall, debate_id: str) -> bool:
    """There is something to do, and nobody alive to do it. While nobody can be asked, they may be alive."""
    try:
        return not await hall.is_running(debate_id) and not at_rest(await hall.state(debate_id))
    except StoreError:
        return False


def _keeper(server: str | None) -> str:
    """Who keeps the log."""
    return "The server" if server else "The database"


@asynccontextmanager
async def _telling_of_outages(hall: Hall, keeper: str, view: Screen | None) -> AsyncGenerator[None]:
    """Say so, once, whenever the log goes away. The view makes way for it, unless somebody types."""

    async def look() -> None:
        told = False
        while True:
            if hall.away and not told:
                if view is not None:
                    view.give_way()
                Page.err().line((AWAY.format(keeper=keeper), "yellow"))
                if view is not None:
                    view.go_on()
            told = hall.away
            await asyncio.sleep(LOOK_SECONDS)

    looking = asyncio.create_task(look(), name="look for outages")
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


@contextmanager
def on_interrupt(heed: Callable[[], None]) -> Generator[None]:
    """Ctrl-C calls `heed` on the event loop instead of breaking off."""
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)

    def wake(_number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(heed)

    signal.signal(signal.SIGINT, wake)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
