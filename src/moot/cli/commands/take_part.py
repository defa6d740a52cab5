"""People in a debate: at a seat (`moot take`, `leave`, `say`, `draft`, `point`), or voting (`vote`, `polls`).

Each command does one thing, from any terminal. To be asked when it is your turn: `moot watch ID --as SEAT`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from moot.cli.options import Id, Seat, Server, command_group
from moot.cli.render.output import Terminal
from moot.cli.run_command import run_command, run_on_debate

if TYPE_CHECKING:
    from moot.cli.debate_source import DebateSource
    from moot.core.state import Debate

app = command_group(
    "polls",
    "Show the results of the audience's votes, which are hidden until voting ends.",
)
ANSWERS = {"yes": True, "no": False}
SpeechArgument = Annotated[
    str | None,
    Parameter(
        help="The words, in quotation marks, or - to read them from standard input.",
        allow_leading_hyphen=True,
    ),
]


def take(
    id: Id,
    seat: Annotated[str, Parameter(help="The seat: its name, side or id.")],
    /,
    *,
    name: Annotated[str, Parameter(help="Your name.")] = "",
    server: Server = None,
) -> int:
    """Take a seat yourself; its model becomes your stand-in."""
    import shlex

    from moot.cli.debate_source import server_option
    from moot.cli.lookup import seat_id
    from moot.rules.participation import TakeSeat

    hint = (
        f"To be asked when it is your turn: moot watch {id} --as {shlex.quote(seat)}{server_option(server)}"
    )
    return run_command(
        server, id, lambda debate: TakeSeat(seat_id(debate, seat), name), f"You sit down as {seat}.", hint
    )


def leave(id: Id = "last", /, *, seat: Seat = None, server: Server = None) -> int:
    """Leave your seat to its stand-in model."""
    from moot.cli.lookup import own_seat
    from moot.rules.participation import LeaveSeat

    return run_command(
        server, id, lambda debate: LeaveSeat(own_seat(debate, seat)), "You have left your seat."
    )


def say(id: Id, text: SpeechArgument = None, /, *, seat: Seat = None, server: Server = None) -> int:
    """Give the speech that the debate waits for; without words, your draft."""
    from moot.cli.lookup import own_seat
    from moot.rules.participation import GiveSpeech

    words = _words(text)
    return run_command(
        server, id, lambda debate: GiveSpeech(own_seat(debate, seat), words), "You have spoken."
    )


def draft(
    id: Id,
    text: SpeechArgument,
    /,
    *,
    live: Annotated[
        bool, Parameter(negative="", help="Show it to everyone while you write; text can then only be added.")
    ] = False,
    seat: Seat = None,
    server: Server = None,
) -> int:
    """Keep what you have written so far: it is said when your time is up, or by `moot say ID`."""
    from moot.cli.lookup import own_seat
    from moot.rules.participation import KeepDraft

    words = _words(text) or ""
    return run_command(server, id, lambda debate: KeepDraft(own_seat(debate, seat), words, live), "Kept.")


def point(
    id: Id,
    text: Annotated[
        str, Parameter(help="The point in one sentence; or yes or no to one that is offered to you.")
    ],
    /,
    *,
    seat: Seat = None,
    server: Server = None,
) -> int:
    """Rise on a point of information while the other side speaks, or take or decline one."""
    from moot.cli.lookup import own_seat
    from moot.rules.participation import AnswerPoint, OfferPoint

    answer = ANSWERS.get(text.strip().casefold())
    if answer is not None:
        done = "Taken." if answer else "Declined."
        return run_command(server, id, lambda debate: AnswerPoint(own_seat(debate, seat), answer), done)
    return run_command(
        server, id, lambda debate: OfferPoint(own_seat(debate, seat), text), "Your point is offered."
    )


def _words(text: str | None) -> str | None:
    return sys.stdin.read() if text == "-" else text


# --- the audience -----------------------------------------------------------------------------------------


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
        Parameter(
            help="The voter's name on this machine; on a server it is the token's. [default: your login]"
        ),
    ] = "",
    server: Server = None,
) -> int:
    """Cast your vote in the poll that is open. One vote for each voter in each poll; it stays secret."""
    import getpass

    from moot.rules.participation import CastVote

    who = voter or getpass.getuser()
    return run_command(
        server, id, lambda debate: CastVote(who, _choice(debate, choice), poll), "Your vote is cast."
    )


@app.default
def polls(id: Id = "last", /, *, server: Server = None) -> int:
    """Show the results of the votes."""

    async def look(source: DebateSource, debate_id: str) -> int:
        from moot.cli.render.verdict import poll_lines

        terminal = Terminal.out()
        results = await source.poll_results(debate_id)
        if results is None:
            terminal.line("The audience is not asked in this debate.")
        else:
            terminal.print_lines(poll_lines(results, terminal.width))
        return 0

    return run_on_debate(server, id, look)


@app.command
def close(id: Id = "last", /, *, server: Server = None) -> int:
    """Close the open vote; the debate continues."""
    from moot.rules.participation import ClosePoll

    return run_command(server, id, ClosePoll(), "The vote is closed.")


def _choice(debate: Debate, name: str) -> str:
    from moot.cli.lookup import party_id
    from moot.judging.parties import vote_choices

    choice = name.strip().casefold()
    return choice if choice in vote_choices(debate) else party_id(debate, name)
