"""`moot ballot` casts the ballot of a person, `rejudge` has a debate judged again, `verdicts` shows all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.options import Id, Reason, Server
from moot.cli.render.output import Terminal
from moot.cli.run_command import run_command, run_on_debate

if TYPE_CHECKING:
    from moot.cli.debate_source import DebateSource
    from moot.core.state import Debate
    from moot.rules.participation import SubmitBallot


def ballot(
    id: Id,
    winner: Annotated[str, Parameter(help="Who won, by name, side or id; or draw.")],
    reason: Annotated[str, Parameter(help="Why, in quotation marks.")],
    /,
    *,
    speeches: Annotated[
        str, Parameter(help='The key speeches, at least one, by number: "1 3".', metavar="NUMBERS")
    ] = "",
    ranking: Annotated[
        str, Parameter(help="All of them, the best first, with commas; where the format ranks them.")
    ] = "",
    judge: Annotated[
        str | None, Parameter(help="Which judge you are, by name or id, where several people judge.")
    ] = None,
    server: Server = None,
) -> int:
    """Submit the ballot of a human judge."""

    def filled_in(debate: Debate) -> SubmitBallot:
        from moot.cli.lookup import own_judge, party_id, winner_id
        from moot.cli.prompts.fill_ballot import cited_turns
        from moot.core.terms import Ballot
        from moot.rules.participation import SubmitBallot

        winner_named = winner_id(debate, winner)
        ranked = tuple(party_id(debate, name) for name in ranking.split(",") if name.strip())
        judging = own_judge(debate, judge)
        cites = cited_turns(debate, speeches)
        return SubmitBallot(Ballot(judging, 0, winner_named, {}, reason, cites=cites, ranking=ranked))

    return run_command(server, id, filled_in, "Your ballot is cast.")


def rejudge(
    id: Id = "last",
    /,
    *,
    judge: Annotated[
        list[str] | None,
        Parameter(
            metavar="MODEL",
            help="Who judges now, a model or human; several times for a panel. [default: as before]",
            negative="",
        ),
    ] = None,
    criterion: Annotated[
        list[str] | None,
        Parameter(metavar="TEXT", help="What to judge by; several times for several.", negative=""),
    ] = None,
    reason: Reason = "",
    cost_limit: Annotated[
        str | None, Parameter(metavar="USD", help="What it may cost beyond the debate's own limit.")
    ] = None,
    server: Server = None,
) -> int:
    """Judge a finished debate again. The first verdict stays."""

    async def carry_out(source: DebateSource, debate_id: str) -> int:
        from moot.cli.debate_source import server_option
        from moot.cli.follow import show_and_run
        from moot.cli.render.screens import open_screen

        before = await source.state(debate_id)
        await source.rejudge(
            debate_id, judge or (), criteria=criterion or (), reason=reason, allowance=cost_limit
        )
        with open_screen(ending=server_option(server)) as view:
            return await show_and_run(source, debate_id, view, begun=before, server=server)

    return run_on_debate(server, id, carry_out)


def verdicts(id: Id = "last", /, *, server: Server = None) -> int:
    """Show every verdict with its ballots and reasons; the first one is the result of the debate."""

    async def look(source: DebateSource, debate_id: str) -> int:
        from moot.cli.render.verdict import print_verdicts

        print_verdicts(await source.state(debate_id), Terminal.out())
        return 0

    return run_on_debate(server, id, look)
