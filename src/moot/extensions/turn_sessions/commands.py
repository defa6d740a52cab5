"""`moot import sessions` and `moot export sessions`: sessions of an older server, to continue or return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.render.output import Terminal
from moot.cli.row_files import DestinationRows, DryRun, Owner, SourceRows, print_problems, print_written
from moot.cli.run_command import open_local_store, run

if TYPE_CHECKING:
    from moot.core.terms import Model
    from moot.extensions.turn_sessions.tables import SessionImport
    from moot.row_io.writers import WriteReport

SessionTable = Annotated[
    str, Parameter(help="The table, perhaps with its schema. [default: debate_sessions]")
]


def import_sessions(
    source: SourceRows,
    /,
    *,
    table: SessionTable = "debate_sessions",
    dry_run: DryRun = False,
    owner: Owner = "",
) -> int:
    """Sessions of an older server, as debates that can be looked at and continued. Those that are here
    already are left as they are."""

    async def work() -> SessionImport:
        from moot.core.terms import Model
        from moot.engine.arena import Arena
        from moot.extensions.turn_sessions import tables
        from moot.row_io.readers import parse_location
        from moot.web.model_names import resolve_model, with_alias

        async with Arena.open() as arena:

            def model(name: str) -> Model:
                return with_alias(resolve_model(arena, name, effort="high") or Model("unknown", name), name)

            return await tables.import_sessions(
                arena, parse_location(source, table), model, owner=owner, dry=dry_run
            )

    done, terminal = run(work()), Terminal.out()
    terminal.line(f"{done.new:,} sessions {'can be' if dry_run else 'were'} brought.")
    if done.existing:
        terminal.line(f"{done.existing:,} were here already, and were left as they are.")
    print_problems(terminal, done.problems, len(done.problems), "could not be brought")
    return 1 if done.problems else 0


def export_sessions(
    destination: DestinationRows,
    /,
    *,
    table: SessionTable = "debate_sessions",
) -> int:
    """All sessions, in the table of an older server. What a table has already is left as it is."""
    from moot.row_io.readers import parse_location

    location = parse_location(destination, table)

    async def work() -> WriteReport:
        from moot.extensions.turn_sessions import tables

        async with open_local_store() as store:
            return await tables.export_sessions(store, location)

    return print_written(Terminal.out(), location, run(work()))
