"""`moot cluster`: the servers and workers that share a store, and the debates that wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.options import command_group
from moot.cli.render.help import help_of
from moot.cli.render.output import Terminal, add_row, make_table
from moot.cli.run_command import run
from moot.core.errors import Invalid

if TYPE_CHECKING:
    from moot.cluster.nodes import BusStatus, ClusterStatus, Node
    from moot.settings import Settings

app = command_group("cluster", "Servers and workers that share a PostgreSQL.")
EXIT_UNATTENDED = 1


@app.command(help_formatter=help_of("cluster"))
def status(
    *,
    json: Annotated[bool, Parameter(negative="", help="Print everything as JSON.")] = False,
) -> int:
    """Show servers, workers and waiting debates. Exits with 1 if debates wait and no worker runs."""
    from moot import settings as configuration

    settings = configuration.load()
    census = run(_census(settings))
    if json:
        import msgspec

        Terminal.out().raw(msgspec.json.format(msgspec.json.encode(census), indent=2).decode() + "\n")
    else:
        _show(Terminal.out(), census)
    return EXIT_UNATTENDED if census.unattended else 0


async def _census(settings: Settings) -> ClusterStatus:
    if settings.cluster.store is None:
        raise Invalid("Only machines that share a log make a cluster: set MOOT_STORE=postgresql://….")
    from moot.cluster.nodes import read_status

    bus, error = await _bus(settings)
    return await read_status(settings.cluster.store.reveal(), bus, settings.cluster, error)


async def _bus(settings: Settings) -> tuple[BusStatus, str]:
    """Whether Redis can be reached, and if not, why."""
    if settings.cluster.bus is None:
        return "not used", ""
    from moot.processes.backends import make_bus_and_state

    _, ephemeral = make_bus_and_state(settings)
    try:
        # Only a request shows whether it answers.
        await ephemeral.get("health")
        error = ephemeral.connection_error
        return ("not reachable", error) if error else ("reachable", "")
    finally:
        await ephemeral.close()


def _show(terminal: Terminal, census: ClusterStatus) -> None:
    if not census.nodes:
        terminal.line("No server (moot serve) and no worker (moot work) is running.")
    else:
        table = make_table("host", "pid", "role", "version", "up since", "state", "debates", "streams")
        for node in census.nodes:
            add_row(
                table,
                (node.host, "bold"),
                str(node.pid),
                node.role,
                node.version,
                f"{node.started_at:%Y-%m-%d %H:%M} UTC",
                _state(node),
                str(node.debates) if node.working else "",
                str(node.streams) if node.role in ("api", "both") else "",
            )
        terminal.table(table)
    terminal.blank_line()
    terminal.line(_jobs(census))
    terminal.line(census.bus_error or f"Redis: {census.bus}", ".")
    if census.unattended:
        terminal.line(("Debates wait, and no worker is running. Start one: moot work", "red"))


def _state(node: Node) -> tuple[str, str]:
    return (f"dead, seen {_age(node.seen_seconds)} ago", "red") if node.dead else ("alive", "")


def _age(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"


def _jobs(census: ClusterStatus) -> str:
    waiting = census.waiting
    lag = f", the oldest for {waiting.oldest_seconds:,.1f} s" if waiting.jobs else ""
    left = f"; {waiting.stalled} left by a worker that fell silent" if waiting.stalled else ""
    return f"Debates: {waiting.running} running, {waiting.jobs} waiting for a worker{lag}{left}."
