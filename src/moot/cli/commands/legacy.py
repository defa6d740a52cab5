"""`moot import legacy`, `list` and `undo`, and `moot export legacy`: conversations in their old shape."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.options import Server

if TYPE_CHECKING:
    from moot.cli.render.output import Terminal
    from moot.compat.legacy_import import ImportOutcome, ImportProgress, Listing
    from moot.compat.row_readers import RowLocation, RowProblem
    from moot.compat.row_writers import WriteReport
    from moot.store.contract import Store

Table = Annotated[str, Parameter(help="The table, perhaps with its schema. [default: events]")]
MAX_SHOWN = 20
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
    from moot.cli.render.output import Terminal

    async def work() -> ImportOutcome:
        from moot.compat import legacy_import
        from moot.compat.row_readers import parse_location

        place = parse_location(source, table)
        async with open_archive_store() as store:
            with _listing(report) as listing, progress_bar("reading") as shown:
                return await legacy_import.import_rows(
                    store.archive,
                    place,
                    owner=owner,
                    batch=batch,
                    dry=dry_run,
                    on_progress=_teller(shown),
                    listing=listing,
                )

    outcome = run(work())
    _print_report(
        Terminal.out(), outcome, f"All of them are in {report}." if report else "--report FILE lists all."
    )
    return 0 if outcome.report.is_complete and outcome.caught_up else 1


@contextmanager
def _listing(path: Path | None) -> Generator[Listing | None]:
    from moot.compat.legacy_import import ListedInFile
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
    from moot.cli.render.output import Terminal, add_row, make_table

    async def look() -> int:
        terminal = Terminal.out()
        async with open_archive_store() as store:
            imports = await store.archive.imports()
            if not imports:
                terminal.line("Nothing was imported yet. Begin with: moot import legacy SOURCE --dry-run")
                return 0
            made = make_table("id", "state", "last", "owner", "rows", "from")
            for one in imports:
                rows = _report(one.report)
                when = f"{one.updated_at:%Y-%m-%d %H:%M}"
                add_row(made, (one.id, "bold"), one.state, (when, "dim"), one.owner, f"{rows:,}", one.source)
        terminal.table(made)
        return 0

    return run(look())


def undo(id: Annotated[str, Parameter(help="The import, as `moot import list` shows it.")], /) -> int:
    """Remove exactly what an import has brought."""
    from moot.cli.follow import run
    from moot.cli.render.output import Terminal

    async def work() -> int:
        from moot.compat.legacy_import import undo_import

        async with open_archive_store() as store:
            with progress_bar("removing") as shown:
                return await undo_import(store.archive, id, lambda gone: shown(gone, None, "removing"))

    Terminal.out().line(f"Took {id} back: {run(work()):,} events are gone.")
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
    from moot.cli.render.output import Terminal

    async def work() -> int:
        from moot.cli.conversation_source import open_conversations
        from moot.compat import legacy_export
        from moot.compat.row_readers import parse_location

        place, terminal = parse_location(destination, table), Terminal.out()
        async with open_conversations(server) as conversations:
            kinds = {name: await conversations.is_imported(name) for name in conversation}
            theirs = [name for name, imported in kinds.items() if imported]
            ours = [name for name in kinds if name not in theirs]
            given = [conversations.rows(theirs)] if theirs or not conversation else []
            given += [conversations.debates(ours)] if ours else []
            given += [conversations.debates()] if debates else []
            with progress_bar("writing") as shown:
                done = await legacy_export.write_rows(
                    place, *given, on_progress=lambda rows: shown(rows, None, "writing")
                )
        return print_written(terminal, place, done)

    return run(work())


@asynccontextmanager
async def open_archive_store() -> AsyncGenerator[Store]:
    from moot import settings
    from moot.processes.backends import open_store

    store = await open_store(settings.load())
    try:
        yield store
    finally:
        await store.close()


# --- what is told -----------------------------------------------------------------------------------------

ShowProgress = Callable[[int, int | None, str], None]


@contextmanager
def progress_bar(words: str) -> Generator[ShowProgress]:
    """On standard error, where someone watches."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from moot.cli.render.output import Terminal

    terminal = Terminal.err()
    columns = (TextColumn("  {task.description}"), BarColumn(bar_width=28), TaskProgressColumn())
    shown = Progress(
        *columns,
        TimeRemainingColumn(compact=True),
        console=terminal.console,
        transient=True,
        disable=not terminal.rich,
    )
    with shown:
        task = shown.add_task(words, total=None)
        yield lambda done, total, text: shown.update(task, completed=done, total=total, description=text)


def _teller(shown: ShowProgress) -> Callable[[ImportProgress], None]:
    def tell(progress: ImportProgress) -> None:
        words = "reading" if not progress.passed else f"pass {progress.passed + 1}"
        shown(progress.done, progress.total, f"{words}, {progress.written:,} written")

    return tell


def _print_report(terminal: Terminal, outcome: ImportOutcome, all_of_them: str) -> None:
    from moot.cli.render.output import add_row, make_table

    report, import_ = outcome.report, outcome.import_
    if report.dry:
        terminal.line("A dry run: nothing was written. From ", (import_.source, "bold"), ":")
    else:
        terminal.line((import_.id, "bold"), " from ", (import_.source, "bold"), ":")
        terminal.line(
            f"{outcome.new:,} new, {outcome.changed:,} changed, {report.conversations:,} conversations"
        )
    made = make_table("", "found", "kept")
    names = {"reasoning": "thoughts", "tool_call": "tool calls", "tool_result": "results"}
    accounts = report.compare_counts()
    others = sorted(report.seen.segments.keys() - names.keys())
    counted = [(name, report.seen.segments[name], report.kept.segments.get(name, 0)) for name in others]
    for name, seen, kept in (*accounts, *counted):
        add_row(made, names.get(name, name), f"{seen:,}", (f"{kept:,}", "" if seen == kept else "red"))
    terminal.table(made)
    terminal.line("100 % of what was found is kept." if report.is_complete else "Not all of it is kept.")
    for name in report.lost:
        terminal.line((f"Of {name}, fewer are in the store than were written. Please report this.", "red"))
    print_problems(terminal, report.problems, report.bad, "could not be brought", all_of_them)
    if not outcome.caught_up:
        terminal.line("It is still being written faster than it is read: ask again for what has come since.")


def print_written(terminal: Terminal, place: RowLocation, done: WriteReport) -> int:
    terminal.line(f"{done.rows:,} rows written to ", (place.label, "bold"), ".")
    if done.existing:
        terminal.line(f"{done.existing:,} were there already, and were left as they are.")
    print_problems(terminal, done.problems, len(done.problems), "could not be written")
    return 1 if done.problems else 0


def print_problems(
    terminal: Terminal, problems: list[RowProblem], count: int, what: str, all_of_them: str = ""
) -> None:
    from moot.cli.render.output import add_row, make_table

    if not count:
        return
    terminal.line(f"{count:,} {'row' if count == 1 else 'rows'} {what}:")
    made = make_table("row", "why")
    for problem in problems[:MAX_SHOWN]:
        add_row(made, problem.row, problem.reason)
    terminal.table(made)
    if count > MAX_SHOWN:
        terminal.line((f"and {count - MAX_SHOWN:,} more. {all_of_them}".strip(), "dim"))


def _report(raw: bytes) -> int:
    """How many rows it has kept."""
    import msgspec

    from moot.compat.legacy_import import ImportReport

    return msgspec.json.decode(raw, type=ImportReport).kept.rows
