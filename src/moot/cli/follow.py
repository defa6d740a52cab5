"""Follows a debate until it ends or waits, and shows it; Ctrl-C pauses it, a second one leaves at once.

People at this terminal are asked in between (`prompts/ask_people.py`).
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterable
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

from moot.cli.debate_source import server_option
from moot.cli.error_messages import ENDED, FAILED, INTERRUPTED, debugging
from moot.cli.prompts.ask_people import PeoplePrompts
from moot.cli.render.output import Terminal
from moot.cli.render.screens import Screen
from moot.cli.visible_records import PeopleHere, all_people, is_hidden
from moot.core.errors import Refused, StoreError, Unavailable
from moot.core.events import Recorded
from moot.core.evolve import evolve
from moot.core.state import Debate
from moot.rules.commands import PauseDebate
from moot.rules.plan import HoldPoll, Idle, closes_on_time, plan
from moot.rules.runner_decisions import wants_runner

if TYPE_CHECKING:
    from moot.cli.debate_source import DebateSource

FRAME_SECONDS = 0.08
CHECK_SECONDS = 1.0
"""After a silence of this length we check whether a process still runs the debate."""
AWAY_MESSAGE = "{keeper} cannot be reached; waiting for it. Ctrl-C leaves."


async def show_and_run(
    source: DebateSource,
    debate_id: str,
    view: Screen,
    *,
    begun: Debate | None = None,
    server: str | None = None,
) -> int:
    """Show a debate that was started here, from `begun` on, and return the exit code.

    Its people are taken to be at this terminal. `server` is where it runs, if not here.
    """
    interrupted = lost = False

    async def pause(following: asyncio.Task[Debate | None]) -> None:
        nonlocal lost
        try:
            await source.ask(debate_id, PauseDebate(now=True))
        except Refused:
            if (await source.state(debate_id)).being_judged:
                following.cancel()  # judges cannot be paused; they are asked again on resume
        except (StoreError, Unavailable):
            lost = True
            following.cancel()

    def on_ctrl_c() -> None:
        nonlocal interrupted, lost
        if interrupted:
            view.close()
            os._exit(INTERRUPTED)
        interrupted = True
        if source.disconnected:
            lost = True
            following.cancel()
            return
        tasks.append(asyncio.create_task(pause(following)))

    tasks: list[asyncio.Task[None]] = []
    debate = await source.state(debate_id)
    people_here = all_people(debate)
    begun = await _before_the_veil(source, begun, people_here) if begun else None
    records = source.watch(debate_id, begun.seq if begun else 0)
    following = asyncio.create_task(_take_part(source, debate, records, view, people_here, on_ctrl_c, begun))
    with on_interrupt(on_ctrl_c):
        async with _telling_of_outages(source, _log_keeper(server), None if people_here else view):
            await asyncio.wait([following])
        await asyncio.gather(*tasks)
    view.close()
    if lost:
        Terminal.err().line(
            f"{_log_keeper(server)} is away; what was written is kept. Go on when it is back: ",
            (f"moot resume {debate_id}{server_option(server)}", "bold"),
        )
        return INTERRUPTED
    if not following.cancelled():
        following.result()
    debate = await source.state(debate_id)
    print_next_steps(debate, server_option(server))
    return exit_code(debate, interrupted)


async def watch(
    source: DebateSource,
    debate_id: str,
    view: Screen,
    *,
    people_here: PeopleHere | None = None,
    server: str | None = None,
) -> int:
    """Show a debate that another process runs; `people_here` take part. Ctrl-C stops only showing it."""
    left = False

    def on_ctrl_c() -> None:
        nonlocal left
        left = True
        following.cancel()

    debate = await source.state(debate_id)
    following = asyncio.create_task(
        _take_part(
            source, debate, records_to_end(source, debate_id), view, people_here or PeopleHere(), on_ctrl_c
        )
    )
    with on_interrupt(on_ctrl_c):
        async with _telling_of_outages(source, _log_keeper(server), None if people_here else view):
            await asyncio.wait([following])
    view.close()
    if left:
        Terminal.err().line(
            "The debate continues. Watch it again with: ",
            (f"moot watch {debate_id}{server_option(server)}", "bold"),
        )
        return INTERRUPTED
    following.result()
    debate = await source.state(debate_id)
    print_next_steps(debate, server_option(server))
    return exit_code(debate)


async def _take_part(
    source: DebateSource,
    debate: Debate,
    records: AsyncGenerator[Recorded, None],
    view: Screen,
    people_here: PeopleHere,
    leave: Callable[[], None],
    begun: Debate | None = None,
) -> Debate | None:
    """Show the records; people at this terminal see what they may, and are asked in between."""
    if not people_here:
        return await show_records(records, view, begun)
    prompts = PeoplePrompts(source, debate, view, people_here, leave)
    try:
        return await show_records(prompts.follow(records, begun), prompts, begun)
    finally:
        await prompts.end()


async def _before_the_veil(source: DebateSource, debate: Debate, people_here: PeopleHere) -> Debate:
    """Return an earlier state to begin at, so that speeches hidden from them now are shown later."""
    turns = (*debate.turns, *debate.live) if people_here.seats else ()
    veiled = [turn.seq for turn in turns if is_hidden(debate, turn.number, people_here.viewers)]
    earlier: Debate | None = None
    for recorded in await log_of(source, debate.id) if veiled else ():
        if recorded.seq >= min(veiled):
            break
        earlier = evolve(earlier, recorded)
    return earlier or debate


async def show_records(
    records: AsyncIterator[Recorded], view: Screen, debate: Debate | None = None
) -> Debate | None:
    """Fold and show records; the moving part is drawn a few times a second, however many events there are."""

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


async def log_of(source: DebateSource, debate_id: str) -> list[Recorded]:
    """Return all events so far."""
    records: list[Recorded] = []
    last = (await source.head(debate_id)).version
    async with aclosing(source.follow(debate_id)) as coming:
        async for recorded in coming:
            records.append(recorded)
            if recorded.seq >= last:
                break
    return records


async def records_to_end(source: DebateSource, debate_id: str) -> AsyncGenerator[Recorded]:
    """Yield events up to the end, through pauses; of a debate that waits already, those so far."""
    resting = await source.state(debate_id)
    still = resting.status != "created" and is_waiting(resting)
    last = resting.seq if still or await is_abandoned(source, debate_id) else None
    debate: Debate | None = None
    async for recorded in records_while_running(source, debate_id):
        yield recorded
        debate = evolve(debate, recorded)
        ended = debate.final and not debate.being_judged
        over = ended or debate.status == "error" or recorded.seq == last
        if over and await source.is_last(debate_id, recorded.seq):
            return


async def records_while_running(source: DebateSource, debate_id: str) -> AsyncGenerator[Recorded]:
    """Yield events for as long as a process runs the debate."""
    async with aclosing(source.follow(debate_id)) as records:
        silent = 0
        following: asyncio.Task[Recorded] | None = None
        try:
            while silent < 2:
                following = following or asyncio.create_task(_next(records))
                done, _ = await asyncio.wait([following], timeout=CHECK_SECONDS)
                if not done:
                    silent = silent + 1 if await is_abandoned(source, debate_id) else 0
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


def is_waiting(debate: Debate) -> bool:
    return not wants_runner(debate)


async def is_abandoned(source: DebateSource, debate_id: str) -> bool:
    """Whether the debate needs a runner and none is alive; False while the store cannot be reached."""
    try:
        return not await source.is_running(debate_id) and not is_waiting(await source.state(debate_id))
    except StoreError:
        return False


def _log_keeper(server: str | None) -> str:
    """Return what to call the place of the log."""
    return "The server" if server else "The database"


@asynccontextmanager
async def _telling_of_outages(source: DebateSource, keeper: str, view: Screen | None) -> AsyncGenerator[None]:
    """Print a line whenever the log cannot be reached. The view pauses for it, unless a person types."""

    async def look() -> None:
        reported = False
        while True:
            if source.disconnected and not reported:
                if view is not None:
                    view.suspend()
                Terminal.err().line((AWAY_MESSAGE.format(keeper=keeper), "yellow"))
                if view is not None:
                    view.resume()
            reported = source.disconnected
            await asyncio.sleep(CHECK_SECONDS)

    looking = asyncio.create_task(look(), name="look for outages")
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


@contextmanager
def on_interrupt(callback: Callable[[], None]) -> Generator[None]:
    """Ctrl-C calls `callback` on the event loop instead of interrupting it."""
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)

    def wake(_number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(callback)

    signal.signal(signal.SIGINT, wake)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def exit_code(debate: Debate, interrupted: bool = False) -> int:
    if debate.status == "error":
        return FAILED
    if debate.final and not debate.being_judged:
        return ENDED
    return INTERRUPTED if interrupted or debate.status == "paused" else ENDED


def print_next_steps(debate: Debate, ending: str = "") -> None:
    """Print on standard error what to do next, so that a pipe gets only the debate."""
    terminal = Terminal.err()
    if debate.final and debate.being_judged:
        terminal.line("It is being judged again. Continue: ", (f"moot resume {debate.id}{ending}", "bold"))
        return
    if debate.final:
        if terminal.rich:
            terminal.line((f"  moot replay last{ending}", "dim"))
            terminal.line((f"  moot export last{ending} -o debate.html", "dim"))
        return
    if debate.status == "error":
        terminal.line("To try again: ", (f"moot resume {debate.id}{ending}", "bold"))
        served = any(seat.model.provider != "local" for seat in debate.seats)
        if debate.failure == "permanent_fault" and served and not debugging():
            terminal.line(("MOOT_DEBUG=1 shows what the service said.", "dim"))
        return
    waiting = plan(debate)
    if isinstance(waiting, HoldPoll) and not closes_on_time(debate, waiting.name):
        terminal.line("It waits for votes: ", (f"moot vote {debate.id} CHOICE{ending}", "bold"))
        terminal.line("To close the vote: ", (f"moot polls close {debate.id}{ending}", "bold"))
        return
    match waiting.waiting_for if isinstance(waiting, Idle) else "":
        case "round":
            terminal.line("It waits for the next round: ", (f"moot next-round {debate.id}{ending}", "bold"))
        case "judge":
            terminal.line("It waits to be judged: ", (f"moot judge {debate.id}{ending}", "bold"))
        case "decision":
            terminal.line("It waits for your decision: ", (f"moot decide {debate.id} WINNER{ending}", "bold"))
        case "resume":
            terminal.line("Continue: ", (f"moot resume {debate.id}{ending}", "bold"))
        case _:
            what = "Judging" if debate.being_judged else "The debate"
            terminal.line(f"{what} is not finished. Continue: ", (f"moot resume {debate.id}{ending}", "bold"))
