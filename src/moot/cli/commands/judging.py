"""The bench: `moot ballot` is the decision of a person, `rejudge` asks for another, `verdicts` shows all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.ask import run_command
from moot.cli.options import Id, Reason, Server

if TYPE_CHECKING:
    from moot.core.state import Debate
    from moot.rules.participation import CastBallot


def ballot(
    id: Id,
    winner: Annotated[str, Parameter(help="Who won, by name, side or id; or draw.")],
    reason: Annotated[str, Parameter(help="Why, in quotation marks.")],
    /,
    *,
    speeches: Annotated[
        str, Parameter(help='The speeches it rests on, at least one, by number: "1 3".', metavar="NUMBERS")
    ] = "",
    ranking: Annotated[
        str, Parameter(help="All of them, the best first, with commas; where the format ranks them.")
    ] = "",
    judge: Annotated[
        str | None, Parameter(help="Which judge you are, by name or id, where several people judge.")
    ] = None,
    server: Server = None,
) -> int:
    """Cast the ballot of a judge who is a person."""

    def filled_in(debate: Debate) -> CastBallot:
        from moot.cli.find_seat import own_judge, party_id, winner_id
        from moot.cli.prompts.fill_ballot import cited_turns
        from moot.core.terms import Ballot
        from moot.rules.participation import CastBallot

        named = winner_id(debate, winner)
        ranked = tuple(party_id(debate, one) for one in ranking.split(",") if one.strip())
        who = own_judge(debate, judge)
        return CastBallot(
            Ballot(who, 0, named, {}, reason, cites=cited_turns(debate, speeches), ranking=ranked)
        )

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
    """Have a debate that is over judged once more. The first verdict stays what it was."""
    from moot.cli.follow import run

    async def judged() -> int:
        from moot.cli import follow
        from moot.cli.debate_source import open_source, server_option
        from moot.cli.find_debate import find_debate
        from moot.cli.render.screens import open_screen

        async with open_source(server) as source:
            debate_id = await find_debate(source, id)
            before = await source.state(debate_id)
            await source.rejudge(
                debate_id, judge or (), criteria=criterion or (), reason=reason, allowance=cost_limit
            )
            with open_screen(ending=server_option(server)) as view:
                return await follow.show_and_run(source, debate_id, view, begun=before, server=server)

    return run(judged())


def verdicts(id: Id = "last", /, *, server: Server = None) -> int:
    """Every verdict with its ballots and their reasons; the first is what the debate came to."""
    from moot.cli.follow import run

    async def look() -> int:
        from moot.cli.debate_source import open_source
        from moot.cli.find_debate import find_debate
        from moot.cli.render import judges
        from moot.cli.render.output import Terminal

        async with open_source(server) as source:
            debate = await source.state(await find_debate(source, id))
        judges.print_verdicts(debate, Terminal.out())
        return 0

    return run(look())
