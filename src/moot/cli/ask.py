"""One thing asked of a debate, whichever process runs it.

Where nobody runs it and there is something to do, such as a judge to ask, it is done here and shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from moot.core.state import Debate
    from moot.rules.commands import Command


def run_command(
    server: str | None,
    given: str,
    command: Command | Callable[[Debate], Command],
    done: str,
    hint: str = "",
) -> int:
    """`given` names the debate, `done` is said when it was carried out; `hint` is what to do next."""
    from moot.cli.follow import run

    async def carry_out() -> int:
        from moot.cli import follow
        from moot.cli.debate_source import open_source, server_option
        from moot.cli.find_debate import find_debate
        from moot.cli.render.next_steps import print_next_steps
        from moot.cli.render.output import Terminal
        from moot.cli.render.screens import open_screen
        from moot.engine.arena import NO_RUNNER_NEEDED

        async with open_source(server) as source:
            debate_id = await find_debate(source, given)
            before = await source.state(debate_id)
            elsewhere = await source.is_running(debate_id)
            asked = command(before) if callable(command) else command
            outcome = await source.ask(debate_id, asked)
            Terminal.out().line(done)
            if elsewhere or follow.is_waiting(outcome.debate):
                if hint:
                    Terminal.err().line((hint, "dim"))
                return 0
            if isinstance(asked, NO_RUNNER_NEEDED):
                print_next_steps(outcome.debate, server_option(server))
                return 0
            with open_screen(ending=server_option(server)) as view:
                return await follow.show_and_run(source, debate_id, view, begun=before, server=server)

    return run(carry_out())
