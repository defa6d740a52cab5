"""`moot invite`: tokens for one debate each, in one role, made, listed and withdrawn.

Those who came by a link for many get their own by `moot join`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from moot.cli.options import Id, Server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from moot.client import Invitation
    from moot.core.state import Debate

Role = Literal["observer", "moderator", "participant", "judge", "audience"]


def invite(
    id: Id,
    role: Annotated[
        Role | None,
        Parameter(
            help="observer, moderator, participant (of a --seat), judge or audience. Without it, those there"
            " are.",
            show_choices=False,
        ),
    ] = None,
    /,
    *,
    seat: Annotated[
        str | None, Parameter(help="Whose seat a participant takes: by name, side or id.")
    ] = None,
    judge: Annotated[str | None, Parameter(help="Which judge they are, by name or id.")] = None,
    name: Annotated[str, Parameter(help="What you call them.")] = "",
    days: Annotated[
        float | None, Parameter(help="How long it counts. [default: as long as the debate]")
    ] = None,
    many: Annotated[
        bool, Parameter(negative="", help="For a whole audience: each of them joins by the same link.")
    ] = False,
    withdraw: Annotated[str, Parameter(metavar="NAME", help="Make an invitation count no longer.")] = "",
    server: Server = None,
) -> int:
    """Invite somebody to one debate of a server, in one role, by a token or a link."""
    from moot.cli.follow import run

    async def asked() -> int:
        from moot.cli import invitation_source
        from moot.cli.debate_source import open_source
        from moot.cli.find_debate import find_debate
        from moot.cli.find_seat import own_judge, seat_id
        from moot.cli.render.output import Terminal

        async with open_source(server) as source:
            debate_id = await find_debate(source, id)
            if withdraw:
                await invitation_source.withdraw(source, debate_id, withdraw)
                Terminal.out().line(f"Withdrawn: {withdraw}.")
                return 0
            debate = await source.state(debate_id)
            if role is None:
                _list(debate, await invitation_source.list_invitations(source, debate_id))
                return 0
            guest = invitation_source.InvitationRequest(
                role,
                seat=seat_id(debate, seat) if seat else None,
                judge=own_judge(debate, judge) if role == "judge" else None,
                name=name,
                days=days,
                many=many,
            )
            made = await invitation_source.invite(source, debate_id, guest)
        where = "" if server else " Put the server's address before it:"
        Terminal.err().line(f"This is shown once; only its digest is kept.{where}")
        Terminal.out().raw(f"{(server or '').rstrip('/')}{made.link}\n")
        return 0

    return run(asked())


def join(
    id: Id,
    /,
    *,
    name: Annotated[str, Parameter(help="What to call you.")] = "",
    server: Server = None,
) -> int:
    """A token of your own, where you came by a link that is for many: with it you vote and ask."""
    from moot.cli.follow import run

    async def joined() -> int:
        from moot.cli.find_debate import find_debate
        from moot.cli.remote import RemoteSource
        from moot.cli.remote_shapes import translate_api_errors
        from moot.cli.render.output import Terminal
        from moot.core.errors import Invalid

        if not server:
            raise Invalid(
                "Who joins comes to a server: --server URL, and the token of the link in MOOT_TOKEN."
            )
        async with RemoteSource.open(server) as remote:
            debate_id = await find_debate(remote, id)
            with translate_api_errors():
                made = await remote.client.join(debate_id, name)
        Terminal.err().line("This is shown once. Put it into MOOT_TOKEN instead of the one you came with:")
        Terminal.out().raw(f"{made.token}\n")
        return 0

    return run(joined())


def _list(debate: Debate, guests: Sequence[Invitation]) -> None:
    from moot.cli.render.output import Terminal, add_row, make_table

    terminal = Terminal.out()
    if not guests:
        terminal.line("Nobody is invited yet. Invite somebody with: moot invite ID ROLE")
        return
    names = {place.id: place.name for place in (*debate.seats, *debate.judges)}
    made = make_table("name", "role", "place", "until")
    for guest in guests:
        where = "many, by one link" if guest.many else names.get(guest.seat or guest.judge or "", "")
        until = f"{guest.expires_at:%Y-%m-%d %H:%M} UTC" if guest.expires_at else "the debate is gone"
        add_row(made, (guest.name, "bold"), guest.role, where, until)
    terminal.table(made)
