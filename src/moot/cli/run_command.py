"""How a command runs: in an event loop, with the debates of this machine or of a server.

Nothing of the engine is loaded before a command runs, so that the help of a command stays quick.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from moot.cli.debate_source import DebateSource
    from moot.core.state import Debate
    from moot.rules.commands import Command
    from moot.store.contract import Store

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine and return its result; on uvloop where it is installed."""
    import asyncio

    try:
        import uvloop

        factory = uvloop.new_event_loop
    except ImportError:
        factory = None
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)


def run_on_debate(server: str | None, name: str, action: Callable[[DebateSource, str], Awaitable[T]]) -> T:
    """Find the debate that `name` stands for, here or on `server`, and run `action(source, debate_id)`."""

    async def find_and_run() -> T:
        from moot.cli.debate_source import open_source
        from moot.cli.lookup import find_debate

        async with open_source(server) as source:
            return await action(source, await find_debate(source, name))

    return run(find_and_run())


def run_command(
    server: str | None,
    name: str,
    command: Command | Callable[[Debate], Command],
    done: str,
    hint: str = "",
) -> int:
    """Give one command in a debate, print `done`, and return the exit code.

    Where no process runs the debate and the command gives it something to do, such as asking a judge, that
    is done here and shown. Otherwise `hint`, which says what to do next, is printed.
    """

    async def carry_out(source: DebateSource, debate_id: str) -> int:
        from moot.cli import follow
        from moot.cli.debate_source import server_option
        from moot.cli.render.output import Terminal
        from moot.cli.render.screens import open_screen

        before = await source.state(debate_id)
        running_elsewhere = await source.is_running(debate_id)
        built = command(before) if callable(command) else command
        outcome = await source.ask(debate_id, built)
        Terminal.out().line(done)
        if running_elsewhere or follow.is_waiting(outcome.debate):
            if hint:
                Terminal.err().line((hint, "dim"))
            return 0
        if not built.needs_runner:
            follow.print_next_steps(outcome.debate, server_option(server))
            return 0
        with open_screen(ending=server_option(server)) as view:
            return await follow.show_and_run(source, debate_id, view, begun=before, server=server)

    return run_on_debate(server, name, carry_out)


@asynccontextmanager
async def open_local_store() -> AsyncGenerator[Store]:
    """Open the store that the settings name, without anything that runs debates."""
    from moot import settings
    from moot.processes.backends import open_store

    store = await open_store(settings.load())
    try:
        yield store
    finally:
        await store.close()
