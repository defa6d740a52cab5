"""`moot token`: who may use a server, by tokens of which only a digest is kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from moot.cli.options import command_group
from moot.cli.render.output import Terminal, add_row, make_table
from moot.cli.run_command import open_local_store, run
from moot.core.errors import Invalid

if TYPE_CHECKING:
    from moot.store.contract import AccessToken

app = command_group("token", "Access tokens of a server: once there is one, every request needs one.")
MAX_NAME = 64
MAX_DAYS = 36_500


@app.command
def new(
    name: Annotated[str, Parameter(help="The name of the token, such as that of its owner.")],
    /,
    *,
    role: Annotated[
        Literal["owner", "moderator", "viewer", "monitor"],
        Parameter(
            help="owner or moderator (both steer and see secrets; only owners delete), viewer (watches), or "
            "monitor (reads /metrics and nothing else)."
        ),
    ] = "owner",
    owner: Annotated[
        str | None,
        Parameter(help="The owner of the debates that it is for. [default: NAME]", show_default=False),
    ] = None,
    days: Annotated[
        float | None,
        Parameter(help="Expires after so many days. [default: never]", show_default=False),
    ] = None,
) -> int:
    """Create a token and show it once; only its digest is stored."""
    from moot.store.contract import AccessToken, digest, new_secret

    tenant = name if owner is None else owner
    _check(name, tenant, days)
    secret = new_secret()
    now = datetime.now(UTC)
    expires = now + timedelta(days=days) if days is not None else None
    run(_keep(AccessToken(name, digest(secret), role, tenant, now, expires)))
    Terminal.err().line("Copy it now; it cannot be shown again. Send it as `Authorization: Bearer …`.")
    Terminal.out().raw(f"{secret}\n")
    return 0


@app.command(name="list")
def every() -> int:
    """List the tokens, without their secrets."""

    terminal, now = Terminal.out(), datetime.now(UTC)
    tokens = run(_all())
    if not tokens:
        terminal.line("No tokens yet. Make one with: moot token new NAME")
        return 0
    table = make_table("name", "role", "debates of", "made", "until")
    for token in tokens:
        add_row(
            table,
            (token.name, "bold"),
            token.role,
            token.owner,
            f"{token.created_at:%Y-%m-%d}",
            _until(token, now),
        )
    terminal.table(table)
    return 0


@app.command
def revoke(name: Annotated[str, Parameter(help="Its name, as `moot token list` shows it.")], /) -> int:
    """Revoke a token. A running server refuses it within a second."""

    if not run(_drop(name)):
        Terminal.err().line(f"There is no token called {name!r}. `moot token list` shows those there are.")
        return 2
    Terminal.out().line(f"Revoked {name}.")
    return 0


def _check(name: str, owner: str, days: float | None) -> None:
    for what, value in (("A name", name), ("An owner", owner)):
        if len(value) > MAX_NAME or not value.isprintable() or value != value.strip():
            raise Invalid(f"{what} has at most {MAX_NAME} printable characters, and no space around them.")
    if not name:
        raise Invalid("A token needs a name.")
    if days is not None and not 0 < days <= MAX_DAYS:
        raise Invalid(f"--days must be above 0 and at most {MAX_DAYS:,}.")


def _until(token: AccessToken, now: datetime) -> tuple[str, str]:
    if token.expires_at is None:
        return "it is revoked", ""
    when = f"{token.expires_at:%Y-%m-%d %H:%M} UTC"
    return (f"{when}, over", "red") if token.expired(now) else (when, "")


async def _keep(token: AccessToken) -> None:
    async with open_local_store() as store:
        if any(stored.name == token.name for stored in await store.tokens()):
            raise Invalid(f"There is a token called {token.name!r}; revoke it first, or take another name.")
        await store.save_token(token)


async def _all() -> tuple[AccessToken, ...]:
    async with open_local_store() as store:
        return await store.tokens()


async def _drop(name: str) -> bool:
    async with open_local_store() as store:
        return await store.delete_token(name)
