"""A person and a seat: `moot take`, `leave`, `say`, `draft`, `point`. Each does one thing, from any terminal.

To sit through a debate and be asked when it is your turn: `moot watch ID --as SEAT`.
"""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter

from moot.cli.ask import run_command
from moot.cli.options import Id, Seat, Server

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
    name: Annotated[str, Parameter(help="What to call you.")] = "",
    server: Server = None,
) -> int:
    """Sit down in a seat; the model that sat there stands in when you leave."""
    import shlex

    from moot.cli.debate_source import server_option
    from moot.cli.find_seat import seat_id
    from moot.rules.participation import TakeSeat

    hint = (
        f"To be asked when it is your turn: moot watch {id} --as {shlex.quote(seat)}{server_option(server)}"
    )
    return run_command(
        server, id, lambda debate: TakeSeat(seat_id(debate, seat), name), f"You sit down as {seat}.", hint
    )


def leave(id: Id = "last", /, *, seat: Seat = None, server: Server = None) -> int:
    """Leave your seat to the model that stands in for it."""
    from moot.cli.find_seat import own_seat
    from moot.rules.participation import LeaveSeat

    return run_command(
        server, id, lambda debate: LeaveSeat(own_seat(debate, seat)), "You have left your seat."
    )


def say(id: Id, text: SpeechArgument = None, /, *, seat: Seat = None, server: Server = None) -> int:
    """Give the speech that the debate waits for; without words, your draft."""
    from moot.cli.find_seat import own_seat
    from moot.rules.participation import Say

    words = _words(text)
    return run_command(server, id, lambda debate: Say(own_seat(debate, seat), words), "You have spoken.")


def draft(
    id: Id,
    text: SpeechArgument,
    /,
    *,
    live: Annotated[
        bool, Parameter(negative="", help="Show it to everybody as it grows; it can then only be added to.")
    ] = False,
    seat: Seat = None,
    server: Server = None,
) -> int:
    """Keep what you have written so far: it is said when your time is up, or by `moot say ID`."""
    from moot.cli.find_seat import own_seat
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
    from moot.cli.find_seat import own_seat
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
