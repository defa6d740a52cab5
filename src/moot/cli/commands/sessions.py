"""`moot import sessions` and `moot export sessions`: the table that an older server kept of its sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from moot.compat.row_writers import WriteReport
    from moot.compat.session_tables import SessionImport
    from moot.core.terms import Model

Table = Annotated[str, Parameter(help="The table, perhaps with its schema. [default: debate_sessions]")]


def bring(
    source: Annotated[
        str,
        Parameter(help="postgresql://user@host/database, a SQLite file, or a file of JSON lines (.jsonl)."),
    ],
    /,
    *,
    table: Table = "debate_sessions",
    dry_run: Annotated[bool, Parameter(negative="", help="Read it all, report, and write nothing.")] = False,
    owner: Annotated[str, Parameter(help="Whose they are, on a server with tokens.")] = "",
) -> int:
    """Sessions of an older server, as debates that can be looked at and continued. Those that are here
    already are left as they are."""
    from moot.cli.commands.legacy import print_problems
    from moot.cli.follow import run
    from moot.cli.render.output import Terminal

    async def work() -> SessionImport:
        from moot.compat import session_tables
        from moot.compat.model_names import resolve_model, with_alias
        from moot.compat.row_readers import parse_location
        from moot.core.terms import Model
        from moot.engine.arena import Arena

        async with Arena.open() as arena:

            def model(name: str) -> Model:
                return with_alias(resolve_model(arena, name, effort="high") or Model("unknown", name), name)

            return await session_tables.import_sessions(
                arena, parse_location(source, table), model, owner=owner, dry=dry_run
            )

    done, terminal = run(work()), Terminal.out()
    terminal.line(f"{done.new:,} sessions {'can be' if dry_run else 'were'} brought.")
    if done.existing:
        terminal.line(f"{done.existing:,} were here already, and were left as they are.")
    print_problems(terminal, done.problems, len(done.problems), "could not be brought")
    return 1 if done.problems else 0


def give(
    destination: Annotated[
        str,
        Parameter(
            help="postgresql://user@host/database, a SQLite file, or a new file of JSON lines (.jsonl)."
        ),
    ],
    /,
    *,
    table: Table = "debate_sessions",
) -> int:
    """All sessions, in the table of an older server. What a table has already is left as it is."""
    from moot.cli.commands.legacy import open_archive_store, print_written
    from moot.cli.follow import run
    from moot.cli.render.output import Terminal
    from moot.compat.row_readers import parse_location

    place = parse_location(destination, table)

    async def work() -> WriteReport:
        from moot.compat import session_tables

        async with open_archive_store() as store:
            return await session_tables.export_sessions(store, place)

    return print_written(Terminal.out(), place, run(work()))
