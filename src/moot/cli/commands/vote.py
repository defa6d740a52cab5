"""The audience at the terminal: `moot vote`, and `moot polls` for what the votes came to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from moot.cli.ask import run_command
from moot.cli.options import Id, Server
from moot.cli.render.help import HelpColumns

if TYPE_CHECKING:
    from moot.core.state import Debate

app = App(
    name="polls",
    help="What the audience's votes came to, as far as they are open: sealed until the last vote is closed.",
    help_format="plaintext",
    help_formatter=HelpColumns(),
)


def vote(
    id: Id,
    choice: Annotated[str, Parameter(help="for, against or undecided; or a seat, where there are no sides.")],
    /,
    *,
    poll: Annotated[
        Literal["before", "after"] | None,
        Parameter(help="before or after; without it, the one that is open.", show_choices=False),
    ] = None,
    voter: Annotated[
        str,
        Parameter(help="Who votes, here. On a server it is the bearer of the token. [default: your login]"),
    ] = "",
    server: Server = None,
) -> int:
    """Cast your vote in the poll that is open. One vote for each voter in each poll; it stays secret."""
    from moot.rules.participation import CastVote

    who = voter or _login()
    return run_command(
        server, id, lambda debate: CastVote(who, _choice(debate, choice), poll), "Your vote is cast."
    )


@app.default
def polls(id: Id = "last", /, *, server: Server = None) -> int:
    """What the votes came to."""
    from moot.cli.follow import run

    async def look() -> int:
        from moot.cli.debate_source import open_source
        from moot.cli.find_debate import find_debate
        from moot.cli.remote import RemoteSource
        from moot.cli.render import polls as polling
        from moot.cli.render.output import Terminal
        from moot.views.poll_results import poll_report

        terminal = Terminal.out()
        async with open_source(server) as source:
            debate_id = await find_debate(source, id)
            if isinstance(source, RemoteSource):
                found = await source.poll_results(debate_id)
            else:
                found = poll_report(await source.state(debate_id))
        if found is None:
            terminal.line("The audience is not asked in this debate.")
            return 0
        for one in polling.poll_lines(found, terminal.width):
            terminal.print(one)
        return 0

    return run(look())


@app.command
def close(id: Id = "last", /, *, server: Server = None) -> int:
    """Close the vote that is open; the debate goes on."""
    from moot.rules.participation import ClosePoll

    return run_command(server, id, ClosePoll(), "The vote is closed.")


def _choice(debate: Debate, given: str) -> str:
    from moot.cli.find_seat import party_id
    from moot.judging.parties import vote_choices

    wanted = given.strip().casefold()
    return wanted if wanted in vote_choices(debate) else party_id(debate, given)


def _login() -> str:
    import getpass

    return getpass.getuser()
