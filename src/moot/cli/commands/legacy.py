"""`moot import legacy`, `list` and `undo`, and `moot export legacy`: conversations in their old shape."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.options import Server

if TYPE_CHECKING:
    from moot.cli.render.output import Page
    from moot.compat.import_report import Listing, Problem
    from moot.compat.legacy_import import Outcome, Progress
    from moot.compat.row_locations import Place
    from moot.compat.row_writers import Given
    from moot.store.contract import Store

Table = Annotated[str, Parameter(help="The table, perhaps with its schema. [default: events]")]
MOST_SHOWN = 20
"""Of rows with which something is wrong."""


def bring(
    source: Annotated[
        str,
        Parameter(help="postgresql://user@host/database, a SQLite file, or a file of JSON lines (.jsonl)."),
    ],
    /,
    *,
    table: Table = "events",
    dry_run: Annotated[bool, Parameter(negative="", help="Read it all, report, and write nothing.")] = False,
    batch: Annotated[int, Parameter(help="Rows read and written at a time. [default: 1000]")] = 1000,
    owner: Annotated[str, Parameter(help="Whose they are, on a server with tokens.")] = "",
    report: Annotated[
        Path | None, Parameter(help="A file for all rows that could not be brought, one JSON object a line.")
    ] = None,
) -> int:
    """Conversations of an older system, brought here to read. Ask again for what has come since; an import
    that was stopped goes on where it was."""
    from moot.cli.follow import run
    from moot.cli.render.output import Page

    async def work() -> Outcome:
        from moot.compat import legacy_import
        from moot.compat.row_locations import place_of

        place = place_of(source, table)
        async with opened_store() as store:
            with _listing(report) as listing, bar("reading") as shown:
                return await legacy_import.bring(
                    store.archive,
                    place,
                    owner=owner,
                    batch=batch,
                    dry=dry_run,
                    told=_teller(shown),
                    listing=listing,
                )

    outcome = run(work())
    _tell(Page.out(), outcome, f"All of them are in {report}." if report else "--report FILE lists all.")
    return 0 if outcome.report.whole and outcome.caught_up else 1


@contextmanager
def _listing(path: Path | None) -> Generator[Listing | None]:
    from moot.compat.import_report import ListedInFile
    from moot.core.errors import Unavailable

    if path is None:
        yield None
        return
    try:
        with path.open("wb") as file:
            yield ListedInFile(file)
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}.") from error


def listed() -> int:
    """The imports there are, and how much each has brought."""
    from moot.cli.follow import run
    from moot.cli.render.output import Page, row, table

    async def look() -> int:
        page = Page.out()
        async with opened_store() as store:
            imports = await store.archive.imports()
            if not imports:
                page.line("Nothing was imported yet. Begin with: moot import legacy SOURCE --dry-run")
                return 0
            made = table("id", "state", "last", "owner", "rows", "from")
            for one in imports:
                found = _report(one.report)
                when = f"{one.updated_at:%Y-%m-%d %H:%M}"
                row(made, (one.id, "bold"), one.state, (when, "dim"), one.owner, f"{found:,}", one.source)
        page.table(made)
        return 0

    return run(look())


def undo(id: Annotated[str, Parameter(help="The import, as `moot import list` shows it.")], /) -> int:
    """Remove exactly what an import has brought."""
    from moot.cli.follow import run
    from moot.cli.render.output import Page

    async def work() -> int:
        from moot.compat.legacy_import import take_back

        async with opened_store() as store:
            with bar("removing") as shown:
                return await take_back(store.archive, id, lambda gone: shown(gone, None, "removing"))

    Page.out().line(f"Took {id} back: {run(work()):,} events are gone.")
    return 0


def give(
    destination: Annotated[
        str,
        Parameter(
            help="postgresql://user@host/database, a SQLite file, or a new file of JSON lines (.jsonl)."
        ),
    ],
    /,
    *,
    table: Table = "events",
    conversation: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="Only this one, imported or a debate; may be given several times."),
    ] = (),
    debates: Annotated[bool, Parameter(negative="", help="All debates too.")] = False,
    server: Server = None,
) -> int:
    """Conversations in their old shape: those that were imported, as they were. What a table has already is
    left as it is."""
    from moot.cli.follow import run
    from moot.cli.render.output import Page

    async def work() -> int:
        from moot.cli.conversation_source import library
        from moot.compat import legacy_export
        from moot.compat.row_locations import place_of

        place, page = place_of(destination, table), Page.out()
        async with library(server) as books:
            kinds = {name: await books.imported(name) for name in conversation}
            theirs = [name for name, imported in kinds.items() if imported]
            ours = [name for name in kinds if name not in theirs]
            given = [books.rows(theirs)] if theirs or not conversation else []
            given += [books.debates(ours)] if ours else []
            given += [books.debates()] if debates else []
            with bar("writing") as shown:
                done = await legacy_export.give(place, *given, told=lambda rows: shown(rows, None, "writing"))
        return written(page, place, done)

    return run(work())


@asynccontextmanager
async def opened_store() -> AsyncGenerator[Store]:
    from moot import settings
    from moot.processes.backends import open_store

    store = await open_store(settings.load())
    try:
        yield store
    finally:
        await store.close()


# --- what is told -----------------------------------------------------------------------------------------

Shown = Callable[[int, int | None, str], None]


@contextmanager
def bar(words: str) -> Generator[Shown]:
    """On standard error, where someone watches."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from moot.cli.render.output import Page

    page = Page.err()
    columns = (TextColumn("  {task.description}"), BarColumn(bar_width=28), TaskProgressColumn())
    shown = Progress(
        *columns,
        TimeRemainingColumn(compact=True),
        console=page.console,
        transient=True,
        disable=not page.rich,
    )
    with shown:
        task = shown.add_task(words, total=None)
        yield lambda done, total, text: shown.update(task, completed=done, total=total, description=text)


