"""`moot invite`: tokens for one debate each, in one role; created, listed and revoked.

Visitors who came by a link for many get a token of their own with `moot join`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from moot.cli.options import Id, Server
from moot.cli.render.output import Terminal, add_row, make_table
from moot.cli.run_command import run, run_on_debate
from moot.core.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from moot.cli.debate_source import DebateSource
    from moot.client import Invitation
    from moot.core.state import Debate

Role = Literal["observer", "moderator", "participant", "judge", "audience"]
MAX_NAME_CHARS = 60
MAX_DAYS = 365


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
    judge: Annotated[str | None, Parameter(help="The judge, by name or id.")] = None,
    name: Annotated[str, Parameter(help="The invited person's name.")] = "",
    days: Annotated[
        float | None, Parameter(help="Expires after so many days. [default: with the debate]")
    ] = None,
    many: Annotated[
        bool, Parameter(negative="", help="For a whole audience: each of them joins by the same link.")
    ] = False,
    withdraw: Annotated[str, Parameter(metavar="NAME", help="Revoke an invitation.")] = "",
    server: Server = None,
) -> int:
    """Invite a person to one debate on a server, in one role, by a token or a link."""

    async def carry_out(source: DebateSource, debate_id: str) -> int:
        from moot.cli.lookup import own_judge, seat_id

        if withdraw:
            return await _withdraw(source, debate_id, withdraw)
        debate = await source.state(debate_id)
        if role is None:
            return _print_invitations(debate, await source.invitations(debate_id))
        seat_invited = seat_id(debate, seat) if seat else None
        judge_invited = own_judge(debate, judge) if role == "judge" else None
        _check(role, seat_invited, judge_invited, name, days, many)
        created = await source.invite(
            debate_id, role, seat=seat_invited, judge=judge_invited, name=name, days=days, many=many
        )
        where = "" if server else " Put the server's address before it:"
        Terminal.err().line(f"Copy it now; it cannot be shown again.{where}")
        Terminal.out().raw(f"{(server or '').rstrip('/')}{created.link}\n")
        return 0

    return run_on_debate(server, id, carry_out)


def join(
    id: Id,
    /,
    *,
    name: Annotated[str, Parameter(help="Your name.")] = "",
    server: Server = None,
) -> int:
    """Get your own token from a shared audience link, to vote and to ask questions."""
    if not server:
        raise Invalid("Who joins comes to a server: --server URL, and the token of the link in MOOT_TOKEN.")

    async def carry_out(server: str) -> str:
        from moot.cli.lookup import find_debate
        from moot.cli.remote import RemoteSource

        async with RemoteSource.open(server) as remote:
            return await remote.join(await find_debate(remote, id), name)

    token = run(carry_out(server))
    Terminal.err().line(
        "Copy it now; it cannot be shown again. Put it into MOOT_TOKEN instead of the one you came with:"
    )
    Terminal.out().raw(f"{token}\n")
    return 0


def _check(
    role: Role, seat: str | None, judge: str | None, name: str, days: float | None, many: bool
) -> None:
    if role == "participant" and seat is None:
        raise Invalid("A participant needs a seat: --seat NAME.")
    if role == "judge" and judge is None:
        raise Invalid("A judge needs a place: --judge NAME.")
    if many and role != "audience":
        raise Invalid("Only an audience comes by one link: --many goes with audience.")
    if days is not None and not 0 < days <= MAX_DAYS:
        raise Invalid(f"--days must be above 0 and at most {MAX_DAYS}.")
    if len(name) > MAX_NAME_CHARS or not name.isprintable() or name != name.strip():
        raise Invalid(f"A name has at most {MAX_NAME_CHARS} printable characters, and no space around them.")


async def _withdraw(source: DebateSource, debate_id: str, name: str) -> int:
    if name not in [invitation.name for invitation in await source.invitations(debate_id)]:
        raise Invalid(f"There is no invitation {name!r}. `moot invite ID` lists them.")
    await source.uninvite(debate_id, name)
    Terminal.out().line(f"Withdrawn: {name}.")
    return 0


def _print_invitations(debate: Debate, invitations: Sequence[Invitation]) -> int:
    terminal = Terminal.out()
    if not invitations:
        terminal.line("No invitations yet. Make one with: moot invite ID ROLE")
        return 0
    names = {member.id: member.name for member in (*debate.seats, *debate.judges)}
    table = make_table("name", "role", "place", "until")
    for one in invitations:
        where = "many, by one link" if one.many else names.get(one.seat or one.judge or "", "")
        until = f"{one.expires_at:%Y-%m-%d %H:%M} UTC" if one.expires_at else "the debate is gone"
        add_row(table, (one.name, "bold"), one.role, where, until)
    terminal.table(table)
    return 0
