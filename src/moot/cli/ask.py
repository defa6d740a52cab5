"""One thing asked of a debate, whichever process runs it.

Where nobody runs it and there is something to do, such as a judge to ask, it is done here and shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from moot.core.state import Debate
    from moot.rules.commands import Command


def ask(
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
        from moot.cli.debate_source import ending, hall
        from moot.cli.find_debate import find
        from moot.cli.render.next_steps import say_how_to_go_on
        from moot.cli.render.output import Page
        from moot.cli.render.screens import screen
        from moot.engine.arena import QUIET

        async with hall(server) as place:
            debate_id = await find(place, given)
            before = await place.state(debate_id)
            elsewhere = await place.is_running(debate_id)
            asked = command(before) if callable(command) else command
            outcome = await place.ask(debate_id, asked)
            Page.out().line(done)
            if elsewhere or follow.at_rest(outcome.debate):
                if hint:
                    Page.err().line((hint, "dim"))
                return 0
            if isinstance(asked, QUIET):
                say_how_to_go_on(outcome.debate, ending(server))
                return 0
            with screen(ending=ending(server)) as view:
                return await follow.perform(place, debate_id, view, begun=before, server=server)

    return run(carry_out())
