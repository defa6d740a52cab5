"""`moot import sessions` and `moot export sessions`: the table that an older server kept of its sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from moot.compat.row_writers import Given
    from moot.compat.session_tables import Brought
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
    from moot.cli.commands.legacy import complain
    from moot.cli.follow import run
    from moot.cli.render.output import Page

    async def work() -> Brought:
        from moot.compat import session_tables
        from moot.compat.model_names import called, resolve
        from moot.compat.row_locations import place_of
        from moot.core.terms import Model
        from moot.engine.arena import Arena

        async with Arena.open() as arena:

            def model(name: str) -> Model:
                return called(resolve(arena, name, effort="high") or Model("unknown", name), name)

            return await session_tables.bring(arena, place_of(source, table), model, owner=owner, dry=dry_run)

    done, page = run(work()), Page.out()
    page.line(f"{done.new:,} sessions {'can be' if dry_run else 'were'} brought.")
    if done.there:
        page.line(f"{done.there:,} were here already, and were left as they are.")
    complain(page, done.problems, len(done.problems), "could not be brought")
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
    from moot.cli.commands.legacy import opened_store, written
    from moot.cli.follow import run
    from moot.cli.render.output import Page
    from moot.compat.row_locations import place_of

    place = place_of(destination, table)

    async def work() -> Given:
        from moot.compat import session_tables

        async with opened_store() as store:
            return await session_tables.give(store, place)

    return written(Page.out(), place, run(work()))