def _teller(shown: Shown) -> Callable[[Progress], None]:
    def tell(progress: Progress) -> None:
        words = "reading" if not progress.passed else f"pass {progress.passed + 1}"
        shown(progress.done, progress.total, f"{words}, {progress.written:,} written")

    return tell


def _tell(page: Page, outcome: Outcome, all_of_them: str) -> None:
    from moot.cli.render.output import row, table

    report, import_ = outcome.report, outcome.import_
    if report.dry:
        page.line("A dry run: nothing was written. From ", (import_.source, "bold"), ":")
    else:
        page.line((import_.id, "bold"), " from ", (import_.source, "bold"), ":")
        page.line(f"{outcome.new:,} new, {outcome.changed:,} changed, {report.conversations:,} conversations")
    made = table("", "found", "kept")
    names = {"reasoning": "thoughts", "tool_call": "tool calls", "tool_result": "results"}
    accounts = report.accounts()
    others = sorted(report.seen.segments.keys() - names.keys())
    counted = [(name, report.seen.segments[name], report.kept.segments.get(name, 0)) for name in others]
    for name, seen, kept in (*accounts, *counted):
        row(made, names.get(name, name), f"{seen:,}", (f"{kept:,}", "" if seen == kept else "red"))
    page.table(made)
    page.line("100 % of what was found is kept." if report.whole else "Not all of it is kept.")
    for name in report.lost:
        page.line((f"Of {name}, fewer are in the store than were written. Please report this.", "red"))
    complain(page, report.problems, report.bad, "could not be brought", all_of_them)
    if not outcome.caught_up:
        page.line("It is still being written faster than it is read: ask again for what has come since.")


def written(page: Page, place: Place, done: Given) -> int:
    page.line(f"{done.rows:,} rows written to ", (place.label, "bold"), ".")
    if done.there:
        page.line(f"{done.there:,} were there already, and were left as they are.")
    complain(page, done.problems, len(done.problems), "could not be written")
    return 1 if done.problems else 0


def complain(page: Page, problems: list[Problem], count: int, what: str, all_of_them: str = "") -> None:
    from moot.cli.render.output import row, table

    if not count:
        return
    page.line(f"{count:,} {'row' if count == 1 else 'rows'} {what}:")
    made = table("row", "why")
    for problem in problems[:MOST_SHOWN]:
        row(made, problem.row, problem.reason)
    page.table(made)
    if count > MOST_SHOWN:
        page.line((f"and {count - MOST_SHOWN:,} more. {all_of_them}".strip(), "dim"))


def _report(raw: bytes) -> int:
    """How many rows it has kept."""
    import msgspec

    from moot.compat.import_report import Report

    return msgspec.json.decode(raw, type=Report).kept.rows
